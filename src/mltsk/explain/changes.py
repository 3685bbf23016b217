"""What is different between a model and the one that it was adapted from, in words.

An effect has *moved* where what was added to it lies outside of its interval, as far as
the new rows tell: ± 2.35 standard errors, which held the truth in .95 of simulated
cases.
"""

from dataclasses import dataclass
from math import isinf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, FloatArray
from ..frames import MISSING
from ..system import FuzzySystem
from ..text import listing, plural
from .effects import Effects
from .statements import ERRORS_OF_95_CHOSEN
from .wording import margin, name, number, percent, signed

MAX_TOLD_EFFECTS = 30
# A mean probability and a rate are told apart from here on, in shares and in ratios.
MIN_RATE_GAP = 0.02
MIN_RATE_RATIO = 1.25
# Standard errors beyond which a rate is not the expected one by chance.
ERRORS_OF_RATES = 2.0


class ChangedRate(NamedTuple):
    """How frequent a label is in the new rows.

    ``expected`` is the mean probability by the old model, ``error`` the standard error
    of the difference between both.
    """

    label: str
    expected: float
    rate: float
    error: float

    @classmethod
    def of(
        cls,
        label: str,
        y: FloatArray,
        p: FloatArray,
        *,
        w: FloatArray,
        groups: NDArray[np.intp] | None,
    ) -> "ChangedRate":
        """The rate among rows (n,) with weights w and probabilities p.

        The error is that of groups where there are any, and at least that of rows whose
        label is by chance as the old model says.
        """
        share = w / w.sum()
        missed = share * (y - p)
        if groups is not None:
            missed = np.bincount(groups, weights=missed)
        by_chance = (share**2 * p * (1 - p)).sum()
        return cls(
            label=label,
            expected=float(share @ p),
            rate=float(share @ y),
            error=float(max((missed**2).sum(), by_chance) ** 0.5),
        )

    @property
    def is_clear(self) -> bool:
        """Whether both are far from each other, and not by chance."""
        ratio = max(self.rate, 1e-9) / max(self.expected, 1e-9)
        gap = abs(self.rate - self.expected)
        is_far = max(ratio, 1 / ratio) >= MIN_RATE_RATIO and gap >= MIN_RATE_GAP
        return is_far and gap > ERRORS_OF_RATES * self.error

    def __str__(self) -> str:
        more = "more" if self.rate > self.expected else "less"
        return (
            f"{name(self.label)} is {more} frequent here: {percent(self.rate)}, where "
            f"the old model expects {percent(self.expected)}."
        )


class ChangedEffect(NamedTuple):
    """What a value of a feature adds to the log-odds of a label, before and after.

    ``error`` is the half width of the interval of the change.
    """

    label: str
    feature: str
    value: str
    before: float
    after: float
    error: float

    def __str__(self) -> str:
        return (
            f"{name(self.label)}: {name(self.feature)} {self.value} adds "
            f"{signed(self.after)}, where it added {signed(self.before)} (a change of "
            f"{signed(self.after - self.before)}{margin(self.error)})."
        )


def changed_effects(before: FuzzySystem, change: FuzzySystem) -> list[ChangedEffect]:
    """Effects that moved beyond their interval, the largest change first.

    ``change`` has the numbers that are added to those of ``before``, and how sure
    these are; of a change without that nothing is said. An effect is told by the value
    at which it moved most clearly.
    """
    old = Effects(before)
    new = Effects(change)
    changed = []
    for t, subject in enumerate(old.subjects):
        if not len(old.terms_of(t)):
            continue
        x = _values(old, t)
        for j, label in enumerate(before.label_names):
            errors = new.deviation(t, j, x)
            if errors is None:
                return []
            moved = new.effect(t, x, j)
            ratio = np.abs(moved) / np.maximum(ERRORS_OF_95_CHOSEN * errors, 1e-300)
            place = int(ratio.argmax())
            if ratio[place] <= 1:
                continue
            was = float(old.effect(t, x[place : place + 1], j)[0])
            effect = ChangedEffect(
                label=label,
                feature=subject.name,
                value=_value_words(old, t, float(x[place])),
                before=was,
                after=was + float(moved[place]),
                error=ERRORS_OF_95_CHOSEN * float(errors[place]),
            )
            changed.append(effect)
    changed.sort(key=lambda effect: -abs(effect.after - effect.before))
    return changed


def _values(effects: Effects, t: int) -> Array:
    """Values of subject t at which its effect is looked at, (N,)."""
    subject = effects.subjects[t]
    if subject.values:
        return np.arange(float(len(subject.values)))
    if effects.system.quantiles is None:
        return np.ones(1)
    return effects.fine_values(t)


def _value_words(effects: Effects, t: int, x: float) -> str:
    """A value of subject t as it stands after the name of its feature."""
    subject = effects.subjects[t]
    if subject.kind == MISSING:
        return subject.values[int(x)]
    if subject.values:
        return f"= {name(subject.values[int(x)])}"
    return f"= {number(x, size=0)}"


@dataclass(frozen=True)
class SiteChanges:
    """All that is different at another site."""

    strength: float
    effects: list[ChangedEffect]
    rates: list[ChangedRate]
    new_labels: list[str]
    silent_labels: list[str]
    gone_labels: list[str]
    gone_features: list[str]
    unused_features: list[str]
    lost_wishes: list[str]

    def sentences(self) -> list[str]:
        """The changes in words, a sentence each."""
        texts = [self._of_strength()]
        texts += [str(effect) for effect in self.effects[:MAX_TOLD_EFFECTS]]
        n_more = len(self.effects) - MAX_TOLD_EFFECTS
        if n_more > 0:
            texts.append(f"{plural(n_more, 'more effect')} moved beyond the interval.")
        texts += [str(rate) for rate in self.rates if rate.is_clear]
        texts += self._of_names()
        if self.lost_wishes:
            texts.append(
                "Wishes about log-odds of the old model, which are not met here: "
                f"{listing(self.lost_wishes)}."
            )
        return texts

    def _of_strength(self) -> str:
        """What became of the numbers."""
        if self.strength == 0:
            return (
                "A model of their own predicts the new rows clearly better: it was "
                "fitted from nothing, with terms of its own."
            )
        if isinf(self.strength):
            return "The new rows give no reason to move any effect: all stay."
        moved = plural(len(self.effects), "effect")
        return (
            f"Numbers were drawn towards the old ones with the strength "
            f"{self.strength:g}; {moved} moved beyond the interval."
        )

    def _of_names(self) -> list[str]:
        """Labels and features that are new, silent or gone."""
        forms = (
            (self.new_labels, "New, fitted from nothing by the same terms: {}."),
            (
                self.silent_labels,
                "Observed in fewer than 2 rows, so as in the old model: {}.",
            ),
            (self.gone_labels, "Gone, because the new rows do not have it: {}."),
            (
                self.gone_features,
                "Not in the new rows, so not measured (an empty column will do): {}.",
            ),
            (
                self.unused_features,
                "Not in the old model, so not used (a new fit could): {}.",
            ),
        )
        sentences = []
        for names, form in forms:
            if names:
                sentences.append(form.format(listing([name(text) for text in names])))
        return sentences
