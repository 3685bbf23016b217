"""Which candidates a label takes, and their numbers.

Symbols: A (N, C) columns of candidates, t (N, L) what is imitated; S (N, U) the columns
that may be chosen, centred and scaled to length 1; SᵀS and Sᵀt, from which everything
is chosen. A is CSC where samples are sparse; only columns that may be chosen are ever
dense.

Candidates are added one by one, each time the one that together with those before
explains most per statement. Two ramps of one feature become the ramp over both where
that costs nothing. Many labels take a candidate at the same time, so that products are
worked out for many candidates at once, and only for those that some label takes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import nnls
from scipy.sparse import csc_array
from scipy.sparse import issparse as is_sparse

from ..core.arrays import Array, FloatArray, Matrix
from .candidates import Candidates, centred_columns
from .regions import Index

# Those that are most correlated with some label. Where only 2,000 of 4,700 took part,
# ramps of the best features left no room for others: scene lost .010 to .015 of AP at
# 30 statements (two seeds, two folds each), and .000 to .006 at 12. Many labels take
# many candidates, whose products all have to be there.
MAX_CANDIDATES = 8_000
MAX_CANDIDATES_OF_MANY_LABELS = 2_000
MAX_CANDIDATES_TIMES_LABELS = 100_000
# Rarer candidates would be chosen for a few rows, such as lines of features with a long
# tail: birds lost .003 to .005 of AP at 12 statements where this was .01.
MIN_RELATIVE_NORM = 0.1
MIN_RELATIVE_NORM_OF_WORDS = 0.01  # few rows have them, and labels are about them
# Ridge of the refit, where columns have length 1; .05 to .2 do as well, .001 less (five
# data sets).
REFIT_RIDGE = 0.1
CHOICE_RIDGE = 1e-3
MIN_LEFT = 0.02  # of the squared norm of a candidate beside those that are chosen
# Candidates whose gains differ by less than this share are tied, and the first is
# taken: by rounding, weighted rows of pbc chose another ramp than their copies did, and
# honest log-odds then differed by .4.
TIED_GAIN = 1e-6
# Numbers of the bases of labels that are selected together: they stay in the cache of
# a core, and a thousand labels take an eighth of the time that they take one by one.
MAX_SELECTED_NUMBERS = 250_000
FORBIDDEN = 2  # sign of a number that wishes of the user forbid
FREE_MERGE_SHARE = 0.002  # of what is explained, that merging two ramps may cost


def max_candidates(n_labels: int) -> int:
    """How many candidates take part, for a number of labels."""
    at_most = MAX_CANDIDATES_TIMES_LABELS // max(n_labels, 1)
    return max(MAX_CANDIDATES_OF_MANY_LABELS, min(MAX_CANDIDATES, at_most))


class Products:
    """SᵀS of columns S (N, U), of which parts are worked out when they are needed."""

    def __init__(self, S: Array) -> None:
        self.S = S
        self._columns: dict[int, Array] = {}

    def prepare(self, wanted: Iterable[int]) -> None:
        """Work out the products of some columns with all others."""
        new = sorted(set(wanted) - self._columns.keys())
        if new:
            products = self.S[:, new].T @ self.S
            self._columns.update(zip(new, products, strict=True))

    def columns(self, wanted: Index) -> Array:
        """Products (K, U) of K columns with all columns."""
        self.prepare(wanted.tolist())
        return np.array([self._columns[q] for q in wanted.tolist()])

    def among(self, kept: Sequence[int] | Index) -> Array:
        """Products of some columns with each other."""
        columns = self.S[:, kept]
        return columns.T @ columns


@dataclass(frozen=True)
class SelectionProblem:
    """Products of the candidates with each other and with what is imitated.

    Parameters
    ----------
    products : Products
        SᵀS of the candidates that are used.
    c : (U, L)
        Sᵀt of these.
    used : (U,)
        Their positions among all C candidates.
    mean, norms : (C,)
        Of the columns of all candidates.
    rates : (L,)
        Means of t.
    candidates : Candidates
    signs : (C, L) or None
        What wishes of the user leave to the number of each candidate: 0 anything, 1
        and -1 a number of this sign, FORBIDDEN none. None where there are no wishes.
    """

    products: Products
    c: Array
    used: Index
    mean: Array
    norms: Array
    rates: Array
    candidates: Candidates
    signs: NDArray[np.int8] | None = None

    @classmethod
    def of(
        cls,
        A: Matrix,
        t: Array,
        w: Array,
        candidates: Candidates,
        signs: NDArray[np.int8] | None = None,
    ) -> "SelectionProblem":
        """Products of columns A (N, C) and targets t (N, L) under weights w (N,)."""
        share = w / w.sum()
        root = np.sqrt(w)[:, None]
        mean = share @ A
        rates = share @ t
        norms, products = _centred_products(A, mean, w, (t - rates) * root)
        largest = max(float(norms.max(initial=0.0)), 1e-300)
        least = MIN_RELATIVE_NORM
        if candidates.base.is_linear:
            least = MIN_RELATIVE_NORM_OF_WORDS
        is_alive = norms > least * largest
        c = products / np.where(is_alive, norms, np.inf)[:, None]
        pulls = np.abs(c) / np.maximum(np.abs(c).max(axis=0, initial=0.0), 1e-300)
        strongest = np.argsort(-pulls.max(axis=1), kind="stable")
        strongest = strongest[: max_candidates(t.shape[1])]
        used = np.sort(strongest[is_alive[strongest]])
        S = centred_columns(A, mean, used)
        S *= root
        S /= norms[used]
        return cls(
            products=Products(S),
            c=c[used],
            used=used,
            mean=mean,
            norms=norms,
            rates=rates,
            candidates=candidates,
            signs=signs,
        )

    def signs_of(self, label: int) -> NDArray[np.int8]:
        """What wishes leave to the candidates that are used, (U,), for a label."""
        if self.signs is None:
            return np.zeros(len(self.used), dtype=np.int8)
        return self.signs[self.used, label]

    def restricted(
        self, choices: Sequence[Sequence[Index]]
    ) -> "tuple[SelectionProblem, list[list[Index]]]":
        """The problem of the chosen candidates alone, and the choices among these.

        It takes little memory, and has the same fitted numbers.
        """
        every = [kept for by_size in choices for kept in by_size]
        chosen = np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *every]))
        problem = replace(
            self,
            products=Products(self.products.S[:, chosen]),
            c=self.c[chosen],
            used=self.used[chosen],
        )
        among_chosen = []
        for by_size in choices:
            among_chosen.append([np.searchsorted(chosen, kept) for kept in by_size])
        return problem, among_chosen

    @cached_property
    def _features(self) -> list[int]:
        """Feature of each candidate that is used, -1 for exceptions."""
        of_rules = np.full(len(self.candidates.centers), -1)
        features = np.concatenate([self.candidates.terms.feature, of_rules])
        return list(features[self.used].tolist())

    def chosen(self, max_size: int) -> list[list[Index]]:
        """Per label the candidates that are taken at sizes 0, 1, …, max_size."""
        n_labels = self.c.shape[1]
        n_numbers = max(len(self.used) * (max_size + 1), 1)
        n_at_once = max(MAX_SELECTED_NUMBERS // n_numbers, 1)
        selections = []
        for start in range(0, n_labels, n_at_once):
            labels = np.arange(start, min(start + n_at_once, n_labels))
            selections.append(LabelSelections(self, labels, max_size))
        active = selections
        while active:
            wanted = [selection.best() for selection in active]
            # of all labels at once: S is large
            self.products.prepare(np.concatenate(wanted).tolist())
            for selection, candidates in zip(active, wanted, strict=True):
                selection.take(candidates)
            active = [selection for selection in active if len(selection.active)]
        return [choices for each in selections for choices in each.choices]

    def merged(self, kept: list[int], label: int) -> list[int] | None:
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
        G = self.products.among(kept) + CHOICE_RIDGE * np.eye(len(kept))
        c = self.c[kept, label]
        return float(c @ signed_solution(G, c, self.signs_of(label)[kept]))

    def fitted(self, choices: Sequence[Sequence[Index]], size: int) -> Array:
        """Numbers (C, L) of all candidates: those chosen, refitted."""
        coef = np.zeros((len(self.mean), self.c.shape[1]))
        for label, by_size in enumerate(choices):
            kept = by_size[min(size, len(by_size) - 1)]
            used = self.used[kept]
            G = self.products.among(kept) + REFIT_RIDGE * np.eye(len(kept))
            signs = self.signs_of(label)[kept]
            numbers = signed_solution(G, self.c[kept, label], signs)
            coef[used, label] = numbers / self.norms[used]
        return coef

    def scores(self, A: Matrix, coef: Array) -> Array:
        """Scores (N, L) of rows of columns A (N, C) by numbers (C, L)."""
        kept = np.flatnonzero(coef.any(axis=1))
        return self.rates + centred_columns(A, self.mean, kept) @ coef[kept]


def signed_solution(
    G: FloatArray, c: FloatArray, signs: NDArray[np.int8]
) -> FloatArray:
    """The least of xᵀGx / 2 - cᵀx over numbers x (n,) of given signs, 0 for any.

    >>> signed_solution(np.eye(2), np.array([1.0, -1.0]), np.array([0, 1])).tolist()
    [1.0, 0.0]
    """
    if not signs.any():
        return np.asarray(np.linalg.solve(G, c))
    lower = np.linalg.cholesky(G)
    target = np.linalg.solve(lower, c)
    free = np.flatnonzero(signs == 0)
    # a free number is the difference of two that are not below 0
    columns = lower.T * np.where(signs == 0, 1, signs)
    x, _ = nnls(np.hstack([columns, -columns[:, free]]), target)
    numbers = x[: len(c)]
    numbers[free] -= x[len(c) :]
    return numbers * np.where(signs == 0, 1, signs)


def information_of(columns: FloatArray, w: Array) -> NDArray[np.float32]:
    """Information (V, V) about the numbers of columns (N, V), with the ridge.

    w (N,) are weights. Single precision is enough for what is printed with two digits.
    """
    centred = (columns - w @ columns / w.sum()) * np.sqrt(w)[:, None]
    information = centred.T @ centred
    squares = np.maximum(np.diag(information), 1e-24)
    return (information + np.diag(REFIT_RIDGE * squares)).astype(np.float32)


def _centred_products(
    A: Matrix, mean: Array, w: Array, target: Array
) -> tuple[FloatArray, FloatArray]:
    """Norms (C,) of all columns, centred and times √w, and products (C, L) with these.

    A is (N, C), ``mean`` (C,), w (N,). ``target`` (N, L) is centred and times √w.
    """
    # the target is centred, so the means of the columns add nothing
    products = A.T @ (target * np.sqrt(w)[:, None])
    if is_sparse(A):
        squares = _sparse_squares(A, mean, w)
    else:
        squares = np.einsum("n,nc,nc->c", w, A, A) - w.sum() * mean**2
    return np.sqrt(np.maximum(squares, 0.0)), products


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


class LabelSelections:
    """The forward selection of B labels, by what each candidate adds per statement.

    ``choices`` are, per label, the candidates that are taken at sizes 0, 1, …,
    max_size.
    """

    def __init__(self, problem: SelectionProblem, labels: Index, max_size: int) -> None:
        self.problem = problem
        self.labels = labels
        self.max_size = max_size
        self.costs = problem.candidates.costs[problem.used]
        self.signs = np.array([problem.signs_of(label) for label in labels.tolist()])
        self.may_be_taken = self.signs != FORBIDDEN
        self.sizes = np.zeros(len(labels), dtype=np.int64)
        self.state = ForwardSelection(
            problem.products, problem.c[:, labels].T, max_size
        )
        self.active = np.arange(len(labels))
        nothing = np.zeros(0, dtype=np.intp)
        self.choices = [[nothing] * (max_size + 1) for _ in labels]

    def best(self) -> Index:
        """The candidate to take next per active label.

        Labels are no longer active that have none, or have reached the size.
        """
        self.active = self.active[self.sizes[self.active] <= self.max_size]
        for b in self.active.tolist():
            size = int(self.sizes[b])
            kept = np.array(self.state.kept[b], dtype=np.intp)
            self.choices[b][size:] = [kept] * (self.max_size + 1 - size)
        has_sign = self.signs[self.active] * self.state.left[self.active] >= 0
        may_be_taken = self.may_be_taken[self.active] & has_sign
        best = self.state.best(self.active, may_be_taken, self.costs)
        self.active = self.active[best >= 0]
        return best[best >= 0]

    def take(self, candidates: Index) -> None:
        """Keep a candidate per active label, perhaps as one ramp with another."""
        self.state.add(self.active, candidates)
        self.sizes[self.active] += self.costs[candidates]
        is_near = self.sizes[self.active] <= self.max_size + 1
        for b in self.active[is_near].tolist():
            self._merge(b)

    def _merge(self, b: int) -> None:
        """Make one ramp of two of label b, if that costs nothing."""
        kept = self.state.kept[b]
        merged = self.problem.merged(kept, int(self.labels[b]))
        if merged is None:
            return
        separate = [q for q in kept if q not in merged]
        self.may_be_taken[b, separate] = False  # not again one by one
        self.state.begin_again(b, self.problem.c[:, self.labels[b]], merged)
        self.sizes[b] -= 1


class ForwardSelection:
    """Candidates that B labels keep, and what is left beside them.

    ``left`` (B, U) is what is left of the products c (B, U) with the targets, ``norm``
    (B, U) of the squared norm of each candidate. The rows of V (B, max_size + 1, U) are
    an orthonormal basis of those kept, as products with all candidates (a Cholesky
    factor).
    """

    def __init__(self, products: Products, c: Array, max_size: int) -> None:
        n_labels, n_candidates = c.shape
        self.products = products
        self.left = np.array(c)
        self.norm = np.full(c.shape, 1 + CHOICE_RIDGE)
        self.V = np.zeros((n_labels, max_size + 1, n_candidates))
        self.kept: list[list[int]] = [[] for _ in range(n_labels)]

    def best(
        self, labels: Index, may_be_taken: NDArray[np.bool_], costs: NDArray[np.int64]
    ) -> Index:
        """The candidate per label that adds most per statement, -1 if none adds."""
        if not len(labels) or not self.left.shape[1]:
            return np.full(len(labels), -1)
        norm = self.norm[labels]
        gain = self.left[labels] ** 2 / np.maximum(norm, 1e-12) / costs
        gain[~(may_be_taken & (norm > MIN_LEFT))] = -1.0
        for b, label in enumerate(labels.tolist()):
            gain[b, self.kept[label]] = -1.0
        least = (1 - TIED_GAIN) * gain.max(axis=1, keepdims=True)
        best = (gain >= least).argmax(axis=1)
        adds = gain[np.arange(len(labels)), best] > 0
        return np.where(adds, best, -1)

    def add(self, labels: Index, candidates: Index) -> None:
        """Keep a candidate per label."""
        if not len(labels):
            return
        n_kept = np.array([len(self.kept[label]) for label in labels.tolist()])
        largest = int(n_kept.max())
        rows = np.arange(len(labels))
        of_labels = slice(None) if len(labels) == len(self.kept) else labels
        root = np.sqrt(self.norm[labels, candidates])
        # rows of V that a label has not filled yet are 0
        own = self.V[labels, :largest, candidates]
        explained = np.matmul(own[:, None, :], self.V[of_labels, :largest])[:, 0]
        v = self.products.columns(candidates) - explained
        v[rows, candidates] += CHOICE_RIDGE
        v /= root[:, None]
        self.V[labels, n_kept] = v
        share = self.left[labels, candidates] / root
        self.left[labels] -= v * share[:, None]
        self.norm[labels] -= v**2
        for label, candidate in zip(labels.tolist(), candidates.tolist(), strict=True):
            self.kept[label].append(candidate)

    def begin_again(self, label: int, c: Array, kept: Sequence[int]) -> None:
        """Keep these candidates of a label and no others; c (U,) are its products.

        It is what `add` makes of one after the other, in one solution.
        """
        products = self.products.columns(np.array(kept, dtype=np.intp))
        products[np.arange(len(kept)), kept] += CHOICE_RIDGE
        lower = np.linalg.cholesky(products[:, kept])
        basis = solve_triangular(lower, products, lower=True, check_finite=False)
        explained = solve_triangular(lower, c[kept], lower=True, check_finite=False)
        self.V[label] = 0.0
        self.V[label, : len(kept)] = basis
        self.left[label] = c - explained @ basis
        self.norm[label] = 1 + CHOICE_RIDGE - np.einsum("ku,ku->u", basis, basis)
        self.kept[label] = list(kept)
