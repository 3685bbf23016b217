"""Features that the training data use, and all others as one column."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk.core.used import OTHER_FEATURES, UsedFeatures

USED = UsedFeatures(np.array([1, 4]), 6)
X = np.array([[9.0, 1, 0, 3, 2, 4], [0, 5, 0, 0, 0, 0], [0, 0, 1e200, -1e200, 0, 0]])
COLUMNS = np.array([[1, 2, 106**0.5], [5, 0, 0], [0, 0, 2**0.5 * 1e200]])


def test_used_features_are_those_that_some_sample_has():
    rows = sparse.csr_array(([1.0, 2, 3], ([0, 2, 1], [4, 1, 4])), shape=(3, 6))
    used = UsedFeatures.of(rows)
    assert_array_equal(used.positions, [1, 4])
    assert used.n_features == 6
    assert used.n_columns == 3


@pytest.mark.parametrize(
    "rows",
    [
        np.eye(6)[:2],
        sparse.csr_array(np.eye(6)[:4]),
        sparse.csr_array((3, 6)),
    ],
    ids=["dense", "most are used", "none is used"],
)
def test_used_features_are_none_where_nothing_is_left_out(rows):
    assert UsedFeatures.of(rows) is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_hold_used_features_and_the_length_of_all_others(dtype):
    rows = X if dtype == np.float64 else X[:2]
    dense = USED.columns(rows.astype(dtype))
    csr = USED.columns(sparse.csr_array(rows.astype(dtype)))
    assert dense.dtype == csr.dtype == dtype
    assert csr.format == "csr"
    assert_allclose(dense, COLUMNS[: len(rows)], rtol=1e-6)
    assert_allclose(csr.toarray(), dense)


def test_columns_of_tensors_are_tensors():
    torch = pytest.importorskip("torch")
    assert_allclose(USED.columns(torch.from_numpy(X)).numpy(), COLUMNS)


def test_names_are_those_of_used_features():
    assert USED.names("abcdef") == ("b", "e", OTHER_FEATURES)


def test_per_feature_gives_all_other_features_what_the_last_column_has():
    values = np.array([[7.0, 8, 0], [1, 2, 3]])
    expected = [[0, 7, 0, 0, 8, 0], [3, 1, 3, 3, 2, 3]]
    assert_array_equal(USED.per_feature(values, axis=1), expected)
    assert_array_equal(USED.per_feature(values.T, axis=0), np.transpose(expected))
    intercepts = np.array([[5.0], [6]])
    slopes = np.hstack([intercepts, values])
    assert_array_equal(
        USED.per_feature(slopes, axis=1), np.hstack([intercepts, expected])
    )
    assert_array_equal(USED.per_feature(intercepts, axis=1), intercepts)
