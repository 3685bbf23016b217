"""HNOML: robust linear multi-label learning with sparse noise and enriched labels.

This is our reconstruction. Symbols: X (N, D) centred features, Y (N, L) labels,
W (D, L) weights, B (L, L) label enrichment, w (N,) row weights.

Both readings (see `HNOML`) are jointly convex and solved by alternating directions
(ADMM), with a duality gap as certificate. A first copy J, of W or of the misfits
X W - Y B, and E = Y B - Y have multipliers T and V and penalties μ and ν; b is α or 1,
the weight of the norms of the rows of J:

    (W, B) = the minimum of a quadratic,
    J = shrink(W + T/μ, b/μ),   E = shrink(Y B - Y + V/ν, β/ν),
    T += μ(W - J),              V += ν(Y B - Y - E)

(for samples X W - Y B in the place of W).

Rows with equal label sets have equal rows of E and V: one row per distinct label set
Z_u, weighted by how often it occurs, c_u, is the same iteration. One decomposition
XᵀX = U diag(s) Uᵀ serves every (α, β, γ, μ, ν).
"""

import warnings
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from functools import cache, lru_cache, partial
from itertools import count
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning

from ...core.arrays import Array, Matrix, dense, is_csr
from .base import MultilabelMethod, register

POWERS_OF_TEN = [0.01, 0.1, 1.0, 10.0, 100.0]
TINY = np.finfo(np.float64).tiny
# Over-relaxation of both splittings; 1 took half as many iterations again.
RELAXATION = 1.7
# Iterations between certificates, and until which the penalties may change.
CERTIFICATE_EVERY = 10
ADAPT_UNTIL = 500
# Penalties are powers of 4 and few: every setting of a grid passes through the same
# ones.
KEPT_INVERSES = 8
# Where copies stand still (E = 0 exactly, say) residuals would raise a penalty for
# ever. ν acts on 0/1 labels, μ on weights in the units of the features.
MU_RANGE = (1e-6, 1e6)
NU_RANGE = (1e-3, 1e3)


class AdmmState(NamedTuple):
    """Where an iteration stands: copies, their multipliers and their penalties.

    J and T are (D, L) or (N, L), E and V (U, L) for U distinct label sets.
    """

    J: Array
    E: Array
    T: Array
    V: Array
    mu: float
    nu: float


class AdmmStep(NamedTuple):
    """Weights, enrichment and constant of one iteration, and what J is a copy of."""

    W: Array
    B: Array
    constant: Array
    copied: Array


class RobustFit(NamedTuple):
    """Weights W (D, L), enrichment B (L, L) and constant (L,), and how good they are.

    ``value`` is the objective, ``gap`` the duality gap as a share of it.
    """

    W: Array
    B: Array
    constant: Array
    value: float
    gap: float
    n_iter: int
    state: AdmmState


def shrink_rows(A: Array, t: float) -> Array:
    """Prox of t‖·‖_{2,1}: every row loses t of its length, shorter rows become 0."""
    return A * np.maximum(0.0, 1.0 - t / np.maximum(row_norms(A)[:, None], TINY))


def row_norms(A: Array) -> Array:
    """Euclidean length of every row, (n,)."""
    return np.sqrt(np.einsum("nl,nl->n", A, A))


def balanced_penalty(
    penalty: float,
    limits: tuple[float, float],
    *,
    primal: Array,
    copy: Array,
    dual: Array,
    multiplier: Array,
) -> float:
    """The penalty, moved by a factor of 4 to where relative residuals are equal.

    ``primal`` and ``dual`` are the residuals, ``copy`` and ``multiplier`` the arrays
    that they are relative to.
    """
    primal_size = float(np.linalg.norm(primal))
    copy_size = float(np.linalg.norm(copy))
    p = primal_size / max(copy_size, primal_size, 1e-12)
    d = float(np.linalg.norm(dual)) / max(float(np.linalg.norm(multiplier)), 1e-12)
    if p > 5 * d:
        penalty *= 4.0
    elif d > 5 * p:
        penalty *= 0.25
    return float(np.clip(penalty, *limits))


