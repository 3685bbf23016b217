"""Scorers for `GridSearchCV`, `cross_validate` and their kin, and the label scores of any scikit-learn model.

Ranking metrics look at `decision_function`, or else `predict_proba`; metrics of label sets at `predict`. Higher is
always better: losses and errors are negated and named ``neg_*``, as in scikit-learn. Names that start with ``paper_``
use the paper's convention (`mltsk.metrics.ranking`).

Not made with scikit-learn's `make_scorer`: it takes an (n, 2) `predict_proba` of two labels for one binary target, and
hands over raw lists as soon as one label was constant in training (seen with scikit-learn 1.9).

Models answer in four dialects: an (n, L) array (MLP, Ridge, ours); a list of L arrays with one column per class of
that label (forests, nearest neighbours, `MultiOutputClassifier`); an (n,) or an (n, 2) array when there is one label.
A label with a single class in training has one column, which is the probability of *that* class.
"""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metadata_routing import UNUSED

from mltsk.exceptions import InputError
from mltsk.metrics import evaluation, ranking
from mltsk.metrics.inputs import FloatArray, check_labels

_RANKING: dict[str, Callable[..., float]] = {
    "average_precision": ranking.average_precision_score,
    "neg_one_error": ranking.one_error,
    "neg_ranking_loss": ranking.ranking_loss,
    "neg_coverage_error": ranking.coverage_error,
}
_SETS: dict[str, Callable[..., float]] = {
    "neg_hamming_loss": evaluation.hamming_loss,
    "subset_accuracy": evaluation.subset_accuracy_score,
    "micro_f1": evaluation.micro_f1_score,
    "macro_f1": evaluation.macro_f1_score,
    "example_f1": evaluation.example_f1_score,
}


class MultilabelScorer(
    BaseEstimator
):  # an estimator for `set_score_request`: then sample_weight is routed to it
    """Scorer ``scorer(estimator, X, Y, sample_weight=None)`` of one metric; higher is better.

    Parameters
    ----------
    metric : str
        "average_precision", "neg_one_error", "neg_ranking_loss", "neg_coverage_error" (of rankings),
        "neg_hamming_loss", "subset_accuracy", "micro_f1", "macro_f1" or "example_f1" (of label sets).
    convention : {"standard", "paper"}
        For the metrics of rankings; the others have only one.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> bool(MultilabelScorer("average_precision")(RidgeClassifier().fit(X, Y), X, Y) > 0.8)
    True
    """

    # the estimator to score is an argument, not metadata to be routed
    __metadata_request__score = {"estimator": UNUSED}  # noqa: RUF012

    def __init__(
        self, metric: str = "average_precision", *, convention: str = "standard"
    ) -> None:
        self.metric, self.convention = metric, convention

    def score(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score of a fitted estimator on X with labels y (n, L)."""
        n_labels, known = check_labels(y, "y")[0].shape[1], _RANKING | _SETS
        ranking.is_paper(self.convention)
        if self.metric not in known:
            raise InputError(
                f"metric must be one of {', '.join(known)}, got {self.metric!r}."
            )
        if self.metric in _RANKING:
            answer, options = (
                label_scores(estimator, X, n_labels),
                {"convention": self.convention},
            )
        else:
            answer, options = estimator.predict(X), {}
            answer = answer[:, None] if getattr(answer, "ndim", 2) == 1 else answer
        sign = -1 if self.metric.startswith("neg_") else 1
        return sign * known[self.metric](
            y, answer, sample_weight=sample_weight, **options
        )

    __call__ = score

    def _accept_sample_weight(self) -> bool:
        return True  # asked by search and multi-metric scoring when metadata routing is off


#: Every scorer by its name.
SCORERS = {
    **{name: MultilabelScorer(name) for name in (*_RANKING, *_SETS)},
    **{
        f"paper_{name}": MultilabelScorer(name, convention="paper") for name in _RANKING
    },
}


def get_scorer(name: str) -> MultilabelScorer:
    """Scorer called `name`, a new one each time: one of ``sorted(SCORERS)``.

    Examples
    --------
    >>> get_scorer("paper_average_precision")
    MultilabelScorer(convention='paper')
    """
    if name not in SCORERS:
        close = get_close_matches(str(name), SCORERS, n=1, cutoff=0.5)
        hint = (
            f"did you mean {close[0]!r}?"
            if close
            else f"choose from {', '.join(sorted(SCORERS))}."
        )
        raise InputError(f"There is no scorer called {name!r}: {hint}")
    return clone(SCORERS[name])


def label_scores(estimator: Any, X: Any, n_labels: int) -> FloatArray:
    """Scores (n, n_labels) of a fitted estimator; decision functions have finer values than probabilities."""
    kind = type(estimator).__name__
    method = next(
        (
            name
            for name in ("decision_function", "predict_proba")
            if hasattr(estimator, name)
        ),
        None,
    )
    if method is None:
        missing = f"{kind} has no decision_function or predict_proba, so it gives no label scores"
        raise InputError(f"{missing}; choose a model that has one of them.")
    response = getattr(estimator, method)(X)
    response = (
        _columns_of_one(estimator, response) if isinstance(response, list) else response
    )
    scores = np.asarray(
        response.toarray() if hasattr(response, "toarray") else response,
        dtype=np.float64,
    )
    scores = scores[:, None] if scores.ndim == 1 else scores
    if (
        n_labels == 1 and scores.shape[1] == 2
    ):  # one label given as a binary target: two columns, absent and present
        scores = scores[:, 1:]
    if scores.shape[1] != n_labels:
        found = (
            f"{kind}.{method} returned {scores.shape[1]} columns for {n_labels} labels"
        )
        raise InputError(f"{found}; fit it on a label table with these labels.")
    return scores


def _columns_of_one(estimator: Any, response: list[Any]) -> FloatArray:
    """Scores of the class 1 of each label, 0 if training never saw it; without `classes_`, two columns are 0 and 1."""
    tables = [np.asarray(values, dtype=np.float64) for values in response]
    classes = getattr(estimator, "classes_", None)
    if not (isinstance(classes, list) and len(classes) == len(tables)):
        if any(values.ndim == 2 and values.shape[1] == 1 for values in tables):
            unknown = f"{type(estimator).__name__} saw a label with a single class and does not say which in classes_"
            raise InputError(f"{unknown}; drop constant labels before fitting.")
        classes = [[0, 1]] * len(tables)
    pairs = [
        (values, np.asarray(known) == 1)
        for values, known in zip(tables, classes, strict=True)
    ]
    return np.column_stack(
        [
            values if values.ndim == 1 else values[:, one].sum(axis=1)
            for values, one in pairs
        ]
    )
