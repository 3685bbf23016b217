"""The review: a user's table on one offline page.

It says what is in the table, what can be predicted from it, and how. Everything is
judged on rows that the judged model has not seen (`worth`, `baselines`). The page needs
no network; its content security policy lets nothing run but its own script and style
sheet. Pictures are inline SVG (`svg`). The template is ``templates/review.html``; what
it is filled with are the facts below.
"""

import platform
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame, concat
from sklearn.base import clone

from .. import __version__
from ..classifier import MLTSKClassifier
from ..core.arrays import FloatArray, spread_rows
from ..datasets.load import is_path
from ..exceptions import InputError, check_installed
from ..explain import views
from ..explain.page import Node, largest_amount
from ..explain.rules import MAX_SHOWN_LABELS, RuleBase
from ..explain.wording import name
from ..files import check_outputs
from ..metrics.curves import calibration_groups, precision_recall_curve, roc_curve
from ..pipelines import with_feature_names, with_fixed_thresholds
from ..rows.read import TableLike
from ..tables.files import read_raw
from ..tables.read import DataTable, read_table, sparse_rows
from ..text import plural
from . import svg, worth
from .baselines import (
    COMPARISON_FOLDS,
    FOREST,
    LINEAR,
    MAX_COMPARED_ROWS,
    OURS,
    REVIEW_STATEMENTS,
    SLIGHTLY_WORSE_AP,
    BaselineComparison,
    Samples,
    compare,
    draws_of_rows,
    take_rows,
)
from .explorer import explorer_parts, policy
from .packing import PageData
from .render import source, template, write_page
from .review_pairs import pair_facts
from .review_table import table_facts
from .shown_labels import check_max_labels, note_on_shown_labels, shown_labels
from .worth import JudgedLabel

MAX_UNFOLDED_LABELS = 6
READABLE_SIZES = (5, 8, 12, 20)  # statements per label of the model in words
MAX_SHAPES_PER_LABEL = 6
MAX_SHOWN_EXCEPTIONS = 12
CONSEQUENTS_PER_EXCEPTION = 5
# Cells of rows to try that a page holds, and rows that it holds in any case.
MAX_TRIED_CELLS = 200_000
MIN_TRIED_ROWS = 50
# What is drawn across and up.
ROC_AXES = ("false alarms among the others", "cases found")
PRECISION_AXES = ("cases found", "right among those given")

Progress = Callable[[int, int], object] | None


class ReviewPage(NamedTuple):
    """A review: its HTML, its first lines, a sentence per label, the fitted model.

    ``shown`` says how many of very many labels the page has.
    """

    page: str
    summary: list[str]
    labels: list[str]
    model: MLTSKClassifier
    shown: str


def review(
    table: DataTable | TableLike,
    path: str | Path,
    Y: TableLike = None,
    *,
    model: MLTSKClassifier | None = None,
    quick: bool = False,
    seed: int = 0,
    progress: Progress = None,
    max_labels: int = MAX_SHOWN_LABELS,
) -> Path:
    """Write a page about a table and a model of it.

    It says what is in the table, how well its labels can be predicted, and what a model
    says about them.

    Parameters
    ----------
    table : table of `mltsk.read_table`, or features as a data frame or array
        With features, ``Y`` has the labels.
    path : str or Path
        Where to write the page (``….html``); it opens in any browser, without a
        network.
    Y : data frame or array of shape (n, n_labels), optional
        Labels of 0 and 1, NaN where not observed, where ``table`` holds features alone.
    model : MLTSKClassifier, optional
        The unfitted model to fit; by default one with thresholds for the best F1.
    quick : bool, default=False
        Leave out the comparison with other methods and with shorter models.
    seed : int, default=0
        Of folds, of the forest and of intervals.
    progress : callable, optional
        Called with (steps done, steps in all).
    max_labels : int, default=500
        How many labels the page shows one by one: those that most rows have. Its first
        lines are about all labels.

    Examples
    --------
    >>> import tempfile
    >>> from mltsk import read_table, review
    >>> page = review(read_table("pbc"), tempfile.mkdtemp() + "/pbc.html", quick=True)
    >>> "hepatomegaly can be predicted" in page.read_text(encoding="utf-8")
    True
    """
    is_file = isinstance(table, DataTable) and is_path(table.source)
    check_outputs([path], inputs=[table.source] if is_file else [])
    if not isinstance(table, DataTable):
        if Y is None:
            raise InputError(
                "review takes a table of read_table, or features and their labels: "
                "review(X, path, Y)."
            )
        table = _joined_table(table, Y)
    made = review_page(
        table,
        model=model,
        quick=quick,
        seed=seed,
        progress=progress,
        max_labels=max_labels,
    )
    return write_page(made.page, path)


