"""Rules in words: sentences about conditions, terms and labels, made from values and rendered last.

A condition is placed on a scale of five words by the training data ("glucose is very high (≈ 8.1, top 17 %)"); a
feature with two values is told by how often it takes one of them; a sparse one by comparison with the average; a
nominal one by its category. A consequent tells what makes a label's score rise or fall, largest first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .wording import fifth, name, number, percent, signed, tail, times

if TYPE_CHECKING:
    from .values import Condition, Consequent, Rule, Term


@dataclass(frozen=True)
class ConsequentWords:
    """A label, where its score stands in the rule, what moves it, and what was left out."""

    label: str
    level: str
    rises: tuple[str, ...]
    falls: tuple[str, ...]
    rest: str


@dataclass(frozen=True)
class RuleWords:
    """A rule, sentence by sentence; ``more_…`` say what was left out, or are empty."""

    title: str
    conditions: tuple[str, ...]
    more_conditions: str
    consequents: tuple[ConsequentWords, ...]
    more_consequents: str


def condition_words(c: "Condition") -> str:
    """One condition as a sentence.

    Examples
    --------
    >>> from mltsk.explain import Condition
    >>> condition_words(Condition("glucose", 8.1, 5.5, 7.0, 9.2, percentile=0.83, distinct=1.4))
    'glucose is very high (≈ 8.1, top 17 %)'
    >>> condition_words(Condition("oil", 0.34, 0.11, None, None, percentile=None, distinct=0.2))
    'oil is 3.1 times the average (0.34 against 0.11)'
    """
    feature = name(c.feature)
    if c.values is not None and c.value_names is not None:
        return f"{feature} is {_share_words(c)}"
    if c.category is not None:
        return f"{feature} is around {name(c.category)}"
    if c.percentile is None:
        return f"{feature} is {_comparison(c.center, c.average)}"
    return f"{feature} is {place_words(c.center, c.percentile, about=True)}"


def place_words(value: float, percentile: float, *, about: bool = False) -> str:
    """A value on the scale of five words.

    Examples
    --------
    >>> place_words(2.0, 0.12)
    'very low (2, bottom 12 %)'
    """
    return f"{fifth(percentile)} ({'≈ ' if about else ''}{number(value)}, {tail(percentile)})"


def _share_words(c: "Condition") -> str:
    """How often a feature takes that one of its two values which the rule has more of than the average."""
    assert c.values is not None
    assert c.value_names is not None
    low, high = c.values
    here, usual = (c.center - low) / (high - low), (c.average - low) / (high - low)
    upper = here >= usual
    value = c.value_names[int(upper)]
    here, usual = (here, usual) if upper else (1 - here, 1 - usual)
    often = "throughout" if here > 0.995 else f"for {percent(here)}"
    return f"{name(value)} {often} ({percent(usual)} on average)"


def _comparison(here: float, usual: float) -> str:
    pair = f"({number(here)} against {number(usual)})"
    if usual <= 0 or here < 0:
        return f"{'above' if here > usual else 'below'} average {pair}"
    ratio = here / usual
    if ratio < 0.05:
        return f"nearly absent {pair}"
    return f"{ratio:.2g} times the average {pair}" if ratio < 100 else f"{ratio:,.0f} times the average {pair}"


def term_words(t: "Term", usual_step: str = "") -> str:
    """A feature and what one step of it does; the step is told where it is not the usual one.

    Examples
    --------
    >>> from mltsk.explain import Term
    >>> term_words(Term("age", -0.02, "1 unit", -0.1))
    'age -0.020 (1 unit)'
    """
    step = "" if t.per == usual_step else f" ({name(t.per)})"
    return f"{name(t.feature)} {signed(t.weight)}{step}"


def consequent_words(c: "Consequent", top: int, step: str = "") -> ConsequentWords:
    """A consequent with its ``top`` largest terms, those that raise the score apart from those that lower it."""
    shown = c.terms[:top]
    return ConsequentWords(
        label=name(c.label),
        level=_level_words(c),
        rises=tuple(term_words(t, step) for t in shown if t.weight > 0),
        falls=tuple(term_words(t, step) for t in shown if t.weight < 0),
        rest=_rest_words(c, top),
    )


def _level_words(c: "Consequent") -> str:
    here, usual = f"{c.level:.2f}", f"{c.usual:.2f}"
    move = f"stays at {here}" if here == usual else f"{'up' if c.level > c.usual else 'down'} to {here} from {usual}"
    return f"{move}, {'given' if c.level >= c.threshold else 'not given'}"


def _rest_words(c: "Consequent", top: int) -> str:
    if len(c.terms) <= top:
        return ""
    sizes = [abs(t.effect) for t in c.terms]
    share = sum(sizes[top:]) / max(sum(sizes), 1e-300)
    return f"and {times(len(sizes) - top, 'smaller one')} ({percent(share)} of all effects)"


def rule_words(rule: "Rule", top: int) -> RuleWords:
    """A rule with its ``top`` most distinct conditions and the ``top`` labels that it moves most from usual."""
    near = len(rule.conditions) - top
    moved = sorted(rule.consequents, key=lambda c: -abs(c.level - c.usual))
    return RuleWords(
        title=f"Rule {rule.number} — governs {percent(rule.weight)} of the data",
        conditions=("always",) if rule.always else tuple(map(condition_words, rule.conditions[:top])),
        more_conditions=f"and {times(near, 'condition')} closer to the average" if near > 0 else "",
        consequents=tuple(consequent_words(c, top, rule.step) for c in moved[:top]),
        more_consequents=f"and {times(len(moved) - top, 'label')} closer to usual" if len(moved) > top else "",
    )


def legend(
    n_rules: int, n_features: int, thresholds: Sequence[float], step: str, *, nominal: bool = False
) -> tuple[str, ...]:
    """How to read the rules, in a few sentences; ``nominal`` where features have categories that have an order."""
    low, high = min(thresholds), max(thresholds)
    reach = number(low) if low == high else f"which is {number(low)} to {number(high)}"
    size = f"{times(n_rules, 'rule')} on {times(n_features, 'feature')} for {times(len(thresholds), 'label')}."
    return (
        f"{size} A sample is shared out among the rules that it resembles; each gives every label a score, and a label "
        f"is given where the shared score reaches its threshold, {reach}.",
        "After a label: its score at the centre of the rule, from its average over all rules, and whether the label is "
        f"given there. After a feature: the change of the score per {step}, unless it says otherwise; largest effect "
        "first." + (" Around a category means near it in the order of the categories' numbers." if nominal else ""),
    )