class Statistics:
    """What the solvers need of rows X (dense or CSR) and labels Y under weights w.

    Centring is an unpenalised constant column; ``share`` is w / Σ w, or 0 without it.
    ``rows`` are the centred X, or X before its mean ``shift`` is taken off where that
    would fill it in. ``Z`` (U, L) are the distinct label sets, but for the empty one,
    which says nothing; ``c`` (U,) is how often each occurs. U is (D, r), s is (r,),
    r <= min(D, N).
    """

    def __init__(self, X: Matrix, Y: Array, w: Array, center: bool = True) -> None:
        root = np.sqrt(w)
        self.w = w
        self.share = w / w.sum() if center else np.zeros_like(w)
        self.x_mean = np.asarray(self.share @ X).ravel()
        self.y_mean = self.share @ Y
        if is_csr(X):
            self.rows = X
            self.shift = self.x_mean
            weighted = sparse.csr_array(X.multiply(root[:, None]))
        else:
            self.rows = X - self.x_mean
            self.shift = np.zeros_like(self.x_mean)
            weighted = root[:, None] * self.rows
        self.Y = Y - self.y_mean
        Yw = root[:, None] * self.Y
        self.XY = weighted.T @ Yw - np.outer(self.shift, root @ Yw)
        self.YY = Yw.T @ Yw
        Z, which = np.unique(Y, axis=0, return_inverse=True)
        c = np.bincount(which.ravel(), weights=w, minlength=len(Z))
        not_empty = Z.any(axis=1)
        self.Z = Z[not_empty]
        self.c = c[not_empty]
        self.U, self.s = self._decomposed(weighted, root)
        self._kept_inverse = lru_cache(KEPT_INVERSES)(self._inverse)

    def _decomposed(self, weighted: Matrix, root: Array) -> tuple[Array, Array]:
        """U and s, by the smaller of the two Gram matrices of the centred rows."""
        shift = self.shift
        if weighted.shape[1] <= weighted.shape[0]:
            cross = weighted.T @ root
            centring = np.outer(shift, cross - (root @ root) * shift)
            gram = dense(weighted.T @ weighted) - np.outer(cross, shift) - centring
            s, U = linalg.eigh(gram)
            return U, np.maximum(s, 0.0)
        along = weighted @ shift
        centring = np.outer(root, along - (shift @ shift) * root)
        gram = dense(weighted @ weighted.T) - np.outer(along, root) - centring
        s, Q = linalg.eigh(gram)
        keep = s > 1e-12 * max(s[-1], TINY)
        U = weighted.T @ Q[:, keep] - np.outer(shift, root @ Q[:, keep])
        return U / np.sqrt(s[keep]), s[keep]

    def transposed(self, A: Array) -> tuple[Array, Array]:
        """Xᵀ(w ∘ A) and Yᵀ(w ∘ A) of A (N, L)."""
        A = self.w[:, None] * A
        return self.rows.T @ A - np.outer(self.shift, A.sum(axis=0)), self.Y.T @ A

    def inverse(self, R: Array, mu: float) -> Array:
        """(XᵀX + μI)⁻¹ R of R (D, L).

        It comes by Woodbury's identity if r < D, else by an inverse that is kept for
        the next setting.
        """
        if self.U.shape[1] < self.U.shape[0]:
            shrunk = (self.s / (self.s + mu))[:, None] * (self.U.T @ R)
            return (R - self.U @ shrunk) / mu
        return self._kept_inverse(mu) @ R

    def _inverse(self, mu: float) -> Array:
        """(XᵀX + μI)⁻¹ (D, D)."""
        return (self.U / (self.s + mu)) @ self.U.T


class LabelEquations:
    """The L equations that are left for B where W is eliminated, factored.

    W is a term without B, plus F B.
    """

    def __init__(
        self, data: Statistics, gamma: float, *, ridge: float, scale: float, nu: float
    ) -> None:
        self.Z = data.Z
        self.cZ = data.c[:, None] * data.Z
        self.nu = nu
        self.F = data.inverse(data.XY, ridge)
        system = (
            scale * (data.YY - data.XY.T @ self.F)
            + nu * (data.Z.T @ self.cZ)
            + gamma * np.eye(len(data.YY))
        )
        self.factor = linalg.cho_factor(0.5 * (system + system.T))

    def solve(self, now: AdmmState, more: Array) -> Array:
        """B (L, L); ``more`` (L, L) is what else is on the right-hand side."""
        right = self.cZ.T @ (self.nu * (self.Z + now.E) - now.V) + more
        return linalg.cho_solve(self.factor, right)


