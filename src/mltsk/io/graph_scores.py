"""The scores of a fuzzy system in operators of ONNX.

Everything is computed in float64, as in Python. The percentile scale is a table of
knots: the place of a feature in it is found by halving, log₂ Q times for all features
at once, which needs N·D numbers where comparing with every knot needs N·D·Q (half a
gigabyte for 2,400 rows of yeast). Squares in exponents are expanded, so that thousands
of exceptions are three products, but not for the narrow widths of constant features in
the paper's setting, where this would cancel. What is missing (NaN) counts as nothing.

Symbols: N samples, D columns of numbers, L labels, P terms, K exceptions, Q knots, C
conditions of pairs, R rules of pairs.
"""

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from ..core.interpolation import MAX_SAFE_SUM
from ..core.magnitude import MAX_RAW
from ..core.membership import NOT_MEASURED_EXPONENT, Firing
from ..core.scales import Scaling
from ..core.straight import REACH, constant_reach, ordinary_ends
from ..core.terms import Terms
from ..system import FuzzySystem
from .graph import Graph

MIN_SEEN_SHARE = 1e-9  # of the features of a rule; below, nothing of it was measured
MIN_WIDTH_FOR_SLOPE = 1e-290  # between knots: slopes above are finite
MAX_EXPONENT_ERROR = 1e-12  # by rounding, of exponents whose squares are expanded
# Rules whose squares are not expanded are taken in at most this many blocks: with a few
# nodes for each of 2,000 rules, onnxruntime took a minute to read a graph.
MAX_RULE_BLOCKS = 64


def system_scores(g: Graph, system: FuzzySystem, x: str) -> str:
    """Scores (N, L) of samples (N, D), missing cells included.                    (16)

    intercept + Σ_p (t_p - mean_p) · a_p + Σ_r (f_r - mean_r) · c_r
    + Σ_k m_k (b_k + a_k·z), without slopes a_k for order 0.
    """
    missing = g.add("IsNaN", x)
    filled = system.terms.mean if system.is_linear else 0.0
    z = g.add("Where", missing, filled, scaled(g, system, x))
    total = _general(g, system, x, z, missing)
    if len(system.pairs):
        total = g.add("Add", total, _paired(g, system, z, missing))
    if not len(system.centers):
        return total
    return g.add("Add", total, _shifts(g, system, z, missing))


def _shifts(g: Graph, system: FuzzySystem, z: str, missing: str) -> str:
    """What the exceptions add to the scores, (N, L)."""
    K, D, L = system.shape
    coef = np.asarray(system.coef, dtype=np.float64)
    m = firing(g, system, z, missing)
    shifts = g.add("MatMul", m, coef[:, 0])
    if not system.order:
        return shifts
    slopes = coef[:, 1:].transpose(1, 0, 2).reshape(D, K * L)
    lines = g.add("Reshape", g.add("MatMul", z, slopes), g.integers([-1, K, L]))
    shares = g.add("Mul", lines, g.add("Unsqueeze", m, g.integers([2])))
    total = g.add("ReduceSum", shares, g.integers([1]), keepdims=0)
    return g.add("Add", total, shifts)


def _general(g: Graph, system: FuzzySystem, x: str, z: str, missing: str) -> str:
    """The intercept and what the general rule adds to it, (N, L)."""
    terms = system.terms
    coef = np.asarray(system.term_coef, dtype=np.float64)
    start = system.intercept - terms.mean @ coef
    if system.is_linear:
        return g.add("Add", g.add("MatMul", z, coef), start)
    is_line = np.zeros(len(terms), dtype=bool)
    if terms.straight is not None:
        is_line = terms.straight
    ramps = _ramps(g, system.scaling, terms.take(~is_line), z, missing)
    total = g.add("Add", g.add("MatMul", ramps, coef[~is_line]), start)
    if system.scaling is None or not is_line.any():
        return total
    lines = _lines(g, system.scaling, terms.take(is_line), x, missing)
    return g.add("Add", total, g.add("MatMul", lines, coef[is_line]))


