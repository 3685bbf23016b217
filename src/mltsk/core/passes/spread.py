"""The deterministic start of the clustering from passes: what `clustering.spread_centers` does where rows are at hand.

Symbols: X (n, D) samples of a block, w (n,) weights, groups of rows; a `Cut` sends the rows of a group to two others.

A row's group follows from the cuts alone, so nothing is remembered of rows between passes. Groups that may be split
next are split together, before it is known which of them will be: about seven rounds for 20 rules. A round is two
passes where D is at most FORMED (the scatter matrix of a group comes back, and the power steps are taken on it), and
2 + 12 where it is not.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, row_square_norms
from ..clustering import POWER_STEPS, square_distances
from .rows import Block, Passes, Sums

FORMED = 1000  # features up to which a scatter matrix (8 MB) comes back
_ROUND_BYTES = 32 * 10**6  # scatter matrices that one block may bring back


@dataclass(frozen=True)
class Cut:
    """Rows of ``group`` with X @ normal > offset go to group ``right``, the others to ``left``."""

    group: int
    normal: Array
    offset: float
    right: int
    left: int


@dataclass(frozen=True)
class Group:
    """Mean, scatter Σ w ‖x - mean‖² (0 where rounding is all of it), number of rows, scatter matrix if it is formed."""

    mean: Array
    scatter: float
    count: float
    matrix: Array | None


@dataclass(frozen=True)
class Farthest:
    """The row (D,) of each group that is farthest from its mean, the first of several, and how far it is."""

    distances: Array
    rows: Array

    def __add__(self, other: "Farthest") -> "Farthest":
        later = other.distances > self.distances
        return Farthest(np.maximum(self.distances, other.distances), np.where(later[:, None], other.rows, self.rows))


def spread_centers(rows: Passes, n_features: int, n_clusters: int) -> Array:
    """Centres (K, D) by splitting the group of largest scatter again and again; fewer where rows do not differ."""
    return _Splitting(rows, n_features, n_clusters).centers()


class _Splitting:
    def __init__(self, rows: Passes, n_features: int, n_clusters: int) -> None:
        self.rows, self.n_clusters = rows, n_clusters
        self.formed = n_features <= FORMED
        self.together = max(1, int(_ROUND_BYTES // (16 * n_features**2))) if self.formed else n_clusters
        self.cuts: list[Cut] = []
        self.groups = self._groups([0], np.zeros((1, n_features)))
        self.parts: dict[int, tuple[int, int] | None] = {}

    def centers(self) -> Array:
        frontier = [0]
        while len(frontier) < self.n_clusters:
            widest = max(frontier, key=lambda g: self.groups[g].scatter)
            if self.groups[widest].scatter == 0:
                break
            if widest not in self.parts:
                self._split(self._next(frontier))
            parts = self.parts[widest]
            if parts is None:
                break
            frontier.remove(widest)
            frontier += parts
        return np.stack([self.groups[g].mean for g in frontier])

    def _next(self, frontier: list[int]) -> list[int]:
        """Groups worth splitting in one round, widest first."""
        open_ = [g for g in frontier if g not in self.parts and self.groups[g].scatter > 0]
        open_.sort(key=lambda g: -self.groups[g].scatter)
        return open_[: min(self.together, self.n_clusters - len(frontier))]

    def _split(self, wanted: list[int]) -> None:
        means = np.stack([self.groups[g].mean for g in wanted])
        cuts, first = [], len(self.groups)
        for i, (g, v) in enumerate(zip(wanted, self._directions(wanted, means), strict=True)):
            cuts.append(Cut(g, v, float(means[i] @ v), first + 2 * i, first + 2 * i + 1))
        self.cuts += cuts
        new = [child for cut in cuts for child in (cut.right, cut.left)]
        self.groups |= self._groups(new, np.repeat(means, 2, axis=0))
        for cut in cuts:
            both = self.groups[cut.right].count > 0 and self.groups[cut.left].count > 0
            self.parts[cut.group] = (cut.right, cut.left) if both else None

    def _directions(self, wanted: list[int], means: Array) -> Array:
        """(Nearly) the first principal axis of each group: power iteration from its farthest row."""
        far = self.rows.reduce("spread", farthest, self.cuts, wanted, means)
        V: Array = far.rows - means
        for _ in range(POWER_STEPS):
            V = self._power_step(wanted, means, V)
            V /= np.maximum(np.linalg.norm(V, axis=1), np.finfo(np.float64).tiny)[:, None]
        return V

    def _power_step(self, wanted: list[int], means: Array, V: Array) -> Array:
        if not self.formed:
            return np.asarray(self.rows.reduce("spread", power_sums, self.cuts, wanted, means, V).parts[0])
        return np.stack([self.groups[g].matrix @ v for g, v in zip(wanted, V, strict=True)])

    def _groups(self, numbers: list[int], around: Array) -> dict[int, Group]:
        found = self.rows.reduce("spread", group_sums, self.cuts, numbers, around, self.formed).parts
        return {g: _group([part[i] for part in found], around[i]) for i, g in enumerate(numbers)}


def _group(sums: list[Any], around: Array) -> Group:
    count, weight, first, square, matrix = sums
    mean = first / (weight or 1.0)
    scatter = float(square - weight * (mean @ mean))
    apart = mean - around
    centred = matrix - weight * np.outer(apart, apart) if matrix.size else None
    # as in memory: below the rounding error of the two terms there is no scatter
    return Group(mean, scatter if scatter > 1e-10 * square else 0.0, count, centred)


def groups_of(X: Array, cuts: list[Cut]) -> NDArray[np.intp]:
    """The group of every row, (n,)."""
    group = np.zeros(len(X), dtype=np.intp)
    for cut in cuts:
        here = np.flatnonzero(group == cut.group)
        right = X[here] @ cut.normal - cut.offset > 0
        group[here] = np.where(right, cut.right, cut.left)
    return group


def group_sums(block: Block, cuts: list[Cut], numbers: list[int], around: Array, formed: bool) -> Sums:
    """Statistic: rows, Σ w, Σ w x, Σ w ‖x‖² of groups, and their scatter matrices around given points."""
    where, D = groups_of(block.X, cuts), block.X.shape[1]
    out = [np.zeros((len(numbers), *shape)) for shape in ((), (), (D,), (), (D, D) if formed else (0,))]
    for i, g in enumerate(numbers):
        here = np.flatnonzero(where == g)
        X, w = block.X[here], block.w[here]
        out[0][i], out[1][i], out[2][i], out[3][i] = len(w), w.sum(), w @ X, w @ row_square_norms(X)
        if formed:
            root = np.sqrt(w)[:, None] * (X - around[i])
            out[4][i] = root.T @ root
    return Sums(*out)


def farthest(block: Block, cuts: list[Cut], numbers: list[int], means: Array) -> Farthest:
    """Statistic: the row of each group that is farthest from its mean."""
    where = groups_of(block.X, cuts)
    found = Farthest(np.full(len(numbers), -np.inf), np.zeros(means.shape))
    for i, g in enumerate(numbers):
        X = block.X[where == g]
        if len(X):
            D2 = square_distances(X, means[[i]], row_square_norms(X))[:, 0]
            found.distances[i], found.rows[i] = D2.max(), X[D2.argmax()]
    return found


def power_sums(block: Block, cuts: list[Cut], numbers: list[int], means: Array, V: Array) -> Sums:
    """Statistic: Σ w (x - mean) ((x - mean) @ v) of groups, (G, D)."""
    where, out = groups_of(block.X, cuts), np.zeros(V.shape)
    for i, g in enumerate(numbers):
        here = np.flatnonzero(where == g)
        X, v = block.X[here], V[i]
        u = block.w[here] * (X @ v - means[i] @ v)
        out[i] = X.T @ u - u.sum() * means[i]
    return Sums(out)


def moved(block: Block, origin: Array) -> Block:
    """Change: samples relative to an origin, where distances from expanded squares do not cancel."""
    return replace(block, X=block.X - origin)
