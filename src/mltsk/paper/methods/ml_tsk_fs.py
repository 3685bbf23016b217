"""ML-TSK FS as its authors run it, one of the compared methods.

`mltsk.MLTSKClassifier` is what we recommend.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import product
from numbers import Real
from typing import ClassVar, TypedDict

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ...core.arrays import Array, Matrix, blas_threads, spread_rows
from ...core.coupling import CONVEX, coupling_matrix, label_correlation
from ...core.fuzzymap import FuzzyMap
from ...core.membership import rule_distinctness
from ...core.scales import column_quantiles, fit_scaling
from ...core.terms import Terms
from ...exceptions import InputError, NonConvexWarning
from ...explain import explain
from ...fitted import FittedAttributes
from ...probabilities import fixed_thresholds
from ...rows.read import feature_names
from ...sklearn_private import StrOptions
from ...system import FuzzySystem
from ..antecedents import find_rules, rule_widths, warn_if_collapsed, warn_if_fewer
from ..solvers.algorithm1 import Setting, Stop, algorithm1, algorithm1_grid
from ..solvers.consequents import fit_consequents
from ..solvers.problem import GAP
from .base import (
    CONSTRAINTS,
    COUNT,
    NOT_NEGATIVE,
    Constraints,
    GridPoint,
    MultilabelMethod,
    Trial,
    agreeing_except_in,
    agreeing_in,
    register,
)
from .nets import Device, batches, torch_device

# Rows, evenly spread, from which percentiles and the distinctness of rules are taken.
MAX_SUMMARY_ROWS = 20_000
# The authors' stopping rule.
PROGRAM_STEPS = 100
PROGRAM_MARGIN = 0.01
# Numbers of all P that a batch of settings on a device holds together.
MAX_BATCH_NUMBERS = 10**8
SOLVER_WEIGHTS = ("correlation_weight", "l1_weight", "init_ridge")

_AUTO_OR_WEIGHT = [StrOptions({"auto"}), *NOT_NEGATIVE]
_GRID_WEIGHTS = (0.01, 0.1, 1.0, 10.0, 100.0)


class StoppingRule(TypedDict):
    """When Algorithm I stops; see `mltsk.paper.algorithm1`."""

    stop: Stop
    max_iter: int
    margin: float


@register("ml-tsk-fs")
@dataclass(eq=False, repr=False)
class PaperMLTSK(FittedAttributes, MultilabelMethod):
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
    _sparse: ClassVar[str | bool] = False
    _parameter_constraints: ClassVar[Constraints] = CONSTRAINTS | {
        "correlation_weight": _AUTO_OR_WEIGHT,
        "l1_weight": _AUTO_OR_WEIGHT,
        "ridge": _AUTO_OR_WEIGHT,
        "objective": [StrOptions({"algorithm1", "convex"})],
        "coupling": [StrOptions({*CONVEX, "paper"}), None],
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
    objective: str = "algorithm1"
    coupling: str | None = "paper"
    ridge: float | str = "auto"
    threshold: ArrayLike = 0.5
    max_iter: int | None = None
    tol: float | None = None
    device: str | None = None
    precision: str = "double"

    @property
    def _cut(self):  # type: ignore[override]
        return self.thresholds_

    def _validate_fit(self, X, y, sample_weight):
        X, Y, w = super()._validate_fit(X, y, sample_weight)
        fixed_thresholds(self.threshold, Y.shape[1], "a finite number or one per label")
        return X, Y, w

    def _fit(self, X, Y, w):
        n_labels = Y.shape[1]
        # Rules.
        scaling = fit_scaling(X, w, "minmax")
        Z = scaling.apply(X)
        centers, spread = find_rules(Z, w, self.n_rules, formulas=self.formulas)
        warn_if_fewer(len(centers), self.n_rules)
        widths = rule_widths(spread, self.width_scale, self.formulas)
        G = FuzzyMap.of(Z, centers, widths, firing="authors")
        # Consequents.
        P = self._consequents(G, Y, w)
        # What helps to read them.
        fired = w @ G.M
        rows = spread_rows(len(X), MAX_SUMMARY_ROWS)
        self.width_scale_ = self.width_scale
        self.rule_distinctness_ = rule_distinctness(G.M[rows], w[rows])
        self.system_ = FuzzySystem(
            feature_names=feature_names(self),
            label_names=tuple(self.label_names_),
            scale_name="minmax",
            scaling=scaling,
            intercept=np.zeros(n_labels),
            terms=Terms.none(),
            term_coef=np.zeros((0, n_labels)),
            centers=centers,
            widths=widths,
            coef=np.ascontiguousarray(P.reshape(G.n_rules, -1, n_labels)),
            prototypes=scaling.apply(centers, inverse=True),
            rule_weights=fired / max(float(fired.sum()), np.finfo(np.float64).tiny),
            thresholds=np.full(n_labels, self.threshold, dtype=np.float64),
            quantiles=column_quantiles(X[rows], np.linspace(0, 1, 21)),
            firing="authors",
        )
        warn_if_collapsed(self)

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

    def explain(self, X):
        """Why samples get their scores: ``print(clf.explain(X[:1]))`` tells.

        Returned is a `mltsk.explain.Explanation`.
        """
        check_is_fitted(self)
        return explain(self.system_, self._check_input(X))

    def _scores(self, X):
        with blas_threads(2.0 * X.shape[0] * self.coef_.size):
            scores = self.system_.scores(X)
        if self.formulas == "program":
            return scores
        # By the text a label needs more than the threshold.
        just_below = np.nextafter(scores, -np.inf)
        return np.where(scores == self.thresholds_, just_below, scores)

    def _path(self, trials, X, Y, w, X_test):
        scaling = fit_scaling(X, w, "minmax")
        Z = scaling.apply(X)
        T = scaling.apply(X_test)
        for same_rules, mapped in _by_rules(trials, Z, w):
            yield from _points(same_rules, mapped(Z), mapped(T), Y, w)

    def scaled_path(self, Z, Y, T, grid=None) -> Iterator[GridPoint]:
        """`grid_path` for features that are on a common scale already.

        Training rows Z and test rows T are dense or CSR.
        """
        Y = np.asarray(Y, dtype=np.float64)
        w = np.ones(Z.shape[0])
        for same_rules, mapped in _by_rules(self._trials(grid), Z, w):
            yield from _points(same_rules, mapped(Z), mapped(T), Y, w)

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
        for same_rules, mapped in _by_rules(self._trials(grid), Z, all_rows):
            G = mapped(Z)
            first = same_rules[0].model
            train, test = split(first.n_rules, first.width_scale)
            w = np.ones(len(train))
            for point in _points(same_rules, G.take(train), G.take(test), Y[train], w):
                yield point, test


def _weight(weight: float | str) -> float | None:
    """A weight as a number, or None where it is "auto"."""
    return None if weight == "auto" else float(weight)


def _by_rules(
    trials: Sequence[Trial], Z: Matrix, w: Array
) -> Iterator[tuple[list[Trial], Callable[[Matrix], FuzzyMap]]]:
    """Trials that differ in their weights alone, with what maps rows by their rules.

    One clustering of the rows Z (N, D) serves all widths.
    """
    for same_centers in agreeing_in(trials, "n_rules", "formulas"):
        first = same_centers[0].model
        C, spread = find_rules(Z, w, first.n_rules, formulas=first.formulas)
        for same_rules in agreeing_except_in(same_centers, *SOLVER_WEIGHTS):
            width_scale = same_rules[0].model.width_scale
            S = rule_widths(spread, width_scale, first.formulas)
            yield same_rules, partial(FuzzyMap.of, C=C, S=S, firing="authors")


def _points(
    trials: Sequence[Trial], train: FuzzyMap, test: FuzzyMap, Y: Array, w: Array
) -> Iterator[GridPoint]:
    """Points of trials that differ in their weights alone."""
    if trials[0].model.objective == "algorithm1":
        scores_of = _algorithm1_scores(trials, train, test, Y, w)
    for params, model in trials:
        if model.objective == "algorithm1":
            scores = scores_of[model._alpha_beta_gamma()]
        else:
            scores = test @ model._consequents(train, Y, w)
        threshold = np.asarray(model.threshold)
        if model.formulas == "program":
            labels = threshold <= scores
        else:
            labels = scores > threshold
        yield GridPoint(params, scores, labels.astype(int))


def _algorithm1_scores(
    trials: Sequence[Trial], train: FuzzyMap, test: FuzzyMap, Y: Array, w: Array
) -> Mapping[Setting, Array]:
    """Scores of the test rows by (alpha, beta, gamma); each setting is solved once."""
    first = trials[0].model
    settings = [trial.model._alpha_beta_gamma() for trial in trials]
    axes = [sorted(set(weights)) for weights in zip(*settings, strict=True)]
    rule = first._stopping_rule()
    if first.device not in (None, "cpu"):
        device = torch_device(first.device)
        combinations = list(product(*axes))
        return _device_scores(train, test, Y, combinations, device=device, rule=rule)
    return algorithm1_grid(
        train,
        Y,
        *axes,
        then=lambda result: test @ result.P,
        sample_weight=w,
        precision=first.precision,
        **rule,
    )


def _device_scores(
    train: FuzzyMap,
    test: FuzzyMap,
    Y: Array,
    settings: Sequence[Setting],
    *,
    device: Device,
    rule: StoppingRule,
) -> dict[Setting, Array]:
    """Scores of every setting by `algorithm1_batch`, on the device.

    All rows have the same weight.
    """
    import torch

    from ..solvers.algorithm1_batch import Problems, algorithm1_batch

    G, T, labels = (
        torch.as_tensor(np.ascontiguousarray(array), device=device)
        for array in (train.rows(), test.rows(), Y)
    )
    problems = Problems.from_rows(G[None], labels, G.new_ones((1, 1, len(G))))
    size = max(1, MAX_BATCH_NUMBERS // (G.shape[1] * labels.shape[1]))
    scores: dict[Setting, Array] = {}
    for batch in batches(settings, size):
        ((_, _, P),) = algorithm1_batch(problems, batch, **rule)
        scores |= zip(batch, (T @ P[0]).cpu().numpy(), strict=True)
    return scores
