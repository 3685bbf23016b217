"""What the page needs to edit a model: sums over rows, and what wishes ask for.

The page finds all numbers again by the same problem as `MLTSKClassifier.constrained`
does without rows: the ridge problem of the sums, under linear demands. What each edit
demands is written here, by the code that Python itself uses, so that the page knows
nothing of curves, scales and kinds of features: it solves.

Symbols: Q columns of the ridge problem, P terms, L labels, k demands.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..classifier import MLTSKClassifier
from ..core.arrays import FloatArray, Matrix, asnumpy
from ..correction import free_losses
from ..edits import edit_log, fingerprint
from ..exceptions import InputError
from ..explain.effects import Effects
from ..explain.pair_effects import PairEffects
from ..explain.wording import name
from ..fit.corrector import Corrector
from ..fit.curve_shape import CurveShape
from ..fit.demands import DIRECTED, Demand, DemandMaker, columns_of_feature
from ..fit.design import Design
from ..fit.pair_slopes import PairSlopes
from ..fit.scale import OVERLAPPING
from ..fit.sums import FitSums, LabelSums
from ..fit.wishes import Wish
from ..probabilities import Curves
from ..record import FitRecord
from ..rows.read import Estimator
from .packing import PageData, packed, packed_nonzero

# Columns of sums that a page solves within a tenth of a second, and cells of all sums
# that it holds: half of these are written, as 1.6 MB of text.
MAX_EDIT_COLUMNS = 300
MAX_EDIT_CELLS = 300_000
# Cells of leave-one-out scores that a page holds, to judge edits by: 1 MB of text.
MAX_JUDGED_CELLS = 100_000
# Rows of a group that a page leaves out together: each takes a matrix of its rows.
MAX_GROUP_ROWS = 100
N_HANDLES = 7  # of one curve, at most
OF_LABEL = 0  # demands are alike for all labels, so those of the first are written


def edits_data(classifier: Estimator, *, has_all_labels: bool) -> PageData | None:
    """What a page needs to edit a model, or why it cannot; None for other models.

    ``refused`` is the sentence that the page shows then.
    """
    if type(classifier) is not MLTSKClassifier:
        return None
    system = classifier.system_
    if system.scaling is None or system.is_chosen:
        return None
    try:
        if not has_all_labels:
            raise InputError("This page has some of the labels alone.")
        return _edits_data(classifier)
    except InputError as error:
        return {"refused": str(error)}


def log_data(classifier: Estimator) -> list[PageData]:
    """Edits that a model has already, in words."""
    log = []
    for edit in edit_log(classifier):
        log.append(
            {
                "told": name(edit.told()),
                "author": name(edit.author),
                "reason": name(edit.reason),
            }
        )
    return log


def _edits_data(classifier: MLTSKClassifier) -> PageData:
    """Sums and demands; InputError where there are none, or too many."""
    corrector = classifier.corrector()
    sums = classifier.sums_
    kept = corrector.kept_sums(sums)
    _check_page_sums(kept)
    if sums.curves is None:
        raise InputError(
            "The sums of this model do not say how scores become log-odds."
        )
    design = kept.design
    maker = DemandMaker(design, corrector.columns, sums.curves)
    earlier = [_plain_demand(demand) for demand in maker.demands(corrector.wishes)]
    return {
        "refused": "",
        "model": fingerprint(classifier.system_),
        "names": list(corrector.features),
        "labelNames": [str(label) for label in corrector.labels],
        "ridge": kept.ridge,
        "parts": [_part(part) for part in kept.parts],
        "slopes": packed(sums.curves.slopes),
        "offsets": packed(sums.curves.offsets),
        "losses": packed(free_losses(sums)),
        "weights": packed(_column_weights(design)),
        "heights": _heights(design),
        "pairColumns": packed(_pair_columns(classifier), "<u4"),
        "curves": _curves(corrector, design),
        "subjects": _subjects(classifier),
        "earlier": earlier,
        "wished": _wished_features(corrector),
        "directed": _directions(corrector),
    }


def _wished_features(corrector: Corrector) -> list[list[int]]:
    """Features whose pairs wishes took already, for each label."""
    features: list[set[int]] = [set() for _ in corrector.labels]
    for wish in corrector.wishes:
        for label in wish.labels:
            if wish.kind not in DIRECTED:
                features[label].add(wish.feature)
    return [sorted(own) for own in features]


def _directions(corrector: Corrector) -> list[list[tuple[int, str]]]:
    """Features that rise or fall already, for each label."""
    directions: list[list[tuple[int, str]]] = [[] for _ in corrector.labels]
    for wish in corrector.wishes:
        if wish.kind in DIRECTED:
            for label in wish.labels:
                directions[label].append((wish.feature, wish.kind))
    return directions


def _check_page_sums(sums: FitSums) -> None:
    """Refuse sums that would make the page large or slow."""
    n_columns = sums.design.n_columns
    n_parts = len(sums.parts)
    is_small = n_columns**2 * n_parts <= MAX_EDIT_CELLS
    if n_columns > MAX_EDIT_COLUMNS or not is_small:
        sets = "set" if n_parts == 1 else "sets"
        raise InputError(
            f"The sums of this model ({n_columns:,} columns, {n_parts:,} {sets} of "
            "labels) are too large for a page: correct it with `mltsk correct`."
        )


def _part(part: LabelSums) -> PageData:
    """Sums of some labels; of H, which is symmetric, the cells from the diagonal on."""
    moments = part.moments
    return {
        "labels": part.labels.tolist(),
        "H": packed(moments.H[np.triu_indices(len(moments.H))]),
        "B": packed(moments.B),
        "phi": packed(moments.phi),
        "y": packed(moments.y),
        "total": moments.total,
    }


def _column_weights(design: Design) -> FloatArray:
    """What numbers of columns (Q,) are multiplied with to be those of the model."""
    terms = np.broadcast_to(np.asarray(design.term_weights), design.n_terms)
    n_pairs = design.n_columns - design.n_terms
    return np.sqrt(np.concatenate([terms, np.full(n_pairs, design.pair_weight)]))


def _heights(design: Design) -> PageData | None:
    """Turns numbers of ramps into those of terms, where terms overlap."""
    if design.scale.name not in OVERLAPPING:
        return None
    return packed_nonzero(design.scale.heights.toarray(), is_single=False)


def _pair_columns(classifier: MLTSKClassifier) -> NDArray[np.intp]:
    """The column among those of pairs of each rule of a pair, in the page's order."""
    own_rules = PairEffects(Effects(classifier.system_)).own_rules
    return np.concatenate([np.zeros(0, dtype=np.intp), *own_rules])


