"""`MultilabelThreshold`: any multi-label classifier with thresholds chosen for a metric, on inner folds.

Symbols: L labels, scores (n, L) of the wrapped classifier, thresholds t (L,); label l is predicted where
score_l >= t_l. The search, and what it promises for which metric, is in `mltsk.metrics.threshold_search`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
)

from mltsk.exceptions import InputError
from mltsk.metrics.inputs import BoolArray, FloatArray, check_labels, check_threshold, check_weight
from mltsk.metrics.responses import label_scores, response_method
from mltsk.metrics.threshold_search import best_threshold, best_thresholds, get_metric

METHODS = ("per_label", "global", "fixed")
# Probabilities first, as in scikit-learn's threshold tuners: then 0.5 means what people think it means.
RESPONSES = {
    "auto": ("predict_proba", "decision_function"),
    "predict_proba": ("predict_proba",),
    "decision_function": ("decision_function",),
}
USUAL_CUT = {"predict_proba": 0.5, "decision_function": 0.0}


class Target(NamedTuple):
    """A target as the wrapped classifier takes it, and as the label table that thresholds are chosen for."""

    y: Any
    Y: BoolArray
    classes: np.ndarray
    names: np.ndarray | None
    binary: bool


class MultilabelThreshold(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Choose the thresholds of a multi-label classifier for a metric, on inner folds.

    The wrapped classifier is fitted once on all rows. To choose thresholds it is also fitted on the training
    part of each inner fold, and the scores of the rows left out are searched exactly for the thresholds that
    are best for `metric`; scores of rows seen in training would flatter the model and misplace them.

    Parameters
    ----------
    estimator : classifier
        With `predict_proba` or `decision_function`. It is cloned, never changed.
    method : {"per_label", "global", "fixed"}, default "per_label"
        One threshold per label, one for all labels, or `threshold` as it is. "per_label" starts from the
        global threshold, and a label with too few rows to learn from keeps it: see `min_positives`.
    threshold : "auto", float or (L,), default "auto"
        Threshold of ``method="fixed"``, on the scale of the scores. "auto" is 0.5 for probabilities and 0 for
        a decision function. The other methods stay as near to it as the metric allows.
    metric : str or callable, default "micro_f1"
        "micro_f1", "macro_f1", "example_f1", "subset_accuracy", "hamming" (1 - Hamming loss), or a function
        ``f(Y, predictions)`` to maximise, called with ``sample_weight=`` too if `fit` was.
    cv : int, splitter or iterable of splits, default 5
        A number means shuffled folds drawn by `random_state` (stratified for a 1-d target): scikit-learn
        itself would cut a label table in order, without shuffling.
    min_positives : int, default 10
        "per_label" tunes a label only if at least this many rows have it and as many do not (counted with
        `sample_weight`). On fewer the best threshold is an accident of the fold: with ridge scores the 5-fold
        macro F1 of birds is .333, .338, .354 for 1, 10, 20, that of rcv1s1 .321, .314, .302, so data decide.
    response_method : {"auto", "predict_proba", "decision_function"}, default "auto"
        Where scores come from; "auto" takes probabilities if there are any.
    random_state : int, RandomState or None, default 0
    n_jobs : int, optional
        Inner folds fitted at a time.

    Attributes
    ----------
    estimator_ : the classifier fitted on all rows
    thresholds_ : (L,) thresholds on the scale of its scores
    tuned_labels_ : (L,) of bool, labels that have a threshold of their own
    inner_score_ : value of `metric` on the inner folds at these thresholds, so optimistic (not for "fixed")
    classes_ : ``arange(L)``, or the two classes of a 1-d target
    label_names_ : names of the labels, if Y was a data frame
    n_features_in_, feature_names_in_ : as in the wrapped classifier, where it has them

    Notes
    -----
    A score exactly on its threshold is predicted, as everywhere in this package. `decision_function` is
    score - threshold, > 0 if and only if the label is predicted: on the threshold itself it is the smallest
    positive number instead of 0.

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
        n_jobs=None,
    ):
        self.estimator = estimator
        self.method = method
        self.threshold = threshold
        self.metric = metric
        self.cv = cv
        self.min_positives = min_positives
        self.response_method = response_method
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y, sample_weight=None, **fit_params):
        """Fit the classifier on all rows and choose its thresholds.

        Parameters
        ----------
        X : (n, n_features), whatever the classifier takes
        y : (n, L) of 0 and 1, dense, sparse or data frame; or (n,) with two classes
        sample_weight : (n,), optional
            For the classifier and for the metric.
        **fit_params : dict
            Passed on to the classifier's `fit`; values with one entry per row are split with the rows.
        """
        self._check_parameters()
        target = read_target(y)
        check_consistent_length(X, target.y)
        if sample_weight is not None:
            sample_weight = check_weight(sample_weight, len(target.Y))
        params = self._params_of_estimator(sample_weight, fit_params)
        for name in ("label_names_", "inner_score_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        self.estimator_ = clone(self.estimator).fit(X, target.y, **params)
        self.classes_, self._binary = target.classes, target.binary
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        if target.names is not None:
            self.label_names_ = target.names
        start = self._start(target.Y.shape[1])
        if self.method == "fixed":
            self.thresholds_ = start
            self.tuned_labels_ = np.zeros(len(start), dtype=bool)
        else:
            self._tune(X, target, start, sample_weight, params)
        return self

    def predict(self, X):
        """Predicted labels: int (n, L), or classes (n,) for a 1-d target."""
        predicted = (self._margins(X) > 0).astype(int)
        return self.classes_[predicted[:, 0]] if self._binary else predicted

    def decision_function(self, X):
        """Score - threshold (n, L), > 0 where the label is predicted; (n,) for a 1-d target."""
        margins = self._margins(X)
        return margins[:, 0] if self._binary else margins

    @available_if(lambda self: self._asks_probabilities())
    def predict_proba(self, X):
        """Probabilities with their odds divided by the threshold's odds: above 0.5 where predicted.

        They order rows as the classifier's own do but are no longer calibrated, if those were.
        (n, L), or (n, 2) for a 1-d target. Only there if scores come from the classifier's `predict_proba`.
        """
        moved = recentre(self._scores(X), self.thresholds_)
        return np.hstack([1.0 - moved, moved]) if self._binary else moved

    def get_metadata_routing(self):
        """Routing of metadata: what `fit` takes for itself and hands to the classifier's `fit`."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

    def _check_parameters(self):
        if self.method not in METHODS:
            raise InputError(f"method must be one of {', '.join(METHODS)}, got {self.method!r}.")
        if self.response_method not in RESPONSES:
            raise InputError(f"response_method must be one of {', '.join(RESPONSES)}, got {self.response_method!r}.")
        get_metric(self.metric)

    def _params_of_estimator(self, sample_weight, fit_params) -> dict[str, Any]:
        if sklearn_routes():
            given = {} if sample_weight is None else {"sample_weight": sample_weight}
            return dict(process_routing(self, "fit", **given, **fit_params).estimator.fit)
        if sample_weight is None:
            return fit_params
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise InputError(
                f"sample_weight was given but {type(self.estimator).__name__}.fit does not take it; "
                "wrap a classifier that does, or fit without weights."
            )
        return {"sample_weight": sample_weight, **fit_params}

    def _start(self, n_labels: int) -> FloatArray:
        cut = self.threshold
        if isinstance(cut, str):
            if cut != "auto":
                raise InputError(f'threshold must be "auto", a number or one per label, got {cut!r}.')
            cut = USUAL_CUT[response_method(self.estimator_, RESPONSES[self.response_method])]
        return np.array(np.broadcast_to(check_threshold(cut, n_labels), n_labels))

    def _tune(self, X, target: Target, start: FloatArray, sample_weight, params) -> None:
        weight = check_weight(sample_weight, len(target.Y))
        rows, scores = self._inner_scores(X, target, params)
        keep = weight[rows] > 0  # a row without weight must not even offer a threshold
        rows, scores = rows[keep], scores[keep]
        Y, w = target.Y[rows], weight[rows] / weight[rows].mean()
        metric = self.metric if sample_weight is not None or not callable(self.metric) else unweighted(self.metric)
        overall = best_threshold(Y, scores, metric, float(np.mean(start)), w)
        self.tuned_labels_ = self._tunable(target.Y, weight)
        self.thresholds_ = best_thresholds(Y, scores, metric, overall, w, self.tuned_labels_)
        self.inner_score_ = float(get_metric(metric)(Y, scores >= self.thresholds_, sample_weight=w))

    def _tunable(self, Y: BoolArray, weight: FloatArray) -> BoolArray:
        """Labels with enough rows on both sides for a threshold of their own."""
        if self.method == "global":
            return np.zeros(Y.shape[1], dtype=bool)
        positives = weight @ Y
        return np.minimum(positives, weight.sum() - positives) >= self.min_positives

    def _inner_scores(self, X, target: Target, params) -> tuple[np.ndarray, FloatArray]:
        """Rows that inner folds left out, and the scores of models that did not see them."""
        X = X if hasattr(X, "iloc") or hasattr(X, "shape") else np.asarray(X)
        splits = list(self._splitter(target).split(X, target.y))
        methods = RESPONSES[self.response_method]
        folds = Parallel(n_jobs=self.n_jobs)(
            delayed(_scores_of_fold)(clone(self.estimator), X, target, train, test, params, methods)
            for train, test in splits
        )
        return np.concatenate([test for _, test in splits]), np.vstack(folds)

    def _splitter(self, target: Target):
        if isinstance(self.cv, (int, np.integer)):
            folds = StratifiedKFold if target.binary else KFold
            return folds(self.cv, shuffle=True, random_state=self.random_state)
        return check_cv(self.cv, target.y, classifier=True)

    def _asks_probabilities(self) -> bool:
        inner = getattr(self, "estimator_", self.estimator)
        return self.response_method != "decision_function" and hasattr(inner, "predict_proba")

    def _scores(self, X) -> FloatArray:
        check_is_fitted(self)
        return label_scores(self.estimator_, X, len(self.thresholds_), RESPONSES[self.response_method])

    def _margins(self, X) -> FloatArray:
        """Score - threshold, with the smallest positive number for 0: on the threshold is predicted."""
        scores = self._scores(X)
        return np.where(scores == self.thresholds_, np.finfo(np.float64).tiny, scores - self.thresholds_)


