"""ε-insensitive regression on rule-mapped features: all outputs with one factorisation, to a certified optimum.

Symbols: G (N, K(D+1)) rule-mapped features, E (N, m) further penalised columns, w (N,) weights, p = (c, p̃) biases and
penalised coefficients, y a target, τ > 0, ε >= 0, ]r[ = max(0, |r| - ε). For every output

    F(p) = Σ_n w_n ]y_n - g_n·p[² + (τ/2) ‖p̃‖²,   and   ]r[² = min over |z - y| <= ε of (g·p - z)²,

so alternating minimisation clips the fit to the tube around y and solves a ridge problem for that z. The ridge matrix
is the same in every step and for every output. Steps are extrapolated (Nesterov) and restarted output by output.

Certificate: after a ridge solve a = 2w(Gp - z) is feasible in the dual problem, whose value is at most the minimum.
The gap is the sum of the terms w(]r[² - 2(u - z)r + 2ε|u - z| + (u - z)²) with u = Gp, r = u - y, none below 0.

The biases carry no penalty: they are eliminated through an orthonormal basis U of their columns, which may be
dependent. What is left is the ridge matrix of Q[G̃, E], Q = I - UUᵀ, or, with more columns than rows, its dual form
(N, N). Rows are scaled by √w throughout.
"""

from collections import namedtuple
from functools import partial

import numpy as np
from scipy.linalg import cholesky, solve_triangular, svd

# Firing strengths of rules that differ by less than this share are one bias: their rounding errors would be scaled up
# by its inverse.
DEPENDENT = 1e-7
# Two labels with one positive row took 389 and 1,205 steps to 1e-4 of their F, the 99 other labels at most 156.
FLOOR = 0.1

# consequents P (K(D+1), L), coefficients (m, L) of E; objective, gap and steps of every output
Solution = namedtuple("Solution", "P extra value gap n_iter converged")
_solve = partial(solve_triangular, lower=True, check_finite=False)


class Design:
    """What no target, τ or ε changes: a map G, weights w (N,), further columns E (N, m), the cheaper Gram matrix."""

    def __init__(self, G, w, E=None):
        self.root, self.G = np.sqrt(w), G.weighted(w)
        self.E = np.empty((len(w), 0)) if E is None else E * self.root[:, None]
        U, s, Vt = svd(self.G.M, full_matrices=False, check_finite=False)
        keep = s > DEPENDENT * s[0]
        self.U, self.bias = U[:, keep], Vt[keep].T / s[keep]
        self.dual = G.shape[1] > G.shape[0]
        if self.dual:  # Q G̃ G̃ᵀ Q, that of rows, without E
            A = self.gram = self.G.dual_gram()
            A -= self.G.M @ self.G.M.T
            AU = A @ self.U
            A -= AU @ self.U.T
            A -= self.U @ (AU - self.U @ (self.U.T @ AU)).T
            return
        K, width, m = G.n_rules, G.X.shape[1] + 1, self.E.shape[1]
        n = K * (width - 1)
        A = self.gram = np.empty((n + m, n + m))  # [G̃, E]ᵀ Q [G̃, E]
        A[:n, :n] = (
            self.G.gram().reshape(K, width, K, width)[:, 1:, :, 1:].reshape(n, n)
        )
        A[:, n:] = self.transpose(self.E) if m else 0.0
        A[n:, :n] = A[:n, n:].T
        T = self.transpose(self.U)
        A -= T @ T.T

    def without_bias(self, Z):
        """Q Z."""
        return Z - self.U @ (self.U.T @ Z)

    def consequents(self, P, bias=0.0):
        """Coefficients (K(D+1), L) of G from penalised ones (KD + m, L) and biases (K, L)."""
        K, D = self.G.n_rules, self.G.X.shape[1]
        cube = np.empty((K, D + 1, P.shape[1]))
        cube[:, 0], cube[:, 1:] = bias, P[: K * D].reshape(K, D, -1)
        return cube.reshape(-1, P.shape[1])

    def apply(self, P):
        """[G̃, E] P for penalised coefficients P (KD + m, L)."""
        return self.G @ self.consequents(P) + self.E @ P[len(P) - self.E.shape[1] :]

    def transpose(self, Z):
        """[G̃, E]ᵀ Z."""
        cube = self.G.transpose_matmul(Z).reshape(self.G.n_rules, -1, Z.shape[1])
        return np.concatenate([cube[:, 1:].reshape(-1, Z.shape[1]), self.E.T @ Z])


