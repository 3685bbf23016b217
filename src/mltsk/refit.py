"""A fit takes effect in one step: an estimator is never half fitted.

A fit works on a copy that has nothing of an earlier fit, and the estimator takes over
everything from it at the end. A fit that fails or is interrupted leaves the estimator
as it was, and a second fit leaves what a first one would.
"""

from copy import copy
from typing import TypeVar

from sklearn.base import BaseEstimator

E = TypeVar("E", bound=BaseEstimator)


def unfitted_copy(estimator: E) -> E:
    """A copy with the same parameters, the same objects, and nothing of a fit.

    >>> from sklearn.linear_model import LinearRegression
    >>> line = LinearRegression(positive=True).fit([[0], [1]], [0, 1])
    >>> hasattr(line, "coef_"), hasattr(unfitted_copy(line), "coef_")
    (True, False)
    """
    unfitted = copy(estimator)
    for name in [name for name in vars(unfitted) if name.endswith("_")]:
        delattr(unfitted, name)
    return unfitted


def take_over(estimator: E, fitted: E) -> E:
    """Give an estimator everything that its fitted copy has; the estimator."""
    estimator.__dict__ = fitted.__dict__
    return estimator
