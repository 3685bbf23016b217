"""`MultilabelThreshold`: any multi-label classifier with thresholds chosen for a metric, on inner folds.

Symbols: n rows, L labels, scores (n, L); label l is predicted where score_l >= threshold_l. A column of scores can be
cut between any two that differ: one sort and running sums give the metric at every cut. Of equally good cuts the one
nearest to a reference is taken, and the reference itself if it makes that cut.

A threshold for all labels is the best of 200 cuts. Thresholds per label start there and are chosen label by label
until none can gain. That is the maximum for ``hamming`` and ``macro_f1``, where labels do not interact, and for
``micro_f1``: if no label can gain, each maximises its part of 2 TP - F1 (PP + P), whose maximum is 0 at the best F1
(Dinkelbach). For ``example_f1`` and ``subset_accuracy`` it is a local one; a function is asked for 32 cuts per label.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import KFold, StratifiedKFold, cross_validate
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, has_fit_parameter

from .exceptions import InputError
from .metrics import example_f1_score, hamming_loss, macro_f1_score, micro_f1_score, subset_accuracy_score
from .metrics.inputs import BoolArray, FloatArray, check_labels, check_threshold, check_weight
from .metrics.scorers import label_scores, response_method
from .targets import Targets

#: What can be maximised; the Hamming loss counts as 1 - loss.
METRICS: dict[str, Callable[..., float]] = {
    "micro_f1": micro_f1_score,
    "macro_f1": macro_f1_score,
    "example_f1": example_f1_score,
    "subset_accuracy": subset_accuracy_score,
    "hamming": lambda Y, predictions, **weight: 1.0 - hamming_loss(Y, predictions, **weight),
}
USUAL_CUT = {"predict_proba": 0.5, "decision_function": 0.0}
# Probabilities first, as in scikit-learn's threshold tuners: then 0.5 means what people think it means.
RESPONSES = {"auto": tuple(USUAL_CUT), **{method: (method,) for method in USUAL_CUT}}


class MultilabelThreshold(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Choose the thresholds of a multi-label classifier for a metric, on inner folds.

    The classifier is fitted once on all rows, and to choose thresholds on the training part of each inner fold: scores
    of rows seen in training would misplace them.

    Parameters
    ----------
    estimator : classifier
        With `predict_proba` or `decision_function`. It is cloned, never changed.
    method : {"per_label", "global", "fixed"}, default "per_label"
        One threshold per label, one for all labels, or `threshold` as it is.
    threshold : "auto", float or (L,), default "auto"
        On the scale of the scores; "auto" is 0.5 for probabilities and 0 for a decision function. Methods that choose
        stay as near to it as the metric allows.
    metric : str or callable, default "micro_f1"
        "micro_f1", "macro_f1", "example_f1", "subset_accuracy", "hamming" (1 - Hamming loss), or a function
        ``f(Y, predictions)`` to maximise, called with ``sample_weight=`` too if `fit` was.
    cv : int, splitter or iterable of splits, default 5
        A number means shuffled folds drawn by `random_state`, stratified for a 1-d target.
    min_positives : int, default 10
        A label keeps the threshold for all labels unless this many rows have it and as many do not (counted with
        `sample_weight`): on fewer the best threshold is an accident of the fold.
    response_method : {"auto", "predict_proba", "decision_function"}, default "auto"
        Where scores come from; "auto" takes probabilities if there are any.
    random_state : int, RandomState or None, default 0

    Attributes
    ----------
    estimator_ : the classifier fitted on all rows
    thresholds_ : (L,) thresholds on the scale of its scores
    tuned_labels_ : (L,) of bool, labels that have a threshold of their own
    inner_score_ : value of `metric` on the inner folds at these thresholds, so optimistic (not for "fixed")
    classes_ : ``arange(L)``, or the two classes of a 1-d target
    label_names_ : names of the labels, if Y was a data frame
    n_features_in_, feature_names_in_ : as in the wrapped classifier, where it has them

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X, Y = make_multilabel_classification(n_samples=200, n_classes=3, random_state=0)
    >>> model = MultilabelThreshold(RidgeClassifier(), metric="macro_f1").fit(X, Y)
    >>> model.predict(X).shape, model.thresholds_.shape
    ((200, 3), (3,))
    """

    def __init__(
        self,
        estimator,
        *,
        method="per_label",
        threshold="auto",
        metric="micro_f1",
        cv=5,
        min_positives=10,
        response_method="auto",
        random_state=0,
    ):
        self.estimator = estimator
        self.method = method
        self.threshold = threshold
        self.metric = metric
        self.cv = cv
        self.min_positives = min_positives
        self.response_method = response_method
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Fit the classifier on all rows and choose its thresholds.

        X is whatever the classifier takes; y is (n, L) of 0 and 1, dense, sparse or data frame, or (n,) with two
        classes; ``sample_weight`` (n,) is for the classifier and for the metric.
        """
        self._check_parameters()
        y, Y, self.classes_, self._binary = _read_target(y)
        check_consistent_length(X, Y)
        given = self._given(sample_weight, len(Y))
        self.estimator_ = clone(self.estimator).fit(X, y, **given)
        for name in ("label_names_", "inner_score_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)  # of an earlier fit
            if name.endswith("_in_") and hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        if hasattr(y, "columns"):
            self.label_names_ = np.asarray(y.columns, dtype=object)
        usual, L = USUAL_CUT[response_method(self.estimator_, RESPONSES[self.response_method])], Y.shape[1]
        cut = check_threshold(usual if isinstance(self.threshold, str) else self.threshold, L)
        self.thresholds_, self.tuned_labels_ = np.array(np.broadcast_to(cut, L)), np.zeros(L, dtype=bool)
        if self.method != "fixed":
            self._tune(X, y, Y, given)
        return self

    def predict(self, X):
        """Predicted labels: int (n, L), or classes (n,) for a 1-d target."""
        predicted = (self._scores(X) >= self.thresholds_).astype(int)
        return self.classes_[predicted[:, 0]] if self._binary else predicted

    def decision_function(self, X):
        """Score - threshold (n, L), or (n,) for a 1-d target: > 0 where the label is predicted.

        A score on its threshold is predicted, so there it is the smallest positive number instead of 0.
        """
        scores = self._scores(X)
        margins = np.where(scores == self.thresholds_, np.finfo(np.float64).tiny, scores - self.thresholds_)
        return margins[:, 0] if self._binary else margins

    @available_if(lambda self: self._asks_probabilities())
    def predict_proba(self, X):
        """The classifier's own probabilities, (n, L), or (n, 2) for a 1-d target: `thresholds_` cut them, not 0.5."""
        scores = self._scores(X)
        return np.hstack([1.0 - scores, scores]) if self._binary else scores

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

    def _check_parameters(self):
        for name, allowed in (("method", ("per_label", "global", "fixed")), ("response_method", RESPONSES)):
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}.")
        if isinstance(self.threshold, str) and self.threshold != "auto":
            raise InputError(f'threshold must be "auto", a number or one per label, got {self.threshold!r}.')
        get_metric(self.metric)

    def _given(self, sample_weight, n: int) -> dict[str, FloatArray]:
        if sample_weight is None:
            return {}
        if not has_fit_parameter(self.estimator, "sample_weight"):
            refused = f"sample_weight was given but {type(self.estimator).__name__}.fit does not take it"
            raise InputError(f"{refused}; wrap a classifier that does, or fit without weights.")
        return {"sample_weight": check_weight(sample_weight, n)}

    def _tune(self, X, y, Y: BoolArray, given: dict[str, FloatArray]) -> None:
        weight = given.get("sample_weight", np.ones(len(Y)))
        rows, scores = self._inner_scores(X, y, Y.shape[1], given)
        keep = weight[rows] > 0  # a row without weight must not even offer a threshold
        Y_left, scores, w = Y[rows[keep]], scores[keep], weight[rows[keep]] / weight[rows[keep]].mean()
        metric = self.metric
        if callable(metric) and not given:
            metric = lambda Y, predictions, sample_weight: self.metric(Y, predictions)  # noqa: E731
        overall = best_threshold(Y_left, scores, metric, float(np.mean(self.thresholds_)), w)
        if self.method == "per_label":
            positives = weight @ Y
            self.tuned_labels_ = np.minimum(positives, weight.sum() - positives) >= self.min_positives
        self.thresholds_ = best_thresholds(Y_left, scores, metric, overall, w, self.tuned_labels_)
        self.inner_score_ = float(get_metric(metric)(Y_left, scores >= self.thresholds_, sample_weight=w))

    def _inner_scores(self, X, y, n_labels: int, given) -> tuple[np.ndarray, FloatArray]:
        folds, (X,), methods = self.cv, indexable(X), RESPONSES[self.response_method]
        if isinstance(folds, (int, np.integer)):  # scikit-learn would cut a label table in order, without shuffling
            make = StratifiedKFold if self._binary else KFold
            folds = make(folds, shuffle=True, random_state=self.random_state)
        options = {"scoring": _no_score, "params": given, "error_score": "raise"}
        found = cross_validate(self.estimator, X, y, cv=folds, return_estimator=True, return_indices=True, **options)
        left_out = found["indices"]["test"]
        pairs = zip(found["estimator"], left_out, strict=True)
        scores = [label_scores(model, _safe_indexing(X, rows), n_labels, methods) for model, rows in pairs]
        return np.concatenate(left_out), np.vstack(scores)

    def _asks_probabilities(self) -> bool:
        inner = getattr(self, "estimator_", self.estimator)
        return self.response_method != "decision_function" and hasattr(inner, "predict_proba")

    def _scores(self, X) -> FloatArray:
        check_is_fitted(self)
        return label_scores(self.estimator_, X, len(self.thresholds_), RESPONSES[self.response_method])


