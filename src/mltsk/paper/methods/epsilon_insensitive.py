"""ε-insensitive regression on rule-mapped features, to a certified optimum.

All outputs share one factorisation.

Symbols: G (N, K(D+1)) rule-mapped features, E (N, m) further penalised columns, w (N,)
weights, p = (c, p̃) biases and penalised coefficients, y a target, τ > 0, ε >= 0,
]r[ = max(0, |r| - ε). For every output

    F(p) = Σ_n w_n ]y_n - g_n·p[² + (τ/2) ‖p̃‖²,
    ]r[² = min over |z - y| <= ε of (g·p - z)²,

so alternating minimisation clips the fit to the tube around y and solves a ridge
problem for that z. The ridge matrix is the same in every step and for every output.
Steps are extrapolated (Nesterov) and restarted output by output.

Certificate: after a ridge solve a = 2w(Gp - z) is feasible in the dual problem, whose
value is at most the minimum. The gap is the sum of the terms
w(]r[² - 2(u - z)r + 2ε|u - z| + (u - z)²) with u = Gp, r = u - y, none below 0.

The biases carry no penalty: they are eliminated through an orthonormal basis U of their
columns, which may be dependent. With Q = I - UUᵀ, the ridge matrix of Q[G̃, E] is left,
or, with more columns than rows, its dual form (N, N). Rows are scaled by √w throughout.
"""

from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular, svd

from ...core.arrays import Array
from ...core.fuzzymap import FuzzyMap

# Firing strengths of rules that differ by less than this share are one bias: their
# rounding errors would be scaled up by its inverse.
DEPENDENT_SHARE = 1e-7
# An output that is fitted almost exactly is judged by this share of its squares. Two
# labels with one positive row took 389 and 1,205 steps to 1e-4 of their F, the 99 other
# labels at most 156.
SQUARES_FLOOR = 0.1
# Constants of Leski's loop, as published: his first margins, his ρ, the smallest error
# that is divided by, and the change of the margins at which the loop stops.
FIRST_MARGIN = 1e-6
MARGIN_STEP = 0.98
SMALLEST_ERROR = 1e-8
MARGIN_CHANGE = 1e-4

_cholesky = partial(cholesky, lower=True, overwrite_a=True, check_finite=False)
_solve = partial(solve_triangular, lower=True, check_finite=False)


class TubeSolution(NamedTuple):
    """Coefficients of all outputs, and how they were reached.

    ``P`` (K(D+1), L) are consequents, ``extra`` (m, L) coefficients of E. ``value``,
    ``gap`` and ``n_iter`` (L,) are objective, duality gap and steps of every output.
    """

    P: Array
    extra: Array
    value: Array
    gap: Array
    n_iter: NDArray[np.intp]
    converged: bool


