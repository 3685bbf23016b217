"""Both readings of HNOML, solved by alternating directions with a duality gap as certificate.

    features: ½‖X W - Y B‖² + α Σ_d ‖W_d‖ + β Σ_n ‖y_n B - y_n‖ + (γ/2)‖B‖²           (norms of rows: the l2,1 norm)
    samples:  Σ_n ‖x_n W - y_n B‖ + (α/2)‖W‖² + β Σ_n ‖y_n B - y_n‖ + (γ/2)‖B‖²

Symbols: X (N, D) centred features, Y (N, L) labels, W (D, L) weights, B (L, L) label enrichment, w (N,) row weights.
Both are jointly convex. A first copy J, of W or of the misfits X W - Y B, and E = Y B - Y have multipliers T and V and
penalties μ and ν; b is α or 1, the weight of the norms of the rows of J:

    (W, B) = the minimum of a quadratic, J = shrink(W + T/μ, b/μ), E = shrink(Y B - Y + V/ν, β/ν),
    T += μ(W - J), V += ν(Y B - Y - E)                                       (for samples X W - Y B in the place of W)

Rows with equal label sets have equal rows of E and V: one row per distinct label set Z_u, weighted by how often it
occurs, c_u, is the same iteration. One decomposition XᵀX = U diag(s) Uᵀ serves every (α, β, γ, μ, ν).
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from ...core.arrays import Matrix, dense
from ...exceptions import InputError

RELAXATION = 1.7  # over-relaxation of both splittings; 1 took half as many iterations again
CHECK_EVERY, ADAPT_UNTIL = 10, 500  # iterations between certificates, and until which the penalties may change
KEPT_INVERSES = 8  # penalties are powers of 4 and few: every setting of a grid passes through the same ones
# Where copies stand still (E = 0 exactly, say) residuals would raise a penalty for ever. ν acts on 0/1 labels, μ on
# weights in the units of the features.
MU_RANGE, NU_RANGE = (1e-6, 1e6), (1e-3, 1e3)


@dataclass(frozen=True)
class Statistics:
    """What the solvers need of the data. XᵀX = U diag(s) Uᵀ with U (D, r), r <= min(D, N).

    ``rows`` are X, or X before its mean ``shift`` is taken off where that would fill it in; ``share`` is w / Σ w, or 0
    where nothing is centred.
    """

    rows: Matrix
    shift: np.ndarray
    Y: np.ndarray
    w: np.ndarray
    share: np.ndarray
    U: np.ndarray
    s: np.ndarray
    XY: np.ndarray
    YY: np.ndarray
    Z: np.ndarray
    c: np.ndarray
    x_mean: np.ndarray
    y_mean: np.ndarray
    inverses: dict[float, np.ndarray] = field(default_factory=dict, repr=False)

    def misfits(self, W, B):
        """X W - Y B, (N, L)."""
        return self.rows @ W - self.shift @ W - self.Y @ B

    def transposed(self, A):
        """Xᵀ(w ∘ A) and Yᵀ(w ∘ A) of A (N, L)."""
        A = self.w[:, None] * A
        return self.rows.T @ A - np.outer(self.shift, A.sum(axis=0)), self.Y.T @ A

    def gram(self, W):
        """XᵀX W."""
        return self.U @ (self.s[:, None] * (self.U.T @ W))

    def inverse(self, R, mu):
        """(XᵀX + μI)⁻¹ R: by Woodbury's identity if r < D, else by an inverse that is kept for the next setting."""
        if self.U.shape[1] < self.U.shape[0]:
            return (R - self.U @ ((self.s / (self.s + mu))[:, None] * (self.U.T @ R))) / mu
        if mu not in self.inverses:
            if len(self.inverses) == KEPT_INVERSES:
                self.inverses.clear()
            self.inverses[mu] = (self.U / (self.s + mu)) @ self.U.T
        return self.inverses[mu] @ R


class State(NamedTuple):
    """Where an iteration stands: the copies J and E, their multipliers T and V, the penalties μ and ν."""

    J: np.ndarray
    E: np.ndarray
    T: np.ndarray
    V: np.ndarray
    mu: float
    nu: float


class Solution(NamedTuple):
    """Weights, enrichment and constant, the objective there, the duality gap as a share of it, steps, and the state."""

    W: np.ndarray
    B: np.ndarray
    constant: np.ndarray
    value: float
    gap: float
    n_iter: int
    state: State


def shrink_rows(A, t):
    """Prox of t‖·‖_{2,1}: every row loses t of its length, shorter rows become 0."""
    length = row_norms(A)[:, None]
    return A * np.maximum(0.0, 1.0 - t / np.maximum(length, np.finfo(np.float64).tiny))


def row_norms(A):
    """Euclidean length of every row, (n,)."""
    return np.sqrt(np.einsum("nl,nl->n", A, A))