def _no_score(estimator, X, y) -> float:
    return 0.0


def _read_target(y: Any) -> tuple[Any, BoolArray, np.ndarray, bool]:
    """A target for the classifier, its label table, its classes, and whether it is a 1-d one with two classes."""
    if y is None:
        raise InputError("MultilabelThreshold requires y to be passed, but the target y is None.")
    y = y.toarray() if hasattr(y, "toarray") else y
    values = np.asarray(y)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError("y contains NaN or infinity; drop these rows or code the labels as 0 and 1.")
    targets = Targets.of(y)
    if targets.multilabel:
        Y = check_labels(y, "y")
        return y if hasattr(y, "columns") else Y.astype(int), Y, targets.classes, False
    if len(targets.classes) < 2:
        raise InputError(f"y must hold two classes, got 1 class(es) in {len(values)} sample(s).")
    if len(targets.classes) > 2:
        only = "Only binary classification is supported for a single target"
        raise InputError(f"{only}. The type of the target is multiclass.")
    return column_or_1d(y), targets.Y == 1, targets.classes, True


def get_metric(metric: str | Callable[..., float]) -> Callable[..., float]:
    """Function ``f(Y, predictions, sample_weight=None)``, higher is better, for a name or a function."""
    if not callable(metric) and metric not in METRICS:
        raise InputError(f"metric must be a function or one of {', '.join(METRICS)}, got {metric!r}.")
    return metric if callable(metric) else METRICS[metric]


