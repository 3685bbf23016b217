"""What a model is worth, in figures and in sentences for everybody.

Each row is judged by what a model without that row would say (leave-one-out).
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..classifier import MLTSKClassifier
from ..core.arrays import FloatArray
from ..explain.views import left_out
from ..explain.wording import name, percent
from ..metrics import average_precision_interval, roc_auc_interval
from ..metrics.curves import Groups
from ..text import plural
from .baselines import FOREST, OURS, BaselineComparison

RARE_CASES = 30  # below, figures are to be taken with care
# Below, rows that all have a label, or none of which has it, say nothing about it.
MIN_OBSERVED_ROWS = 5
F1_GRADES = (
    (0.7, "can be found"),
    (0.45, "can be found in part"),
    (0.0, "is hard to find"),
)
MAX_NAMES_OF_LINE = 5

# A value, and the ends of its 95 % interval.
Estimate: TypeAlias = tuple[float, float, float]


class JudgedLabel(NamedTuple):
    """How well one label is found in rows that were left out.

    Attributes
    ----------
    name : str
    observed, cases : int
        Rows in which the label was observed, and those of them that have it.
    AP, AUC : (value, low, high)
        With a 95 % interval.
    found, alarms : int
        Cases, and other rows, that are given the label at the threshold.
    threshold : float
    y : array of shape (observed,)
        Whether rows have the label.
    chances, scores : arrays of shape (observed,)
        Their probabilities and scores by a model without them.
    """

    name: str
    observed: int
    cases: int
    AP: Estimate
    AUC: Estimate
    found: int
    alarms: int
    threshold: float
    y: NDArray[np.bool_]
    chances: FloatArray
    scores: FloatArray

    @property
    def rate(self) -> float:
        """Share of rows that have the label: the AP of guessing."""
        return self.cases / max(self.observed, 1)

    @property
    def given(self) -> int:
        """How many rows are given the label at the threshold."""
        return self.found + self.alarms

    @property
    def is_known(self) -> bool:
        """Whether some rows have the label and some do not."""
        return 0 < self.cases < self.observed

    @property
    def is_better_than_guessing(self) -> bool:
        """Whether the model is better than guessing, in AUC beyond chance."""
        return self.is_known and self.AUC[1] > 0.5 and self.AP[0] > self.rate

    @property
    def is_guessed(self) -> bool:
        """Whether the model may be no better than guessing."""
        return self.is_known and not self.is_better_than_guessing


def judge(model: MLTSKClassifier) -> list[JudgedLabel]:
    """Judge every label of a classifier that was fitted here."""
    record = model.fit_record_
    is_observed = ~np.isnan(record.labels)
    is_given = record.given_by_folds(model.threshold)
    noise_shares = record.noise_shares()
    judged = []
    for j, (label, (y, chances, scores)) in enumerate(left_out(model).items()):
        rows = is_observed[:, j]
        given = is_given[rows, j]
        groups = None if record.groups is None else record.groups[rows]
        judged.append(
            JudgedLabel(
                name=name(label),
                observed=len(y),
                cases=int(y.sum()),
                AP=average_precision_interval(y, scores, groups=groups),
                AUC=roc_auc_interval(
                    y, scores, groups=groups, noise_share=noise_shares[j]
                ),
                found=int((y & given).sum()),
                alarms=int((~y & given).sum()),
                threshold=float(model.thresholds_[j]),
                y=y,
                chances=chances,
                scores=scores,
            )
        )
    return judged


# one label ----------------------------------------------------------------------------


def sentence(label: JudgedLabel) -> str:
    """Say whether a label can be found, and at what price."""
    if not label.is_known and label.observed < MIN_OBSERVED_ROWS:
        return (
            f"{label.name} was observed in {plural(label.observed, 'row')}: too rarely "
            "to be judged."
        )
    if not label.is_known:
        rows = "all rows have" if label.cases else "no row has"
        return f"{label.name}: {rows} it, so there is nothing to learn."
    is_rare = label.cases < RARE_CASES
    cases = plural(label.cases, "case")
    if label.is_guessed:
        text = (
            f"{label.name} cannot be predicted from these columns: the model may be "
            "no better than guessing."
        )
        if not is_rare:
            return text
        verb = "is" if label.cases == 1 else "are"
        return f"{text} But there {verb} only {cases}."
    text = _how_it_is_found(label)
    return f"{text} It is rare, {cases}: treat this with care." if is_rare else text


def _how_it_is_found(label: JudgedLabel) -> str:
    """Say how many cases are found, and how many alarms are false."""
    if not label.given:
        return (
            f"{label.name} is never given: no row reaches the threshold of "
            f"{label.threshold:.2g}."
        )
    f1 = 2 * label.found / (label.given + label.cases)
    grade = next(words for least, words in F1_GRADES if f1 >= least)
    found = _share_in_words(label.found / label.cases, "cases")
    price = "there are no false alarms"
    if label.alarms:
        price = f"{_share_in_words(label.alarms / label.given, 'alarms')} false"
    return f"{label.name} {grade}: {found} found, and {price}."


def _share_in_words(share: float, nouns: str) -> str:
    """A share as a simple fraction with its verb, such as "3 of 4 cases are"."""
    if share == 1:
        return f"all {nouns} are"
    if share > 0.97:
        return f"nearly all {nouns} are"
    if share == 0:
        return f"none of the {nouns} are"
    if share < 0.03:
        return f"hardly any {nouns} are"

    def misfit(fraction: tuple[int, int]) -> float:
        part, whole = fraction
        return abs(part / whole - share) + 0.002 * whole  # rather 1 of 2 than 5 of 10

    fractions = [
        (part, whole) for whole in (2, 3, 4, 5, 10) for part in range(1, whole)
    ]
    part, whole = min(fractions, key=misfit)
    if whole == 2:
        return f"half of the {nouns} are"
    verb = "is" if part == 1 else "are"
    return f"{part} of {whole} {nouns} {verb}"


def sentence_on_chances(groups: Groups) -> str:
    """Say whether the predicted probabilities of a label can be trusted."""
    is_off = (groups.forecast < groups.low) | (groups.forecast > groups.high)
    if is_off.sum() < 2:  # of ten intervals of 95 %, one may be off
        return (
            "Probabilities can be trusted: of 100 rows with a predicted probability of "
            "30 %, about 30 have the label."
        )
    distances = np.abs(groups.forecast - groups.observed)
    worst = int(np.argmax(np.where(is_off, distances, -1.0)))
    return (
        "Be careful with probabilities: of rows with a predicted probability of about "
        f"{percent(groups.forecast[worst])}, {percent(groups.observed[worst])} have "
        "the label."
    )


# all labels ---------------------------------------------------------------------------


def headline(
    labels: Sequence[JudgedLabel], comparison: BaselineComparison | None
) -> list[str]:
    """Return the first lines of a review: what is wrong first, then what is right."""
    lines = []
    guessed = [label.name for label in labels if label.is_guessed]
    if guessed and len(labels) == 1:
        lines.append(sentence(labels[0]))
    elif guessed:
        lines.append(
            f"{len(guessed)} of {len(labels)} labels cannot be predicted better than "
            f"by guessing: {_first_names(guessed)}."
        )
    if comparison is not None:
        lines += _lines_on_better_methods(labels, comparison)
    lines += _lines_on_found_labels(labels)
    if lines:
        return lines
    return [
        "No label has both rows with it and rows without it: there is nothing to learn."
    ]


def _lines_on_better_methods(
    labels: Sequence[JudgedLabel], comparison: BaselineComparison
) -> list[str]:
    """Say which other methods are clearly better, on the whole or for some labels."""
    lines = []
    for method, lead in comparison.leads().items():
        subject = "A forest" if method == FOREST else method.capitalize()
        if lead.on_average:
            theirs = float(np.nanmean(comparison.AP[method]))
            ours = float(np.nanmean(comparison.AP[OURS]))
            lines.append(
                f"{subject} ranks rows better than this model: mean AP {theirs:.2f} "
                f"against {ours:.2f}."
            )
        else:
            names = _first_names([labels[j].name for j in lead.labels])
            lines.append(f"{subject} is clearly better for {names}.")
    return lines


def _lines_on_found_labels(labels: Sequence[JudgedLabel]) -> list[str]:
    """Say which labels are predicted better than by guessing."""
    better = [label for label in labels if label.is_better_than_guessing]
    if not better:
        return []
    if len(labels) == 1:
        return [sentence(better[0])]
    better.sort(key=lambda label: -label.AUC[0])
    count = f"{len(better)} of {len(labels)}"
    if len(better) == len(labels):
        count = f"All {len(labels)}"
    ends = f"best {better[0].name}"
    if len(better) > 1:
        ends += f", least well {better[-1].name}"
    return [f"{count} labels can be predicted better than by guessing, {ends}."]


def _first_names(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    text = ", ".join(names[:MAX_NAMES_OF_LINE])
    n_more = len(names) - MAX_NAMES_OF_LINE
    return f"{text} and {n_more} more" if n_more > 0 else text