class RidgeDesign:
    """What no target, τ or ε changes: columns, and the cheaper of two Gram matrices.

    G is a map of N rows, w (N,) are their weights, E (N, m) further columns.
    """

    def __init__(self, G: FuzzyMap, w: Array, E: Array | None = None) -> None:
        self.root = np.sqrt(w)
        self.G = G.weighted(w)
        if E is None:
            E = np.empty((len(w), 0))
        self.E = E * self.root[:, None]
        U, s, Vt = svd(self.G.M, full_matrices=False, check_finite=False)
        keep = s > DEPENDENT_SHARE * s[0]
        self.U = U[:, keep]
        self.bias = Vt[keep].T / s[keep]
        self.dual = G.shape[1] > G.shape[0]
        self.gram = self._dual_gram() if self.dual else self._primal_gram()

    def _dual_gram(self) -> Array:
        """Q G̃ G̃ᵀ Q (N, N): the Gram matrix of rows, without E."""
        A = self.G.dual_gram()
        A -= self.G.M @ self.G.M.T
        AU = A @ self.U
        A -= AU @ self.U.T
        A -= self.U @ (AU - self.U @ (self.U.T @ AU)).T
        return A

    def _primal_gram(self) -> Array:
        """[G̃, E]ᵀ Q [G̃, E] (KD + m, KD + m)."""
        K = self.G.n_rules
        width = self.G.X.shape[1] + 1
        n = K * (width - 1)
        m = self.E.shape[1]
        whole = self.G.gram().reshape(K, width, K, width)
        A = np.empty((n + m, n + m))
        A[:n, :n] = whole[:, 1:, :, 1:].reshape(n, n)
        A[:, n:] = self.transpose(self.E) if m else 0.0
        A[n:, :n] = A[:n, n:].T
        T = self.transpose(self.U)
        A -= T @ T.T
        return A

    def without_bias(self, Z: Array) -> Array:
        """Q Z of Z (N, L)."""
        return Z - self.U @ (self.U.T @ Z)

    def consequents(self, P: Array, bias: Array | float = 0.0) -> Array:
        """Coefficients (K(D+1), L) of G, from penalised ones P and biases (K, L)."""
        K = self.G.n_rules
        D = self.G.X.shape[1]
        cube = np.empty((K, D + 1, P.shape[1]))
        cube[:, 0] = bias
        cube[:, 1:] = P[: K * D].reshape(K, D, -1)
        return cube.reshape(-1, P.shape[1])

    def extra(self, P: Array) -> Array:
        """The coefficients (m, L) of E among the penalised ones P (KD + m, L)."""
        return P[len(P) - self.E.shape[1] :]

    def apply(self, P: Array) -> Array:
        """[G̃, E] P for penalised coefficients P (KD + m, L)."""
        return self.G @ self.consequents(P) + self.E @ self.extra(P)

    def transpose(self, Z: Array) -> Array:
        """[G̃, E]ᵀ Z of Z (N, L)."""
        n_outputs = Z.shape[1]
        cube = self.G.transpose_matmul(Z).reshape(self.G.n_rules, -1, n_outputs)
        return np.concatenate([cube[:, 1:].reshape(-1, n_outputs), self.E.T @ Z])

    def limits(self, limit: Array | None, n_outputs: int) -> Array:
        """How many columns of E each output may use, (L,): all of them by default."""
        if limit is None:
            return np.full(n_outputs, self.E.shape[1])
        return np.asarray(limit)


class RidgeFactor:
    """Ridge problems min ‖[U, G̃, E](·) - z‖² + half ‖p̃‖² of a design, factored once.

    half is τ/2. An output may use only the first ``limit`` columns of E: those problems
    have leading blocks of one matrix, whose Cholesky factors are the leading blocks of
    its factor. So a whole chain of labels needs one factorisation. Where all outputs
    use the ``whole`` of E, the dual form takes it into the matrix itself.
    """

    def __init__(self, design: RidgeDesign, half: float, whole: bool = False) -> None:
        self.design = design
        self.half = half
        self.V: Array | None = None
        A = design.gram.copy()
        E = design.without_bias(design.E) if design.dual else np.empty((0, 0))
        if E.size and whole:
            A += E @ E.T
        A.flat[:: len(A) + 1] += half
        # A is symmetric: its transpose is what LAPACK overwrites in place.
        self.root = _cholesky(A.T)
        if E.size and not whole:
            # Woodbury: E comes on top of the factor of the rows.
            self.V = _solve(self.root, E)
            self.inner = _cholesky(self.V.T @ self.V + np.eye(E.shape[1]))

    def fit(self, Z: Array, limit: Array) -> Array:
        """Fitted values (N, l) for targets Z (N, l)."""
        solved = self._solved(Z, limit)
        if self.design.dual:
            return Z - self.half * solved
        linear = self.design.apply(solved)
        return linear + self.design.U @ (self.design.U.T @ (Z - linear))

    def coefficients(self, Z: Array, limit: Array) -> tuple[Array, Array]:
        """Consequents (K(D+1), l) and coefficients (m, l) of E for targets Z (N, l)."""
        design = self.design
        P = self._solved(Z, limit)
        if design.dual:
            P = design.transpose(P)
        extra = design.extra(P)
        extra *= self._usable(limit)
        bias = design.bias @ (design.U.T @ (Z - design.apply(P)))
        return design.consequents(P, bias), extra

    def _usable(self, limit: Array) -> NDArray[np.bool_]:
        """Where an output may use a column of E, (m, l)."""
        return np.arange(self.design.E.shape[1])[:, None] < limit

    def _solved(self, Z: Array, limit: Array) -> Array:
        """Penalised coefficients (KD + m, l) for targets Z (N, l).

        In the dual form they are (N, l), and `RidgeDesign.transpose` of them.
        """
        design = self.design
        Z = design.without_bias(Z)
        forward = _solve(self.root, Z if design.dual else design.transpose(Z))
        if not design.dual:
            last = design.extra(forward)
            last *= self._usable(limit)
        elif self.V is not None:
            inside = _solve(self.inner, self.V.T @ forward) * self._usable(limit)
            forward -= self.V @ _solve(self.inner, inside, trans=1)
        return _solve(self.root, forward, trans=1)


