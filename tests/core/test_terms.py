"""Short THEN-parts: which terms stay and what the refit gives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk.core.fuzzymap import FuzzyMap
from mltsk.core.terms import largest_terms, shorten_consequents, term_counts


@pytest.fixture
def problem():
    """Two rules over eight features, two labels; features 6 and 7 are all but copies of 0 and 1."""
    rng = np.random.default_rng(0)
    X, M = rng.normal(size=(300, 8)), rng.dirichlet([1, 1], size=300)
    X[:, 6:] = X[:, :2] + 0.01 * rng.normal(size=(300, 2))
    P = np.zeros((2, 9, 2))
    P[:, 0], P[:, 1:4, 0], P[:, 4:6, 1] = 0.3, [1.0, -2.0, 0.5], [0.7, 0.4]
    return FuzzyMap(X, M), P.reshape(18, 2)


def test_no_rule_has_more_terms_than_allowed(problem):
    G, _ = problem
    P = np.random.default_rng(1).normal(size=(18, 2))
    counts = term_counts(shorten_consequents(G, P, np.ones(300), 3, rho=1.0), 2)
    assert_array_equal(counts, 3)


def test_terms_that_matter_are_found_and_given_back(problem):
    G, P = problem
    noisy = P + 0.01 * np.random.default_rng(1).normal(size=P.shape)
    short = shorten_consequents(G, noisy, np.ones(300), 3, rho=1e-6)
    assert_array_equal(short.reshape(2, 9, 2)[:, 1:4, 0] != 0, True)
    assert_allclose(short[:, 0], P[:, 0], atol=0.05)


def test_what_a_dropped_term_said_is_said_by_what_remains(problem):
    G, P = problem
    P = P.copy()
    P.reshape(2, 9, 2)[:, 7:, 0] = [0.2, -0.2]
    short = shorten_consequents(G, P, np.ones(300), 3, rho=1e-6)
    assert np.abs(G @ short - G @ P)[:, 0].max() < 0.1


def test_a_label_that_is_short_stays_as_it_is(problem):
    G, P = problem
    assert_array_equal(shorten_consequents(G, P, np.ones(300), 2, rho=1.0)[:, 1], P[:, 1])


def test_sparse_rows_give_the_same_terms(problem):
    G, P = problem
    w = np.linspace(0.5, 2, 300)
    expected = shorten_consequents(G, P, w, 2, rho=1.0)
    assert_allclose(shorten_consequents(FuzzyMap(sparse.csr_array(G.X), G.M), P, w, 2, rho=1.0), expected, rtol=1e-9)


def test_zero_terms_are_not_kept_to_fill_the_number():
    keep = largest_terms(np.array([0.0, 0.0, 2.0, 0.0]), 1, 3)
    assert_array_equal(keep, [True, False, True, False])
