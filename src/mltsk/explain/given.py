"""Rules that the user gave, as data: what each asks for, what it adds to scores, and what was observed where it holds.

Symbols: R given rules, L labels. Each has a column of 0 and 1 among the last R columns of a system, and a term on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array
from .tables import Index, Tables, largest
from .values import Consequent, Given, Items, Rule, Shape

TWO_SIDED = 1.96  # standard errors, between which a number lies in 95 of 100 cases


@dataclass(frozen=True, eq=False)
class GivenRules:
    """The rules that the user gave to a system."""

    tables: Tables

    @cached_property
    def _terms(self) -> NDArray[np.bool_]:
        """Which terms belong to each rule, (R, P): none where it holds for nobody or everybody."""
        R, (_, D, _) = len(self.tables.given), self.tables.system.shape
        return np.arange(D - R, D)[:, None] == self.tables.system.terms.feature

    @cached_property
    def shifts(self) -> Array:
        """What each rule adds to each label where it holds, (R, L)."""
        return np.asarray(self._terms @ np.asarray(self.tables.system.term_coef))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """For how many samples each rule holds, and how many there are, (R, 2)."""
        regions, R = self.tables.member_regions, len(self.tables.given)
        found = np.zeros((R, 2)) if regions is None else regions[-1, self.tables.system.shape[1] - R :]
        return np.asarray(found, dtype=np.int64)

    @cached_property
    def sizes(self) -> Array:
        """Standard deviation over the data of what each rule adds to each label, (R, L)."""
        held, of = self.counts.T
        share = held / np.maximum(of, 1)
        return np.asarray(np.abs(self.shifts) * np.sqrt(share * (1 - share))[:, None])

    def conditions(self, r: int) -> tuple[Given, ...]:
        """What a rule asks for."""
        found = []
        for f, low, high, words in self.tables.given[r]:
            subject = self.tables.subjects[f]
            ends = [int(x) for x in (low, high) if x is not None and subject.kind == "ordinal"]
            found.append(Given(subject.name, low, high, words, tuple(subject.values[x] for x in ends)))
        return tuple(found)

    def rule(self, r: int, labels: Index) -> Rule:
        """A rule with what it says about some labels, the largest first."""
        held, of = self.counts[r].tolist()
        moved = labels[self.shifts[r, labels] != 0]
        says = Items(largest(moved, self.shifts[r, moved]).tolist(), partial(self._says, r))
        counts = {"members": held, "total": of} if of else {}
        return Rule(r, held / max(of, 1), self.conditions(r), says, noun="Your rule", given=True, **counts)

    def _says(self, r: int, j: int) -> Consequent:
        members, own = self.tables.system.members, np.flatnonzero(self._terms[r])
        had = None if members is None else members.given[r, :, j]
        return consequent(self.tables, j, self.shifts[r, j], self.sizes[r, j], had, own)


def consequent(
    tables: Tables, j: int, shift: float, size: float, had: Any, own: Any, shapes: Sequence[Shape] = ()
) -> Consequent:
    """What a rule says about label j, which ``had`` (positives, observed) of its members have.

    ``own`` is where its numbers are among those of the label, None where their covariance is not known.
    """
    known: dict[str, Any] = {"exact": tables.system.is_sheet}
    if (members := tables.system.members) is not None:
        overall = int(members.positives[-1, j]), int(members.observed[-1, j])
        known |= {"positives": int(had[0]), "observed": int(had[1]), "overall": overall}
    if own is not None and (cov := tables.covariance(j)) is not None:
        known["error"] = TWO_SIDED * float(np.sqrt(max(cov[own, own].sum(), 0.0)))
    return Consequent(tables.system.label_names[j], float(shift), float(size), shapes, **known)
