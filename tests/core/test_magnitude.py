"""Very large and very small numbers become ordinary ones and keep their digits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk.core.arrays import is_csr
from mltsk.core.magnitude import (
    MAX_RAW,
    rounded,
    unit_factors,
    unit_rows,
    within_reach,
)

from .conftest import assert_tensor_equals


def test_unit_rows_have_length_one_and_zeros_stay(torch):
    X = np.random.default_rng(0).normal(size=(20, 6))
    X[3] = 0.0
    expected = X.copy()
    expected[X.any(axis=1)] /= np.linalg.norm(X[X.any(axis=1)], axis=1, keepdims=True)
    assert_allclose(unit_rows(X), expected, atol=1e-12)
    assert_allclose(unit_rows(sparse.csr_array(X)).toarray(), expected, atol=1e-12)
    assert_tensor_equals(unit_rows(torch.as_tensor(X)), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_unit_rows_have_length_one_whatever_the_size_of_numbers(dtype, make):
    exponents = [-320, -200, 0, 200, 307] if dtype is np.float64 else [-44, -23, 0, 20]
    X = np.array([[3.0 * 10.0**e, 4.0 * 10.0**e] for e in exponents]).astype(dtype)
    Z = unit_rows(make(X))
    lengths = np.linalg.norm(Z.toarray() if is_csr(Z) else Z, axis=1)
    assert_allclose(lengths, 1.0, rtol=1e-6)
    assert Z.dtype == dtype


def test_unit_factors_are_powers_of_two_and_one_for_ordinary_sizes():
    sizes = np.array([0.0, 5e-324, 1e-300, 1e-12, 1.0, 1e12, 1e300])
    factors = unit_factors(sizes)
    assert_array_equal(factors[[0, 3, 4, 5]], 1.0)
    assert_array_equal(np.frexp(factors)[0], 0.5)
    products = sizes[[2, 6]] * factors[[2, 6]]
    assert ((products >= 0.5) & (products < 1)).all()


def test_within_reach_clips_numbers_whose_squares_are_not_finite():
    X = np.array([[1.0, -1e300], [0.0, 2.0]])
    clipped = within_reach(X)
    assert np.isfinite(clipped**2).all()
    assert_array_equal(clipped[X > -1e300], [1, 0, 2])
    assert_array_equal(within_reach(sparse.csr_array(X)).toarray(), clipped)


def test_within_reach_gives_double_precision_to_extreme_single_numbers():
    X = np.array([[1e20, 1.0]], dtype=np.float32)
    assert_array_equal(within_reach(X), X.astype(np.float64))
    assert within_reach(X).dtype == np.float64
    assert_array_equal(within_reach(np.array([[1e308]])), MAX_RAW)


def test_rounded_knows_digits_before_the_point():
    assert_array_equal(rounded([1234.5, -51.0], -1), [1230.0, -50.0])


def test_rounded_keeps_numbers_that_have_no_such_digit():
    assert_array_equal(rounded([1e305, 1.26, -np.inf], 1), [1e305, 1.3, -np.inf])
    assert_array_equal(rounded([1.26e-310, 0.0], 311), [1.3e-310, 0.0])
