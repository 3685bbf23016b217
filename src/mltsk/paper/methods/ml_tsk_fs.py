"""ML-TSK FS as its authors run it, one of the compared methods.

`mltsk.MLTSKClassifier` is what we recommend.
"""

import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from ...core.coupling import CONVEX, coupling_matrix, label_correlation
from ...core.fuzzymap import FuzzyMap
from ...core.membership import Firing, exponents
from ...core.scales import fit_scaling
from ...exceptions import InputError, NonConvexWarning
from ...sklearn_private import StrOptions
from ...thresholds import check_reach, fixed_thresholds
from ..antecedents import (
    MAX_UNFIRED_SHARE,
    find_rules,
    rule_widths,
    warn_if_collapsed,
    warn_if_fewer,
    warn_if_unfired,
    width_that_fires,
)
from ..solvers.algorithm1 import Setting, algorithm1
from ..solvers.consequents import fit_consequents
from ..solvers.problem import GAP
from ..symbols import answering_symbols, symbol_advice
from .base import (
    CONSTRAINTS,
    COUNT,
    NOT_NEGATIVE,
    Constraints,
    GridPoint,
    register,
)
from .ml_tsk_fs_grid import StoppingRule, by_rules, grid_points
from .papers_rules import PapersRules

# The authors' stopping rule.
PROGRAM_STEPS = 100
PROGRAM_MARGIN = 0.01

_AUTO_OR_WEIGHT = [StrOptions({"auto"}), *NOT_NEGATIVE]
_GRID_WEIGHTS = (0.01, 0.1, 1.0, 10.0, 100.0)


