"""G as an operator equals G as a matrix, dense and CSR."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk.core.fuzzymap import FuzzyMap, fuzzy_features

from .conftest import assert_tensor_equals


@pytest.fixture(params=["dense", "csr"])
def G(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 7)) * (rng.random((50, 7)) < 0.5)
    if request.param == "csr":
        X = sparse.csr_array(X)
    return FuzzyMap.of(X, rng.normal(size=(3, 7)), rng.uniform(1, 3, (3, 7)))


def test_fuzzy_features_has_the_bias_first():
    X = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    G = fuzzy_features(X, np.array([[0.0, 0], [1, 1]]), np.full((2, 2), 0.5))
    a = 0.982014
    b = 0.017986
    expected = [
        [a, 0, 0, b, 0, 0],
        [0.5, 0.5, 0, 0.5, 0.5, 0],
        [0.5, 0, 0.5, 0.5, 0, 0.5],
        [b, b, b, a, a, a],
    ]
    assert_allclose(G, expected, atol=1e-6)


def test_fuzzymap_has_the_products_of_the_matrix(G):
    rng = np.random.default_rng(1)
    P = rng.normal(size=(24, 4))
    V = rng.normal(size=(50, 4))
    matrix = G.rows()
    assert G.shape == matrix.shape
    assert_allclose(G @ P, matrix @ P, atol=1e-12)
    assert_allclose(G.transpose_matmul(V), matrix.T @ V, atol=1e-12)
    assert_allclose(G.gram(), matrix.T @ matrix, atol=1e-12)
    assert_allclose(G.dual_gram(), matrix @ matrix.T, atol=1e-12)


def test_weighted_fuzzymap_has_the_weighted_gram(G):
    w = np.random.default_rng(2).random(50)
    expected = G.rows().T @ (w[:, None] * G.rows())
    assert_allclose(G.weighted(w).gram(), expected, atol=1e-12)


def test_fuzzymap_products_do_not_depend_on_row_blocks():
    rng = np.random.default_rng(3)
    # two blocks of 64 MB in every product
    G = FuzzyMap(rng.random((20_000, 210)), rng.random((20_000, 2)))
    P = rng.normal(size=(422, 220))
    V = rng.normal(size=(20_000, 220))
    matrix = G.rows()
    assert_allclose(G @ P, matrix @ P, rtol=1e-10, atol=1e-9)
    assert_allclose(G.transpose_matmul(V), matrix.T @ V, rtol=1e-10, atol=1e-9)
    assert_allclose(G.gram(), matrix.T @ matrix, rtol=1e-10, atol=1e-9)


def test_fuzzymap_products_do_not_depend_on_threads(monkeypatch):
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


def test_fuzzymap_products_do_not_make_sparse_rows_dense():
    shape = (4000, 30000)  # dense: 960 MB
    X = sparse.random_array(shape, density=1e-4, format="csr", rng=0)
    G = FuzzyMap(X, np.full((4000, 2), 0.5))
    P = np.ones((2 * 30001, 1))
    tracemalloc.start()
    G.transpose_matmul(G @ P)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def test_fuzzymap_of_tensors_has_the_products_of_arrays(torch):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(160, 6)) + 3
    C = X[:3]
    S = np.full((3, 6), 5.0)
    P = rng.normal(size=(21, 5))
    V = rng.normal(size=(160, 5))
    ours = FuzzyMap.of(X, C, S)
    theirs = FuzzyMap.of(*map(torch.as_tensor, (X, C, S)))
    assert_tensor_equals(theirs @ torch.as_tensor(P), ours @ P)
    product = theirs.transpose_matmul(torch.as_tensor(V))
    assert_tensor_equals(product, ours.transpose_matmul(V))
    assert_tensor_equals(theirs.rows(), ours.rows())


@pytest.mark.parametrize("underflow", ["softmax", "authors", "plain"])
@pytest.mark.parametrize("width", [5.0, 1e-9])
def test_fuzzy_features_of_tensors_are_those_of_arrays(torch, underflow, width):
    X = np.random.default_rng(0).normal(size=(160, 6)) + 3
    C = X[:3]
    S = np.full((3, 6), width) * np.arange(1, 7)
    theirs = fuzzy_features(*map(torch.as_tensor, (X, C, S)), underflow=underflow)
    assert_tensor_equals(theirs, fuzzy_features(X, C, S, underflow=underflow))
