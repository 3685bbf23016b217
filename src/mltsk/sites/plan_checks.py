"""A plan as plain data for JSON, and back: checked part by part."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..columns import Columns
from ..core.arrays import FloatArray
from ..core.scales import Scaling
from ..core.terms import Terms
from ..io.requirements import (
    are_different_words,
    is_finite,
    is_finite_number,
    require,
)
from ..tables.kinds import NUMBER
from .plan import PLAN_FORMAT, PLAN_VERSION, Plan
from .summary_checks import (
    MAX_FEATURES,
    MAX_LABELS,
    MAX_VALUE,
    check_feature_kind,
    check_kind,
    check_text,
)

MAX_TERMS = 64 * MAX_FEATURES

Json = Any
Kinds = dict[str, str | tuple[str, ...]]


def plain_plan(plan: Plan) -> dict[str, Json]:
    """A plan as plain data for JSON."""
    kinds = {}
    for name, kind in plan.kinds.items():
        kinds[name] = kind if isinstance(kind, str) else list(kind)
    terms = plan.terms
    straight = terms.straight
    return {
        "format": PLAN_FORMAT,
        "version": PLAN_VERSION,
        "labels": list(plan.label_names),
        "kinds": kinds,
        "values": [list(values) for values in plan.columns.values],
        "rare": [list(values) for values in plan.columns.rare],
        "gaps": list(plan.columns.gaps),
        "knots": plan.scaling.values.tolist(),
        "levels": plan.scaling.levels.tolist(),
        "offset": plan.scaling.offset.tolist(),
        "spread": plan.scaling.spread.tolist(),
        "share": plan.scaling.share.tolist(),
        "variance": plan.variance,
        "quantiles": plan.quantiles.tolist(),
        "term_column": terms.feature.tolist(),
        "term_low": [] if terms.low is None else terms.low.tolist(),
        "term_high": [] if terms.high is None else terms.high.tolist(),
        "term_mean": terms.mean.tolist(),
        "term_is_line": [] if straight is None else straight.tolist(),
        "notes": list(plan.notes),
        "units": dict(plan.units),
    }


def plan_from(content: Json) -> Plan:
    """The plan of plain data; ValueError with a reason if it is none."""
    check_kind(content, PLAN_FORMAT, PLAN_VERSION)
    columns, kinds = _plan_columns(content)
    D = len(columns.parts)
    require(0 < D <= MAX_FEATURES, "it has too many columns")
    knots = _table(content, "knots", (D, None))
    levels = _table(content, "levels", (D, knots.shape[1]))
    rises = (np.diff(knots, axis=1) >= 0).all() and (np.diff(levels, axis=1) >= 0).all()
    in_range = levels.min() >= 0 and levels.max() <= 1
    require(rises and in_range, "knots must rise, with levels from 0 to 1")
    scaling = Scaling(
        values=knots,
        levels=levels,
        offset=_table(content, "offset", (D,)),
        spread=_table(content, "spread", (D,), _is_ordinary),
        bounded=True,
        share=_table(content, "share", (D,), _is_ordinary),
    )
    variance = content.get("variance")
    require(
        is_finite_number(variance, above=0.0, at_most=MAX_VALUE), "'variance' is off"
    )
    labels = content.get("labels")
    is_list = are_different_words(labels) and 0 < len(labels) <= MAX_LABELS
    require(is_list, "'labels' must be different texts")
    notes = content.get("notes")
    require(isinstance(notes, list), "'notes' must be a list")
    for text in [*labels, *notes]:
        check_text(text, "a label or note")
    return Plan(
        kinds=kinds,
        columns=columns,
        scaling=scaling,
        terms=_plan_terms(content, D),
        variance=float(variance),
        quantiles=_table(content, "quantiles", (D, 21)),
        label_names=tuple(labels),
        notes=tuple(notes),
        units=_units(content.get("units"), kinds),
    )


def _units(units: Json, kinds: Kinds) -> dict[str, str]:
    """The units of some features of a plan, by name."""
    is_known = isinstance(units, dict) and set(units) <= set(kinds)
    require(is_known, "'units' must be of its features")
    for unit in units.values():
        check_text(unit, "a unit")
    return dict(units)


def _is_ordinary(numbers: FloatArray) -> bool:
    """Whether numbers can be divided by."""
    return bool(((numbers > 1e-30) & (numbers < 1e30)).all())


def _plan_columns(content: Json) -> tuple[Columns, Kinds]:
    """The columns of a plan and the kinds of its features."""
    kinds = _plan_kinds(content.get("kinds"))
    values = _words(content, "values", len(kinds))
    rare = _words(content, "rare", len(kinds))
    gaps = content.get("gaps")
    is_list = isinstance(gaps, list) and len(gaps) == len(kinds)
    require(is_list and all(isinstance(gap, bool) for gap in gaps), "'gaps' is off")
    plain_kinds = []
    for kind, own, others in zip(kinds.values(), values, rare, strict=True):
        plain_kinds.append(_plain_kind(kind, own, others))
    columns = Columns(
        names=tuple(kinds),
        kinds=tuple(plain_kinds),
        values=tuple(map(tuple, values)),
        rare=tuple(map(tuple, rare)),
        gaps=tuple(gaps),
    )
    return columns, kinds


def _plan_kinds(plain: Json) -> Kinds:
    """The kinds of the features of a plan."""
    is_dict = isinstance(plain, dict) and 0 < len(plain) <= MAX_FEATURES
    require(is_dict, "'kinds' must name the features")
    kinds: Kinds = {}
    for name, kind in plain.items():
        check_text(name, "the name of a feature")
        check_feature_kind(kind)
        kinds[name] = kind if isinstance(kind, str) else tuple(kind)
    return kinds


def _words(content: Json, part: str, n_features: int) -> list[list[str]]:
    """Lists of different texts, one per feature."""
    lists = content.get(part)
    is_list = isinstance(lists, list) and len(lists) == n_features
    require(
        is_list and all(are_different_words(words) for words in lists),
        f"{part!r} must have a list of texts per feature",
    )
    for words in lists:
        for word in words:
            check_text(word, "a value")
    return list(lists)


def _plain_kind(kind: str | tuple[str, ...], values: list[str], rare: list[str]) -> str:
    """The kind of a column, whose values must go with it."""
    require(not set(values) & set(rare), "a value must not be frequent and rare")
    if isinstance(kind, tuple):
        require(tuple(values) == kind, "'values' of levels must be these levels")
        return "ordinal"
    if kind == NUMBER:
        require(not values and not rare, "a number has no 'values'")
        return "number"
    return "nominal"


def _plan_terms(content: Json, D: int) -> Terms:
    """The terms of a plan, sorted by column."""
    feature = content.get("term_column")
    require(_are_columns(feature, D), "'term_column' must be columns in order")
    P = len(feature)
    low = _table(content, "term_low", (P,))
    high = _table(content, "term_high", (P,))
    mean = _table(content, "term_mean", (P,))
    are_shares = min(low.min(), high.min(), mean.min()) >= -1e-6
    are_shares &= bool(max(low.max(), high.max(), mean.max()) <= 1 + 1e-6)
    require(are_shares and (high - low > 1e-9).all(), "terms must rise from 0 to 1")
    is_line = content.get("term_is_line")
    is_list = isinstance(is_line, list) and len(is_line) in (0, P)
    require(
        is_list and all(isinstance(cell, bool) for cell in is_line),
        "'term_is_line' must be true or false for each term",
    )
    return Terms(
        feature=np.array(feature, dtype=np.intp),
        low=low,
        high=high,
        mean=mean,
        straight=np.array(is_line, dtype=bool) if is_line else None,
    )


def _are_columns(feature: Json, D: int) -> bool:
    """Whether these are numbers of D columns, in order."""
    if not isinstance(feature, list) or not 0 < len(feature) <= MAX_TERMS:
        return False
    if not all(isinstance(d, int) and not isinstance(d, bool) for d in feature):
        return False
    return feature == sorted(feature) and feature[0] >= 0 and feature[-1] < D


def _table(
    content: Json,
    name: str,
    shape: tuple[int | None, ...],
    is_allowed: Callable[[FloatArray], bool] = is_finite,
) -> FloatArray:
    """An array of finite numbers of a shape; None is any length from 1 on."""
    rows = content.get(name)
    require(isinstance(rows, list), f"{name!r} must be a list")
    cells = (
        rows if len(shape) == 1 else [cell for row in rows for cell in _list(row, name)]
    )
    require(
        all(is_finite_number(x, above=-MAX_VALUE, at_most=MAX_VALUE) for x in cells),
        f"{name!r} must hold finite numbers",
    )
    lengths = {len(row) for row in rows} if len(shape) == 2 else {0}
    require(len(lengths) == 1, f"rows of {name!r} must have one length")
    array = np.array(rows, dtype=np.float64)
    fits = array.ndim == len(shape) and array.size > 0
    for length, wanted in zip(array.shape, shape, strict=False):
        fits = fits and (wanted is None or length == wanted)
    require(fits and is_allowed(array), f"{name!r} does not fit the other parts")
    return array


def _list(row: Json, name: str) -> list[Json]:
    require(isinstance(row, list), f"{name!r} must be a list of lists")
    return list(row)
