"""Scales: weights as copies, ties, ends, the way back, and numbers of any size."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.core.scales import MAX_KNOTS, column_quantiles, fit_scaling, interpolated

from .conftest import assert_tensor_equals

SCALES = ["quantile", "standard", "minmax"]


def sample(n=300, seed=0):
    """Samples of a skewed, a discrete, a constant and a normal feature."""
    rng = np.random.default_rng(seed)
    skewed = rng.lognormal(size=n)
    discrete = rng.integers(0, 3, n)
    return np.column_stack([skewed, discrete, np.full(n, 7.0), rng.normal(size=n)])


def percentiles(scaling, X):
    return scaling.apply(X) * scaling.spread + scaling.offset


@pytest.mark.parametrize("scale", SCALES)
def test_scaling_inverse_gives_the_value_back(scale):
    X = sample(200)
    scaling = fit_scaling(X, np.ones(200), scale)
    assert_allclose(scaling.apply(scaling.apply(X), inverse=True), X, rtol=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_fit_scaling_counts_weights_as_copies(scale):
    X = sample()
    w = np.random.default_rng(1).integers(0, 4, size=300)
    weighted = fit_scaling(X, w.astype(float), scale)
    repeated = fit_scaling(np.repeat(X, w, axis=0), np.ones(w.sum()), scale)
    assert_allclose(weighted.apply(X), repeated.apply(X), atol=1e-9)


def test_fit_scaling_by_quantile_is_centred_scaled_and_bounded():
    X = sample()
    scaling = fit_scaling(X, np.ones(300), "quantile")
    Z = scaling.apply(X)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    assert_allclose(Z.std(axis=0)[[0, 1, 3]], 1)
    assert_allclose(Z[:, 2], 0)  # a constant feature says nothing
    assert_allclose(scaling.apply(np.full((1, 4), 1e9)), Z.max(axis=0, keepdims=True))


def test_fit_scaling_by_quantile_depends_on_order_alone():
    X = sample(150)[:, [0]]
    of_values = fit_scaling(X, np.ones(150), "quantile").apply(X)
    of_powers = fit_scaling(np.exp(X), np.ones(150), "quantile").apply(np.exp(X))
    assert_allclose(of_values, of_powers)


def test_fit_scaling_by_quantile_puts_the_median_at_one_half():
    X = np.arange(101.0)[:, None]
    scaling = fit_scaling(X, np.ones(101), "quantile")
    assert percentiles(scaling, np.array([[50.0]])) == pytest.approx(0.5)


def test_fit_scaling_thins_knots_without_moving_percentiles():
    X = np.random.default_rng(0).normal(size=(5000, 1))
    scaling = fit_scaling(X, np.ones(5000), "quantile")
    assert scaling.values.shape[1] <= MAX_KNOTS
    ranks = (X[:, 0].argsort().argsort() + 0.5) / 5000
    assert np.abs(percentiles(scaling, X)[:, 0] - ranks).max() < 2 / MAX_KNOTS


def test_fit_scaling_by_minmax_leaves_constant_features_as_they_are():
    Z = fit_scaling(sample(), np.ones(300), "minmax").apply(sample())
    assert_allclose(Z[:, 2], 7.0)
    assert (Z[:, 0].min(), Z[:, 0].max()) == (0, 1)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [160, 3 * MAX_KNOTS])
def test_fit_scaling_of_tensors_is_that_of_arrays(torch, scale, n):
    X = sample(n, seed=1)
    w = np.random.default_rng(1).integers(0, 3, n).astype(float)
    ours = fit_scaling(X, w, scale)
    theirs = fit_scaling(torch.as_tensor(X), torch.as_tensor(w), scale)
    for name in ("values", "levels", "offset", "spread"):
        assert_allclose(getattr(theirs, name), getattr(ours, name), atol=1e-12)
    beyond = np.vstack([X, X.min(axis=0) - 1, X.max(axis=0) + 1])
    for dtype, atol in ((np.float64, 1e-10), (np.float32, 1e-6)):
        samples = beyond.astype(dtype)
        Z = theirs.apply(torch.as_tensor(samples))
        assert_tensor_equals(Z, ours.apply(samples), atol=atol)


def test_column_quantiles_of_tensors_are_those_of_arrays(torch):
    X = sample(50)
    shares = np.array([0.1, 0.5, 0.93])
    assert_array_equal(column_quantiles(X, shares), np.quantile(X, shares, axis=0).T)
    X[:10, 0] = np.nan
    X[:, 2] = np.nan
    quantiles = column_quantiles(X, shares)
    assert_allclose(quantiles[0], np.quantile(X[10:, 0], shares))
    assert_array_equal(quantiles[2], 0.0)  # of a column without a value
    assert_allclose(column_quantiles(torch.as_tensor(X), shares), quantiles)


# numbers of any size ------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("size", [2.0**-1070, 2.0**-1000, 2.0**-40, 2.0**1000])
def test_apply_does_not_depend_on_the_unit_of_samples(scale, size, torch):
    X = np.random.default_rng(0).integers(-1000, 1000, size=(40, 2)) * 1.0
    w = np.ones(40)
    expected = fit_scaling(X, w, scale).apply(X)
    scaling = fit_scaling(X * size, w, scale)
    assert_allclose(scaling.apply(X * size), expected, rtol=1e-12)
    assert_allclose(scaling.apply(expected, inverse=True) / size, X, rtol=1e-9)
    tensor = torch.tensor(X * size, dtype=torch.float64)
    assert_tensor_equals(scaling.apply(tensor), expected)


@pytest.mark.parametrize("scale", SCALES)
def test_apply_gives_finite_numbers_far_outside_the_training_values(scale):
    far = np.array([[0.0], [5e-324], [1.0], [1e308], [-1e308]])
    largest = np.finfo(np.float64).max
    for ends in ([1e-310, 3e-310], [-largest, largest], [7.0, 7.0], [1e300, 1e300]):
        x = np.linspace(ends[0] / 2, ends[1] / 2, 9)[:, None] * 2
        Z = fit_scaling(x, np.ones(9), scale).apply(np.vstack([x, far]))
        assert np.isfinite(Z).all()


def test_interpolated_is_that_of_numpy_between_knots_of_any_size():
    largest = np.finfo(np.float64).max
    levels = np.array([0.0, 0.5, 1.0])
    narrow = np.array([0.0, 1e-323, 2e-323])
    assert interpolated(5e-324, narrow, levels) == 0.25
    assert interpolated(1.0, narrow, levels) == 1.0
    wide = np.array([-largest, 0.0, largest])
    assert interpolated(-largest / 2, wide, levels) == 0.25
    assert interpolated(0.25, levels, wide) == -largest / 2
    assert np.isnan(interpolated(np.nan, wide, levels))


def test_column_quantiles_of_the_largest_numbers_are_finite(torch):
    largest = np.finfo(np.float64).max
    X = np.array([[-largest], [largest]])
    expected = [[-largest, 0.0, largest]]
    shares = np.array([0.0, 0.5, 1.0])
    assert_array_equal(column_quantiles(X, shares), expected)
    tensor = torch.tensor(X, dtype=torch.float64)
    assert_array_equal(column_quantiles(tensor, shares), expected)
