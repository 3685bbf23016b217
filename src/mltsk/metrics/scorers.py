"""Scorers for `GridSearchCV`, `cross_validate` and their kin: they score any scikit-learn multi-label model.

Ranking metrics look at `decision_function`, or else `predict_proba`; metrics of label sets at `predict`.
Higher is always better: losses and errors are negated and named ``neg_*``, as in scikit-learn. Names that
start with ``paper_`` use the paper's convention (`mltsk.metrics.conventions`).

Not made with scikit-learn's `make_scorer`: it takes an (n, 2) `predict_proba` of two labels for one binary
target, and hands over raw lists as soon as one label was constant in training (seen with scikit-learn 1.9).
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.utils.metadata_routing import UNUSED

from mltsk.exceptions import InputError
from mltsk.metrics import bipartition, ranking
from mltsk.metrics.conventions import get_convention
from mltsk.metrics.inputs import check_labels
from mltsk.metrics.responses import label_scores

_RANKING: dict[str, tuple[int, Callable[..., float]]] = {
    "average_precision": (1, ranking.average_precision_score),
    "neg_one_error": (-1, ranking.one_error),
    "neg_ranking_loss": (-1, ranking.ranking_loss),
    "neg_coverage_error": (-1, ranking.normalised_coverage_error),
}
_SETS: dict[str, tuple[int, Callable[..., float]]] = {
    "neg_hamming_loss": (-1, bipartition.hamming_loss),
    "subset_accuracy": (1, bipartition.subset_accuracy_score),
    "micro_f1": (1, bipartition.micro_f1_score),
    "macro_f1": (1, bipartition.macro_f1_score),
    "example_f1": (1, bipartition.example_f1_score),
}


class MultilabelScorer(BaseEstimator):
    """Scorer ``scorer(estimator, X, Y, sample_weight=None)`` of one metric; higher is better.

    It inherits from `BaseEstimator` for `set_score_request`, so that `sample_weight` is routed to it.

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

    def __init__(self, metric="average_precision", *, convention="standard"):
        self.metric = metric
        self.convention = convention

    def score(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score of a fitted estimator on X with labels y (n, L)."""
        labels = check_labels(y, "y")
        if self.metric in _RANKING:
            sign, function = _RANKING[self.metric]
            scores = label_scores(estimator, X, labels.shape[1])
            return sign * function(labels, scores, convention=self.convention, sample_weight=sample_weight)
        sign, function = self._set_metric()
        return sign * function(labels, _as_column(estimator.predict(X)), sample_weight=sample_weight)

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score of a fitted estimator on X with labels y (n, L)."""
        return self.score(estimator, X, y, sample_weight=sample_weight)

    def _set_metric(self) -> tuple[int, Callable[..., float]]:
        get_convention(self.convention)
        if self.metric not in _SETS:
            raise InputError(f"metric must be one of {', '.join([*_RANKING, *_SETS])}, got {self.metric!r}.")
        return _SETS[self.metric]

    def _accept_sample_weight(self) -> bool:
        # asked by search and multi-metric scoring when metadata routing is off
        return True


#: Every scorer by its name.
SCORERS = {
    **{name: MultilabelScorer(name) for name in (*_RANKING, *_SETS)},
    **{f"paper_{name}": MultilabelScorer(name, convention="paper") for name in _RANKING},
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
        hint = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(sorted(SCORERS))}."
        raise InputError(f"There is no scorer called {name!r}: {hint}")
    return clone(SCORERS[name])


def _as_column(predictions: Any) -> Any:
    """A 1-d answer (one label) as a column."""
    return predictions[:, None] if getattr(predictions, "ndim", 2) == 1 else predictions
