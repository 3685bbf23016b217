"""Short models: a few statements per label that say what the long model says."""

from .certainty import certainty_of, noise_of_log_odds
from .models import MAX_COMPARED_SIZE, ShortModels
from .training import TrainingRows

__all__ = [
    "MAX_COMPARED_SIZE",
    "ShortModels",
    "TrainingRows",
    "certainty_of",
    "noise_of_log_odds",
]