def _subjects(classifier: MLTSKClassifier) -> PageData:
    """What words need to know of features beyond their numbers.

    ``frequencies`` are those of the values of features without an order, ``gaps`` those
    of "measured" and "not measured".
    """
    effects = Effects(classifier.system_)
    n_features = len(effects.subjects.feature_names)
    frequencies: PageData = {}
    gaps: PageData = {}
    for t, subject in effects.subjects.unordered:
        own = frequencies if t < n_features else gaps
        own[str(subject.feature)] = effects.frequencies(t).tolist()
    kinds = [subject.kind for subject in effects.subjects[:n_features]]
    return {"kind": kinds, "frequencies": frequencies, "gaps": gaps}


def _plain_demand(demand: Demand) -> PageData:
    """A demand that the model meets already."""
    if len(demand.rows) > 1:
        raise InputError(
            "This model has an effect that is the same for several labels, which a "
            "page cannot keep: correct it with `mltsk correct`."
        )
    ((label, row),) = demand.rows.items()
    columns = np.flatnonzero(row)
    return {
        "label": int(label),
        "columns": columns.tolist(),
        "row": packed(row[columns]),
        "least": demand.least,
        "isEqual": demand.is_equal,
    }


# price --------------------------------------------------------------------------------


def judged_data(
    record: FitRecord | None,
    values: Matrix,
    labels: FloatArray | None,
    index: NDArray[np.intp],
) -> PageData:
    """What a page judges edits by, with rows that it holds; or why it cannot.

    ``before`` (m, L) are leave-one-out log-odds of the rows that the page holds, before
    edits; those after edits the page finds itself, by the terms of the model, and adds
    ``shifts`` (m, L), because terms were chosen by these rows. ``groups`` are numbers
    of rows that are left out together.

    Parameters
    ----------
    record : FitRecord, optional
        What the fit of the model knew of its rows.
    values : (n, D)
        Rows that the page is made from, as the classifier reads them.
    labels : (n, L), optional
        NaN where not observed.
    index : (m,)
        Which of these the page holds.
    """
    reason = _why_not_judged(record, values, labels, index)
    if record is None or reason:
        return {"refused": reason}
    groups = None
    if record.groups is not None:
        groups = packed(record.groups, "<u4")
    shifts = None
    if record.choice_shifts is not None:
        shifts = packed(record.choice_shifts[index])
    return {
        "refused": "",
        "shifts": shifts,
        "before": packed(record.loo_scores[index]),
        "groups": groups,
        "nShown": len(index),
        "nRows": values.shape[0],
    }