@register("ml-tsk-fs")
@answering_symbols
@dataclass(eq=False, repr=False)
class PaperMLTSK(PapersRules):
    """Multi-label Takagi-Sugeno-Kang fuzzy system of the paper, as its authors run it.

    Min-max scaling, fuzzy c-means with m = 2, widths h · variance, zeroed rows where
    firing underflows, R = 1 - C and Algorithm I with their stopping rule (100 steps,
    margin 0.01). The paper chooses the five weights by a grid search (its Table II);
    the defaults here are mid-grid.

    Parameters
    ----------
    n_rules : int, default=3
        K.
    width_scale : float, default=1.0
        h.
    correlation_weight, l1_weight : float or "auto", default=1.0, 0.1
        α and β of (24). "auto", for the convex objective alone, takes α from
        leave-one-out and β from the noise.
    init_ridge : float, default=1.0
        γ of the start (36), which matters because Algorithm I stops early; a convex
        problem ends in the same place.
    formulas : {"program", "text"}, default="program"
        "text" is the paper as printed: centres weighted by u (3), δ = h · variance in
        exp(-(x - c)² / (2δ²)) (2) (4), a label where its score is above the threshold
        (26), and steps until the objective (24) changes by 0.01 at most.
    underflow : {"authors", "softmax"}, optional
        What becomes of a row whose memberships in all rules are 0 to the computer: with
        "authors" no rule fires on it, as in the program; "softmax" computes (5) and (6)
        in logarithms, where they are defined for every row. By default each of the
        ``formulas`` has its own: "authors" for the program, "softmax" for the text.
    objective : {"algorithm1", "convex"}, default="algorithm1"
        "convex" solves (24) with a convex ``coupling`` and a ridge to its optimum, with
        a duality gap as certificate.
    coupling : {"paper", "laplacian", "signed", "shift", "precision", "ridge"} or None
        How correlated labels pull at each other's consequents, see
        `mltsk.core.coupling`. "paper", the default, is not convex, and Algorithm I
        knows "paper" and None alone.
    ridge : float or "auto", default="auto"
        ρ of the convex objective, which (24) lacks; "auto" is by leave-one-out.
    threshold : float or array of shape (n_labels,), default=0.5
    max_iter, tol : int, float, optional
        When to stop: by default the authors' 100 and 0.01; of the convex objective 1000
        and a relative gap of 1e-4.
    device : str, optional
        Where a grid is computed, "cuda" for example, all weights of a number of rules
        and a width in one batch; by default NumPy computes, as ``fit`` always does.
    precision : {"double", "single"}, default="double"
        Of the steps when NumPy runs a grid; "single" takes half the time or less.

    Attributes
    ----------
    centers_, widths_ : arrays of shape (n_rules, n_features)
        IF-parts, on the scale of the rules; ``prototypes_`` are the centres in the
        caller's units.
    coef_ : array of shape (n_rules, n_features + 1, n_labels)
        THEN-parts on that scale, intercept first.
    rule_weights_ : array of shape (n_rules,)
        Share of the training data that each rule governs.
    unfired_share_ : float
        Share of the rows of the fit on which no rule fires: their scores are all 0.
    rule_distinctness_ : float
        0 = all rules the same, 1 = fully distinct: see
        `mltsk.core.membership.rule_distinctness`.
    coupling_, ridge_, correlation_weight_, l1_weight_
        The label coupling (n_labels, n_labels) and the weights used.
    certificate_ : float
        Relative duality gap reached; NaN for "algorithm1", which has none.
    n_iter_ : int

    References
    ----------
    Q. Lou, Z. Deng, Z. Xiao, K.-S. Choi, S. Wang, "Multi-Label Takagi-Sugeno-Kang Fuzzy
    System", IEEE Transactions on Fuzzy Systems 30(9), 2022.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, random_state=0)
    >>> PaperMLTSK(n_rules=2, correlation_weight=0.01).fit(data.X, data.Y).coef_.shape
    (2, 11, 5)
    """

    PAPER_GRID: ClassVar = {
        "n_rules": tuple(range(1, 11)),
        "width_scale": (0.1, 1.0, 10.0, 100.0),
        "correlation_weight": _GRID_WEIGHTS,
        "l1_weight": _GRID_WEIGHTS,
        "init_ridge": (0.1, 1.0, 10.0, 100.0),
    }
    _parameter_constraints: ClassVar[Constraints] = CONSTRAINTS | {
        "correlation_weight": _AUTO_OR_WEIGHT,
        "l1_weight": _AUTO_OR_WEIGHT,
        "ridge": _AUTO_OR_WEIGHT,
        "objective": [StrOptions({"algorithm1", "convex"})],
        "coupling": [StrOptions({*CONVEX, "paper"}), None],
        "underflow": [StrOptions({"authors", "softmax"}), None],
        "threshold": [Real, "array-like"],
        "max_iter": [*COUNT, None],
        "tol": [*NOT_NEGATIVE, None],
        "device": [str, None],
    }

    n_rules: int = 3
    _: KW_ONLY
    width_scale: float = 1.0
    correlation_weight: float | str = 1.0
    l1_weight: float | str = 0.1
    init_ridge: float = 1.0
    formulas: str = "program"
    underflow: str | None = None
    objective: str = "algorithm1"
    coupling: str | None = "paper"
    ridge: float | str = "auto"
    threshold: ArrayLike = 0.5
    max_iter: int | None = None
    tol: float | None = None
    device: str | None = None
    precision: str = "double"

    @property
    def _strict(self) -> bool:  # type: ignore[override]
        """Whether a label needs more than its threshold, as in (26)."""
        return self.formulas == "text"

    @property
    def _firing(self) -> Firing:
        """How memberships become firing strengths, by ``underflow``."""
        if self.underflow == "authors":
            return "authors"
        in_logarithms = self.underflow == "softmax" or self.formulas == "text"
        return "softmax" if in_logarithms else "authors"

    def set_params(self, **params):
        """Set parameters by name, as scikit-learn does; symbols are answered."""
        advice = symbol_advice(params)
        if advice:
            raise InputError(advice)
        return super().set_params(**params)

    def _validate_fit(self, X, y, sample_weight):
        X, Y, w = super()._validate_fit(X, y, sample_weight)
        forms = "a finite number or one per label"
        check_reach(fixed_thresholds(self.threshold, Y.shape[1], forms))
        return X, Y, w

    def _fit(self, X, Y, w):
        n_labels = Y.shape[1]
        # Rules.
        scaling = fit_scaling(X, w, "minmax")
        Z = scaling.apply(X)
        centers, spread = find_rules(Z, w, self.n_rules, formulas=self.formulas)
        warn_if_fewer(len(centers), self.n_rules)
        widths = rule_widths(spread, self.width_scale, self.formulas)
        G = FuzzyMap.of(Z, centers, widths, firing=self._firing)
        # Consequents.
        P = self._consequents(G, Y, w)
        # What helps to read them.
        self.width_scale_ = self.width_scale
        self._keep_rules(
            X,
            w,
            scaling=scaling,
            centers=centers,
            widths=widths,
            M=G.M,
            P=P,
            thresholds=self._thresholds(n_labels),
            firing=self._firing,
        )
        if self.unfired_share_ > MAX_UNFIRED_SHARE:
            E = exponents(Z, centers, rule_widths(spread, 1.0, self.formulas))
            warn_if_unfired(self, width_that_fires(E, w, self.formulas))
        else:
            warn_if_collapsed(self)

    def _thresholds(self, n_labels):
        """Scores (L,) from which on a label is given.

        By the text a label needs more than its threshold: the next number.
        """
        thresholds = np.full(n_labels, self.threshold, dtype=np.float64)
        if self.formulas == "program":
            return thresholds
        return np.nextafter(thresholds, np.inf)

    def _consequents(self, G, Y, w):
        """P (K(D+1), L) as the parameters say; what was used and reached is stored."""
        if self.objective == "convex":
            return self._convex_consequents(G, Y, w)
        alpha, beta, gamma = self._alpha_beta_gamma()
        result = algorithm1(
            G, Y, alpha, beta, gamma, sample_weight=w, **self._stopping_rule()
        )
        self.ridge_ = 0.0
        self.correlation_weight_ = alpha
        self.l1_weight_ = beta
        self.coupling_ = coupling_matrix(label_correlation(Y, w), self.coupling)
        self.n_iter_ = result.n_iter
        self.certificate_ = float("nan")
        if result.stopped_by == "negative loss":
            message = (
                f"Algorithm I stopped at step {result.n_iter} because its loss fell "
                "below 0, which a convex problem cannot do: with "
                f"correlation_weight={alpha:g} the paper's coupling has no minimum. "
                "The result is where the authors' program stops; objective='convex' "
                "with coupling='laplacian' has an optimum."
            )
            warnings.warn(message, NonConvexWarning, stacklevel=4)
        return result.P

    def _stopping_rule(self) -> StoppingRule:
        """When Algorithm I stops."""
        return {
            "stop": "text" if self.formulas == "text" else "program",
            "max_iter": self.max_iter or PROGRAM_STEPS,
            "margin": PROGRAM_MARGIN if self.tol is None else self.tol,
        }

    def _alpha_beta_gamma(self) -> Setting:
        """Weights of Algorithm I; values for the convex objective are refused."""
        if self.coupling not in ("paper", None):
            raise InputError(
                "objective='algorithm1' knows coupling='paper' or None, "
                f"got {self.coupling!r}."
            )
        if "auto" in (self.correlation_weight, self.l1_weight):
            raise InputError(
                "Weights that are 'auto' need objective='convex': "
                "Algorithm I has no optimum to judge."
            )
        alpha = 0.0 if self.coupling is None else float(self.correlation_weight)
        return alpha, float(self.l1_weight), float(self.init_ridge)

    def _convex_consequents(self, G, Y, w):
        """P (K(D+1), L) at the optimum of the convex objective."""
        tol = GAP if self.tol is None else self.tol
        fitted = fit_consequents(
            G,
            Y,
            w,
            coupling=self.coupling,
            rho=_weight(self.ridge),
            alpha=_weight(self.correlation_weight),
            beta=_weight(self.l1_weight),
            gamma=self.init_ridge,
            max_iter=self.max_iter or 1000,
            tol=tol,
        )
        self.ridge_ = fitted.rho
        self.correlation_weight_ = fitted.alpha
        self.l1_weight_ = fitted.beta
        self.coupling_ = fitted.coupling
        self.n_iter_ = fitted.solution.n_iter
        self.certificate_ = fitted.solution.certificates[-1]
        if not fitted.solution.converged:
            message = (
                f"the solver stopped after {self.n_iter_} steps at a relative gap of "
                f"{self.certificate_:.2g}, above tol={tol:g}: raise max_iter, or the "
                f"ridge weight ({self.ridge_:.3g})"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=5)
        return fitted.P

    def _path(self, trials, X, Y, w, X_test):
        scaling = fit_scaling(X, w, "minmax")
        Z = scaling.apply(X)
        T = scaling.apply(X_test)
        for same_rules, mapped in by_rules(trials, Z, w):
            yield from grid_points(same_rules, mapped(Z), mapped(T), Y, w)

    def scaled_path(self, Z, Y, T, grid=None) -> Iterator[GridPoint]:
        """`grid_path` for features that are on a common scale already.

        Training rows Z and test rows T are dense or CSR.
        """
        Y = np.asarray(Y, dtype=np.float64)
        w = np.ones(Z.shape[0])
        for same_rules, mapped in by_rules(self._trials(grid), Z, w):
            yield from grid_points(same_rules, mapped(Z), mapped(T), Y, w)

    def authors_path(
        self, Z, Y, split, grid=None
    ) -> Iterator[tuple[GridPoint, np.ndarray]]:
        """Every setting as the authors' program evaluates it.

        It finds rules on all rows, before the split. ``Z`` are all rows on a common
        scale, ``split(n_rules, width_scale)`` gives training and test rows: the authors
        draw new folds for every number of rules and every width. Yields each point with
        its test rows.
        """
        Y = np.asarray(Y, dtype=np.float64)
        all_rows = np.ones(Z.shape[0])
        for same_rules, mapped in by_rules(self._trials(grid), Z, all_rows):
            G = mapped(Z)
            first = same_rules[0].model
            train, test = split(first.n_rules, first.width_scale)
            w = np.ones(len(train))
            parts = G.take(train), G.take(test)
            for point in grid_points(same_rules, *parts, Y[train], w):
                yield point, test


def _weight(weight: float | str) -> float | None:
    """A weight as a number, or None where it is "auto"."""
    return None if weight == "auto" else float(weight)
