"""Scikit-learn shells around the mathematics: validate, call the core, store."""

from .classifier import MLTSKClassifier
from .thresholds import MultilabelThreshold

__all__ = ["MLTSKClassifier", "MultilabelThreshold"]