def _joined_table(X: TableLike, Y: TableLike) -> DataTable:
    """Features and labels as one table."""
    features = _as_frame(X, "x")
    labels = _as_frame(Y, "label ").set_axis(features.index, axis=0)
    return read_table(
        concat([features, labels], axis=1), labels=list(map(str, labels.columns))
    )


def _as_frame(data: TableLike, prefix: str) -> DataFrame:
    """A data frame of pandas or polars, or an array whose columns are numbered."""
    if hasattr(data, "columns"):
        return read_raw(data).frame
    return DataFrame(np.asarray(data)).add_prefix(prefix)


def review_page(
    table: DataTable,
    *,
    model: MLTSKClassifier | None = None,
    quick: bool = False,
    seed: int = 0,
    command: str = "",
    progress: Progress = None,
    max_labels: int = MAX_SHOWN_LABELS,
) -> ReviewPage:
    """Return what `review` writes, with what it says first.

    ``command`` is shown in the page, to repeat the review.
    """
    _check_review(table, max_labels)
    is_quick = quick or _n_units(table) < 4 * COMPARISON_FOLDS
    step = _step_counter(progress, len(table), is_quick=is_quick)
    step()  # none yet
    X = _samples(table)
    Y = table.Y.to_numpy(dtype=float)
    if model is None:
        model = MLTSKClassifier(threshold="f1")
    fitted = clone(model).fit(X, table.Y, groups=table.groups)
    fitted = with_feature_names(fitted, table.feature_names)
    step()
    compared = Compared(REVIEW_STATEMENTS)
    if not is_quick:
        compared = _compared(table, model, fitted, seed, step)
    n_statements = compared.n_statements
    comparison = compared.comparison
    shown_model = with_fixed_thresholds(fitted)  # one per label in the whole page
    short = shown_model.shorten(n_statements)
    step()
    labels = worth.judge(fitted)
    summary = worth.headline(labels, comparison)
    shown = shown_labels(fitted.system_, max_labels)
    facts = {
        "told": worth.first_lines(labels, comparison),
        "labels": len(labels),
        "shown": note_on_shown_labels(fitted.system_, len(shown)),
        "quick": is_quick,
        "open": len(labels) <= MAX_UNFOLDED_LABELS,
        "group": name(table.group_name),
        "table": table_facts(table, Y, shown),
        "judged": [_label_facts(labels[j]) for j in shown],
        "some_judged": _how_many(len(fitted.fit_record_.labels), len(table)),
        "compared": _comparison_facts(comparison, labels, len(table)),
        "said": {
            **_model_facts(fitted, short, labels, shown, n_statements),
            "mean": _precisions_of_both(comparison),
            "sizes": _size_picture(compared.size_path, n_statements),
        },
        "made": _origin_facts(table, fitted, seed, command, comparison),
        **_explorer_facts(shown_model, X, table, max_labels),
    }
    page = _rendered(table, facts)
    step()
    sentences = [worth.sentence(label) for label in labels]
    return ReviewPage(
        page, summary, labels=sentences, model=fitted, shown=facts["shown"]
    )


def _check_review(table: DataTable, max_labels: int) -> None:
    """Refuse what cannot be reviewed, before a fit begins."""
    check_installed("jinja2", extra="report")
    if not table.label_names:
        raise InputError(
            f"{table.name} has no labels to review: say which columns are labels."
        )
    check_max_labels(max_labels)


def _n_units(table: DataTable) -> int:
    """How many rows, or groups of rows, can be left out by themselves."""
    return len(table) if table.groups is None else len(np.unique(table.groups))


