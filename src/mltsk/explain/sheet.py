"""Short models as sheets that can be worked out by hand.

A sheet says where the log-odds of a label start and what each statement adds. What a
feature adds is a line through a few points, flat beyond the first and the last. It is
0 at one of them, so that only the smaller side of the data needs a sum.
"""

from math import floor, log10
from typing import NamedTuple

import numpy as np

from ..core.arrays import Array, underflow_is_zero
from ..core.interpolation import MAX_SAFE_SUM
from ..core.lines import over_range, per_unit_of
from ..core.magnitude import rounded
from .effects import Effects
from .subjects import doubles

SHEET_DECIMALS = 9  # beyond these, numbers of a sheet differ by rounding alone
# Values of a feature whose range is shorter than this have more decimals.
MIN_RANGE_FOR_DECIMALS = 1e-6
_CUT_DIGITS = 15  # significant digits of a cut point, which was rounded before its use


class SheetLine(NamedTuple):
    """What one subject adds to one label.

    Values ``x`` (n,) add ``y`` (n,), and no value adds ``missing``. A line over the
    whole range of a feature adds a round number for every ``per`` of it.
    """

    x: Array
    y: Array
    missing: float
    per: float | None = None


@underflow_is_zero()
def sheet_line(effects: Effects, t: int, j: int) -> SheetLine:
    """The line of subject t for label j."""
    missing = _missing(effects, t, j)
    x = doubles([*effects.subjects.named_values(t)])
    if len(x):
        y = rounded(effects.effect(t, x, j), SHEET_DECIMALS)
        return SheetLine(x, y, missing)
    x = _cut_points(effects, t, j)
    y = rounded(effects.effect(t, x, j), SHEET_DECIMALS)
    return SheetLine(x, y, missing, per=_round_unit(effects, t, x, y))


def _missing(effects: Effects, t: int, j: int) -> float:
    """What is added to label j where subject t was not measured."""
    gap = effects.subjects.gaps.get(effects.subjects[t].feature)
    if gap is None:
        return 0.0
    number = effects.system.term_coef[effects.terms_of(gap), j].sum()
    return float(rounded(number, SHEET_DECIMALS))


def _round_unit(effects: Effects, t: int, x: Array, y: Array) -> float | None:
    """The unit by which a line is told, None for a ramp and for a line that bends."""
    quantiles = effects.system.quantiles
    if len(x) != 2 or quantiles is None:
        return None
    low, high = doubles(quantiles)[effects.subjects[t].columns.start, [0, -1]] / 2
    if not low < high:
        return None
    begin, end = (x / 2 - low) / (high - low)
    if not over_range(begin, end):
        return None
    first, last = x.tolist()  # whose distance may be infinite
    line = per_unit_of(float(y[1] - y[0]), last - first)
    return None if line is None else line[1]


def decimals_of(span: float) -> int:
    """Decimals of the values of a feature whose range is ``span``.

    >>> decimals_of(40.0), decimals_of(3e-12)
    (9, 21)
    """
    if span <= 0 or span >= MIN_RANGE_FOR_DECIMALS:
        return SHEET_DECIMALS
    return SHEET_DECIMALS - floor(log10(span))


def _cut_points(effects: Effects, t: int, j: int) -> Array:
    """The values at which the ramps of subject t for label j begin and end."""
    system = effects.system
    terms = system.terms
    d = effects.subjects[t].columns.start
    used = np.flatnonzero((terms.feature == d) & (system.term_coef[:, j] != 0))
    if system.scaling is None or terms.low is None or terms.high is None:
        raise ValueError("only short models have cut points")
    low, high = system.scaling.values[d, [0, -1]]
    levels = np.unique([terms.low[used], terms.high[used]])
    if max(-low, high) > MAX_SAFE_SUM:  # their distance may not be finite
        cuts = low * (1 - levels) + high * levels
    else:
        cuts = low + levels * (high - low)
    written = doubles([float(f"{cut:.{_CUT_DIGITS}g}") for cut in cuts])
    return np.where(np.isfinite(written), written, cuts)
