"""ML-TSK FS as its authors run it, as one of the compared methods: the `paper` preset with its grid of settings."""

from collections.abc import Iterator
from itertools import groupby
from typing import ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from ..core.algorithm1 import algorithm1_grid
from ..core.clustering import fuzzy_c_means, variances
from ..core.fuzzymap import FuzzyMap
from ..core.membership import authors_widths
from ..estimators import MLTSKClassifier
from ..estimators.antecedents import fit_scale
from .base import GridPoint

_WEIGHTS = (0.01, 0.1, 1.0, 10.0, 100.0)


class PaperMLTSK(MLTSKClassifier):
    """Multi-label TSK fuzzy system with the parameters, and only those, that the paper tunes.

    Everything else is `MLTSKClassifier.paper`: min-max scaling, fuzzy c-means with m = 2, widths h · variance, zeroed
    rows where firing underflows, R = 1 - C, Algorithm I with its authors' stopping rule. `MLTSKClassifier()` is the
    method that we recommend; this one is what the paper's tables show.

    Parameters
    ----------
    n_rules : int, default=3
        K.
    width_scale : float, default=1.0
        h.
    correlation_weight, l1_weight : float, default=1.0, 0.1
        α and β of (24).
    init_ridge : float, default=1.0
        γ of the start (36), which matters because the iteration stops early.
    threshold : float or array of shape (n_labels,), default=0.5

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
        "correlation_weight": _WEIGHTS,
        "l1_weight": _WEIGHTS,
        "init_ridge": (0.1, 1.0, 10.0, 100.0),
    }

    def __init__(
        self, n_rules=3, *, width_scale=1.0, correlation_weight=1.0, l1_weight=0.1, init_ridge=1.0, threshold=0.5
    ):
        preset = MLTSKClassifier.paper().get_params()
        own = {"n_rules", "width_scale", "correlation_weight", "l1_weight", "init_ridge", "threshold"}
        for name in preset.keys() - own:
            setattr(self, name, preset[name])
        self.n_rules = n_rules
        self.width_scale = width_scale
        self.correlation_weight = correlation_weight
        self.l1_weight = l1_weight
        self.init_ridge = init_ridge
        self.threshold = threshold

    def grid_path(self, X, y, X_test, grid=None, sample_weight=None) -> Iterator[GridPoint]:
        """Every setting of ``grid`` (PAPER_GRID by default) fitted to X, y and applied to X_test.

        One clustering serves a number of rules, one set of moments a number of rules and a width, and `algorithm1_grid`
        the weights: the same numbers as fitting each setting alone. Points come grouped by rules and width.
        """
        settings = [clone(self).set_params(**p) for p in ParameterGrid(dict(self.PAPER_GRID if grid is None else grid))]
        first = clone(settings[0])
        X, targets, w = first._validate_fit(X, y, sample_weight)
        _, scaling, Z = fit_scale(X, w, first.scale)
        T = scaling.apply(first._validate_rows(X_test))
        for n_rules, same_rules in _grouped(settings, "n_rules"):
            found = fuzzy_c_means(Z, min(n_rules, len(Z)), fuzzifier=first.fuzzifier, sample_weight=w)
            spread = variances(Z, found.centers, found.memberships, w)
            for width_scale, same in _grouped(same_rules, "width_scale"):
                widths = authors_widths(spread, width_scale)
                train, test = (FuzzyMap.of(A, found.centers, widths, underflow="authors") for A in (Z, T))
                yield from _solve(same, train, test, targets.Y, w)


def _solve(models, train, test, Y, w) -> Iterator[GridPoint]:
    """Points of the models that share their rules, each set of weights solved once."""
    names = ("correlation_weight", "l1_weight", "init_ridge")
    axes = [sorted({getattr(m, name) for m in models}) for name in names]
    scores = algorithm1_grid(train, Y, *axes, then=lambda found: test @ found.P, sample_weight=w)
    for model in models:
        S = scores[tuple(getattr(model, name) for name in names)]
        params = {k: v for k, v in model.get_params().items() if k in PaperMLTSK.PAPER_GRID}
        yield GridPoint(params, S, (np.asarray(model.threshold) <= S).astype(int))


def _grouped(models, name):
    ordered = sorted(models, key=lambda m: getattr(m, name))
    return [(value, list(group)) for value, group in groupby(ordered, key=lambda m: getattr(m, name))]
