"""HNOML: robust linear multi-label learning with sparse features and enriched labels. Our reconstruction.

    F(W, B) = ½‖X W - Y B‖² + α Σ_d ‖W_d‖ + β Σ_n ‖y_n B - y_n‖ + (γ/2)‖B‖²          (norms of rows: the l2,1 norm)

Symbols: X (N, D) centred features, Y (N, L) labels, W (D, L) weights, B (L, L) label enrichment, w (N,) row weights.
F is jointly convex. Alternating directions with J = W, E = Y B - Y, multipliers T (D, L) and V, penalties μ and ν:

    (W, B) = the minimum of a quadratic, J = shrink(W + T/μ, α/μ), E = shrink(Y B - Y + V/ν, β/ν),
    T += μ(W - J), V += ν(Y B - Y - E).

Rows with equal label sets have equal rows of E and V: one row per distinct label set Z_u, weighted by how often it
occurs, c_u, is the same iteration. One decomposition XᵀX = U diag(s) Uᵀ serves every (α, β, γ, μ, ν).
"""

import warnings
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning

from ...core.arrays import dense
from ...exceptions import InputError
from .base import CONSTRAINTS, MultilabelMethod, design_threads

RELAXATION = 1.7  # over-relaxation of both splittings; 1 took half as many iterations again
CHECK_EVERY, ADAPT_UNTIL = 10, 500  # iterations between certificates, and until which the penalties may change
KEPT_INVERSES = 8  # penalties are powers of 4 and few: every setting of a grid passes through the same ones
# Where copies stand still (E = 0 exactly, say) residuals would raise a penalty for ever. ν acts on 0/1 labels, μ on
# weights in the units of the features.
MU_RANGE, NU_RANGE = (1e-6, 1e6), (1e-3, 1e3)
POWERS = [0.01, 0.1, 1.0, 10.0, 100.0]


@dataclass(frozen=True)
class Statistics:
    """What the solver needs of the data. XᵀX = U diag(s) Uᵀ with U (D, r), r <= min(D, N)."""

    U: np.ndarray
    s: np.ndarray
    XY: np.ndarray
    YY: np.ndarray
    Z: np.ndarray
    c: np.ndarray
    x_mean: np.ndarray
    y_mean: np.ndarray
    inverses: dict[float, np.ndarray] = field(default_factory=dict, repr=False)

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
    """Weights ``W`` (row-sparse), enrichment ``B``, F there, the duality gap as a share of F, steps, and the state."""

    W: np.ndarray
    B: np.ndarray
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
    root, share = np.sqrt(w)[:, None], w / w.sum()
    x_mean = np.asarray(share @ X).ravel() if center else np.zeros(X.shape[1])
    y_mean = share @ Y if center else np.zeros(Y.shape[1])
    Yw = root * (Y - y_mean)
    if sparse.issparse(X):  # centred without being filled in: Xw - root x_meanᵀ
        Xw, shift = sparse.csr_array(X.multiply(root)), x_mean
    else:
        Xw, shift = root * (X - x_mean), np.zeros_like(x_mean)
    U, s = _decompose(Xw, root[:, 0], shift)
    XY = Xw.T @ Yw - np.outer(shift, root[:, 0] @ Yw)
    return Statistics(U, s, XY, Yw.T @ Yw, *_label_sets(Y, w), x_mean, y_mean)


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


def _label_sets(Y, w):
    """Distinct label sets Z (rows) that are not empty, and the weight c of the rows that have each."""
    Z, which = np.unique(Y, axis=0, return_inverse=True)
    c = np.bincount(which.ravel(), weights=w, minlength=len(Z))
    keep = Z.any(axis=1) & (c > 0)
    return Z[keep], c[keep]


def quadratic_step(data, gamma, mu, nu):
    """The (W, B) step as a function of a `State`: W is eliminated, which leaves L equations for B."""
    F = data.inverse(data.XY, mu)
    cZ = data.c[:, None] * data.Z
    system = data.YY + nu * (data.Z.T @ cZ) + gamma * np.eye(len(data.YY)) - data.XY.T @ F
    factor = linalg.cho_factor(0.5 * (system + system.T))

    def step(J, E, T, V):
        rest = mu * J - T
        B = linalg.cho_solve(factor, cZ.T @ (nu * (data.Z + E) - V) + F.T @ rest)
        return data.inverse(rest, mu) + F @ B, B

    return step


