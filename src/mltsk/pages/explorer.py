"""The explorer: a model as one offline page, to move its inputs and watch its answers.

The page evaluates the model itself, in plain JavaScript (``templates/explorer``), from
the arrays of a fuzzy system, its words, and rows to start from. Its content security
policy lets nothing else run: the one script and the one style sheet are named by their
hashes, and no address may be fetched. `explorer_parts` is for other pages that hold an
explorer.
"""

import json
import warnings
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..core.arrays import FloatArray, Matrix
from ..exceptions import InputError, check_installed
from ..explain.effects import Effects
from ..explain.rules import MAX_SHOWN_LABELS
from ..explain.views import label_correlation_view
from ..explain.wording import name
from ..fitted import FittedAttributes
from ..metrics import evaluate
from ..pipelines import pipeline_classifier, pipeline_features, with_feature_names
from ..rows.read import Estimator, TableLike
from ..short.wished import NOT_SHORT
from ..system import FuzzySystem
from . import explorer_content as content
from .explorer_edits import edits_data, judged_data, log_data
from .explorer_rows import (
    made_samples,
    read_labels,
    read_values,
    row_names,
    rows_data,
    shown_index,
)
from .packing import PageData, packed
from .render import source, template, write_page
from .shown_labels import check_max_labels, note_on_shown_labels, shown_labels

SCRIPTS = (
    "model",
    "quadratic",
    "pair_slopes",
    "left_out",
    "edits",
    "edit_file",
    "words",
    "draw",
    "features",
    "rows",
    "finder",
    "turns",
    "views",
    "pairs",
    "shapes",
    "rules",
    "map",
    "sizes",
    "state",
    "edit_curve",
    "editor",
    "main",
)
STYLE_SHEET = "explorer/style.css"
MAX_PAGE_LENGTH = 9_000_000  # characters of a page that shorter models may fill
SHORT_SIZES = (3, 5, 8, 12, 20, 30)  # statements per label of shorter models
COMPACT = (",", ":")  # separators of JSON


def explore(
    model: Estimator,
    path: str | Path,
    X: TableLike = None,
    Y: TableLike = None,
    *,
    ids: TableLike = None,
    rows: bool = True,
    neighbours: bool = False,
    edits: bool | None = None,
    title: str = "Rules",
    max_labels: int = MAX_SHOWN_LABELS,
) -> Path:
    """Write a page in which a model can be explored.

    Any browser opens it, without a server or a network.

    Parameters
    ----------
    model : MLTSKClassifier, IncrementalMLTSK, PaperMLTSK, or a pipeline that ends so
        Fitted. Of a pipeline the page shows the classifier, whose features are what the
        steps before it return. An MLTSKClassifier can be made shorter in the page; one
        from a file if X and Y are what it was fitted on.
    path : str or Path
        Where to write the page (``….html``).
    X : array, data frame or CSR of shape (n, n_features), optional
        Samples to start from, at most 2,000, evenly spread. The page holds them, so
        pass it on only as you would pass on the data. Without X it starts from an
        average sample and the centre of each exception.
    Y : indicator of shape (n, n_labels), optional
        Labels of those samples: the page then marks the true labels, and shows which
        labels go together.
    ids : list or data frame of n rows, optional
        Identifiers by which samples are found; by default the index of X.
    rows : bool, default=True
        False leaves the samples of X out of the page.
    neighbours : bool, default=False
        Whether the page lists the samples that are most like the one shown, with their
        labels.
    edits : bool, optional
        Whether the model can be edited in the page, which takes the sums over the rows
        of its fit. Sums over few rows tell something of these rows: by default they are
        in pages that hold rows. `mltsk.edited` reads what the page exports.
    title : str, default="Rules"
    max_labels : int, default=500
        How many labels the page has: those that most rows have. If some are left out,
        so are shorter models. A model of classes in one dimension has all of them.

    Examples
    --------
    >>> import tempfile
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, random_state=0)
    >>> clf = MLTSKClassifier(n_rules=2).fit(data.X, data.Y)
    >>> page = explore(clf, tempfile.mkdtemp() + "/page.html", data.X, data.Y)
    >>> page.stat().st_size < 400_000
    True
    """
    parts = explorer_parts(
        model,
        X,
        Y,
        ids=ids,
        rows=rows,
        neighbours=neighbours,
        edits=edits,
        title=title,
        max_labels=max_labels,
    )
    allowed = policy([parts["style"]], [parts["script"]])
    page = template("explorer/page.html").render(parts, policy=allowed, title=title)
    return write_page(page, path)


