"""Multi-label metrics of rankings and of label sets, and scorers made of them."""

from importlib import import_module
from typing import Any

# Public names by their module, which is imported on first use: scorers need
# scikit-learn, which takes long to import.
_NAMES_BY_MODULE = {
    "calibration": ("CalibrationLine", "calibration_line"),
    "decisions": ("DecisionFigures", "decision_intervals", "net_benefit"),
    "evaluation": ("Evaluation", "evaluate"),
    "intervals": ("average_precision_interval", "roc_auc_interval"),
    "label_sets": (
        "example_f1_score",
        "hamming_loss",
        "macro_f1_score",
        "micro_f1_score",
        "subset_accuracy_score",
    ),
    "proportions": ("IntervalEstimate", "proportion_interval"),
    "ranking": (
        "FIVE_METRICS",
        "average_precision_score",
        "coverage_error",
        "five_metrics",
        "one_error",
        "ranking_loss",
    ),
    "sample_size": ("SampleSize", "required_rows"),
    "scorers": ("SCORERS", "MultilabelScorer", "get_scorer", "label_scorer"),
    "subgroups": ("heterogeneity_p_value", "holm", "miscalibration_p_value"),
}
_MODULES = {name: home for home, names in _NAMES_BY_MODULE.items() for name in names}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"mltsk.metrics.{_MODULES[name]}"), name)
