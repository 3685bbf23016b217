"""Short models as sheets that can be worked out by hand.

A sheet says where the score of a label starts and what each statement adds. What a
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
from .shapes import LOW_SIDE
from .subjects import doubles

SHEET_DECIMALS = 9  # beyond these, numbers of a sheet differ by rounding alone
# Values of a feature whose range is shorter than this have more decimals.
MIN_RANGE_FOR_DECIMALS = 1e-6
_CUT_DIGITS = 15  # significant digits of a cut point, which was rounded before its use


class SheetLine(NamedTuple):
    """What one subject adds to one label.

    Values ``x`` (n,) add ``y`` (n,); no value adds ``average``; ``zero`` is the effect
    that counts as 0 here and is part of where the score starts. A line over the whole
    range of a feature adds a round number for every ``per`` of it.
    """

    x: Array
    y: Array
    average: float
    zero: float
    per: float | None = None


class Sheet:
    """The sheets of a short model.

    The lines of the label that was looked at last are kept: where a score starts
    depends on all of them, and then each is told.
    """

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self._kept: tuple[int, dict[int, SheetLine]] = (-1, {})

    def line(self, t: int, j: int) -> SheetLine:
        """The line of subject t for label j."""
        label, lines = self._kept
        if label != j:
            lines = {}
            self._kept = j, lines
        line = lines.get(t)
        if line is None:
            line = _line(self.effects, t, j)
            lines[t] = line
        return line

    def start(self, j: int) -> float:
        """Where the score of label j starts, before all statements."""
        system = self.effects.system
        zeros = 0.0
        for t in np.flatnonzero(self.effects.sizes[:, j]).tolist():
            zeros += self.line(t, j).zero
        start = system.intercept[j] - system.terms.mean @ system.term_coef[:, j]
        return float(rounded(start + zeros, SHEET_DECIMALS))


@underflow_is_zero()
def _line(effects: Effects, t: int, j: int) -> SheetLine:
    """The line of subject t for label j."""
    system = effects.system
    x = doubles([*effects.subjects.named_values(t)])
    own = effects.terms_of(t)
    average = float(system.terms.mean[own] @ doubles(system.term_coef[own, j]))
    if len(x):
        y = effects.effect(t, x, j) + average
        return SheetLine(x, rounded(y, SHEET_DECIMALS), average, zero=0.0)
    x = _cut_points(effects, t, j)
    y = effects.effect(t, x, j) + average
    per = _round_unit(effects, t, x, y)
    point_of_zero = 0 if per is not None else _point_of_zero(effects, t, x)
    zero = float(y[point_of_zero])
    y = rounded(y - zero, SHEET_DECIMALS)
    return SheetLine(x, y, average - zero, zero, per)


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


def _point_of_zero(effects: Effects, t: int, x: Array) -> int:
    """Which point of a line is 0.

    It is on the larger side of the data, or in the middle of a line that bends.
    """
    d = effects.subjects[t].columns.start
    if len(x) == 2:
        middle = x[0] / 2 + x[1] / 2
        return int(effects.subjects.percentile(d, middle) < LOW_SIDE)
    percentiles = [effects.subjects.percentile(d, value) for value in x]
    return int(np.abs(np.array(percentiles) - 0.5).argmin())
