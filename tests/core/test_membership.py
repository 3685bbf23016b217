"""Firing strengths: worked numbers, far away, underflow, cancellation; and who is in a rule."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk.core.membership import (
    Members,
    authors_widths,
    common_width,
    exponents,
    firing_strengths,
    rule_distances,
    rule_distinctness,
)


def test_corners_of_the_square_give_the_logistic_of_four():
    X = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    C = np.array([[0.0, 0], [1, 1]])
    M = firing_strengths(X, C, np.full((2, 2), 0.5))
    assert_allclose(M[:, 0], [0.982014, 0.5, 0.5, 0.017986], atol=1e-6)


def test_firing_strengths_sum_to_one_far_from_every_rule():
    X = np.full((3, 400), 1e3)  # a naive product of Gaussians gives 0/0 here
    assert_allclose(
        firing_strengths(X, np.zeros((2, 400)), np.ones((2, 400))).sum(axis=1), 1.0
    )


def test_authors_underflow_zeroes_the_row():
    X = np.array([[0.0] * 10, [100.0] * 10])
    M = firing_strengths(X, np.zeros((2, 10)), np.ones((2, 10)), firing="authors")
    assert_allclose(M, [[0.5, 0.5], [0, 0]])


def test_the_two_ways_agree_where_nothing_underflows():
    rng = np.random.default_rng(0)
    X, C, S = rng.random((20, 3)), rng.random((4, 3)), rng.uniform(0.5, 2, (4, 3))
    assert_allclose(
        firing_strengths(X, C, S),
        firing_strengths(X, C, S, firing="authors"),
        atol=1e-12,
    )


@pytest.mark.parametrize("same", [True, False])
def test_sparse_equals_dense(same):
    rng = np.random.default_rng(1)
    X = rng.random((30, 5)) * (rng.random((30, 5)) < 0.4)
    C, S = (
        rng.random((3, 5)),
        np.full((3, 5), 0.7) if same else rng.uniform(0.5, 2, (3, 5)),
    )
    assert_allclose(
        firing_strengths(sparse.csr_array(X), C, S),
        firing_strengths(X, C, S),
        atol=1e-12,
    )


def test_constant_feature_with_the_narrowest_width_does_not_cancel():
    X = np.column_stack([np.linspace(0, 1, 5), np.full(5, 0.3)])
    C = np.array([[0.2, 0.3], [0.8, 0.3]])
    S = authors_widths(np.array([[0.1, 0.0], [0.1, 0.0]]), 1.0)
    assert_allclose(
        exponents(X, C, S), (X[:, [0]] - [[0.2, 0.8]]) ** 2 / 0.1, atol=1e-9
    )


def test_common_width_makes_firing_independent_of_repeated_features():
    rng = np.random.default_rng(2)
    X, C = rng.random((10, 3)), rng.random((2, 3))
    M1 = firing_strengths(X, C, np.full((2, 3), common_width(3, 0.1, 0.5)))
    M2 = firing_strengths(
        np.tile(X, 7), np.tile(C, 7), np.full((2, 21), common_width(21, 0.1, 0.5))
    )
    assert_allclose(M1, M2)


def test_distinctness_is_the_mean_total_variation_distance():
    M = np.array([[1.0, 0, 0], [0, 0.5, 0.5]])
    assert_allclose(rule_distances(M), [[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    assert rule_distinctness(M) == pytest.approx(2 / 3)
    assert rule_distinctness(np.ones((4, 1))) == 1.0


def test_distinctness_counts_weights_as_copies():
    M = np.random.default_rng(0).dirichlet(np.ones(3), size=6)
    w = np.array([1.0, 2, 0, 1, 3, 1])
    assert rule_distinctness(M, w) == pytest.approx(
        rule_distinctness(np.repeat(M, w.astype(int), axis=0))
    )


def test_the_minimum_of_conditions_is_the_least_of_what_is_there():
    rng = np.random.default_rng(0)
    X, C, S = (
        rng.normal(size=(20, 4)),
        rng.normal(size=(3, 4)),
        rng.random((3, 4)) + 0.5,
    )
    S[0, 1], X[0], X[1, 2] = np.inf, np.nan, np.nan
    each = np.exp(-((X[:, None] - C) ** 2) / S)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # nothing is known of the first
        expected = np.where(np.isnan(each).all(axis=2), 0.0, np.nanmin(each, axis=2))
    assert_allclose(firing_strengths(X, C, S, firing="minimum"), expected, atol=1e-12)
    torch = pytest.importorskip("torch")
    assert_allclose(
        firing_strengths(*map(torch.as_tensor, (X, C, S)), firing="minimum"),
        expected,
        atol=1e-12,
    )


# members --------------------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(40, 3)), 1)
X[RNG.random(X.shape) < 0.2] = np.nan
X[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, X[:, 2] > 0)  # stands for a word
M, Y = (
    RNG.random((40, 4)) * [1.0, 0.9, 0.52, 0.3],
    (RNG.random((40, 2)) < 0.4).astype(float),
)
W = RNG.integers(0, 2, (40, 2)).astype(float)


@pytest.mark.parametrize("w", [np.ones(40), W[:, 0], W])
@pytest.mark.parametrize("shared", [False, True])
def test_counts_are_those_of_a_loop_over_the_samples(w, shared):
    found = Members.of(
        X, M, Y, w, shared=shared, indicators=np.array([False, False, True])
    )
    seen = np.broadcast_to(w.reshape(40, -1) > 0, (40, 2))
    rows = [i for i in range(40) if seen[i].any()]
    for k in range(5):
        inside = [
            i
            for i in rows
            if k == 4 or (M[i, k] == M[i].max() if shared else M[i, k] >= 0.5)
        ]
        if len(inside) < 5:
            inside = sorted(rows, key=lambda i: -M[i, k])[:5]
        assert found.count[k] == len(inside)
        for label in range(2):
            observed = [i for i in inside if seen[i, label]]
            assert found.observed[k, label] == len(observed)
            assert found.positives[k, label] == sum(Y[i, label] for i in observed)
        for d in range(2):
            values = np.sort([X[i, d] for i in inside if X[i, d] == X[i, d]])
            low, high = found.regions[k, d]
            assert {low, high} <= set(values)
            assert np.mean((values >= low) & (values <= high)) >= 0.8
            assert max((values < low).mean(), (values > high).mean()) <= 0.1
        words = [X[i, 2] for i in inside if X[i, 2] == X[i, 2]]
        assert found.regions[k, 2].tolist() == [sum(words), len(words)]


def test_what_no_member_has_has_no_region_and_sparse_samples_have_none():
    gone = np.full((6, 1), np.nan)
    assert np.isnan(
        Members.of(gone, np.eye(6), np.ones((6, 1)), np.ones(6), shared=False).regions
    ).all()
    found = Members.of(
        sparse.csr_array(np.eye(6)), np.ones((6, 0)), np.eye(6), np.ones(6), shared=True
    )
    assert found.regions is None
    assert_array_equal(found.positives, np.ones((1, 6)))
