"""Short models: a few statements per label that say what the long model says."""

from .models import (
    MAX_COMPARED_SIZE,
    ShortModels,
    TrainingRows,
    certainty_of,
    noise_of_log_odds,
)

__all__ = [
    "MAX_COMPARED_SIZE",
    "ShortModels",
    "TrainingRows",
    "certainty_of",
    "noise_of_log_odds",
]
