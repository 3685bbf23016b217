"""BR: one ε-insensitive TSK fuzzy system (Leski's ε-LSSLI) per label, all over the same rules."""

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning

from ...core.arrays import weighted_mean
from ...core.fuzzymap import FuzzyMap
from ...core.membership import authors_widths, rule_distinctness
from ..antecedents import find_rules, warn_if_fewer
from .base import MultilabelMethod, grouped
from .epsilon_insensitive import Design, Factor, leski_loop, minimise

OF_SOLVER = {
    "C",
    "epsilon",
    "solver",
    "tol",
    "max_iter",
}  # parameters that rules do not depend on


@dataclass(eq=False, repr=False)
class BinaryRelevanceTSK(MultilabelMethod):
    """Binary relevance over ε-insensitive TSK fuzzy systems.

    Rules are found by fuzzy c-means on X; then every label is a regression of its 0/1 column y,

        min over p of  Σ_n w_n ]y_n - g_n·p[²  +  ‖p̃‖² / (2C),     ]r[ = max(0, |r| - ε),

    with p̃ the consequents p without the biases, solved to its optimum for all labels with one factorisation. A label
    is predicted where its value is at least 0.5.

    Parameters
    ----------
    n_rules : int, default=5
    C : float, default=1.0
        Weight of the errors against the size of the consequents.
    epsilon : float, default=0.05
        Errors up to this size cost nothing.
    fuzzifier : float, default=2.0
        m of fuzzy c-means. With more than a few dozen features m = 2 puts all rules in one place
        (`rule_distinctness_` is near 0): the method is then ridge-like linear regression with a tube.
    width_scale : float, default=1.0
        h: widths of a rule are h times the variances of its members.
    n_components : int or None, default=None
        Replace the features by so many principal components of the training rows. The paper did this for one large
        data set (50 components on Mirflickr).
    solver : {"quadratic", "lssli"}, default="quadratic"
        "lssli" is Leski's published loop for the absolute loss Σ ]r[, a heuristic that stops near its ridge start.
    tol : float, default=1e-3
        Stop when the duality gap is at most this share of the objective.
    max_iter : int, default=1000

    Attributes
    ----------
    centers_, widths_ : arrays of shape (n_rules, n_features), over the components if ``n_components`` is given
    coef_ : array of shape (n_rules, n_features + 1, n_labels), intercept first
    gap_ : array of shape (n_labels,)
        Duality gaps: no consequents have an objective lower by more than this. NaN for "lssli".
    rule_distinctness_ : float
        0 = all rules the same, 1 = fully distinct.
    mean_, axes_ : arrays of shapes (n_features,) and (n_components, n_features), or None
        Principal components of the training rows.
    n_iter_ : int

    Notes
    -----
    Certain: the structure, the grid of C and n_rules. Our reconstruction: ε = 0.05, h = 1, and the quadratic loss.

    References
    ----------
    M.-L. Zhang, Y.-K. Li, X.-Y. Liu, X. Geng, "Binary relevance for multi-label learning: an overview", Frontiers of
    Computer Science 12(2), 2018, 191-202; J. Leski, "Improving the generalization ability of neuro-fuzzy systems by
    ε-insensitive learning", International Journal of Applied Mathematics and Computer Science 12(3), 2002, 437-447.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=120, random_state=0)
    >>> BinaryRelevanceTSK(n_rules=3).fit(data.X, data.Y).predict(data.X).shape == data.Y.shape
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

    def _fitted(self, pairs, X, Y, w):
        """Rules are found once for settings that differ in the solver alone, and the ridge matrix is factored per C."""
        for part in grouped(pairs, lambda name: name not in OF_SOLVER):
            first = part[0][1]
            design = first._design(first._fit_rules(X, w), Y, w)
            known = first._known()
            for same_C in grouped(part, "C".__eq__):
                factor = Factor(design, 0.5 / same_C[0][1].C)
                for params, model in same_C:
                    vars(model).update(known)
                    model._fit_consequents(factor, Y)
                    yield params, model

    def _fit_rules(self, X, w):
        """G of the training rows; rules and principal components are kept."""
        found: Any = (
            principal_axes(X, w, self.n_components)
            if self.n_components
            else (None, None)
        )
        self.mean_, self.axes_ = found
        Z = self._reduced(X)
        self.centers_, spread = find_rules(Z, w, self.n_rules, self.fuzzifier)
        warn_if_fewer(len(self.centers_), self.n_rules)
        self.widths_ = authors_widths(spread, self.width_scale)
        G = FuzzyMap.of(Z, self.centers_, self.widths_)
        self.rule_distinctness_ = rule_distinctness(G.M, w)
        return G

    def _reduced(self, X):
        return (
            X
            if self.axes_ is None
            else np.asarray(X @ self.axes_.T) - self.axes_ @ self.mean_
        )

    def _design(self, G, Y, w):
        return Design(G, w)

    def _fit_consequents(self, factor, Y, limit=None):
        found, (K, D) = self._solve(factor, Y, limit), self.centers_.shape
        self.coef_, self.gap_ = found.P.reshape(K, D + 1, -1), found.gap
        self.n_iter_ = int(found.n_iter.max(initial=1))
        return found

    def _solve(self, factor, Y, limit=None):
        if self.solver == "lssli":
            found = leski_loop(
                factor, Y, self.epsilon, limit=limit, max_iter=self.max_iter
            )
        else:
            found = minimise(
                factor,
                Y,
                self.epsilon,
                limit=limit,
                tol=self.tol,
                max_iter=self.max_iter,
            )
        if not found.converged:
            worst = np.max(
                found.gap / np.maximum(found.value, np.finfo(np.float64).tiny)
            )
            gap = (
                ""
                if np.isnan(worst)
                else f" with a duality gap of {worst:.1e} of the objective"
            )
            message = f"stopped after {self.max_iter} steps{gap}: raise max_iter or tol, or lower C"
            warnings.warn(message, ConvergenceWarning, stacklevel=6)
        return found

    def _map(self, X):
        return FuzzyMap.of(self._reduced(X), self.centers_, self.widths_)

    def _scores(self, X):
        return self._map(X) @ self.coef_.reshape(-1, self.coef_.shape[2])


def principal_axes(X, w, n_components):
    """Mean (D,) and widest orthonormal axes (q, D), widest first, of rows X (dense or CSR) under the weights w."""
    mean, D = weighted_mean(X, w), X.shape[1]
    # subtracted rows where they are dense, which keeps every digit; moments where that would make X dense
    centred = X if sparse.issparse(X) else X - mean
    second = centred.T @ (sparse.diags_array(w) @ centred)
    S = (
        second.toarray() - w.sum() * np.outer(mean, mean)
        if sparse.issparse(X)
        else second
    )
    q = min(n_components, D)
    axes = eigh(S, subset_by_index=[D - q, D - 1])[1].T[::-1]
    largest = np.abs(axes).argmax(
        axis=1
    )  # signs are arbitrary: make the largest entry positive
    return mean, axes * np.sign(axes[np.arange(q), largest])[:, None]
