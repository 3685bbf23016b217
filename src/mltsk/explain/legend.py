"""How to read the rules of a system: the sentences in front of them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..text import listing, plural
from .wording import name, number

if TYPE_CHECKING:
    from .rules import RuleBase
    from .shapes import Shape

MAX_LISTED_THRESHOLDS = 20
MAX_RARE_TOLD = 40  # rare values of a feature
# How to read a short model, which can be worked out by hand.
HOW_SCORES_ADD_UP = (
    "Log-odds start at the number after a label. Each line adds to them: nothing up to "
    "the first value that it names, its whole number from the second on, and in "
    "between its share. A feature that was not measured adds the number that its line "
    "gives for that, or nothing."
)
HOW_TO_READ_LOG_ODDS = (
    "Numbers are log-odds, which add up: 0 is a probability of 50 %, 1 of 73 %, 2 of "
    "88 %, 3 of 95 %, and -1, -2, -3 are 27 %, 12 %, 5 %."
)
HOW_BENDS_ADD_UP = (
    "A line with several numbers has one for each value that it names, and goes "
    "straight from one to the next."
)
HOW_LINES_ADD_UP = (
    "A number per 10 of a feature, or per another round number, is added for every 10 "
    "of it above the first value that the line names, up to the second."
)
HOW_SURE = (
    "± is a 95 % interval. '15 of 16' means: of 16 fits, each to a random half of the "
    "table, 15 chose the feature again, with the same effect."
)
HOW_CONDITIONS_ARE_MET = (
    "A condition is half met at the values that it names. It is fully met in the "
    "middle between two of them, or from the value in brackets on, and less and less "
    "(as a Gaussian) further away. An exception applies by the product of its "
    "conditions. A condition on something that was not measured counts as the others "
    "do on average (their geometric mean); if none was measured, the exception does "
    "not apply."
)
HOW_VALUES_ARE_MET = (
    "A condition with a single value is met by that value and by no other."
)
HOW_GIVEN_RULES_APPLY = (
    "A rule of yours adds its numbers if everything that it asks for was measured and "
    "holds; otherwise it adds nothing."
)
WHAT_FOLLOWS_LINES = " Of a straight line: the change per round number of units."
WHAT_FOLLOWS_PAIRS = " After two conditions: what both together add, 0 on average."


def legend(rules: "RuleBase") -> tuple[str, ...]:
    """How to read some rules, in two sentences or more."""
    system = rules.system
    begin = _contents(rules)
    if rules.subjects.given:
        begin += f" {HOW_GIVEN_RULES_APPLY}"
    scale = "probability" if system.has_log_odds else "score"
    begin += f" A label is given where its {scale} reaches {_thresholds(rules)}."
    if system.has_log_odds:
        begin += f" {HOW_TO_READ_LOG_ODDS}"
    if not system.is_sheet:
        sure = (HOW_SURE,) if system.is_chosen else ()
        return begin, _what_follows_features(rules), *sure
    sheet = (begin, _how_scores_add_up(rules), *_rare_values(rules), HOW_SURE)
    if not len(system.centers):
        return sheet
    how = HOW_CONDITIONS_ARE_MET
    if _has_conditions_on_values(rules):
        how += f" {HOW_VALUES_ARE_MET}"
    return *sheet, how


def _contents(rules: "RuleBase") -> str:
    """How many rules there are, on how many features and labels."""
    effects = rules.effects
    count = plural(len(rules.exceptions), effects.noun.lower())
    features = plural(len(rules.feature_names), "feature")
    labels = plural(len(rules.kept_labels), "label")
    scope = f"on {features} for {labels}"
    if len(rules.pairs):
        scope += f", {plural(len(rules.pairs), 'pair')} of features that act together"
    if not len(rules.general) and not len(rules.exceptions):
        return f"No rule {scope}: every sample has the same probability of a label."
    if not len(rules.general):
        return (
            f"{count} {scope}. Each adds what it says to samples as far as it fits "
            "them."
        )
    if len(rules.system.centers):
        average = ""
        if effects.has_centred_exceptions:
            average = " better than the average sample"
        return (
            f"What holds in general, {scope}, and {count}: each shifts samples as "
            f"far as it fits them{average}."
        )
    if rules.system.is_chosen:
        return f"What holds in general, {scope}."
    return f"What holds in general, {scope}; this table needs no exceptions."


def _thresholds(rules: "RuleBase") -> str:
    """The thresholds of the labels: one, each by its label, or their range."""
    thresholds = rules.system.thresholds[rules.kept_labels]
    words = [number(threshold) for threshold in thresholds.tolist()]
    if rules.system.has_log_odds:
        chances = rules.system.probabilities(thresholds).tolist()
        words = [f"{number(100 * chance)} %" for chance in chances]
    if len(set(words)) == 1:
        return words[0]
    if len(words) > MAX_LISTED_THRESHOLDS:
        lowest = words[int(thresholds.argmin())]
        return f"its threshold, {lowest} to {words[int(thresholds.argmax())]}"
    pairs = zip(rules.label_names, words, strict=True)
    listed = ", ".join(f"{name(label)} {word}" for label, word in pairs)
    return f"its threshold: {listed}"


def _what_follows_features(rules: "RuleBase") -> str:
    """What the numbers after features and values of a long model are."""
    system = rules.system
    if system.quantiles is not None:
        span = "from its 10th to its 90th percentile"
    elif system.unit_length:
        span = "for its full weight in a row"
    else:
        span = "for 1 unit of it"
    words = (
        "After a feature: where it matters, and what changes "
        f"{span}; largest effects first."
    )
    if system.terms.straight is not None:
        words += WHAT_FOLLOWS_LINES
    if rules.subjects.unordered:
        words += " After a value: what it adds, 0 on average."
    if len(rules.pairs):
        words += WHAT_FOLLOWS_PAIRS
    return words


def _how_scores_add_up(rules: "RuleBase") -> str:
    """How to work out a score by hand, of the kinds of lines that a sheet has."""
    how = HOW_SCORES_ADD_UP
    if any(shape.bends for shape in _shapes(rules)):
        how += f" {HOW_BENDS_ADD_UP}"
    if any(shape.per is not None for shape in _shapes(rules)):
        how += f" {HOW_LINES_ADD_UP}"
    return how


def _shapes(rules: "RuleBase") -> Iterator["Shape"]:
    """The statements of all labels, each made when it is asked for."""
    for consequent in rules.general:
        yield from consequent.shapes


def _rare_values(rules: "RuleBase") -> Iterator[str]:
    """Which values the features of a short model have as one, because of rarity."""
    system = rules.system
    if system.columns is None:
        return
    is_used = np.asarray(np.isfinite(system.widths).any(axis=0))
    is_used[system.terms.feature] = True
    for subject in rules.subjects:
        is_told = subject.columns.stop > subject.columns.start
        if not is_told or subject.kind != "nominal":
            continue
        rare = system.columns.rare[subject.feature]
        if rare and is_used[subject.columns][-1]:
            words = listing(map(name, rare), at_most=MAX_RARE_TOLD)
            together = name(subject.values[-1])
            yield f"{together} of {name(subject.name)} stands for {words}."


def _has_conditions_on_values(rules: "RuleBase") -> bool:
    """Whether some exception of a short model asks for one of several values."""
    has_condition = np.asarray(np.isfinite(rules.system.widths).any(axis=0))
    for t, subject in enumerate(rules.subjects):
        if has_condition[subject.columns].any() and rules.subjects.named_values(t):
            return True
    return False
