"""Short IF-parts: which conditions stay, that firing is reproduced, that equal rules merge."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import approx_fprime

from mltsk.core.membership import firing_strengths
from mltsk.core.shorten import _Sets, conditions, distinct_rules, most_distinct, shorten_rules


@pytest.fixture
def rules():
    """Four rules that differ in features 0 and 1 only, over six features."""
    rng = np.random.default_rng(0)
    C = np.zeros((4, 6))
    C[:, :2] = [[2, 2], [2, -2], [-2, 2], [-2, -2]]
    X = C[np.arange(200) % 4] + rng.normal(size=(200, 6))
    return X, np.ones(200), C, np.full((4, 6), 4.0)


def test_the_features_in_which_a_rule_stands_out_are_kept():
    C = np.array([[0.1, 3.0, -2.0], [1.0, 0.2, 0.3]])
    keep = most_distinct(C, np.ones((2, 3)), np.zeros(3), 1)
    assert_array_equal(keep, [[False, True, False], [True, False, False]])


def test_conditions_that_matter_reproduce_the_firing(rules):
    X, w, C, S = rules
    C_short, S_short = shorten_rules(X, w, C, S, 2)
    assert_array_equal(conditions(S_short), np.abs(C) > 0)
    assert_allclose(firing_strengths(X, C_short, S_short), firing_strengths(X, C, S), atol=0.02)


def test_refitting_brings_the_firing_closer_than_dropping_conditions(rules):
    X, w, C, S = rules
    C = C + np.random.default_rng(1).normal(size=C.shape)
    M = firing_strengths(X, C, S)
    keep = most_distinct(C, S, X.mean(axis=0), 2)
    dropped = firing_strengths(X, C, np.where(keep, S, np.inf))
    refitted = firing_strengths(X, *shorten_rules(X, w, C, S, 2))
    surprise = [np.sum(M * np.log(M / R)) for R in (dropped, refitted)]
    assert surprise[1] < 0.8 * surprise[0]


def test_the_slope_of_the_loss_is_its_slope(rules):
    X, w, C, S = rules
    sets = _Sets.of(X, w * np.linspace(1, 2, len(w)), C, most_distinct(C, S, np.zeros(6), 2))
    M, start = firing_strengths(X, C, S), np.concatenate([C[sets.keep], np.full(8, -1.0)])
    t = start + np.random.default_rng(2).normal(scale=0.3, size=start.shape)
    numeric = approx_fprime(t, lambda t: sets._loss(t, M, start)[0], 1e-7)
    assert_allclose(sets._loss(t, M, start)[1], numeric, atol=1e-5)


def test_rules_that_are_short_already_stay(rules):
    X, w, C, S = rules
    assert shorten_rules(X, w, C, S, 6)[0] is C


def test_sparse_rows_and_single_precision_give_the_same_rules(rules):
    X, w, C, S = rules
    expected = shorten_rules(X, w, C, S, 2)
    assert_allclose(shorten_rules(sparse.csr_array(X), w, C, S, 2)[0], expected[0], atol=1e-6)
    single = shorten_rules(*(a.astype(np.float32) for a in (X, w, C, S)), 2)
    assert single[0].dtype == single[1].dtype == np.float32
    assert_allclose(single[0], expected[0], atol=0.01)


def test_a_weight_of_two_is_a_row_given_twice(rules):
    X, w, C, S = rules
    w = np.where(np.arange(200) < 50, 2.0, 1.0)
    twice = np.concatenate([X, X[:50]])
    again = shorten_rules(twice, np.ones(250), C, S, 2)
    assert_allclose(shorten_rules(X, w, C, S, 2)[0], again[0], rtol=1e-5)


def test_of_equal_rules_the_one_that_governs_most_stays():
    M = np.array([[0.2, 0.7, 0.1], [0.1, 0.3, 0.6], [0.02, 0.08, 0.9]])
    kept = distinct_rules(M, np.ones(3), below=0.2)
    assert_array_equal(kept, [1, 2])
    assert_array_equal(distinct_rules(M, np.ones(3), below=0.0), [0, 1, 2])
