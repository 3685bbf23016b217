"""What all compared methods share: reading inputs, outputs, parameters, whole grids.

A method is a class below `MultilabelMethod`. `register` gives it a key in `METHODS`,
by which experiments, tests and files of models know it.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, TypeVar

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted, validate_data

from ...core.arrays import (
    Array,
    Matrix,
    check_plain,
)
from ...core.threads import blas_threads
from ...exceptions import InputError
from ...frames import check_column_names
from ...refit import take_over, unfitted_copy
from ...rows.weights import check_weights
from ...sklearn_private import Interval, StrOptions
from ...targets import Targets, predicted
from .numbers import check_numbers

COUNT = [Interval(Integral, 1, None, closed="left")]
POSITIVE_NUMBER = [Interval(Real, 0, None, closed="neither")]
NOT_NEGATIVE = [Interval(Real, 0, None, closed="left")]
FRACTION = [Interval(Real, 0, 1, closed="both")]
Constraints = dict[str, list[object]]
# Beyond, and below its inverse, sums of weighted squares lose their digits: networks
# overflow at 1e30 in single precision, and MLSF does not come to an end at 1e150.
MAX_WEIGHT = 1e15

# What a parameter of this name may be, unless a method says otherwise.
CONSTRAINTS: Constraints = {
    "C": POSITIVE_NUMBER,
    "alpha": POSITIVE_NUMBER,
    "alpha_meaning": [StrOptions({"multiply", "divide"})],
    "antecedents": [StrOptions({"features", "labels"})],
    "batch_size": COUNT,
    "beta": POSITIVE_NUMBER,
    "center": ["boolean"],
    "correlation_weight": NOT_NEGATIVE,
    "cost": NOT_NEGATIVE,
    "device": [StrOptions({"cpu", "cuda"})],
    "epochs": COUNT,
    "epsilon": NOT_NEGATIVE,
    "fit_intercept": ["boolean"],
    "formulas": [StrOptions({"program", "text"})],
    "group_weight": NOT_NEGATIVE,
    "fuzzifier": [Interval(Real, 1, None, closed="left")],
    "gamma": POSITIVE_NUMBER,
    # A number of units, or a fraction of the features.
    "hidden": [*COUNT, Interval(Real, 0, 1, closed="neither")],
    "init_ridge": POSITIVE_NUMBER,
    "l1_weight": NOT_NEGATIVE,
    "latent": POSITIVE_NUMBER,
    "learning_rate": POSITIVE_NUMBER,
    "max_iter": COUNT,
    "n_components": [None, *COUNT],
    "n_neighbors": COUNT,
    "n_rules": COUNT,
    "order": [StrOptions({"index", "random"}), "array-like"],
    "precision": [StrOptions({"double", "single"})],
    "prior_weight": NOT_NEGATIVE,
    "progress": [callable, None],
    "random_state": ["random_state"],
    "reading": [StrOptions({"features", "samples"})],
    "shuffle": ["boolean"],
    "size": COUNT,
    "smoothing": NOT_NEGATIVE,
    "solver": [StrOptions({"quadratic", "lssli"})],
    "tol": NOT_NEGATIVE,
    "validation_fraction": [Interval(Real, 0, 1, closed="left")],
    "weight_decay": NOT_NEGATIVE,
    "width_scale": POSITIVE_NUMBER,
}


@dataclass(frozen=True)
class GridPoint:
    """One setting of a grid: its parameters, and its answers about the test rows.

    ``scores`` and ``labels`` are arrays of shape (n_test_rows, n_labels).
    """

    params: dict[str, object]
    scores: np.ndarray
    labels: np.ndarray


class Trial(NamedTuple):
    """One setting of a grid: its parameters, and a model that has them."""

    params: dict[str, object]
    model: Any


class MultilabelMethod(ClassifierMixin, BaseEstimator):
    """Base of the compared methods, with the contract of scikit-learn.

    It reads targets of every form, knows names, and gives labels and probabilities.

    A subclass implements ``_scores(X)`` and ``_fit(X, Y, w)``, or ``_fitted`` where
    settings of a grid can share work. It sets ``PAPER_GRID`` (the paper's Table II) and
    ``_cut``, the lowest score at which a label is predicted; it says where it does not
    take weights or sparse rows; and it stores plain arrays only.
    """

    PAPER_GRID: ClassVar[Mapping[str, Sequence[object]]] = {}
    _takes_weights: ClassVar[bool] = True
    _sparse: ClassVar[str | bool] = "csr"  # or False
    _cut: ClassVar[float] = 0.5
    _parameter_constraints: ClassVar[Constraints] = CONSTRAINTS

    def fit(self, X, y, sample_weight=None):
        """Fit the method to rows and their labels.

        X has shape (n_samples, n_features). y is an indicator of shape (n_samples,
        n_labels), or classes of shape (n_samples,).
        """
        self._validate_params()
        fitted = unfitted_copy(self)
        X, Y, w = fitted._validate_fit(X, y, sample_weight)
        with blas_threads(self._flops(X)):
            fitted._fit(X, Y, w)
        return take_over(self, fitted)

    def _validate_fit(self, X, y, sample_weight):
        """Check the inputs of a fit, and note the classes and names of labels.

        Returned are X (N, D), an indicator Y (N, L) and weights w (N,), all above 0:
        rows of weight 0 are left out.
        """
        X, targets = self._read_rows(X, y)
        self.classes_ = targets.classes
        self.label_names_ = targets.names
        self.multilabel_ = targets.multilabel
        w = self._read_weights(sample_weight, X.shape[0])
        if w.all():
            return X, targets.Y, w
        counted = w > 0
        return X[counted], targets.Y[counted], w[counted]

    def _read_rows(self, X, y):
        """Rows X in double precision, and their targets."""
        check_plain(X, "X")
        check_plain(y, "y")
        check_column_names(X)
        check_numbers(X, type(self).__name__)
        checks = {
            "accept_sparse": self._sparse,
            "dtype": np.float64,
            "ensure_min_samples": 2,
        }
        if hasattr(y, "columns") or hasattr(y, "tocsr"):
            # `Targets` reads names and sparse labels, which scikit-learn would lose.
            X = validate_data(self, X, **checks)
        else:
            X, y = validate_data(self, X, y, multi_output=True, **checks)
        targets = Targets.of(y)
        if len(targets.Y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows but y has {len(targets.Y)}")
        return X, targets

    def _read_weights(self, sample_weight, n_rows):
        """Weights (N,) of at least 0; 1 for every row where none are given."""
        if sample_weight is None:
            return np.ones(n_rows)
        if not self._takes_weights:
            raise ValueError(
                f"{type(self).__name__} has no meaning for sample_weight: leave it out"
            )
        w = check_weights(sample_weight, (n_rows,))
        is_extreme = (w > MAX_WEIGHT) | ((w > 0) & (w < 1 / MAX_WEIGHT))
        if is_extreme.any():
            row = int(is_extreme.argmax())
            raise InputError(
                f"sample_weight holds {w[row]:.3g} in row {row}, but "
                f"{type(self).__name__} takes weights as they are: divide all of them "
                "by their mean."
            )
        return w

    def _fit(self, X, Y, w):
        """Learn from X (N, D), an indicator Y (N, L) of floats and weights w (N,) > 0.

        What was learnt is stored as arrays.
        """
        for _ in self._fitted([Trial({}, self)], X, Y, w):
            pass

    def _fitted(self, trials, X, Y, w):
        """Fit the models of all trials; yield each trial when its model is fitted.

        Work that several settings need is done once. A model may be fitted again for
        the next trial, so use it before you ask for that.
        """
        for trial in trials:
            trial.model._fit(X, Y, w)
            yield trial

    def _flops(self, X):
        """Flops of the largest product, which decide how many threads are used.

        It is a Gram matrix of X, or of X mapped by rules.
        """
        n_rows = X.shape[0]
        width = X.shape[1] * getattr(self, "n_rules", 1)
        return float(n_rows) * width * min(n_rows, width)

    @abstractmethod
    def _scores(self, X):
        """Scores (N, L) of checked rows: higher is more relevant."""

    def _check_input(self, X):
        """Rows to predict in double precision, checked against those of the fit."""
        check_is_fitted(self)
        check_plain(X, "X")
        check_numbers(X, type(self).__name__)
        return validate_data(
            self, X, reset=False, accept_sparse=self._sparse, dtype=np.float64
        )

    @property
    def _binary(self):
        """Whether y had one dimension and two classes."""
        return not self.multilabel_ and len(self.classes_) == 2

    def decision_function(self, X):
        """Score minus the cut, (n_samples, n_labels); (n_samples,) if y was binary."""
        distance = self._scores(self._check_input(X)) - self._cut
        # A label whose score is the cut itself is predicted.
        distance = np.where(distance == 0, np.finfo(np.float64).tiny, distance)
        return distance[:, 0] if self._binary else distance

    def predict(self, X):
        """Indicator of labels (n_samples, n_labels), or classes (n_samples,)."""
        scores = self._scores(self._check_input(X))
        if self.multilabel_:
            return (scores >= self._cut).astype(int)
        # `predicted` asks for more than the cut, and here the cut itself is enough.
        scores = np.where(scores == self._cut, np.inf, scores)
        cuts = np.full(scores.shape[1], self._cut)
        return predicted(scores, cuts, self.classes_, multilabel=False)

    def predict_proba(self, X):
        """Uncalibrated probabilities strictly between 0 and 1.

        They are a logistic curve of the decision function.
        """
        distance = self.decision_function(X)
        if not self.multilabel_ and not self._binary:
            return softmax(4 * distance, axis=1)
        return self._class_probabilities(inside_unit_interval(expit(4 * distance)))

    def _class_probabilities(self, p):
        """Probabilities p of labels, or of classes if y had one dimension.

        Those of labels stay as they are. Those of classes sum to 1 in every row.
        """
        if self.multilabel_:
            return p
        if self._binary:
            return np.column_stack([1 - p, p])
        total = p.sum(axis=1, keepdims=True)
        return np.where(total > 0, p / np.where(total > 0, total, 1), 1 / p.shape[1])

    def grid_path(
        self, X, y, X_test, grid=None, sample_weight=None
    ) -> Iterator[GridPoint]:
        """Fit every setting of a grid to X, y, and apply each to X_test.

        The grid is PAPER_GRID by default. The numbers are those of fitting each setting
        alone, but work that settings share is not repeated.
        """
        trials = self._trials(grid)
        reader = clone(self)
        X, Y, w = reader._validate_fit(X, y, sample_weight)
        for trial in trials:
            trial.model._adopt(reader)
        points = self._path(trials, X, Y, w, reader._check_input(X_test))
        flops = max(trial.model._flops(X) for trial in trials)
        while True:
            # Threads are limited while a point is computed, not while the caller works.
            with blas_threads(flops):
                point = next(points, None)
            if point is None:
                return
            yield point

    def _path(self, trials, X, Y, w, X_test):
        """Points of all trials, fitted to X, Y, w and applied to X_test."""
        for params, model in self._fitted(trials, X, Y, w):
            yield model._point(params, model._scores(X_test))

    def _adopt(self, other):
        """Take over all fitted attributes that another model has so far."""
        for name, value in vars(other).items():
            if name.endswith("_"):
                setattr(self, name, value)

    def _trials(self, grid):
        """All settings of a grid with unfitted models; parameters are checked."""
        trials = []
        for params in ParameterGrid(dict(self.PAPER_GRID if grid is None else grid)):
            model = clone(self).set_params(**params)
            model._validate_params()
            trials.append(Trial(params, model))
        return trials

    def _point(self, params, scores):
        """The point of a grid that has these scores (N, L)."""
        return GridPoint(params, scores, (scores >= self._cut).astype(int))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = bool(self._sparse)
        return tags


#: The compared methods by key, such as "ml-knn". Every method registers itself.
METHODS: dict[str, type[MultilabelMethod]] = {}
#: What came after the paper, by key, such as "ml-hdtsk-fs".
SUCCESSORS: dict[str, type[MultilabelMethod]] = {}

Method = TypeVar("Method", bound=type[MultilabelMethod])


def register(
    key: str, among: dict[str, type[MultilabelMethod]] = METHODS
) -> Callable[[Method], Method]:
    """Decorate a class so that `METHODS`, or `SUCCESSORS`, has it under a key."""

    def add(method: Method) -> Method:
        among[key] = method
        return method

    return add


def agreeing_in(trials: Iterable[Trial], *names: str) -> list[list[Trial]]:
    """Groups of trials with equal values of these parameters, as they first appear."""
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        # The hash is one of values: a parameter may be an array.
        key = joblib.hash([trial.params.get(name) for name in names])
        groups.setdefault(key, []).append(trial)
    return list(groups.values())


def agreeing_except_in(trials: Sequence[Trial], *names: str) -> list[list[Trial]]:
    """Groups of trials that differ in these parameters at most."""
    others = {name for trial in trials for name in trial.params} - set(names)
    return agreeing_in(trials, *sorted(others))


def with_labels(X: Matrix, Y: Array | NDArray[np.bool_]) -> Matrix:
    """The columns of X (N, D), then those of Y (N, L); CSR if X is."""
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_array(Y * 1.0)], "csr")
    return np.hstack([X, Y])


def inside_unit_interval(p: Array) -> Array:
    """Probabilities moved by a rounding error at most, so that none is 0 or 1."""
    eps = np.finfo(np.float64).eps
    return np.clip(p, eps, 1 - eps)
