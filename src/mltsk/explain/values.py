"""Rules and what they say about labels, as values that print themselves.

All numbers are in the caller's units, and no sentence is ever read back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Generic, TypeVar, overload

from ..core.members import MIN_MEMBERS
from ..text import plural
from .conditions import Condition, Given
from .page import Node, Page, left_out
from .shapes import Shape
from .wording import in_full, margin, name, number, percent, signed

SHOWN_PER_LIST = 5  # entries that are printed of each list of a long model
_LISTS = ("shapes", "conditions", "consequents")

Item = TypeVar("Item")


class Items(Sequence[Item], Generic[Item]):
    """A read-only sequence of what ``make`` makes of each of ``keys``, on access.

    A model of 500 features and 160 labels has 80,000 shapes, of which a reader looks
    at a few. What was made once is kept. Slices are tuples.
    """

    def __init__(self, keys: Sequence[int], make: Callable[[int], Item]) -> None:
        self.keys = keys
        self.make = make
        self._made: dict[int, Item] = {}

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, i: int) -> Item: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, i: int | slice) -> Item | tuple[Item, ...]:
        if isinstance(i, slice):
            return tuple(map(self._item, self.keys[i]))
        return self._item(self.keys[i])

    def _item(self, key: int) -> Item:
        """What is made of a key."""
        if key not in self._made:
            self._made[key] = self.make(key)
        return self._made[key]

    def __repr__(self) -> str:
        return f"<{len(self)} items>"


@dataclass(frozen=True)
class Consequent(Page):
    """What a rule, or the general rule, says about one label.

    Attributes
    ----------
    label : str
        Its name.
    shift : float
        What a rule adds to the score, for rules of order 1 at their centre. Of the
        general rule: what the average sample scores; of a short model, where the score
        starts, before all shapes.
    size : float
        Standard deviation of the shift over the data.
    shapes : sequence of Shape
        What features do, the largest first.
    observed, positives : int or None
        In how many members of the rule the label was observed, and how many of these
        have it.
    overall : (int, int) or None
        Positives and observed of all data.
    error : float or None
        Half the width of the 95 % interval of the shift.
    threshold : float or None
        Of the general rule: the sum from which on the label is given.
    chance : float or None
        Of the general rule: its shift as a probability.
    exact : bool
        Whether this is part of a short model.

    Examples
    --------
    >>> counts = {"observed": 41, "positives": 26, "overall": (64, 418)}
    >>> print(Consequent("edema", 0.37, 0.1, **counts))
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
    chance: float | None = None
    exact: bool = False

    def nodes(
        self, top: int | None = SHOWN_PER_LIST, *, general: str = ""
    ) -> list[Node]:
        """This consequent on a page, with its ``top`` shapes.

        ``general`` says in words what the shift of a general rule is.
        """
        shapes = []
        for shape in self.shapes[:top]:
            shapes.append(Node(str(shape), amount=shape.change_in_words))
        children = (*shapes, *left_out(len(self.shapes), top, "smaller one"))
        label = name(self.label)
        if not general:
            return [Node(label + self._moved(), children, amount=self.shift)]
        return [Node(f"{label}: {self._start(general)}", children)]

    def _start(self, general: str) -> str:
        """Where a general rule starts, as a probability where it has one."""
        if self.exact:
            start = f"starts at {in_full(self.shift)}"
            return start if self.chance is None else f"{start}, {percent(self.chance)}"
        start = number(self.shift) if self.chance is None else percent(self.chance)
        return f"{start} {general}"

    def _moved(self) -> str:
        """How many members had the label, and by how much the rule shifts its score."""
        shift = in_full(self.shift, "+") if self.exact else signed(self.shift)
        words = f" {shift}{margin(self.error)}"
        if len(self.shapes):
            words += " at its centre"
        if self.overall is None:
            return words
        members = "observed in none of them"
        if self.observed:
            members = f"{self.positives:,} of {self.observed:,} had it"
        positives, observed = self.overall
        return f": {members}, {positives:,} of {observed:,} overall;{words}"


