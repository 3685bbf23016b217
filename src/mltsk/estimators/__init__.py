"""Scikit-learn shells around the mathematics: validate, call the core, store."""

from .classifier import MLTSKClassifier
from .features import FuzzyRuleFeatures
from .search import MLTSKClassifierCV
from .thresholds import MultilabelThreshold

__all__ = ["FuzzyRuleFeatures", "MLTSKClassifier", "MLTSKClassifierCV", "MultilabelThreshold"]
