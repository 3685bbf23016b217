"""scikit-learn's cross-validation and searches, for labels that were not all observed.

scikit-learn refuses NaN in y in three places: where ``cv`` is a number, in its own
metrics, and in `cross_val_predict`, which takes NaN for a further class. Here are
`cross_val_score`, `cross_validate`, `cross_val_predict`, `GridSearchCV` and
`RandomizedSearchCV` that take a number, folds to pass as ``cv`` to all others of its
tools, and scorers to pass as ``scoring``.
"""

from ..metrics.scorers import get_scorer, label_scorer
from .folds import IterativeStratification
from .predict import cross_val_predict
from .search import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_score,
    cross_validate,
)

__all__ = [
    "GridSearchCV",
    "IterativeStratification",
    "RandomizedSearchCV",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "get_scorer",
    "label_scorer",
]
