"""Firing strengths: worked numbers and the data that break naive code; members."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk.core.membership import (
    authors_widths,
    common_width,
    exponents,
    firing_strengths,
    rule_distances,
    rule_distinctness,
)

from .conftest import assert_tensor_equals

# firing strengths ---------------------------------------------------------------------


def test_firing_strengths_at_the_corners_of_a_square_are_the_logistic_of_four():
    X = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    C = np.array([[0.0, 0], [1, 1]])
    M = firing_strengths(X, C, np.full((2, 2), 0.5))
    assert_allclose(M[:, 0], [0.982014, 0.5, 0.5, 0.017986], atol=1e-6)


def test_firing_strengths_sum_to_one_far_from_every_rule():
    X = np.full((3, 400), 1e3)  # a naive product of Gaussians gives 0/0 here
    M = firing_strengths(X, np.zeros((2, 400)), np.ones((2, 400)))
    assert_allclose(M.sum(axis=1), 1.0)


def test_firing_strengths_of_the_authors_are_0_where_all_underflow():
    X = np.array([[0.0] * 10, [100.0] * 10])
    M = firing_strengths(X, np.zeros((2, 10)), np.ones((2, 10)), firing="authors")
    assert_allclose(M, [[0.5, 0.5], [0, 0]])


def test_firing_strengths_of_softmax_and_authors_agree_where_nothing_underflows():
    rng = np.random.default_rng(0)
    X = rng.random((20, 3))
    C = rng.random((4, 3))
    S = rng.uniform(0.5, 2, (4, 3))
    authors = firing_strengths(X, C, S, firing="authors")
    assert_allclose(firing_strengths(X, C, S), authors, atol=1e-12)


@pytest.mark.parametrize("same_widths", [True, False])
def test_firing_strengths_of_csr_are_those_of_dense(same_widths):
    rng = np.random.default_rng(1)
    X = rng.random((30, 5)) * (rng.random((30, 5)) < 0.4)
    C = rng.random((3, 5))
    S = np.full((3, 5), 0.7) if same_widths else rng.uniform(0.5, 2, (3, 5))
    sparse_M = firing_strengths(sparse.csr_array(X), C, S)
    assert_allclose(sparse_M, firing_strengths(X, C, S), atol=1e-12)


def test_exponents_do_not_cancel_for_a_constant_feature_of_the_narrowest_width():
    X = np.column_stack([np.linspace(0, 1, 5), np.full(5, 0.3)])
    C = np.array([[0.2, 0.3], [0.8, 0.3]])
    S = authors_widths(np.array([[0.1, 0.0], [0.1, 0.0]]), 1.0)
    expected = (X[:, [0]] - [[0.2, 0.8]]) ** 2 / 0.1
    assert_allclose(exponents(X, C, S), expected, atol=1e-9)


def test_common_width_makes_firing_independent_of_repeated_features():
    rng = np.random.default_rng(2)
    X = rng.random((10, 3))
    C = rng.random((2, 3))
    narrow = np.full((2, 3), common_width(3, 0.1, 0.5))
    wide = np.full((2, 21), common_width(21, 0.1, 0.5))
    repeated = firing_strengths(np.tile(X, 7), np.tile(C, 7), wide)
    assert_allclose(firing_strengths(X, C, narrow), repeated)


def test_firing_strengths_of_the_minimum_are_the_least_membership_that_is_there(torch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    C = rng.normal(size=(3, 4))
    S = rng.random((3, 4)) + 0.5
    S[0, 1] = np.inf
    X[0] = np.nan
    X[1, 2] = np.nan
    each = np.exp(-((X[:, None] - C) ** 2) / S)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # nothing is known of the first
        expected = np.where(np.isnan(each).all(axis=2), 0.0, np.nanmin(each, axis=2))
    ours = firing_strengths(X, C, S, firing="minimum")
    theirs = firing_strengths(*map(torch.as_tensor, (X, C, S)), firing="minimum")
    assert_allclose(ours, expected, atol=1e-12)
    assert_tensor_equals(theirs, expected, atol=1e-12)


@pytest.mark.parametrize("firing", ["softmax", "authors", "plain"])
@pytest.mark.parametrize("width", [5.0, 1e-9])
def test_firing_strengths_and_exponents_of_tensors_are_those_of_arrays(
    torch, firing, width
):
    X = np.random.default_rng(0).normal(size=(160, 6)) + 3
    C = X[:3]
    S = np.full((3, 6), width) * np.arange(1, 7)
    tensors = [torch.as_tensor(array) for array in (X, C, S)]
    theirs = firing_strengths(*tensors, firing=firing)
    assert_tensor_equals(theirs, firing_strengths(X, C, S, firing=firing))
    assert_allclose(exponents(*tensors), exponents(X, C, S), rtol=1e-9, atol=1e-10)


# how much rules differ ----------------------------------------------------------------


def test_rule_distinctness_is_the_mean_total_variation_distance():
    M = np.array([[1.0, 0, 0], [0, 0.5, 0.5]])
    assert_allclose(rule_distances(M), [[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    assert rule_distinctness(M) == pytest.approx(2 / 3)
    assert rule_distinctness(np.ones((4, 1))) == 1.0


def test_rule_distinctness_counts_weights_as_copies():
    M = np.random.default_rng(0).dirichlet(np.ones(3), size=6)
    w = np.array([1.0, 2, 0, 1, 3, 1])
    copies = np.repeat(M, w.astype(int), axis=0)
    assert rule_distinctness(M, w) == pytest.approx(rule_distinctness(copies))
