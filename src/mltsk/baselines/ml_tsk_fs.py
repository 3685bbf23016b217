"""ML-TSK FS as its authors run it, as one of the compared methods: the `paper` preset with its grid of settings."""

from collections.abc import Iterator
from itertools import groupby, product
from typing import ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils._param_validation import StrOptions

from ..core.algorithm1 import algorithm1_grid
from ..core.clustering import fuzzy_c_means, variances
from ..core.fuzzymap import FuzzyMap
from ..core.membership import authors_widths
from ..estimators import MLTSKClassifier
from ..estimators.antecedents import fit_scale
from ..scale.torch import moves_arrays, to_device
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
    device : str, optional
        Where tensors are computed, "cuda" for example; by default NumPy computes. `scaled_path` and `authors_path` run
        all weights of a number of rules and a width in one batch there, in double precision.
    precision : {"double", "single"}, default="double"
        Of the steps when a grid is run on the host (`mltsk.core.algorithm1_grid`); "single" takes half the time or
        less. ``fit`` alone always computes in double.

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

    _parameter_constraints: ClassVar[dict] = MLTSKClassifier._parameter_constraints | {
        "precision": [StrOptions({"double", "single"})],
    }

    def __init__(
        self,
        n_rules=3,
        *,
        width_scale=1.0,
        correlation_weight=1.0,
        l1_weight=0.1,
        init_ridge=1.0,
        threshold=0.5,
        device=None,
        precision="double",
    ):
        preset = MLTSKClassifier.paper().get_params()
        for name in preset.keys() - set(self._get_param_names()):
            setattr(self, name, preset[name])
        self.n_rules = n_rules
        self.width_scale = width_scale
        self.correlation_weight = correlation_weight
        self.l1_weight = l1_weight
        self.init_ridge = init_ridge
        self.threshold = threshold
        self.device = device
        self.precision = precision

    def grid_path(self, X, y, X_test, grid=None, sample_weight=None) -> Iterator[GridPoint]:
        """Every setting of ``grid`` (PAPER_GRID by default) fitted to X, y and applied to X_test.

        One clustering serves a number of rules, one set of moments a number of rules and a width, and `algorithm1_grid`
        the weights: the same numbers as fitting each setting alone. Points come grouped by rules and width.
        """
        settings = self._settings(grid)
        first = clone(settings[0])
        X, targets, w = first._validate_fit(X, y, sample_weight)
        _, scaling, Z = fit_scale(X, w, first.scale)
        T = scaling.apply(first._validate_rows(X_test))
        yield from _path(settings, Z, T, targets.Y, w)

    def scaled_path(self, Z, Y, T, grid=None) -> Iterator[GridPoint]:
        """`grid_path` for features on a common scale already: training rows Z and test rows T, dense or CSR."""
        yield from _path(self._settings(grid), Z, T, np.asarray(Y, dtype=np.float64), np.ones(Z.shape[0]))

    def authors_path(self, Z, Y, split, grid=None) -> Iterator[tuple[GridPoint, np.ndarray]]:
        """Every setting as the authors' program evaluates it: rules are found on all rows, before the split.

        ``Z`` are all rows on a common scale, ``split(n_rules, width_scale)`` gives training and test rows: the authors
        draw new folds for every number of rules and every width. Yields each point with its test rows.
        """
        Y = np.asarray(Y, dtype=np.float64)
        for n_rules, same_rules in _grouped(self._settings(grid), "n_rules"):
            found, spread = _rules(Z, np.ones(Z.shape[0]), n_rules, self.fuzzifier)
            for width_scale, same in _grouped(same_rules, "width_scale"):
                train, test = split(n_rules, width_scale)
                G = _map(Z, found, spread, width_scale)
                points = _solve(same, G.take(train), G.take(test), Y[train], np.ones(len(train)))
                yield from ((point, test) for point in points)

    def _settings(self, grid):
        return [clone(self).set_params(**p) for p in ParameterGrid(dict(self.PAPER_GRID if grid is None else grid))]


def _path(settings, Z, T, Y, w) -> Iterator[GridPoint]:
    for n_rules, same_rules in _grouped(settings, "n_rules"):
        found, spread = _rules(Z, w, n_rules, settings[0].fuzzifier)
        for width_scale, same in _grouped(same_rules, "width_scale"):
            yield from _solve(same, *(_map(A, found, spread, width_scale) for A in (Z, T)), Y, w)


def _rules(Z, w, n_rules, fuzzifier):
    found = fuzzy_c_means(Z, min(n_rules, Z.shape[0]), fuzzifier=fuzzifier, sample_weight=w)
    return found, variances(Z, found.centers, found.memberships, w)


def _map(Z, found, spread, width_scale):
    return FuzzyMap.of(Z, found.centers, authors_widths(spread, width_scale), underflow="authors")


def _solve(models, train, test, Y, w) -> Iterator[GridPoint]:
    """Points of the models that share their rules, each set of weights solved once."""
    names = ("correlation_weight", "l1_weight", "init_ridge")
    axes = [sorted({getattr(m, name) for m in models}) for name in names]
    if not moves_arrays(models[0].device):
        precision = models[0].precision
        scores = algorithm1_grid(
            train, Y, *axes, then=lambda found: test @ found.P, sample_weight=w, precision=precision
        )
    else:
        scores = _batch(train, test, Y * 1.0, axes, models[0].device)
    for model in models:
        S = scores[tuple(getattr(model, name) for name in names)]
        params = {k: v for k, v in model.get_params().items() if k in PaperMLTSK.PAPER_GRID}
        yield GridPoint(params, S, (np.asarray(model.threshold) <= S).astype(int))


def _batch(train, test, Y, axes, device):
    """Scores of every setting by `algorithm1_batch`, on the device; rows all count the same."""
    from ..scale.algorithm1_batch import Problems, algorithm1_batch

    settings = list(product(*axes))
    G, T, Y = to_device(device, train.rows(), test.rows(), Y)
    problems = Problems.of(G[None], Y, G.new_ones((1, 1, len(G))))
    scores = {}
    for setting in range(0, len(settings), step := max(1, 10**8 // (G.shape[1] * Y.shape[1]))):
        some = settings[setting : setting + step]
        ((_, runs),) = algorithm1_batch(problems, some)
        scores |= zip(some, (T @ runs.P[0]).cpu().numpy(), strict=True)
    return scores


def _grouped(models, name):
    ordered = sorted(models, key=lambda m: getattr(m, name))
    return [(value, list(group)) for value, group in groupby(ordered, key=lambda m: getattr(m, name))]
