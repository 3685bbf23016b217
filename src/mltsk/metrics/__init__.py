"""Multi-label metrics: of rankings, of predicted label sets, in two conventions, and as scorers."""

from importlib import import_module
from typing import Any

# Public names by their module, which is imported on first use: scorers need scikit-learn, which takes long to import.
_NAMES = {
    "evaluation": "evaluate hamming_loss subset_accuracy_score example_f1_score macro_f1_score micro_f1_score",
    "ranking": "FIVE_METRICS five_metrics average_precision_score one_error ranking_loss coverage_error",
    "scorers": "SCORERS MultilabelScorer get_scorer",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"mltsk.metrics.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
