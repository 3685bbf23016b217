"""What this package relies on in private names of scikit-learn.

Where a test fails after an upgrade, its message says which name changed; the names are
imported in `mltsk.sklearn_private` alone.
"""

from numbers import Integral, Real

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from mltsk.sklearn_private import Interval, StrOptions, take_rows_of_any


class Estimator(BaseEstimator):
    """An estimator with one parameter, whose constraint a test chooses."""

    def __init__(self, value=None):
        self.value = value


def is_accepted(constraint, value):
    """Whether an estimator with this constraint takes the value."""
    estimator = Estimator(value)
    estimator._parameter_constraints = {"value": [constraint]}
    try:
        estimator._validate_params()
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("closed", "accepted"),
    [("left", {1}), ("right", {3}), ("both", {1, 3}), ("neither", set())],
)
def test_interval_takes_the_ends_that_are_closed(closed, accepted):
    interval = Interval(Integral, 1, 3, closed=closed)
    taken = {value for value in (0, 1, 2, 3, 4) if is_accepted(interval, value)}
    assert taken == accepted | {2}, (
        "sklearn.utils._param_validation.Interval treats its ends in another way"
    )


def test_interval_is_open_towards_infinity_and_checks_the_type():
    from_one = Interval(Integral, 1, None, closed="left")
    assert is_accepted(from_one, 10**9), "Interval(..., None) has an upper end"
    assert not is_accepted(from_one, 1.5), "Interval no longer checks the type"
    assert is_accepted(Interval(Real, 0, None, closed="neither"), 1), (
        "Interval of Real no longer takes whole numbers"
    )


def test_str_options_takes_its_strings_and_nothing_else():
    options = StrOptions({"program", "text"})
    assert is_accepted(options, "text"), (
        "sklearn.utils._param_validation.StrOptions refuses a string that it lists"
    )
    assert not is_accepted(options, "other"), "StrOptions takes any string"
    assert not is_accepted(options, None), "StrOptions takes None"


@pytest.mark.parametrize(
    ("constraint", "good", "bad"),
    [
        ("boolean", True, "yes"),
        ("array-like", [0.5, 0.5], 0.5),
        ("random_state", 0, "seed"),
        (callable, print, 1),
        (None, None, 0),
        (str, "cuda", 0),
    ],
)
def test_validate_params_knows_the_words_that_we_use(constraint, good, bad):
    assert is_accepted(constraint, good), (
        f"BaseEstimator._validate_params refuses {good!r} under {constraint!r}"
    )
    assert not is_accepted(constraint, bad), (
        f"BaseEstimator._validate_params takes {bad!r} under {constraint!r}"
    )


def test_validate_params_names_the_parameter_the_class_and_the_choices():
    estimator = Estimator(7)
    estimator._parameter_constraints = {"value": [StrOptions({"auto"}), None]}
    sentence = (
        r"The 'value' parameter of Estimator must be a str among \{'auto'\} or None\. "
        r"Got 7 instead\."
    )
    with pytest.raises(ValueError, match=sentence):
        estimator._validate_params()


def test_validate_params_allows_constraints_of_parameters_that_are_not_there():
    estimator = Estimator(1)
    estimator._parameter_constraints = {"value": [Integral], "other": [Integral]}
    try:
        estimator._validate_params()
    except ValueError as error:
        pytest.fail(f"a constraint too many is now refused by scikit-learn: {error}")


@pytest.mark.parametrize("form", [np.asarray, list, pd.DataFrame, sparse.csr_array])
def test_take_rows_of_any_takes_rows_by_position(form):
    rows = take_rows_of_any(form([[0.0], [1.0], [2.0]]), np.array([2, 0]))
    values = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
    assert values.tolist() == [[2.0], [0.0]], (
        "sklearn.utils._safe_indexing no longer takes rows by position"
    )