def best_threshold(Y: BoolArray, scores: FloatArray, metric, reference: float, weight: FloatArray) -> float:
    """Best threshold for all labels together."""
    cuts, value = _Cuts(scores.ravel(), reference), get_metric(metric)
    return cuts.best(cuts.try_some(lambda t: value(Y, scores >= t, sample_weight=weight), Y.ravel(), 100))


def best_thresholds(Y: BoolArray, scores: FloatArray, metric, reference: float, weight, tunable=None) -> FloatArray:
    """Best threshold of each label (L,); labels that are not `tunable` stay at the reference."""
    thresholds = np.full(Y.shape[1], float(reference))
    predictions, labels = scores >= thresholds, np.arange(Y.shape[1]) if tunable is None else np.flatnonzero(tunable)
    for _ in range(20):  # three to six times in practice
        before = thresholds.copy()
        for label in labels:
            cuts, predictions[:, label] = _Cuts(scores[:, label], thresholds[label]), False
            thresholds[label] = cuts.best(_values_of_cuts(cuts, Y, predictions, label, metric, weight))
            predictions[:, label] = scores[:, label] >= thresholds[label]
        if np.array_equal(thresholds, before):
            break
    return thresholds


def _values_of_cuts(cuts: Any, Y: BoolArray, others: BoolArray, label: int, metric, weight: FloatArray) -> FloatArray:
    """The metric, or what it gains, at every cut of one label next to the predictions of the others."""
    y = Y[:, label]
    if callable(metric):
        column = np.arange(Y.shape[1]) == label
        value = lambda t: metric(Y, others | (column & (cuts.column >= t)[:, None]), sample_weight=weight)  # noqa: E731
        return cuts.try_some(value, y, 16)
    hits, given, true = (np.count_nonzero(table, axis=1) for table in (Y & others, others, Y))
    if metric in ("micro_f1", "macro_f1"):
        rest = weight @ y if metric == "macro_f1" else weight @ (given + true)
        other_hits = 0.0 if metric == "macro_f1" else weight @ hits
        return _ratio(2.0 * (cuts.sums(weight * y) + other_hits), cuts.sums(weight) + rest)
    of_rows = _OF_ROWS[metric]
    return cuts.sums(weight * (of_rows(hits + y, given + 1, true) - of_rows(hits, given, true)))


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)


