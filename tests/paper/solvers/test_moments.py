"""Moments add up, and the operator form answers the same questions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk.core.fuzzymap import FuzzyMap
from mltsk.paper.solvers.moments import MatrixFree, Moments, quadratic


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    G = FuzzyMap(rng.normal(size=(40, 5)), rng.dirichlet(np.ones(3), size=40))
    return G, (rng.random((40, 4)) < 0.3).astype(float), rng.random(40)


def test_moments_are_the_quadratic_loss(rows):
    G, Y, w = rows
    data, P = Moments.of(G, Y, w), np.random.default_rng(1).normal(size=(18, 4))
    loss = 0.5 * np.vdot(P, data.apply(P)) - np.vdot(P, data.B) + 0.5 * data.yy
    assert loss == pytest.approx(0.5 * (w[:, None] * (G.rows() @ P - Y) ** 2).sum())


def test_matrix_free_agrees(rows):
    G, Y, w = rows
    a, b, P = Moments.of(G, Y, w), MatrixFree.of(G, Y, w), np.random.default_rng(2).normal(size=(18, 4))
    assert_allclose(a.apply(P), b.apply(P), atol=1e-12)
    assert_allclose(a.B, b.B)
    assert a.norm == pytest.approx(np.linalg.norm(a.A, 2))
    assert b.norm == pytest.approx(a.norm)


def test_the_gram_matrix_is_not_formed_where_it_would_outweigh_the_data():
    X = sparse.random_array((500, 1000), density=0.01, format="csr", rng=0)
    G = FuzzyMap(X, np.full((500, 8), 1 / 8))
    assert isinstance(quadratic(G, np.ones((500, 3))), MatrixFree)
    small = FuzzyMap(np.ones((5000, 2)), np.ones((5000, 1)))
    assert isinstance(quadratic(small, np.ones((5000, 3))), Moments)


def test_a_map_that_never_fires_has_norm_zero(rows):
    _, Y, _ = rows
    silent = FuzzyMap(np.ones((40, 5)), np.zeros((40, 3)))
    assert Moments.of(silent, Y).norm == MatrixFree.of(silent, Y).norm == 0.0
