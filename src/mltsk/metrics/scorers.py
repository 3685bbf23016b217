"""Scorers for `GridSearchCV`, `cross_validate` and their kin.

Metrics of rankings look at `decision_function`, or else `predict_proba`; log loss and
Brier score at `predict_proba`; metrics of label sets at `predict`. Higher is always
better: losses and errors are negated and named ``neg_*``, as in scikit-learn. Names
that start with ``paper_`` use the paper's convention (`mltsk.metrics.ranking`). NaN in
y is a label that was not observed; it never counts.

Not made with scikit-learn's `make_scorer`: it takes an (n, 2) `predict_proba` of two
labels for one binary target, and hands over raw lists as soon as one label was constant
in training (seen with scikit-learn 1.9).

`label_answers` asks any model for a table of labels. Models answer in four dialects: an
(n, L) array (MLP, Ridge, ours); a list of L arrays with one column per class of that
label (forests, nearest neighbours, `MultiOutputClassifier`); an (n,) or an (n, 2) array
when there is one label. A label with a single class in training has one column, which
is the probability of *that* class.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metadata_routing import UNUSED

from mltsk.core.arrays import dense
from mltsk.exceptions import InputError
from mltsk.metrics import label_sets, ranking
from mltsk.metrics.curves import weighted_ranking
from mltsk.metrics.inputs import BoolArray, FloatArray, check_labels, check_weight
from mltsk.metrics.label_sets import mean_or_nan
from mltsk.text import did_you_mean

LEAST_PROBABILITY = 1e-15  # a certain answer that is wrong costs 35, not infinity

_RANKING: dict[str, Callable[..., float]] = {
    "average_precision": ranking.average_precision_score,
    "neg_one_error": ranking.one_error,
    "neg_ranking_loss": ranking.ranking_loss,
    "neg_coverage_error": ranking.coverage_error,
}
_SETS: dict[str, Callable[..., float]] = {
    "neg_hamming_loss": label_sets.hamming_loss,
    "subset_accuracy": label_sets.subset_accuracy_score,
    "micro_f1": label_sets.micro_f1_score,
    "macro_f1": label_sets.macro_f1_score,
    "example_f1": label_sets.example_f1_score,
}
# Means over labels, by the metric of one label.
_MEANS = {
    "macro_average_precision": "AP",
    "macro_roc_auc": "AUC",
    "neg_log_loss": "neg_log_loss",
    "neg_brier_score": "neg_Brier",
}


def _neg_log_loss(y: BoolArray, p: FloatArray, w: FloatArray) -> float:
    """Mean logarithm of the probability of what was observed."""
    of_truth = np.where(y, p, 1 - p)
    return mean_or_nan(np.log(np.maximum(of_truth, LEAST_PROBABILITY)), w)


class _LabelMetric(NamedTuple):
    """A metric of one label.

    ``value(y, answer, w)`` takes which of the observed rows have the label, what the
    model says of them and their weights; ``asks`` is the method that says it.
    """

    asks: str
    value: Callable[[BoolArray, FloatArray, FloatArray], float]


_OF_ONE_LABEL = {
    "AP": _LabelMetric("scores", lambda y, s, w: weighted_ranking(y, s, w)[0]),
    "AUC": _LabelMetric("scores", lambda y, s, w: weighted_ranking(y, s, w)[1]),
    "sensitivity": _LabelMetric(
        "predict", lambda y, is_yes, w: mean_or_nan(is_yes, w * y)
    ),
    "precision": _LabelMetric(
        "predict", lambda y, is_yes, w: mean_or_nan(y, w * is_yes)
    ),
    "neg_log_loss": _LabelMetric("predict_proba", _neg_log_loss),
    "neg_Brier": _LabelMetric(
        "predict_proba", lambda y, p, w: -mean_or_nan((p - y) ** 2, w)
    ),
}


# It is an estimator for `set_score_request`: then sample_weight is routed to it.
class MultilabelScorer(BaseEstimator):
    """Scorer ``scorer(estimator, X, Y, sample_weight=None)`` of one metric.

    Higher is better. NaN in Y is a label that was not observed; it does not count.

    Parameters
    ----------
    metric : str
        Of rankings of labels: "average_precision", "neg_one_error", "neg_ranking_loss"
        or "neg_coverage_error". Of label sets: "neg_hamming_loss", "subset_accuracy",
        "micro_f1", "macro_f1" or "example_f1". Means over labels:
        "macro_average_precision", "macro_roc_auc", "neg_log_loss" or "neg_brier_score".
        Where a ``label`` is named: see `label_scorer`.
    convention : {"standard", "paper"}
        For the metrics of rankings; the others have only one.
    label : str or int, optional
        The label that is scored alone, by its name or its position.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> clf = RidgeClassifier().fit(X, Y)
    >>> bool(MultilabelScorer("average_precision")(clf, X, Y) > 0.8)
    True
    """

    # The estimator to score is an argument, not metadata to be routed.
    __metadata_request__score = {"estimator": UNUSED}  # noqa: RUF012

    def __init__(
        self,
        metric: str = "average_precision",
        *,
        convention: str = "standard",
        label: str | int | None = None,
    ) -> None:
        self.metric = metric
        self.convention = convention
        self.label = label

    def score(
        self,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Score of a fitted estimator on X with labels y (n, L).

        NaN where y does not define it, such as the AP of a label that no row has. Means
        over labels leave such labels out.
        """
        labels, _ = check_labels(y, "y")
        n_labels = labels.shape[1]
        ranking.is_paper(self.convention)
        sign = -1 if self.metric.startswith("neg_") else 1
        if self.label is not None:
            position = _position(self.label, estimator, y, n_labels)
            metric = _metric_of_label(self.metric)
            return _label_values(metric, estimator, X, y, sample_weight)[position]
        if self.metric in _MEANS:
            metric = _metric_of_label(_MEANS[self.metric])
            values = np.array(_label_values(metric, estimator, X, y, sample_weight))
            return mean_or_nan(np.nan_to_num(values), ~np.isnan(values) * 1.0)
        if self.metric in _RANKING:
            if n_labels == 1:
                _refuse_one_label(y)
            scores = label_scores(estimator, X, n_labels)
            return sign * _RANKING[self.metric](
                y, scores, convention=self.convention, sample_weight=sample_weight
            )
        if self.metric in _SETS:
            predictions = label_answers(estimator, X, n_labels, "predict")
            return sign * _SETS[self.metric](
                y, predictions, sample_weight=sample_weight
            )
        metrics = ", ".join([*_RANKING, *_SETS, *_MEANS])
        raise InputError(f"metric must be one of {metrics}, got {self.metric!r}.")

    __call__ = score

    def _accept_sample_weight(self) -> bool:
        """Asked by search and multi-metric scoring when metadata routing is off."""
        return True