class Factor:
    """Ridge problems min ‖[U, G̃, E](·) - z‖² + half ‖p̃‖² of one design, half = τ/2, factored once.

    An output may use only the first ``limit`` columns of E: those problems have leading blocks of one matrix, whose
    Cholesky factors are the leading blocks of its factor. A whole chain of labels thus needs one factorisation. Where
    all outputs use the ``whole`` of E, it need not come on top.
    """

    def __init__(self, design, half, whole=False):
        A, self.design, self.half, self.V = design.gram.copy(), design, half, None
        E = design.without_bias(design.E) if design.dual else np.empty((0, 0))
        if E.size and whole:
            A += E @ E.T
        A.flat[:: len(A) + 1] += half
        self.root = cholesky(
            A.T, lower=True, overwrite_a=True, check_finite=False
        )  # .T: in place, A is symmetric
        if E.size and not whole:  # Woodbury: E comes on top of the factor of the rows
            self.V = _solve(self.root, E)
            inner = self.V.T @ self.V + np.eye(E.shape[1])
            self.inner = cholesky(
                inner, lower=True, overwrite_a=True, check_finite=False
            )

    def fit(self, Z, limit):
        """Fitted values (N, l) for targets Z (N, l)."""
        found = self._solved(Z, limit)
        if self.design.dual:
            return Z - self.half * found
        linear = self.design.apply(found)
        return linear + self.design.U @ (self.design.U.T @ (Z - linear))

    def coefficients(self, Z, limit):
        """Consequents (K(D+1), l) and coefficients (m, l) of E for targets Z."""
        design, P = self.design, self._solved(Z, limit)
        P = design.transpose(P) if design.dual else P
        extra = P[len(P) - design.E.shape[1] :]
        extra *= np.arange(len(extra))[:, None] < limit
        bias = design.bias @ (design.U.T @ (Z - design.apply(P)))
        return design.consequents(P, bias), extra

    def _solved(self, Z, limit):
        """Penalised coefficients (KD + m, l), or in the dual form what `Design.transpose` makes them of (N, l)."""
        design, Z = self.design, self.design.without_bias(Z)
        forward = _solve(self.root, Z if design.dual else design.transpose(Z))
        used = (
            np.arange(design.E.shape[1])[:, None] < limit
        )  # (m, l): where an output may use a column of E
        if not design.dual:
            forward[len(forward) - len(used) :] *= used
        elif self.V is not None:
            inside = _solve(self.inner, self.V.T @ forward) * used
            forward -= self.V @ _solve(self.inner, inside, trans=1)
        return _solve(self.root, forward, trans=1)


def minimise(factor, Y, epsilon, *, limit=None, tol=1e-6, max_iter=1000):
    """Minimum of F for every column of Y (N, L), τ = 2 · factor.half, until gap <= tol · F.

    An output that can be fitted almost exactly (F near 0) counts as solved at gap <= tol · FLOOR · (squares about its
    mean): there the gap says enough about the fit, and a share of F would ask for digits that nothing depends on.
    ``limit`` (L,) says how many columns of E each output may use; all by default.
    """
    root, n_outputs = factor.design.root[:, None], Y.shape[1]
    mean = (root**2 * Y).sum(axis=0) / (root**2).sum()
    floor = FLOOR * (root**2 * (Y - mean) ** 2).sum(axis=0)
    Y, band = Y * root, epsilon * root
    limit = (
        np.full(n_outputs, factor.design.E.shape[1])
        if limit is None
        else np.asarray(limit)
    )
    value, gap, n_iter = (
        np.zeros(n_outputs),
        np.zeros(n_outputs),
        np.zeros(n_outputs, dtype=np.intp),
    )
    active, Z, v, u, t = np.arange(n_outputs), Y.copy(), Y, None, np.ones(n_outputs)
    for step in range(1, max_iter + 1):
        if not len(active):
            break
        y = Y[:, active]
        z = np.clip(
            v, y - band, y + band
        )  # at first the targets themselves, so that the first step is ridge
        old, u = u, factor.fit(z, limit[active])
        Z[:, active], n_iter[active] = z, step
        value[active], gap[active] = value_and_gap(u, z, y, band)
        aim = tol * np.maximum(value[active], floor[active])
        aim += 1e-14 * np.einsum(
            "nl,nl->l", y, y
        )  # what rounding leaves of an output that is fitted exactly
        v, t = (u, t) if old is None else _extrapolated(v, old, u, t)
        going = gap[active] > aim
        active, v, u, t = active[going], v[:, going], u[:, going], t[going]
    P, extra = factor.coefficients(Z, limit)
    return Solution(P, extra, value, gap, n_iter, not len(active))


