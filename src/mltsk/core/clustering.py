"""Fuzzy c-means: where the rules of a fuzzy system sit.   (3)

Symbols: X (N, D) samples, w (N,) weights, C (K, D) centres, U (N, K) memberships (rows sum to 1), m the fuzzifier.
One step is C = (w Uᵐ)ᵀX / Σ w Uᵐ, then U ∝ d²^(-1/(m-1)) with d² the squared distances; m = 1 is its limit, k-means.

With m = 2, as in the paper, every centre falls onto the mean once there are more than a few dozen features; an m close
to 1 keeps them apart. The default start is deterministic, depends on the weighted sample alone (not on the order of
rows) and therefore makes a weight of 2 the same as a row given twice.
"""

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist

from .arrays import (
    Array,
    Matrix,
    cast,
    is_tensor,
    namespace,
    put,
    row_square_norms,
    weighted_mean,
)

POWER_STEPS = (
    12  # enough for a good split direction; an exact principal axis splits no better
)


@dataclass(frozen=True)
class Clustering:
    """Result of fuzzy c-means: ``centers`` (K, D), ``memberships`` (N, K), the objective ``loss``, ``n_iter``.

    K is smaller than what was asked for when X has fewer distinct rows than that.
    """

    centers: Array
    memberships: Array
    loss: float
    n_iter: int
    converged: bool


def fuzzy_c_means(
    X: Matrix,
    n_clusters: int,
    *,
    fuzzifier: float = 2.0,
    sample_weight: Array | None = None,
    init: str | Array = "spread",
    random_state: int | np.random.Generator | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    rtol: float = 0.0,
    power_steps: int = POWER_STEPS,
) -> Clustering:
    """Weighted fuzzy c-means; ``fuzzifier=1`` is k-means.   (3)

    Parameters
    ----------
    X : array or CSR of shape (N, D)
    n_clusters : int
        Fewer centres come back when X has fewer distinct rows.
    fuzzifier : float, default=2.0
        m >= 1. The paper uses 2.
    sample_weight : array of shape (N,), optional
        Counts of copies: 0 removes a row, 2 doubles it.
    init : {"spread", "random"} or array of shape (K, D), default="spread"
        "spread" splits the sample again and again along its widest direction (deterministic); "random" draws
        memberships, as the authors' program does; an array gives the first centres.
    random_state : int or Generator, optional
        For ``init="random"``.
    max_iter, tol : int, float
        Stop after ``max_iter`` steps or when the loss changes by less than ``tol`` (the authors' rule: 100, 1e-6).
    rtol : float, default=0.0
        Stop also when the loss changes by less than this share of itself.
    power_steps : int
        Of the search for the direction in which "spread" splits.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> fuzzy_c_means(X, 2, fuzzifier=1.0).centers.round(2).ravel().tolist()
    [0.05, 5.05]
    """
    if fuzzifier < 1:
        raise ValueError(f"fuzzifier must be at least 1 (k-means), got {fuzzifier}")
    w = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    w = cast(w if is_tensor(w) else put(np.asarray(w), X), X.dtype)
    # Distances come from expanded squares, which cancel for data far from 0: dense data are moved there first.
    origin = (
        np.zeros(X.shape[1], dtype=X.dtype)
        if sparse.issparse(X)
        else weighted_mean(X, w)
    )
    X = X if sparse.issparse(X) else X - origin
    norms = row_square_norms(X)
    if not isinstance(init, str):
        C = cast(init - origin, X.dtype)
    elif init == "spread":
        C = spread_centers(X, w, n_clusters, power_steps)
    elif init == "random":
        U = cast(
            put(
                np.random.default_rng(random_state).random((X.shape[0], n_clusters)), X
            ),
            X.dtype,
        )
        C = fcm_step(X, U / U.sum(axis=1, keepdims=True), w, fuzzifier=fuzzifier)[0]
    else:
        raise ValueError(
            f"init must be 'spread', 'random' or an array of centres, got {init!r}"
        )
    loss, converged, n_iter = np.inf, False, 0
    U = memberships(square_distances(X, C, norms), fuzzifier)
    while n_iter < max_iter and not converged:
        C, U, new = fcm_step(X, U, w, fuzzifier=fuzzifier, previous=C, norms=norms)
        converged, loss = abs(new - loss) < max(tol, rtol * abs(new)), new
        n_iter += 1
    mass = w @ U  # heaviest rule first: a stable order for people and for tests
    order = (
        mass.argsort(stable=True, descending=True)
        if is_tensor(mass)
        else np.argsort(-mass, kind="stable")
    )
    return Clustering(C[order] + origin, U[:, order], float(loss), n_iter, converged)


def fcm_step(
    X: Matrix,
    U: Array,
    w: Array,
    *,
    fuzzifier: float,
    previous: Array | None = None,
    norms: Array | None = None,
) -> tuple[Array, Array, float]:
    """One step: centres from memberships U, the loss Σ w Uᵐ d² there, and the memberships of the new centres.   (3)"""
    V = (U if fuzzifier == 1 else U**fuzzifier) * w[:, None]
    xp, mass = namespace(U), V.sum(axis=0)
    C = xp.asarray(X.T @ V).T / xp.where(mass > 0, mass, 1.0)[:, None]
    if previous is not None:
        C = xp.where(
            (mass > 0)[:, None], C, previous
        )  # a cluster that lost all its rows stays where it was
    D2 = square_distances(X, C, row_square_norms(X) if norms is None else norms)
    return C, memberships(D2, fuzzifier), float(xp.einsum("nk,nk->", V, D2))


