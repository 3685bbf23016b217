import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core import clustering as in_memory
from mltsk.core.passes import spread
from mltsk.core.passes.rows import Block, InMemory


def rows_of(X, w):
    cuts = np.array_split(np.arange(len(X)), 4)
    return InMemory([Block(X[c], X[c], w[c], i, c[0]) for i, c in enumerate(cuts)])


@pytest.mark.parametrize("formed", [1000, 2])
@pytest.mark.parametrize("n_clusters", [1, 2, 13])
def test_centres_are_those_of_rows_in_memory(monkeypatch, formed, n_clusters):
    monkeypatch.setattr(spread, "FORMED", formed)  # with and without scatter matrices
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(300, 5)) * [1, 2, 3, 1, 1], rng.uniform(0.5, 2, 300)
    X -= (w @ X) / w.sum()
    found = spread.spread_centers(rows_of(X, w), 5, n_clusters)
    assert_allclose(found, in_memory.spread_centers(X, w, n_clusters), rtol=1e-9, atol=1e-12)


def test_equal_rows_are_not_split():
    X = np.repeat([[1.0, -1.0], [-1.0, 1.0]], 6, axis=0)
    assert len(spread.spread_centers(rows_of(X, np.ones(12)), 2, 5)) == 2


def test_few_scatter_matrices_at_a_time_give_the_same(monkeypatch):
    X = np.random.default_rng(1).normal(size=(200, 4))
    together = spread.spread_centers(rows_of(X, np.ones(200)), 4, 9)
    monkeypatch.setattr(spread, "_ROUND_BYTES", 1)
    assert_allclose(spread.spread_centers(rows_of(X, np.ones(200)), 4, 9), together, rtol=1e-12)
