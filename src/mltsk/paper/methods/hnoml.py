"""HNOML: robust linear multi-label learning with sparse noise and enriched labels. Our reconstruction.

Symbols: X (N, D) centred features, Y (N, L) labels, W (D, L) weights, B (L, L) label enrichment, w (N,) row weights.
Both readings (see `HNOML`) are jointly convex and solved by alternating directions, with a duality gap as certificate.
A first copy J, of W or of the misfits X W - Y B, and E = Y B - Y have multipliers T and V and penalties μ and ν; b is α
or 1, the weight of the norms of the rows of J:

    (W, B) = the minimum of a quadratic, J = shrink(W + T/μ, b/μ), E = shrink(Y B - Y + V/ν, β/ν),
    T += μ(W - J), V += ν(Y B - Y - E)                                       (for samples X W - Y B in the place of W)

Rows with equal label sets have equal rows of E and V: one row per distinct label set Z_u, weighted by how often it
occurs, c_u, is the same iteration. One decomposition XᵀX = U diag(s) Uᵀ serves every (α, β, γ, μ, ν).
"""

import warnings
from collections import namedtuple
from functools import cache, lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning

from ...core.arrays import dense
from .base import MultilabelMethod

POWERS = [0.01, 0.1, 1.0, 10.0, 100.0]
TINY = np.finfo(np.float64).tiny
RELAXATION = (
    1.7  # over-relaxation of both splittings; 1 took half as many iterations again
)
CHECK_EVERY, ADAPT_UNTIL = (
    10,
    500,
)  # iterations between certificates, and until which the penalties may change
KEPT_INVERSES = 8  # penalties are powers of 4 and few: every setting of a grid passes through the same ones
# Where copies stand still (E = 0 exactly, say) residuals would raise a penalty for ever. ν acts on 0/1 labels, μ on
# weights in the units of the features.
MU_RANGE, NU_RANGE = (1e-6, 1e6), (1e-3, 1e3)

# where an iteration stands: the copies J and E, their multipliers T and V, the penalties μ and ν
State = namedtuple("State", "J E T V mu nu")


def shrink_rows(A, t):
    """Prox of t‖·‖_{2,1}: every row loses t of its length, shorter rows become 0."""
    return A * np.maximum(0.0, 1.0 - t / np.maximum(row_norms(A)[:, None], TINY))


def row_norms(A):
    """Euclidean length of every row, (n,)."""
    return np.sqrt(np.einsum("nl,nl->n", A, A))


class Statistics:
    """What the solvers need of rows X (dense or CSR) and labels Y under weights w.

    Centring is an unpenalised constant column; ``share`` is w / Σ w, or 0 without it. ``rows`` are the centred X, or X
    before its mean ``shift`` is taken off where that would fill it in. U is (D, r), r <= min(D, N).
    """

    def __init__(self, X, Y, w, center=True):
        thin, root = sparse.issparse(X), np.sqrt(w)
        self.w, self.share = w, w / w.sum() if center else np.zeros_like(w)
        self.x_mean, self.y_mean = np.asarray(self.share @ X).ravel(), self.share @ Y
        self.rows, self.shift = X if thin else X - self.x_mean, self.x_mean * thin
        weighted = (
            sparse.csr_array(X.multiply(root[:, None]))
            if thin
            else root[:, None] * self.rows
        )
        self.Y = Y - self.y_mean
        Yw = root[:, None] * self.Y
        self.XY, self.YY = weighted.T @ Yw - np.outer(self.shift, root @ Yw), Yw.T @ Yw
        Z, which = np.unique(Y, axis=0, return_inverse=True)
        c, kept = (
            np.bincount(which.ravel(), weights=w, minlength=len(Z)),
            Z.any(axis=1),
        )  # an empty set says nothing
        self.Z, self.c = Z[kept], c[kept]
        self.kept_inverse = lru_cache(KEPT_INVERSES)(
            lambda mu: (self.U / (self.s + mu)) @ self.U.T
        )
        # U and s by the smaller of the two Gram matrices of the centred rows
        if weighted.shape[1] <= weighted.shape[0]:
            cross = weighted.T @ root
            centring = np.outer(self.shift, cross - (root @ root) * self.shift)
            s, self.U = linalg.eigh(
                dense(weighted.T @ weighted) - np.outer(cross, self.shift) - centring
            )
            self.s = np.maximum(s, 0.0)
        else:
            along = weighted @ self.shift
            centring = np.outer(root, along - (self.shift @ self.shift) * root)
            s, Q = linalg.eigh(
                dense(weighted @ weighted.T) - np.outer(along, root) - centring
            )
            keep = s > 1e-12 * max(s[-1], TINY)
            U = weighted.T @ Q[:, keep] - np.outer(self.shift, root @ Q[:, keep])
            self.U, self.s = U / np.sqrt(s[keep]), s[keep]

    def transposed(self, A):
        """Xᵀ(w ∘ A) and Yᵀ(w ∘ A) of A (N, L)."""
        A = self.w[:, None] * A
        return self.rows.T @ A - np.outer(self.shift, A.sum(axis=0)), self.Y.T @ A

    def inverse(self, R, mu):
        """(XᵀX + μI)⁻¹ R: by Woodbury's identity if r < D, else by an inverse that is kept for the next setting."""
        if self.U.shape[1] < self.U.shape[0]:
            return (
                R - self.U @ ((self.s / (self.s + mu))[:, None] * (self.U.T @ R))
            ) / mu
        return self.kept_inverse(mu) @ R