def variances(X: Matrix, centers: Array, memberships: Array, w: Array) -> Array:
    """Variance of every feature around every centre, weighted by the memberships, (K, D): (4) with h = 1."""
    V = memberships * w[:, None]
    xp = namespace(V)
    mass = xp.maximum(V.sum(axis=0), xp.finfo(V.dtype).tiny)[:, None]
    if not sparse.issparse(X):
        # Σ u (x - c)² rule by rule: expanding the square would lose the small variances that make narrow rules
        return (
            xp.stack([v @ (X - c) ** 2 for v, c in zip(V.T, centers, strict=True)])
            / mass
        )
    first = np.asarray(X.T @ V).T / mass
    second = np.asarray(X.multiply(X).T @ V).T / mass
    return np.maximum(second - 2 * first * centers + centers**2, 0.0)


def square_distances(X: Matrix, C: Array, norms: Array) -> Array:
    """Squared distances (N, K) between rows of squared length ``norms`` and centres."""
    xp = namespace(C)
    D2 = norms[:, None] - 2 * xp.asarray(X @ C.T) + xp.einsum("kd,kd->k", C, C)
    return xp.clip(D2, 0.0, None, out=D2)


def memberships(D2: Array, fuzzifier: float) -> Array:
    """Memberships (N, K) that go with squared distances; rows sum to 1."""
    xp = namespace(D2)
    if fuzzifier == 1:
        U = xp.zeros_like(D2)
        U[xp.arange(len(D2), like=D2), D2.argmin(axis=1)] = 1
        return U
    # In logarithms, because d²^(-1/(m-1)) overflows for m near 1. A sample on a centre belongs to it alone; on several
    # equal centres, to all of them in equal shares.
    floor = xp.finfo(D2.dtype).eps ** 2 * max(1.0, float(D2.max()))
    E = xp.log(xp.maximum(D2, floor)) / (1 - fuzzifier)
    E -= xp.amax(E, axis=1, keepdims=True)
    xp.exp(E, out=E)
    return E / E.sum(axis=1, keepdims=True)


def spread_centers(
    X: Matrix, w: Array, n_clusters: int, power_steps: int = POWER_STEPS
) -> Array:
    """Centres found by splitting, again and again, the group of largest scatter at its mean along its widest direction.

    Fewer than ``n_clusters`` centres come back when no group is left that has two distinct rows.
    """
    xp = namespace(X)
    groups = [_Group(X, w, xp.flatnonzero(w > 0))]
    while len(groups) < n_clusters:
        widest = max(groups, key=attrgetter("scatter"))
        right = widest.along_widest(power_steps) > 0
        if widest.scatter <= 0 or right.all() or not right.any():
            break
        groups.remove(widest)
        groups += [_Group(X, w, widest.rows[right]), _Group(X, w, widest.rows[~right])]
    return xp.stack([group.mean for group in groups])


class _Group:
    """Some rows of X: their mean, and their scatter around it."""

    def __init__(self, X: Matrix, w: Array, rows: Any) -> None:
        self.rows, self.part, self.weight = rows, X[rows], w[rows]
        self.mean = weighted_mean(self.part, self.weight)
        total = float(self.weight @ row_square_norms(self.part))
        scatter = total - float(self.weight.sum() * (self.mean @ self.mean))
        # below the rounding error of the two terms there is no scatter: the rows are equal
        self.scatter = scatter if scatter > 1e-10 * total else 0.0

    def along_widest(self, steps: int) -> Array:
        """Coordinates of the rows along (nearly) their first principal axis: power iteration from the farthest row."""
        part, mean, xp = self.part, self.mean, namespace(self.mean)
        D2 = square_distances(part, mean[None, :], row_square_norms(part))[:, 0]
        far = part[[int(D2.argmax())]]
        v = xp.asarray(far.todense() if sparse.issparse(far) else far).ravel() - mean
        for _ in range(steps):
            u = self.weight * (xp.asarray(part @ v).ravel() - mean @ v)
            v = xp.asarray(part.T @ u).ravel() - u.sum() * mean
            v /= max(float(xp.linalg.norm(v)), np.finfo(np.float64).tiny)
        return xp.asarray(part @ v).ravel() - mean @ v


def mean_nearest_distance(X: Matrix, C: Array, w: Array) -> float:
    """Mean squared distance, averaged over features, from a sample to its nearest centre: the yardstick of widths."""
    nearest = square_distances(X, C, row_square_norms(X)).min(axis=1)
    return float(w @ nearest) / (float(w.sum()) * X.shape[1])


def xie_beni(
    X: Matrix, C: Array, *, fuzzifier: float = 2.0, sample_weight: Array | None = None
) -> float:
    """Xie and Beni's index of centres C (K, D): how wide clusters are next to how far apart they are; less is better.

    It is Σ_i w_i Σ_k u_ikᵐ ‖x_i - c_k‖² / (Σ w · min_{k≠l} ‖c_k - c_l‖²), with the memberships u that fuzzy c-means has
    at these centres; of one centre, or of two that are the same, infinity.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> [round(xie_beni(X, np.array(C), fuzzifier=1.0), 4) for C in ([[0.05], [5.05]], [[0.0], [0.1], [5.05]])]
    [0.0001, 0.125]
    """
    w = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    D2 = square_distances(X, C, row_square_norms(X))
    apart = pdist(C, "sqeuclidean").min(initial=np.inf)
    spread = float(
        w @ (memberships(D2, fuzzifier) ** fuzzifier * D2).sum(axis=1)
    ) / float(w.sum())
    return spread / float(apart) if 0 < apart < np.inf else np.inf
