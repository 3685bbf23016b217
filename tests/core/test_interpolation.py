"""Interpolation on tensors, and between numbers whose distance is not finite."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.core.interpolation import (
    interpolated_by_shares,
    interpolated_tensor,
    tensor_quantiles,
)

LARGEST = np.finfo(np.float64).max
KNOTS = {
    "ordinary": np.array([1.0, 2.0, 4.0]),
    "padded": np.array([1.0, 4.0, 4.0]),
    "close": np.array([0.0, 1e-323, 2e-323]),
    "far": np.array([-LARGEST, 0.0, LARGEST]),
}
LEVELS = np.array([0.1, 0.5, 1.0])


def between(values):
    """The knots, the middles between them, and what is beyond them."""
    middles = values[:-1] / 2 + values[1:] / 2
    return np.concatenate([values, middles, [-LARGEST, LARGEST]])


@pytest.mark.parametrize("kind", ["ordinary", "padded"])
def test_interpolated_by_shares_is_that_of_numpy(kind):
    values = KNOTS[kind]
    x = between(values)
    expected = np.interp(x, values, LEVELS)
    assert_allclose(interpolated_by_shares(x, values, LEVELS), expected)


def test_interpolated_by_shares_is_finite_between_numbers_far_apart():
    x = np.array([-LARGEST / 2, LARGEST / 2])
    assert_allclose(interpolated_by_shares(x, KNOTS["far"], LEVELS), [0.3, 0.75])


@pytest.mark.parametrize("kind", KNOTS)
def test_interpolated_tensor_is_that_by_shares(torch, kind):
    values = KNOTS[kind]
    x = between(values)
    rows = [torch.as_tensor(row[None, :]) for row in (x, values, LEVELS)]
    expected = interpolated_by_shares(x, values, LEVELS)
    assert_allclose(interpolated_tensor(*rows)[0], expected, rtol=1e-12)


def test_tensor_quantiles_are_those_of_numpy_without_missing_values(torch):
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[:10, 1] = np.nan
    X[:, 2] = np.nan
    shares = np.array([0.1, 0.5, 0.93])
    quantiles = tensor_quantiles(torch.as_tensor(X), shares)
    assert_allclose(quantiles[0], np.quantile(X[:, 0], shares))
    assert_allclose(quantiles[1], np.quantile(X[10:, 1], shares))
    assert_array_equal(quantiles[2], 0.0)  # of a column without a value
