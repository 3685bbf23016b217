"""What a model is worth, in sentences for everybody.

Words are relative to chance: what they say of a label depends on how far its AUC and
its average precision are above those of guessing.
"""

from collections.abc import Sequence

import numpy as np

from ..core.worth import MIN_CLEAR_CASES
from ..core.worth import grade as grade_in_words
from ..explain.wording import percent
from ..metrics.curves import Groups as CalibrationGroups
from ..text import plural
from .baselines import FOREST, MAX_COMPARED_ROWS, BaselineComparison
from .judged import JudgedLabel, are_off

NEARLY_ALL_GIVEN = 0.9  # share of rows; from there on a threshold decides nothing
RARE_CASES = 30  # below, figures are to be taken with care
# Below, rows that all have a label, or none of which has it, say nothing about it.
MIN_OBSERVED_ROWS = 5
MAX_NAMES_OF_LINE = 5
TRUSTED_CHANCES = (
    "Probabilities can be trusted: of 100 rows with a predicted probability of 30 %, "
    "about 30 have the label."
)
MANY_CASES = 100  # with fewer, only large errors of probabilities are beyond chance

# one label ----------------------------------------------------------------------------


def sentence(label: JudgedLabel) -> str:
    """Say whether a label can be predicted, and at what price."""
    if not label.is_known:
        return f"{label.name}: {why_unknown(label)}."
    if label.is_too_rare:
        return f"{label.name} cannot be judged: {_few_in_words(label)}."
    text = _how_it_is_found(label)
    if label.is_guessed:
        text = (
            f"{label.name} cannot be predicted from these columns: the model may be "
            "no better than guessing."
        )
    if label.cases >= RARE_CASES:
        return text
    cases = plural(label.cases, "case")
    if label.is_guessed or label.cases < MIN_CLEAR_CASES:
        verb = "is" if label.cases == 1 else "are"
        return f"{text} But there {verb} only {cases}."
    return f"{text} There are only {cases}: treat this with care."


def why_unknown(label: JudgedLabel) -> str:
    """Say why a label that all or no observed rows have cannot be judged."""
    if label.observed < MIN_OBSERVED_ROWS:
        return f"observed in {plural(label.observed, 'row')}, too rarely to be judged"
    rows = "all rows have" if label.cases else "no row has"
    return f"{rows} it, so it cannot be judged"


def _few_in_words(label: JudgedLabel) -> str:
    """Say that a label has too few cases, or others, to be judged."""
    verb = "is" if label.rarer == 1 else "are"
    few = plural(label.rarer, "case")
    if label.cases > label.rarer:
        few = f"{plural(label.rarer, 'row')} without it"
    return f"there {verb} only {few}, too few to say whether it can be predicted"


def grade(label: JudgedLabel) -> str:
    """Words for how well a label is predicted that is better than guessing."""
    return grade_in_words(
        n_cases=label.cases,
        auc=label.AUC[0],
        ap=label.AP[0],
        guessed_ap=label.guessed_AP,
    )


def _how_it_is_found(label: JudgedLabel) -> str:
    """Say how many cases are found, and how many alarms are false."""
    start = f"{label.name} {grade(label)}"
    if not label.given:
        return f"{start}, but no row reaches the threshold: none is found."
    if label.given >= NEARLY_ALL_GIVEN * label.observed:
        start = f"{start}, but its threshold gives it to nearly every row"
    found = _share_in_words(label.found / label.cases, "cases")
    return f"{start}: {found} found, and {_price_in_words(label)}."


def _price_in_words(label: JudgedLabel) -> str:
    """Say how many alarms are false, next to guessing: in per cent if they are near."""
    guessed = 1 - label.rate
    by_guessing = f"({_fraction_in_words(guessed)} by guessing)"
    if not label.alarms:
        return f"there are no false alarms {by_guessing}"
    share = label.alarms / label.given
    if _fraction_in_words(share) != _fraction_in_words(guessed):
        return f"{_share_in_words(share, 'alarms')} false {by_guessing}"
    if percent(share) == percent(guessed):
        return f"{percent(share)} of the alarms are false, as many as by guessing"
    return f"{percent(share)} of the alarms are false ({percent(guessed)} by guessing)"