@dataclass(eq=False)
class NoiseReading:
    """One reading of what noise is in X, and its solver.

    A subclass knows what J is a copy of.
    """

    data: Statistics
    alpha: float
    beta: float
    gamma: float

    def __post_init__(self) -> None:
        # The equations are kept until the penalties change.
        self._equations = lru_cache(1)(partial(LabelEquations, self.data, self.gamma))

    @property
    @abstractmethod
    def bound(self) -> float:
        """Weight of the norms of the rows of J."""

    @property
    @abstractmethod
    def weights(self) -> Array:
        """Weights of the rows of J themselves."""

    @abstractmethod
    def _step(self, now: AdmmState) -> AdmmStep:
        """W and B at the minimum of the quadratic, and the constant."""

    @abstractmethod
    def _certify(self, step: AdmmStep, now: AdmmState) -> tuple[Array, float, float]:
        """The weights as they stand, the objective there, and its relative gap."""

    def solve(self, start: AdmmState | None, max_iter: int, tol: float) -> RobustFit:
        """The minimum of the objective, by ADMM, to a relative duality gap of tol."""
        now = self._zeros() if start is None else start
        for n_iter in count(1):
            old = now
            step = self._step(old)
            now = self._advanced(old, step)
            if n_iter % CERTIFICATE_EVERY and n_iter < max_iter:
                continue
            W, value, gap = self._certify(step, now)
            if gap <= tol or n_iter >= max_iter:
                break
            if n_iter < ADAPT_UNTIL:
                now = self._rebalanced(old, now, step)
        return RobustFit(
            W=W,
            B=step.B,
            constant=step.constant,
            value=value,
            gap=gap,
            n_iter=n_iter,
            state=now,
        )

    def _zeros(self) -> AdmmState:
        """Where an iteration starts that has no other start."""
        E = np.zeros_like(self.data.Z)
        J = np.zeros((len(self.weights), E.shape[1]))
        return AdmmState(J=J, E=E, T=J, V=E, mu=1.0, nu=1.0)

    def _enrichment(self, B: Array) -> Array:
        """What E is a copy of, Z B - Z (U, L)."""
        return self.data.Z @ B - self.data.Z

    def _advanced(self, old: AdmmState, step: AdmmStep) -> AdmmState:
        """The state after a step: copies are shrunk, multipliers follow."""
        mu = old.mu
        nu = old.nu
        J_mix = RELAXATION * step.copied + (1 - RELAXATION) * old.J
        E_mix = RELAXATION * self._enrichment(step.B) + (1 - RELAXATION) * old.E
        J = shrink_rows(J_mix + old.T / mu, self.bound / mu)
        E = shrink_rows(E_mix + old.V / nu, self.beta / nu)
        T = old.T + mu * (J_mix - J)
        V = old.V + nu * (E_mix - E)
        return AdmmState(J=J, E=E, T=T, V=V, mu=mu, nu=nu)

    def _rebalanced(self, old: AdmmState, now: AdmmState, step: AdmmStep) -> AdmmState:
        """The state with penalties by which primal and dual residuals are balanced."""
        rows = np.sqrt(self.weights)[:, None]
        sets = np.sqrt(self.data.c)[:, None]
        mu = balanced_penalty(
            now.mu,
            MU_RANGE,
            primal=rows * (step.copied - now.J),
            copy=rows * now.J,
            dual=now.mu * rows * (now.J - old.J),
            multiplier=rows * now.T,
        )
        nu = balanced_penalty(
            now.nu,
            NU_RANGE,
            primal=sets * (self._enrichment(step.B) - now.E),
            copy=0.1 * sets * self.data.Z,
            dual=now.nu * sets * (now.E - old.E),
            multiplier=sets * now.V,
        )
        return now._replace(mu=mu, nu=nu)

    def _with_label_terms(
        self, B: Array, V: Array, *, value: float, dual: float, YT: Array
    ) -> tuple[float, float]:
        """Objective and relative gap, from those without B - I and ‖B‖; YT is YᵀΘ."""
        Z = self.data.Z
        c = self.data.c
        cV = c[:, None] * V
        noise = float(c @ row_norms(self._enrichment(B)))
        value += self.beta * noise + 0.5 * self.gamma * float(np.vdot(B, B))
        square = float(np.sum((YT - Z.T @ cV) ** 2))
        dual -= square / (2 * self.gamma) + float(np.vdot(cV, Z))
        scale = max(value, np.finfo(np.float64).eps * (1.0 + np.trace(self.data.YY)))
        return float(value), max(0.0, float(value - dual)) / scale


