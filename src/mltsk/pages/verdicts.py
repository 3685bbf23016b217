"""What a model is worth for each label, as numbers of leave-one-out scores, and as sentences for everybody."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arrays import Array
from ..explain.views import left_out
from ..explain.wording import name, percent, times
from ..metrics.curves import ranking, resamples
from .baselines import FOREST, OURS, Comparison

FEW = 30  # cases, below which figures are told with care
GRADES = ((0.7, "can be found"), (0.45, "can be found in part"), (0.0, "is hard to find"))  # by F1


@dataclass(frozen=True)
class Judged:
    """One label on rows that were left out, each told what it would have been told without itself.

    ``AP`` and ``AUC`` are (value, low, high), a 95 % interval over resamples of the rows. ``found`` (cases) and
    ``alarms`` (others) are given the label at the threshold.
    """

    name: str
    observed: int
    cases: int
    AP: tuple[float, float, float]
    AUC: tuple[float, float, float]
    found: int
    alarms: int
    threshold: float
    y: Any
    chances: Array
    scores: Array

    @property
    def rate(self) -> float:
        """Share that has the label: the AP of guessing."""
        return self.cases / max(self.observed, 1)

    @property
    def is_known(self) -> bool:
        """Whether some have the label and some do not."""
        return 0 < self.cases < self.observed

    @property
    def is_guessed(self) -> bool:
        """Whether the model may be no better than guessing."""
        return self.is_known and not self.AUC[1] > 0.5


def judge(model: Any, seed: int = 0) -> list[Judged]:
    """Every label of a classifier that was fitted here."""
    Y, labels = model._left_out[0], []
    weights = resamples(len(Y), len(model.label_names_), seed)
    for j, (label, (y, chances, scores)) in enumerate(left_out(model).items()):
        given, both = scores >= model.thresholds_[j], [(np.nan, np.nan, np.nan)] * 2
        if 0 < y.sum() < len(y):
            pairs = zip(ranking(y, scores), ranking(y, scores, weights[:, ~np.isnan(Y[:, j])]), strict=True)
            both = [(float(value[0]), *np.nanpercentile(drawn, [2.5, 97.5]).tolist()) for value, drawn in pairs]
        counts = int((y & given).sum()), int((~y & given).sum()), float(model.thresholds_[j])
        labels.append(Judged(name(label), len(y), int(y.sum()), both[0], both[1], *counts, y, chances, scores))
    return labels


def sentence(label: Judged) -> str:
    """Whether a label can be found, and at what price."""
    if not label.is_known:
        return f"{label.name}: {'all rows have' if label.cases else 'no row has'} it, so there is nothing to learn."
    care = f" It is rare, {times(label.cases, 'case')}: treat this with care." if label.cases < FEW else ""
    if label.is_guessed:
        told = f"{label.name} cannot be told from these columns: the model may be no better than guessing."
        return told + (care and f" But there {'is' if label.cases == 1 else 'are'} only {times(label.cases, 'case')}.")
    if not label.found + label.alarms:
        return f"{label.name} is never given: no row reaches the threshold of {label.threshold:.2g}.{care}"
    f1 = 2 * label.found / (label.found + label.alarms + label.cases)
    grade, found = next(words for least, words in GRADES if f1 >= least), _of(label.found / label.cases, "cases")
    price = "there are no false alarms"
    if label.alarms:
        price = f"{_of(label.alarms / (label.found + label.alarms), 'alarms')} false"
    return f"{label.name} {grade}: {found} found, and {price}.{care}"


def _of(share: float, things: str) -> str:
    """A share of some things as a simple fraction, with its verb."""
    if share > 0.97:
        return f"{'all' if share == 1 else 'nearly all'} {things} are"
    if share < 0.03:
        return f"{'hardly any' if share else 'none of the'} {things} are"
    simple = [(n, d) for d in (2, 3, 4, 5, 10) for n in range(1, d)]
    n, d = min(simple, key=lambda part: abs(part[0] / part[1] - share) + 0.002 * part[1])
    return f"half of the {things} are" if d == 2 else f"{n} of {d} {things} {'is' if n == 1 else 'are'}"


def clearly_ahead(compared: Comparison, names: Sequence[str]) -> dict[str, list[str]]:
    """Methods whose AP is higher than ours, over the mean of all labels ("") or for some, beyond what chance does.

    That is where the interval of the difference, over resamples of the rows, lies above 0: the 95 % one of the mean,
    the 99 % one of a label, for there are many.
    """
    found = {}
    for method, ahead in compared.ahead.items():
        mean = np.nanpercentile(np.nanmean(ahead, axis=1), 2.5) if np.isfinite(ahead).any() else -1.0
        with np.errstate(invalid="ignore"):
            low = np.array([np.nanpercentile(a, 0.5) if np.isfinite(a).any() else -1.0 for a in ahead.T])
        told = [names[int(j)] for j, value in zip(compared.labels, low, strict=True) if value > 0]
        if mean > 0 or told:
            found[method] = ([""] if mean > 0 else []) + told
    return found


def headline(labels: Sequence[Judged], compared: Comparison | None) -> list[str]:
    """The first lines of a review: what is wrong first, then how well labels can be told."""
    guessed = [label.name for label in labels if label.is_guessed]
    better = sorted((label for label in labels if label.AUC[1] > 0.5), key=lambda label: -label.AUC[0])
    told = []
    if guessed:
        which = f"{len(guessed)} of {len(labels)} labels cannot be told better than by guessing: {listed(guessed)}."
        told.append(which if len(labels) > 1 else sentence(labels[0]))
    if compared is not None:
        ahead = clearly_ahead(compared, [label.name for label in labels])
        for method, where in ahead.items():
            theirs, ours = (float(np.nanmean(compared.AP[each])) for each in (method, OURS))
            which = "A forest" if method == FOREST else method.capitalize()
            more = f"ranks rows better than this model: mean AP {theirs:.2f} against {ours:.2f}."
            told.append(f"{which} {more if where[0] == '' else f'is clearly better for {listed(where)}.'}")
    if better and len(labels) > 1:
        ends = f"best {better[0].name}" + (f", least well {better[-1].name}" if len(better) > 1 else "")
        count = f"All {len(labels)}" if len(better) == len(labels) else f"{len(better)} of {len(labels)}"
        told.append(f"{count} labels can be told better than by guessing, {ends}.")
    elif better:
        told.append(sentence(better[0]))
    return told or ["No label has both rows with it and rows without it: there is nothing to learn."]


def listed(names: Sequence[str]) -> str:
    """Names with commas between, the first few."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def chances_told(groups: Any) -> str:
    """Whether probabilities can be taken at their word."""
    off = [(g, o) for g, o, low, high in zip(*groups[:4], strict=True) if not low <= g <= high]
    if len(off) < 2:  # of ten intervals of 95 %, one may be off
        return "Probabilities can be taken at their word: where 30 % were told, about 30 % have it."
    forecast, observed = max(off, key=lambda pair: abs(pair[0] - pair[1]))
    return f"Of rows told {percent(forecast)}, {percent(observed)} have it: take such probabilities with care."
