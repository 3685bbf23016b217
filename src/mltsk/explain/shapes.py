"""What one feature does to the score of one label, as a value that prints itself."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import NamedTuple

import numpy as np

from ..core.arrays import Array
from ..core.scales import interpolated
from ..frames import MISSING
from ..text import listing
from .wording import exactly, fifth, in_full, margin, name, number, signed

MIN_TURN = 0.25  # a curve turns where it goes back by more than this share of its range
# From this many turns on a curve is told by its highest and its lowest value: the
# numbers of wards are not low, medium and high.
MANY_TURNS = 4
# A change that passes its average below this percentile is told for lower values.
LOW_SIDE = 0.4
MAX_VALUES_TOLD = 8  # of a nominal feature
OTHER_VALUES = "any other"
# A curve is told as a line if it is never farther from the line through its ends than
# this share of its range.
MAX_BEND = 0.05
# The change over all of the data is told, too, if it is this many times that between
# the 10th and the 90th percentile: a long tail.
LONG_TAIL = 2.0


class Course(NamedTuple):
    """The course of a curve: "rises", "falls", "peaks", "dips" or "varies".

    ``at`` is where it passes 0 or else turns; ``change`` is signed; ``ends`` are the
    points between which it changes by that much, the later or larger one first.
    """

    kind: str
    at: float
    change: float
    ends: tuple[int, int]


def course(x: Array, y: Array) -> Course:
    """What a curve through points ``x``, ``y`` (Q,) does."""
    first = float(y[0])
    last = float(y[-1])
    highest = float(y.max())
    lowest = float(y.min())
    peak = highest - max(first, last)
    dip = min(first, last) - lowest
    if max(peak, dip) > MIN_TURN * (highest - lowest):
        ends = int(y.argmax()), int(y.argmin())
        if peak >= dip:
            return Course("peaks", float(x[ends[0]]), highest - lowest, ends)
        return Course("dips", float(x[ends[1]]), lowest - highest, ends)
    rises = last >= first
    rising = np.maximum.accumulate(y if rises else -y)
    return Course(
        kind="rises" if rises else "falls",
        at=interpolated(0.0, rising, x),
        change=last - first,
        ends=(len(y) - 1, 0),
    )


def n_turns(y: Sequence[float]) -> int:
    """How often a curve through points ``y`` turns.

    >>> n_turns([0.0, 1.0, 0.9, 1.1])
    0
    >>> n_turns([0.0, 1.0, 0.2, 1.1, 0.0])
    3
    """
    least_turn = MIN_TURN * (max(y) - min(y))
    turns = -1  # the first way that it goes is no turn
    direction = 0
    extreme = y[0]
    for value in y:
        back = value - extreme
        if direction * back > 0:
            extreme = value
        elif abs(back) > least_turn:
            turns += 1
            direction = 1 if back > 0 else -1
            extreme = value
    return max(turns, 0)


def course_of_values(y: Array) -> Course:
    """The course of values that have no order, which add ``y`` (Q,)."""
    ends = int(y.argmax()), int(y.argmin())
    return Course("varies", at=np.nan, change=float(np.ptp(y)), ends=ends)


def line_unit(x: Array, y: Array) -> float | None:
    """The round unit in which a line through points ``x``, ``y`` (Q,) is told.

    It is the largest power of ten that fits into the range of x twice or more; None
    where the points are not on a line.

    >>> line_unit(np.array([26.0, 40.0, 78.0]), np.array([-0.1, 0.18, 0.94]))
    10.0
    >>> line_unit(np.array([26.0, 40.0, 78.0]), np.array([-0.1, 0.5, 0.94])) is None
    True
    """
    span = float(x[-1] / 2 - x[0] / 2)  # half of it, which is finite
    if span <= 0 or y[0] == y[-1]:
        return None
    share = (x / 2 - x[0] / 2) / span
    halves = y / 2
    line = halves[0] + share * (halves[-1] - halves[0])
    if np.abs(halves - line).max() > MAX_BEND * np.ptp(halves):
        return None
    return float(10.0 ** floor(log10(span)))


@dataclass(frozen=True)
class Shape:
    """What one feature does to the score of one label: for every sample, or in a rule.

    Attributes
    ----------
    label, feature : str
        Their names.
    kind : str
        "rises", "falls", "peaks" or "dips"; "varies" between values without an order;
        or "not measured", which is about whether there is a value.
    change : float
        Signed. Of a curve that rises or falls, from the 10th to the 90th percentile;
        of other curves, the whole range; of a sparse feature, per full weight.
    size : float
        Standard deviation of the effect over the data.
    at, percentile : float or None
        Where the effect passes its average or else turns, and where in the data
        (0..1) that is; None for sparse features and for named values.
    x, y : tuple of float
        Values, and what they add to the score, 0 on average.
    names : tuple of str
        Names of the values, where they have names.
    error : float or None
        Half the width of the 95 % interval of the change, None where it is not known.
        That of a short model is wider, because the statement was chosen.
    chosen : (int, int) or None
        How many fits to random halves of the data chose the same feature to the same
        effect, and how many there were.
    average : float or None
        Of a short model, what is added where the feature was not measured: about as
        much as on average, or nothing where the table had hardly any gaps.
    per : float or None
        Of a curve that is a straight line over all of the data, the round number of
        units for which its words give the change.
    exact : bool
        Whether this is a statement of a short model. Then ``x`` and ``y`` are the
        points of a line that is flat beyond them and 0 where most of the data is, and
        ``change`` is the whole of it. A straight line is 0 at its first point, and the
        number that its words give is round.

    Examples
    --------
    >>> print(Shape("gout", "bilirubin", "rises", 0.21, 0.1, at=3.4, percentile=0.83))
    more likely with very high bilirubin (above about 3.4, +0.21)
    >>> points = {"x": (26.0, 78.0), "y": (-0.1, 0.16)}
    >>> print(Shape("gout", "age", "rises", 0.17, 0.1, per=10.0, **points))
    more likely with higher age (+0.050 per 10, from 26 to 78)
    """

    label: str
    feature: str
    kind: str
    change: float
    size: float
    at: float | None = None
    percentile: float | None = None
    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()
    names: tuple[str, ...] = ()
    error: float | None = None
    chosen: tuple[int, int] | None = None
    average: float | None = None
    per: float | None = None
    exact: bool = False

    @property
    def values(self) -> dict[str, float] | None:
        """What each named value adds to the score, None where values are numbers."""
        if not self.names:
            return None
        return dict(zip(self.names, self.y, strict=True))

    @property
    def bends(self) -> bool:
        """Whether it is a line of a short model through more than two points."""
        return self.exact and len(self.x) > 2 and not self.names

    @property
    def change_in_words(self) -> float:
        """The change that the words give.

        A rise that is told for low values is what these take away.
        """
        if self.exact:
            return max(self.y, key=abs)
        if self.per is not None or self.kind not in ("rises", "falls") or self.names:
            return self.change
        if self.percentile is None or self.percentile >= LOW_SIDE:
            return self.change
        return -self.change

    def __str__(self) -> str:
        if self.kind == MISSING and not self.exact:
            return self._measured_or_not()
        if self.kind == "varies" and not (self.exact and len(self.names) == 2):
            return self._value_by_value()
        if self.bends:
            return self._point_by_point()
        if self.per is not None:
            return self._line(self.per)
        if self._goes_up_and_down:
            return self._extremes()
        change, where, detail = self._place()
        likely = "more likely" if change > 0 else "less likely"
        amount = f"{self._amount(change)}{self._certainty}{self._tail}"
        amount += self._not_measured
        return f"{likely} {where} ({detail}{amount})"

    @property
    def _goes_up_and_down(self) -> bool:
        """Whether it is a curve that turns too often to be told by one place."""
        is_curve = self.kind in ("peaks", "dips") and not self.exact and not self.names
        return is_curve and len(self.y) > 0 and n_turns(self.y) >= MANY_TURNS

    def _extremes(self) -> str:
        """The highest and the lowest value of a curve that goes up and down."""
        points = list(zip(self.y, self.x, strict=True))
        highest, at_highest = max(points)
        lowest, at_lowest = min(points)
        most = f"most at {number(at_highest, self._value_size)} ({signed(highest)})"
        least = f"least at {number(at_lowest, self._value_size)} ({signed(lowest)})"
        return f"{name(self.feature)} goes up and down: {most}, {least}"

    def _line(self, per: float) -> str:
        """A straight line: its change per round unit, and where it begins and ends."""
        half_rise = self.y[-1] / 2 - self.y[0] / 2  # halves are finite at any size
        half_units = (self.x[-1] / 2 - self.x[0] / 2) / per
        change = half_rise / half_units
        likely = "more likely" if half_rise > 0 else "less likely"
        error = None
        if self.error is not None and self.change != 0:
            error = self.error * abs(change / self.change)
        written = exactly if self.exact else number
        slope = f"{self._amount(change)}{margin(error)} per {written(per)}"
        span = f"from {written(self.x[0])} to {written(self.x[-1])}"
        details = f"{slope}, {span}{self._times_chosen}{self._not_measured}"
        return f"{likely} with higher {name(self.feature)} ({details})"

    @property
    def _tail(self) -> str:
        """The change over all of the data, if most of it is in a long tail."""
        if self.kind not in ("rises", "falls") or self.names or self.exact:
            return ""
        if len(self.x) < 2 or self.at is None:
            return ""
        whole = self.y[-1] - self.y[0]
        if whole * self.change <= 0 or abs(whole) < LONG_TAIL * abs(self.change):
            return ""
        span = f"from {number(self.x[0])} to {number(self.x[-1])}"
        if self.change_in_words != self.change:
            span = f"from {number(self.x[-1])} down to {number(self.x[0])}"
            whole = -whole
        return f"; {signed(whole)} {span}"

    def _measured_or_not(self) -> str:
        measured, missing = (signed(amount) for amount in self.y)
        return f"{name(self.feature)} {MISSING}: {missing}; {self.names[0]} {measured}"

    def _value_by_value(self) -> str:
        """Named values with what they add, the largest first."""
        statements: list[str] = []
        for value, amount in self._ranked_values():
            between = " " if statements else ": "
            statements.append(f"{value}{between}{self._amount(amount)}")
        words = f"{name(self.feature)} = {'; '.join(statements)}{self._not_measured}"
        certainty = self._certainty.lstrip(" ,")
        return f"{words} ({certainty})" if certainty else words

    def _point_by_point(self) -> str:
        """The points of a line that bends."""
        points = []
        for x, y in zip(self.x, self.y, strict=True):
            points.append(f"{exactly(x)}: {self._amount(y)}")
        between = "".join(f"; at {point}" for point in points[1:-1])
        ends = f"up to {points[0]}{between}; from {points[-1]}"
        words = f"{name(self.feature)} {ends}{self._not_measured}"
        certainty = self._certainty.lstrip(" ,")
        return f"{words} ({certainty})" if certainty else words

    @property
    def _certainty(self) -> str:
        """How sure the change is, as it stands after the number."""
        return f"{margin(self.error)}{self._times_chosen}"

    @property
    def _not_measured(self) -> str:
        """What a short model adds where the feature was not measured, or nothing."""
        if not self.average or self.kind == MISSING:
            return ""
        return f"; {MISSING} {self._amount(self.average)}"

    @property
    def _times_chosen(self) -> str:
        """How many refits chose it, as it stands after other words, or nothing."""
        if self.chosen is None:
            return ""
        count, refits = self.chosen
        return f", {count} of {refits}"

    def _amount(self, amount: float) -> str:
        """A number, of a short model with all its digits."""
        if not self.exact:
            return signed(amount)
        return in_full(amount, "+")

    def _place(self) -> tuple[float, str, str]:
        """The change, with which values it comes, and more about where."""
        feature = name(self.feature)
        if self.kind == MISSING:
            return self.change, f"where {feature} was {MISSING}", ""
        if self.kind == "varies":  # one of two values has the number
            pairs = zip(self.y, self.names, strict=True)
            change, value = max(pairs, key=lambda pair: abs(pair[0]))
            return change, f"where {feature} is {name(value)}", ""
        if len(self.names) == 2:
            return self.change, f"where {feature} is {name(self.names[1])}", ""
        if self.names:
            return self.change, f"with higher {feature}", self._levels()
        if self.at is None or self.percentile is None:
            return self.change, f"with {feature}", ""
        if self.kind in ("peaks", "dips"):
            around = f"around {number(self.at, self._value_size)}, "
            return self.change, f"with {fifth(self.percentile)} {feature}", around
        side, limits = self._side(self.at, self.percentile)
        return self.change_in_words, f"with {side} {feature}", limits

    @property
    def _value_size(self) -> float:
        """How large the values of the feature are."""
        return max((abs(x) for x in self.x), default=1.0)

    def _levels(self) -> str:
        """Between which levels of an order the score changes."""
        if self.exact:
            first, *inner, last = map(name, self.names)
            over = f" over {listing(inner)}" if inner else ""
            return f"from {first}{over} to {last} in equal steps, "
        pairs = zip(self.names, self.y, strict=True)
        level = next(level for level, y in pairs if y * self.change > 0)
        return f"from {name(level)} on, "

    def _side(self, at: float, percentile: float) -> tuple[str, str]:
        """High or low values, the smaller side of the data, and their limits."""
        is_low = self.y[-1] == 0 if self.exact else percentile < LOW_SIDE
        side = "low" if is_low else "high"
        if fifth(percentile).endswith(side):
            side = fifth(percentile)  # perhaps "very"
        if self.exact:
            ends = [exactly(self.x[0]), exactly(self.x[-1])]
            if is_low:
                ends.reverse()
            return side, f"from {ends[0]} to {ends[1]}, "
        direction = "below" if is_low else "above"
        return side, f"{direction} about {number(at, self._value_size)}, "

    def _ranked_values(self) -> list[tuple[str, float]]:
        """Values with what they add, the largest first.

        Values that add the same are one, the last; of very many, those in the middle
        are one, with their mean. A short model tells all that add something.
        """
        usual, count = Counter(round(y, 9) for y in self.y).most_common(1)[0]
        if self.exact:
            usual = 0.0
            count = self.y.count(0.0)
        some_alike = 1 < count < len(self.y)
        amounts = {}
        for value, y in zip(self.names, self.y, strict=True):
            is_alike = some_alike and round(y, 9) == usual
            amounts[OTHER_VALUES if is_alike else name(value)] = y
        ranked = sorted(
            amounts.items(), key=lambda pair: (pair[0] == OTHER_VALUES, -pair[1])
        )
        if self.exact or len(ranked) <= MAX_VALUES_TOLD:
            return ranked
        half = MAX_VALUES_TOLD // 2
        middle = [y for _, y in ranked[half:-half]]
        mean = sum(middle) / len(middle)
        return [*ranked[:half], (f"{len(middle)} between", mean), *ranked[-half:]]
