"""Fuzzy terms of the general rule."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk.core.backend import asnumpy
from mltsk.core.scaling import fit_scaling
from mltsk.core.terms import FEW_VALUES, RAMPS, Terms


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return np.column_stack([rng.normal(size=80), np.full(80, 3.0), rng.integers(0, 2, 80), rng.lognormal(size=80)])


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
        assert_allclose(T[order, p], np.clip((level - low) / (high - low), 0, 1), atol=1e-9)
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
    torch = pytest.importorskip("torch", reason="torch is not installed: tensors cannot be tested")
    scaling = fit_scaling(X, np.ones(80), "quantile")
    terms, Z = Terms.ramps(scaling), scaling.apply(X)
    assert_allclose(asnumpy(terms.memberships(torch.as_tensor(Z), scaling)), terms.memberships(Z, scaling), atol=1e-12)
