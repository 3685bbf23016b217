"""Cut points and numbers of few digits."""

import numpy as np

from ..core.arrays import Array
from ..core.magnitude import rounded
from ..core.scales import quantiles_of

MIN_DIGITS = 3  # of a number, after the point
LEAST_EXPONENT = -322  # of a power of ten that is above 0


def cut_step(x: Array) -> float:
    """How fine cut points of a column (N,) are.

    About a hundredth of where most of its values lie; whole for whole numbers.
    """
    x = x[~np.isnan(x)]
    if not len(x):
        return 1.0
    low, high = quantiles_of(x, [0.05, 0.95])
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

    The largest has two digits that count, and all have three at least.
    """
    largest = float(np.abs(numbers).max(initial=0.0))
    if largest == 0:
        return MIN_DIGITS
    return max(MIN_DIGITS, 2 - int(np.floor(np.log10(largest))))
