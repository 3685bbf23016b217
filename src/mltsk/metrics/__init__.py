"""Multi-label metrics: of rankings, of predicted label sets, in two conventions, and as scorers."""

from mltsk.metrics.bipartition import (
    example_accuracy_score,
    example_f1_score,
    example_precision_score,
    example_recall_score,
    hamming_loss,
    macro_accuracy_score,
    macro_f1_score,
    macro_precision_score,
    macro_recall_score,
    micro_f1_score,
    micro_precision_score,
    micro_recall_score,
    subset_accuracy_score,
)
from mltsk.metrics.evaluation import evaluate
from mltsk.metrics.ranking import (
    FIVE_METRICS,
    average_precision_score,
    five_metrics,
    normalised_coverage_error,
    one_error,
    ranking_loss,
)

# The scorers need scikit-learn, which takes longer to import than all of the above: on first use only.
_SCORERS = ("SCORERS", "MultilabelScorer", "get_scorer")

__all__ = [
    "FIVE_METRICS",
    "SCORERS",
    "MultilabelScorer",
    "average_precision_score",
    "evaluate",
    "example_accuracy_score",
    "example_f1_score",
    "example_precision_score",
    "example_recall_score",
    "five_metrics",
    "get_scorer",
    "hamming_loss",
    "macro_accuracy_score",
    "macro_f1_score",
    "macro_precision_score",
    "macro_recall_score",
    "micro_f1_score",
    "micro_precision_score",
    "micro_recall_score",
    "normalised_coverage_error",
    "one_error",
    "ranking_loss",
    "subset_accuracy_score",
]


def __getattr__(name):
    if name in _SCORERS:
        from mltsk.metrics import scorers

        return getattr(scorers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
