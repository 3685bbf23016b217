"""Scales: what they promise, weights as copies, ties, ends, and the way back; and the terms on them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk.core.arrays import asnumpy
from mltsk.core.terms import FEW_VALUES, MAX_KNOTS, RAMPS, Terms, fit_scaling

SCALES = ["quantile", "standard", "minmax"]


def sample(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            rng.lognormal(size=n),
            rng.integers(0, 3, n),
            np.full(n, 7.0),
            rng.normal(size=n),
        ]
    )


def percentiles(scaling, X):
    return scaling.apply(X) * scaling.spread + scaling.offset


@pytest.mark.parametrize("scale", SCALES)
def test_inverse_gives_the_value_back(scale):
    X = sample(200)
    scaling = fit_scaling(X, np.ones(200), scale)
    assert_allclose(scaling.apply(scaling.apply(X), inverse=True), X, rtol=1e-9)


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


# terms ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return np.column_stack(
        [
            rng.normal(size=80),
            np.full(80, 3.0),
            rng.integers(0, 2, 80),
            rng.lognormal(size=80),
        ]
    )


def test_features_have_as_many_ramps_as_values_to_tell_apart(X):
    terms = Terms.ramps(fit_scaling(X, np.ones(80), "quantile"))
    assert np.bincount(terms.feature).tolist() == [len(RAMPS), 0, 1, len(RAMPS)]
    few = np.arange(80.0)[:, None] % FEW_VALUES
    assert len(Terms.ramps(fit_scaling(few, np.ones(80), "quantile"))) == 1


def test_a_ramp_rises_from_0_to_1_between_two_percentiles(X):
    scaling = fit_scaling(X, np.ones(80), "quantile")
    terms = Terms.ramps(scaling)
    T = terms.memberships(scaling.apply(X), scaling)
    order = np.argsort(X[:, 0])
    level = (np.arange(80) + 0.5) / 80
    for p, (low, high) in enumerate(RAMPS):
        assert_allclose(
            T[order, p], np.clip((level - low) / (high - low), 0, 1), atol=1e-9
        )
    beyond = scaling.apply(np.vstack([X.min(axis=0) - 9, X.max(axis=0) + 9]))
    assert_allclose(terms.memberships(beyond, scaling)[1, 6:], T[:, 6:].max(axis=0))


def test_contributions_of_terms_are_summed_per_feature(X):
    scaling = fit_scaling(X, np.ones(80), "quantile")
    terms = Terms.ramps(scaling)
    T = terms.memberships(scaling.apply(X), scaling)
    found = terms.by_feature(T, 4)
    expected = [T[:, terms.feature == d].sum(axis=1) for d in range(4)]
    assert_allclose(found, np.column_stack(expected))


def test_linear_terms_are_the_features_themselves(X):
    terms, Z = Terms.linear(4), sparse.csr_array(X)
    assert terms.memberships(Z, None) is Z
    assert_array_equal(terms.by_feature(X, 4), X)


def test_no_terms_say_nothing(X):
    assert len(Terms.none()) == 0
    assert Terms.none().memberships(X, None).shape == (80, 0)
    assert_array_equal(Terms.none().by_feature(np.zeros((80, 0)), 4), np.zeros((80, 4)))


def test_tensors_have_the_memberships_of_arrays(X):
    torch = pytest.importorskip(
        "torch", reason="torch is not installed: tensors cannot be tested"
    )
    scaling = fit_scaling(X, np.ones(80), "quantile")
    terms, Z = Terms.ramps(scaling), scaling.apply(X)
    assert_allclose(
        asnumpy(terms.memberships(torch.as_tensor(Z), scaling)),
        terms.memberships(Z, scaling),
        atol=1e-12,
    )