def minimise(
    factor: RidgeFactor,
    Y: Array,
    epsilon: float,
    *,
    limit: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> TubeSolution:
    """Minimum of F for every column of Y (N, L), until gap <= tol · F.

    τ is 2 · factor.half.

    An output that can be fitted almost exactly (F near 0) counts as solved at
    gap <= tol · SQUARES_FLOOR · (squares about its mean): there the gap says enough
    about the fit, and a share of F would ask for digits that nothing depends on.

    ``limit`` (L,) says how many columns of E each output may use; all by default.
    """
    n_outputs = Y.shape[1]
    root = factor.design.root[:, None]
    limit = factor.design.limits(limit, n_outputs)
    floor = SQUARES_FLOOR * _squares_about_mean(Y, root**2)
    Y = Y * root
    # What rounding leaves of an output that is fitted exactly.
    rounding = 1e-14 * np.einsum("nl,nl->l", Y, Y)
    band = epsilon * root
    value = np.zeros(n_outputs)
    gap = np.zeros(n_outputs)
    n_iter = np.zeros(n_outputs, dtype=np.intp)
    Z = Y.copy()
    # Below are the outputs that are not solved yet: fits u, extrapolated fits v,
    # momenta t. v starts at the targets themselves, so that the first step is ridge.
    active = np.arange(n_outputs)
    u = None
    v = Y
    t: Array = np.ones(n_outputs)
    for step in range(1, max_iter + 1):
        if not len(active):
            break
        y = Y[:, active]
        z = np.clip(v, y - band, y + band)
        old = u
        u = factor.fit(z, limit[active])
        Z[:, active] = z
        n_iter[active] = step
        value[active], gap[active] = value_and_gap(u, z, y, band)
        v, t = _extrapolated(v, old, u, t)
        aim = tol * np.maximum(value, floor) + rounding
        going = (gap > aim)[active]
        active = active[going]
        u = u[:, going]
        v = v[:, going]
        t = t[going]
    P, extra = factor.coefficients(Z, limit)
    return TubeSolution(
        P=P,
        extra=extra,
        value=value,
        gap=gap,
        n_iter=n_iter,
        converged=not len(active),
    )


def _squares_about_mean(Y: Array, w: Array) -> Array:
    """Weighted sum of squares (L,) about the mean of Y (N, L); w is (N, 1)."""
    mean = (w * Y).sum(axis=0) / w.sum()
    return (w * (Y - mean) ** 2).sum(axis=0)


def _extrapolated(
    v: Array, old: Array | None, u: Array, t: Array
) -> tuple[Array, Array]:
    """The fits u moved on by their momenta t, and the next momenta.

    ``old`` are the fits before, None at first. A momentum starts anew where the last
    move went back.
    """
    if old is None:
        return u, t
    t = np.where(np.einsum("nl,nl->l", v - u, u - old) > 0, 1.0, t)
    following = (1 + np.sqrt(1 + 4 * t**2)) / 2
    return u + (t - 1) / following * (u - old), following


def value_and_gap(u: Array, z: Array, y: Array, band: Array) -> tuple[Array, Array]:
    """F and its duality gap, (L,) each, at the ridge fits u of targets z, all (N, L).

    Rows are scaled by √w, and band (N, 1) is ε√w.
    """
    r = u - y
    d = u - z
    loss = np.maximum(np.abs(r) - band, 0.0) ** 2
    gap = (loss - 2 * d * r + 2 * band * np.abs(d) + d * d).sum(axis=0)
    # (τ/2)‖p̃‖², by the ridge equations.
    penalty = np.maximum(-np.einsum("nl,nl->l", d, u), 0.0)
    return loss.sum(axis=0) + penalty, np.maximum(gap, 0.0)


def leski_loop(
    factor: RidgeFactor,
    Y: Array,
    epsilon: float,
    *,
    limit: Array | None = None,
    max_iter: int = 1000,
) -> TubeSolution:
    """Leski's published loop for the absolute loss Σ w ]r[ + (τ/2)‖p̃‖².

    It has no certificate.

    A target gives two inequalities, g·p - y + ε > 0 and y - g·p + ε > 0, with margins
    b > 0 and errors e = (left side) - b. In every step p comes by least squares
    weighted with d = 1/|e| (1 at first), then b += ρ(e + |e|), until Σ w(Δb)² <= 1e-4.
    The first step is ridge, the same for all outputs; each further step needs a
    factorisation. Inequalities that hold get the largest weights and freeze p away from
    the optimum.

    Y is (N, L); ``limit`` is as in `minimise`.
    """
    design = factor.design
    n_outputs = Y.shape[1]
    limit = design.limits(limit, n_outputs)
    n_iter = np.ones(n_outputs, np.intp)
    ridge = RidgeFactor(design, factor.half / 2)
    P, extra = ridge.coefficients(design.root[:, None] * Y, limit)
    for j, m in enumerate(limit):
        p, q, n_iter[j] = _leski_output(
            factor,
            Y[:, j],
            P[:, [j]],
            extra[:m, [j]],
            epsilon=epsilon,
            max_iter=max_iter,
        )
        P[:, [j]] = p
        extra[:m, [j]] = q
    unknown = np.full(n_outputs, np.nan)
    return TubeSolution(
        P=P,
        extra=extra,
        value=unknown,
        gap=unknown,
        n_iter=n_iter,
        converged=bool(np.all(n_iter < max_iter)),
    )


def _leski_output(
    factor: RidgeFactor, y: Array, p: Array, q: Array, *, epsilon: float, max_iter: int
) -> tuple[Array, Array, int]:
    """`leski_loop` for one target y (N,), from the ridge coefficients p and q.

    p is (K(D+1), 1), q is (m, 1) for the m columns of E that the output may use.
    Returned are the last p and q, and the number of steps.
    """
    root = factor.design.root
    E = factor.design.E[:, : len(q)]
    limit = np.array([len(q)])
    b = np.full((2, len(y)), FIRST_MARGIN)
    for step in count(1):
        fitted = (factor.design.G @ p + E @ q)[:, 0]
        r = fitted / np.maximum(root, np.finfo(np.float64).tiny) - y
        e = np.stack([r, -r]) + epsilon - b
        change = MARGIN_STEP * (e + np.abs(e))
        if step == max_iter or np.sum(root**2 * change**2) <= MARGIN_CHANGE:
            break
        b = b + change
        d = 1 / np.maximum(np.abs(e), SMALLEST_ERROR)
        weight = d.sum(axis=0)
        # Both inequalities as one weighted target between them.
        target = (d[0] * (y - epsilon + b[0]) + d[1] * (y + epsilon - b[1])) / weight
        weighted = RidgeDesign(factor.design.G, weight, E)
        aim = root * np.sqrt(weight) * target
        p, q = RidgeFactor(weighted, factor.half, whole=True).coefficients(
            aim[:, None], limit
        )
    return p, q, step