class FeatureNoise:
    """The reading in which whole features are noise: J is a copy of W, whose rows become 0.

    ``bound`` is the weight of the norms of the rows of J, ``weights`` are those of the rows themselves.
    """

    def __init__(self, data, alpha, beta, gamma):
        self.data, self.alpha, self.beta, self.gamma = data, alpha, beta, gamma
        self.bound, self.weights = alpha, np.ones(len(data.XY))
        self.equations = lru_cache(1)(self._equations)  # until the penalties change

    def solve(self, start, max_iter, tol):
        """The minimum of the objective, by ADMM from ``start`` (a `State`) to a relative duality gap of tol.

        Returned are weights, enrichment, constant, objective, relative gap, the number of steps and the last state.
        """
        Z = self.data.Z
        E, J = np.zeros_like(Z), np.zeros((len(self.weights), Z.shape[1]))
        now, n_iter = start or State(J, E, J, E, 1.0, 1.0), 0
        while True:
            W, B, constant, copied = self._step(now)
            ZB = Z @ B - Z
            J_mix = RELAXATION * copied + (1 - RELAXATION) * now.J
            E_mix = RELAXATION * ZB + (1 - RELAXATION) * now.E
            J = shrink_rows(J_mix + now.T / now.mu, self.bound / now.mu)
            E = shrink_rows(E_mix + now.V / now.nu, self.beta / now.nu)
            old, T, V = now, now.T + now.mu * (J_mix - J), now.V + now.nu * (E_mix - E)
            now, n_iter = State(J, E, T, V, now.mu, now.nu), n_iter + 1
            if n_iter % CHECK_EVERY == 0 or n_iter >= max_iter:
                W, value, gap = self._certify(W, B, copied, now)
                if gap <= tol or n_iter >= max_iter:
                    return W, B, constant, value, gap, n_iter, now
                if n_iter < ADAPT_UNTIL:
                    mu, nu = self._adapted(old, now, copied - J, ZB - E)
                    now = now._replace(mu=mu, nu=nu)

    def _adapted(self, old, now, J_lag, E_lag):
        """Penalties nearer to where relative primal and dual residuals are equal, in factors of 4."""
        rows, root = np.sqrt(self.weights)[:, None], np.sqrt(self.data.c)[:, None]
        residuals = (
            (rows * J_lag, rows * now.J, now.mu * rows * (now.J - old.J), rows * now.T),
            (
                root * E_lag,
                0.1 * root * self.data.Z,
                now.nu * root * (now.E - old.E),
                root * now.V,
            ),
        )
        for penalty, limits, arrays in zip(
            (now.mu, now.nu), (MU_RANGE, NU_RANGE), residuals, strict=True
        ):
            primal, size, dual, multiplier = (
                float(np.linalg.norm(array)) for array in arrays
            )
            p, d = primal / max(size, primal, 1e-12), dual / max(multiplier, 1e-12)
            yield float(
                np.clip(
                    penalty * (4.0 if p > 5 * d else 0.25 if d > 5 * p else 1.0),
                    *limits,
                )
            )

    def _step(self, now):
        """W and B at the minimum of the quadratic, the constant, and what J is a copy of."""
        F, solve_labels = self.equations(now.mu, 1.0, now.nu)
        rest = now.mu * now.J - now.T
        B = solve_labels(now, F.T @ rest)
        W = self.data.inverse(rest, now.mu) + F @ B
        return W, B, np.zeros(B.shape[1]), W

    def _equations(self, ridge, scale, nu):
        """F of W = … + F B, and B as a function of a `State` and what else is on the right-hand side of L equations."""
        data, cZ = self.data, self.data.c[:, None] * self.data.Z
        F = data.inverse(data.XY, ridge)
        system = (
            scale * (data.YY - data.XY.T @ F)
            + nu * (data.Z.T @ cZ)
            + self.gamma * np.eye(len(data.YY))
        )
        factor = linalg.cho_factor(0.5 * (system + system.T))
        return F, lambda now, more: linalg.cho_solve(
            factor, cZ.T @ (nu * (data.Z + now.E) - now.V) + more
        )

    def _certify(self, W, B, copied, now):
        """The weights as they stand, the objective there, and its duality gap as a share of it.

        The dual value of Θ (N, L), V is -½‖Θ‖² - ‖YᵀΘ - Zᵀ(cV)‖²/2γ - Σ c_u V_u·Z_u, for ‖(XᵀΘ)_d‖ <= α, ‖V_u‖ <= β.
        The multipliers of ADMM keep the second bound; the residual X W - Y B, scaled to the first, serves as Θ.
        """
        data, W = self.data, now.J
        XR = data.U @ (data.s[:, None] * (data.U.T @ W)) - data.XY @ B
        YR = data.XY.T @ W - data.YY @ B
        square = max(0.0, float(np.vdot(W, XR) - np.vdot(B, YR)))
        value = 0.5 * square + self.alpha * row_norms(W).sum()
        k = min(1.0, self.alpha / max(row_norms(XR).max(initial=0.0), TINY))
        return W, *self._with_label_terms(
            B, now.V, value, -0.5 * k * k * square, k * YR
        )

    def _with_label_terms(self, B, V, value, dual, YT):
        """Objective and relative gap, of which the terms without B - I and ‖B‖ are given; YT is YᵀΘ."""
        Z, c = self.data.Z, self.data.c
        cV = c[:, None] * V
        value += self.beta * float(c @ row_norms(Z @ B - Z)) + 0.5 * self.gamma * float(
            np.vdot(B, B)
        )
        dual -= float(np.sum((YT - Z.T @ cV) ** 2)) / (2 * self.gamma) + float(
            np.vdot(cV, Z)
        )
        scale = max(value, np.finfo(np.float64).eps * (1.0 + np.trace(self.data.YY)))
        return float(value), max(0.0, float(value - dual)) / scale