def _share_in_words(share: float, nouns: str) -> str:
    """A share of things with its verb, such as "3 of 4 cases are"."""
    words = _fraction_in_words(share)
    if words == "none":
        return f"none of the {nouns} are"
    if words == "half":
        return f"half of the {nouns} are"
    verb = "is" if words.startswith("1 of") else "are"
    return f"{words} {nouns} {verb}"


def _fraction_in_words(share: float) -> str:
    """A share as a simple fraction, such as "3 of 4"."""
    if share == 1:
        return "all"
    if share > 0.97:
        return "nearly all"
    if share == 0:
        return "none"
    if share < 0.03:
        return "hardly any"

    def misfit(fraction: tuple[int, int]) -> float:
        part, whole = fraction
        return abs(part / whole - share) + 0.002 * whole  # rather 1 of 2 than 5 of 10

    fractions = [
        (part, whole) for whole in (2, 3, 4, 5, 10) for part in range(1, whole)
    ]
    part, whole = min(fractions, key=misfit)
    return "half" if whole == 2 else f"{part} of {whole}"


def sentence_on_chances(label: JudgedLabel, *, is_off: bool) -> str:
    """Say whether the predicted probabilities of a label can be trusted.

    ``is_off`` says what `miscalibrated` found.
    """
    if is_off:
        misfit = largest_misfit(label.calibration, "the label")
        return f"Be careful with probabilities: {misfit}."
    return sentence_on_right_chances(label.rarer)


def sentence_on_right_chances(n_rarer: int) -> str:
    """Say how far probabilities can be trusted that are not seen to be off.

    ``n_rarer`` rows have the label, or do not have it, whichever are fewer; of several
    labels, the most.
    """
    if n_rarer < MIN_CLEAR_CASES:
        return "There are too few cases to say whether probabilities are right."
    if n_rarer < MANY_CASES:
        return (
            "No probability is off by more than chance; with so few cases, only large "
            "errors would be seen."
        )
    return TRUSTED_CHANCES


def largest_misfit(groups: CalibrationGroups, label: str) -> str:
    """Say where probabilities are furthest from what was observed."""
    distances = np.abs(groups.forecast - groups.observed)
    worst = int(np.argmax(np.where(are_off(groups), distances, -1.0)))
    return (
        f"of 100 rows with a predicted probability of about "
        f"{percent(groups.forecast[worst])}, {100 * groups.observed[worst]:.0f} have "
        f"{label}"
    )


# all labels ---------------------------------------------------------------------------


def headline(
    labels: Sequence[JudgedLabel], comparison: BaselineComparison | None
) -> list[str]:
    """Return what a review says of all labels: the best model, and what it predicts."""
    if not any(label.is_known for label in labels):
        return [
            "No label has both rows with it and rows without it: there is nothing to "
            "learn."
        ]
    best = _line_on_best_model(labels, comparison)
    if len(labels) == 1:
        return [*best, sentence(labels[0])]
    return [*best, *_lines_on_found_labels(labels), *_lines_on_guessed_labels(labels)]


def _line_on_best_model(
    labels: Sequence[JudgedLabel], comparison: BaselineComparison | None
) -> list[str]:
    """Name the best of our models, with its AP next to that of the others.

    There is none where no label can be predicted.
    """
    means = {} if comparison is None else comparison.mean_AP()
    is_of_use = any(label.is_better_than_guessing for label in labels)
    if comparison is None or not means or not is_of_use:
        return []
    best = comparison.best
    (other,) = (method for method in comparison.ours if method != best)
    other_methods = [
        f"{_with_article(method)} {mean:.2f}"
        for method, mean in means.items()
        if method not in comparison.ours
    ]
    folds = "on the same folds"
    if comparison.rows == MAX_COMPARED_ROWS:
        folds = f"{folds} of {comparison.rows:,} rows"
    return [
        f"Our best model: {best}, mean AP {means[best]:.2f} ({other} "
        f"{means[other]:.2f}; {folds} {', '.join(other_methods)})."
    ]