class FeatureNoise(NoiseReading):
    """Whole features are noise: J is a copy of W, whose rows become 0."""

    @property
    def bound(self) -> float:
        """α, for the rows of W."""
        return self.alpha

    @property
    def weights(self) -> Array:
        """1 for every feature."""
        return np.ones(len(self.data.XY))

    def _step(self, now: AdmmState) -> AdmmStep:
        equations = self._equations(ridge=now.mu, scale=1.0, nu=now.nu)
        F = equations.F
        rest = now.mu * now.J - now.T
        B = equations.solve(now, F.T @ rest)
        W = self.data.inverse(rest, now.mu) + F @ B
        return AdmmStep(W=W, B=B, constant=np.zeros(B.shape[1]), copied=W)

    def _certify(self, step: AdmmStep, now: AdmmState) -> tuple[Array, float, float]:
        """The weights are J, which has exact zeros.

        The dual value of Θ (N, L), V is
        -½‖Θ‖² - ‖YᵀΘ - Zᵀ(cV)‖²/2γ - Σ c_u V_u·Z_u, for ‖(XᵀΘ)_d‖ <= α, ‖V_u‖ <= β. The
        multipliers of ADMM keep the second bound; the residual X W - Y B, scaled to the
        first, serves as Θ.
        """
        data = self.data
        W = now.J
        B = step.B
        XR = data.U @ (data.s[:, None] * (data.U.T @ W)) - data.XY @ B
        YR = data.XY.T @ W - data.YY @ B
        square = max(0.0, float(np.vdot(W, XR) - np.vdot(B, YR)))
        k = min(1.0, self.alpha / max(row_norms(XR).max(initial=0.0), TINY))
        value, gap = self._with_label_terms(
            B,
            now.V,
            value=0.5 * square + self.alpha * row_norms(W).sum(),
            dual=-0.5 * k * k * square,
            YT=k * YR,
        )
        return W, value, gap


class SampleNoise(NoiseReading):
    """Whole samples are noise: J is a copy of the misfits.

    The norms of misfits count, not their squares. The constant of the model is the mean
    of what the misfits are to be, so that centred X and Y do.
    """

    bound = 1.0

    @property
    def weights(self) -> Array:
        """Those of the samples."""
        return self.data.w

    def _step(self, now: AdmmState) -> AdmmStep:
        data = self.data
        ridge = self.alpha / now.mu
        aim = now.J - now.T / now.mu
        equations = self._equations(ridge=ridge, scale=now.mu, nu=now.nu)
        XA, YA = data.transposed(aim)
        rest = data.inverse(XA, ridge)
        B = equations.solve(now, now.mu * (data.XY.T @ rest - YA))
        W = rest + equations.F @ B
        constant = data.share @ aim
        misfits = data.rows @ W - data.shift @ W - data.Y @ B + constant
        return AdmmStep(W=W, B=B, constant=constant, copied=misfits)

    def _certify(self, step: AdmmStep, now: AdmmState) -> tuple[Array, float, float]:
        """The weights are those of the step.

        The dual value is -‖XᵀΘ‖²/2α - ‖YᵀΘ - Zᵀ(cV)‖²/2γ - Σ c_u V_u·Z_u, for
        ‖Θ_n‖ <= 1, ‖V_u‖ <= β and, where there is a constant, Σ Θ_n = 0. The
        multipliers T, brought to mean 0 and to the bound, serve as Θ.
        """
        data = self.data
        W = step.W
        misfit = float(data.w @ row_norms(step.copied))
        theta = now.T - data.share @ now.T
        XT, YT = data.transposed(theta / max(1.0, row_norms(theta).max()))
        value, gap = self._with_label_terms(
            step.B,
            now.V,
            value=misfit + 0.5 * self.alpha * float(np.vdot(W, W)),
            dual=-float(np.vdot(XT, XT)) / (2 * self.alpha),
            YT=YT,
        )
        return W, value, gap


