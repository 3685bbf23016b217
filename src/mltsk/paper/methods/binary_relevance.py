"""BR: one ε-insensitive TSK fuzzy system per label, all over the same rules."""

from numbers import Integral
from typing import ClassVar

import joblib
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils._param_validation import Interval

from ...core.fuzzymap import FuzzyMap
from ...core.membership import rule_distinctness
from ...core.threads import blas_threads
from ..antecedents import fit_rules
from .base import GridPoint, MultilabelMethod
from .epsilon_insensitive import Design, Factor
from .epsilon_lssli import PARAMETERS, design_flops, ridge_weight, solve, store
from .principal_axes import PrincipalAxes


class BinaryRelevanceTSK(MultilabelMethod):
    """Binary relevance over ε-insensitive TSK fuzzy systems.

    Every label is a regression of its 0/1 column, as in `EpsilonLSSLI`; the labels share rules, rule-mapped features
    and one factorisation, and know nothing of each other. A label is predicted where its value is at least 0.5.

    Parameters
    ----------
    n_rules, C, epsilon, fuzzifier, width_scale, antecedents, solver, tol, max_iter, init, random_state
        As in `EpsilonLSSLI`.
    n_components : int or None, default=None
        Replace the features by so many principal components of the training rows. The paper did this for one large
        data set (50 components on Mirflickr).

    Attributes
    ----------
    centers_, widths_, coef_, gap_, n_iter_, rule_distinctness_
        As in `EpsilonLSSLI`, one output per label; over the components if ``n_components`` is given.
    mean_, axes_ : arrays of shapes (n_features,) and (n_components, n_features), or None
        Principal components of the training rows.

    Notes
    -----
    Certain: the structure, the grid of C and n_rules. Our reconstruction: ε = 0.05, h = 1, and the quadratic loss,
    which is faster to minimise than the absolute one (``solver="absolute"``), for which the published loop is a
    heuristic (``solver="lssli"``).
    With the paper's fuzzifier of 2 all rules coincide in high dimension (`rule_distinctness_` is near 0): the method
    is then ridge-like linear regression with a tube, whatever ``n_rules`` says.

    References
    ----------
    M.-L. Zhang, Y.-K. Li, X.-Y. Liu, X. Geng, "Binary relevance for multi-label learning: an overview", Frontiers of
    Computer Science 12(2), 2018, 191-202; and J. Leski as in `EpsilonLSSLI`.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=120, random_state=0)
    >>> BinaryRelevanceTSK(n_rules=3).fit(data.X, data.Y).predict(data.X).shape == data.Y.shape
    True
    """

    PAPER_GRID: ClassVar = {"C": [2.0**e for e in range(-5, 6, 2)], "n_rules": list(range(2, 10))}
    _takes_weights: ClassVar[bool] = True
    _takes_sparse: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        **PARAMETERS,
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
    }

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
        n_components=None,
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
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.init = init
        self.random_state = random_state

    def _fit(self, X, Y, w):
        Z = self._reduce(X, w)
        G = self._fit_rules(Z, w)
        with blas_threads(design_flops(G)):
            self._fit_consequents(G, Y, w, self._design(G, Y, w))

    def _reduce(self, X, w):
        """X, or its principal components, which are kept for prediction."""
        self.mean_ = self.axes_ = None
        if self.n_components is not None:
            found = PrincipalAxes.of(X, w, self.n_components)
            self.mean_, self.axes_ = found.mean, found.axes
        return self._reduced(X)

    def _reduced(self, X):
        return X if self.axes_ is None else PrincipalAxes(self.mean_, self.axes_).apply(X)

    def _fit_rules(self, Z, w):
        rules = fit_rules(self, Z, w)
        self.centers_, self.widths_ = rules.centers, rules.widths
        G = self._map(Z)
        self.rule_distinctness_ = rule_distinctness(G.M, w)
        return G

    def _map(self, Z):
        return FuzzyMap.of(Z, self.centers_, self.widths_)

    def _design(self, G, Y, w):
        return None if self.solver == "lssli" else Design.of(G, w)

    def _fit_consequents(self, G, Y, w, design, factor=None):
        store(self, solve(self, design, G, Y, w, factor=factor))

    def _scores(self, X):
        return self._scores_of(self._map(self._reduced(X)))

    def _scores_of(self, G):
        return G @ self.coef_.reshape(-1, self.coef_.shape[2])

    def grid_path(self, X, y, X_test, grid=None, sample_weight=None):
        """Every setting of ``grid`` applied to X_test, settings that share their rules together.

        Rules are found once for all settings that differ in C and ε alone, the ridge matrix is factored once for each
        C, and principal components are found once. See `MultilabelMethod.grid_path`.
        """
        shared = clone(self)
        X, targets, w = shared._validate_fit(X, y, sample_weight)
        X_test = shared._check_input(X_test)
        for group in _groups(self._settings(grid), ("n_components",)):
            Z, first = group[0][1]._reduce(X, w), group[0][1]
            Z_test = first._reduced(X_test)
            for part in _groups(group, [name for name in self.get_params() if name not in ("C", "epsilon", "tol")]):
                yield from _same_rules(part, first, Z, targets.Y, w, Z_test)

    def _settings(self, grid):
        settings = list(ParameterGrid(dict(self.PAPER_GRID if grid is None else grid)))
        models = [clone(self).set_params(**params) for params in settings]
        for model in models:
            model._validate_params()
        return list(zip(settings, models, strict=True))


def _groups(pairs, names):
    """Pairs (settings, model) in groups whose models agree in the named parameters, in order of first appearance."""
    found = {}
    for params, model in pairs:
        key = joblib.hash([getattr(model, name) for name in names])  # of values: arrays and generators too
        found.setdefault(key, []).append((params, model))
    return list(found.values())


def _same_rules(pairs, reduced, Z, Y, w, Z_test):
    """Grid points of models that differ in C, ε and tol alone: one clustering, one factorisation per C."""
    first = pairs[0][1]
    first.mean_, first.axes_ = reduced.mean_, reduced.axes_
    G = first._fit_rules(Z, w)
    with blas_threads(design_flops(G)):
        design = first._design(G, Y, w)
    G_test = first._map(Z_test)
    fitted = {name: value for name, value in vars(first).items() if name.endswith("_")}
    for same_C in _groups(pairs, ("C",)):
        factor = None
        if design is not None:
            with blas_threads(design_flops(G)):
                factor = Factor.of(design, ridge_weight(same_C[0][1]))
        for params, model in same_C:
            vars(model).update(fitted)
            with blas_threads(design_flops(G)):
                model._fit_consequents(G, Y, w, design, factor)
            scores = model._scores_of(G_test)
            yield GridPoint(params, scores, model._labels(scores))