class SampleNoise(FeatureNoise):
    """The reading in which whole samples are noise: J is a copy of the misfits, whose norms count, not their squares.

    The constant of the model is the mean of what the misfits are to be, so that centred X and Y do.
    """

    def __init__(self, *given):
        super().__init__(*given)
        self.bound, self.weights = 1.0, self.data.w

    def _step(self, now):
        data, ridge, aim = self.data, self.alpha / now.mu, now.J - now.T / now.mu
        F, solve_labels = self.equations(ridge, now.mu, now.nu)
        XA, YA = data.transposed(aim)
        rest = data.inverse(XA, ridge)
        B = solve_labels(now, now.mu * (data.XY.T @ rest - YA))
        W, constant = rest + F @ B, data.share @ aim
        return W, B, constant, data.rows @ W - data.shift @ W - data.Y @ B + constant

    def _certify(self, W, B, copied, now):
        """Here the dual value is -‖XᵀΘ‖²/2α - ‖YᵀΘ - Zᵀ(cV)‖²/2γ - Σ c_u V_u·Z_u, for ‖Θ_n‖ <= 1, ‖V_u‖ <= β and, where
        there is a constant, Σ Θ_n = 0. The multipliers T, brought to mean 0 and to the bound, serve as Θ.
        """
        data = self.data
        value = float(data.w @ row_norms(copied)) + 0.5 * self.alpha * float(
            np.vdot(W, W)
        )
        theta = now.T - data.share @ now.T
        XT, YT = data.transposed(theta / max(1.0, row_norms(theta).max()))
        return W, *self._with_label_terms(
            B, now.V, value, -float(np.vdot(XT, XT)) / (2 * self.alpha), YT
        )