#: Every scorer by its name.
SCORERS = {name: MultilabelScorer(name) for name in (*_RANKING, *_SETS, *_MEANS)}
for _name in _RANKING:
    SCORERS[f"paper_{_name}"] = MultilabelScorer(_name, convention="paper")


def get_scorer(name: str) -> MultilabelScorer:
    """Scorer called `name`, a new one each time: one of ``sorted(SCORERS)``.

    A metric of one label is called "AP of edema" or "AUC of edema", as in
    `label_scorer`.

    Examples
    --------
    >>> get_scorer("paper_average_precision")
    MultilabelScorer(convention='paper')
    >>> get_scorer("AUC of edema")
    MultilabelScorer(label='edema', metric='AUC')
    """
    metric, of, label = name.partition(" of ")
    if of and metric in _OF_ONE_LABEL:
        return label_scorer(label, metric)
    if name not in SCORERS:
        hint = did_you_mean(name, SCORERS, cutoff=0.5)
        choices = f"choose from {', '.join(sorted(SCORERS))}, or 'AUC of edema'."
        raise InputError(f"There is no scorer called {name!r}: {hint or choices}")
    return clone(SCORERS[name])


def label_scorer(label: str | int, metric: str = "AP") -> MultilabelScorer:
    """Scorer of one label alone, on the rows in which it was observed.

    Parameters
    ----------
    label : str or int
        A column of a data frame y, or the name that the model knows it by; or its
        position.
    metric : {"AP", "AUC", "sensitivity", "precision", "neg_Brier", "neg_log_loss"}
        As in the table of `evaluate`; losses are negated, so higher is better.

    Examples
    --------
    >>> from sklearn.model_selection import cross_validate
    >>> from mltsk import MLTSKClassifier, read_table
    >>> from mltsk.model_selection import IterativeStratification
    >>> table = read_table("pbc")
    >>> scoring = {"AP": label_scorer("edema"), "AUC": label_scorer("edema", "AUC")}
    >>> results = cross_validate(
    ...     MLTSKClassifier(n_rules=0),
    ...     table.X,
    ...     table.Y,
    ...     cv=IterativeStratification(3),
    ...     scoring=scoring,
    ... )
    >>> results["test_AP"].shape, bool(results["test_AUC"].mean() > 0.7)
    ((3,), True)
    """
    _metric_of_label(metric)
    return MultilabelScorer(metric, label=label)