def _ramps(
    g: Graph, scaling: Scaling | None, terms: Terms, z: str, missing: str
) -> str:
    """Memberships in ramps between percentiles, (N, P)."""
    if scaling is None or terms.low is None or terms.high is None:
        return g.add("Gather", z, g.integers([]), axis=1)  # there are none
    rise = terms.high - terms.low
    feature = g.integers(terms.feature)
    z_of_terms = g.add("Gather", z, feature, axis=1)
    line = g.add("Mul", z_of_terms, scaling.spread[terms.feature] / rise)
    line = g.add("Add", line, (scaling.offset[terms.feature] - terms.low) / rise)
    ramps = _between_0_and_1(g, line)
    is_missing = g.add("Gather", missing, feature, axis=1)
    return g.add("Where", is_missing, terms.mean, ramps)


def _lines(g: Graph, scaling: Scaling, terms: Terms, x: str, missing: str) -> str:
    """Memberships in straight terms, (N, P): shares of the way through the range.

    They are those of `Scaling.shares_of_range`, in the feature's own units at once.
    """
    halves = scaling.values[terms.feature] / 2  # of which all distances are finite
    low = halves[:, 0]
    high = halves[:, -1]
    span = np.where(high > low, high - low, 1.0)
    feature = g.integers(terms.feature)
    half = g.add("Mul", g.add("Gather", x, feature, axis=1), 0.5)
    half = g.add("Min", g.add("Max", half, low), high)
    shares = g.add("Div", g.add("Sub", half, low), span)
    is_missing = g.add("Gather", missing, feature, axis=1)
    return g.add("Where", is_missing, terms.mean, shares)


def _paired(g: Graph, system: FuzzySystem, z: str, missing: str) -> str:
    """What pairs of features add to the scores, (N, L)."""
    pairs = system.pairs
    U = _condition_memberships(g, system, z)
    U = g.add("Sub", U, pairs.conditions.mean)
    is_missing = g.add("Gather", missing, g.integers(pairs.conditions.column), axis=1)
    U = g.add("Where", is_missing, 0.0, U)
    fired = g.add(
        "Mul",
        g.add("Gather", U, g.integers(pairs.first), axis=1),
        g.add("Gather", U, g.integers(pairs.second), axis=1),
    )
    return g.add("MatMul", fired, np.asarray(system.pair_coef, dtype=np.float64))


def _condition_memberships(g: Graph, system: FuzzySystem, z: str) -> str:
    """Memberships in the conditions of pairs, (N, C)."""
    conditions = system.pairs.conditions
    scaling = system.scaling
    if scaling is None:
        raise ValueError("pairs need a scale of percentiles")
    column = conditions.column
    levels = g.add("Gather", z, g.integers(column), axis=1)
    levels = g.add("Mul", levels, scaling.spread[column])
    levels = g.add("Add", levels, scaling.offset[column])
    rising = _side(g, levels, conditions.left, conditions.peak)
    falling = _side(g, levels, conditions.right, conditions.peak)
    return g.add("Min", rising, falling)


def _side(g: Graph, levels: str, end: FloatArray, peak: FloatArray) -> str:
    """How far levels (N, C) have come from an end towards the peak, up to 1.

    It is 1 where the peak is that end.
    """
    is_flat = end == peak
    slope = np.where(is_flat, 0.0, 1.0 / np.where(is_flat, 1.0, peak - end))
    start = np.where(is_flat, 1.0, -end * slope)
    return _between_0_and_1(g, g.add("Add", g.add("Mul", levels, slope), start))


def _between_0_and_1(g: Graph, x: str) -> str:
    return g.add("Min", g.add("Max", x, 0.0), 1.0)


def scaled(g: Graph, system: FuzzySystem, x: str) -> str:
    """Samples on the scale of the rules, (N, D); anything where a cell is missing."""
    if system.unit_length:
        return unit_rows(g, x)
    scaling = system.scaling
    if scaling is None:
        return g.add("Min", g.add("Max", x, -MAX_RAW), MAX_RAW)
    if not scaling.bounded:
        return _straight(g, scaling, x)
    # The knots hold z itself: dividing by the spread at the end would, with one
    # feature, look like a factor of the next product to onnxruntime, which keeps such
    # factors in float32 (an error of 2e-8).
    levels = (scaling.levels - scaling.offset[:, None]) / scaling.spread[:, None]
    return _percentile(g, scaling.values, levels, x)


