"""The paper's search: the setting of a grid with the best AP over folds (Table II).

Symbols: X (N, D) samples, Y (N, L) labels.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array
from ..metrics.curves import weighted_ranking
from ..metrics.ranking import average_precision_score
from ..model_selection import IterativeStratification
from .methods import PaperMLTSK

Grid = Mapping[str, Sequence[object]]
Groups = NDArray[np.generic] | None
Fold = tuple[NDArray[np.intp], NDArray[np.intp]]

# The paper's five folds, and the folds inside a training fold, as `mltsk reproduce`.
OUTER_FOLDS = 5
INNER_FOLDS = 3


class BestSetting(NamedTuple):
    """The setting of a grid that ranks labels best.

    ``params`` are its parameters, ``score`` its mean average precision over folds (see
    `precision`), and ``n_settings`` how many were compared.
    """

    params: dict[str, object]
    score: float
    n_settings: int


def best_setting(
    model: PaperMLTSK,
    X: Array,
    Y: Array,
    grid: Grid | None = None,
    *,
    groups: Groups = None,
    n_folds: int = OUTER_FOLDS,
) -> BestSetting:
    """Compare every setting on the same folds; work that settings share is done once.

    Parameters
    ----------
    model : PaperMLTSK
        What the grid does not say.
    X : array of shape (N, D)
    Y : array of shape (N, L) of 0 and 1
    grid : mapping of parameters to values, optional
        ``PaperMLTSK.PAPER_GRID``, Table II, by default.
    groups : array of shape (N,), optional
        Rows of a group stay in one fold.
    n_folds : int, default=5

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, random_state=0)
    >>> grid = {"n_rules": [1, 2], "l1_weight": [0.1, 100.0]}
    >>> best = best_setting(PaperMLTSK(), data.X, data.Y, grid)
    >>> best.params["l1_weight"], best.n_settings
    (0.1, 4)
    """
    scores: dict[tuple[tuple[str, object], ...], list[float]] = {}
    for train, test in _folds(Y, groups, n_folds):
        for point in model.grid_path(X[train], _targets(Y[train]), X[test], grid):
            setting = tuple(sorted(point.params.items()))
            score = precision(Y[test], point.scores)
            scores.setdefault(setting, []).append(score)
    means = {setting: _mean_of_defined(values) for setting, values in scores.items()}
    best = max(means, key=lambda setting: means[setting])
    return BestSetting(dict(best), means[best], len(means))


def honest_scores(
    model: PaperMLTSK,
    X: Array,
    Y: Array,
    grid: Grid | None = None,
    *,
    groups: Groups = None,
) -> Array:
    """Scores (N, L) of rows by models that were chosen and fitted without them.

    In each of five training folds three folds choose the setting anew.
    """
    scores = np.empty(Y.shape)
    for train, test in _folds(Y, groups, OUTER_FOLDS):
        own_groups = None if groups is None else groups[train]
        best = best_setting(
            model, X[train], Y[train], grid, groups=own_groups, n_folds=INNER_FOLDS
        )
        chosen = {name: [value] for name, value in best.params.items()}
        (point,) = model.grid_path(X[train], _targets(Y[train]), X[test], chosen)
        scores[test] = point.scores
    return scores


def precision(Y: Array, scores: Array) -> float:
    """AP of labels within each row, in the paper's convention; of one label, over rows.

    A single label has no rank within a row: the paper's AP of it is 0 whatever a model
    says, and a search by it would choose nothing. NaN where no row has that label.

    Examples
    --------
    >>> Y, scores = np.array([[1], [0], [1]]), np.array([[0.9], [0.5], [0.1]])
    >>> round(precision(Y, scores), 3)
    0.833
    """
    if Y.shape[1] > 1:
        return average_precision_score(Y, scores, convention="paper")
    of_label, _ = weighted_ranking(Y[:, 0] == 1, scores[:, 0], np.ones(len(Y)))
    return of_label


def _targets(Y: Array) -> Array:
    """Labels as a fit takes them: one label is an array of one dimension."""
    return Y[:, 0] if Y.shape[1] == 1 else Y


def _mean_of_defined(values: Sequence[float]) -> float:
    """Mean over the folds in which there was something to find; 0 where none was."""
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else 0.0


def _folds(Y: Array, groups: Groups, n_folds: int) -> Iterator[Fold]:
    """Training and test rows of each fold; labels are spread evenly."""
    return IterativeStratification(n_folds).split(Y, Y, groups)
