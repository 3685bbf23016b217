"""Why one sample got one score: a ledger by rule and a ledger by feature, as values and as words."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .text import place_words
from .wording import name, number, percent, times


@dataclass(frozen=True)
class RulePart:
    """What one rule adds to a score, with the share of the sample that falls to it; ``index`` counts from 0."""

    index: int
    firing: float
    contribution: float


@dataclass(frozen=True)
class FeaturePart:
    """What one feature adds to a score, with its value in the sample and where that lies in the training data."""

    feature: str
    value: float
    percentile: float | None
    category: str | None
    contribution: float

    def __str__(self) -> str:
        return feature_words(self)


@dataclass(frozen=True)
class Why:
    """A score taken apart: its rules add up to it, and so do ``base`` and its features; largest first.

    ``base`` is what these rules, in these shares, give to the average sample (of sparse data: to an empty row).
    Features that add nothing are left out.
    """

    sample: int
    label: str
    score: float
    threshold: float
    rules: tuple[RulePart, ...]
    base: float
    features: tuple[FeaturePart, ...]

    @property
    def given(self) -> bool:
        """Whether the score reaches the threshold of the label."""
        return self.score >= self.threshold

    def __str__(self) -> str:
        return why_text(self, 5)

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, with the ``top`` largest features or all."""
        return {**asdict(self), "given": self.given, "features": [asdict(part) for part in self.features[:top]]}


def feature_words(part: FeaturePart) -> str:
    """A feature of a sample, by category, by its place among the training values, or by its value alone.

    Examples
    --------
    >>> feature_words(FeaturePart("glucose", 8.1, 0.83, None, 0.12))
    'glucose is very high (8.1, top 17 %)'
    """
    if part.category is not None:
        return f"{name(part.feature)} is {name(part.category)}"
    if part.percentile is None:
        return f"{name(part.feature)} is {number(part.value)}"
    return f"{name(part.feature)} is {place_words(part.value, part.percentile)}"


def why_text(why: Why, top: int) -> str:
    """A score as two ledgers that add up to it, with their ``top`` largest entries."""
    verdict = "given" if why.given else "not given"
    title = f"{name(why.label)}: {why.score:.3f}, {verdict} (threshold {number(why.threshold)})"
    lines = [*_entries("by rule", rule_entries(why, top)), *_entries("by feature", feature_entries(why, top))]
    return "\n".join([title, *lines])


def rule_entries(why: Why, top: int) -> list[tuple[float, str]]:
    """Amounts and words of the rules."""
    shown, rest = why.rules[:top], why.rules[top:]
    entries = [(part.contribution, f"Rule {part.index + 1}, with a share of {percent(part.firing)}") for part in shown]
    if rest:
        share = percent(sum(part.firing for part in rest))
        entries.append((sum(part.contribution for part in rest), f"{times(len(rest), 'other rule')}, with {share}"))
    return entries


def feature_entries(why: Why, top: int) -> list[tuple[float, str]]:
    """Amounts and words of the base and the features."""
    shown, rest = why.features[:top], why.features[top:]
    entries = [(why.base, "base of these rules"), *((part.contribution, feature_words(part)) for part in shown)]
    if rest:
        entries.append((sum(part.contribution for part in rest), times(len(rest), "smaller one")))
    return entries


def _entries(title: str, entries: Sequence[tuple[float, str]]) -> list[str]:
    return [f"  {title}", *(f"    {amount:+.3f}  {words}" for amount, words in entries)]
