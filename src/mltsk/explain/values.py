"""What a model says, as values that print themselves: shapes, conditions, consequents and rules.

All numbers are in the caller's units (`mltsk.explain.tables` says how), and no sentence is ever read back. Parts are
sequences that make an item when it is asked for: a model of 500 features and 160 labels has 80,000 shapes, of which a
reader looks at a few.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from .wording import Node, Page, fifth, left_out, likely, name, number, percent, place_words, signed

T = TypeVar("T")
TOP = 5  # parts that are printed of each list in a long model
EDGE = 0.05  # a centre in this outer share of the data is told by where its region begins


class Items(Sequence[T]):
    """A read-only sequence of ``length`` items, each made on access; slices are tuples."""

    def __init__(self, length: int, make: Callable[[int], T]) -> None:
        self.length, self.make = length, make

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, i: Any) -> Any:
        where = range(self.length)[i]
        return self.make(where) if isinstance(where, int) else tuple(map(self.make, where))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self.length} items>"


@dataclass(frozen=True)
class Shape:
    """What one feature does to the score of one label: for everybody, or within a rule.

    ``kind`` is "rises", "falls", "peaks" or "dips", or "varies" between categories; ``change`` is signed: from the 10th
    to the 90th percentile of a curve that rises or falls, else the whole of it; for a sparse feature, per full weight.
    ``size`` is the standard deviation over the data. ``at`` is where the effect passes its average or else turns, and
    ``percentile`` (0..1) where that lies in the data, None for sparse and for named values. ``x`` and ``y`` are values
    and what they add to the score, 0 on average; ``names`` are those of the values, where they have some; ``ramp`` is
    where the change begins and ends, if it is one straight line on the percentile scale.

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
    ramp: tuple[float, float] | None = None

    def __str__(self) -> str:
        feature, change = name(self.feature), self.change
        if len(self.names) == 2:
            return f"{likely(change)} where {feature} is {name(self.names[1])} ({signed(change)})"
        if self.names:
            ends = max(zip(self.y, self.names, strict=True)), min(zip(self.y, self.names, strict=True))
            return ", ".join(f"{likely(y)} where {feature} is {name(what)} ({signed(y)})" for y, what in ends)
        if self.at is None or self.percentile is None:
            return f"{likely(change)} with {feature} ({signed(change)})"
        if self.kind in ("peaks", "dips"):
            feature = f"{fifth(self.percentile)} {feature}"
            return f"{likely(change)} with {feature} (around {number(self.at)}, {signed(change)})"
        return self._one_sided(feature, self.at, self.percentile)

    def _one_sided(self, feature: str, at: float, percentile: float) -> str:
        """A rise or fall, told for the smaller side of the data."""
        low = percentile < 0.4
        word = "high" if 0.4 <= percentile < 0.6 else fifth(percentile)
        change = -self.change if low else self.change
        where = f"{'below' if low else 'above'} about {number(at)}"
        if self.ramp is not None:
            where = "from {} to {}".format(*map(number, reversed(self.ramp) if low else self.ramp))
        return f"{likely(change)} with {word} {feature} ({where}, {signed(change)})"


@dataclass(frozen=True)
class Condition:
    """One fuzzy set of an IF-part.

    ``center`` is where the rule is most itself, ``average`` the same of the whole data; above ``low`` or below ``high``
    the feature speaks for the rule rather than for the average (None: no limit on that side, or no way to state it in
    the caller's units). ``percentile`` (0..1) places the centre among the training values, None for sparse features.
    ``distinct`` is the signed distance of the centre from the average in widths of the set: conditions come in the
    order of its size. ``names`` are those of the values of a nominal feature, or of one that has two values.

    Examples
    --------
    >>> print(Condition("glucose", 8.1, 5.5, 7.0, None, percentile=0.83, distinct=1.4))
    glucose is very high (≈ 8.1, top 17 %)
    >>> print(Condition("oil", 0.34, 0.11, None, None, percentile=None, distinct=0.2))
    oil is 3.1 times the average (0.34 against 0.11)
    """

    feature: str
    center: float
    average: float
    low: float | None
    high: float | None
    percentile: float | None
    distinct: float
    names: tuple[tuple[float, str], ...] = ()

    @property
    def category(self) -> str | None:
        """Name of the value that is nearest to the centre, where values have names."""
        return min(self.names, key=lambda pair: abs(pair[0] - self.center))[1] if self.names else None

    def __str__(self) -> str:
        return f"{name(self.feature)} is {self._words()}"

    def _words(self) -> str:
        if len(self.names) == 2:
            return self._shares()
        if self.category is not None:
            return f"around {name(self.category)}"
        if self.percentile is None:
            return _comparison(self.center, self.average)
        limit = self.high if self.low is None else self.low
        if EDGE <= self.percentile <= 1 - EDGE or limit is None:
            return place_words(self.center, self.percentile, about=True)
        return f"{fifth(self.percentile)} ({'below' if self.low is None else 'above'} about {number(limit)})"

    def _shares(self) -> str:
        """How often a feature takes that one of its two values which the rule has more of than the average."""
        (low, _), (high, _) = self.names
        here, usual = ((x - low) / (high - low) for x in (self.center, self.average))
        upper = here >= usual
        here, usual = (here, usual) if upper else (1 - here, 1 - usual)
        often = "throughout" if here > 0.995 else f"for {percent(here)}"
        return f"{name(self.names[int(upper)][1])} {often} ({percent(usual)} on average)"