def statistics(X, Y, w, center=True):
    """`Statistics` of rows X (dense or CSR), Y under weights w. Centring is an unpenalised constant column."""
    if w.sum() <= 0:
        raise InputError("All sample weights are zero: give at least one row a positive weight.")
    if not w.all():
        X, Y, w = X[w > 0], Y[w > 0], w[w > 0]
    root, share = np.sqrt(w), w / w.sum() if center else np.zeros_like(w)
    x_mean, y_mean = np.asarray(share @ X).ravel(), share @ Y
    # sparse rows are centred without being filled in
    rows, shift = (X, x_mean) if sparse.issparse(X) else (X - x_mean, np.zeros_like(x_mean))
    weighted = sparse.csr_array(X.multiply(root[:, None])) if sparse.issparse(X) else root[:, None] * rows
    Yw = root[:, None] * (Y - y_mean)
    XY = weighted.T @ Yw - np.outer(shift, root @ Yw)
    U, s = _decompose(weighted, root, shift)
    Z, which = np.unique(Y, axis=0, return_inverse=True)
    c, kept = np.bincount(which.ravel(), weights=w, minlength=len(Z)), Z.any(axis=1)  # an empty set says nothing
    return Statistics(rows, shift, Y - y_mean, w, share, U, s, XY, Yw.T @ Yw, Z[kept], c[kept], x_mean, y_mean)


def _decompose(Xw, root, shift):
    """U and s of (Xw - root shiftᵀ)ᵀ(Xw - root shiftᵀ), by the smaller of its two Gram matrices."""
    N, D = Xw.shape
    cross, total = Xw.T @ root, root @ root
    if D <= N:
        s, U = linalg.eigh(dense(Xw.T @ Xw) - np.outer(cross, shift) - np.outer(shift, cross - total * shift))
        return U, np.maximum(s, 0.0)
    along = Xw @ shift
    K = dense(Xw @ Xw.T) - np.outer(along, root) - np.outer(root, along - (shift @ shift) * root)
    s, Q = linalg.eigh(K)
    keep = s > 1e-12 * max(s[-1], np.finfo(np.float64).tiny)
    return (Xw.T @ Q[:, keep] - np.outer(shift, root @ Q[:, keep])) / np.sqrt(s[keep]), s[keep]


class Point(NamedTuple):
    """A minimum of the quadratic: weights, enrichment, constant, and what J is a copy of."""

    W: np.ndarray
    B: np.ndarray
    constant: np.ndarray
    copied: np.ndarray


@dataclass(frozen=True)
class FeatureNoise:
    """The reading in which whole features are noise: J is a copy of W, whose rows become 0."""

    data: Statistics
    alpha: float
    beta: float
    gamma: float

    bound = property(lambda self: self.alpha, doc="Weight of the norms of the rows of J.")
    weights = property(lambda self: np.ones(len(self.data.XY)), doc="Weights of the rows of J.")

    def quadratic_step(self, mu, nu):
        """The (W, B) step as a function of a `State`: W is eliminated, which leaves L equations for B."""
        data, F = self.data, self.data.inverse(self.data.XY, mu)
        solve_labels = label_equations(data, data.YY - data.XY.T @ F, self.gamma, nu)

        def step(now):
            rest = mu * now.J - now.T
            B = solve_labels(now, F.T @ rest)
            W = data.inverse(rest, mu) + F @ B
            return Point(W, B, np.zeros(B.shape[1]), W)

        return step

    def certify(self, point, now):
        """Where the iteration stands as (W, B, constant), the objective there, and its duality gap, as a share of it.

        The dual value of Θ (N, L), V is -½‖Θ‖² - ‖YᵀΘ - Zᵀ(cV)‖²/2γ - Σ c_u V_u·Z_u, for ‖(XᵀΘ)_d‖ <= α, ‖V_u‖ <= β.
        The multipliers of ADMM keep the second bound; the residual X W - Y B, scaled to the first, serves as Θ.
        """
        data, W, B = self.data, now.J, point.B
        XR, YR = data.gram(W) - data.XY @ B, data.XY.T @ W - data.YY @ B
        square = max(0.0, float(np.vdot(W, XR) - np.vdot(B, YR)))
        value = 0.5 * square + self.alpha * row_norms(W).sum()
        k = min(1.0, self.alpha / max(row_norms(XR).max(initial=0.0), np.finfo(np.float64).tiny))
        return W, B, point.constant, *label_terms(self, B, now.V, value, -0.5 * k * k * square, k * YR)


