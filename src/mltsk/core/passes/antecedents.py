"""The IF-parts of the rules from passes: fuzzy c-means and widths, as `mltsk.paper.antecedents` has them.   (3) (4)

Symbols: X (n, D) samples of a block, C (K, D) centres, U (n, K) memberships, m the fuzzifier.

A step of fuzzy c-means is one pass: Σ w Uᵐ, Σ w Uᵐ x and Σ w Uᵐ ‖x‖² give the new centres and, because those are
means, the loss at them. Where m > 1 and a sample lies on a centre, what counts as 0 is measured within its block.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...paper.antecedents import WIDTH_ROWS, Antecedents, Widths, shared_scale
from ..arrays import Array, row_square_norms
from ..clustering import memberships, square_distances, variances
from ..membership import authors_widths, common_width, exponents
from .rows import Block, Passes, Sums, gather, weights_and_mean
from .spread import moved, spread_centers


@dataclass(frozen=True)
class Clustering:
    """As in `mltsk.core.clustering`, without the memberships, which are as long as the data."""

    centers: Array
    n_iter: int
    converged: bool
    spread: Array

    def astype(self, dtype: "np.dtype[Any]") -> "Clustering":
        """In another precision."""
        return replace(self, centers=self.centers.astype(dtype), spread=self.spread.astype(dtype))


def fuzzy_c_means(
    rows: Passes,
    shape: tuple[int, int],
    n_clusters: int,
    *,
    fuzzifier: float,
    init: "str | Array" = "spread",
    random_state: int | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    rtol: float = 0.0,
) -> Clustering:
    """Weighted fuzzy c-means of rows of the given shape (N, D); the parameters are those in memory.

    ``spread`` are the variances around the centres, (K, D).
    """
    origin = rows.reduce("origin", weights_and_mean).mean
    rows = rows.map(moved, origin)
    C = _start(rows, shape, n_clusters, fuzzifier, init if isinstance(init, str) else init - origin, random_state)
    loss, converged, n_iter = np.inf, False, 0
    while n_iter < max_iter and not converged:
        C, new = _step(rows.reduce("clustering", step_sums, C, fuzzifier), C)
        converged, loss = abs(new - loss) < max(tol, rtol * abs(new)), new
        n_iter += 1
    mass, spread = rows.reduce("clustering", closing_sums, C, fuzzifier).parts
    order = np.argsort(-mass, kind="stable")
    spread = spread / np.maximum(mass, np.finfo(np.float64).tiny)[:, None]
    return Clustering((C + origin)[order], n_iter, bool(converged), spread[order])


def _start(
    rows: Passes, shape: tuple[int, int], n_clusters: int, m: float, init: "str | Array", seed: int | None
) -> Array:
    if not isinstance(init, str):
        return np.array(init)
    if init == "random":
        seed = np.random.SeedSequence().entropy if seed is None else seed  # type: ignore[assignment]
        sums = rows.reduce("clustering", random_sums, n_clusters, m, seed)
        return _step(sums, np.zeros((n_clusters, shape[1])))[0]
    if init == "spread":
        return spread_centers(rows, shape[1], n_clusters)
    raise ValueError(f"init must be 'spread', 'random' or an array of centres, got {init!r}")


def _step(sums: Sums, previous: Array) -> tuple[Array, float]:
    mass, first, square = sums.parts
    C = np.where((mass > 0)[:, None], first / np.where(mass > 0, mass, 1.0)[:, None], previous)
    return C, float(np.maximum(square - mass * row_square_norms(C), 0.0)[mass > 0].sum())


def step_sums(block: Block, C: Array, fuzzifier: float) -> Sums:
    """Statistic: Σ w Uᵐ (K,), Σ w Uᵐ x (K, D) and Σ w Uᵐ ‖x‖² (K,) for the memberships of the centres C."""
    return _sums(block, memberships(square_distances(block.X, C, row_square_norms(block.X)), fuzzifier), fuzzifier)


def random_sums(block: Block, n_clusters: int, fuzzifier: float, seed: int) -> Sums:
    """Statistic: the same for memberships drawn at random, the same draw for a row whatever block it is in."""
    generator = np.random.default_rng(seed)
    generator.bit_generator.advance(int(block.start) * n_clusters)  # type: ignore[attr-defined]
    U = generator.random((len(block.w), n_clusters)).astype(block.X.dtype)
    return _sums(block, U / U.sum(axis=1, keepdims=True), fuzzifier)


def _sums(block: Block, U: Array, fuzzifier: float) -> Sums:
    V = (U if fuzzifier == 1 else U**fuzzifier) * block.w[:, None]
    return Sums(V.sum(axis=0), V.T @ block.X, row_square_norms(block.X) @ V)


def closing_sums(block: Block, C: Array, fuzzifier: float) -> Sums:
    """Statistic: Σ w U (K,) and Σ w U (x - c)² (K, D)."""
    U = memberships(square_distances(block.X, C, row_square_norms(block.X)), fuzzifier)
    mass = block.w @ U
    return Sums(mass, variances(block.X, C, U, block.w) * np.maximum(mass, np.finfo(U.dtype).tiny)[:, None])


def nearest_sum(block: Block, C: Array) -> Sums:
    """Statistic: Σ w · squared distance to the nearest centre, and Σ w."""
    nearest = square_distances(block.X, C, row_square_norms(block.X)).min(axis=1)
    return Sums(float(block.w @ nearest), float(block.w.sum()))


def fit_antecedents(
    rows: Passes, shape: tuple[int, int], found: Clustering, *, width_scale: float | None, widths: Widths
) -> Antecedents:
    """Widths of the chosen kind around the centres of a clustering; a ``width_scale`` of None is as in memory."""
    C = found.centers
    if widths == "variance":
        h = 1.0 if width_scale is None else width_scale
        return Antecedents(C, authors_widths(found.spread, h).astype(C.dtype), h, found.n_iter, found.converged)
    total, weight = rows.reduce("widths", nearest_sum, C).parts
    yardstick = total / (weight * shape[1])
    if width_scale is None:
        E, w = gather(rows, shape[0], WIDTH_ROWS, "widths", unit_exponents, C)
        width_scale = shared_scale(E, w, shape[1], yardstick)
    S = np.full_like(C, common_width(shape[1], yardstick, width_scale))
    return Antecedents(C, S, width_scale, found.n_iter, found.converged)


def unit_exponents(block: Block, C: Array) -> tuple[Array, Array]:
    """Exponents of rows under widths of 1, of which the widths that share them out follow, and their weights."""
    return exponents(block.X, C, np.ones_like(C), relative=True), block.w