class Compared(NamedTuple):
    """How long the model in words is, and what was compared to choose its length."""

    n_statements: int
    size_path: DataFrame | None = None
    comparison: BaselineComparison | None = None


def _compared(
    table: DataTable,
    model: MLTSKClassifier,
    fitted: MLTSKClassifier,
    seed: int,
    step: Callable[[], None],
) -> Compared:
    """Compare models of all sizes, and then the model with other methods."""
    size_path = fitted.size_path_
    n_statements = _readable_size(size_path)
    step()
    comparison = compare(
        model,
        _samples(table),
        table.Y.to_numpy(dtype=float),
        groups=table.groups,
        statements=n_statements,
        seed=seed,
        done=step,
    )
    return Compared(n_statements, size_path, comparison)


def _readable_size(size_path: DataFrame) -> int:
    """How many statements per label the model in words has.

    It is the fewest with which AP by folds is hardly worse than with others.
    """
    readable = size_path[size_path["statements"].isin(READABLE_SIZES)]
    AP = readable["macro_AP"]
    good = readable[AP >= AP.max() - SLIGHTLY_WORSE_AP]
    return int(good["statements"].min()) if len(good) else REVIEW_STATEMENTS


def _samples(table: DataTable) -> Samples:
    """The features of a table, as sparse rows where it has such."""
    rows = sparse_rows(table.X)
    return table.X if rows is None else rows


def _step_counter(
    progress: Progress, n_rows: int, *, is_quick: bool
) -> Callable[[], None]:
    """A function that reports one step more with each call, from 0 on."""
    n_steps = 3
    if not is_quick:
        n_compared = min(n_rows, MAX_COMPARED_ROWS)
        n_steps = 4 + COMPARISON_FOLDS * draws_of_rows(n_compared)
    steps = count()

    def step() -> None:
        if progress is not None:
            progress(next(steps), n_steps)

    return step


def _rendered(table: DataTable, facts: PageData) -> str:
    """The page with its facts, its style sheets and its scripts."""
    explorer = facts["tried"]
    styles = [source("base.css") + source("review.css"), explorer["style"]]
    scripts = [source("review.js"), explorer["script"]]
    return template("review.html").render(
        facts,
        title=name(table.name),
        rows=len(table),
        features=len(table.feature_names),
        styles=styles,
        scripts=scripts,
        policy=policy(styles, scripts),
        version=__version__,
        effect=svg.effect,
    )