@dataclass(frozen=True)
class GeneralRule(Page):
    """The rule without conditions: what holds for every sample, label by label.

    ``consequents`` are those of its labels, or of some of its ``n_labels``; ``start``
    says in words what their shifts are, and ``how_to_see_more`` how to see the labels
    that are left out.
    """

    consequents: Sequence[Consequent]
    start: str
    n_labels: int
    conditions: tuple[Condition, ...] = ()
    how_to_see_more: str = "for_label shows"

    def nodes(self, top: int | None = SHOWN_PER_LIST) -> list[Node]:
        """This rule on a page, with the ``top`` shapes of each label."""
        labels: list[Node] = []
        for consequent in self.consequents:
            labels += consequent.nodes(top, general=self.start)
        more = left_out(
            self.n_labels, len(labels), "more label", f", which {self.how_to_see_more}"
        )
        return [Node("In general", (*labels, *more))]


@dataclass(frozen=True)
class Rule(Page):
    """An exception, or a rule that the user gave.

    Attributes
    ----------
    index : int
        Its number, from 0 here and from 1 in words.
    weight : float
        The share of the data that it governs: the mean membership in it.
    conditions, consequents : sequence
        The most distinct conditions and the largest shifts come first.
    always : bool
        Whether it has no condition on any feature.
    noun : str
        What it is called: systems without a general rule have rules, not exceptions.
    told : int or None
        How many conditions, the first ones, set its members apart; None for all.
    members, total : int or None
        How many training samples are in it, and how many there are.
    given : bool
        Whether the user gave it. It then holds for its members, wholly, and for no
        other sample.
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
        samples = plural(self.members, "sample")
        is_empty = self.members <= MIN_MEMBERS and not self.given
        if is_empty:  # perhaps none is wholly in it
            return f"{governs}, told by the {samples} nearest to it"
        return f"{samples}, {percent(self.members / max(self.total, 1))} of the data"

    def nodes(self, top: int | None = SHOWN_PER_LIST) -> list[Node]:
        """This rule on a page, with the ``top`` of each list; all where it is None."""
        conditions = Node("IF", self._condition_nodes(top))
        labels: list[Node] = []
        for consequent in self.consequents[:top]:
            labels += consequent.nodes(top)
        if not labels:
            labels.append(Node("nothing changes"))
        labels += left_out(len(self.consequents), top, "label", " that it moves less")
        title = f"{self.noun} {self.index + 1} — {self.size}"
        return [Node(title, (conditions, Node("THEN", tuple(labels))))]

    def _condition_nodes(self, top: int | None) -> tuple[Node, ...]:
        """The conditions that are shown: all of a rule that the user gave."""
        if self.given:
            top = None
        elif top is not None and self.told is not None:
            top = min(top, self.told)
        shown = [Node(str(condition)) for condition in self.conditions[:top]]
        if self.always and not shown:
            shown.append(Node("always"))
        elif len(self.conditions) and not shown:
            shown.append(Node("no feature alone sets it apart"))
        more = left_out(
            len(self.conditions), top, "condition", " closer to the average"
        )
        return (*shown, *more)


def plain(value: object, top: int | None) -> Any:
    """A value as plain data, ready for JSON.

    Lists of shapes, conditions and consequents are cut to their ``top`` first entries.
    """
    if isinstance(value, tuple):
        return [plain(entry, top) for entry in value]
    if not is_dataclass(value):
        return value
    data: dict[str, Any] = {}
    for field in fields(value):
        data[field.name] = getattr(value, field.name)
    for name_of_list in _LISTS:
        if name_of_list in data:
            entries = data[name_of_list]
            data[f"n_{name_of_list}"] = len(entries)
            data[name_of_list] = tuple(entries[slice(top)])
    return {key: plain(entry, top) for key, entry in data.items()}
