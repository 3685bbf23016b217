"""What a user passes to `fit`, as rows; forms with modules of their own have tests."""

import numpy as np
import pytest
import sklearn
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.exceptions import InputError
from mltsk.rows.read import read_groups, read_rows, read_weights, rows_at_once


def test_read_rows_writes_nothing_to_the_estimator(data):
    clf = MLTSKClassifier()
    fit_input = read_rows(clf, data.X, data.Y, None)
    assert fit_input.rows.shape == data.Y.shape
    assert fit_input.features.column_names == ("x0", "x1", "x2", "x3", "x4", "x5")
    assert not hasattr(clf, "n_features_in_")


def test_read_rows_refuses_x_and_y_of_different_lengths(data):
    with pytest.raises(InputError, match="X has 600 rows but y has 599"):
        read_rows(MLTSKClassifier(), data.X, data.Y[1:], None)


def test_rows_at_once_are_those_that_working_memory_holds():
    X = np.zeros((1000, 128))  # 1 KB a row
    with sklearn.config_context(working_memory=0.5):
        assert rows_at_once(X) == 512
        assert rows_at_once(X[:512]) is None
        assert rows_at_once(sparse.csr_array(X)) is None
        assert rows_at_once(X.tolist()) is None


@pytest.mark.parametrize(
    ("sample_weight", "w"),
    [
        ([1.0, 2.0, 0.0], [1, 2, 0]),
        ([3.0, 3.0, 0.0], [1, 1, 0]),
        ([0.5, 1.5, 0.0], [0.5, 1.5, 0]),
    ],
    ids=["counts", "equal", "relative"],
)
def test_read_weights_knows_counts_equal_and_relative_weights(sample_weight, w):
    assert read_weights(sample_weight, (3, 2)).tolist() == w


def test_read_weights_of_no_weights_are_none():
    assert read_weights(None, (3, 2)) is None


def test_read_groups_are_codes_or_none_where_rows_are_alone():
    assert read_groups(None, 3) is None
    assert read_groups(["eve", "bob", "eve"], 3).tolist() == [0, 1, 0]
    assert read_groups([7, 8, 9], 3) is None


@pytest.mark.parametrize(
    ("groups", "match"),
    [
        ([1, 2], r"groups has the shape \(2,\), but X has 3 rows"),
        ([1, None, 2], r"groups holds nothing \(NaN\) in row 1"),
    ],
)
def test_read_groups_refuses_what_names_no_group(groups, match):
    with pytest.raises(InputError, match=match):
        read_groups(groups, 3)
