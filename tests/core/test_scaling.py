"""Scales: what they promise, weights as copies, ties, ends, and the way back."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.scaling import MAX_KNOTS, fit_scaling

SCALES = ["quantile", "standard", "minmax"]


def sample(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.lognormal(size=n), rng.integers(0, 3, n), np.full(n, 7.0), rng.normal(size=n)])


def percentiles(scaling, X):
    return scaling.apply(X) * scaling.spread + scaling.offset


@pytest.mark.parametrize("scale", SCALES)
def test_inverse_gives_the_value_back(scale):
    X = sample(200)
    scaling = fit_scaling(X, np.ones(200), scale)
    assert_allclose(scaling.invert(scaling.apply(X)), X, rtol=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_weights_are_copies(scale):
    X = sample()
    w = np.random.default_rng(1).integers(0, 4, size=300)
    weighted = fit_scaling(X, w.astype(float), scale)
    repeated = fit_scaling(np.repeat(X, w, axis=0), np.ones(w.sum()), scale)
    assert_allclose(weighted.apply(X), repeated.apply(X), atol=1e-9)


def test_quantile_is_centred_scaled_and_bounded():
    X = sample()
    scaling = fit_scaling(X, np.ones(300), "quantile")
    Z = scaling.apply(X)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    assert_allclose(Z.std(axis=0)[[0, 1, 3]], 1)
    assert_allclose(Z[:, 2], 0)  # a constant feature says nothing
    assert_allclose(scaling.apply(np.full((1, 4), 1e9)), Z.max(axis=0, keepdims=True))


def test_quantile_depends_on_order_alone():
    X = sample(150)[:, [0]]
    a = fit_scaling(X, np.ones(150), "quantile").apply(X)
    b = fit_scaling(np.exp(X), np.ones(150), "quantile").apply(np.exp(X))
    assert_allclose(a, b)


def test_percentile_of_the_median_is_half():
    X = np.arange(101.0)[:, None]
    scaling = fit_scaling(X, np.ones(101), "quantile")
    assert percentiles(scaling, np.array([[50.0]])) == pytest.approx(0.5)


def test_knots_are_thinned_without_moving_percentiles():
    X = np.random.default_rng(0).normal(size=(5000, 1))
    scaling = fit_scaling(X, np.ones(5000), "quantile")
    assert scaling.values.shape[1] <= MAX_KNOTS
    ranks = (X[:, 0].argsort().argsort() + 0.5) / 5000
    assert np.abs(percentiles(scaling, X)[:, 0] - ranks).max() < 2 / MAX_KNOTS


def test_minmax_leaves_constant_features_as_they_are():
    Z = fit_scaling(sample(), np.ones(300), "minmax").apply(sample())
    assert_allclose(Z[:, 2], 7.0)
    assert (Z[:, 0].min(), Z[:, 0].max()) == (0, 1)