def objective_and_gap(data, W, B, V, alpha, beta, gamma):
    """F(W, B) and the duality gap there: an upper bound of F(W, B) - min F, as a share of F.

    The dual value of Θ (N, L), V is -½‖Θ‖² - ‖YᵀΘ - Zᵀ(cV)‖²/2γ - Σ c_u V_u·Z_u, for ‖(XᵀΘ)_d‖ <= α and ‖V_u‖ <= β.
    The multipliers of ADMM keep the second bound; the residual X W - Y B, scaled to the first, serves as Θ.
    """
    XR, YR = data.gram(W) - data.XY @ B, data.XY.T @ W - data.YY @ B
    square, cV = max(0.0, float(np.vdot(W, XR) - np.vdot(B, YR))), data.c[:, None] * V
    noise = float(data.c @ row_norms(data.Z @ B - data.Z))
    value = 0.5 * square + alpha * row_norms(W).sum() + beta * noise + 0.5 * gamma * float(np.vdot(B, B))
    k = min(1.0, alpha / max(row_norms(XR).max(initial=0.0), np.finfo(np.float64).tiny))
    misfit = k * YR - data.Z.T @ cV
    dual = -0.5 * k * k * square - float(np.vdot(misfit, misfit)) / (2 * gamma) - float(np.vdot(cV, data.Z))
    scale = max(value, np.finfo(np.float64).eps * (1.0 + np.trace(data.YY)))
    return float(value), max(0.0, float(value - dual)) / scale


def solve(data, alpha, beta, gamma, *, start=None, max_iter=1000, tol=1e-5):
    """Minimise F by ADMM from ``start`` (a `State`), until the relative duality gap is at most tol."""
    J, E = np.zeros_like(data.XY), np.zeros_like(data.Z)
    now, n_iter = start or State(J, E, J, E, 1.0, 1.0), 0
    step = quadratic_step(data, gamma, now.mu, now.nu)
    while True:
        W, B = step(now.J, now.E, now.T, now.V)
        old, now, lag = now, *_split(data, now, W, data.Z @ B - data.Z, alpha, beta)
        n_iter += 1
        if n_iter % CHECK_EVERY == 0 or n_iter >= max_iter:
            value, gap = objective_and_gap(data, now.J, B, now.V, alpha, beta, gamma)
            if gap <= tol or n_iter >= max_iter:
                return Solution(now.J, B, value, gap, n_iter, now)
            mu, nu = _adapted(data, old, now, lag) if n_iter < ADAPT_UNTIL else (now.mu, now.nu)
            if (mu, nu) != (now.mu, now.nu):
                now, step = now._replace(mu=mu, nu=nu), quadratic_step(data, gamma, mu, nu)


def _split(data, now, W, ZB, alpha, beta):
    """New copies and multipliers, and by how much W and Y B - Y differ from the copies."""
    W_mix = RELAXATION * W + (1 - RELAXATION) * now.J
    E_mix = RELAXATION * ZB + (1 - RELAXATION) * now.E
    J = shrink_rows(W_mix + now.T / now.mu, alpha / now.mu)
    E = shrink_rows(E_mix + now.V / now.nu, beta / now.nu)
    new = State(J, E, now.T + now.mu * (W_mix - J), now.V + now.nu * (E_mix - E), now.mu, now.nu)
    return new, (W - J, ZB - E)


def _adapted(data, old, now, lag):
    """Penalties nearer to where relative primal and dual residuals are equal, in factors of 4."""
    root = np.sqrt(data.c)[:, None]
    up_mu = _factor(lag[0], now.J, now.mu * (now.J - old.J), now.T)
    up_nu = _factor(root * lag[1], 0.1 * root * data.Z, now.nu * root * (now.E - old.E), root * now.V)
    return float(np.clip(up_mu * now.mu, *MU_RANGE)), float(np.clip(up_nu * now.nu, *NU_RANGE))