def _with_article(method: str) -> str:
    return f"a {method}" if method == FOREST else method


def lines_on_better_methods(
    labels: Sequence[JudgedLabel], comparison: BaselineComparison
) -> list[str]:
    """Say which other methods are clearly better, on the whole or for some labels."""
    lines = []
    means = comparison.mean_AP()
    for method, lead in comparison.leads().items():
        subject = _with_article(method)
        subject = subject[0].upper() + subject[1:]
        if lead.on_average:
            draws = f"{lead.draws} of {plural(comparison.n_draws, 'draw')} of folds"
            theirs, own = _told_apart(means[method], means[comparison.best])
            lines.append(
                f"{subject} ranks rows better than our best model: mean AP {theirs} "
                f"against {own}, ahead in {draws}."
            )
        else:
            names = first_names([labels[j].name for j in lead.labels])
            untold = [labels[j].name for j in lead.labels if labels[j].is_guessed]
            line = f"{subject} is clearly better for {names}."
            lines.append(f"{line} {_line_on_untold(untold)}".rstrip())
    return lines


def _told_apart(first: float, second: float) -> tuple[str, str]:
    """Two figures with two decimals, or with three where two would be the same.

    >>> _told_apart(0.58, 0.561), _told_apart(0.624, 0.616)
    (('0.58', '0.56'), ('0.624', '0.616'))
    """
    for n_decimals in (2, 3):
        words = f"{first:.{n_decimals}f}", f"{second:.{n_decimals}f}"
        if words[0] != words[1]:
            break
    return words


def _line_on_untold(names: Sequence[str]) -> str:
    """Say of labels that another method predicts better than ours, which may guess."""
    if not names:
        return ""
    return f"It may predict {first_names(names)}, which the model cannot."


def _lines_on_found_labels(labels: Sequence[JudgedLabel]) -> list[str]:
    """Say which of many labels are predicted better than by guessing."""
    better = [label for label in labels if label.is_better_than_guessing]
    if not better:
        return []
    better.sort(key=lambda label: -label.AUC[0])
    count = f"{len(better)} of {len(labels)}"
    if len(better) == len(labels):
        count = "Both" if len(labels) == 2 else f"All {len(labels)}"
    text = f"{count} labels can be predicted better than by guessing"
    if len(better) == 1:
        return [f"{text}: {better[0].name}."]
    return [f"{text}, best {better[0].name}, least well {better[-1].name}."]


def _lines_on_guessed_labels(labels: Sequence[JudgedLabel]) -> list[str]:
    """Say which of many labels may not be predicted better than by guessing."""
    rare = [label.name for label in labels if label.is_too_rare]
    guessed = [label.name for label in labels if label.is_guessed]
    guessed = [label for label in guessed if label not in set(rare)]
    lines = []
    if guessed:
        lines.append(
            f"{len(guessed)} of {len(labels)} labels cannot be predicted better than "
            f"by guessing: {first_names(guessed)}."
        )
    if rare:
        verb = "has" if len(rare) == 1 else "have"
        lines.append(
            f"{len(rare)} of {len(labels)} labels {verb} too few cases to be judged: "
            f"{first_names(rare)}."
        )
    return lines


def first_names(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    text = ", ".join(names[:MAX_NAMES_OF_LINE])
    n_more = len(names) - MAX_NAMES_OF_LINE
    return f"{text} and {n_more} more" if n_more > 0 else text
