"""The rules that the user gave to a system, as values.

Symbols: R given rules, L labels. Each given rule has one of the last R columns of the
system, of 0 and 1, and a term on it.
"""

from functools import partial

import numpy as np

from ..core.arrays import Array
from .conditions import Given
from .effects import Effects
from .statements import rule_consequent
from .subjects import Index, largest_first
from .values import Consequent, Items, Rule


class GivenRules:
    """The R given rules of a system.

    ``shifts`` (R, L) are what each adds to each label where it holds, ``sizes`` (R, L)
    the standard deviation of that over the data, ``counts`` (R, 2) for how many samples
    it holds and how many there are.
    """

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        system = effects.system
        n_given = len(effects.subjects.given)
        D = system.shape[1]
        columns = np.arange(D - n_given, D)
        # a rule that holds for no sample, or for all, has no term
        self._has_term = columns[:, None] == system.terms.feature
        self.shifts = np.asarray(self._has_term @ np.asarray(system.term_coef))
        self.counts = np.zeros((n_given, 2), dtype=np.int64)
        if effects.member_regions is not None:
            self.counts[:] = effects.member_regions[-1, D - n_given :]
        share = self.counts[:, 0] / np.maximum(self.counts[:, 1], 1)
        deviations: Array = np.sqrt(share * (1 - share))
        self.sizes = np.asarray(np.abs(self.shifts) * deviations[:, None])

    def conditions(self, r: int) -> tuple[Given, ...]:
        """What rule r asks for."""
        conditions = []
        for f, low, high, words in self.effects.subjects.given[r]:
            subject = self.effects.subjects[f]
            names = []
            if subject.kind == "ordinal":
                ends = [end for end in (low, high) if end is not None]
                names = [subject.values[int(end)] for end in ends]
            conditions.append(
                Given(subject.name, low, high, words=words, names=tuple(names))
            )
        return tuple(conditions)

    def rule(self, r: int, labels: Index) -> Rule:
        """Rule r with what it says about some labels, the largest shift first."""
        held, total = self.counts[r].tolist()
        moved = labels[self.shifts[r, labels] != 0]
        order = largest_first(moved, self.shifts[r, moved])
        return Rule(
            index=r,
            weight=held / max(total, 1),
            conditions=self.conditions(r),
            consequents=Items(order, partial(self._consequent, r)),
            noun="Your rule",
            members=held if total else None,
            total=total or None,
            given=True,
        )

    def _consequent(self, r: int, j: int) -> Consequent:
        members = self.effects.system.members
        had = None
        if members is not None:
            positives, observed = members.given[r, :, j].tolist()
            had = positives, observed
        return rule_consequent(
            self.effects,
            j,
            shift=self.shifts[r, j],
            size=self.sizes[r, j],
            had=had,
            own=np.flatnonzero(self._has_term[r]),
        )
