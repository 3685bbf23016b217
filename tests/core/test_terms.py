"""The fuzzy terms of the general rule."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk.core.scales import fit_scaling
from mltsk.core.terms import FEW_VALUES, RAMPS, Terms

from .conftest import assert_tensor_equals


def sample(n=300, seed=0):
    """Samples of a skewed, a discrete, a constant and a normal feature."""
    rng = np.random.default_rng(seed)
    skewed = rng.lognormal(size=n)
    discrete = rng.integers(0, 3, n)
    return np.column_stack([skewed, discrete, np.full(n, 7.0), rng.normal(size=n)])


def percentiles(scaling, X):
    return scaling.apply(X) * scaling.spread + scaling.offset


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
