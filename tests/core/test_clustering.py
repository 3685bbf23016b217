"""Fuzzy c-means: worked numbers, an oracle, weights, and data that break naive code."""

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

from .conftest import assert_tensor_equals

SQUARE = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
U = np.array([[0.9, 0.6, 0.4, 0.1], [0.1, 0.4, 0.6, 0.9]]).T


def blobs(n=60, d=4, seed=0):
    """Samples around three points: -3, 0 and 3 in every feature."""
    rng = np.random.default_rng(seed)
    groups = [rng.normal(c, 0.3, size=(n // 3, d)) for c in (-3.0, 0.0, 3.0)]
    return np.concatenate(groups)


def test_fcm_step_gives_the_worked_numbers():
    C, new_U, loss = fcm_step(SQUARE, U, np.ones(4), fuzzifier=2.0)
    assert_allclose(C, [[0.276119, 0.126866], [0.723881, 0.873134]], atol=1e-6)
    assert_allclose(new_U[:, 0], [0.933026, 0.608257, 0.391743, 0.066974], atol=1e-6)
    assert loss == pytest.approx(0.832537, abs=1e-6)


def test_variances_have_the_worked_numbers():
    C = np.array([[0.276119, 0.126866], [0.723881, 0.873134]])
    expected = [[0.232958, 0.202662]] * 2
    assert_allclose(variances(SQUARE, C, U, np.ones(4)), expected, atol=1e-6)


def test_fuzzy_c_means_agrees_with_scikit_fuzzy():
    cmeans = pytest.importorskip("skfuzzy").cmeans
    X = blobs()
    ours = fuzzy_c_means(X, 3, max_iter=300, tol=1e-12).centers
    start = np.random.default_rng(1).dirichlet(np.ones(3), size=len(X)).T
    theirs = cmeans(X.T, 3, 2.0, error=1e-10, maxiter=1000, init=start)[0]
    ours = ours[ours[:, 0].argsort()]
    theirs = theirs[theirs[:, 0].argsort()]
    assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("fuzzifier", [1.0, 1.05, 2.0])
def test_fuzzy_c_means_counts_weights_as_copies_in_any_order(fuzzifier):
    X = blobs(seed=2)
    w = np.random.default_rng(3).integers(0, 4, size=len(X))
    copies = np.repeat(X, w, axis=0)[::-1]
    weighted = fuzzy_c_means(X, 4, fuzzifier=fuzzifier, sample_weight=w.astype(float))
    repeated = fuzzy_c_means(copies, 4, fuzzifier=fuzzifier)
    assert_allclose(weighted.centers, repeated.centers, atol=1e-8)


def test_fuzzy_c_means_and_variances_are_the_same_for_csr():
    X = blobs() * (np.random.default_rng(0).random((60, 4)) < 0.5)
    csr = sparse.csr_array(X)
    dense = fuzzy_c_means(X, 3, fuzzifier=1.1)
    thin = fuzzy_c_means(csr, 3, fuzzifier=1.1)
    assert_allclose(dense.centers, thin.centers, atol=1e-8)
    around = (dense.centers, dense.memberships, np.ones(60))
    assert_allclose(variances(X, *around), variances(csr, *around), atol=1e-10)


@pytest.mark.parametrize("fuzzifier", [1.0, 2.0])
def test_fuzzy_c_means_finds_no_more_centres_than_distinct_rows(fuzzifier):
    X = np.repeat(SQUARE, 5, axis=0)
    clustering = fuzzy_c_means(X, 9, fuzzifier=fuzzifier)
    assert clustering.centers.shape == (4, 2)
    assert np.isfinite(clustering.memberships).all()


def test_fuzzy_c_means_of_equal_rows_has_one_centre():
    clustering = fuzzy_c_means(np.full((7, 3), 2.5), 4)
    assert_allclose(clustering.centers, [[2.5, 2.5, 2.5]])


def test_fuzzy_c_means_is_not_disturbed_by_constant_features():
    X = np.column_stack([blobs(), np.full(60, 1e6)])
    with_constant = fuzzy_c_means(X, 3).centers[:, :4]
    assert_allclose(with_constant, fuzzy_c_means(X[:, :4], 3).centers, atol=1e-3)


def test_fcm_step_memberships_are_exact_on_a_centre_and_shared_between_equal_ones():
    X = np.array([[0.0], [1.0], [4.0]])
    start = np.array([[0.0], [0.0], [4.0]])
    U = np.eye(3)[:, [0, 0, 2]] / [[2, 2, 1]]
    _, new_U, _ = fcm_step(X, U, np.ones(3), fuzzifier=1.5, previous=start)
    assert_allclose(new_U[0], [0.5, 0.5, 0.0], atol=1e-12)
    assert np.isfinite(new_U).all()


def test_fuzzy_c_means_from_a_random_start_depends_on_the_seed_alone():
    X = blobs()
    first = fuzzy_c_means(X, 3, init="random", random_state=5)
    second = fuzzy_c_means(X, 3, init="random", random_state=5)
    assert_allclose(first.centers, second.centers, atol=0)


def test_fuzzy_c_means_refuses_an_unknown_start():
    with pytest.raises(ValueError, match="init must be"):
        fuzzy_c_means(blobs(), 3, init="nowhere")


def test_fuzzy_c_means_collapses_in_high_dimension_with_m_2_and_not_with_m_1():
    X = np.random.default_rng(0).random((200, 100))
    with_2 = fuzzy_c_means(X, 3, fuzzifier=2.0, tol=1e-9).centers
    with_1 = fuzzy_c_means(X, 3, fuzzifier=1.0, tol=1e-9).centers
    assert np.ptp(with_2, axis=0).max() < 1e-3
    assert np.ptp(with_1, axis=0).max() > 0.05


def test_spread_centers_lead_to_the_blobs():
    start = spread_centers(blobs(), np.ones(60), 3)
    assert np.ptp(start[:, 0]) > 4
    centers = fuzzy_c_means(blobs(), 3, fuzzifier=1.0, init=start).centers
    assert_allclose(np.sort(centers[:, 0]), [-3, 0, 3], atol=0.3)


def test_mean_nearest_distance_is_per_feature():
    center = np.array([[0.5, 0.5]])
    assert mean_nearest_distance(SQUARE, center, np.ones(4)) == pytest.approx(0.25)


def test_fuzzy_c_means_refuses_a_fuzzifier_below_one():
    with pytest.raises(ValueError, match="at least 1"):
        fuzzy_c_means(SQUARE, 2, fuzzifier=0.9)


@pytest.mark.parametrize("fuzzifier", [1.0, 2.0])
def test_xie_beni_is_its_definition(fuzzifier):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    C = rng.normal(size=(4, 3))
    w = rng.integers(1, 4, 30)
    D2 = ((X[:, None] - C) ** 2).sum(axis=2)
    u = memberships(D2, fuzzifier) ** fuzzifier
    width = 0.0
    for i in range(30):
        for k in range(4):
            width += w[i] * u[i, k] * D2[i, k]
    apart = min(((C[k] - C[i]) ** 2).sum() for k in range(4) for i in range(k))
    index = xie_beni(X, C, fuzzifier=fuzzifier, sample_weight=w)
    assert index == pytest.approx(width / (w.sum() * apart))


def test_xie_beni_is_infinite_for_one_centre_or_two_equal_ones():
    X = np.random.default_rng(0).normal(size=(30, 3))
    assert xie_beni(X, X[:1]) == np.inf
    assert xie_beni(X, X[[0, 1, 0]]) == np.inf


def test_xie_beni_finds_the_number_of_clusters():
    rng = np.random.default_rng(0)
    points = ((0, 0), (4, 0), (0, 4), (4, 4), (8, 8))
    X = np.vstack([rng.normal(point, 0.3, size=(60, 2)) for point in points])
    indices = {}
    for K in range(2, 9):
        centers = fuzzy_c_means(X, K, fuzzifier=1.0).centers
        indices[K] = xie_beni(X, centers, fuzzifier=1.0)
    assert min(indices, key=indices.get) == 5
    Y = (X > 2).astype(int)
    assert MLTSKClassifier("xie-beni", order=0).fit(X, Y).n_rules_ == 5
    assert MLTSKClassifier("xie-beni", scale=None).fit(X, Y).n_rules_ == 5


@pytest.mark.parametrize("fuzzifier", [1.0, 1.1, 2.0])
@pytest.mark.parametrize("init", ["spread", "random"])
def test_fuzzy_c_means_of_tensors_is_that_of_arrays(torch, fuzzifier, init):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 6)) * (rng.random((160, 6)) < 0.9) + 3
    w = rng.integers(1, 4, 160).astype(float)
    options = {"fuzzifier": fuzzifier, "init": init, "random_state": 0}
    ours = fuzzy_c_means(X, 3, sample_weight=w, **options)
    X_tensor = torch.as_tensor(X)
    w_tensor = torch.as_tensor(w)
    theirs = fuzzy_c_means(X_tensor, 3, sample_weight=w_tensor, **options)
    assert theirs.n_iter == ours.n_iter
    assert theirs.loss == pytest.approx(ours.loss, rel=1e-10)
    assert_tensor_equals(theirs.centers, ours.centers, atol=1e-9)
    assert_tensor_equals(theirs.memberships, ours.memberships, atol=1e-8)
    assert_tensor_equals(
        variances(X_tensor, theirs.centers, theirs.memberships, w_tensor),
        variances(X, ours.centers, ours.memberships, w),
        atol=1e-8,
    )