def explorer_parts(
    model: Estimator,
    X: TableLike = None,
    Y: TableLike = None,
    *,
    title: str = "",
    **options: Any,
) -> dict[str, str]:
    """Return what another page needs to hold an explorer.

    The options are those of `explore`. ``style`` belongs into a style element,
    ``markup`` where the explorer is to be, ``data`` into
    ``<script type="application/json" id="x-model">`` and ``script`` into a script
    element after both. All identifiers begin with "x-", and styles hold within
    ``.explorer``. `policy` allows these, and what else the page has. Without a title
    there is no heading. A colour scheme other than the system's is ``data-theme`` of
    the html element.
    """
    check_installed("jinja2", extra="report")
    data = explorer_data(model, X, Y, **options)
    classifier = pipeline_classifier(model)
    note = note_on_shown_labels(classifier.system_, len(data["labels"]))
    if note and _can_be_shortened(classifier):
        note += " Shorter models are left out, too."
    markup = template("explorer/markup.html").render(
        data,
        title=title,
        version=__version__,
        shown=note,
    )
    return {
        "style": source(STYLE_SHEET),
        "script": script_source(),
        "data": embedded(data),
        "markup": markup,
    }


def embedded(data: PageData) -> str:
    """Return JSON that can stand inside a script element.

    No text in it can end that element or begin a comment.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=COMPACT)
    escapes = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
    return text.translate(escapes)


def policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """Return a content security policy for these styles and scripts, and no others."""
    rules = (
        "default-src 'none'",
        f"script-src {_hashes(scripts)}",
        f"style-src {_hashes(styles)}",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rules)


def _hashes(texts: Iterable[str]) -> str:
    """Hashes by which a policy names texts."""
    digests = [b64encode(sha256(text.encode()).digest()).decode() for text in texts]
    return " ".join(f"'sha256-{digest}'" for digest in digests)


def script_source() -> str:
    """Return the page's program: its files in order, as one."""
    body = "\n".join(source(f"explorer/{script}.js") for script in SCRIPTS)
    return f'"use strict";\n(() => {{\n{body}}})();\n'


def explorer_data(
    model: Estimator,
    X: TableLike = None,
    Y: TableLike = None,
    *,
    ids: TableLike = None,
    rows: bool = True,
    neighbours: bool = False,
    edits: bool | None = None,
    max_labels: int = MAX_SHOWN_LABELS,
) -> PageData:
    """Return everything that the page needs, ready for JSON.

    Parameters are those of `explore`.
    """
    classifier = pipeline_classifier(model)
    if not isinstance(classifier, FittedAttributes):
        raise InputError(
            f"A {type(classifier).__name__} has no rules to explore: pass a fitted "
            "MLTSKClassifier."
        )
    check_is_fitted(classifier)
    if X is None and (neighbours or ids is not None):
        raise InputError("Neighbours and identifiers need rows: pass X, too.")
    shown = _shown_labels(classifier, max_labels)
    page_rows = PageRows()
    if X is not None:
        page_rows = _read_rows(model, X, Y, ids=ids, shown=shown, are_held=rows)
    recorded = None  # the model with the record of its fit
    if shown is None:  # shorter models of 1,000 labels took a minute
        recorded = model_with_record(classifier, page_rows.features, Y)
    edited = None
    if _offers_edits(edits, holds_rows=page_rows.data is not None):
        edited = edits_data(model, has_all_labels=shown is None)
        _add_judged(edited, recorded, page_rows)
    data = {
        **_model_data(classifier, page_rows.values, page_rows.labels, shown),
        "edits": edited,
        "log": log_data(classifier),
        "rows": page_rows.data,
        "neighbours": neighbours and page_rows.data is not None,
    }
    used = len(embedded(data)) + len(script_source()) + len(source(STYLE_SHEET))
    room = min(used, MAX_PAGE_LENGTH - used)  # no more than twice the page
    return {**data, "sizes": sizes_data(classifier, recorded, room)}


