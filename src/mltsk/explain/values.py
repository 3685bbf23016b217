"""What a model says, as values that print themselves: shapes, conditions, consequents and rules.

All numbers are in the caller's units (`mltsk.explain.tables` says how), and no sentence is ever read back.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ..columns import MISSING
from ..core.membership import MIN_MEMBERS
from .wording import (
    Node,
    Page,
    exactly,
    fifth,
    left_out,
    name,
    number,
    percent,
    place_words,
    signed,
    times,
)

TOP = 5  # parts that are printed of each list in a long model
MOST_VALUES = 8  # of a nominal feature that are printed
REST = "any other"
CLEAR = 0.1  # a value is more frequent in a rule than overall if its share is larger by this
MOSTLY = 0.9  # values of so large a share together are what a rule is about
LOW = 0.4  # a change that passes its average below this percentile is told for what lies below
EDGE = (
    0.05  # a centre in this outer share of the data is told by where its region begins
)


class Items(Sequence[Any]):
    """A read-only sequence of what is made of each of ``keys`` on access; slices are tuples.

    A model of 500 features and 160 labels has 80,000 shapes, of which a reader looks at a few.
    """

    def __init__(self, keys: Sequence[int], make: Callable[[int], Any]) -> None:
        self.keys, self.make = keys, make

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, i: Any) -> Any:
        found: Any = self.keys[i]
        return (
            tuple(map(self.make, found)) if isinstance(i, slice) else self.make(found)
        )

    def __repr__(self) -> str:
        return f"<{len(self)} items>"


@dataclass(frozen=True)
class Shape:
    """What one feature does to the score of one label: for everybody, or within a rule.

    ``kind`` is "rises", "falls", "peaks" or "dips", "varies" between values without an order, or "not measured", which
    is about whether there is a value; ``change`` is signed: from the 10th to the 90th percentile of a curve that rises
    or falls, else the whole of it; for a sparse feature, per full weight. ``size`` is the standard deviation over the
    data. ``at`` is where the effect passes its average or else turns, and ``percentile`` (0..1) where that lies in the
    data, None for sparse and for named values. ``x`` and ``y`` are values and what they add to the score, 0 on average;
    ``names`` are those of the values, where they have some. ``error`` is half the width of the interval that holds the
    change in 95 of 100 cases, None where it is not known; ``chosen`` in how many of so many fits to parts of the data
    the same was found. Of a short model, which is ``exact``, ``x`` and ``y`` are the points of a line that is flat
    beyond them, 0 where most of the data is; ``change`` is the whole of it, and ``average`` what no value adds.

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

    @property
    def values(self) -> dict[str, float] | None:
        """What each value that has a name adds to the score, None where values are numbers."""
        return dict(zip(self.names, self.y, strict=True)) if self.names else None

    @property
    def told(self) -> float:
        """The change as the words tell it: of a rise that is told for low values, what those take away."""
        if self.exact:
            return max(self.y, key=abs)
        low = (
            self.kind in ("rises", "falls")
            and not self.names
            and self.percentile is not None
        )
        return -self.change if low and (self.percentile or 0.0) < LOW else self.change

    def __str__(self) -> str:
        feature, told = name(self.feature), self._number
        sure = "" if self.error is None else f" ± {self.error:#.2g}"
        sure += "" if self.chosen is None else ", {} of {}".format(*self.chosen)
        if self.kind == MISSING and not self.exact:
            return f"{feature} {MISSING}: {signed(self.y[1])}; {self.names[0]} {signed(self.y[0])}"
        if self.kind == "varies" and not (self.exact and len(self.names) == 2):
            (best, y), *others = self._ranked()
            values = "; ".join(
                [
                    f"{feature} = {best}: {told(y)}",
                    *(f"{what} {told(y)}" for what, y in others),
                ]
            )
            return f"{values} ({sure.lstrip(' ,')})" if sure else values
        if (
            self.exact and len(self.x) > 2 and not self.names
        ):  # a line that bends, point by point
            points = [
                f"{exactly(x)}: {told(y)}" for x, y in zip(self.x, self.y, strict=True)
            ]
            inner = [f"at {point}" for point in points[1:-1]]
            return f"{feature} {'; '.join([f'up to {points[0]}', *inner, f'from {points[-1]}'])}{sure}"
        change, where, detail = self._where(feature)
        return f"{'more' if change > 0 else 'less'} likely {where} ({detail}{told(change)}{sure})"

    def _number(self, amount: float) -> str:
        if not self.exact:
            return signed(amount)
        return (
            f"{amount:+.3g}"
            if 0 < abs(amount) < 1
            else f"{amount:+.3f}"
            if amount
            else "0"
        )

    def _where(self, feature: str) -> tuple[float, str, str]:
        """The change that is told, with what, and more about where."""
        change, place = self.change, self.percentile
        if self.kind == MISSING:
            return change, f"where {feature} was {MISSING}", ""
        if self.kind == "varies":  # one of two has the number
            change, value = max(
                zip(self.y, self.names, strict=True), key=lambda pair: abs(pair[0])
            )
            return change, f"where {feature} is {name(value)}", ""
        if len(self.names) == 2:
            return change, f"where {feature} is {name(self.names[1])}", ""
        if self.names and self.exact:  # levels, in their order
            steps = (
                f"from {name(self.names[0])} to {name(self.names[-1])} in equal steps, "
            )
            return change, f"with higher {feature}", steps
        if self.names:
            level = next(
                what
                for y, what in zip(self.y, self.names, strict=True)
                if y * change > 0
            )
            return change, f"with higher {feature}", f"from {name(level)} on, "
        if self.at is None or place is None:
            return change, f"with {feature}", ""
        if self.kind in ("peaks", "dips"):
            return (
                change,
                f"with {fifth(place)} {feature}",
                f"around {number(self.at)}, ",
            )
        low = (
            place < LOW if not self.exact else self.y[-1] == 0
        )  # told for the smaller side of the data
        side = (
            fifth(place)
            if fifth(place).endswith("low" if low else "high")
            else "low"
            if low
            else "high"
        )
        about = f"{'below' if low else 'above'} about {number(self.at)}, "
        if self.exact:
            first, last = (-1, 0) if low else (0, -1)
            about = f"from {exactly(self.x[first])} to {exactly(self.x[last])}, "
        return self.told, f"with {side} {feature}", about

    def _ranked(self) -> list[tuple[str, float]]:
        """Values with what they add, largest first; those that add the same as one, last, and few of very many."""
        usual, count = Counter(round(y, 9) for y in self.y).most_common(1)[0]
        alike = 1 < count < len(self.y)
        pairs = zip(self.names, self.y, strict=True)
        told = {
            REST if alike and round(y, 9) == usual else name(what): y
            for what, y in pairs
        }
        ranked = sorted(told.items(), key=lambda pair: (pair[0] == REST, -pair[1]))
        if len(ranked) > MOST_VALUES:
            middle = ranked[MOST_VALUES // 2 : -MOST_VALUES // 2]
            mean = sum(y for _, y in middle) / len(middle)
            ranked = [
                *ranked[: MOST_VALUES // 2],
                (f"{len(middle)} between", mean),
                *ranked[-MOST_VALUES // 2 :],
            ]
        return ranked


@dataclass(frozen=True)
class Condition:
    """One fuzzy set of an IF-part.

    ``center`` is where the rule is most itself, ``average`` the same of the whole data. The ``members`` of the rule lie
    from ``low`` to ``high``, their 10th and 90th percentile, None where that is in the outer tenth of the data: without
    both, the feature does not set them apart. Where members are not known (None), the feature speaks for the rule
    rather than for the average above ``low`` or below ``high``. ``percentile`` (0..1) places the centre among the
    training values, None for sparse features. ``distinct`` is the signed distance of the centre from the average in
    widths of the set: conditions come in the order of its size. ``names`` are those of numbers that have some: levels
    of an ordinal feature, or two values. ``values`` are those of a nominal feature with their shares among the members,
    or at the centre, and overall; ``center`` and ``average`` are then the shares of the value that differs most;
    ``measured`` members have one. Of a short model, a value x meets the condition by exp(-((x - center) / reach)²), and
    a rule applies by the product over its conditions; ``low`` and ``high`` are where it is met by half.

    Examples
    --------
    >>> print(Condition("glucose", 8.1, 5.5, 7.0, None, percentile=0.83, distinct=1.4))
    glucose is very high (≈ 8.1, top 17 %)
    >>> print(Condition("oil", 0.34, 0.11, None, None, percentile=None, distinct=0.2))
    oil is 3.1 times the average (0.34 against 0.11)
    >>> print(Condition("smoker", 1.0, 0.2, None, None, None, 0.9, values=(("daily", 1.0, 0.2), ("never", 0.0, 0.5))))
    smoker is daily
    >>> print(Condition("albumin", 2.9, 3.5, None, 3.12, percentile=0.1, distinct=-1.0, members=41))
    albumin below 3.12
    """

    feature: str
    center: float
    average: float
    low: float | None
    high: float | None
    percentile: float | None
    distinct: float
    names: tuple[tuple[float, str], ...] = ()
    values: tuple[tuple[str, float, float], ...] = ()
    members: int | None = None
    measured: int | None = None
    reach: float | None = None

    @property
    def category(self) -> str | None:
        """Name of the value that the rule has most of, or that is nearest to its centre, where values have names."""
        if self.values:
            return max(self.values, key=lambda value: value[1] - value[2])[0]
        return (
            min(self.names, key=lambda pair: abs(pair[0] - self.center))[1]
            if self.names
            else None
        )

    def __str__(self) -> str:
        feature = name(self.feature)
        if self.members is None:
            return f"{feature} is {self._words()}"
        if (
            max((abs(here - usual) for _, here, usual in self.values), default=0.0)
            > CLEAR
        ):
            return f"{feature} is {_told_by_shares(self.values, self.measured, self.members)}"
        names, ends = (
            dict(self.names),
            [x for x in (self.low, self.high) if x is not None],
        )
        if not ends:
            return f"any {feature}"
        counts = bool(names) or (
            ends[0] == round(ends[0]) and abs(ends[0]) < 10
        )  # it must not be read as left out
        return _between(
            feature,
            [name(names.get(x, number(x))) for x in ends],
            self.low is None,
            counts,
        )

    def _words(self) -> str:
        values, pair = (
            self.values,
            f"({number(self.center)} against {number(self.average)})",
        )
        if (
            not values and len(self.names) == 2
        ):  # shares of the only two values of a number
            (low, less), (high, more) = self.names
            here, usual = (
                (x - low) / (high - low) for x in (self.center, self.average)
            )
            values = (less, 1 - here, 1 - usual), (more, here, usual)
        if values:
            return _told_by_shares(values)
        if self.category is not None:
            return f"around {name(self.category)}"
        if self.percentile is None and (self.average <= 0 or self.center < 0):
            return (
                f"{'above' if self.center > self.average else 'below'} average {pair}"
            )
        if self.percentile is None:
            ratio = self.center / self.average
            much = f"{ratio:.2g}" if ratio < 100 else f"{ratio:,.0f}"
            return (
                f"nearly absent {pair}"
                if ratio < 0.05
                else f"{much} times the average {pair}"
            )
        limit = self.high if self.low is None else self.low
        if EDGE <= self.percentile <= 1 - EDGE or limit is None:
            return place_words(self.center, self.percentile, about=True)
        return f"{fifth(self.percentile)} ({'below' if self.low is None else 'above'} about {number(limit)})"


def _between(feature: str, ends: list[str], below: bool, counts: bool = True) -> str:
    """A feature between two ends, or ``below`` or above one, which ``counts`` or does not."""
    if len(ends) == 2:
        return (
            f"{feature} is {ends[0]}"
            if ends[0] == ends[1]
            else f"{feature} {ends[0]} to {ends[1]}"
        )
    side = "below" if below else "above"
    return f"{feature} {ends[0]} or {side}" if counts else f"{feature} {side} {ends[0]}"


def _told_by_shares(
    values: tuple[tuple[str, float, float], ...],
    measured: int | None = None,
    of: int = 0,
) -> str:
    """Values that are clearly more or less frequent inside than overall, with counts where ``measured`` is known."""

    def counted(share: float) -> str:
        count = round(share * (measured or 0))
        told = f"all {count:,}" if count == measured else f"{count:,} of {measured:,}"
        return told + " measured" * (measured != of)

    more = sorted(
        (-here, name(what)) for what, here, usual in values if here > usual + CLEAR
    )
    if 0 < len(more) < 4 and sum(-share for share, _ in more) > MOSTLY:
        held = (
            f" ({counted(sum(-share for share, _ in more))})"
            if measured is not None
            else ""
        )
        return " or ".join(what for _, what in more) + held
    gone = [
        (usual, name(what), here)
        for what, here, usual in values
        if usual > here + CLEAR and here < 1 - MOSTLY
    ]
    if gone and not more:
        return f"not {max(gone)[1]}" + (
            f" ({counted(max(gone)[2])} are)" if measured is not None else ""
        )
    what, here, usual = max(
        values,
        key=lambda value: (round(abs(value[1] - value[2]), 9), value[1] - value[2]),
    )
    if measured is not None:
        return f"{name(what)} for {counted(here)} ({percent(usual)} overall)"
    return f"{name(what)} for {percent(here)} ({percent(usual)} on average)"


@dataclass(frozen=True)
class Given:
    """One condition that the user wrote: between ``low`` and ``high``, ends included, or one of some ``words``.

    It does not hold where the feature was not measured. ``names`` are those of both ends, of levels in an order.

    Examples
    --------
    >>> print(Given("age", 60.0, None), Given("stage", 3.0, 4.0), Given("sex", None, None, ("f", "x")), sep="; ")
    age 60 or above; stage 3 to 4; sex is f or x
    """

    feature: str
    low: float | None
    high: float | None
    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        feature, ends = (
            name(self.feature),
            [exactly(x) for x in (self.low, self.high) if x is not None],
        )
        if self.words:
            return f"{feature} is {' or '.join(map(name, self.words))}"
        return _between(
            feature, [name(what) for what in self.names] or ends, self.low is None
        )


@dataclass(frozen=True)
class Consequent(Page):
    """What is said about one label: ``shift`` is what a rule adds to its score, for rules of order 1 at their centre.

    Of the general rule, it is what the average sample scores before any exception. ``size`` is the standard deviation
    of the shift over the data; ``shapes`` are what features do, largest first. Of the members of a rule, the label was
    ``observed`` in so many, and so many of those are ``positives``; ``overall`` are both of all data, positives first.
    ``error`` is that of the shift, as in a `Shape`. A general rule has the ``threshold`` from which the label is given;
    of a short model, which is ``exact``, its ``shift`` is where the score starts, before all shapes.

    Examples
    --------
    >>> print(Consequent("edema", 0.37, 0.1, observed=41, positives=26, overall=(64, 418)).nodes()[0].text)
    edema: 26 of 41 had it, 64 of 418 overall; +0.37
    """

    label: str
    shift: float
    size: float
    shapes: Sequence[Shape] = ()
    observed: int | None = None
    positives: int | None = None
    overall: tuple[int, int] | None = None
    error: float | None = None
    threshold: float | None = None
    exact: bool = False

    def nodes(self, top: int | None = TOP, *, general: str = "") -> list[Node]:
        """This consequent on a page, with its ``top`` shapes; ``general`` says what the shift of a general rule is."""
        centre, had = " at its centre" if len(self.shapes) else "", ""
        if self.overall is not None:
            here = (
                f"{self.positives:,} of {self.observed:,} had it"
                if self.observed
                else "observed in none of them"
            )
            had = ": {}, {:,} of {:,} overall;".format(here, *self.overall)
        error = "" if self.error is None else f" ± {self.error:#.2g}"
        shift = f"{self.shift:+.10g}" if self.exact else signed(self.shift)
        starts = (
            f": starts at {exactly(self.shift)}"
            if self.exact
            else f": {number(self.shift)} {general}"
        )
        at = starts if general else f"{had} {shift}{error}{centre}"
        shapes = tuple(
            Node(str(shape), amount=shape.told) for shape in self.shapes[:top]
        )
        rest = left_out(len(self.shapes), top, "smaller one")
        return [
            Node(
                name(self.label) + at,
                shapes + rest,
                amount=None if general else self.shift,
            )
        ]


@dataclass(frozen=True)
class Rule(Page):
    """One exception: ``weight`` is the share of the data that it governs, the mean of their membership in it.

    Counted from 0 by ``index``, from 1 in words. The most distinct conditions and the largest shifts come first;
    ``always`` is true of a rule that has no condition on any feature. ``noun`` is what it is called: systems without a
    general rule have no exceptions but rules. ``told`` is how many conditions, the first ones, set its members apart,
    None for all of them; ``members`` of ``total`` training samples are in it, None where that is not known. One that
    the user gave (``given``) holds for its members, wholly, and for nobody else.
    """

    index: int
    weight: float
    conditions: Sequence[Condition | Given]
    consequents: Sequence[Consequent]
    always: bool = False
    noun: str = "Exception"
    told: int | None = None
    members: int | None = None
    total: int | None = None
    given: bool = False

    @property
    def size(self) -> str:
        """How much of the data it is about, in words."""
        governs = f"governs {percent(self.weight)} of the data"
        if self.members is None or self.total is None:
            return governs
        if (
            self.members <= MIN_MEMBERS and not self.given
        ):  # perhaps nobody is wholly in it
            return (
                f"{governs}, told by the {times(self.members, 'sample')} nearest to it"
            )
        return f"{times(self.members, 'sample')}, {percent(self.members / max(self.total, 1))} of the data"

    def nodes(self, top: int | None = TOP) -> list[Node]:
        """This rule on a page, with its ``top`` conditions, labels and shapes; without ``top``, with all of them."""
        most = (
            None
            if self.given
            else top
            if top is None or self.told is None
            else min(top, self.told)
        )
        conditions = tuple(Node(str(c)) for c in self.conditions[:most])
        if not conditions and (self.always or len(self.conditions)):
            conditions = (
                Node("always" if self.always else "no feature alone sets it apart"),
            )
        conditions += left_out(
            len(self.conditions), most, "condition", " closer to the average"
        )
        labels = tuple(c.nodes(top)[0] for c in self.consequents[:top]) or (
            Node("nothing changes"),
        )
        labels += left_out(len(self.consequents), top, "label", " that it moves less")
        title = f"{self.noun} {self.index + 1} — {self.size}"
        return [Node(title, (Node("IF", conditions), Node("THEN", labels)))]


def plain(value: Any, top: int | None) -> Any:
    """A value and its parts as plain data, ready for JSON, with the ``top`` first of each sequence of parts."""
    if isinstance(value, tuple):
        return [plain(part, None) for part in value]
    if not hasattr(value, "__dataclass_fields__"):
        return value
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    for what in [
        part for part in ("shapes", "conditions", "consequents") if part in found
    ]:
        found |= {f"n_{what}": len(found[what]), what: tuple(found[what][slice(top)])}
    return {
        what: [plain(y, top) for y in x] if isinstance(x, tuple) else x
        for what, x in found.items()
    }
