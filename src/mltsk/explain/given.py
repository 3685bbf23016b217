"""Rules that the user gave, as data: what each asks for, what it adds to scores, and what was observed where it holds.

Symbols: R given rules, L labels. Each has a column of 0 and 1 among the last R columns of a system, and a term on it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array
from .items import Items
from .tables import Index, Tables, largest
from .values import Consequent, Given, Rule

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
        members, R = self.tables.system.members, len(self.tables.given)
        regions = None if members is None else members.regions
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
        return tuple(self._condition(*asked) for asked in self.tables.given[r])

    def _condition(self, f: int, low: float | None, high: float | None, words: tuple[str, ...]) -> Given:
        subject = self.tables.subjects[f]
        ends = [int(x) for x in (low, high) if x is not None and subject.kind == "ordinal"]
        return Given(subject.name, low, high, words, tuple(subject.values[x] for x in ends))

    def words(self, r: int) -> str:
        """What a rule asks for, in one line."""
        return " and ".join(map(str, self.conditions(r)))

    def rule(self, r: int, labels: Index) -> Rule:
        """A rule with what it says about some labels, the largest first."""
        held, of = self.counts[r].tolist()
        moved = labels[self.shifts[r, labels] != 0]
        order = largest(moved, self.shifts[r, moved])
        says = Items(len(order), lambda i: self._consequent(r, int(order[i])))
        counts = {"members": held, "total": of} if of else {}
        return Rule(r, held / max(of, 1), self.conditions(r), says, noun="Your rule", given=True, **counts)

    def _consequent(self, r: int, j: int) -> Consequent:
        system, counts = self.tables.system, dict[str, Any]()
        if (cov := self.tables.covariance(j)) is not None:
            own = np.flatnonzero(self._terms[r])
            counts["error"] = TWO_SIDED * float(np.sqrt(max(cov[own, own].sum(), 0.0)))
        if (members := system.members) is not None:
            had, of = members.given[r, :, j].tolist()
            overall = int(members.positives[-1, j]), int(members.observed[-1, j])
            counts |= {"positives": had, "observed": of, "overall": overall}
        sizes = float(self.shifts[r, j]), float(self.sizes[r, j])
        return Consequent(system.label_names[j], *sizes, exact=system.is_sheet, **counts)