def unit_rows(g: Graph, x: str) -> str:
    """Rows of unit length; a row of zeros has none, nor has one with gaps."""
    largest = g.add("ReduceMax", g.add("Abs", x), axes=[1])
    has_size = g.add("Greater", largest, 0.0)
    # squares of very large and very small numbers are no numbers
    x = g.add("Div", x, g.add("Where", has_size, largest, 1.0))
    norm = g.add("Sqrt", g.add("ReduceSum", g.add("Mul", x, x), g.integers([1])))
    return g.add("Div", x, g.add("Where", has_size, norm, 1.0))


def _straight(g: Graph, scaling: Scaling, x: str) -> str:
    """A line through the first and the last knot, which stops far beyond them.

    It is that of `Scaling.apply`.
    """
    low, high, factor = ordinary_ends(scaling.values)
    if factor is not None:
        x = g.add("Mul", x, factor[:, 0])
    low = low[:, 0]
    high = high[:, 0]
    run = np.where(high > low, high - low, 1.0)
    slope = 1.0 / (run * scaling.spread)
    is_line = high > low
    reach = np.where(is_line, REACH * run, REACH * constant_reach(low))
    x = g.add("Min", g.add("Max", x, low - reach), high + reach)
    line = g.add("Mul", g.add("Sub", x, low), slope)
    return g.add("Sub", line, scaling.offset / scaling.spread)


def _percentile(g: Graph, values: FloatArray, levels: FloatArray, x: str) -> str:
    """Linear between knots and constant beyond them, as `numpy.interp`.

    ``values`` and ``levels`` of the knots are (D, Q).
    """
    n_steps = max(values.shape[1] - 1, 1).bit_length()
    # Halving needs no check of bounds if the number of knots is a power of two. Padding
    # repeats the last knot, where the slope is 0.
    n_knots = 2**n_steps
    values = _padded(values, n_knots)
    levels = _padded(levels, n_knots)
    x = g.add("Min", g.add("Max", x, values[:, 0]), values[:, -1])
    factors = np.where(abs(values).max(axis=1) > MAX_SAFE_SUM, 0.25, 1.0)
    if (factors < 1).any():  # else distances might not be finite
        x = g.add("Mul", x, factors)
        values = values * factors[:, None]
    width = np.diff(values, axis=1, append=values[:, -1:])
    rise = np.diff(levels, axis=1, append=levels[:, -1:])
    knots = g.constant(values.ravel())
    # the last knot that is not above x in the table, feature after feature, (N, D)
    first = g.integers(np.arange(len(values)) * n_knots)
    place = g.add("Expand", first, g.add("Shape", x))
    for step in reversed(range(n_steps)):
        further = g.add("Add", place, g.integers(2**step))
        is_reached = g.add("GreaterOrEqual", x, g.add("Gather", knots, further))
        place = g.add("Where", is_reached, further, place)
    beyond = g.add("Sub", x, g.add("Gather", knots, place))
    is_normal = (width == 0) | (width > MIN_WIDTH_FOR_SLOPE)
    if is_normal.all():
        slopes = np.divide(rise, width, out=np.zeros_like(width), where=width > 0)
        climb = g.add("Mul", beyond, g.add("Gather", slopes.ravel(), place))
    else:  # slopes might not be finite
        length = np.where(width > 0, width, 1.0)
        share = g.add("Div", beyond, g.add("Gather", length.ravel(), place))
        climb = g.add("Mul", share, g.add("Gather", rise.ravel(), place))
    return g.add("Add", g.add("Gather", levels.ravel(), place), climb)


def _padded(knots: FloatArray, n_knots: int) -> FloatArray:
    """Knots (D, n_knots), the last one repeated."""
    return np.pad(knots, ((0, 0), (0, n_knots - knots.shape[1])), mode="edge")