@dataclass(frozen=True)
class SampleNoise(FeatureNoise):
    """The reading in which whole samples are noise: J is a copy of the misfits, whose norms count, not their squares.

    The constant of the model is the mean of what the misfits are to be, so that centred X and Y do.
    """

    bound = property(lambda self: 1.0)
    weights = property(lambda self: self.data.w)

    def quadratic_step(self, mu, nu):
        """The (W, B) step as a function of a `State`: W is eliminated, which leaves L equations for B."""
        data, F = self.data, self.data.inverse(self.data.XY, self.alpha / mu)
        solve_labels = label_equations(data, mu * (data.YY - data.XY.T @ F), self.gamma, nu)

        def step(now):
            aim = now.J - now.T / mu
            XA, YA = data.transposed(aim)
            rest = data.inverse(XA, self.alpha / mu)
            B = solve_labels(now, mu * (data.XY.T @ rest - YA))
            W, constant = rest + F @ B, data.share @ aim
            return Point(W, B, constant, data.misfits(W, B) + constant)

        return step

    def certify(self, point, now):
        """Where the iteration stands as (W, B, constant), the objective there, and its duality gap, as a share of it.

        The dual value of Θ (N, L), V is -‖XᵀΘ‖²/2α - ‖YᵀΘ - Zᵀ(cV)‖²/2γ - Σ c_u V_u·Z_u, for ‖Θ_n‖ <= 1, ‖V_u‖ <= β and
        Σ Θ_n = 0 where there is a constant. The multipliers T, brought to mean 0 and to the bound, serve as Θ.
        """
        data, (W, B, constant, misfits) = self.data, point
        value = float(data.w @ row_norms(misfits)) + 0.5 * self.alpha * float(np.vdot(W, W))
        theta = now.T - data.share @ now.T
        XT, YT = data.transposed(theta / max(1.0, row_norms(theta).max()))
        return W, B, constant, *label_terms(self, B, now.V, value, -float(np.vdot(XT, XT)) / (2 * self.alpha), YT)


def label_equations(data, quadratic, gamma, nu):
    """B as a function of a `State` and what else is on the right-hand side, factored once."""
    cZ = data.c[:, None] * data.Z
    system = quadratic + nu * (data.Z.T @ cZ) + gamma * np.eye(len(data.YY))
    factor = linalg.cho_factor(0.5 * (system + system.T))
    return lambda now, more: linalg.cho_solve(factor, cZ.T @ (nu * (data.Z + now.E) - now.V) + more)


def label_terms(problem, B, V, value, dual, YT):
    """Objective and relative gap, of which the terms without B - I and ‖B‖ are given; YT is YᵀΘ."""
    data, cV = problem.data, problem.data.c[:, None] * V
    value += problem.beta * float(data.c @ row_norms(data.Z @ B - data.Z)) + 0.5 * problem.gamma * float(np.vdot(B, B))
    dual -= float(np.sum((YT - data.Z.T @ cV) ** 2)) / (2 * problem.gamma) + float(np.vdot(cV, data.Z))
    scale = max(value, np.finfo(np.float64).eps * (1.0 + np.trace(data.YY)))
    return float(value), max(0.0, float(value - dual)) / scale


READINGS = {"features": FeatureNoise, "samples": SampleNoise}


def solve(problem, *, start=None, max_iter=1000, tol=1e-5):
    """The minimum of a reading's objective, by ADMM from ``start`` (a `State`) to a relative duality gap of tol."""
    E = np.zeros_like(problem.data.Z)
    J = np.zeros((len(problem.weights), E.shape[1]))
    now, n_iter = start or State(J, E, J, E, 1.0, 1.0), 0
    step = problem.quadratic_step(now.mu, now.nu)
    while True:
        point = step(now)
        old, (now, lag) = now, _split(problem, now, point)
        n_iter += 1
        if n_iter % CHECK_EVERY == 0 or n_iter >= max_iter:
            W, B, constant, value, gap = problem.certify(point, now)
            if gap <= tol or n_iter >= max_iter:
                return Solution(W, B, constant, value, gap, n_iter, now)
            mu, nu = _adapted(problem, old, now, lag) if n_iter < ADAPT_UNTIL else (now.mu, now.nu)
            if (mu, nu) != (now.mu, now.nu):
                now, step = now._replace(mu=mu, nu=nu), problem.quadratic_step(mu, nu)


def _split(problem, now, point):
    """New copies and multipliers, and by how much they differ from what they are copies of."""
    ZB = problem.data.Z @ point.B - problem.data.Z
    J_mix = RELAXATION * point.copied + (1 - RELAXATION) * now.J
    E_mix = RELAXATION * ZB + (1 - RELAXATION) * now.E
    J = shrink_rows(J_mix + now.T / now.mu, problem.bound / now.mu)
    E = shrink_rows(E_mix + now.V / now.nu, problem.beta / now.nu)
    new = State(J, E, now.T + now.mu * (J_mix - J), now.V + now.nu * (E_mix - E), now.mu, now.nu)
    return new, (point.copied - J, ZB - E)


def _adapted(problem, old, now, lag):
    """Penalties nearer to where relative primal and dual residuals are equal, in factors of 4."""
    rows, root, Z = np.sqrt(problem.weights)[:, None], np.sqrt(problem.data.c)[:, None], problem.data.Z
    up_mu = _factor(rows * lag[0], rows * now.J, now.mu * rows * (now.J - old.J), rows * now.T)
    up_nu = _factor(root * lag[1], 0.1 * root * Z, now.nu * root * (now.E - old.E), root * now.V)
    return float(np.clip(up_mu * now.mu, *MU_RANGE)), float(np.clip(up_nu * now.nu, *NU_RANGE))


def _factor(*arrays):
    primal, size, dual, multiplier = (float(np.linalg.norm(array)) for array in arrays)
    p, d = primal / max(size, primal, 1e-12), dual / max(multiplier, 1e-12)
    return 4.0 if p > 5 * d else 0.25 if d > 5 * p else 1.0