class PageRows(NamedTuple):
    """Rows that a page is made from, if there are any.

    ``features`` as they were passed on, ``values`` (n, D) and ``labels`` (n, L) as the
    classifier reads them; ``data`` are those that the page holds.
    """

    features: TableLike = None
    values: Matrix | None = None
    labels: FloatArray | None = None
    data: PageData | None = None


def _read_rows(
    model: Estimator,
    X: TableLike,
    Y: TableLike,
    *,
    ids: TableLike,
    shown: NDArray[np.intp] | None,
    are_held: bool,
) -> PageRows:
    """Read rows; those of the labels of a page, ``shown``, None for all."""
    classifier = pipeline_classifier(model)
    features = pipeline_features(model, X)
    values = read_values(classifier, features)
    labels = None
    if Y is not None:
        labels = read_labels(classifier, Y, values.shape[0])
        if shown is not None:
            labels = labels[:, shown]
    names = row_names(X, ids, values.shape[0])
    data = None
    if are_held:
        system = _narrowed(classifier.system_, shown)
        data = rows_data(system, values, labels, names)
    return PageRows(features, values, labels, data)


def _add_judged(
    edited: PageData | None, known: Estimator | None, rows: PageRows
) -> None:
    """Add what a page judges edits by, where it can be edited and holds rows.

    ``known`` is the model with the record of its fit.
    """
    if edited is None or edited["refused"] or rows.data is None or rows.values is None:
        return
    record = None if known is None else known.fit_record_
    index = shown_index(rows.data)
    edited["judged"] = judged_data(record, rows.values, rows.labels, index)


def _offers_edits(edits: bool | None, *, holds_rows: bool) -> bool:
    """Whether a page has edits: as asked for, by default if it holds rows."""
    return holds_rows if edits is None else edits


def _shown_labels(classifier: Estimator, max_labels: int) -> NDArray[np.intp] | None:
    """The labels of a page, None for all.

    One of several classes is given by comparison with all others, so none is left out.
    """
    check_max_labels(max_labels)
    system = classifier.system_
    if len(system.label_names) <= max_labels or not classifier.multilabel_:
        return None
    return shown_labels(system, max_labels)


def _narrowed(system: FuzzySystem, shown: NDArray[np.intp] | None) -> FuzzySystem:
    """The system for the labels of a page, None for all."""
    return system if shown is None else system.for_labels(shown)


def _model_data(
    classifier: Estimator,
    values: Matrix | None,
    labels: FloatArray | None,
    shown: NDArray[np.intp] | None,
) -> PageData:
    """What the page needs of a model, and of rows if there are any.

    ``shown`` are the labels of the page, None for all.
    """
    system = _narrowed(classifier.system_, shown)
    effects = Effects(system)
    is_single = not classifier.multilabel_ and len(classifier.classes_) > 2
    return {
        "features": [name(feature) for feature in effects.subjects.feature_names],
        **content.feature_data(effects, values),
        "labels": [name(label) for label in system.label_names],
        "single": bool(is_single),
        **content.system_data(classifier, shown),
        **content.ranges(system, values),
        "made": made_samples(effects),
        "correlation": _correlations(system, labels),
    }


