"""Scales: weights as copies, ties, ends and the way back; and the terms on them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk.core.terms import (
    FEW_VALUES,
    MAX_KNOTS,
    RAMPS,
    Terms,
    column_quantiles,
    fit_scaling,
    interpolated,
)

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


# scales -------------------------------------------------------------------------------


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


# terms --------------------------------------------------------------------------------


@pytest.fixture
def X():
    """80 samples of a normal, a constant, a yes-or-no and a skewed feature."""
    rng = np.random.default_rng(0)
    normal = rng.normal(size=80)
    answers = rng.integers(0, 2, 80)
    return np.column_stack([normal, np.full(80, 3.0), answers, rng.lognormal(size=80)])


def test_terms_have_as_many_ramps_as_values_to_tell_apart(X):
    terms = Terms.ramps(fit_scaling(X, np.ones(80), "quantile"))
    assert np.bincount(terms.feature).tolist() == [len(RAMPS), 0, 1, len(RAMPS)]
    few = np.arange(80.0)[:, None] % FEW_VALUES
    assert len(Terms.ramps(fit_scaling(few, np.ones(80), "quantile"))) == 1


def test_terms_memberships_rise_from_0_to_1_between_two_percentiles(X):
    scaling = fit_scaling(X, np.ones(80), "quantile")
    terms = Terms.ramps(scaling)
    T = terms.memberships(scaling.apply(X), scaling)
    order = np.argsort(X[:, 0])
    level = (np.arange(80) + 0.5) / 80
    for p, (low, high) in enumerate(RAMPS):
        ramp = np.clip((level - low) / (high - low), 0, 1)
        assert_allclose(T[order, p], ramp, atol=1e-9)
    beyond = scaling.apply(np.vstack([X.min(axis=0) - 9, X.max(axis=0) + 9]))
    assert_allclose(terms.memberships(beyond, scaling)[1, 6:], T[:, 6:].max(axis=0))


def test_terms_memberships_know_lines_and_that_there_may_be_none(X):
    scaling = fit_scaling(X, np.ones(len(X)), "quantile")
    terms = Terms.ramps(scaling).with_lines(scaling)
    T = terms.memberships(scaling.apply(X), scaling)
    low = X.min(axis=0)
    shares = (X - low) / np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1.0)
    assert_allclose(
        T[:, terms.straight], shares[:, terms.feature[terms.straight]], atol=1e-9
    )
    binary = (X > 1) * 1.0
    scaling = fit_scaling(binary, np.ones(len(X)), "quantile")
    terms = Terms.ramps(scaling).with_lines(scaling)
    assert not terms.straight.any()
    T = terms.memberships(scaling.apply(binary), scaling)
    assert_allclose(T, binary[:, terms.feature], atol=1e-12)


def test_terms_by_feature_sums_contributions_per_feature(X):
    scaling = fit_scaling(X, np.ones(80), "quantile")
    terms = Terms.ramps(scaling)
    T = terms.memberships(scaling.apply(X), scaling)
    expected = [T[:, terms.feature == d].sum(axis=1) for d in range(4)]
    assert_allclose(terms.by_feature(T, 4), np.column_stack(expected))


def test_terms_averaged_leave_missing_values_out_and_fill_them_in(X):
    X[:5, 0] = np.nan
    scaling = fit_scaling(X, np.ones(80), "quantile")
    Z = scaling.apply(X)
    terms = Terms.ramps(scaling).averaged(Z, scaling, np.ones(80))
    T = terms.memberships(Z, scaling)
    first = terms.feature == 0
    assert_allclose(terms.mean[first], T[5:, first].mean(axis=0))
    assert_allclose(T[:5, first], np.tile(terms.mean[first], (5, 1)))


def test_terms_heights_turn_a_ridge_on_ramps_into_one_on_heights():
    scaling = fit_scaling(np.arange(60.0)[:, None], np.ones(60), "quantile")
    terms = Terms.ramps(scaling, shape="triangles")
    c = np.random.default_rng(0).normal(size=len(terms))
    heights = np.concatenate([[0.0], np.cumsum(c)])
    a = np.linalg.solve(terms.heights().toarray(), c)  # T H a = T c
    assert a @ a == pytest.approx(((heights - heights.mean()) ** 2).sum())


def test_linear_terms_are_the_features_themselves(X):
    terms = Terms.linear(4)
    Z = sparse.csr_array(X)
    assert terms.memberships(Z, None) is Z
    assert_array_equal(terms.by_feature(X, 4), X)


def test_no_terms_add_nothing(X):
    terms = Terms.none()
    assert len(terms) == 0
    assert terms.memberships(X, None).shape == (80, 0)
    assert_array_equal(terms.by_feature(np.zeros((80, 0)), 4), np.zeros((80, 4)))


def test_terms_memberships_of_tensors_are_those_of_arrays(torch, X):
    scaling = fit_scaling(X, np.ones(80), "quantile")
    terms = Terms.ramps(scaling)
    Z = scaling.apply(X)
    expected = terms.memberships(Z, scaling)
    memberships = terms.memberships(torch.as_tensor(Z), scaling)
    assert_tensor_equals(memberships, expected, atol=1e-12)


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