def _extrapolated(v, old, u, t):
    """The fits u moved on by their momentum t, and the next momentum; it starts anew where the last move went back."""
    t = np.where(np.einsum("nl,nl->l", v - u, u - old) > 0, 1.0, t)
    following = (1 + np.sqrt(1 + 4 * t**2)) / 2
    return u + (t - 1) / following * (u - old), following


def value_and_gap(u, z, y, band):
    """F and its duality gap, (L,) each, at the ridge fits u of targets z; rows scaled by √w, band = ε√w."""
    r, d = u - y, u - z
    loss = np.maximum(np.abs(r) - band, 0.0) ** 2
    gap = (loss - 2 * d * r + 2 * band * np.abs(d) + d * d).sum(axis=0)
    penalty = np.maximum(
        -np.einsum("nl,nl->l", d, u), 0.0
    )  # (τ/2)‖p̃‖², by the ridge equations
    return loss.sum(axis=0) + penalty, np.maximum(gap, 0.0)


def leski_loop(factor, Y, epsilon, *, limit=None, max_iter=1000):
    """Leski's published loop for the absolute loss Σ w ]r[ + (τ/2)‖p̃‖², output by output: no certificate.

    A target gives two inequalities, g·p - y + ε > 0 and y - g·p + ε > 0, with margins b > 0 and errors e = (left side)
    - b: p by least squares weighted with d = 1/|e| (1 at first), b += ρ(e + |e|), until Σ w(Δb)² <= 1e-4. The first
    step is ridge, the same for all; further ones need a factorisation each. Inequalities that hold get the largest
    weights and freeze p away from the optimum.
    """
    design, root, n_outputs = factor.design, factor.design.root, Y.shape[1]
    limit, n_iter = (
        np.full(n_outputs, design.E.shape[1]) if limit is None else limit,
        np.ones(n_outputs, np.intp),
    )
    P, extra = Factor(design, factor.half / 2).coefficients(root[:, None] * Y, limit)
    for j, own in enumerate(limit):
        y, E, p, q, b = (
            Y[:, j],
            design.E[:, :own],
            P[:, [j]],
            extra[:own, [j]],
            np.full((2, len(Y)), 1e-6),
        )
        while True:
            r = (design.G @ p + E @ q)[:, 0] / np.maximum(
                root, np.finfo(np.float64).tiny
            ) - y
            e = np.stack([r, -r]) + epsilon - b
            change = 0.98 * (e + np.abs(e))
            b, d = b + change, 1 / np.maximum(np.abs(e), 1e-8)
            if n_iter[j] == max_iter or np.sum(root**2 * change**2) <= 1e-4:
                break
            # both inequalities as one weighted target between them
            target = (
                d[0] * (y - epsilon + b[0]) + d[1] * (y + epsilon - b[1])
            ) / d.sum(axis=0)
            weighed, aim = (
                Design(design.G, d.sum(axis=0), E),
                root * np.sqrt(d.sum(axis=0)) * target,
            )
            p, q = Factor(weighed, factor.half, whole=True).coefficients(
                aim[:, None], np.array([own])
            )
            n_iter[j] += 1
        P[:, [j]], extra[:own, [j]] = p, q
    unknown = np.full(n_outputs, np.nan)
    return Solution(P, extra, unknown, unknown, n_iter, bool(np.all(n_iter < max_iter)))
