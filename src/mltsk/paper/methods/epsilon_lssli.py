"""ε-LSSLI: a first-order TSK fuzzy system whose consequents ignore errors below ε, as a regressor of its own.

Symbols: M rules (K elsewhere), G (N, M(D+1)) rule-mapped features, p consequents of one output, τ = 1/C, p̃ is p
without the M biases, ]r[ = max(0, |r| - ε).
"""

import warnings
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ...core.fuzzymap import FuzzyMap
from ...core.membership import rule_distinctness
from ...core.threads import blas_threads
from ..antecedents import fit_rules
from .epsilon_absolute import minimise_absolute
from .epsilon_insensitive import Design, Factor, Solution, minimise

PARAMETERS = {
    "n_rules": [Interval(Integral, 1, None, closed="left")],
    "C": [Interval(Real, 0, None, closed="neither")],
    "epsilon": [Interval(Real, 0, None, closed="left")],
    "fuzzifier": [Interval(Real, 1, None, closed="left")],
    "width_scale": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    "antecedents": [StrOptions({"paper", "distinct"})],
    "solver": [StrOptions({"quadratic", "absolute", "lssli"})],
    "tol": [Interval(Real, 0, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "init": [StrOptions({"spread", "random"}), "array-like"],
    "random_state": ["random_state"],
}


class EpsilonLSSLI(RegressorMixin, BaseEstimator):
    """ε-insensitive Takagi-Sugeno-Kang regression, one output or many.

    Rules are found by fuzzy c-means on X; then for each output

        min over p of  Σ_n w_n ]y_n - g_n·p[²  +  ‖p̃‖² / (2C),

    solved to its optimum for all outputs with one factorisation. The same with the absolute loss Σ ]y - g·p[ is
    ``solver="absolute"``, also exact; ``solver="lssli"`` is Leski's iterative heuristic for it: see `lssli`.

    Parameters
    ----------
    n_rules : int, default=5
    C : float, default=1.0
        Weight of the errors against the size of the consequents, 1/τ.
    epsilon : float, default=0.05
        Errors up to this size cost nothing. In the units of y; 0.05 suits targets of 0 and 1.
    fuzzifier : float, default=2.0
        m of fuzzy c-means, 2 as in the paper. With more than a few dozen features m = 2 puts all rules in one place,
        and the model is linear; ``antecedents="distinct"`` with ``fuzzifier=1`` keeps rules apart.
    width_scale : float or "auto", default="auto"
        h. "auto" is 1 for the paper's antecedents.
    antecedents : {"paper", "distinct"}, default="paper"
        "paper": each rule has the variances of its members as widths. "distinct": one width for all rules, as in
        `MLTSKClassifier`.
    solver : {"quadratic", "absolute", "lssli"}, default="quadratic"
        Which criterion, and for the absolute one whether to minimise it or to run the published loop.
    tol : float, default=1e-3
        Stop when the duality gap is at most this share of the objective.
    max_iter : int, default=1000
    init : {"spread", "random"} or array of centres, default="spread"
    random_state : int, RandomState or None, default=None
        For ``init="random"``.

    Attributes
    ----------
    centers_, widths_ : arrays of shape (n_rules, n_features)
    coef_ : array of shape (n_rules, n_features + 1, n_outputs), intercept first
    gap_ : array of shape (n_outputs,)
        Duality gaps: no consequents have an objective lower by more than this. NaN for "lssli".
    n_iter_ : int
    rule_distinctness_ : float
        0 = all rules the same, 1 = fully distinct.

    Notes
    -----
    Certain: the model, the two criteria and the iteration. Our reconstruction: the constants (ε, h, the start of the
    margins), which the paper does not give. Weights count as copies of rows.

    References
    ----------
    J. Leski, "Improving the generalization ability of neuro-fuzzy systems by ε-insensitive learning", International
    Journal of Applied Mathematics and Computer Science 12(3), 2002, 437-447.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> model = EpsilonLSSLI(n_rules=4, C=1e4, epsilon=0.01).fit(X, np.abs(X[:, 0] - 0.5))
    >>> bool(np.abs(model.predict(X) - np.abs(X[:, 0] - 0.5)).max() < 0.05)
    True
    """

    _parameter_constraints: ClassVar[dict] = PARAMETERS

    def __init__(
        self,
        n_rules=5,
        *,
        C=1.0,
        epsilon=0.05,
        fuzzifier=2.0,
        width_scale="auto",
        antecedents="paper",
        solver="quadratic",
        tol=1e-3,
        max_iter=1000,
        init="spread",
        random_state=None,
    ):
        self.n_rules = n_rules
        self.C = C
        self.epsilon = epsilon
        self.fuzzifier = fuzzifier
        self.width_scale = width_scale
        self.antecedents = antecedents
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.init = init
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Fit to X (n_samples, n_features) and y (n_samples,) or (n_samples, n_outputs)."""
        self._validate_params()
        checks = {"accept_sparse": "csr", "dtype": np.float64, "multi_output": True, "y_numeric": True}
        X, y = validate_data(self, X, y, ensure_min_samples=2, **checks)
        w = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        rules = fit_rules(self, X, w)
        self.centers_, self.widths_ = rules.centers, rules.widths
        G = FuzzyMap.of(X, self.centers_, self.widths_)
        self.rule_distinctness_ = rule_distinctness(G.M, w)
        with blas_threads(design_flops(G)):
            solution = solve(self, None if self.solver == "lssli" else Design.of(G, w), G, Y, w)
        self.single_output_ = np.ndim(y) == 1
        store(self, solution)
        return self

    def predict(self, X):
        """Values (n_samples,), or (n_samples, n_outputs) if y had two dimensions."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        values = FuzzyMap.of(X, self.centers_, self.widths_) @ self.coef_.reshape(-1, self.coef_.shape[2])
        return values[:, 0] if self.single_output_ else values

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags


def design_flops(G):
    """Multiplications of the largest product of a fit: what decides on threads."""
    N, width = G.shape
    return 2.0 * N * width * min(N, width)


def solve(estimator, design, G, Y, w, *, factor=None, E=None, limit=None) -> Solution:
    """Consequents of all columns of Y as the estimator's solver, C, ε, tol and max_iter say; warns if it stops early.

    ``design`` and its ``factor`` for C are used by the exact solvers; output j may use the first ``limit[j]`` of the
    further columns E.
    """
    options = {"limit": limit, "max_iter": estimator.max_iter}
    if estimator.solver == "lssli":
        solution = lssli_all(G, Y, w, 1 / estimator.C, estimator.epsilon, E=E, **options)
    else:
        method = minimise if estimator.solver == "quadratic" else minimise_absolute
        factor = Factor.of(design, ridge_weight(estimator)) if factor is None else factor
        solution = method(factor, Y, estimator.epsilon, tol=estimator.tol, **options)
    if not solution.converged:
        warnings.warn(_stopped_early(solution, estimator.max_iter), ConvergenceWarning, stacklevel=4)
    return solution


def ridge_weight(estimator):
    """Weight of the ridge problems that the estimator's solver solves: τ/2 or τ."""
    return (0.5 if estimator.solver == "quadratic" else 1.0) / estimator.C


def _stopped_early(solution, max_iter):
    worst = np.max(solution.gap / np.maximum(solution.value, np.finfo(np.float64).tiny))
    gap = "" if np.isnan(worst) else f" with a duality gap of {worst:.1e} of the objective"
    return f"stopped after {max_iter} steps{gap}: raise max_iter or tol, or lower C"


def store(estimator, solution):
    """Keep consequents, gaps and the number of steps as plain arrays."""
    K, D = estimator.centers_.shape
    estimator.coef_ = solution.P.reshape(K, D + 1, -1)
    estimator.gap_ = solution.gap
    estimator.n_iter_ = int(solution.n_iter.max(initial=1))


def lssli_all(G, Y, w, tau, epsilon, *, E=None, limit=None, max_iter=1000) -> Solution:
    """`lssli` for every column of Y, which may use the first ``limit`` columns of E."""
    n_outputs, m = Y.shape[1], 0 if E is None else E.shape[1]
    limit = np.full(n_outputs, m) if limit is None else limit
    P, extra = np.empty((G.shape[1], n_outputs)), np.zeros((m, n_outputs))
    n_iter, unknown = np.empty(n_outputs, dtype=np.intp), np.full(n_outputs, np.nan)
    for j in range(n_outputs):
        own = None if m == 0 else E[:, : limit[j]]
        P[:, j], extra[: limit[j], j], n_iter[j] = lssli(G, Y[:, j], w, tau, epsilon, E=own, max_iter=max_iter)
    return Solution(P, extra, unknown, unknown, n_iter, bool(np.all(n_iter < max_iter)))


def lssli(G, y, w, tau, epsilon, *, E=None, max_iter=1000, rho=0.98, floor=1e-8, start=1e-6):
    """Leski's loop for the absolute ε-insensitive loss: consequents (M(D+1),), coefficients of E, number of steps.

    A target gives two inequalities, g·p - y + ε > 0 and y - g·p + ε > 0, with margins b > 0 and errors e = (left side)
    - b. Steps: p by least squares weighted with d (1 at first, then 1/|e|, at least ``floor`` in the denominator);
    b += ρ(e + |e|); stop when Σ w(Δb)² <= 1e-4. A heuristic: inequalities that hold get the largest weights and freeze
    p after a few steps, away from the optimum of the criterion. Each step needs a factorisation of its own.
    """
    E = np.empty((len(y), 0)) if E is None else E
    b, d = np.full((2, len(y)), start), np.ones((2, len(y)))
    for step in range(1, max_iter + 1):  # noqa: B007 - its last value is returned
        p, q = _weighted_step(G, E, y, w, tau, epsilon, b, d)
        r = (G @ p + E @ q)[:, 0] - y
        e = np.stack([r, -r]) + epsilon - b
        d = 1 / np.maximum(np.abs(e), floor)
        change = rho * (e + np.abs(e))
        b = b + change
        if np.sum(w * change**2) <= 1e-4:
            break
    return p[:, 0], q[:, 0], step


def _weighted_step(G, E, y, w, tau, epsilon, b, d):
    """Both inequalities of a target as one weighted target between them."""
    total = d.sum(axis=0)
    target = (d[0] * (y - epsilon + b[0]) + d[1] * (y + epsilon - b[1])) / total
    design = Design.of(G, w * total, E)
    return Factor.of(design, tau / 2).coefficients((design.root * target)[:, None], np.array([E.shape[1]]))