# Metrics that are means over rows, from what is rightly given, given and true in a row; Hamming up to a constant.
_OF_ROWS = {
    "hamming": lambda hits, given, true: 2.0 * hits - given,
    "example_f1": lambda hits, given, true: _ratio(2.0 * hits, given + true),
    "subset_accuracy": lambda hits, given, true: 1.0 * ((hits == given) & (hits == true)),
}


class _Cuts:
    """Every way to cut a column (n,): cut k predicts the different scores from the k-th on, the last cut none."""

    def __init__(self, column: FloatArray, reference: float) -> None:
        values, self.where = np.unique(column, return_inverse=True)
        with np.errstate(invalid="ignore", over="ignore"):
            middle = values[:-1] + np.diff(values) / 2
        middle = np.where((middle > values[:-1]) & np.isfinite(middle), middle, values[1:])
        # predicting nothing moves the threshold as little as it must
        self.thresholds = np.r_[values[0], middle, np.nextafter(values[-1], np.inf)]
        self.now = np.searchsorted(values, reference)
        self.thresholds[self.now] = reference
        self.column = column

    def sums(self, gains: FloatArray) -> FloatArray:
        return np.bincount(self.where, weights=gains, minlength=len(self.thresholds))[::-1].cumsum()[::-1]

    def try_some(self, value: Callable[[float], float], y: BoolArray, n: int) -> FloatArray:
        """Values at n cuts spread over all and n over the present labels' (there F1 peaks), -inf at the others."""
        kinds = np.arange(len(self.thresholds)), np.sort(self.where[y])
        spread = [cuts[np.linspace(0, len(cuts) - 1, n).astype(int)] for cuts in kinds if len(cuts)]
        values = np.full(len(self.thresholds), -np.inf)
        for cut in np.unique(np.r_[self.now, *spread]):
            values[cut] = np.fmax(-np.inf, value(self.thresholds[cut]))  # NaN is never the best
        return values

    def best(self, values: FloatArray) -> float:
        good = np.flatnonzero(values >= values.max() - 1e-10 * max(abs(values.max()), 1.0))  # sums differ by rounding
        with np.errstate(invalid="ignore"):
            distance = np.abs(self.thresholds[good] - self.thresholds[self.now])
        return float(self.thresholds[good[np.argmin(distance)]])