def _factor(primal, size, dual, multiplier):
    p = np.linalg.norm(primal) / max(np.linalg.norm(size), np.linalg.norm(primal), 1e-12)
    d = np.linalg.norm(dual) / max(np.linalg.norm(multiplier), 1e-12)
    return 4.0 if p > 5 * d else 0.25 if d > 5 * p else 1.0


class HNOML(MultilabelMethod):
    """Hybrid noise-oriented multi-label learning: feature noise and label noise in one convex linear model.

    Minimises ½‖XW - YB‖² + α‖W‖₂,₁ + β‖YB - Y‖₂,₁ + (γ/2)‖B‖² over weights W and a label-enrichment matrix B, with an
    unpenalised constant column. Scores are X W. ``alpha`` switches noisy features off, ``beta`` lets the labels of few
    samples be rewritten (from about 1 on of none), ``gamma`` bounds the rewriting. Our reconstruction: the published
    abstract names the ingredients, not the form of the terms.

    Parameters
    ----------
    alpha, beta, gamma : float > 0, default=1
    fit_intercept : bool, default=True
    max_iter : int, default=1000
    tol : float, default=1e-5
        On the duality gap as a share of the objective. A `ConvergenceWarning` says when it was not reached.

    Attributes
    ----------
    coef_ : array of shape (n_features, n_labels)
        Rows of features that were switched off are exactly 0.
    intercept_ : array of shape (n_labels,)
    enrichment_ : array of shape (n_labels, n_labels)
    objective_, gap_ : float
    n_iter_ : int

    References
    ----------
    C. Zhang, Z. Yu, H. Fu, P. Zhu, L. Chen, Q. Hu, "Hybrid noise-oriented multilabel learning", IEEE Transactions on
    Cybernetics 50(6), 2019, pages 2837-2850.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.1]])
    >>> HNOML(alpha=0.1).fit(X, [[0, 1], [1, 0], [0, 1], [1, 0]]).predict(X).tolist()
    [[0, 1], [1, 0], [0, 1], [1, 0]]
    """

    PAPER_GRID: ClassVar = {"alpha": POWERS, "beta": POWERS, "gamma": POWERS}
    _takes_weights: ClassVar = True
    _takes_sparse: ClassVar = True
    _parameter_constraints: ClassVar = CONSTRAINTS

    def __init__(self, alpha=1.0, beta=1.0, gamma=1.0, *, fit_intercept=True, max_iter=1000, tol=1e-5):
        self.alpha, self.beta, self.gamma = alpha, beta, gamma
        self.fit_intercept, self.max_iter, self.tol = fit_intercept, max_iter, tol

    def _fit(self, X, Y, w):
        with design_threads(X):
            self._learn(statistics(X, Y, w, self.fit_intercept))

    def _learn(self, data, start=None):
        """Solve and store; returns the `State` in which the iteration ended."""
        found = solve(data, self.alpha, self.beta, self.gamma, start=start, max_iter=self.max_iter, tol=self.tol)
        self.coef_, self.enrichment_ = found.W, found.B
        self.intercept_ = data.y_mean @ found.B - data.x_mean @ found.W
        self.objective_, self.gap_, self.n_iter_ = found.value, found.gap, found.n_iter
        if found.gap > self.tol:
            gap = f"with a duality gap of {found.gap:.1e} of the objective instead of {self.tol:.1e}"
            message = f"HNOML stopped after {found.n_iter} iterations {gap}: raise max_iter, or scale the features."
            warnings.warn(message, ConvergenceWarning, stacklevel=4)
        return found.state

    def _scores(self, X):
        return X @ self.coef_ + self.intercept_

    def _path(self, pairs, X, Y, w, X_test):
        """One decomposition of X, each solution the next one's start: equal to single fits within ``tol``."""
        data, start = {}, {}
        # Each solution is the start of the next smaller beta. Starts from another alpha or gamma cost more iterations
        # than none (18,710 against 12,390 on a fold of scene; along beta it is 7,200).
        for params, model in sorted(pairs, key=lambda pair: -pair[1].beta):
            centred, key = model.fit_intercept, (model.alpha, model.gamma, model.fit_intercept)
            with design_threads(X):
                if centred not in data:
                    data[centred] = statistics(X, Y, w, centred)
                start[key] = model._learn(data[centred], start.get(key))
                scores = model._scores(X_test)
            yield model._point(params, scores)