def read_target(y: Any) -> Target:
    """Sort out a target: a label table stays a table (or a frame), a 1-d one must have two classes."""
    if y is None:
        raise InputError("MultilabelThreshold requires y to be passed, but the target y is None.")
    y = y.toarray() if sparse.issparse(y) else y
    values = np.asarray(y)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError("y contains NaN or infinity; drop these rows or code the labels as 0 and 1.")
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    check_classification_targets(y)
    if kind == "multilabel-indicator":
        Y = check_labels(y, "y")
        names = np.asarray(y.columns, dtype=object) if hasattr(y, "columns") else None
        return Target(y if names is not None else Y.astype(int), Y, np.arange(Y.shape[1]), names, binary=False)
    if kind != "binary":
        raise InputError(
            f"Only binary classification is supported for a single target. The type of the target is {kind}."
        )
    y = column_or_1d(y, warn=True)
    classes = np.unique(y)
    if len(classes) < 2:
        raise InputError(f"y must hold two classes, got {len(classes)} class(es) in {len(y)} sample(s).")
    return Target(y, (y == classes[1])[:, None], classes, None, binary=True)


def recentre(probabilities: FloatArray, thresholds: FloatArray) -> FloatArray:
    """Divide odds by the odds of the thresholds: rising in p, in (0, 1), above 0.5 where predicted.

    Examples
    --------
    >>> recentre(np.array([[0.1, 0.2, 0.5]]), np.array([0.2, 0.2, 0.2])).round(3)
    array([[0.308, 0.5  , 0.8  ]])
    """
    t = np.clip(thresholds, 1e-12, 1 - 1e-12)
    moved = probabilities * (1 - t) / (probabilities * (1 - t) + t * (1 - probabilities))
    moved = np.clip(moved, np.finfo(np.float64).eps, 1 - np.finfo(np.float64).eps)
    # rounding, and thresholds outside (0, 1), must not contradict `predict`
    predicted = probabilities >= thresholds
    below, above = np.nextafter(0.5, 0), np.nextafter(0.5, 1)
    return np.where(predicted, np.maximum(moved, above), np.minimum(moved, below))


def unweighted(metric):
    """`metric` in the form that the search calls, for functions that know no weights."""
    return lambda Y, predictions, sample_weight=None: metric(Y, predictions)


def sklearn_routes() -> bool:
    """Whether scikit-learn's metadata routing is switched on."""
    return bool(get_config()["enable_metadata_routing"])


def _scores_of_fold(estimator, X, target: Target, train, test, params, methods) -> FloatArray:
    n = len(target.Y)
    split = {name: _rows(value, train) if _has_rows(value, n) else value for name, value in params.items()}
    estimator.fit(_rows(X, train), _rows(target.y, train), **split)
    return label_scores(estimator, _rows(X, test), target.Y.shape[1], methods)


def _rows(table: Any, index: np.ndarray) -> Any:
    """Rows of a frame, an array, a sparse table or a list, in the same form where it has one."""
    if hasattr(table, "iloc"):
        return table.iloc[index]
    return table.tocsr()[index] if sparse.issparse(table) else np.asarray(table)[index]


def _has_rows(value: Any, n: int) -> bool:
    """Whether a fit parameter holds one entry per row."""
    shape = np.shape(value) if not sparse.issparse(value) else value.shape
    return len(shape) > 0 and shape[0] == n
