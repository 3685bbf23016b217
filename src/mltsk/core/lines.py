"""Straight lines over the range of a feature, as so much per round unit of it.

"+0.13 per 10 of age, from 26 to 78": the unit is a power of ten, and the number per
unit has few digits, so that what is printed is what is computed.
"""

from math import floor, isfinite, log10

import numpy as np
from numpy.typing import NDArray

from .arrays import Array
from .magnitude import rounded

# A ramp is a line if it leaves out at most this share of the range at either end.
MAX_OPEN_SHARE = 0.05
# Units below and above have no digits that people would read.
LEAST_UNIT_EXPONENT = -300
LARGEST_UNIT_EXPONENT = 300
TOLD_DIGITS = 3  # of a number per unit, those that count


def over_range(low: Array | float, high: Array | float) -> NDArray[np.bool_] | np.bool_:
    """Which ramps are lines; they begin and end at these shares of the range."""
    begins_low = np.asarray(low) <= MAX_OPEN_SHARE
    return begins_low & (np.asarray(high) >= 1 - MAX_OPEN_SHARE)


def round_unit(span: float) -> float | None:
    """The largest power of ten that fits into a span twice; None if there is none.

    >>> round_unit(52.0), round_unit(0.7), round_unit(1000.0)
    (10.0, 0.1, 100.0)
    """
    if not (isfinite(span) and span > 0):
        return None
    exponent = floor(log10(span / 2))
    if not LEAST_UNIT_EXPONENT <= exponent <= LARGEST_UNIT_EXPONENT:
        return None
    return float(f"1e{exponent}")


def rounded_line(number: float, span: float, digits: int) -> float:
    """What a line adds in all, so that what it adds per unit has few digits.

    It has one digit more than ``digits`` after the point, the digits of other numbers,
    where it is small: it is added up to twenty times.

    >>> round(rounded_line(0.68217, 52.0, 3), 9)
    0.6812
    """
    unit = round_unit(span)
    if unit is None or number == 0:
        return float(rounded(number, digits))
    n_units = span / unit
    per_unit = number / n_units
    own_digits = TOLD_DIGITS - 1 - floor(log10(abs(per_unit)))
    per_unit = float(rounded(per_unit, int(np.clip(own_digits, digits, digits + 1))))
    return per_unit * n_units


def per_unit_of(number: float, span: float) -> tuple[float, float] | None:
    """What a line adds per unit, and the unit; None if that has more digits.

    >>> per_unit_of(0.6812, 52.0)
    (0.131, 10.0)
    """
    unit = round_unit(span)
    if unit is None or number == 0:
        return None
    per_unit = number * (unit / span)
    written = float(f"{per_unit:.{TOLD_DIGITS}g}")
    if abs(per_unit) >= 1:
        written = float(f"{per_unit:.{TOLD_DIGITS}f}")
    is_written = abs(written - per_unit) <= 1e-7 * abs(per_unit)
    return (written, unit) if is_written else None
