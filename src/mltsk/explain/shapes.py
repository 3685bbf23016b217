"""What one feature does to the score of one label, as a value that prints itself."""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.arrays import Array
from ..core.terms import interpolated
from ..frames import MISSING
from .wording import exactly, fifth, margin, name, number, signed

MIN_TURN = 0.25  # a curve turns where it goes back by more than this share of its range
# A change that passes its average below this percentile is told for lower values.
LOW_SIDE = 0.4
MAX_VALUES_TOLD = 8  # of a nominal feature
OTHER_VALUES = "any other"


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


def course_of_values(y: Array) -> Course:
    """The course of values that have no order, which add ``y`` (Q,)."""
    ends = int(y.argmax()), int(y.argmin())
    return Course("varies", at=np.nan, change=float(np.ptp(y)), ends=ends)


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
    chosen : (int, int) or None
        How many refits to parts of the data chose the same feature to the same
        effect, and how many refits there were.
    average : float or None
        Of a short model, what is added where the feature was not measured.
    exact : bool
        Whether this is a statement of a short model. Then ``x`` and ``y`` are the
        points of a line that is flat beyond them and 0 where most of the data is, and
        ``change`` is the whole of it.
    unit : float or None
        Of a straight line over the whole range of a feature in a short model, which is
        0 at its first point: it adds a round number for every unit of the feature.

    Examples
    --------
    >>> print(Shape("gout", "bilirubin", "rises", 0.21, 0.1, at=3.4, percentile=0.83))
    more likely with very high bilirubin (above about 3.4, +0.21)
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
    exact: bool = False
    unit: float | None = None

    @property
    def values(self) -> dict[str, float] | None:
        """What each named value adds to the score, None where values are numbers."""
        if not self.names:
            return None
        return dict(zip(self.names, self.y, strict=True))

    @property
    def change_in_words(self) -> float:
        """The change that the words give.

        A rise that is told for low values is what these take away.
        """
        if self.exact:
            return max(self.y, key=abs)
        if self.kind not in ("rises", "falls") or self.names:
            return self.change
        if self.percentile is None or self.percentile >= LOW_SIDE:
            return self.change
        return -self.change

    def __str__(self) -> str:
        if self.kind == MISSING and not self.exact:
            return self._measured_or_not()
        if self.kind == "varies" and not (self.exact and len(self.names) == 2):
            return self._value_by_value()
        if self.unit is not None:
            return self._per_unit(self.unit)
        if self.exact and len(self.x) > 2 and not self.names:
            return self._point_by_point()
        change, where, detail = self._place()
        likely = "more likely" if change > 0 else "less likely"
        return f"{likely} {where} ({detail}{self._amount(change)}{self._certainty})"

    def _measured_or_not(self) -> str:
        measured, missing = (signed(amount) for amount in self.y)
        return f"{name(self.feature)} {MISSING}: {missing}; {self.names[0]} {measured}"

    def _value_by_value(self) -> str:
        """Named values with what they add, the largest first."""
        statements: list[str] = []
        for value, amount in self._ranked_values():
            between = " " if statements else ": "
            statements.append(f"{value}{between}{self._amount(amount)}")
        words = f"{name(self.feature)} = {'; '.join(statements)}"
        certainty = self._certainty.lstrip(" ,")
        return f"{words} ({certainty})" if certainty else words

    def _point_by_point(self) -> str:
        """The points of a line that bends."""
        points = []
        for x, y in zip(self.x, self.y, strict=True):
            points.append(f"{exactly(x)}: {self._amount(y)}")
        between = "".join(f"; at {point}" for point in points[1:-1])
        ends = f"up to {points[0]}{between}; from {points[-1]}"
        return f"{name(self.feature)} {ends}{self._certainty}"

    def _per_unit(self, unit: float) -> str:
        """A line, by what it adds for every unit of its feature."""
        span = self.x[-1] - self.x[0]
        amount = self._amount(self.y[-1] * (unit / span))
        error = None if self.error is None else self.error * (unit / span)
        ends = f"from {exactly(self.x[0])} to {exactly(self.x[-1])}"
        statement = f"{amount}{margin(error)} per {exactly(unit)} of"
        return f"{statement} {name(self.feature)} ({ends}{self._times_chosen})"

    @property
    def _certainty(self) -> str:
        """How sure the change is, as it stands after the number."""
        return f"{margin(self.error)}{self._times_chosen}"

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
        if amount == 0:
            return "0"
        return f"{amount:+.3g}" if abs(amount) < 1 else f"{amount:+.3f}"

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
            around = f"around {number(self.at)}, "
            return self.change, f"with {fifth(self.percentile)} {feature}", around
        side, limits = self._side(self.at, self.percentile)
        return self.change_in_words, f"with {side} {feature}", limits

    def _levels(self) -> str:
        """Between which levels of an order the score changes."""
        if self.exact:
            first = name(self.names[0])
            last = name(self.names[-1])
            return f"from {first} to {last} in equal steps, "
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
        return side, f"{direction} about {number(at)}, "

    def _ranked_values(self) -> list[tuple[str, float]]:
        """Values with what they add, the largest first.

        Values that add the same are one, the last; of very many, those in the middle
        are one, with their mean.
        """
        usual, count = Counter(round(y, 9) for y in self.y).most_common(1)[0]
        some_alike = 1 < count < len(self.y)
        amounts = {}
        for value, y in zip(self.names, self.y, strict=True):
            is_alike = some_alike and round(y, 9) == usual
            amounts[OTHER_VALUES if is_alike else name(value)] = y
        ranked = sorted(
            amounts.items(), key=lambda pair: (pair[0] == OTHER_VALUES, -pair[1])
        )
        if len(ranked) <= MAX_VALUES_TOLD:
            return ranked
        half = MAX_VALUES_TOLD // 2
        middle = [y for _, y in ranked[half:-half]]
        mean = sum(middle) / len(middle)
        return [*ranked[:half], (f"{len(middle)} between", mean), *ranked[-half:]]
