import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk.exceptions import InputError
from mltsk.metrics.inputs import (
    check_labels,
    check_scores,
    check_threshold,
    check_weight,
)

Y = np.array([[1, 0], [0, 1], [1, 1]])


@pytest.mark.parametrize(
    "table",
    [
        Y,
        Y.tolist(),
        Y.astype(bool),
        Y.astype(np.float32),
        pd.DataFrame(Y),
        sparse.csr_array(Y),
        sparse.coo_matrix(Y),
    ],
    ids=["int", "lists", "bool", "float32", "frame", "csr", "coo matrix"],
)
def test_labels_come_in_many_forms(table):
    labels, observed = check_labels(table)
    assert observed.all()
    assert labels.dtype == bool
    assert_array_equal(labels, Y == 1)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ([[1, 2]], "row 0, column 1 holds"),
        ([[1, -1]], "must hold only 0 and 1"),
        ([[1.0, np.nan]], "must hold only 0 and 1"),
        ([["a", "b"]], "must hold only 0 and 1"),
        ([1, 0, 1], "one column per label, got 1-d"),
        ([[1, 0], [1]], "same length"),
        (np.empty((0, 3)), "is empty"),
        (np.empty((3, 0)), "is empty"),
    ],
)
def test_bad_labels_are_refused_with_a_sentence(table, sentence):
    with pytest.raises(InputError, match=sentence):
        check_labels(table, "predictions", (2, 2))


@pytest.mark.parametrize(
    "table",
    [
        [[1, np.nan], [0, 1]],
        [[True, None], [False, True]],
        pd.DataFrame([[1, None], [0, 1]], dtype="Int64"),
        pd.DataFrame(
            {"a": pd.array([True, False]), "b": pd.array([None, True], dtype="boolean")}
        ),
    ],
    ids=["nan", "None", "NA of numbers", "NA of booleans"],
)
def test_labels_that_were_not_observed_are_told_apart(table):
    labels, observed = check_labels(table)
    assert_array_equal(labels, [[True, False], [False, True]])
    assert_array_equal(observed, [[True, False], [True, True]])


def test_scores_must_have_the_shape_of_the_labels():
    with pytest.raises(InputError, match=r"shape \(3, 1\) but Y has shape \(3, 2\)"):
        check_scores(np.zeros((3, 1)), (3, 2), allow_nan=False)
    with pytest.raises(InputError, match="got 3-d"):
        check_scores(np.zeros((4, 3, 2)), (3, 2), allow_nan=False)
    assert check_scores(
        np.zeros((4, 3, 2)), (3, 2), allow_nan=False, batch=True
    ).shape == (4, 3, 2)


def test_nan_scores_are_refused_unless_allowed():
    scores = [[0.0, np.nan]]
    with pytest.raises(InputError, match=r"NaN \(first at \(0, 1\)\)"):
        check_scores(scores, (1, 2), allow_nan=False)
    assert np.isnan(check_scores(scores, (1, 2), allow_nan=True)).sum() == 1


def test_scores_must_be_numbers():
    with pytest.raises(InputError, match="scores must hold numbers only"):
        check_scores([["high", "low"]], (1, 2), allow_nan=False)


def test_infinite_scores_are_scores():
    assert np.isinf(check_scores([[np.inf, -np.inf]], (1, 2), allow_nan=False)).all()


def test_predictions_must_have_the_shape_of_the_labels():
    with pytest.raises(InputError, match="predictions have shape"):
        check_labels(Y, "predictions", (3, 4))


@pytest.mark.parametrize("threshold", [[0.1, 0.2, 0.3], [[0.1, 0.2]], np.nan, "high"])
def test_bad_thresholds_are_refused(threshold):
    with pytest.raises(InputError, match="threshold"):
        check_threshold(threshold, 2)


@pytest.mark.parametrize(
    "weight", [[1.0, 2.0], [1.0, -1.0, 1.0], [1.0, np.nan, 1.0], [0.0, 0.0, 0.0]]
)
def test_bad_weights_are_refused(weight):
    with pytest.raises(InputError, match="sample_weight"):
        check_weight(weight, 3)
