import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.core.arrays import spread_rows
from mltsk.core.passes.rows import Block, InMemory, Spread, gather, thinned


def blocks(X, w, lengths):
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    cuts = [slice(s, s + n) for s, n in zip(starts, lengths, strict=True)]
    return InMemory([Block(X[c], X[c], w[c], i, c.start) for i, c in enumerate(cuts)])


def test_means_and_squares_add_up_far_from_zero():
    rng = np.random.default_rng(0)
    X, w = rng.normal(1e6, 1.0, (50, 3)), rng.uniform(0.5, 2, 50)
    parts = Spread.of(X[:7], w[:7]) + Spread.of(X[7:], w[7:])
    assert_allclose(parts.second / parts.weight, np.cov(X.T, aweights=w, ddof=0).diagonal(), rtol=1e-9)


def test_constant_columns_keep_no_spread():
    X = np.full((30, 1), 0.1)
    parts = Spread.of(X[:7], np.full(7, 0.3)) + Spread.of(X[7:], np.full(23, 0.7))
    assert parts.second[0] < 1e-30


def test_products_are_those_of_all_rows():
    rng = np.random.default_rng(1)
    Y, w = rng.random((40, 3)), rng.uniform(0.5, 2, 40)
    parts = Spread.of(Y[:11], w[:11], products=True) + Spread.of(Y[11:], w[11:], products=True)
    assert_allclose(parts.second / parts.weight, np.cov(Y.T, aweights=w, ddof=0), rtol=1e-12)


def test_gathered_rows_are_those_taken_in_memory_whatever_the_blocks():
    X = np.arange(100.0)[:, None]
    rows = blocks(X, np.ones(100), [1, 60, 0, 30, 9])
    (found,) = gather(rows, 100, 17, "rows", lambda block: (block.X,))
    assert_array_equal(found, X[spread_rows(100, 17)])


def test_thinned_rows_are_numbered_anew():
    rows = blocks(np.arange(100.0)[:, None], np.ones(100), [40, 60]).map(thinned, 100, 11)
    assert [block.start for block in rows.blocks] == [0, 5]
    assert_array_equal(np.vstack([block.X for block in rows.blocks]).ravel(), spread_rows(100, 11))


def test_blocks_without_rows_count_for_nothing():
    rows = blocks(np.ones((3, 1)), np.ones(3), [0, 3, 0])
    assert rows.reduce("sum", lambda block: Spread.of(block.X, block.w)).weight == 3
