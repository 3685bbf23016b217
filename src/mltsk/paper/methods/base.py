"""What the compared methods have in common: inputs, outputs, what parameters may be, and a whole grid in one pass."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import joblib
import numpy as np
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from ...core.arrays import blas_threads, check_plain
from ...exceptions import InputError
from ...targets import Targets, predicted

COUNT = [Interval(Integral, 1, None, closed="left")]
POSITIVE, NOT_NEGATIVE = (
    [Interval(Real, 0, None, closed=closed)] for closed in ("neither", "left")
)
SHARE = [Interval(Real, 0, 1, closed="both")]
CONSTRAINTS = {  # what a parameter of this name may be, unless a method says otherwise
    **dict.fromkeys(
        ("batch_size", "epochs", "max_iter", "n_neighbors", "n_rules", "size"), COUNT
    ),
    **dict.fromkeys(
        (
            "C",
            "alpha",
            "beta",
            "gamma",
            "init_ridge",
            "latent",
            "learning_rate",
            "width_scale",
        ),
        POSITIVE,
    ),
    **dict.fromkeys(
        ("correlation_weight", "cost", "epsilon", "l1_weight"), NOT_NEGATIVE
    ),
    **dict.fromkeys(("prior_weight", "smoothing", "tol", "weight_decay"), NOT_NEGATIVE),
    **{name: ["boolean"] for name in ("center", "fit_intercept", "shuffle")},
    "hidden": [
        *COUNT,
        Interval(Real, 0, 1, closed="neither"),
    ],  # units, or a fraction of the features
    "fuzzifier": [Interval(Real, 1, None, closed="left")],
    "n_components": [None, *COUNT],
    "validation_fraction": [Interval(Real, 0, 1, closed="left")],
    "alpha_meaning": [StrOptions({"multiply", "divide"})],
    "antecedents": [StrOptions({"features", "labels"})],
    "device": [StrOptions({"cpu", "cuda"})],
    "formulas": [StrOptions({"program", "text"})],
    "order": [StrOptions({"index", "random"}), "array-like"],
    "precision": [StrOptions({"double", "single"})],
    "reading": [StrOptions({"features", "samples"})],
    "solver": [StrOptions({"quadratic", "lssli"})],
    "progress": [callable, None],
    "random_state": ["random_state"],
}


def with_labels(X, Y):
    """[X, Y], sparse if X is."""
    return (
        sparse.hstack([X, sparse.csr_array(Y * 1.0)], "csr")
        if sparse.issparse(X)
        else np.hstack([X, Y])
    )


@dataclass(frozen=True)
class GridPoint:
    """One setting of a grid: its parameters, and the scores and labels (N, L) that it gives to the test rows."""

    params: dict[str, object]
    scores: np.ndarray
    labels: np.ndarray


class MultilabelMethod(ClassifierMixin, BaseEstimator):
    """Base of the compared methods, with the contract of scikit-learn: targets of every form, names, probabilities.

    A subclass implements ``_scores(X)`` and ``_fit(X, Y, w)``, or ``_fitted`` where settings of a grid can share work.
    It sets ``PAPER_GRID`` (the paper's Table II) and ``_cut``, the score from which on a label is predicted, says where
    it does not take weights or sparse rows, and stores plain arrays only.
    """

    PAPER_GRID: ClassVar[Mapping[str, Sequence[object]]] = {}
    _takes_weights: ClassVar[bool] = True
    _sparse: ClassVar[Any] = "csr"  # or False
    _cut: ClassVar[float] = 0.5
    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    def fit(self, X, y, sample_weight=None):
        """Fit to X (n_samples, n_features) and an indicator y (n_samples, n_labels), or one-dimensional classes."""
        self._validate_params()
        X, Y, w = self._validate_fit(X, y, sample_weight)
        with blas_threads(self._flops(X)):
            self._fit(X, Y, w)
        return self

    def _validate_fit(self, X, y, sample_weight):
        for part, name in ((X, "X"), (y, "y"), (sample_weight, "sample_weight")):
            check_plain(part, name)
        if hasattr(y, "columns") or hasattr(
            y, "tocsr"
        ):  # names and sparse labels are read by Targets
            X = validate_data(
                self,
                X,
                ensure_min_samples=2,
                accept_sparse=self._sparse,
                dtype=np.float64,
            )
        else:
            options = {
                "multi_output": True,
                "ensure_min_samples": 2,
                "accept_sparse": self._sparse,
            }
            X, y = validate_data(self, X, y, dtype=np.float64, **options)
        targets = Targets.of(y)
        if len(targets.Y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows but y has {len(targets.Y)}")
        self.classes_, self.label_names_, self.multilabel_ = (
            targets.classes,
            targets.names,
            targets.multilabel,
        )
        if sample_weight is not None and not self._takes_weights:
            raise ValueError(
                f"{type(self).__name__} has no meaning for sample_weight: leave it out"
            )
        w = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        if not w.any():
            raise InputError(
                "All sample weights are zero: give at least one row a positive weight."
            )
        return (X, targets.Y, w) if w.all() else (X[w > 0], targets.Y[w > 0], w[w > 0])

    def _fit(self, X, Y, w):
        """Learn from X (N, D), an indicator Y (N, L) of floats and weights w (N,) above 0; store arrays."""
        for _ in self._fitted([({}, self)], X, Y, w):
            pass

    def _fitted(self, pairs, X, Y, w):
        """Pairs of parameters and the model that has them, each when it is fitted, work that they share done once."""
        for params, model in pairs:
            model._fit(X, Y, w)
            yield params, model

    def _flops(self, X):
        """Of the largest product, a Gram matrix of X or of its map by rules: they decide how many threads are used."""
        n_rows, width = X.shape[0], X.shape[1] * getattr(self, "n_rules", 1)
        return float(n_rows) * width * min(n_rows, width)

    @abstractmethod
    def _scores(self, X):
        """Scores (N, L) of checked rows: higher is more relevant."""

    def _check_input(self, X):
        check_is_fitted(self)
        check_plain(X, "X")
        return validate_data(
            self, X, reset=False, accept_sparse=self._sparse, dtype=np.float64
        )

    @property
    def _binary(self):
        return not self.multilabel_ and len(self.classes_) == 2

    def decision_function(self, X):
        """Score minus the cut, (n_samples, n_labels); (n,) if y was binary."""
        distance = self._scores(self._check_input(X)) - self._cut
        distance = np.where(
            distance == 0, np.finfo(np.float64).tiny, distance
        )  # a score at the cut is predicted
        return distance[:, 0] if self._binary else distance

    def predict(self, X):
        """Labels as an indicator, or classes if y was one-dimensional."""
        scores = self._scores(self._check_input(X))
        if self.multilabel_:
            return (scores >= self._cut).astype(int)
        scores, cuts = (
            np.where(scores == self._cut, np.inf, scores),
            np.full(scores.shape[1], self._cut),
        )
        return predicted(scores, cuts, self.classes_, False)

    def predict_proba(self, X):
        """Uncalibrated probabilities strictly in (0, 1): a logistic curve of the decision function."""
        distance, tiny = self.decision_function(X), np.finfo(np.float64).eps
        if not self.multilabel_ and not self._binary:
            return softmax(4 * distance, axis=1)
        return self._of_classes(np.clip(expit(4 * distance), tiny, 1 - tiny))

    def _of_classes(self, p):
        """Probabilities of labels as they are, or those of classes, which sum to 1, if y was one-dimensional."""
        if self.multilabel_:
            return p
        if self._binary:
            return np.column_stack([1 - p, p])
        total = p.sum(axis=1, keepdims=True)
        return np.where(total > 0, p / np.where(total > 0, total, 1), 1 / p.shape[1])

    def grid_path(
        self, X, y, X_test, grid=None, sample_weight=None
    ) -> Iterator[GridPoint]:
        """Every setting of ``grid`` (PAPER_GRID by default) fitted to X, y and applied to X_test.

        The same numbers as fitting each setting alone, without repeating work that settings share.
        """
        pairs, reader = self._settings(grid), clone(self)
        X, Y, w = reader._validate_fit(X, y, sample_weight)
        for _, model in pairs:
            vars(model).update(reader._known())
        points = self._path(pairs, X, Y, w, reader._check_input(X_test))
        limited = blas_threads(
            max(model._flops(X) for _, model in pairs)
        )  # while it works, and not between points
        yield from iter(limited(lambda: next(points, None)), None)

    def _path(self, pairs, X, Y, w, X_test):
        for params, model in self._fitted(pairs, X, Y, w):
            yield model._point(params, model._scores(X_test))

    def _known(self):
        return {name: value for name, value in vars(self).items() if name.endswith("_")}

    def _settings(self, grid):
        """Pairs of parameters and the model that has them, unfitted, for all settings of a grid."""
        settings = ParameterGrid(dict(self.PAPER_GRID if grid is None else grid))
        pairs = [(params, clone(self).set_params(**params)) for params in settings]
        for _, model in pairs:
            model._validate_params()
        return pairs

    def _point(self, params, scores):
        return GridPoint(params, scores, (scores >= self._cut).astype(int))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = bool(self._sparse)
        return tags


def grouped(pairs, chosen):
    """Pairs (parameters, model) in groups that agree in the parameters ``chosen`` by name, in order of appearance."""
    found: dict[str, list[Any]] = {}
    for params, model in pairs:
        key = joblib.hash(
            [value for name, value in params.items() if chosen(name)]
        )  # of values: arrays too
        found.setdefault(key, []).append((params, model))
    return list(found.values())
