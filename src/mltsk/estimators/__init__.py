"""Scikit-learn shells around the mathematics: validate, call the core, store."""

from .classifier import MLTSKClassifier
from .features import FuzzyRuleFeatures
from .search import MLTSKClassifierCV

__all__ = ["FuzzyRuleFeatures", "MLTSKClassifier", "MLTSKClassifierCV"]
