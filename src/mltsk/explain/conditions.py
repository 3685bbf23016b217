"""What rules ask of features, as values that print themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .wording import exactly, fifth, name, number, percent, place_words

# A value is clearly more frequent in a rule than overall if its share is this much
# larger.
CLEAR_DIFFERENCE = 0.1
MAIN_SHARE = 0.9  # values of this share together are what a rule is about
MAX_MAIN_VALUES = 3
# A centre in this outer share of the data is told by where its region begins.
EDGE_SHARE = 0.05
MAX_COUNTED = 10  # whole numbers below are counts: "3 or above", not "above 3"


@dataclass(frozen=True)
class ValueRange:
    """A range of a feature from ``low`` to ``high``; None is an open end."""

    low: float | None
    high: float | None

    @classmethod
    def from_ends(cls, low: float, high: float) -> "ValueRange":
        """The range between two numbers, of which NaN is an open end."""
        return cls(
            low=None if np.isnan(low) else float(low),
            high=None if np.isnan(high) else float(high),
        )

    @property
    def ends(self) -> list[float]:
        """The ends that are not open."""
        return [end for end in (self.low, self.high) if end is not None]

    @property
    def side(self) -> str:
        """On which side of its single end the range lies."""
        return "below" if self.low is None else "above"

    def words(self, feature: str, ends: Sequence[str], *, included: bool = True) -> str:
        """A feature within this range, with ``ends`` as they are to be written.

        ``included`` says whether a single end belongs to the range.
        """
        if len(ends) == 2:
            if ends[0] == ends[1]:
                return f"{feature} is {ends[0]}"
            return f"{feature} {ends[0]} to {ends[1]}"
        if included:
            return f"{feature} {ends[0]} or {self.side}"
        return f"{feature} {self.side} {ends[0]}"


class ValueShare(NamedTuple):
    """The name of a value, with its ``share`` in a rule and ``overall``."""

    value: str
    share: float
    overall: float

    @property
    def excess(self) -> float:
        """By how much its share in the rule is larger than overall."""
        return self.share - self.overall

    @property
    def is_more(self) -> bool:
        """Whether it is clearly more frequent in the rule than overall."""
        return self.share > self.overall + CLEAR_DIFFERENCE

    @property
    def is_gone(self) -> bool:
        """Whether it is clearly less frequent in the rule than overall, and rare."""
        is_less = self.overall > self.share + CLEAR_DIFFERENCE
        return is_less and self.share < 1 - MAIN_SHARE


@dataclass(frozen=True)
class Condition:
    """One fuzzy set of the IF of a rule.

    Attributes
    ----------
    feature : str
        Its name.
    center, average : float
        Where the rule is most itself, and the average of the whole data. Of a nominal
        feature, the shares of the value that differs most.
    low, high : float or None
        Where the members of the rule lie: their 10th and 90th percentile, None where
        that is in the outer tenth of the data. Without both, the feature does not set
        members apart. Where members are not known, the feature speaks for the rule
        rather than for the average above ``low`` or below ``high``.
    percentile : float or None
        Place (0..1) of the centre in the training values, None for sparse features.
    distinct : float
        Signed distance of the centre from the average, in widths of the set.
        Conditions come in the order of its size.
    names : tuple of (float, str)
        Numbers that have names: levels of an ordinal feature, or two values.
    values : tuple of ValueShare
        Values of a nominal feature with their shares among the members (or at the
        centre) and overall.
    members, measured : int or None
        How many members the rule has, and of how many of them the value is known.
    reach : float or None
        Of a short model: a value x meets the condition by
        exp(-((x - center) / reach)²), and a rule applies by the product over its
        conditions; ``low`` and ``high`` are where it is half met. A condition on
        values is met by the one whose share is 1, or by all but the one whose share
        is 0, wholly, and by no other.

    Examples
    --------
    >>> print(Condition("glucose", 8.1, 5.5, 7.0, None, percentile=0.83, distinct=1.4))
    glucose is very high (≈ 8.1, top 17 %)
    >>> print(Condition("oil", 0.34, 0.11, None, None, percentile=None, distinct=0.2))
    oil is 3.1 times the average (0.34 against 0.11)
    >>> shares = ValueShare("daily", 1.0, 0.2), ValueShare("never", 0.0, 0.5)
    >>> print(Condition("smoker", 1.0, 0.2, None, None, None, 0.9, values=shares))
    smoker is daily
    >>> print(Condition("albumin", 2.9, 3.5, None, 3.1, 0.1, distinct=-1.0, members=41))
    albumin below 3.1
    """

    feature: str
    center: float
    average: float
    low: float | None
    high: float | None
    percentile: float | None
    distinct: float
    names: tuple[tuple[float, str], ...] = ()
    values: tuple[ValueShare, ...] = ()
    members: int | None = None
    measured: int | None = None
    reach: float | None = None

    @property
    def category(self) -> str | None:
        """The value that the rule has most of, or that is nearest to its centre.

        None where values have no names.
        """
        if self.values:
            return max(self.values, key=lambda value: value.excess).value
        if self.names:
            return min(self.names, key=lambda pair: abs(pair[0] - self.center))[1]
        return None

    @property
    def value_range(self) -> ValueRange:
        """From where to where the condition reaches."""
        return ValueRange(self.low, self.high)

    def __str__(self) -> str:
        feature = name(self.feature)
        if self.members is None:
            return f"{feature} is {self._around_center()}"
        if self.values and self.reach is not None:
            return f"{feature} is {name(str(self.category))}"
        differences = [abs(value.excess) for value in self.values]
        if max(differences, default=0.0) > CLEAR_DIFFERENCE:
            shares = shares_in_words(self.values, self.measured, self.members)
            return f"{feature} is {shares}"
        ends = self.value_range.ends
        if not ends:
            return f"any {feature}"
        names = dict(self.names)
        if self.reach is not None and not names:
            return self._exact_words(ends)
        is_count = ends[0] == round(ends[0]) and abs(ends[0]) < MAX_COUNTED
        written = [name(names.get(end, number(end, size=0))) for end in ends]
        included = bool(names) or is_count
        return self.value_range.words(feature, written, included=included)

    def _exact_words(self, ends: list[float]) -> str:
        """A condition of a short model: where it is half met, and where fully."""
        written = [exactly(end) for end in ends]
        words = self.value_range.words(name(self.feature), written, included=False)
        if len(ends) == 2:
            return words
        beyond = "down" if self.low is None else "on"
        return f"{words} (wholly from {exactly(self.center)} {beyond})"

    def _around_center(self) -> str:
        """What the rule is about where its members are not known."""
        values = self.values
        if not values and len(self.names) == 2:
            values = self._shares_of_two()
        if values:
            return shares_in_words(values)
        if self.category is not None:
            return f"around {name(self.category)}"
        if self.percentile is None:
            return self._against_average()
        is_inner = EDGE_SHARE <= self.percentile <= 1 - EDGE_SHARE
        if is_inner or not self.value_range.ends:
            return place_words(
                self.center, self.percentile, about=True, size=self._size
            )
        limit = number(self.value_range.ends[0], size=0)
        return f"{fifth(self.percentile)} ({self.value_range.side} about {limit})"

    @property
    def _size(self) -> float:
        """How large the numbers of this condition are."""
        numbers = (self.center, self.average, *self.value_range.ends)
        return max(abs(x) for x in numbers)

    def _shares_of_two(self) -> tuple[ValueShare, ...]:
        """Shares of the only two values of a number, at the centre and on average."""
        (low, low_name), (high, high_name) = self.names
        share = (self.center - low) / (high - low)
        overall = (self.average - low) / (high - low)
        others = ValueShare(low_name, 1 - share, 1 - overall)
        return others, ValueShare(high_name, share, overall)

    def _against_average(self) -> str:
        """The centre of a sparse feature next to its average."""
        center = number(self.center, self._size)
        pair = f"({center} against {number(self.average, self._size)})"
        if self.average <= 0 or self.center < 0:
            side = "above" if self.center > self.average else "below"
            return f"{side} average {pair}"
        ratio = self.center / self.average
        if ratio < 0.05:
            return f"nearly absent {pair}"
        times = f"{ratio:.2g}" if ratio < 100 else f"{ratio:,.0f}"
        return f"{times} times the average {pair}"


def shares_in_words(
    values: Sequence[ValueShare], measured: int | None = None, members: int = 0
) -> str:
    """Values that are clearly more or less frequent in a rule than overall.

    Of ``members`` of the rule, ``measured`` have a value; where that is known, counts
    are told.
    """
    more = [value for value in values if value.is_more]
    more.sort(key=lambda value: (-value.share, name(value.value)))
    together = sum(value.share for value in more)
    if 0 < len(more) <= MAX_MAIN_VALUES and together > MAIN_SHARE:
        words = " or ".join(name(value.value) for value in more)
        return words + _in_brackets(together, measured, members)
    gone = [value for value in values if value.is_gone]
    if gone and not more:
        most = max(gone, key=lambda value: (value.overall, name(value.value)))
        count = _in_brackets(most.share, measured, members, " are")
        return f"not {name(most.value)}{count}"
    clearest = max(
        values, key=lambda value: (round(abs(value.excess), 9), value.excess)
    )
    overall = percent(clearest.overall)
    if measured is None:
        share = percent(clearest.share)
        return f"{name(clearest.value)} for {share} ({overall} on average)"
    count = _counted(clearest.share, measured, members)
    return f"{name(clearest.value)} for {count} ({overall} overall)"


def _in_brackets(
    share: float, measured: int | None, members: int, after: str = ""
) -> str:
    """A share as a count in brackets, or nothing where no count is known."""
    if measured is None:
        return ""
    return f" ({_counted(share, measured, members)}{after})"


def _counted(share: float, measured: int, members: int) -> str:
    """A share of the measured members as a count."""
    count = round(share * measured)
    words = f"all {count:,}" if count == measured else f"{count:,} of {measured:,}"
    return words if measured == members else f"{words} measured"


@dataclass(frozen=True)
class Given:
    """One condition that the user wrote.

    A feature is between ``low`` and ``high``, ends included, or it is one of ``words``.
    The condition does not hold where the feature was not measured. ``names`` are those
    of the ends, where levels have an order.

    Examples
    --------
    >>> print(Given("age", 60.0, None))
    age 60 or above
    >>> print(Given("stage", 3.0, 4.0))
    stage 3 to 4
    >>> print(Given("sex", None, None, ("f", "x")))
    sex is f or x
    """

    feature: str
    low: float | None
    high: float | None
    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        feature = name(self.feature)
        if self.words:
            return f"{feature} is {' or '.join(map(name, self.words))}"
        value_range = ValueRange(self.low, self.high)
        ends = [name(level) for level in self.names]
        if not ends:
            ends = [exactly(end) for end in value_range.ends]
        return value_range.words(feature, ends)