def _correlations(system: FuzzySystem, labels: FloatArray | None) -> PageData:
    """How alike labels are, by the model and by their rows, in whole 127ths."""
    view = label_correlation_view(system, labels)
    correlations = {"consequents": view.consequents}
    if labels is not None:
        correlations["labels"] = view.labels
    return {key: packed(np.round(127 * C), "i1") for key, C in correlations.items()}


# shorter models -----------------------------------------------------------------------


def sizes_data(
    model: Estimator, long: Estimator | None, room: float = np.inf
) -> list[PageData]:
    """Return models of at most ``size`` statements per label, the model itself last.

    The list is empty if there are no shorter ones. ``AP`` is the mean over labels on
    honest scores of rows, all models on the same rows. ``long`` is the model, or an
    equal one, with the record of its fit, None if there is none. Models that do not fit
    into ``room``, in characters of JSON, are left out, the longest first.
    """
    if room <= 0 or long is None or not _can_be_shortened(model):
        return []
    whole = content.system_data(model)
    whole_size = int(model.n_statements_.max())
    record = long.fit_record_
    # all sizes come from one choice
    judged = record.short_models(SHORT_SIZES[-1], long.max_conditions).rows
    labels = record.labels[judged]
    sizes = []
    shorter = [size for size in SHORT_SIZES if size < whole_size]
    # the longest first: the others come from the same choices on halves of the rows
    models = {size: long.shorten(size) for size in reversed(shorter)}
    for size in shorter:
        short = models[size]
        data = content.system_data(short)
        changed = {key: value for key, value in data.items() if value != whole[key]}
        room -= len(json.dumps(changed, ensure_ascii=False, separators=COMPACT))
        if room < 0:
            break
        mean = _mean_precision(labels, short.loo_scores_)
        sizes.append({"size": size, "AP": mean, **changed})
    if sizes:
        mean = _mean_precision(labels, record.loo_scores[judged])
        sizes.append({"size": whole_size, "AP": mean})
    return sizes


def _mean_precision(labels: FloatArray, scores: FloatArray) -> float | None:
    """Mean over labels of average precision, None if a label has none."""
    mean = float(np.mean(evaluate(labels, scores, per_label=True)["AP"]))
    return mean if np.isfinite(mean) else None


def model_with_record(model: Estimator, X: TableLike, Y: TableLike) -> Estimator | None:
    """The model, or an equal one, with the record of its fit.

    A model from a file, which holds no rows, is fitted again if X and Y are its rows.
    None if there is no such model, or if it is a short one.
    """
    is_short = getattr(model, "max_statements", None) is not None
    if not hasattr(model, "shorten") or is_short:
        return None
    if model.fit_record_ is not None:
        return model
    has_scores = hasattr(model, "loo_scores_")  # of all rows, unless it was corrected
    if X is None or Y is None or not has_scores or model.loo_rows_ is not None:
        return None
    if len(model.loo_scores_) != X.shape[0]:
        return None
    return _fitted_again(model, X, Y)


def _can_be_shortened(model: Estimator) -> bool:
    """Whether a model is of a kind that has short ones, and not short itself."""
    is_short = getattr(model, "max_statements", None) is not None
    kinds = [wish["kind"] for wish in getattr(model, "wishes_", ())]
    meets_points = any(kind in NOT_SHORT for kind in kinds)
    return hasattr(model, "shorten") and not is_short and not meets_points


def _fitted_again(model: Estimator, X: TableLike, Y: TableLike) -> Estimator | None:
    """The model fitted to X and Y, or None if they are not what it was fitted on."""
    try:
        with warnings.catch_warnings(action="ignore"):  # the first fit has warned
            again = clone(model).fit(X, Y, rules=model.given_rules_)
    except ValueError:
        return None
    if hasattr(model, "feature_names_in_"):  # X may come without
        again = with_feature_names(again, model.feature_names_in_)
    scores = again.loo_scores_
    expected = model.loo_scores_
    if scores.shape != expected.shape:
        return None
    return again if np.allclose(scores, expected, rtol=0, atol=1e-6) else None