def _why_not_judged(
    record: FitRecord | None,
    values: Matrix,
    labels: FloatArray | None,
    index: NDArray[np.intp],
) -> str:
    """Why edits cannot be judged by rows of a page, or nothing."""
    if labels is None:
        return "the labels of its rows are not in this page"
    if record is None or not _are_rows_of_fit(record, values, labels):
        return "the rows of this page are not those of its fit"
    if len(record.training.design.pairs) or any(len(own) for _, own in record.folds):
        return "its pairs of features were chosen by the same rows"
    if not np.isin(record.training.w, (0.0, 1.0)).all():
        return "the rows of its fit have weights"
    if len(index) * record.scores.shape[1] > MAX_JUDGED_CELLS:
        return "it has many labels"
    if record.groups is None:
        return ""
    if len(index) < values.shape[0]:
        return "some rows of a group are not in this page"
    if np.bincount(record.groups).max() > MAX_GROUP_ROWS:
        return "many rows belong together"
    return ""


def _are_rows_of_fit(record: FitRecord, values: Matrix, labels: FloatArray) -> bool:
    """Whether rows (n, D) are all rows that a model was fitted to, in their order."""
    of_fit = record.training.X
    is_whole = record.n_rows in (None, len(record.training))
    if not is_whole or sparse.issparse(of_fit) or sparse.issparse(values):
        return False
    has_values = np.array_equal(asnumpy(of_fit), np.asarray(values), equal_nan=True)
    return has_values and np.array_equal(record.labels, labels, equal_nan=True)


# curves -------------------------------------------------------------------------------


def _curves(corrector: Corrector, design: Design) -> list[PageData]:
    """What edits of each feature demand.

    Those of points are for an effect of 1 on the scale of scores.
    """
    n_labels = len(corrector.labels)
    on_scores = Curves(np.ones(n_labels), np.zeros(n_labels))
    maker = DemandMaker(design, corrector.columns, on_scores)
    curves = []
    for feature in range(len(corrector.features)):
        nothing = maker.demands([Wish(feature, (OF_LABEL,), "nothing")])
        curve: PageData = {"off": _rows(nothing), "handles": []}
        if _has_order(corrector, feature) and nothing:
            rising = Wish(feature, (OF_LABEL,), "rises")
            curve["rises"] = _rows(maker.demands([rising]))
            curve["slopes"] = _pair_slopes(maker.pair_slopes(rising))
            curve["falls"] = _rows(maker.demands([Wish(feature, (OF_LABEL,), "falls")]))
        if _has_curve(corrector, feature):
            for value in _handles(corrector, design, feature):
                point = Wish(feature, (OF_LABEL,), "points", ((value, 1.0),))
                curve["handles"].append(
                    {"value": value, **_rows(maker.demands([point]))}
                )
        curves.append(curve)
    return curves


def _pair_slopes(slopes: PairSlopes | None) -> PageData | None:
    """How steep a feature is beside others, if it acts together with some."""
    if slopes is None:
        return None
    columns = np.flatnonzero((slopes.terms != 0).any(axis=0))
    return {
        "count": len(slopes.terms),
        "columns": columns.tolist(),
        "terms": packed(slopes.terms[:, columns]),
        "partners": [
            {
                "columns": partner.columns.tolist(),
                "steps": packed(partner.steps),
                "values": packed(partner.values),
            }
            for partner in slopes.partners
        ],
    }


def _has_order(corrector: Corrector, feature: int) -> bool:
    """Whether the values of a feature have an order, as no and yes have."""
    return corrector.columns is None or corrector.columns.direction_of(feature) != 0


def _has_curve(corrector: Corrector, feature: int) -> bool:
    """Whether the values of a feature are numbers, or places in an order."""
    return corrector.columns is None or corrector.columns.kinds[feature] != "nominal"


def _rows(demands: Sequence[Demand]) -> PageData:
    """Demands of one label as rows (k, c) of the columns that they are about."""
    if not demands:
        return {"columns": [], "rows": packed(np.zeros(0)), "least": [], "equal": []}
    rows = np.stack([demand.rows[OF_LABEL] for demand in demands])
    columns = np.flatnonzero((rows != 0).any(axis=0))
    return {
        "columns": columns.tolist(),
        "rows": packed(rows[:, columns]),
        "least": [demand.least for demand in demands],
        "equal": [demand.is_equal for demand in demands],
    }


def _handles(corrector: Corrector, design: Design, feature: int) -> list[float]:
    """Values at which a curve has a point to drag: where it may bend, and its ends.

    A curve of one number, such as a straight line, has the one that is farthest from
    its average: a second one would say the same, or something else.
    """
    column = feature
    if corrector.columns is not None:
        column = columns_of_feature(corrector.columns, feature)[0]
    scaling = design.scale.scaling
    if scaling is None:
        return []
    shape = CurveShape.of(design.scale.terms, scaling, column)
    if not len(shape.positions):
        return []
    ends = np.unique(shape.ends)
    if len(shape.positions) == 1:
        heights = np.abs(shape.heights(ends)[:, 0])
        return [float(ends[int(heights.argmax())])]
    places = np.linspace(0, len(ends) - 1, min(len(ends), N_HANDLES)).round()
    return [float(ends[int(place)]) for place in places]
