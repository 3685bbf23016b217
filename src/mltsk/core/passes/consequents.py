"""The THEN-parts of the rules from passes: moments, leave-one-out on a few rows, a solver on what came back.   (24)

Symbols: as in `mltsk.core.fit`; A = GᵀWG (Md, Md), Md = K(D+1).

Where A has room (GRAM_BYTES) it is formed, one pass, and the solver sees no row again. Where it has not, every product
with A is a pass. Step sizes and the start are those that `fit_consequents` takes for rows of this shape, so that the
solver takes the same steps: where it would pass over rows, they come from |G|, in two passes. It works in the precision
of the rows throughout, as `solver="fista"` does in memory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...paper.solvers.fista import fista
from ...paper.solvers.moments import GRAM_BYTES, Moments, dominating_diagonal, largest_eigenvalue, worth_forming
from ...paper.solvers.objective import Problem
from ...paper.solvers.ridge import LOO_ROWS, START_BYTES, LooRows, cheapest_form, cholesky_solve, conjugate_gradients
from ..admm import admm
from ..arrays import Array
from ..coupling import correlation, coupling_matrix
from ..fit import Consequents, Solver, resolve_weights
from ..fuzzymap import FuzzyMap
from ..membership import Underflow, rule_distances
from .rows import Block, Passes, Spread, Sums, gather


@dataclass(frozen=True)
class Firing:
    """How rows become rows of G: centres and widths (K, D), and what happens on underflow."""

    C: Array
    S: Array
    underflow: Underflow

    def map(self, block: Block) -> FuzzyMap:
        """G of a block, weights not counted."""
        return FuzzyMap.of(block.X, self.C, self.S, underflow=self.underflow)


@dataclass(frozen=True)
class RowSum:
    """A quadratic loss as in `Moments`, with step sizes from passes, and products with A too where ``A`` is None."""

    rows: Passes
    firing: Firing
    B: Array
    yy: float
    A: Array | None

    def apply(self, P: Array) -> Array:
        """A P."""
        return self._product(P, False) if self.A is None else self.A @ P

    @cached_property
    def norm(self) -> float:
        """‖A‖₂, the largest eigenvalue."""
        return largest_eigenvalue(self.apply, len(self.B), like=self.B)

    @cached_property
    def bound(self) -> Array:
        """A diagonal (Md, 1) that dominates A."""
        return dominating_diagonal(lambda v: self._product(v, True), self.norm, len(self.B), like=self.B)

    def _product(self, P: Array, absolute: bool) -> Array:
        return np.asarray(self.rows.reduce("products", product, self.firing, P, absolute).parts[0])


def label_spread(block: Block) -> Spread:
    """Statistic: base rates and covariance of the labels."""
    return Spread.of(block.Y, block.w, products=True)


def moments(block: Block, firing: Firing, rates: Array, formed: bool) -> Sums:
    """Statistic: GᵀWG (or nothing), GᵀWY, Σ w y² for labels without their base rates, and Σ w M (K,)."""
    plain = firing.map(block)
    G, Y = plain.weighted(block.w), (block.Y - rates) * np.sqrt(block.w)[:, None]
    A = G.gram() if formed else np.zeros(0)
    return Sums(A, G.transpose_matmul(Y), float(np.einsum("nl,nl->", Y, Y)), block.w @ plain.M)


def product(block: Block, firing: Firing, P: Array, absolute: bool) -> Sums:
    """Statistic: GᵀW(G P), or the same of |G|."""
    G = firing.map(block).weighted(block.w)
    G = FuzzyMap(abs(G.X), G.M) if absolute else G
    return Sums(G.transpose_matmul(G @ P))


def mapped(block: Block, firing: Firing) -> tuple[Array, Array, Array, Array]:
    """Rows as leave-one-out needs them: samples, firing strengths, labels, weights."""
    return block.X, firing.map(block).M, block.Y, block.w


def fit_consequents(
    rows: Passes,
    shape: tuple[int, int],
    labels: Spread,
    firing: Firing,
    *,
    coupling: str | None,
    rho: float | None,
    alpha: float | None,
    beta: float | None,
    gamma: float | None,
    solver: Solver,
    max_iter: int,
    tol: float,
) -> tuple[Consequents, Array]:
    """What `mltsk.core.fit.fit_consequents` finds for rows of shape (N, D) whose labels have the given spread.

    The second result is how much every rule fires, Σ w M (K,).
    """
    dtype = firing.C.dtype
    rates = labels.mean.astype(dtype)
    Q = coupling_matrix(correlation(labels.second, labels.weight), coupling).astype(dtype)
    alpha, loo = 0.0 if coupling is None else alpha, None
    if rho is None or alpha is None or beta is None:
        X, M, Y, w = gather(rows, shape[0], LOO_ROWS, "leave-one-out", mapped, firing)
        loo = LooRows.of(FuzzyMap(X, M), Y - rates, w, total=labels.weight)
    rho, alpha, beta = resolve_weights(loo, Q, rho, alpha, beta)
    like = _shaped(shape, firing)
    data, mass = _quadratic(rows, firing, labels, like, always=solver == "admm")
    start = _ridge_start(data, like, gamma if gamma else max(rho + alpha, 1e-8))
    problem = Problem(data, Q, alpha, beta, rho)
    solution = (admm if solver == "admm" else fista)(problem, start, max_iter=max_iter, tol=tol)
    P = solution.P.copy()
    P.reshape(len(firing.C), -1, len(rates))[:, 0] += rates
    return Consequents(P, rho, alpha, beta, Q, solution), mass


def _shaped(shape: tuple[int, int], firing: Firing) -> FuzzyMap:
    """A map of the shape of G that holds nothing: what decides on costs asks for no more."""
    zero = np.zeros((), dtype=firing.C.dtype)
    return FuzzyMap(np.broadcast_to(zero, shape), np.broadcast_to(zero, (shape[0], len(firing.C))))


def _quadratic(
    rows: Passes, firing: Firing, labels: Spread, like: FuzzyMap, *, always: bool
) -> tuple[Moments | RowSum, Array]:
    rates = labels.mean.astype(firing.C.dtype)
    room = always or like.M.itemsize * like.shape[1] ** 2 <= GRAM_BYTES
    A, B, yy, mass = rows.reduce("moments", moments, firing, rates, room).parts
    if always or worth_forming(like, len(rates)):
        return Moments(A, B, yy, labels.weight), mass
    return RowSum(rows, firing, B, yy, A if room else None), mass


def _ridge_start(data: Moments | RowSum, like: FuzzyMap, gamma: float) -> Array:
    """P₀ as `ridge_start` finds it; its primal and dual forms are one problem, solved by A if that is formed."""
    form = cheapest_form(like, data.B.shape[1], START_BYTES)
    if form != "operator" and data.A is not None:
        return cholesky_solve(data.A.copy(), gamma, data.B)
    return conjugate_gradients(lambda P: data.apply(P) + gamma * P, data.B, 1e-4 if form == "operator" else 1e-12)


def fired(block: Block, firing: Firing) -> Sums:
    """Statistic: firing of every rule, (K,), weighted."""
    return Sums(block.w @ firing.map(block).M)


def distances(block: Block, firing: Firing, mass: Array) -> Sums:
    """Statistic: what a block adds to the distances between rules, (K, K)."""
    return Sums(rule_distances(firing.map(block).M, block.w, mass))


def distinctness(rows: Passes, firing: Firing) -> float:
    """`mltsk.paper.antecedents.rule_distinctness` of all rows."""
    K = len(firing.C)
    if K == 1:
        return 1.0
    mass = rows.reduce("distinctness", fired, firing).parts[0]
    return float(rows.reduce("distinctness", distances, firing, mass).parts[0].sum() / (K * (K - 1)))


def prototypes(rows: Passes, firing: Firing, change: Callable[[Block], Block]) -> Array:
    """Mean sample, in the caller's units, of what each rule fires on, (K, D); ``change`` puts samples on the scale."""
    mass, sums = rows.reduce("prototypes", prototype_sums, firing, change).parts
    return np.asarray(sums / np.where(mass > 0, mass, 1.0)[:, None])


def prototype_sums(block: Block, firing: Firing, change: Callable[[Block], Block]) -> Sums:
    """Statistic: Σ w M (K,) and Σ w M x (K, D) with x in the caller's units."""
    V = firing.map(change(block)).M * block.w[:, None]
    return Sums(V.sum(axis=0), V.T @ block.X)