READINGS: dict[str, type[NoiseReading]] = {
    "features": FeatureNoise,
    "samples": SampleNoise,
}


@register("hnoml")
@dataclass(eq=False, repr=False)
class HNOML(MultilabelMethod):
    """Hybrid noise-oriented multi-label learning, in one convex linear model.

    It knows feature noise and label noise, and minimises

        ½‖XW - YB‖² + α‖W‖₂,₁ + β‖YB - Y‖₂,₁ + (γ/2)‖B‖²

    over weights W and a label-enrichment matrix B, with an unpenalised constant column.
    Scores are X W. ``alpha`` switches noisy features off, ``beta`` lets the labels of
    few samples be rewritten (from about 1 on of none), ``gamma`` bounds the rewriting.
    Our reconstruction: the published abstract names the ingredients, not the form of
    the terms.

    Parameters
    ----------
    alpha, beta, gamma : float > 0, default=1
    reading : {"features", "samples"}, default="features"
        What is taken to be noise in X: whole features, as above, or whole samples,
        whose misfit then counts by its length:
        ‖XW - YB‖₂,₁ + (α/2)‖W‖² + β‖YB - Y‖₂,₁ + (γ/2)‖B‖².
    fit_intercept : bool, default=True
    max_iter : int, default=1000
    tol : float, default=1e-5
        On the duality gap as a share of the objective. A `ConvergenceWarning` says when
        it was not reached.

    Attributes
    ----------
    coef_ : array of shape (n_features, n_labels)
        Rows of features that were switched off are exactly 0, if ``reading`` is
        "features".
    intercept_ : array of shape (n_labels,)
    enrichment_ : array of shape (n_labels, n_labels)
    objective_, gap_ : float
    n_iter_ : int

    References
    ----------
    C. Zhang, Z. Yu, H. Fu, P. Zhu, L. Chen, Q. Hu, "Hybrid noise-oriented multilabel
    learning", IEEE Transactions on Cybernetics 50(6), 2019, pages 2837-2850.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.1]]
    >>> HNOML(alpha=0.1).fit(X, [[0, 1], [1, 0], [0, 1], [1, 0]]).predict(X).tolist()
    [[0, 1], [1, 0], [0, 1], [1, 0]]
    """

    PAPER_GRID: ClassVar = {
        "alpha": POWERS_OF_TEN,
        "beta": POWERS_OF_TEN,
        "gamma": POWERS_OF_TEN,
    }

    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0
    _: KW_ONLY
    reading: str = "features"
    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float = 1e-5

    def _fitted(self, trials, X, Y, w):
        """One decomposition of X serves all; each solution is another's start.

        The numbers equal those of single fits within ``tol``.
        """

        @cache
        def statistics(center):
            return Statistics(X, Y, w, center)

        last_states: dict[tuple[object, ...], AdmmState] = {}
        # Each solution is the start of the next smaller beta. Starts from another alpha
        # or gamma cost more iterations than none (18,710 against 12,390 on a fold of
        # scene; along beta it is 7,200).
        for trial in sorted(trials, key=lambda trial: -trial.model.beta):
            model = trial.model
            data = statistics(model.fit_intercept)
            path = (model.reading, model.alpha, model.gamma, model.fit_intercept)
            reading = READINGS[model.reading]
            problem = reading(data, model.alpha, model.beta, model.gamma)
            solution = problem.solve(last_states.get(path), model.max_iter, model.tol)
            last_states[path] = solution.state
            model._store(solution, data)
            yield trial

    def _store(self, solution, data):
        """Keep a solution; say where it did not reach ``tol``."""
        W = solution.W
        B = solution.B
        self.coef_ = W
        self.enrichment_ = B
        self.intercept_ = solution.constant + data.y_mean @ B - data.x_mean @ W
        self.objective_ = solution.value
        self.gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        if solution.gap > self.tol:
            message = (
                f"HNOML stopped after {solution.n_iter} iterations with a duality gap "
                f"of {solution.gap:.1e} of the objective instead of {self.tol:.1e}: "
                "raise max_iter, or scale the features."
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=5)

    def _scores(self, X):
        return X @ self.coef_ + self.intercept_
