"""ML-TSK FS as its authors run it, one of the compared methods; `mltsk.MLTSKClassifier` is what we recommend."""

import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, asdict, dataclass
from functools import partial
from itertools import product
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from ...classifier import MLTSKClassifier
from ...core.arrays import blas_threads, spread_rows
from ...core.coupling import CONVEX, coupling_matrix, label_correlation
from ...core.fuzzymap import FuzzyMap
from ...core.membership import rule_distinctness
from ...core.terms import Scaling, Terms, column_quantiles, fit_scaling
from ...exceptions import InputError, NonConvexWarning
from ...explain import explain
from ...rows.read import feature_names
from ...system import FuzzySystem
from ..antecedents import find_rules, rule_widths, warn_if_collapsed, warn_if_fewer
from ..solvers.algorithm1 import algorithm1, algorithm1_grid
from ..solvers.consequents import fit_consequents
from ..solvers.problem import GAP
from .base import CONSTRAINTS, COUNT, NOT_NEGATIVE, GridPoint, MultilabelMethod, grouped
from .nets import batches, torch_device

_ROWS = 20_000  # evenly spread: enough for percentiles and for how much rules differ
_AUTO = [StrOptions({"auto"}), *NOT_NEGATIVE]


@dataclass(eq=False, repr=False)
class PaperMLTSK(MultilabelMethod):
    """Multi-label Takagi-Sugeno-Kang fuzzy system of the paper, as its authors' program runs it.

    Min-max scaling, fuzzy c-means with m = 2, widths h · variance, zeroed rows where firing underflows, R = 1 - C and
    Algorithm I with their stopping rule (100 steps, margin 0.01). The paper chooses the five weights by a grid search
    (its Table II); the defaults here are mid-grid.

    Parameters
    ----------
    n_rules : int, default=3
        K.
    width_scale : float, default=1.0
        h.
    correlation_weight, l1_weight : float or "auto", default=1.0, 0.1
        α and β of (24). "auto", for the convex objective alone, takes α from leave-one-out and β from the noise.
    init_ridge : float, default=1.0
        γ of the start (36), which matters because Algorithm I stops early; a convex problem ends in the same place.
    formulas : {"program", "text"}, default="program"
        "text" is the paper as printed: centres weighted by u (3), δ = h · variance in exp(-(x - c)² / (2δ²)) (2) (4), a
        label where its score is above the threshold (26), and steps until the objective (24) changes by 0.01 at most.
    objective : {"algorithm1", "convex"}, default="algorithm1"
        "convex" solves (24) with a convex ``coupling`` and a ridge to its optimum, with a duality gap as certificate.
    coupling : {"paper", "laplacian", "signed", "shift", "precision", "ridge"} or None, default="paper"
        How correlated labels pull at each other's consequents, see `mltsk.core.coupling`. "paper" is not convex, and
        Algorithm I knows "paper" and None alone.
    ridge : float or "auto", default="auto"
        ρ of the convex objective, which (24) lacks; "auto" is by leave-one-out.
    threshold : float or array of shape (n_labels,), default=0.5
    max_iter, tol : int, float, optional
        When to stop: by default the authors' 100 and 0.01; of the convex objective 1000 and a relative gap of 1e-4.
    device : str, optional
        Where a grid is computed, "cuda" for example, all weights of a number of rules and a width in one batch; by
        default NumPy computes, as ``fit`` always does.
    precision : {"double", "single"}, default="double"
        Of the steps when NumPy runs a grid; "single" takes half the time or less.

    Attributes
    ----------
    centers_, widths_ : arrays of shape (n_rules, n_features)
        IF-parts, on the scale of the rules; ``prototypes_`` are the centres in the caller's units.
    coef_ : array of shape (n_rules, n_features + 1, n_labels)
        THEN-parts on that scale, intercept first.
    rule_weights_ : array of shape (n_rules,)
        Share of the training data that each rule governs.
    rule_distinctness_ : float
        0 = all rules the same, 1 = fully distinct: see `mltsk.core.membership.rule_distinctness`.
    coupling_, ridge_, correlation_weight_, l1_weight_
        The label coupling (n_labels, n_labels) and the weights used.
    certificate_ : float
        Relative duality gap reached; NaN for "algorithm1", which has none.
    n_iter_ : int

    References
    ----------
    Q. Lou, Z. Deng, Z. Xiao, K.-S. Choi, S. Wang, "Multi-Label Takagi-Sugeno-Kang Fuzzy System", IEEE Transactions on
    Fuzzy Systems 30(9), 2022.

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
        **dict.fromkeys(
            ("correlation_weight", "l1_weight"), (0.01, 0.1, 1.0, 10.0, 100.0)
        ),
        "init_ridge": (0.1, 1.0, 10.0, 100.0),
    }
    _sparse: ClassVar[Any] = False
    _parameter_constraints: ClassVar[Any] = CONSTRAINTS | {
        **dict.fromkeys(("correlation_weight", "l1_weight", "ridge"), _AUTO),
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
    threshold: Any = 0.5
    max_iter: int | None = None
    tol: float | None = None
    device: str | None = None
    precision: str = "double"

    @property
    def _cut(self):  # type: ignore[override]
        return self.thresholds_

    def _validate_fit(self, X, y, sample_weight):
        X, Y, w = super()._validate_fit(X, y, sample_weight)
        shape, thresholds = Y.shape[1:], np.asarray(self.threshold, dtype=np.float64)
        if thresholds.shape not in ((), shape) or not np.isfinite(thresholds).all():
            raise ValueError(
                f"threshold must be a finite number or one per label, {shape}, got {self.threshold!r}"
            )
        self.thresholds_ = np.broadcast_to(thresholds, shape).copy()
        return X, Y, w

    def _fit(self, X, Y, w):
        scaling = fit_scaling(X, w, "minmax")
        Z = scaling.apply(X)
        self.centers_, spread = find_rules(Z, w, self.n_rules, formulas=self.formulas)
        warn_if_fewer(len(self.centers_), self.n_rules)
        self.widths_ = rule_widths(spread, self.width_scale, self.formulas)
        G = FuzzyMap.of(Z, self.centers_, self.widths_, firing="authors")
        self.coef_ = np.ascontiguousarray(
            self._consequents(G, Y, w).reshape(G.n_rules, -1, Y.shape[1])
        )
        self.width_scale_, self.scale_, self.scaling_ = (
            self.width_scale,
            "minmax",
            asdict(scaling),
        )
        fired, rows = w @ G.M, spread_rows(len(X), _ROWS)
        self.rule_weights_ = fired / max(float(fired.sum()), np.finfo(np.float64).tiny)
        self.prototypes_ = scaling.apply(self.centers_, inverse=True)
        self.quantiles_ = column_quantiles(X[rows], np.linspace(0, 1, 21))
        self.rule_distinctness_ = rule_distinctness(G.M[rows], w[rows])
        warn_if_collapsed(self)

    def _consequents(self, G, Y, w):
        """P (K(D+1), L) as the parameters say; what was used and reached is noted."""
        if self.objective == "convex":
            return self._certified(G, Y, w)
        alpha, beta, gamma = self._alpha_beta_gamma()
        found = algorithm1(G, Y, alpha, beta, gamma, sample_weight=w, **self._stop())
        self.ridge_, self.correlation_weight_, self.l1_weight_ = 0.0, alpha, beta
        self.coupling_ = coupling_matrix(label_correlation(Y, w), self.coupling)
        self.n_iter_, self.certificate_ = found.n_iter, float("nan")
        if found.stopped_by == "negative loss":
            message = (
                f"Algorithm I stopped at step {found.n_iter} because its loss fell below 0, which a convex problem "
                f"cannot do: with correlation_weight={alpha:g} the paper's coupling has no minimum. The result is "
                f"where the authors' program stops; objective='convex' with coupling='laplacian' has an optimum."
            )
            warnings.warn(message, NonConvexWarning, stacklevel=4)
        return found.P

    def _stop(self):
        margin = 0.01 if self.tol is None else self.tol
        return {
            "stop": self.formulas,
            "max_iter": self.max_iter or 100,
            "margin": margin,
        }

    def _alpha_beta_gamma(self):
        if self.coupling not in ("paper", None):
            raise InputError(
                f"objective='algorithm1' knows coupling='paper' or None, got {self.coupling!r}."
            )
        if "auto" in (self.correlation_weight, self.l1_weight):
            raise InputError(
                "Weights that are 'auto' need objective='convex': Algorithm I has no optimum to judge."
            )
        alpha = 0.0 if self.coupling is None else float(self.correlation_weight)
        return alpha, float(self.l1_weight), float(self.init_ridge)

    def _certified(self, G, Y, w):
        given = {
            "rho": self.ridge,
            "alpha": self.correlation_weight,
            "beta": self.l1_weight,
        }
        weights: dict[str, Any] = {
            name: None if weight == "auto" else float(weight)
            for name, weight in given.items()
        }
        stop: dict[str, Any] = {
            "max_iter": self.max_iter or 1000,
            "tol": GAP if self.tol is None else self.tol,
        }
        found = fit_consequents(
            G, Y, w, coupling=self.coupling, gamma=self.init_ridge, **weights, **stop
        )
        self.ridge_, self.correlation_weight_, self.l1_weight_ = (
            found.rho,
            found.alpha,
            found.beta,
        )
        self.coupling_, self.n_iter_ = found.coupling, found.solution.n_iter
        self.certificate_ = found.solution.certificates[-1]
        if not found.solution.converged:
            gap = f"at a relative gap of {self.certificate_:.2g}, above tol={stop['tol']:g}"
            advice = f"raise max_iter, or the ridge weight ({self.ridge_:.3g})"
            message = f"the solver stopped after {self.n_iter_} steps {gap}: {advice}"
            warnings.warn(message, ConvergenceWarning, stacklevel=5)
        return found.P

    @property
    def system_(self):
        """The fitted fuzzy system as plain data, `mltsk.system.FuzzySystem`."""
        check_is_fitted(self)
        own = (
            "centers",
            "widths",
            "coef",
            "prototypes",
            "rule_weights",
            "thresholds",
            "quantiles",
        )
        return FuzzySystem(
            feature_names=tuple(feature_names(self)),
            label_names=tuple(self.label_names_),
            scaling=Scaling(**self.scaling_),
            unit_length=False,
            intercept=np.zeros(self.coef_.shape[2]),
            terms=Terms.none(),
            term_coef=np.zeros((0, self.coef_.shape[2])),
            firing="authors",
            **{name: getattr(self, f"{name}_") for name in own},
        )

    rules_, _category_names = MLTSKClassifier.rules_, MLTSKClassifier._category_names

    def explain(self, X):
        """Why samples get their scores, a `mltsk.explain.Explanation`: ``print(clf.explain(X[:1]))`` tells."""
        return explain(
            self.system_, self._check_input(X), categories=self._category_names()
        )

    def _scores(self, X):
        with blas_threads(2.0 * X.shape[0] * self.coef_.size):
            scores = self.system_.scores(X)
        if self.formulas == "program":
            return scores
        return np.where(
            scores == self.thresholds_, np.nextafter(scores, -np.inf), scores
        )  # not above it

    def _path(self, pairs, X, Y, w, X_test):
        scaling = fit_scaling(X, w, "minmax")
        Z, T = scaling.apply(X), scaling.apply(X_test)
        for same, mapped in _by_rules(pairs, Z, w):
            yield from _solve(same, mapped(Z), mapped(T), Y, w)

    def scaled_path(self, Z, Y, T, grid=None) -> Iterator[GridPoint]:
        """`grid_path` for features on a common scale already: training rows Z and test rows T, dense or CSR."""
        Y, w = np.asarray(Y, dtype=np.float64), np.ones(Z.shape[0])
        for same, mapped in _by_rules(self._settings(grid), Z, w):
            yield from _solve(same, mapped(Z), mapped(T), Y, w)

    def authors_path(
        self, Z, Y, split, grid=None
    ) -> Iterator[tuple[GridPoint, np.ndarray]]:
        """Every setting as the authors' program evaluates it: rules are found on all rows, before the split.

        ``Z`` are all rows on a common scale, ``split(n_rules, width_scale)`` gives training and test rows: the authors
        draw new folds for every number of rules and every width. Yields each point with its test rows.
        """
        Y = np.asarray(Y, dtype=np.float64)
        for same, mapped in _by_rules(self._settings(grid), Z, np.ones(Z.shape[0])):
            G, (train, test) = (
                mapped(Z),
                split(same[0][1].n_rules, same[0][1].width_scale),
            )
            for point in _solve(
                same, G.take(train), G.take(test), Y[train], np.ones(len(train))
            ):
                yield point, test


def _by_rules(pairs, Z, w):
    """Pairs that differ in their weights alone, with the map of rows by their rules: one clustering for all widths."""
    for part in grouped(pairs, ("n_rules", "formulas").__contains__):
        first = part[0][1]
        C, spread = find_rules(Z, w, first.n_rules, formulas=first.formulas)
        for same in grouped(
            part,
            lambda name: name not in ("correlation_weight", "l1_weight", "init_ridge"),
        ):
            S = rule_widths(spread, same[0][1].width_scale, first.formulas)
            yield same, partial(FuzzyMap.of, C=C, S=S, firing="authors")


def _solve(pairs, train, test, Y, w) -> Iterator[GridPoint]:
    """Points of pairs that differ in their weights alone, each set of weights solved once."""
    first, scores = pairs[0][1], None
    if first.objective == "algorithm1":
        axes = [
            sorted(set(column))
            for column in zip(
                *(model._alpha_beta_gamma() for _, model in pairs), strict=True
            )
        ]
        if first.device in (None, "cpu"):
            options = {
                "sample_weight": w,
                "precision": first.precision,
                **first._stop(),
            }
            scores = algorithm1_grid(
                train, Y, *axes, then=lambda found: test @ found.P, **options
            )
        else:
            scores = _batch(
                train, test, Y, axes, torch_device(first.device), first._stop()
            )
    for params, model in pairs:
        S = (
            test @ model._consequents(train, Y, w)
            if scores is None
            else scores[model._alpha_beta_gamma()]
        )
        given = (
            np.asarray(model.threshold) <= S
            if model.formulas == "program"
            else S > np.asarray(model.threshold)
        )
        yield GridPoint(params, S, given.astype(int))


def _batch(train, test, Y, axes, device, stop):
    """Scores of every setting by `algorithm1_batch`, on the device; rows all count the same."""
    import torch

    from ..solvers.algorithm1_batch import Problems, algorithm1_batch

    settings, scores = list(product(*axes)), dict[Any, Any]()
    G, T, Y = (
        torch.as_tensor(np.ascontiguousarray(a), device=device)
        for a in (train.rows(), test.rows(), Y)
    )
    problems = Problems.from_rows(G[None], Y, G.new_ones((1, 1, len(G))))
    for some in batches(settings, max(1, 10**8 // (G.shape[1] * Y.shape[1]))):
        ((_, _, P),) = algorithm1_batch(problems, some, **stop)
        scores |= zip(some, (T @ P[0]).cpu().numpy(), strict=True)
    return scores
