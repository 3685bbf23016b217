"""A score taken apart: its parts as data, in a sentence, and as a list on a page."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..probabilities import probabilities_of
from ..text import plural
from .page import Node, Page, left_out
from .values import SHOWN_PER_LIST
from .wording import name, number, percent

ROUNDED_TO_NOTHING = 5e-4  # smaller amounts print as 0.000
LEAST_REASON = 5e-3  # smaller amounts print as 0.00
SIMILAR = "exceptions for samples like this one"
NOTHING_FIRES = "no rule fires: to the computer, all products of memberships are 0"
_KINDS_OF_SUM = ("base", "given", "feature", "absent", "pair", "exception")


@dataclass(frozen=True)
class Part:
    """One amount of a score.

    Attributes
    ----------
    part : str
        "base"; "given", a rule of the user that holds; "feature"; "absent", all
        features that sparse rows do not have; "pair", two features together;
        "exception"; or "slope", what a feature does within exceptions of order 1, which
        is told but is not part of the sum.
    name : str, int or None
        The feature, both features of a pair, or the number of the rule from 0.
    value : float, str or None
        The value of the feature in the sample, None where it is not known; of an
        exception, the membership of the sample in it.
    contribution : float
        What is added.
    words : str
        The same for people.
    """

    part: str
    name: str | int | None
    value: float | str | None
    contribution: float
    words: str


@dataclass(frozen=True)
class Why(Page):
    """A score taken apart: ``parts`` add up to it, except those that tell slopes.

    Each kind comes with the largest first. Features that add nothing are left out,
    unless that is because their value is not known. Where there are probabilities,
    scores are their log-odds, and ``probability`` is not None.
    """

    sample: int
    label: str
    score: float
    threshold: float
    probability: float | None
    parts: tuple[Part, ...]

    @property
    def given(self) -> bool:
        """Whether the score reaches the threshold of the label."""
        return self.score >= self.threshold

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, with the ``top`` largest parts of each kind or all."""
        parts = []
        for kind in (*_KINDS_OF_SUM, "slope"):
            parts += [asdict(part) for part in self.of_kind(kind)[:top]]
        return {**vars(self), "given": self.given, "parts": parts}

    @property
    def is_of_rules_alone(self) -> bool:
        """Whether rules add all of the score, as in a model of the paper."""
        return {part.part for part in self.parts} <= {"exception", "slope"}

    @property
    def fires_nothing(self) -> bool:
        """Whether no rule of a model of the paper fires on the sample."""
        rules = self.of_kind("exception")
        is_silent = all(rule.value == 0 for rule in rules)
        return self.is_of_rules_alone and bool(rules) and is_silent

    def of_kind(self, kind: str) -> tuple[Part, ...]:
        """Parts of one kind."""
        return tuple(part for part in self.parts if part.part == kind)

    def strongest(self, top: int) -> str:
        """The ``top`` parts that move the score most, in words, with what they add.

        All exceptions are one: of hundreds, none says much alone. Rules of the paper
        are no exceptions to anything: what features do within them are the reasons.
        """
        if self.fires_nothing:
            return NOTHING_FIRES
        amounts = {}
        slopes = ("slope",) if self.is_of_rules_alone else ()
        for kind in ("given", "feature", "absent", "pair", *slopes):
            for part in self.of_kind(kind)[:top]:
                amounts[part.words] = part.contribution
        exceptions = self.of_kind("exception")
        if exceptions and not self.is_of_rules_alone:
            amounts[SIMILAR] = sum(part.contribution for part in exceptions)
        strongest = sorted(amounts, key=lambda words: -abs(amounts[words]))[:top]
        moving = [w for w in strongest if abs(amounts[w]) >= LEAST_REASON]
        return "; ".join(f"{words}: {amounts[words]:+.2f}" for words in moving)

    def nodes(self, top: int = SHOWN_PER_LIST) -> list[Node]:
        """The account on a page, with the ``top`` parts of each kind."""
        title = f"{name(self.label)}: {self._answer()}"
        if self.fires_nothing:
            return [Node(title, (Node(NOTHING_FIRES),))]
        entries: list[Node] = []
        for kind in _KINDS_OF_SUM:
            entries += _ledger(self.of_kind(kind), top)
        slopes = tuple(_ledger(self.of_kind("slope"), top))
        if slopes:
            entries.append(Node("of what rules add, by feature", slopes))
        return [Node(title, tuple(entries))]

    def _answer(self) -> str:
        """The probability or score, and whether the label is given."""
        verdict = "given" if self.given else "not given"
        if self.probability is None:
            return f"{self.score:.3f}, {verdict} (threshold {number(self.threshold)})"
        threshold = f"{number(100 * float(probabilities_of(self.threshold)))} %"
        detail = f"threshold {threshold}, log-odds {self.score:+.3f}"
        return f"{percent(self.probability)}, {verdict} ({detail})"


def _ledger(parts: Sequence[Part], top: int) -> Iterator[Node]:
    """The ``top`` parts of one kind, and the sum of the others.

    Features that add nothing, because their value is not known, follow in grey.
    """
    unknown = [part for part in parts if _is_unknown(part)]
    moving = [part for part in parts if not _is_unknown(part)]
    n_visible = sum(abs(part.contribution) >= ROUNDED_TO_NOTHING for part in moving)
    n_shown = min(top, max(1, n_visible))
    for part in moving[:n_shown]:
        yield Node(f"{part.contribution:+.3f}  {part.words}", amount=part.contribution)
    rest = moving[n_shown:]
    if rest:
        amount = sum(part.contribution for part in rest)
        smaller = plural(len(rest), "smaller one")
        yield Node(f"{amount:+.3f}  {smaller}", amount=amount)
    for part in unknown[:top]:
        yield Node(f"{0:+.3f}  {part.words}", muted=True)
    yield from left_out(len(unknown), top, "more unknown value")


def _is_unknown(part: Part) -> bool:
    return part.contribution == 0 and part.part == "feature"
