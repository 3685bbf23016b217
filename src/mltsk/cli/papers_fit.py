"""``mltsk fit --preset paper``: the search of Table II, and what is said of a fit."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import mltsk

from ..exceptions import InputError
from ..text import plural
from .output import (
    LOWER_IS_BETTER,
    metric_table,
    noted_warnings,
    working,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..core.arrays import Matrix
    from ..tables import DataTable
    from .opened import Estimator

LABEL_COLUMNS_OF_PAPER = ("prevalence", "AP", "AUC", "sensitivity", "precision")
ON_FITTED_ROWS = "on the rows that the model was fitted on: no estimate for new ones"
ON_OTHER_ROWS = (
    "five folds: every row scored by a model whose setting was chosen without it"
)

Parameters = dict[str, Any]


class FoundSetting(NamedTuple):
    """What the search of Table II found.

    ``parameters`` of the model, what was ``chosen`` in words, and ``scores`` (n, L) of
    rows by models that were chosen and fitted without them.
    """

    parameters: Parameters
    chosen: str
    scores: "NDArray[Any]"


def search_table_two(
    table: "DataTable", X: "Matrix", parameters: Mapping[str, Any]
) -> FoundSetting:
    """Search Table II, but for what the user gave."""
    try:
        return _search(table, X, parameters)
    except ValueError as error:  # about data: the first line says it
        raise InputError(str(error).splitlines()[0]) from error


def _search(
    table: "DataTable", X: "Matrix", parameters: Mapping[str, Any]
) -> FoundSetting:
    """Two searches: of all rows for the model, and without rows for their scores."""
    import numpy as np

    from ..core.arrays import dense
    from ..paper.search import best_setting, honest_scores

    model = mltsk.PaperMLTSK(**parameters)
    grid = {}
    for name, values in mltsk.PaperMLTSK.PAPER_GRID.items():
        if name not in parameters:
            grid[name] = values
    X = np.asarray(dense(X), dtype=np.float64)
    Y = table.Y.to_numpy()
    n_settings = int(np.prod([len(values) for values in grid.values()]))
    with working(f"searching {plural(n_settings, 'setting')} of Table II"):
        best = best_setting(model, X, Y, grid, groups=table.groups)
    with working("searching again without each fifth of the rows"):
        scores = honest_scores(model, X, Y, grid, groups=table.groups)
    settings = ", ".join(f"{name} {value:g}" for name, value in best.params.items())
    of_label = f" of {table.label_names[0]}" if Y.shape[1] == 1 else ""
    chosen = f"{settings}; best AP{of_label} of {n_settings:,} settings on five folds"
    if not grid:
        chosen = "nothing was left to search: all of Table II was given"
    return FoundSetting({**parameters, **best.params}, chosen, scores)


def papers_model(
    model: "Estimator", found: FoundSetting | None
) -> list[tuple[str, str]]:
    """Size of the paper's model, and its weights, or what a search chose."""
    size = (
        f"{len(model.centers_)} rules, distinctness {model.rule_distinctness_:.2g} "
        f"(0 all the same, 1 distinct); {model.n_iter_} steps"
    )
    if found is not None:
        return [("model", size), ("search", found.chosen)]
    weights = (
        f"correlations {model.correlation_weight:.3g}, L1 {model.l1_weight:.3g}, "
        f"start {model.init_ridge:.3g}"
    )
    return [("model", size), ("weights", weights)]


def papers_results(
    model: "Estimator",
    table: "DataTable",
    X: "Matrix",
    found: FoundSetting | None,
) -> str:
    """Metrics of the paper's model and of base rates.

    Without a search, the fitted rows are all there is.
    """
    import numpy as np

    from ..core.arrays import mean_of_known
    from ..metrics.label_text import label_text
    from .opened import scores_and_predictions

    Y = table.Y.to_numpy()
    if found is None:
        scores, predictions = scores_and_predictions(model, X)
        predictions = predictions.reshape(Y.shape)
    else:
        scores = found.scores
        predictions = (scores >= model.thresholds_).astype(int)
    by_label = mltsk.evaluate(Y, scores, predictions=predictions, per_label=True)
    results = [
        ON_FITTED_ROWS if found is None else ON_OTHER_ROWS,
        label_text(by_label.set_axis(table.label_names), LABEL_COLUMNS_OF_PAPER),
    ]
    if len(table.label_names) > 1:  # of one label nothing is ranked
        base_rates = np.broadcast_to(mean_of_known(Y, axis=0), Y.shape)
        with noted_warnings():
            overall = {
                "model": mltsk.evaluate(Y, scores, predictions=predictions),
                "base rates": mltsk.evaluate(Y, base_rates),
            }
        results += [
            "labels ranked within each row:",
            metric_table(overall, ("AP", *LOWER_IS_BETTER)),
        ]
    return "\n\n".join(results)
