"""Fuzzy c-means: where the rules of a fuzzy system sit. (3)

Symbols: X (N, D) samples, w (N,) weights, C (K, D) centres, U (N, K) memberships (rows
sum to 1), m the fuzzifier, D2 (N, K) squared distances. One step is
C = (w Uᵐ)ᵀX / Σ w Uᵐ, then U ∝ D2^(-1/(m-1)). Its limit for m = 1 is k-means.

With m = 2, as in the paper, every centre falls onto the mean once there are more than a
few dozen features; an m close to 1 keeps centres apart. The default start is
deterministic and depends only on the weighted sample, not on the order of rows. A row
of weight 2 is therefore the same as a row that is given twice.
"""

from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from .arrays import (
    Array,
    FloatArray,
    Matrix,
    cast,
    dense,
    is_csr,
    is_tensor,
    namespace,
    put,
    row_square_norms,
    weighted_mean,
)

# Steps of the search for a split direction: an exact principal axis splits no better.
POWER_STEPS = 12


@dataclass(frozen=True)
class Clustering:
    """Result of fuzzy c-means, heaviest cluster first.

    Parameters
    ----------
    centers : array of shape (K, D)
        K is smaller than asked for if X has fewer distinct rows.
    memberships : array of shape (N, K)
    loss : float
        The objective Σ w Uᵐ D2.
    n_iter : int
    converged : bool
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
    """Weighted fuzzy c-means; ``fuzzifier=1`` is k-means. (3)

    Parameters
    ----------
    X : array or CSR of shape (N, D)
    n_clusters : int
        Fewer centres come back if X has fewer distinct rows.
    fuzzifier : float, default=2.0
        m >= 1. The paper uses 2.
    sample_weight : array of shape (N,), optional
        Counts of copies: 0 removes a row, 2 doubles it.
    init : {"spread", "random"} or array of shape (K, D), default="spread"
        "spread" splits the sample again and again along its widest direction
        (deterministic); "random" draws memberships, as the authors' program does; an
        array gives the first centres.
    random_state : int or Generator, optional
        For ``init="random"``.
    max_iter, tol : int, float
        Stop after ``max_iter`` steps or when the loss changes by less than ``tol``
        (the authors' rule: 100, 1e-6).
    rtol : float, default=0.0
        Stop also when the loss changes by less than this share of itself.
    power_steps : int
        Steps of the search for the direction in which "spread" splits.

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
    # Distances come from expanded squares, which cancel for data far from 0: dense data
    # are moved there first.
    if is_csr(X):
        origin = np.zeros(X.shape[1], dtype=X.dtype)
    else:
        origin = weighted_mean(X, w)
        X = X - origin
    norms = row_square_norms(X)
    if not isinstance(init, str):
        C = cast(init - origin, X.dtype)
    elif init == "spread":
        C = spread_centers(X, w, n_clusters, power_steps)
    elif init == "random":
        C = _random_centers(X, w, n_clusters, fuzzifier, random_state)
    else:
        raise ValueError(
            f"init must be 'spread', 'random' or an array of centres, got {init!r}"
        )
    U = memberships(square_distances(X, C, norms), fuzzifier)
    loss = np.inf
    converged = False
    n_iter = 0
    while n_iter < max_iter and not converged:
        previous_loss = loss
        C, U, loss = fcm_step(X, U, w, fuzzifier=fuzzifier, previous=C, norms=norms)
        converged = abs(loss - previous_loss) < max(tol, rtol * abs(loss))
        n_iter += 1
    order = _heaviest_first(w @ U)
    return Clustering(
        centers=C[order] + origin,
        memberships=U[:, order],
        loss=float(loss),
        n_iter=n_iter,
        converged=converged,
    )


def fcm_step(
    X: Matrix,
    U: Array,
    w: Array,
    *,
    fuzzifier: float,
    previous: Array | None = None,
    norms: Array | None = None,
) -> tuple[Array, Array, float]:
    """One step of fuzzy c-means from the memberships U. (3)

    Parameters
    ----------
    X : array or CSR of shape (N, D)
    U : array of shape (N, K)
    w : array of shape (N,)
    fuzzifier : float
    previous : array of shape (K, D), optional
        Where a cluster stays that has lost all its rows.
    norms : array of shape (N,), optional
        Squared lengths of the rows of X.

    Returns
    -------
    C : array of shape (K, D)
        The centres of U.
    new_U : array of shape (N, K)
        The memberships at these centres.
    loss : float
        Σ w Uᵐ D2, with the memberships U and the distances from C.
    """
    xp = namespace(U)
    V = (U if fuzzifier == 1 else U**fuzzifier) * w[:, None]
    mass = V.sum(axis=0)
    C = xp.asarray(X.T @ V).T / xp.where(mass > 0, mass, 1.0)[:, None]
    if previous is not None:
        C = xp.where((mass > 0)[:, None], C, previous)
    if norms is None:
        norms = row_square_norms(X)
    D2 = square_distances(X, C, norms)
    loss = float(xp.einsum("nk,nk->", V, D2))
    return C, memberships(D2, fuzzifier), loss


def square_distances(X: Matrix, C: Array, norms: Array) -> Array:
    """Squared distances (N, K) of the rows of X (N, D) from the centres C (K, D).

    ``norms`` (N,) are the squared lengths of the rows of X.
    """
    xp = namespace(C)
    D2 = norms[:, None] - 2 * xp.asarray(X @ C.T) + xp.einsum("kd,kd->k", C, C)
    return xp.clip(D2, 0.0, None, out=D2)


def memberships(D2: Array, fuzzifier: float) -> Array:
    """Memberships (N, K) that go with squared distances D2 (N, K); rows sum to 1."""
    xp = namespace(D2)
    if fuzzifier == 1:
        U = xp.zeros_like(D2)
        U[xp.arange(len(D2), like=D2), D2.argmin(axis=1)] = 1
        return U
    # In logarithms, because D2^(-1/(m-1)) overflows for m near 1. A sample on a centre
    # belongs to it alone; on several equal centres, to all of them in equal shares.
    floor = xp.finfo(D2.dtype).eps ** 2 * max(1.0, float(D2.max()))
    U = xp.log(xp.maximum(D2, floor)) / (1 - fuzzifier)
    U -= xp.amax(U, axis=1, keepdims=True)
    xp.exp(U, out=U)
    return U / U.sum(axis=1, keepdims=True)


def _random_centers(
    X: Matrix,
    w: Array,
    n_clusters: int,
    fuzzifier: float,
    random_state: int | np.random.Generator | None,
) -> Array:
    """Centres (K, D) of memberships (N, K) drawn at random."""
    drawn = np.random.default_rng(random_state).random((X.shape[0], n_clusters))
    U = cast(put(drawn, X), X.dtype)
    U = U / U.sum(axis=1, keepdims=True)
    return fcm_step(X, U, w, fuzzifier=fuzzifier)[0]


def _heaviest_first(mass: Array) -> Array:
    """Positions of masses (K,), largest first: a stable order for people and tests."""
    if is_tensor(mass):
        return mass.argsort(stable=True, descending=True)
    return np.argsort(-mass, kind="stable")


# the start ----------------------------------------------------------------------------


def spread_centers(
    X: Matrix, w: Array, n_clusters: int, power_steps: int = POWER_STEPS
) -> Array:
    """Centres (K, D) of groups that come from splitting the sample again and again.

    Each time the group of largest scatter is split at its mean, along its widest
    direction. Fewer centres come back if no group is left that has two distinct rows.

    Parameters
    ----------
    X : array or CSR of shape (N, D)
    w : array of shape (N,)
    n_clusters : int
    power_steps : int
        Steps of the search for the widest direction.
    """
    xp = namespace(X)
    groups = [_Group(X, w, xp.flatnonzero(w > 0))]
    while len(groups) < n_clusters:
        widest = max(groups, key=attrgetter("scatter"))
        if widest.scatter <= 0:
            break
        right = widest.along_widest(power_steps) > 0
        if right.all() or not right.any():
            break
        groups.remove(widest)
        groups.append(_Group(X, w, widest.rows[right]))
        groups.append(_Group(X, w, widest.rows[~right]))
    return xp.stack([group.mean for group in groups])


class _Group:
    """Rows of X with their mean (D,) and their scatter around it.

    Parameters
    ----------
    X : array or CSR of shape (N, D)
    w : array of shape (N,)
    rows : array of int of shape (n,)
        Which rows of X belong to the group.
    """

    def __init__(self, X: Matrix, w: Array, rows: NDArray[np.intp]) -> None:
        self.rows = rows
        self.X = X[rows]
        self.w = w[rows]
        self.mean = weighted_mean(self.X, self.w)
        self.norms = row_square_norms(self.X)
        total = float(self.w @ self.norms)
        scatter = total - float(self.w.sum() * (self.mean @ self.mean))
        # Scatter below the rounding error of the two terms is none: the rows are equal.
        self.scatter = scatter if scatter > 1e-10 * total else 0.0

    def along_widest(self, steps: int) -> Array:
        """Coordinates (n,) of the rows along (nearly) their first principal axis.

        It is found by power iteration, which starts at the row farthest from the mean.
        """
        X = self.X
        mean = self.mean
        xp = namespace(mean)
        D2 = square_distances(X, mean[None, :], self.norms)[:, 0]
        farthest = dense(X[[int(D2.argmax())]])
        v = xp.asarray(farthest).ravel() - mean
        for _ in range(steps):
            u = self.w * (xp.asarray(X @ v).ravel() - mean @ v)
            v = xp.asarray(X.T @ u).ravel() - u.sum() * mean
            v /= max(float(xp.linalg.norm(v)), np.finfo(np.float64).tiny)
        return xp.asarray(X @ v).ravel() - mean @ v


# what centres tell --------------------------------------------------------------------


def variances(X: Matrix, centers: Array, memberships: Array, w: Array) -> Array:
    """Variance of each feature around each centre, (K, D): (4) with h = 1.

    Parameters
    ----------
    X : array or CSR of shape (N, D)
    centers : array of shape (K, D)
    memberships : array of shape (N, K)
        How much each sample counts for each centre.
    w : array of shape (N,)
    """
    V = memberships * w[:, None]
    xp = namespace(V)
    mass = xp.maximum(V.sum(axis=0), xp.finfo(V.dtype).tiny)[:, None]
    if is_csr(X):
        first = np.asarray(X.T @ V).T / mass
        second = np.asarray(X.multiply(X).T @ V).T / mass
        return np.maximum(second - 2 * first * centers + centers**2, 0.0)
    # Σ u (x - c)² centre by centre: expanding the square would lose the small variances
    # that make narrow rules.
    squares = [v @ (X - c) ** 2 for v, c in zip(V.T, centers, strict=True)]
    return xp.stack(squares) / mass


def mean_nearest_distance(X: Matrix, C: Array, w: Array) -> float:
    """Mean squared distance per feature of samples from their nearest centre.

    It is the yardstick of widths. X is (N, D), C (K, D), w (N,).
    """
    nearest = square_distances(X, C, row_square_norms(X)).min(axis=1)
    return float(w @ nearest) / (float(w.sum()) * X.shape[1])


def xie_beni(
    X: Matrix,
    C: FloatArray,
    *,
    fuzzifier: float = 2.0,
    sample_weight: FloatArray | None = None,
) -> float:
    """Xie and Beni's index: the width of clusters next to the distance between them.

    It is Σ_i w_i Σ_k u_ikᵐ ‖x_i - c_k‖² / (Σ w · min_{k≠l} ‖c_k - c_l‖²), with the
    memberships u that fuzzy c-means has at these centres. Less is better. It is
    infinite for one centre, or if two centres are equal.

    Parameters
    ----------
    X : array or CSR of shape (N, D)
    C : array of shape (K, D)
    fuzzifier : float, default=2.0
    sample_weight : array of shape (N,), optional

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> round(xie_beni(X, np.array([[0.05], [5.05]]), fuzzifier=1.0), 4)
    0.0001
    >>> round(xie_beni(X, np.array([[0.0], [0.1], [5.05]]), fuzzifier=1.0), 4)
    0.125
    """
    apart = pdist(C, "sqeuclidean").min(initial=np.inf)
    if not 0 < apart < np.inf:
        return np.inf
    w = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    D2 = square_distances(X, C, row_square_norms(X))
    width = (memberships(D2, fuzzifier) ** fuzzifier * D2).sum(axis=1)
    return float(w @ width) / float(w.sum()) / float(apart)