READINGS = {"features": FeatureNoise, "samples": SampleNoise}


class HNOML(MultilabelMethod):
    """Hybrid noise-oriented multi-label learning: feature noise and label noise in one convex linear model.

    Minimises ½‖XW - YB‖² + α‖W‖₂,₁ + β‖YB - Y‖₂,₁ + (γ/2)‖B‖² over weights W and a label-enrichment matrix B, with an
    unpenalised constant column. Scores are X W. ``alpha`` switches noisy features off, ``beta`` lets the labels of few
    samples be rewritten (from about 1 on of none), ``gamma`` bounds the rewriting. Our reconstruction: the published
    abstract names the ingredients, not the form of the terms.

    Parameters
    ----------
    alpha, beta, gamma : float > 0, default=1
    reading : {"features", "samples"}, default="features"
        What is taken to be noise in X: whole features, as above, or whole samples, whose misfit then counts by its
        length: ‖XW - YB‖₂,₁ + (α/2)‖W‖² + β‖YB - Y‖₂,₁ + (γ/2)‖B‖².
    fit_intercept : bool, default=True
    max_iter : int, default=1000
    tol : float, default=1e-5
        On the duality gap as a share of the objective. A `ConvergenceWarning` says when it was not reached.

    Attributes
    ----------
    coef_ : array of shape (n_features, n_labels)
        Rows of features that were switched off are exactly 0, if ``reading`` is "features".
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
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.1]]
    >>> HNOML(alpha=0.1).fit(X, [[0, 1], [1, 0], [0, 1], [1, 0]]).predict(X).tolist()
    [[0, 1], [1, 0], [0, 1], [1, 0]]
    """

    PAPER_GRID: ClassVar = {"alpha": POWERS, "beta": POWERS, "gamma": POWERS}

    def __init__(
        self,
        alpha=1.0,
        beta=1.0,
        gamma=1.0,
        *,
        reading="features",
        fit_intercept=True,
        max_iter=1000,
        tol=1e-5,
    ):
        self.alpha, self.beta, self.gamma, self.reading = alpha, beta, gamma, reading
        self.fit_intercept, self.max_iter, self.tol = fit_intercept, max_iter, tol

    def _fitted(self, pairs, X, Y, w):
        """One decomposition of X, each solution the next one's start: equal to single fits within ``tol``."""
        statistics, start = cache(partial(Statistics, X, Y, w)), dict[Any, Any]()
        # Each solution is the start of the next smaller beta. Starts from another alpha or gamma cost more iterations
        # than none (18,710 against 12,390 on a fold of scene; along beta it is 7,200).
        for params, model in sorted(pairs, key=lambda pair: -pair[1].beta):
            data, key = (
                statistics(model.fit_intercept),
                (model.reading, model.alpha, model.gamma, model.fit_intercept),
            )
            problem = READINGS[model.reading](
                data, model.alpha, model.beta, model.gamma
            )
            W, B, constant, value, gap, n_iter, start[key] = problem.solve(
                start.get(key), model.max_iter, model.tol
            )
            (
                model.coef_,
                model.enrichment_,
                model.objective_,
                model.gap_,
                model.n_iter_,
            ) = W, B, value, gap, n_iter
            model.intercept_ = constant + data.y_mean @ B - data.x_mean @ W
            if gap > model.tol:
                reached = f"with a duality gap of {gap:.1e} of the objective instead of {model.tol:.1e}"
                message = f"HNOML stopped after {n_iter} iterations {reached}: raise max_iter, or scale the features."
                warnings.warn(message, ConvergenceWarning, stacklevel=4)
            yield params, model

    def _scores(self, X):
        return X @ self.coef_ + self.intercept_
