"""Which candidates a label takes, and their numbers.

Symbols: A (N, C) columns of candidates, t (N, L) what is imitated; G = AᵀA and Aᵀt after centring and scaling every
column to length 1, from which everything is chosen.

Candidates are added one by one, each time the one that together with those before explains most per statement. Two
ramps of one feature become the ramp over both where that costs nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array
from .candidates import Candidates, Index, digits_of, rounded

MOST = 2_000  # candidates: those that are most correlated with some label
RIDGE = 0.1  # of the refit, where columns have length 1; .05 to .2 do as well, .001 less (five data sets)
SMALL, LEFT = (
    1e-3,
    0.02,
)  # ridge of the choice, and what must be left of a candidate beside those that are chosen
FREE = 0.002  # share of what is explained that two ramps may cost when they become one


@dataclass(frozen=True)
class Problem:
    """G (C, C) and Aᵀt (C, L) of the candidates ``used``, with the ``mean`` and ``norms`` (all C,) of all columns."""

    G: Array
    c: Array
    used: Index
    mean: Array
    norms: Array
    rates: Array
    candidates: Candidates

    @classmethod
    def of(cls, A: Array, t: Array, w: Array, candidates: Candidates) -> "Problem":
        """Of columns A (N, C) and targets t (N, L) under the weights w (N,)."""
        share, root = w / w.sum(), np.sqrt(w)[:, None]
        mean, rates = share @ A, share @ t
        scaled, pull = (A - mean) * root, (t - rates) * root
        norms = np.sqrt(np.einsum("nc,nc->c", scaled, scaled))
        alive = norms > 1e-2 * max(
            float(norms.max(initial=0.0)), 1e-300
        )  # rarer terms would be chosen for a few rows
        c = (scaled.T @ pull) / np.where(alive, norms, np.inf)[:, None]
        pulls = np.abs(c) / np.maximum(np.abs(c).max(axis=0, initial=0.0), 1e-300)
        best = np.argsort(-pulls.max(axis=1), kind="stable")[:MOST]
        used = np.sort(best[alive[best]])
        scaled = scaled[:, used] / norms[used]
        return cls(scaled.T @ scaled, c[used], used, mean, norms, rates, candidates)

    @cached_property
    def features(self) -> list[int]:
        """Of the candidates that are used, -1 for exceptions."""
        every = np.concatenate(
            [self.candidates.terms.feature, np.full(len(self.candidates.centers), -1)]
        )
        return list(every[self.used].tolist())

    def chosen(self, most: int) -> list[list[Index]]:
        """Per label the candidates that are taken at sizes 0, 1, …, most."""
        return [self._sets(label, most) for label in range(self.c.shape[1])]

    def _sets(self, label: int, most: int) -> list[Index]:
        """Forward selection by what each candidate adds to those before, per statement."""
        costs, alive = (
            self.candidates.costs[self.used],
            np.ones(len(self.used), dtype=bool),
        )
        sets, state, size = (
            [np.zeros(0, dtype=np.intp)] * (most + 1),
            Selection(self.G, self.c[:, label], most),
            0,
        )
        while size <= most:
            sets[size:] = [np.array(state.kept, dtype=np.intp)] * (most + 1 - size)
            best = state.best(alive, costs)
            if best is None:
                break
            state.add(best)
            size += int(costs[best])
            if (
                merged := self._merged(state.kept, label)
            ) is not None and size <= most + 1:
                alive[[q for q in state.kept if q not in merged]] = (
                    False  # not again one by one
                )
                state, size = (
                    Selection(self.G, self.c[:, label], most, merged),
                    size - 1,
                )
        return sets

    def _merged(self, kept: list[int], label: int) -> list[int] | None:
        """These with the last and another ramp of its feature as the one over both, if that costs nothing."""
        last, where = kept[-1], self.used
        for other in [q for q in kept[:-1] if self.features[q] == self.features[last]]:
            over = self.candidates.over(int(where[last]), int(where[other]))
            at = len(where) if over is None else int(np.searchsorted(where, over))
            if at < len(where) and where[at] == over and at not in kept:
                merged = [q for q in kept if q not in (last, other)] + [at]
                explained = []
                for these in (kept, merged):
                    part, c = (
                        self.G[np.ix_(these, these)] + SMALL * np.eye(len(these)),
                        self.c[these, label],
                    )
                    explained.append(float(c @ np.linalg.solve(part, c)))
                if explained[1] >= (1 - FREE) * explained[0]:
                    return merged
        return None

    def fitted(self, sets: Sequence[Sequence[Index]], size: int) -> Array:
        """Numbers (C, L) of all columns: those of the sets of a size, refitted together and rounded."""
        coef = np.zeros((len(self.mean), self.c.shape[1]))
        for label, these in enumerate(sets):
            kept = these[min(size, len(these) - 1)]
            part = self.G[np.ix_(kept, kept)] + RIDGE * np.eye(len(kept))
            numbers = (
                np.linalg.solve(part, self.c[kept, label]) / self.norms[self.used[kept]]
            )
            coef[self.used[kept], label] = rounded(numbers, digits_of(numbers))
        return coef

    def scores(self, A: Array, coef: Array) -> Array:
        """Of rows of columns A."""
        kept = np.flatnonzero(coef.any(axis=1))
        return self.rates + (A[:, kept] - self.mean[kept]) @ coef[kept]

    def information(self, A: Array, w: Array, kept: Index) -> Array:
        """Of centred columns A that are kept, with the ridge: in single precision, for it is told to two digits."""
        part = A[:, kept] * np.sqrt(w)[:, None]
        return (
            part.T @ part + np.diag(RIDGE * np.maximum(self.norms[kept], 1e-12) ** 2)
        ).astype(np.float32)


class Selection:
    """Candidates that are ``kept``, and what is ``left`` of the target and of the squared ``norm`` of each beside them.

    The columns of V are an orthonormal basis of those kept, as products with all candidates (a Cholesky factor).
    """

    def __init__(self, G: Array, c: Array, most: int, kept: Sequence[int] = ()) -> None:
        self.G, self.left, self.norm = G, c.copy(), np.diag(G) + SMALL
        self.V, self.kept = np.zeros((len(c), most + 1)), list[int]()
        for candidate in kept:
            self.add(candidate)

    def best(self, alive: NDArray[np.bool_], costs: NDArray[np.int64]) -> int | None:
        """The candidate that adds most per statement."""
        gain = np.where(
            alive & (self.norm > LEFT),
            self.left**2 / np.maximum(self.norm, 1e-12) / costs,
            -1.0,
        )
        gain[self.kept] = -1.0
        found = int(gain.argmax()) if len(gain) else 0
        return found if len(gain) and gain[found] > 0 else None

    def add(self, candidate: int) -> None:
        """Keep a candidate."""
        k, root = len(self.kept), float(np.sqrt(self.norm[candidate]))
        v = self.G[:, candidate] - self.V[:, :k] @ self.V[candidate, :k]
        v[candidate] += SMALL
        self.V[:, k] = v / root
        self.left = self.left - self.V[:, k] * (self.left[candidate] / root)
        self.norm = self.norm - self.V[:, k] ** 2
        self.kept.append(candidate)
