"""The private names of scikit-learn that this package needs, in one place.

They may move or change in any release. `tests/test_sklearn_private.py` says what we
rely on, so that a new release which breaks something is noticed there, by its name.
"""

# Rows of an array, a sparse matrix, a list, or a frame of pandas or polars, as
# scikit-learn's own cross-validation takes them.
from sklearn.utils import _safe_indexing as take_rows_of_any

# Checks of parameters such as "a whole number from 1 on". scikit-learn publishes none;
# with its own ones our estimators refuse a wrong parameter in the same words as
# scikit-learn's, and before any work begins. `BaseEstimator._validate_params` reads
# them from `_parameter_constraints`.
from sklearn.utils._param_validation import Interval, StrOptions

__all__ = ["Interval", "StrOptions", "take_rows_of_any"]
