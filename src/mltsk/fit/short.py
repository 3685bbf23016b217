"""Short models: a few terms per label, chosen and refitted to say what the long model says.

Symbols: A (N, C) candidate terms: ramps, values of nominal features, "not measured", and exceptions of few conditions;
t (N, L) the leave-one-out scores of the long model, which are smoother than labels; G = AᵀA and Aᵀt after centring and
scaling every column to length 1, from which everything is chosen.

Terms of a label are added one by one, each time the one that together with those before leaves least unexplained, and
all are refitted with a ridge. What rows score without themselves is found in folds: terms are chosen and numbers fitted
without the rows of a fold, to scores of the long model that was fitted without them, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, dense, spread_rows
from ..core.backend import asnumpy, is_tensor
from ..core.members import Members
from ..core.membership import firing_strengths
from ..core.terms import RAMPS, Terms
from ..system import FuzzySystem
from .design import Design
from .fit import left_out_scores
from .ridge import Penalty

ROWS = 2_000  # terms are chosen on at most this many rows, evenly spread
MOST = 3_000  # candidates: those that are most correlated with some label
RIDGE = 0.1  # of the refit, where columns have length 1; .05 to .2 do as well, .001 less (five data sets)
FOLDS = 5
LARGEST = 50  # terms per label up to which `size_path` goes
# Ramps to choose from, next to those of the long model: ends, halves, and nearly the whole.
MORE_RAMPS = ((0.0, 0.12), (0.88, 1.0), (0.0, 0.5), (0.5, 1.0), (0.15, 0.85), (0.9, 0.99), (0.01, 0.1))


@dataclass(frozen=True)
class Sample:
    """Training rows as the long model was fitted on them, its leave-one-out scores ``loo``, design and penalty."""

    X: Any
    Y: Array
    w: Array
    copies: Array
    loo: Array
    design: Design
    penalty: Penalty

    def rows(self, rows: Any) -> "Sample":
        """Some of the rows."""
        X = asnumpy(self.X[rows]) if is_tensor(self.X) else self.X[rows]
        return replace(self, X=X, Y=self.Y[rows], w=self.w[rows], copies=self.copies[rows], loo=self.loo[rows])

    @property
    def row_weights(self) -> Array:
        """(N,): the mean over labels."""
        return np.asarray(self.w if self.w.ndim == 1 else self.w.mean(axis=1), dtype=np.float64)


def shorten(
    system: FuzzySystem, sample: Sample, max_terms: int, max_conditions: int | None
) -> tuple[FuzzySystem, Array, Any]:
    """(short system, scores of some rows by terms chosen without them, which rows these are)."""
    some = spread_rows(len(sample.loo), ROWS)
    part = sample.rows(some)
    candidates = _Candidates.of(system, max_conditions)
    A = candidates.columns(part.X)
    problem = _Problem.of(A, part.loo, part.row_weights)
    coef = problem.fitted(problem.chosen(max_terms), max_terms)
    held_out = _held_out(part, A, [max_terms])[0]
    short, every = candidates.system(problem, coef), sample.rows(slice(None))
    words = None if system.columns is None else system.columns.indicators
    members = Members.of(every.X, short.firing(every.X), every.Y, every.w, shared=False, indicators=words)
    return replace(short, members=members), held_out, some


def size_path(system: FuzzySystem, sample: Sample, max_conditions: int | None) -> tuple[list[int], list[Array], Any]:
    """(sizes 1, 2, …, scores of some rows by models of each size, which rows these are), from one run of the choice."""
    some = spread_rows(len(sample.loo), ROWS)
    part = sample.rows(some)
    A = _Candidates.of(system, max_conditions).columns(part.X)
    sizes = list(range(1, min(LARGEST, A.shape[1]) + 1))
    return sizes, _held_out(part, A, sizes), some


def _held_out(part: Sample, A: Array, sizes: Sequence[int]) -> list[Array]:
    """Scores of rows by models of some sizes, chosen and fitted without the rows of their fold."""
    out, n = [np.empty_like(part.loo) for _ in sizes], len(part.loo)
    Z = part.design.scale.apply(part.X)
    K = part.design.kernel(Z)
    for k in range(min(FOLDS, n)):
        rest = np.flatnonzero(np.arange(n) % FOLDS != k)
        without = part.rows(rest)
        if not without.w.any(axis=0).all():  # a label that was observed in this fold alone
            for found in out:
                found[k::FOLDS] = part.loo[k::FOLDS]
            continue
        scores = left_out_scores(without.design, without.penalty, without, Z[rest], K[np.ix_(rest, rest)])
        problem = _Problem.of(A[rest], scores, without.row_weights)
        chosen = problem.chosen(max(sizes))
        for found, size in zip(out, sizes, strict=True):
            found[k::FOLDS] = problem.scores(A[k::FOLDS], problem.fitted(chosen, size))
    return out


@dataclass(frozen=True)
class _Candidates:
    """Terms and exceptions to choose from."""

    long: FuzzySystem
    terms: Terms
    widths: Array

    @classmethod
    def of(cls, system: FuzzySystem, max_conditions: int | None) -> "_Candidates":
        return cls(system, _more_ramps(system), _short_widths(system, max_conditions))

    def columns(self, X: Any) -> Array:
        """A (N, C), dense."""
        system = self.long
        Z = system.scale(X)
        share = None if system.scaling is None else system.scaling.share
        T = np.asarray(dense(self.terms.memberships(Z, system.scaling)), dtype=np.float64)
        return np.hstack([T, firing_strengths(Z, system.centers, self.widths, underflow="plain", share=share)])

    def system(self, problem: "_Problem", coef: Array) -> FuzzySystem:
        """The system of the chosen terms alone."""
        P, old, mean = len(self.terms), self.terms, problem.mean
        terms, general = replace(old, mean=mean[:P]), coef[:P]
        if old.low is not None and old.high is not None:
            used = np.flatnonzero(coef[:P].any(axis=1))
            terms, general = Terms(old.feature[used], old.low[used], old.high[used], mean[used]), coef[used]
        kept = np.flatnonzero(coef[P:].any(axis=1))
        return replace(
            self.long,
            terms=terms,
            term_coef=general,
            intercept=problem.rates - mean[P:] @ coef[P:],
            centers=self.long.centers[kept],
            widths=self.widths[kept],
            coef=coef[P:][kept][:, None, :],
            prototypes=self.long.prototypes[kept],
            rule_weights=mean[P:][kept],
            underflow="plain",
        )


def _more_ramps(system: FuzzySystem) -> Terms:
    """The terms of the long model and further ramps of the features that have several."""
    terms = system.terms
    if terms.low is None or terms.high is None or system.scaling is None:
        return terms
    several = np.flatnonzero(np.bincount(terms.feature, minlength=system.shape[1]) == len(RAMPS))
    low, high = np.tile(np.asarray(MORE_RAMPS), (len(several), 1)).T
    feature = np.concatenate([terms.feature, np.repeat(several, len(MORE_RAMPS))])
    order = np.argsort(feature, kind="stable")
    every = Terms(
        feature[order], np.concatenate([terms.low, low])[order], np.concatenate([terms.high, high])[order], np.zeros(0)
    )
    # a value that is missing counts as the mean of its term, which is known for the terms of the long model alone
    quantiles = np.nan_to_num(np.asarray(system.quantiles, dtype=np.float64)).T
    mean = every.memberships(system.scale(quantiles), system.scaling).mean(axis=0)
    mean[np.argsort(order)[: len(terms)]] = terms.mean
    return replace(every, mean=mean)


def _short_widths(system: FuzzySystem, max_conditions: int | None) -> Array:
    """Widths of the exceptions with their most distinct conditions alone; the others are infinite."""
    K, D, _ = system.shape
    count = D if max_conditions is None else min(max_conditions, D)
    if K == 0 or count == D:
        return system.widths
    distinct = np.abs(system.centers - system.centers.mean(axis=0))
    widths = np.full((K, D), np.inf)
    kept = np.argsort(-distinct, axis=1, kind="stable")[:, :count]
    np.put_along_axis(widths, kept, np.take_along_axis(system.widths, kept, axis=1) * count / D, axis=1)
    return widths


@dataclass(frozen=True)
class _Problem:
    """G (C, C) and Aᵀt (C, L) of the candidates ``used``, with the ``mean`` and ``norms`` (all C,) of all columns."""

    G: Array
    c: Array
    used: NDArray[np.intp]
    mean: Array
    norms: Array
    rates: Array

    @classmethod
    def of(cls, A: Array, t: Array, w: Array) -> "_Problem":
        share, root = w / w.sum(), np.sqrt(w)[:, None]
        mean, rates = share @ A, share @ t
        scaled, pull = (A - mean) * root, (t - rates) * root
        norms = np.sqrt(np.einsum("nc,nc->c", scaled, scaled))
        alive = norms > 1e-2 * max(float(norms.max(initial=0.0)), 1e-300)  # rarer terms would be chosen for a few rows
        c = (scaled.T @ pull) / np.where(alive, norms, np.inf)[:, None]
        best = np.argsort(
            -(np.abs(c) / np.maximum(np.abs(c).max(axis=0, initial=0.0), 1e-300)).max(axis=1), kind="stable"
        )[:MOST]
        used = np.sort(best[alive[best]])
        scaled = scaled[:, used] / norms[used]
        return cls(scaled.T @ scaled, c[used], used, mean, norms, rates)

    def chosen(self, count: int) -> list[NDArray[np.intp]]:
        """Per label the candidates in the order in which they are taken."""
        return [self._order(label, min(count, len(self.used))) for label in range(self.c.shape[1])]

    def _order(self, label: int, count: int) -> NDArray[np.intp]:
        """Forward selection by what each candidate adds to those before: what is left of it is kept orthogonal."""
        left, norm = self.c[:, label].copy(), np.diag(self.G) + 1e-3
        V, kept = np.zeros((len(norm), count)), np.zeros(count, dtype=np.intp)
        for k in range(count):
            gain = np.where(norm > 0.02, left * left / np.maximum(norm, 1e-12), -1.0)
            gain[kept[:k]] = -1.0
            best = int(gain.argmax())
            if gain[best] <= 0:
                return kept[:k]
            kept[k] = best
            v = self.G[:, best] - V[:, :k] @ V[best, :k]
            v[best] += 1e-3
            V[:, k] = v / np.sqrt(norm[best])
            left, norm = left - V[:, k] * (left[best] / np.sqrt(norm[best])), norm - V[:, k] ** 2
        return kept

    def fitted(self, chosen: Sequence[NDArray[np.intp]], size: int) -> Array:
        """Numbers (C, L) of all columns: those of the first ``size`` that were chosen, refitted together."""
        coef = np.zeros((len(self.mean), self.c.shape[1]))
        for label, order in enumerate(chosen):
            kept = order[:size]
            part = self.G[np.ix_(kept, kept)] + RIDGE * np.eye(len(kept))
            coef[self.used[kept], label] = np.linalg.solve(part, self.c[kept, label]) / self.norms[self.used[kept]]
        return coef

    def scores(self, A: Array, coef: Array) -> Array:
        """Of rows of columns A."""
        return self.rates + (A - self.mean) @ coef
