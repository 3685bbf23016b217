"""What the page of the explorer holds about a model: its numbers, words and features.

All of it is ready for JSON, with arrays as text (`packing`). Widths that are all equal
are written once. Its rows are in `explorer_rows`.

Symbols: K exceptions, D columns of numbers, F features, L labels, P terms, R rules of
pairs, n rows.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray, Matrix, dense
from ..explain.effects import Effects
from ..explain.given import GivenRules
from ..explain.pair_effects import PairEffects
from ..explain.pairs import PairAxis
from ..explain.papers_rules import fuzzy_rules
from ..explain.rules import RuleBase, rule_base
from ..explain.subjects import Subjects
from ..explain.wording import name, percent
from ..fitted import FittedAttributes
from ..system import FuzzySystem
from ..text import plural
from .packing import (
    MAX_DECIMALS,
    PageData,
    packed,
    packed_nonzero,
    shortest_form,
)

# Arrays of more numbers may be written in single precision if their rows are shorter
# than this: then no score moves by 1e-6.
MAX_DOUBLE_NUMBERS = 500_000
MAX_SINGLE_NORM = 8
# With more numbers, centres of exceptions are written once, in the caller's units, and
# the page puts them on their scale, if that gives them back to so much. Where each of
# 2,417 rows is an exception (yeast), a page of 8.7 MB has 4.5 MB then.
MAX_WRITTEN_CENTRES = 20_000
CENTRE_TOLERANCE = 1e-12

MAX_WORDED_CONDITIONS = 5  # of an exception
# Shapes of a label: all of a short model, the largest of a long one.
MAX_SHAPES_OF_SHORT = 12
MAX_SHAPES_OF_LONG = 8


class Statement(Protocol):
    """A statement about a feature, whose words are its ``str``."""

    @property
    def feature(self) -> str:
        """The name of the feature."""


# the model ----------------------------------------------------------------------------


def system_data(
    model: FittedAttributes, labels: NDArray[np.intp] | None = None
) -> PageData:
    """What a model computes and says, about some labels or all.

    That is all that may differ between two models of the same features and labels.
    ``had`` are members of each exception that have a label, and those in which it was
    observed.
    """
    system = model.system_
    if labels is not None:
        system = system.for_labels(labels)
    terms = system.terms
    members = system.members
    base = rule_base(system)
    scaling = system.scaling
    shares = np.ones(system.shape[1]) if scaling is None else scaling.share
    had = None
    if members is not None:
        # of many exceptions with few members each, a byte per count
        counts = np.stack([members.positives, members.observed])
        had = shortest_form(counts.astype(np.float64).ravel()).data()
    return {
        "shape": [*system.shape, len(terms)],
        "noun": base.effects.noun,
        "thresholds": packed(system.thresholds),
        "middle": packed(base.effects.middle),
        "firing": system.firing,
        "share": packed(shares),
        "order": system.order,
        "scale": _scale(system),
        "terms": {
            "low": packed(terms.low),
            "high": packed(terms.high),
            "mean": packed(terms.mean),
            "feature": packed(terms.feature, "<u4"),
            "straight": packed(terms.straight, "u1"),
            "coef": _coefficients(system.term_coef, system),
        },
        "pairs": _pairs(base.pair_effects),
        "coef": _coefficients(system.coef, system),
        "widths": packed(_widths(system)),
        "weights": packed(system.rule_weights),
        "intercept": packed(system.intercept),
        "usual": packed(base.effects.usual_firing),
        **_centres(system),
        "hasLogOdds": system.has_log_odds,
        "quantiles": packed(system.quantiles),
        **_words(base),
        "had": had,
        "lines": _lines(system),
    }


def _coefficients(array: FloatArray, system: FuzzySystem) -> PageData:
    """Numbers of a model, in double precision unless they are very many."""
    if array.size <= MAX_DOUBLE_NUMBERS:
        return packed_nonzero(array, is_single=False)
    norms = np.linalg.norm(array, 2 if system.unit_length else 1, axis=-2)
    return packed_nonzero(array, is_single=bool(norms.max() < MAX_SINGLE_NORM))


def _widths(system: FuzzySystem) -> FloatArray:
    """Widths of the exceptions, (K, D), or one if all are equal."""
    widths = np.asarray(system.widths)
    if widths.size and (widths == widths[0, 0]).all():
        return widths.ravel()[:1]
    return widths


def _centres(system: FuzzySystem) -> PageData:
    """Centres of the exceptions, on the scale of the rules and in the caller's units.

    Very many are written in the caller's units alone, column by column; ``centers`` is
    None then.
    """
    prototypes = np.asarray(system.prototypes, dtype=np.float64)
    if system.scaling is not None and prototypes.size > MAX_WRITTEN_CENTRES:
        # centres that are rows have the few decimals of these, but for rounding
        rounded = np.round(prototypes, MAX_DECIMALS)
        values = np.where(_are_centres(system, rounded), rounded, prototypes)
        if _are_centres(system, values).all():
            columns = [shortest_form(column).data() for column in values.T]
            return {"centers": None, "prototypes": columns}
    return {"centers": packed(system.centers), "prototypes": packed(prototypes)}


def _are_centres(system: FuzzySystem, values: FloatArray) -> NDArray[np.bool_]:
    """In which columns (D,) values (K, D) are the centres of the exceptions."""
    distances = np.abs(system.scale(values) - system.centers)
    return np.asarray(distances.max(axis=0) <= CENTRE_TOLERANCE)


def _scale(system: FuzzySystem) -> PageData:
    """How columns are put on the scale of the rules."""
    scaling = system.scaling
    if scaling is None:
        return {"kind": "unit" if system.unit_length else "none"}
    if scaling.bounded:
        kind = "knots"
        n_knots = 1 + (np.diff(scaling.values, axis=1) > 0).sum(axis=1)
        is_knot = np.arange(scaling.values.shape[1]) < n_knots[:, None]  # else padding
        values = scaling.values[is_knot]
        levels = scaling.levels[is_knot]
    else:
        kind = "linear"
        n_knots = np.zeros(len(scaling.values))
        values = scaling.values[:, [0, -1]]
        levels = None
    return {
        "kind": kind,
        "values": packed(values),
        "levels": packed(levels),
        "offset": packed(scaling.offset),
        "spread": packed(scaling.spread),
        "ends": packed(np.cumsum([0, *n_knots])),
    }


def _pairs(effects: PairEffects) -> PageData:
    """Rules of pairs of features, and the words of each pair, the largest pair first.

    Conditions have a column and three percentiles: where a condition begins, is wholly
    met, and ends, and their average membership. The rules of a pair stand next to each
    other, ``count`` of them: each condition of its first feature with each of its
    second.
    """
    pairs = effects.system.pairs
    own = np.concatenate([np.zeros(0, dtype=np.intp), *effects.own_rules])
    conditions = pairs.conditions
    blocks = []
    for p, rules in enumerate(effects.own_rules):
        pair = effects.pair(p, np.arange(0))
        blocks.append(
            {
                "count": len(rules),
                "features": list(effects.features(p)),
                "axes": [_axis(axis) for axis in pair.axes],
                "shares": pair.shares.round(6).tolist(),
            }
        )
    return {
        "column": packed(conditions.column, "<u4"),
        "left": packed(conditions.left),
        "peak": packed(conditions.peak),
        "right": packed(conditions.right),
        "mean": packed(conditions.mean),
        "first": packed(pairs.first[own], "<u4"),
        "second": packed(pairs.second[own], "<u4"),
        "coef": packed_nonzero(effects.coef[own], is_single=False),
        "blocks": blocks,
    }


def _axis(axis: PairAxis) -> PageData:
    """One feature of a pair: its values in short, and as conditions."""
    conditions = [axis.words(i) for i in range(len(axis))]
    return {"title": axis.title, "ticks": axis.ticks, "words": conditions}


def _words(base: RuleBase) -> PageData:
    """The general rule of each label and the IF-part of each exception, in words."""
    numbers: dict[str, int] = {}
    for f, feature in enumerate(base.effects.subjects.feature_names):
        numbers.setdefault(feature, f)
    general = []
    # Only shapes have words here: where the score of a short model starts takes as
    # long as all of them.
    for j in range(len(base.general)):
        shapes = base.statements.general_shapes(j, base.kept_subjects)
        is_short = len(shapes) <= MAX_SHAPES_OF_SHORT
        at_most = MAX_SHAPES_OF_SHORT if is_short else MAX_SHAPES_OF_LONG
        general.append(_first_words(shapes, at_most, "smaller one", numbers))
    if base.system.is_papers:
        return {"general": [], "rules": _papers_words(base.system, numbers)}
    exceptions = []
    for rule in base.exceptions:
        at_most = min(MAX_WORDED_CONDITIONS, rule.told or 0)
        words = _first_words(rule.conditions, at_most, "smaller condition", numbers)
        exceptions.append({**words, "size": rule.size, "always": rule.always})
    return {"general": general, "rules": exceptions}


def _papers_words(system: FuzzySystem, numbers: Mapping[str, int]) -> list[PageData]:
    """The IF-part of each rule of the paper: the Gaussians that tell rules apart."""
    rules: list[PageData] = []
    for rule in fuzzy_rules(system):
        shown = rule.shown_conditions(MAX_WORDED_CONDITIONS)
        words = _first_words(shown, len(shown), "", numbers)
        n_more = len(rule.conditions) - len(shown)
        words["more"] = f"and {plural(n_more, 'more condition')}" if n_more else ""
        size = f"governs {percent(rule.share)} of the data"
        rules.append({**words, "size": size, "always": False})
    return rules


def _lines(system: FuzzySystem) -> PageData | None:
    """Slope and constant of each feature on the paper's scale, for its formulas.

    None for systems of another form.
    """
    if not system.is_papers:
        return None
    slope, constant = fuzzy_rules(system).lines
    return {"slope": packed(slope), "constant": packed(constant)}


def _first_words(
    statements: Sequence[Statement], at_most: int, noun: str, numbers: Mapping[str, int]
) -> PageData:
    """The first statements, each with the number of its feature, and how many more."""
    words = []
    for statement in statements[:at_most]:
        words.append([numbers[statement.feature], str(statement)])
    n_more = len(statements) - at_most
    more = plural(n_more, noun) if n_more > 0 else ""
    if more and at_most:
        more = f"and {more}"
    return {"words": words, "more": more}


# its features -------------------------------------------------------------------------


def ranges(system: FuzzySystem, values: Matrix | None) -> PageData:
    """Between which ends each column can be set, and which hold whole numbers.

    ``values`` (n, D) are rows that the page holds, if there are any.
    """
    if system.quantiles is None:
        ends = _sparse_ends(system, values)
        return {"ranges": packed(ends), "whole": []}
    ends = system.quantiles[:, [0, -1]]
    known_values = system.quantiles
    if system.scaling is not None and not system.is_sheet:
        known_values = system.scaling.values
    is_whole = (known_values == np.round(known_values)).all(axis=1)
    is_wide = ends[:, 1] / 2 - ends[:, 0] / 2 > 0.5
    return {
        "ranges": packed(ends),
        "whole": np.flatnonzero(is_whole & is_wide).tolist(),
    }


def _sparse_ends(system: FuzzySystem, values: Matrix | None) -> FloatArray:
    """Ends of sparse columns, (D, 2), from rows and averages of the rules."""
    seen = [np.zeros(system.shape[1]), system.prototypes]
    if values is not None:
        seen += [dense(values.min(axis=0)), dense(values.max(axis=0))]
    stacked = np.vstack(seen)
    highest = np.maximum(stacked.max(axis=0) * 1.5, 1.0)
    return np.stack([stacked.min(axis=0), highest], axis=1)


def feature_data(effects: Effects, values: Matrix | None) -> PageData:
    """How features became columns, which values have names, what may be missing.

    ``values`` (n, D) are rows that the page holds, if there are any.

    ``choices`` are the named values of features, by number; with ``nominal``, how many
    there are, if they have no order: each has a column, unless there are two.
    ``optional`` are features that may be missing. ``columns`` has the first column of
    each feature, the one after its last, and that of "not measured", or -1. ``parts``
    are names of columns. ``given`` are rules of the user.
    """
    subjects = effects.subjects
    choices = _choices(subjects)
    columns = effects.system.columns
    if columns is None:
        return {"choices": choices, "optional": [], "given": []}
    spans = []
    for f, subject in enumerate(subjects[: len(subjects.feature_names)]):
        gap = subjects.gaps.get(f)
        gap_column = -1 if gap is None else subjects[gap].columns.start
        spans.append([subject.columns.start, subject.columns.stop, gap_column])
    return {
        "choices": choices,
        "optional": _optional_features(subjects, values),
        "columns": spans,
        "parts": [name(part) for part in columns.part_names],
        "given": _given_rules(effects),
    }


def _choices(subjects: Subjects) -> PageData:
    """The values of features that have names."""
    choices: PageData = {}
    for f in range(len(subjects.feature_names)):
        names = subjects.named_values(f)
        if not names:
            continue
        choice: PageData = {
            "values": list(names),
            "names": [name(value) for value in names.values()],
        }
        if subjects[f].kind == "nominal":
            choice["nominal"] = len(names)
        choices[str(f)] = choice
    return choices


def _optional_features(subjects: Subjects, values: Matrix | None) -> list[int]:
    """Features that may be missing: all but numbers that are never missing."""
    optional = []
    for f, subject in enumerate(subjects[: len(subjects.feature_names)]):
        is_optional = subject.kind != "number" or f in subjects.gaps
        if values is not None and not is_optional:
            is_optional = bool(np.isnan(values[:, subject.columns]).any())
        if is_optional:
            optional.append(f)
    return optional


def _given_rules(effects: Effects) -> list[PageData]:
    """Rules of the user.

    ``asks`` is what a rule asks of columns, None for no end; ``words`` are the same
    with their features; ``had`` is how many have each label where the rule holds, and
    in how many it was observed.
    """
    system = effects.system
    rules = GivenRules(effects)
    every_label = np.arange(system.shape[2])
    data = []
    for r, tests in enumerate([] if system.columns is None else system.columns.tests):
        words = []
        conditions = zip(effects.subjects.given[r], rules.conditions(r), strict=True)
        for (feature, *_), condition in conditions:
            words.append([feature, str(condition)])
        had = None if system.members is None else system.members.given[r].tolist()
        data.append(
            {
                "asks": [[d, _finite(low), _finite(high)] for d, low, high in tests],
                "words": words,
                "size": rules.rule(r, every_label).size,
                "had": had,
            }
        )
    return data


def _finite(end: float) -> float | None:
    """An end of a range, or None if it is open."""
    return end if np.isfinite(end) else None
