"""Cut points and numbers of few digits."""

from collections.abc import Sequence

import numpy as np

from ..core.arrays import Array, FloatArray
from ..core.magnitude import rounded

MIN_DIGITS = 2  # of a number, after the point: what adds up to log-odds needs no more
MAX_DIGITS = 6  # smaller log-odds are nothing
LEAST_EXPONENT = -322  # of a power of ten that is above 0


def weighted_quantiles(
    x: Array, w: Array, shares: Sequence[float] | FloatArray
) -> FloatArray:
    """Values that some shares (Q,) of the weight of values reach.

    A value of weight 2 is the same as two values of weight 1.

    Parameters
    ----------
    x, w : (N,)
        Values and their weights, above 0.
    shares : (Q,)
        From 0 to 1.

    Examples
    --------
    >>> weighted_quantiles(np.array([3.0, 1.0]), np.array([1.0, 2.0]), [0.5, 0.9])
    array([1., 3.])
    """
    order = np.argsort(x, kind="stable")
    reached = np.cumsum(w[order])
    reached = reached / reached[-1]
    # a share that is missed by rounding is reached
    positions = np.searchsorted(reached, np.asarray(shares) * (1 - 1e-12))
    return np.asarray(x[order[positions]], dtype=np.float64)


def cut_step(x: Array, w: Array) -> float:
    """How fine cut points of a column (N,) whose rows have weights (N,) are.

    About a hundredth of where most of its values lie; whole for whole numbers.
    """
    measured = ~np.isnan(x)
    if not measured.any():
        return 1.0
    x = x[measured]
    low, high = weighted_quantiles(x, w[measured], [0.05, 0.95])
    if not high > low:
        low = x.min()
        high = x.max()
    with np.errstate(over="ignore"):  # the distance may be larger than all numbers
        reach = min(float(high - low), float(np.finfo(np.float64).max))
    step = 1.0
    if reach > 0:
        step = 10.0 ** max(float(np.floor(np.log10(reach))) - 2, LEAST_EXPONENT)
    if (x == np.round(x)).all():
        step = max(step, 1.0)
    return float(step)


def digits_of_step(step: float) -> int:
    """Digits after the point that multiples of a step have."""
    return -int(np.floor(np.log10(step) + 0.5))


def round_range(least: float, largest: float, step: float) -> tuple[float, float]:
    """The longest range between multiples of a step that lies within another."""
    digits = digits_of_step(step)
    start = float(rounded(least, digits))
    stop = float(rounded(largest, digits))
    if start < least:
        start = float(rounded(start + step, digits))
    if stop > largest:
        stop = float(rounded(stop - step, digits))
    return start, stop


def digits_of(numbers: Array) -> int:
    """Digits after the point that the numbers of a label have.

    The largest has two digits that count, and all have two at least.
    """
    largest = float(np.abs(numbers).max(initial=0.0))
    if largest == 0:
        return MIN_DIGITS
    two_that_count = 1 - int(np.floor(np.log10(largest)))
    return int(np.clip(two_that_count, MIN_DIGITS, MAX_DIGITS))
