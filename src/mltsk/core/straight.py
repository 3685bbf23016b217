"""Scales that are straight lines: "standard" and "minmax".

Symbols: X (N, D) samples, w (N,) weights, Q knots of a scale.

A line goes through the least and the largest training value of a feature, and on
beyond them. It is computed for numbers of any finite size.
"""

import numpy as np

from .arrays import (
    Array,
    FloatArray,
    asnumpy,
    cast,
    namespace,
    put_double,
    underflow_is_zero,
    weighted_mean_and_sd,
)
from .magnitude import MAX_RAW, unit_factors

# A straight line goes on for this many ranges of the training values and then stops: no
# answer is without bound.
REACH = 1000.0
# A column whose SD is at most this share of its mean is taken as constant: what varies
# there is the rounding of its numbers.
MIN_SD_SHARE = 1e-12
# The least length of a ramp on a straight scale, where a column has the range 1.
MIN_STRAIGHT_RAMP = 1e-50


def straight_line(x: Array, values: Array, levels: Array) -> Array:
    """Map x (D, n) by the line through the first and last knot of each row.

    The line stops at REACH ranges beyond the knots; where both knots are equal, its
    slope is 1. ``values`` and ``levels`` are (D, Q). Lines between very large or very
    small numbers are computed on numbers of ordinary size, whatever x is.
    """
    xp = namespace(x)
    low, high, factor = ordinary_ends(values)
    first, last, level_factor = ordinary_ends(levels)
    if factor is not None:
        with np.errstate(over="ignore"):  # beyond all numbers is beyond reach, too
            x = x * factor
    run = high - low
    rise = last - first
    is_line = (run > np.finfo(np.float64).tiny) & (rise > 0)
    slope = xp.where(is_line, rise / xp.where(is_line, run, 1.0), 1.0)
    reach = REACH * xp.where(is_line, run, constant_reach(low))
    z = first + (xp.clip(x, low - reach, high + reach) - low) * slope
    if level_factor is None:
        return z
    with np.errstate(over="ignore"):
        largest = np.finfo(np.float64).max
        return xp.clip(z / level_factor, -largest, largest)


def constant_reach(values: Array) -> Array:
    """What counts as the range of columns that are constant, at these values."""
    return namespace(values).clip(abs(values), 1.0, MAX_RAW / REACH)


def ordinary_ends(knots: Array) -> tuple[Array, Array, Array | None]:
    """First and last knot (D, 1) of each row, times powers of two (D, 1).

    The factors are 1 for rows of ordinary numbers and for constant ones; they are None
    if all of them are.
    """
    low = knots[:, :1]
    high = knots[:, -1:]
    factors = unit_factors(namespace(knots).maximum(abs(low), abs(high)))
    factors = np.where(asnumpy(high > low), factors, 1.0)
    if (factors == 1).all():
        return low, high, None
    factor = put_double(factors, knots)
    return low * factor, high * factor, factor


def fit_lines(
    X: Array, w: Array, scale: str, share: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fit the line of each feature, as in `terms.fit_scaling`.

    Parameters
    ----------
    X : array of shape (N, D)
    w : array of shape (N,)
        All above 0.
    scale : {"standard", "minmax"}
    share : array of shape (D,)

    Returns
    -------
    ends : array of shape (D, 2)
        The least and the largest value of each feature, of the levels 0 and 1.
    offset, spread : arrays of shape (D,)
    """
    low, high = _column_ranges(X)
    ends = np.stack([low, high], axis=1)
    if scale == "minmax":
        # The authors leave a constant feature as it is: the level x - low and the
        # offset -low give back x.
        offset = np.where(high > low, 0.0, -low)
        return ends, offset, np.ones_like(low)
    offset, spread = _standard_units(X, w, low, high)
    return ends, offset, spread / np.sqrt(share)


@underflow_is_zero()
def _standard_units(
    X: Array, w: Array, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and SD (D,) of columns whose least value counts as 0 and largest as 1.

    X is (N, D), w (N,), ``low`` and ``high`` (D,). A constant column has the mean 0 and
    the SD 1; one that varies by rounding only keeps its small numbers.
    """
    factors = unit_factors(np.maximum(np.abs(low), np.abs(high)))
    if not (factors == 1).all():
        X = cast(X, np.float64) * put_double(factors, X)
        low = low * factors
        high = high * factors
    is_constant = high <= low
    span = np.where(is_constant, 1.0, high - low)
    mean, sd = weighted_mean_and_sd(X, w)
    varies = sd > MIN_SD_SHARE * np.abs(mean)
    offset = np.where(is_constant, 0.0, (mean - low) / span)
    rounding_only = np.clip(1.0 / span, 1.0, 1 / MIN_SD_SHARE)
    return offset, np.where(varies & ~is_constant, sd / span, rounding_only)


def _column_ranges(X: Array) -> tuple[FloatArray, FloatArray]:
    """Least and largest value (D,) of each column; 0 and 0 if all are missing."""
    xp = namespace(X)
    low = asnumpy(xp.amin(xp.where(X == X, X, np.inf), axis=0))
    high = asnumpy(xp.amax(xp.where(X == X, X, -np.inf), axis=0))
    is_empty = low > high
    return np.where(is_empty, 0.0, low), np.where(is_empty, 0.0, high)
