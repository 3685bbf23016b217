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
def test_check_labels_takes_many_forms(table):
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
def test_check_labels_refuses_bad_labels_with_a_sentence(table, sentence):
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
def test_check_labels_finds_what_was_not_observed(table):
    labels, observed = check_labels(table)
    assert_array_equal(labels, [[True, False], [False, True]])
    assert_array_equal(observed, [[True, False], [True, True]])


def test_check_scores_refuses_another_shape():
    with pytest.raises(InputError, match=r"shape \(3, 1\) but Y has shape \(3, 2\)"):
        check_scores(np.zeros((3, 1)), (3, 2), allow_nan=False)
    with pytest.raises(InputError, match="got 3-d"):
        check_scores(np.zeros((4, 3, 2)), (3, 2), allow_nan=False)
    assert check_scores(
        np.zeros((4, 3, 2)), (3, 2), allow_nan=False, batch=True
    ).shape == (4, 3, 2)


def test_check_scores_refuses_nan_unless_allowed():
    scores = [[0.0, np.nan]]
    with pytest.raises(InputError, match=r"NaN \(first at \(0, 1\)\)"):
        check_scores(scores, (1, 2), allow_nan=False)
    assert np.isnan(check_scores(scores, (1, 2), allow_nan=True)).sum() == 1


def test_check_scores_refuses_words():
    with pytest.raises(InputError, match="scores must hold numbers only"):
        check_scores([["high", "low"]], (1, 2), allow_nan=False)


def test_check_scores_takes_infinite_scores():
    assert np.isinf(check_scores([[np.inf, -np.inf]], (1, 2), allow_nan=False)).all()


def test_check_labels_refuses_predictions_of_another_shape():
    with pytest.raises(InputError, match="predictions have shape"):
        check_labels(Y, "predictions", (3, 4))


@pytest.mark.parametrize("threshold", [[0.1, 0.2, 0.3], [[0.1, 0.2]], np.nan, "high"])
def test_check_threshold_refuses_bad_thresholds(threshold):
    with pytest.raises(InputError, match="threshold"):
        check_threshold(threshold, 2)


@pytest.mark.parametrize(
    "weight", [[1.0, 2.0], [1.0, -1.0, 1.0], [1.0, np.nan, 1.0], [0.0, 0.0, 0.0]]
)
def test_check_weight_refuses_bad_weights(weight):
    with pytest.raises(InputError, match="sample_weight"):
        check_weight(weight, 3)
