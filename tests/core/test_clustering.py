"""Fuzzy c-means: worked numbers, an oracle, weights, and the data that break naive versions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.core.clustering import (
    fcm_step,
    fuzzy_c_means,
    mean_nearest_distance,
    memberships,
    spread_centers,
    variances,
    xie_beni,
)

SQUARE = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
U = np.array([[0.9, 0.6, 0.4, 0.1], [0.1, 0.4, 0.6, 0.9]]).T


def blobs(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.normal(c, 0.3, size=(n // 3, d)) for c in (-3.0, 0.0, 3.0)]
    )


def test_one_step_gives_the_worked_numbers():
    C, new, loss = fcm_step(SQUARE, U, np.ones(4), fuzzifier=2.0)
    assert_allclose(C, [[0.276119, 0.126866], [0.723881, 0.873134]], atol=1e-6)
    assert_allclose(new[:, 0], [0.933026, 0.608257, 0.391743, 0.066974], atol=1e-6)
    assert loss == pytest.approx(0.832537, abs=1e-6)
    assert_allclose(
        variances(SQUARE, C, U, np.ones(4)), [[0.232958, 0.202662]] * 2, atol=1e-6
    )


def test_agrees_with_scikit_fuzzy():
    cmeans = pytest.importorskip("skfuzzy").cmeans
    X = blobs()
    ours = fuzzy_c_means(X, 3, max_iter=300, tol=1e-12)
    start = np.random.default_rng(1).dirichlet(np.ones(3), size=len(X)).T
    theirs = cmeans(X.T, 3, 2.0, error=1e-10, maxiter=1000, init=start)[0]
    assert_allclose(
        ours.centers[ours.centers[:, 0].argsort()],
        theirs[theirs[:, 0].argsort()],
        atol=1e-5,
    )


@pytest.mark.parametrize("fuzzifier", [1.0, 1.05, 2.0])
def test_weights_are_copies_and_order_does_not_matter(fuzzifier):
    X = blobs(seed=2)
    w = np.random.default_rng(3).integers(0, 4, size=len(X))
    copies = np.repeat(X, w, axis=0)[::-1]
    weighted = fuzzy_c_means(X, 4, fuzzifier=fuzzifier, sample_weight=w.astype(float))
    repeated = fuzzy_c_means(copies, 4, fuzzifier=fuzzifier)
    assert_allclose(weighted.centers, repeated.centers, atol=1e-8)


def test_sparse_and_dense_give_the_same_centres():
    X = blobs() * (np.random.default_rng(0).random((60, 4)) < 0.5)
    dense, csr = (
        fuzzy_c_means(X, 3, fuzzifier=1.1),
        fuzzy_c_means(sparse.csr_array(X), 3, fuzzifier=1.1),
    )
    assert_allclose(dense.centers, csr.centers, atol=1e-8)
    w = np.ones(60)
    assert_allclose(
        variances(X, dense.centers, dense.memberships, w),
        variances(sparse.csr_array(X), dense.centers, dense.memberships, w),
        atol=1e-10,
    )


def test_fewer_distinct_rows_than_clusters_gives_fewer_centres():
    X = np.repeat(SQUARE, 5, axis=0)
    for m in (1.0, 2.0):
        found = fuzzy_c_means(X, 9, fuzzifier=m)
        assert found.centers.shape == (4, 2)
        assert np.isfinite(found.memberships).all()


def test_all_rows_equal_is_one_centre():
    found = fuzzy_c_means(np.full((7, 3), 2.5), 4)
    assert_allclose(found.centers, [[2.5, 2.5, 2.5]])


def test_constant_features_do_not_disturb():
    X = np.column_stack([blobs(), np.full(60, 1e6)])
    assert_allclose(
        fuzzy_c_means(X, 3).centers[:, :4],
        fuzzy_c_means(X[:, :4], 3).centers,
        atol=1e-3,
    )


def test_memberships_are_exact_on_a_centre_and_shared_between_equal_ones():
    X = np.array([[0.0], [1.0], [4.0]])
    start = np.array([[0.0], [0.0], [4.0]])
    _, U1, _ = fcm_step(
        X,
        np.eye(3)[:, [0, 0, 2]] / [[2, 2, 1]],
        np.ones(3),
        fuzzifier=1.5,
        previous=start,
    )
    assert_allclose(U1[0], [0.5, 0.5, 0.0], atol=1e-12)
    assert np.isfinite(U1).all()


def test_random_start_depends_on_the_seed_alone():
    X = blobs()
    a, b = (
        fuzzy_c_means(X, 3, init="random", random_state=5).centers for _ in range(2)
    )
    assert_allclose(a, b, atol=0)
    with pytest.raises(ValueError, match="init must be"):
        fuzzy_c_means(X, 3, init="nowhere")


def test_m_2_collapses_in_high_dimension_and_m_1_does_not():
    X = np.random.default_rng(0).random((200, 100))
    spread = [
        np.ptp(fuzzy_c_means(X, 3, fuzzifier=m, tol=1e-9).centers, axis=0).max()
        for m in (2.0, 1.0)
    ]
    assert spread[0] < 1e-3 < 0.05 < spread[1]


def test_the_spread_start_leads_to_the_blobs():
    start = spread_centers(blobs(), np.ones(60), 3)
    assert np.ptp(start[:, 0]) > 4
    centers = fuzzy_c_means(blobs(), 3, fuzzifier=1.0, init=start).centers
    assert_allclose(np.sort(centers[:, 0]), [-3, 0, 3], atol=0.3)


def test_mean_nearest_distance_is_per_feature():
    assert mean_nearest_distance(
        SQUARE, np.array([[0.5, 0.5]]), np.ones(4)
    ) == pytest.approx(0.25)


def test_a_fuzzifier_below_one_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        fuzzy_c_means(SQUARE, 2, fuzzifier=0.9)


@pytest.mark.parametrize("fuzzifier", [1.0, 2.0])
def test_xie_benis_index_is_its_definition(fuzzifier):
    rng = np.random.default_rng(0)
    X, C, w = rng.normal(size=(30, 3)), rng.normal(size=(4, 3)), rng.integers(1, 4, 30)
    D2 = ((X[:, None] - C) ** 2).sum(axis=2)
    u = memberships(D2, fuzzifier) ** fuzzifier
    apart = min(((C[k] - C[i]) ** 2).sum() for k in range(4) for i in range(k))
    expected = sum(w[i] * u[i, k] * D2[i, k] for i in range(30) for k in range(4)) / (
        w.sum() * apart
    )
    assert xie_beni(X, C, fuzzifier=fuzzifier, sample_weight=w) == pytest.approx(
        expected
    )
    assert xie_beni(X, C[:1]) == xie_beni(X, np.vstack([C, C[:1]])) == np.inf


def test_xie_benis_index_finds_the_number_of_clusters():
    rng = np.random.default_rng(0)
    X = np.vstack(
        [
            rng.normal(center, 0.3, size=(60, 2))
            for center in ((0, 0), (4, 0), (0, 4), (4, 4), (8, 8))
        ]
    )
    found = {
        K: xie_beni(X, fuzzy_c_means(X, K, fuzzifier=1.0).centers, fuzzifier=1.0)
        for K in range(2, 9)
    }
    assert min(found, key=found.get) == 5
    clf = MLTSKClassifier("xie-beni", order=0).fit(X, (X > 2).astype(int))
    assert (
        clf.n_rules_,
        MLTSKClassifier("xie-beni", scale=None).fit(X, (X > 2).astype(int)).n_rules_,
    ) == (5, 5)