def _comparison(here: float, usual: float) -> str:
    pair = f"({number(here)} against {number(usual)})"
    if usual <= 0 or here < 0:
        return f"{'above' if here > usual else 'below'} average {pair}"
    ratio = here / usual
    if ratio < 0.05:
        return f"nearly absent {pair}"
    return f"{ratio:.2g} times the average {pair}" if ratio < 100 else f"{ratio:,.0f} times the average {pair}"


@dataclass(frozen=True)
class Consequent(Page):
    """What is said about one label: ``shift`` is what a rule adds to its score, for rules of order 1 at their centre.

    Of the general rule, it is what the average sample scores before any exception. ``size`` is the standard deviation
    of the shift over the data; ``shapes`` are what features do, largest first.
    """

    label: str
    shift: float
    size: float
    shapes: Sequence[Shape] = ()

    def nodes(self, top: int | None = TOP, *, general: str = "") -> list[Node]:
        """This consequent on a page, with its ``top`` shapes; ``general`` says what the shift of a general rule is."""
        centre = " at its centre" if len(self.shapes) else ""
        at = f": {number(self.shift)} {general}" if general else f" {signed(self.shift)}{centre}"
        shapes = tuple(Node(str(shape), amount=shape.change) for shape in self.shapes[:top])
        rest = left_out(len(self.shapes), top, "smaller one")
        return [Node(name(self.label) + at, shapes + rest, amount=None if general else self.shift)]


@dataclass(frozen=True)
class Rule(Page):
    """One exception: ``weight`` is the share of the data that it governs, the mean of their membership in it.

    Counted from 0 by ``index``, from 1 in words. The most distinct conditions and the largest shifts come first;
    ``always`` is true of a rule that has no condition on any feature. ``noun`` is what it is called: systems without a
    general rule have no exceptions but rules.
    """

    index: int
    weight: float
    conditions: Sequence[Condition]
    consequents: Sequence[Consequent]
    always: bool = False
    noun: str = "Exception"

    @property
    def number(self) -> int:
        """The number of the rule in words, from 1."""
        return self.index + 1

    def nodes(self, top: int | None = TOP) -> list[Node]:
        """This rule on a page, with its ``top`` conditions, labels and shapes."""
        conditions = tuple(Node(str(c)) for c in self.conditions[:top]) or (Node("always"),) * self.always
        conditions += left_out(len(self.conditions), top, "condition", " closer to the average")
        labels = tuple(c.nodes(top)[0] for c in self.consequents[:top]) or (Node("nothing changes"),)
        labels += left_out(len(self.consequents), top, "label", " that it moves less")
        title = f"{self.noun} {self.number} — governs {percent(self.weight)} of the data"
        return [Node(title, (Node("IF", conditions), Node("THEN", labels)))]


def plain(value: Any, top: int | None) -> Any:
    """A value and its parts as plain data, ready for JSON, with the ``top`` first of each sequence of parts."""
    if isinstance(value, tuple):
        return [plain(part, None) for part in value]
    if not hasattr(value, "__dataclass_fields__"):
        return value
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    for what in [part for part in ("shapes", "conditions", "consequents") if part in found]:
        found |= {f"n_{what}": len(found[what]), what: tuple(found[what][slice(top)])}
    return {what: [plain(y, top) for y in x] if isinstance(x, tuple) else x for what, x in found.items()}