def firing(g: Graph, system: FuzzySystem, z: str, missing: str) -> str:
    """How far every rule applies to every sample, (N, K).                    (5) (6)"""
    measured = g.number(g.add("Not", missing))
    exponents = _exponents(g, system, z, measured)
    share = 1.0 if system.scaling is None else system.scaling.share
    counted = np.isfinite(system.widths) * share
    seen = g.add("MatMul", measured, counted.T)
    # over what was measured, times how much of the rule's features that is
    factor: float | str = 1.0
    if system.firing != "minimum":
        at_least = g.add("Max", seen, MIN_SEEN_SHARE)
        factor = g.add("Div", counted.sum(axis=1), at_least)
    total = g.add("Mul", exponents, factor)
    is_seen = g.add("Greater", seen, MIN_SEEN_SHARE)
    exponent = g.add("Where", is_seen, total, NOT_MEASURED_EXPONENT)
    return _strengths(g, system.firing, g.add("Neg", exponent))


def _exponents(g: Graph, system: FuzzySystem, z: str, measured: str) -> str:
    """How far samples lie from the centre of each rule, (N, K)."""
    if system.firing == "softmax" and (system.widths == system.widths[0]).all():
        return _relative_exponents(g, system, z, measured)
    widths = np.asarray(system.widths, dtype=np.float64)
    centers = system.centers - system.centers.mean(axis=0)
    rounding = np.finfo(np.float64).eps * (centers**2 / widths).max()
    if system.firing != "minimum" and rounding <= MAX_EXPONENT_ERROR:
        return _expanded_exponents(g, system, z, measured)
    n_blocks = min(len(widths), MAX_RULE_BLOCKS)
    blocks = []
    for rules in np.array_split(np.arange(len(widths)), n_blocks):
        blocks.append(_exponents_of_block(g, system, rules, z, measured))
    return g.add("Concat", *blocks, axis=1)


def _exponents_of_block(
    g: Graph, system: FuzzySystem, rules: NDArray[np.intp], z: str, measured: str
) -> str:
    """Exponents (N, k) of k rules, from the distances in each feature (N, k, D)."""
    before_features = g.integers([1])
    away = g.add("Sub", g.add("Unsqueeze", z, before_features), system.centers[rules])
    is_measured = g.add("Unsqueeze", measured, before_features)
    squares = g.add("Mul", g.add("Mul", away, away), is_measured)
    # an infinite width is no condition
    widths = np.asarray(system.widths[rules], dtype=np.float64)
    ratios = g.add("Mul", squares, 1.0 / widths)
    if system.firing == "minimum":
        return g.add("ReduceMax", ratios, axes=[2], keepdims=0)
    return g.add("ReduceSum", ratios, g.integers([2]), keepdims=0)


def _expanded_exponents(g: Graph, system: FuzzySystem, z: str, measured: str) -> str:
    """Exponents (N, K) as three products."""
    away = g.add("Sub", z, system.centers.mean(axis=0))
    squares = g.add("Mul", g.add("Mul", away, away), measured)
    widths = np.asarray(system.widths, dtype=np.float64)
    of_samples = g.add("MatMul", squares, (1.0 / widths).T)
    others = _relative_exponents(g, system, z, measured)
    return g.add("Max", g.add("Add", of_samples, others), 0.0)


def _relative_exponents(g: Graph, system: FuzzySystem, z: str, measured: str) -> str:
    """Exponents (N, K) without the square of samples, which is the same for all rules.

    Far from all rules that square would hide which of them is the nearest.
    """
    origin = system.centers.mean(axis=0)
    centers = np.asarray(system.centers - origin, dtype=np.float64)
    away = g.add("Mul", g.add("Sub", z, origin), measured)
    towards = g.add("MatMul", away, (-2 * centers / system.widths).T)
    squares = g.add("MatMul", measured, (centers * centers / system.widths).T)
    return g.add("Add", towards, squares)


def _strengths(g: Graph, how: Firing, exponents: str) -> str:
    """Firing strengths (N, K) of exponents (N, K), which are at most 0."""
    if how == "softmax":
        return g.add("Softmax", exponents, axis=1)
    m = g.add("Exp", exponents)
    if how in ("plain", "minimum"):
        return m
    total = g.add("ReduceSum", m, g.integers([1]))
    is_zero = g.add("Equal", total, 0.0)
    tiny = np.finfo(np.float64).eps
    return g.add("Div", m, g.add("Where", is_zero, tiny, total))