def _refuse_one_label(y: ArrayLike) -> None:
    """Refuse to rank a single label: every model would score the same."""
    label = getattr(y, "columns", [0])[0]
    raise InputError(
        "this metric is about how labels are ranked within a row, and one label has no "
        f"rank: take label_scorer({label!r}), its AP over rows."
    )


def _metric_of_label(name: str) -> _LabelMetric:
    """A metric of one label by its name."""
    if name not in _OF_ONE_LABEL:
        choices = ", ".join(_OF_ONE_LABEL)
        raise InputError(f"metric of a label must be one of {choices}, got {name!r}.")
    return _OF_ONE_LABEL[name]


def _position(
    label: str | int, estimator: BaseEstimator, y: ArrayLike, n_labels: int
) -> int:
    """The column of a label in y, by its name in y or in the model, or as a number."""
    names = list(getattr(y, "columns", getattr(estimator, "label_names_", ())))
    if label in names:
        return names.index(label)
    if isinstance(label, int) and 0 <= label < n_labels:
        return label
    hint = did_you_mean(label, names) or f"y has {n_labels} labels."
    raise InputError(f"There is no label {label!r}: {hint}")


def _label_values(
    metric: _LabelMetric,
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
) -> list[float]:
    """A metric of every label, each on the rows in which it was observed."""
    labels, observed = check_labels(y, "y")
    n_labels = labels.shape[1]
    weight = check_weight(sample_weight, len(labels))
    if metric.asks == "scores":
        answers = label_scores(estimator, X, n_labels)
    else:
        answers = label_answers(estimator, X, n_labels, metric.asks)
    values = []
    for label in range(n_labels):
        rows = observed[:, label]
        truth = labels[rows, label]
        values.append(metric.value(truth, answers[rows, label], weight[rows]))
    return values


def label_scores(estimator: BaseEstimator, X: ArrayLike, n_labels: int) -> FloatArray:
    """Scores (n, n_labels) of a fitted estimator.

    Decision functions are asked first: they have finer values than probabilities.
    """
    for method in ("decision_function", "predict_proba"):
        if hasattr(estimator, method):
            return label_answers(estimator, X, n_labels, method)
    raise InputError(
        f"{type(estimator).__name__} has no decision_function or predict_proba, so it "
        "gives no label scores; choose a model that has one of them."
    )


def label_answers(
    estimator: BaseEstimator, X: ArrayLike, n_labels: int, method: str
) -> NDArray[Any]:
    """What a method of a fitted estimator says of X, as a table (n, n_labels).

    ``method`` is "decision_function", "predict_proba" (the probability of having the
    label) or "predict", whose answers keep their type.
    """
    kind = type(estimator).__name__
    if not hasattr(estimator, method):
        raise InputError(f"{kind} has no {method}; choose a model that has it.")
    response = getattr(estimator, method)(X)
    if isinstance(response, list):
        response = _scores_of_ones(estimator, response)
    answers = np.asarray(dense(response))
    if method != "predict":
        answers = np.asarray(answers, dtype=np.float64)
    if answers.ndim == 1:
        answers = answers[:, None]
    if n_labels == 1 and answers.shape[1] == 2:
        # One label given as a binary target: two columns, absent and present.
        answers = answers[:, 1:]
    if answers.shape[1] != n_labels:
        raise InputError(
            f"{kind}.{method} returned {answers.shape[1]} columns for {n_labels} "
            "labels; fit it on a label table with these labels."
        )
    return answers


def _scores_of_ones(estimator: BaseEstimator, response: list[ArrayLike]) -> FloatArray:
    """Scores of the class 1 of each label, 0 if training never saw it.

    A model without `classes_` answers with columns of the classes 0 and 1.
    """
    tables = [np.asarray(values, dtype=np.float64) for values in response]
    classes = getattr(estimator, "classes_", None)
    if not (isinstance(classes, list) and len(classes) == len(tables)):
        if any(table.ndim == 2 and table.shape[1] == 1 for table in tables):
            raise InputError(
                f"{type(estimator).__name__} saw a label with a single class and does "
                "not say which in classes_; drop constant labels before fitting."
            )
        classes = [[0, 1]] * len(tables)
    columns = []
    for table, classes_of_label in zip(tables, classes, strict=True):
        if table.ndim == 2:
            table = table[:, np.asarray(classes_of_label) == 1].sum(axis=1)
        columns.append(table)
    return np.column_stack(columns)
