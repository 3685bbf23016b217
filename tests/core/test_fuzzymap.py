"""G as an operator equals G built, dense and CSR, and its Gram matrices are the ones of the formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk.core.fuzzymap import FuzzyMap, fuzzy_features


@pytest.fixture(params=["dense", "csr"])
def G(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 7)) * (rng.random((50, 7)) < 0.5)
    X = X if request.param == "dense" else sparse.csr_array(X)
    return FuzzyMap.of(X, rng.normal(size=(3, 7)), rng.uniform(1, 3, (3, 7)))


def test_fuzzy_features_has_the_bias_first():
    X = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    G = fuzzy_features(X, np.array([[0.0, 0], [1, 1]]), np.full((2, 2), 0.5))
    a, b = 0.982014, 0.017986
    expected = [
        [a, 0, 0, b, 0, 0],
        [0.5, 0.5, 0, 0.5, 0.5, 0],
        [0.5, 0, 0.5, 0.5, 0, 0.5],
        [b, b, b, a, a, a],
    ]
    assert_allclose(G, expected, atol=1e-6)


def test_products_equal_those_of_the_built_matrix(G):
    rng = np.random.default_rng(1)
    P, V, dense = rng.normal(size=(24, 4)), rng.normal(size=(50, 4)), G.rows()
    assert G.shape == dense.shape
    assert_allclose(G @ P, dense @ P, atol=1e-12)
    assert_allclose(G.transpose_matmul(V), dense.T @ V, atol=1e-12)
    assert_allclose(G.gram(), dense.T @ dense, atol=1e-12)
    assert_allclose(G.dual_gram(), dense @ dense.T, atol=1e-12)


def test_weighted_map_has_the_weighted_gram(G):
    w = np.random.default_rng(2).random(50)
    assert_allclose(
        G.weighted(w).gram(), G.rows().T @ (w[:, None] * G.rows()), atol=1e-12
    )


def test_row_blocks_do_not_change_the_result():
    rng = np.random.default_rng(3)
    G = FuzzyMap(
        rng.random((20_000, 210)), rng.random((20_000, 2))
    )  # two blocks of 64 MB in every product
    dense, P, V = G.rows(), rng.normal(size=(422, 220)), rng.normal(size=(20_000, 220))
    for found, expected in (
        (G @ P, dense @ P),
        (G.transpose_matmul(V), dense.T @ V),
        (G.gram(), dense.T @ dense),
    ):
        assert_allclose(found, expected, rtol=1e-10, atol=1e-9)


def test_threads_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(4)
    X = sparse.csr_array(rng.random((2000, 40)) * (rng.random((2000, 40)) < 0.3))
    G = FuzzyMap(X, rng.dirichlet(np.ones(6), size=2000))
    P = rng.normal(size=(6 * 41, 300))
    results = []
    for n in ("1", "3"):
        monkeypatch.setenv("MLTSK_THREADS", n)
        results.append((G @ P, G.transpose_matmul(G @ P)))
    assert_allclose(results[0][0], results[1][0], atol=0)
    assert_allclose(results[0][1], results[1][1], atol=0)


def test_sparse_rows_are_not_made_dense():
    X = sparse.random_array(
        (4000, 30000), density=1e-4, format="csr", rng=0
    )  # dense: 960 MB
    G = FuzzyMap(X, np.full((4000, 2), 0.5))
    import tracemalloc

    P = np.ones((2 * 30001, 1))
    tracemalloc.start()
    G.transpose_matmul(G @ P)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
