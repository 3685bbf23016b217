"""Scorers for `GridSearchCV`, `cross_validate` and their kin.

Ranking metrics look at `decision_function`, or else `predict_proba`; metrics of label
sets at `predict`. Higher is always better: losses and errors are negated and named
``neg_*``, as in scikit-learn. Names that start with ``paper_`` use the paper's
convention (`mltsk.metrics.ranking`).

Not made with scikit-learn's `make_scorer`: it takes an (n, 2) `predict_proba` of two
labels for one binary target, and hands over raw lists as soon as one label was constant
in training (seen with scikit-learn 1.9).

`label_scores` asks any model for its scores. Models answer in four dialects: an (n, L)
array (MLP, Ridge, ours); a list of L arrays with one column per class of that label
(forests, nearest neighbours, `MultiOutputClassifier`); an (n,) or an (n, 2) array when
there is one label. A label with a single class in training has one column, which is the
probability of *that* class.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metadata_routing import UNUSED

from mltsk.core.arrays import dense
from mltsk.exceptions import InputError
from mltsk.metrics import label_sets, ranking
from mltsk.metrics.inputs import FloatArray, check_labels
from mltsk.text import did_you_mean

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


# It is an estimator for `set_score_request`: then sample_weight is routed to it.
class MultilabelScorer(BaseEstimator):
    """Scorer ``scorer(estimator, X, Y, sample_weight=None)`` of one metric.

    Higher is better.

    Parameters
    ----------
    metric : str
        Of rankings: "average_precision", "neg_one_error", "neg_ranking_loss" or
        "neg_coverage_error". Of label sets: "neg_hamming_loss", "subset_accuracy",
        "micro_f1", "macro_f1" or "example_f1".
    convention : {"standard", "paper"}
        For the metrics of rankings; the others have only one.

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
        self, metric: str = "average_precision", *, convention: str = "standard"
    ) -> None:
        self.metric = metric
        self.convention = convention

    def score(
        self,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Score of a fitted estimator on X with labels y (n, L)."""
        labels, _ = check_labels(y, "y")
        ranking.is_paper(self.convention)
        sign = -1 if self.metric.startswith("neg_") else 1
        if self.metric in _RANKING:
            scores = label_scores(estimator, X, labels.shape[1])
            return sign * _RANKING[self.metric](
                y, scores, convention=self.convention, sample_weight=sample_weight
            )
        if self.metric in _SETS:
            predictions = estimator.predict(X)
            if getattr(predictions, "ndim", 2) == 1:
                predictions = predictions[:, None]
            return sign * _SETS[self.metric](
                y, predictions, sample_weight=sample_weight
            )
        metrics = ", ".join([*_RANKING, *_SETS])
        raise InputError(f"metric must be one of {metrics}, got {self.metric!r}.")

    __call__ = score

    def _accept_sample_weight(self) -> bool:
        """Asked by search and multi-metric scoring when metadata routing is off."""
        return True


#: Every scorer by its name.
SCORERS = {name: MultilabelScorer(name) for name in (*_RANKING, *_SETS)}
for _name in _RANKING:
    SCORERS[f"paper_{_name}"] = MultilabelScorer(_name, convention="paper")


def get_scorer(name: str) -> MultilabelScorer:
    """Scorer called `name`, a new one each time: one of ``sorted(SCORERS)``.

    Examples
    --------
    >>> get_scorer("paper_average_precision")
    MultilabelScorer(convention='paper')
    """
    if name not in SCORERS:
        hint = did_you_mean(name, SCORERS, cutoff=0.5)
        choices = f"choose from {', '.join(sorted(SCORERS))}."
        raise InputError(f"There is no scorer called {name!r}: {hint or choices}")
    return clone(SCORERS[name])


def label_scores(estimator: BaseEstimator, X: ArrayLike, n_labels: int) -> FloatArray:
    """Scores (n, n_labels) of a fitted estimator.

    Decision functions are asked first: they have finer values than probabilities.
    """
    kind = type(estimator).__name__
    if hasattr(estimator, "decision_function"):
        method = "decision_function"
    elif hasattr(estimator, "predict_proba"):
        method = "predict_proba"
    else:
        raise InputError(
            f"{kind} has no decision_function or predict_proba, so it gives no label "
            "scores; choose a model that has one of them."
        )
    response = getattr(estimator, method)(X)
    if isinstance(response, list):
        response = _scores_of_ones(estimator, response)
    scores = np.asarray(dense(response), dtype=np.float64)
    if scores.ndim == 1:
        scores = scores[:, None]
    if n_labels == 1 and scores.shape[1] == 2:
        # One label given as a binary target: two columns, absent and present.
        scores = scores[:, 1:]
    if scores.shape[1] != n_labels:
        raise InputError(
            f"{kind}.{method} returned {scores.shape[1]} columns for {n_labels} "
            "labels; fit it on a label table with these labels."
        )
    return scores


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