def _explorer_facts(
    model: MLTSKClassifier, X: Samples, table: DataTable, max_labels: int
) -> PageData:
    """An explorer of the model, with as many rows as the page has room for."""
    limit = max(MAX_TRIED_CELLS // len(table.feature_names), MIN_TRIED_ROWS)
    rows = np.arange(len(table))[spread_rows(len(table), limit)]
    ids = table.ids.iloc[rows] if len(table.ids.columns) else None
    parts = explorer_parts(
        model,
        take_rows(X, rows),
        table.Y.iloc[rows],
        ids=ids,
        max_labels=max_labels,
    )
    return {
        "tried": parts,
        "some_tried": _how_many(len(rows), len(table)),
    }


def _how_many(shown: int, total: int) -> str:
    """How many of all rows are shown, or nothing if all are."""
    return "" if shown == total else f"{shown:,} of {total:,} rows, evenly spread"


# how well labels can be predicted -----------------------------------------------------


def _label_facts(label: JudgedLabel) -> PageData:
    """Figures, curves and a sentence on one label."""
    facts = {
        **label._asdict(),
        "sentence": worth.sentence(label),
        "known": label.is_known,
        "rate": label.rate,
        "threshold": f"{100 * label.threshold:.3g}\N{NO-BREAK SPACE}%",
    }
    if not label.is_known:
        return facts
    recall = label.found / label.cases
    precision = label.found / label.given if label.given else None
    false_alarms = label.alarms / (label.observed - label.cases)
    groups = calibration_groups(label.y, label.chances)
    roc = svg.curve(
        f"ROC curve of {label.name}",
        axes=ROC_AXES,
        points=roc_curve(label.y, label.scores),
        guess=[0, 1],
        at=(false_alarms, recall),
    )
    precision_recall = svg.curve(
        f"Precision and recall of {label.name}",
        axes=PRECISION_AXES,
        points=precision_recall_curve(label.y, label.scores),
        guess=[label.rate, label.rate],
        at=None if precision is None else (recall, precision),
    )
    return {
        **facts,
        "recall": recall,
        "precision": precision,
        "chances": worth.sentence_on_chances(groups),
        "pictures": {
            "ap": svg.interval(f"AP of {label.name}", label.AP, label.rate),
            "auc": svg.interval(f"AUC of {label.name}", label.AUC, 0.5),
            "roc": roc,
            "pr": precision_recall,
            "calibration": svg.calibration(f"Calibration of {label.name}", groups),
        },
    }


def _comparison_facts(
    comparison: BaselineComparison | None, labels: list[JudgedLabel], n_rows: int
) -> PageData | None:
    """The model next to other methods, label by label and on average."""
    if comparison is None:
        return None
    is_known = np.isfinite(comparison.AP[OURS])
    leads = comparison.leads()
    rows = []
    for i in np.flatnonzero(is_known):
        j = comparison.labels[i]
        AP = {method: float(values[i]) for method, values in comparison.AP.items()}
        better = [method for method, lead in leads.items() if j in lead.labels]
        rows.append(_compared_label(labels[j], AP, better))
    means = {}
    if rows:
        means["AP"] = _means(comparison.AP, is_known)
        means["AUC"] = _means(comparison.AUC, is_known)
    some = []
    if comparison.rows != n_rows:
        some.append(f"{comparison.rows:,} of {n_rows:,} rows")
    if len(comparison.labels) != len(labels):
        some.append(f"{len(comparison.labels)} of {len(labels)} labels")
    folds = f"{COMPARISON_FOLDS} folds, drawn once"
    if comparison.n_draws > 1:
        folds = f"{COMPARISON_FOLDS} folds, drawn {comparison.n_draws} times"
    return {
        "lines": worth.lines_on_better_methods(labels, comparison),
        "rows": rows,
        "mean": means,
        "methods": list(comparison.AP),
        "some": " and ".join(some),
        "folds": folds,
    }


def _compared_label(
    label: JudgedLabel, AP: dict[str, float], better: list[str]
) -> PageData:
    """AP of all methods for one label, and which of them are clearly better."""
    drawn = {method: AP[method] for method in (OURS, LINEAR, FOREST)}
    return {
        "name": label.name,
        "rate": label.rate,
        "AP": AP,
        "picture": svg.compared(f"AP of {label.name}", drawn, label.rate),
        "better": better,
    }


def _means(
    values: dict[str, FloatArray], is_known: NDArray[np.bool_]
) -> dict[str, float]:
    """Means over the labels that are known, by method."""
    return {method: float(each[is_known].mean()) for method, each in values.items()}


# what the model says ------------------------------------------------------------------


def _model_facts(
    model: MLTSKClassifier,
    short: MLTSKClassifier,
    judged: list[JudgedLabel],
    shown: NDArray[np.intp],
    n_statements: int,
) -> PageData:
    """What a model says: its short form in words, its curves and its exceptions.

    ``shown`` are the labels that it is shown for, ``n_statements`` those per label of
    the short form.
    """
    base = short.rules_
    curves = views.FeatureCurves(views.effects_of(model))
    short_curves = views.FeatureCurves(base.effects)
    pairs = model.pairs_
    general = []
    labels = []
    for j in shown.tolist():
        node = None
        if len(base.general):
            node = base.general[j].nodes(None, general=base.effects.start)[0]
            general.append(node)
        shapes = _shape_pictures(curves, short_curves, j, n_statements)
        label = name(str(model.label_names_[j]))
        labels.append(
            {
                "name": label,
                "warning": worth.sentence(judged[j]) if judged[j].is_guessed else "",
                "node": node,
                "shapes": shapes,
                "pairs": pair_facts(pairs, j),
            }
        )
    return {
        "legend": base.legend(),
        "labels": labels,
        "most": largest_amount(general),
        "terms": n_statements,
        "own": _exceptions(base),
        "exceptions": _exceptions(model.rules_, at_most=MAX_SHOWN_EXCEPTIONS),
        "n_pairs": len(pairs),
        "n_exceptions": model.n_rules_,
        "n_numbers": int(model.n_statements_.max()),
    }


def _shape_pictures(
    curves: views.FeatureCurves,
    short_curves: views.FeatureCurves,
    j: int,
    n_statements: int,
) -> list[tuple[str, str]]:
    """Features that matter most for label j, and pictures of what they add."""
    features = curves.largest([j], MAX_SHAPES_PER_LABEL)
    of_short = short_curves.largest([j], n_statements)
    wholes = [curves.curve(f, j) for f in features]
    reach = max((float(np.abs(curve.y).max()) for curve in wholes), default=0.0) or 1.0
    pictures = []
    for f, whole in zip(features, wholes, strict=True):
        simple = short_curves.curve(f, j) if f in of_short else None
        pictures.append((name(whole.feature), svg.shape(whole, simple, reach)))
    return pictures


def _exceptions(base: RuleBase, at_most: int | None = None) -> list[Node]:
    """What exceptions cover and say, those that move most labels first."""
    sizes = np.abs(base.effects.shift_sizes).sum(axis=1)
    nodes = []
    for k in np.argsort(-sizes, kind="stable")[:at_most]:
        nodes += base.exceptions[int(k)].nodes(CONSEQUENTS_PER_EXCEPTION)
    return nodes


def _precisions_of_both(comparison: BaselineComparison | None) -> list[float] | None:
    """Mean AP of the whole model and of the short one, on the same folds."""
    means = {} if comparison is None else comparison.mean_AP()
    if comparison is None or not means:
        return None
    return [means[method] for method in comparison.ours]


def _size_picture(size_path: DataFrame | None, n_statements: int) -> str | None:
    """What brevity costs, if it is known."""
    if size_path is None:
        return None
    means = {
        "mean over rows": size_path["AP"].to_numpy(),
        "mean over labels": size_path["macro_AP"].to_numpy(),
    }
    known = {words: line for words, line in means.items() if np.isfinite(line).all()}
    if not known:
        return None
    return svg.sizes(
        "What brevity costs",
        counts=size_path["statements"].to_numpy(),
        values=known,
        marked=n_statements,
    )


# how it was made ----------------------------------------------------------------------


def _origin_facts(
    table: DataTable,
    model: MLTSKClassifier,
    seed: int,
    command: str,
    comparison: BaselineComparison | None,
) -> dict[str, str]:
    """How the review was made, to repeat it."""
    packages = ("numpy", "scipy", "scikit-learn", "pandas")
    versions = [f"{package} {version(package)}" for package in packages]
    exceptions = "no exceptions"
    if model.n_rules_:
        exceptions = plural(model.n_rules_, "exception")
    facts = {
        "Table": name(table.source or table.name),
        "Model": (
            f"MLTSKClassifier with {_options(model)}; {exceptions}, ridge "
            f"{model.ridge_:.3g}"
        ),
        "Judged on": _judged_on(table),
    }
    if comparison is not None:
        facts["Compared with"] = (
            "scikit-learn's LogisticRegression() and RandomForestClassifier(100, "
            "min_samples_leaf=3)"
        )
    facts["Seed"] = (
        f"{seed}, for folds, the forest and intervals; the model itself has no chance "
        "in it"
    )
    facts["Versions"] = (
        f"mltsk {__version__}, Python {platform.python_version()}, "
        f"{', '.join(versions)}"
    )
    facts["Made on"] = date.today().isoformat()
    if command:
        facts["Repeat it"] = command
    return facts


def _judged_on(table: DataTable) -> str:
    """By what the model was judged."""
    rows = "scores of rows that were left out, one at a time"
    if table.group_name:
        group = name(table.group_name)
        rows = f"scores of rows that were left out, all rows of one {group} at a time"
    return (
        f"{rows}; AUC of up to 2,000 rows without groups from pairs of rows left out; "
        "intervals are 95 %, on the scale of log-odds; counts at thresholds that were "
        "chosen in five folds without the counted rows"
    )


def _options(model: MLTSKClassifier) -> str:
    """The options of a model that are not the usual ones."""
    usual = type(model)().get_params()
    changed = []
    for option, value in model.get_params().items():
        if value != usual[option]:
            changed.append(f"{option}={value!r}")
    return ", ".join(changed) or "no options"
