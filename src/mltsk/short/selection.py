"""Which candidates a label takes, and their numbers.

Symbols: A (N, C) columns of candidates, t (N, L) what is imitated; G = AᵀA and Aᵀt
after centring and scaling every column to length 1, from which everything is chosen. A
is CSC where samples are sparse; only columns that may be chosen are ever dense.

Candidates are added one by one, each time the one that together with those before
explains most per statement. Two ramps of one feature become the ramp over both where
that costs nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.sparse import issparse as is_sparse

from ..core.arrays import Array, FloatArray, Matrix
from .candidates import Candidates, centred_columns
from .regions import Index

MAX_CANDIDATES = 2_000  # those that are most correlated with some label
MIN_RELATIVE_NORM = 1e-2  # rarer candidates would be chosen for a few rows
# Ridge of the refit, where columns have length 1; .05 to .2 do as well, .001 less (five
# data sets).
REFIT_RIDGE = 0.1
CHOICE_RIDGE = 1e-3
MIN_LEFT = 0.02  # of the squared norm of a candidate beside those that are chosen
FREE_MERGE_SHARE = 0.002  # of what is explained, that merging two ramps may cost


@dataclass(frozen=True)
class SelectionProblem:
    """Products of the candidates with each other and with what is imitated.

    Parameters
    ----------
    G : (U, U)
        AᵀA of the candidates that are used.
    c : (U, L)
        Aᵀt of these.
    used : (U,)
        Their positions among all C candidates.
    mean, norms : (C,)
        Of the columns of all candidates.
    rates : (L,)
        Means of t.
    candidates : Candidates
    """

    G: Array
    c: Array
    used: Index
    mean: Array
    norms: Array
    rates: Array
    candidates: Candidates

    @classmethod
    def of(
        cls, A: Matrix, t: Array, w: Array, candidates: Candidates
    ) -> "SelectionProblem":
        """Products of columns A (N, C) and targets t (N, L) under weights w (N,)."""
        share = w / w.sum()
        root = np.sqrt(w)[:, None]
        mean = share @ A
        rates = share @ t
        norms, products = _centred_products(A, mean, w, (t - rates) * root)
        largest = max(float(norms.max(initial=0.0)), 1e-300)
        is_alive = norms > MIN_RELATIVE_NORM * largest
        c = products / np.where(is_alive, norms, np.inf)[:, None]
        pulls = np.abs(c) / np.maximum(np.abs(c).max(axis=0, initial=0.0), 1e-300)
        strongest = np.argsort(-pulls.max(axis=1), kind="stable")[:MAX_CANDIDATES]
        used = np.sort(strongest[is_alive[strongest]])
        scaled = centred_columns(A, mean, used) * root / norms[used]
        return cls(
            G=scaled.T @ scaled,
            c=c[used],
            used=used,
            mean=mean,
            norms=norms,
            rates=rates,
            candidates=candidates,
        )

    @cached_property
    def _features(self) -> list[int]:
        """Feature of each candidate that is used, -1 for exceptions."""
        of_rules = np.full(len(self.candidates.centers), -1)
        features = np.concatenate([self.candidates.terms.feature, of_rules])
        return list(features[self.used].tolist())

    def chosen(self, max_size: int) -> list[list[Index]]:
        """Per label the candidates that are taken at sizes 0, 1, …, max_size."""
        return [self._choices(label, max_size) for label in range(self.c.shape[1])]

    def _choices(self, label: int, max_size: int) -> list[Index]:
        """Forward selection by what each candidate adds, per statement."""
        costs = self.candidates.costs[self.used]
        may_be_taken = np.ones(len(self.used), dtype=bool)
        choices = [np.zeros(0, dtype=np.intp)] * (max_size + 1)
        state = ForwardSelection(self.G, self.c[:, label], max_size)
        size = 0
        while size <= max_size:
            kept = np.array(state.kept, dtype=np.intp)
            choices[size:] = [kept] * (max_size + 1 - size)
            best = state.best(may_be_taken, costs)
            if best is None:
                break
            state.add(best)
            size += int(costs[best])
            merged = self._merged(state.kept, label)
            if merged is not None and size <= max_size + 1:
                separate = [q for q in state.kept if q not in merged]
                may_be_taken[separate] = False  # not again one by one
                state = ForwardSelection(self.G, self.c[:, label], max_size, merged)
                size -= 1
        return choices

    def _merged(self, kept: list[int], label: int) -> list[int] | None:
        """The candidates with two ramps as the one over both, if that costs nothing.

        One of the two is the last that was added.
        """
        last = kept[-1]
        for other in kept[:-1]:
            if self._features[other] != self._features[last]:
                continue
            over = self._used_ramp_over(last, other)
            if over is None or over in kept:
                continue
            merged = [q for q in kept if q not in (last, other)] + [over]
            explained = self._explained(merged, label)
            if explained >= (1 - FREE_MERGE_SHARE) * self._explained(kept, label):
                return merged
        return None

    def _used_ramp_over(self, p: int, q: int) -> int | None:
        """The ramp over two ramps, if it is among the candidates that are used."""
        over = self.candidates.ramp_over(int(self.used[p]), int(self.used[q]))
        if over is None:
            return None
        position = int(np.searchsorted(self.used, over))
        is_used = position < len(self.used) and self.used[position] == over
        return position if is_used else None

    def _explained(self, kept: list[int], label: int) -> float:
        """How much of the target some candidates explain together."""
        G = self.G[np.ix_(kept, kept)] + CHOICE_RIDGE * np.eye(len(kept))
        c = self.c[kept, label]
        return float(c @ np.linalg.solve(G, c))

    def fitted(self, choices: Sequence[Sequence[Index]], size: int) -> Array:
        """Numbers (C, L) of all candidates: those chosen, refitted and rounded."""
        coef = np.zeros((len(self.mean), self.c.shape[1]))
        for label, by_size in enumerate(choices):
            kept = by_size[min(size, len(by_size) - 1)]
            used = self.used[kept]
            G = self.G[np.ix_(kept, kept)] + REFIT_RIDGE * np.eye(len(kept))
            numbers = np.linalg.solve(G, self.c[kept, label]) / self.norms[used]
            coef[used, label] = self.candidates.rounded(used, numbers)
        return coef

    def scores(self, A: Matrix, coef: Array) -> Array:
        """Scores (N, L) of rows of columns A (N, C) by numbers (C, L)."""
        kept = np.flatnonzero(coef.any(axis=1))
        return self.rates + centred_columns(A, self.mean, kept) @ coef[kept]

    def information(self, A: Matrix, w: Array, kept: Index) -> NDArray[np.float32]:
        """Information of the kept candidates with the ridge.

        A (N, C) are columns, w (N,) weights. Single precision is enough for what is
        printed with two digits.
        """
        columns = centred_columns(A, self.mean, kept) * np.sqrt(w)[:, None]
        ridge = REFIT_RIDGE * np.maximum(self.norms[kept], 1e-12) ** 2
        return (columns.T @ columns + np.diag(ridge)).astype(np.float32)


def _centred_products(
    A: Matrix, mean: Array, w: Array, target: Array
) -> tuple[FloatArray, FloatArray]:
    """Norms (C,) of all columns, centred and times √w, and products (C, L) with these.

    A is (N, C), ``mean`` (C,), w (N,). ``target`` (N, L) is centred and times √w.
    """
    root = np.sqrt(w)[:, None]
    if is_sparse(A):
        # the target is centred, so the means of the columns add nothing
        return np.sqrt(_sparse_squares(A, mean, w)), A.T @ (target * root)
    scaled = (A - mean) * root
    norms = np.sqrt(np.einsum("nc,nc->c", scaled, scaled))
    return norms, scaled.T @ target


def _sparse_squares(A: csc_array, mean: Array, w: Array) -> FloatArray:
    """Weighted squared distances (C,) of sparse columns A (N, C) from their means.

    Cells that are not stored lie at the distance of the mean itself.
    """
    n_columns = A.shape[1]
    column = np.repeat(np.arange(n_columns), np.diff(A.indptr))
    weight = w[A.indices]
    distance = A.data - mean[column]
    stored = np.bincount(column, weight * distance**2, minlength=n_columns)
    stored_weight = np.bincount(column, weight, minlength=n_columns)
    return stored + np.maximum(w.sum() - stored_weight, 0.0) * mean**2


class ForwardSelection:
    """Candidates that are kept, and what is left beside them.

    ``left`` (U,) is what is left of the products with the target, ``norm`` (U,) of the
    squared norm of each candidate. The columns of V are an orthonormal basis of those
    kept, as products with all candidates (a Cholesky factor).
    """

    def __init__(
        self, G: Array, c: Array, max_size: int, kept: Sequence[int] = ()
    ) -> None:
        self.G = G
        self.left = c.copy()
        self.norm = np.diag(G) + CHOICE_RIDGE
        self.V = np.zeros((len(c), max_size + 1))
        self.kept: list[int] = []
        for candidate in kept:
            self.add(candidate)

    def best(
        self, may_be_taken: NDArray[np.bool_], costs: NDArray[np.int64]
    ) -> int | None:
        """The candidate that adds most per statement, or None if none adds anything."""
        if not len(self.left):
            return None
        gain = self.left**2 / np.maximum(self.norm, 1e-12) / costs
        gain[~(may_be_taken & (self.norm > MIN_LEFT))] = -1.0
        gain[self.kept] = -1.0
        best = int(gain.argmax())
        return best if gain[best] > 0 else None

    def add(self, candidate: int) -> None:
        """Keep a candidate."""
        k = len(self.kept)
        root = float(np.sqrt(self.norm[candidate]))
        v = self.G[:, candidate] - self.V[:, :k] @ self.V[candidate, :k]
        v[candidate] += CHOICE_RIDGE
        self.V[:, k] = v / root
        self.left = self.left - self.V[:, k] * (self.left[candidate] / root)
        self.norm = self.norm - self.V[:, k] ** 2
        self.kept.append(candidate)
