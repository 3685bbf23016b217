"""scikit-learn's cross-validation and searches, for labels that were not all observed.

scikit-learn refuses NaN in y in three places: where ``cv`` is a number, in its own
metrics, and in `cross_val_predict`, which takes NaN for a further class. Here are folds
to pass as ``cv``, scorers to pass as ``scoring``, and a `cross_val_predict`; with these
`cross_val_score`, `cross_validate`, `GridSearchCV` and their kin work as they are.
"""

from ..metrics.scorers import get_scorer, label_scorer
from .folds import IterativeStratification
from .predict import cross_val_predict

__all__ = ["IterativeStratification", "cross_val_predict", "get_scorer", "label_scorer"]
