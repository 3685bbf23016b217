"""BR: one ε-insensitive TSK fuzzy system (Leski's ε-LSSLI) per label.

All labels have the same rules.
"""

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning

from ...core.arrays import Array, Matrix, weighted_mean
from ...core.fuzzymap import FuzzyMap
from ...core.membership import authors_widths, rule_distinctness
from ..antecedents import find_rules, warn_if_fewer
from .base import MultilabelMethod, agreeing_except_in, agreeing_in, register
from .epsilon_insensitive import RidgeDesign, RidgeFactor, leski_loop, minimise

# Rules do not depend on these parameters.
SOLVER_PARAMETERS = ("C", "epsilon", "solver", "tol", "max_iter")


@register("br")
@dataclass(eq=False, repr=False)
class BinaryRelevanceTSK(MultilabelMethod):
    """Binary relevance over ε-insensitive TSK fuzzy systems.

    Rules are found by fuzzy c-means on X; then every label is a regression of its 0/1
    column y,

        min over p of  Σ_n w_n ]y_n - g_n·p[²  +  ‖p̃‖² / (2C),   ]r[ = max(0, |r| - ε),

    with p̃ the consequents p without the biases, solved to its optimum for all labels
    with one factorisation. A label is predicted where its value is at least 0.5.

    Parameters
    ----------
    n_rules : int, default=5
    C : float, default=1.0
        Weight of the errors against the size of the consequents.
    epsilon : float, default=0.05
        Errors up to this size cost nothing.
    fuzzifier : float, default=2.0
        m of fuzzy c-means. With more than a few dozen features m = 2 puts all rules in
        one place (`rule_distinctness_` is near 0): the method is then ridge-like linear
        regression with a tube.
    width_scale : float, default=1.0
        h: widths of a rule are h times the variances of its members.
    n_components : int or None, default=None
        Replace the features by this many principal components of the training rows. The
        paper did so for one large data set (50 components on Mirflickr).
    solver : {"quadratic", "lssli"}, default="quadratic"
        "lssli" is Leski's published loop for the absolute loss Σ ]r[, a heuristic that
        stops near its ridge start.
    tol : float, default=1e-3
        Stop when the duality gap is at most this share of the objective.
    max_iter : int, default=1000

    Attributes
    ----------
    centers_, widths_ : arrays of shape (n_rules, n_features)
        Over the components if ``n_components`` is given.
    coef_ : array of shape (n_rules, n_features + 1, n_labels), intercept first
    gap_ : array of shape (n_labels,)
        Duality gaps: no consequents have an objective lower by more than this. NaN for
        "lssli".
    rule_distinctness_ : float
        0 = all rules the same, 1 = fully distinct.
    mean_, axes_ : arrays of shapes (n_features,) and (n_components, n_features), or
    None
        Principal components of the training rows.
    n_iter_ : int

    Notes
    -----
    Certain: the structure, the grid of C and n_rules. Our reconstruction: ε = 0.05,
    h = 1, and the quadratic loss.

    References
    ----------
    M.-L. Zhang, Y.-K. Li, X.-Y. Liu, X. Geng, "Binary relevance for multi-label
    learning: an overview", Frontiers of Computer Science 12(2), 2018, 191-202; J.
    Leski, "Improving the generalization ability of neuro-fuzzy systems by ε-insensitive
    learning", International Journal of Applied Mathematics and Computer Science 12(3),
    2002, 437-447.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=120, random_state=0)
    >>> model = BinaryRelevanceTSK(n_rules=3).fit(data.X, data.Y)
    >>> model.predict(data.X).shape == data.Y.shape
    True
    """

    PAPER_GRID: ClassVar = {
        "C": [2.0**e for e in range(-5, 6, 2)],
        "n_rules": list(range(2, 10)),
    }

    n_rules: int = 5
    _: KW_ONLY
    C: float = 1.0
    epsilon: float = 0.05
    fuzzifier: float = 2.0
    width_scale: float = 1.0
    n_components: int | None = None
    solver: str = "quadratic"
    tol: float = 1e-3
    max_iter: int = 1000

    def _fitted(self, trials, X, Y, w):
        """Rules are found once for settings that differ in the solver alone.

        The ridge matrix is factored once for every C.
        """
        for same_rules in agreeing_except_in(trials, *SOLVER_PARAMETERS):
            first = same_rules[0].model
            design = first._design(first._fit_rules(X, w), Y, w)
            for same_C in agreeing_in(same_rules, "C"):
                factor = RidgeFactor(design, 0.5 / same_C[0].model.C)
                for trial in same_C:
                    trial.model._adopt(first)
                    trial.model._fit_consequents(factor, Y)
                    yield trial

    def _fit_rules(self, X, w):
        """G of the training rows; rules and principal components are stored."""
        self.mean_: Array | None = None
        self.axes_: Array | None = None
        if self.n_components:
            self.mean_, self.axes_ = principal_axes(X, w, self.n_components)
        Z = self._reduced(X)
        self.centers_, spread = find_rules(Z, w, self.n_rules, self.fuzzifier)
        warn_if_fewer(len(self.centers_), self.n_rules)
        self.widths_ = authors_widths(spread, self.width_scale)
        G = FuzzyMap.of(Z, self.centers_, self.widths_)
        self.rule_distinctness_ = rule_distinctness(G.M, w)
        return G

    def _reduced(self, X):
        """X, or its principal components (N, n_components)."""
        if self.axes_ is None or self.mean_ is None:
            return X
        return np.asarray(X @ self.axes_.T) - self.axes_ @ self.mean_

    def _design(self, G, Y, w):
        """The columns that consequents are fitted to."""
        return RidgeDesign(G, w)

    def _fit_consequents(self, factor, Y, limit=None):
        """Store the consequents of all labels, and return the whole solution."""
        solution = self._solve(factor, Y, limit)
        K, D = self.centers_.shape
        self.coef_ = solution.P.reshape(K, D + 1, -1)
        self.gap_ = solution.gap
        self.n_iter_ = int(solution.n_iter.max(initial=1))
        return solution

    def _solve(self, factor, Y, limit=None):
        """Coefficients for the columns of Y, by the solver of the parameters."""
        options = {"limit": limit, "max_iter": self.max_iter}
        if self.solver == "lssli":
            solution = leski_loop(factor, Y, self.epsilon, **options)
        else:
            solution = minimise(factor, Y, self.epsilon, tol=self.tol, **options)
        if not solution.converged:
            self._warn_of_early_stop(solution)
        return solution

    def _warn_of_early_stop(self, solution):
        """Say which gap was reached, where the solver has one."""
        value = np.maximum(solution.value, np.finfo(np.float64).tiny)
        worst = np.max(solution.gap / value)
        reached = ""
        if not np.isnan(worst):
            reached = f" with a duality gap of {worst:.1e} of the objective"
        message = (
            f"stopped after {self.max_iter} steps{reached}: "
            "raise max_iter or tol, or lower C"
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=7)

    def _map(self, X):
        """Rows mapped by the fitted rules."""
        return FuzzyMap.of(self._reduced(X), self.centers_, self.widths_)

    def _scores(self, X):
        return self._map(X) @ self.coef_.reshape(-1, self.coef_.shape[2])


def principal_axes(X: Matrix, w: Array, n_components: int) -> tuple[Array, Array]:
    """Mean (D,) and widest orthonormal axes (q, D), widest first, under the weights w.

    X (N, D) is dense or CSR, w is (N,).
    """
    D = X.shape[1]
    mean = weighted_mean(X, w)
    if sparse.issparse(X):
        # Subtracting the mean would make X dense.
        second = X.T @ (sparse.diags_array(w) @ X)
        S = second.toarray() - w.sum() * np.outer(mean, mean)
    else:
        # Subtracting the mean keeps every digit.
        centred = X - mean
        S = centred.T @ (sparse.diags_array(w) @ centred)
    q = min(n_components, D)
    axes = eigh(S, subset_by_index=[D - q, D - 1])[1].T[::-1]
    # Signs are arbitrary: the largest entry of an axis is made positive.
    largest = np.abs(axes).argmax(axis=1)
    return mean, axes * np.sign(axes[np.arange(q), largest])[:, None]
