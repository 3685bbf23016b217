"""Rows of arrays: samples are evenly spread, sums do not depend on blocks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.fit.design import Design, ExceptionRules
from mltsk.fit.rows import ArrayRows, Block
from mltsk.fit.scale import Scale


@pytest.fixture
def block():
    rng = np.random.default_rng(0)
    w = rng.integers(0, 3, size=50) * 1.0
    X = rng.normal(size=(50, 3))
    Y = (rng.random((50, 2)) < 0.5) * 1.0
    return Block(X, Y, w)


def array_rows(block, limit):
    """Rows of which at most a number may be held at once."""
    return ArrayRows(
        X=block.X,
        Y=block.Y,
        w=block.w,
        shape=(50, 2),
        limit=limit,
    )


def test_sample_is_evenly_spread(block):
    sample = array_rows(block, limit=10).sample(8)
    assert sample.index.tolist() == [0, 7, 14, 21, 28, 35, 42, 49]
    assert_array_equal(sample.X, block.X[sample.index])


def test_sample_has_no_more_rows_than_there_are(block):
    assert len(array_rows(block, limit=10).sample(60).w) == 50


@pytest.mark.parametrize("limit", [1, 7, 50])
def test_moments_over_blocks_are_those_of_all_rows(block, limit):
    scale, Z = Scale.of(block.X, block.w, "quantile")
    rules = ExceptionRules(Z[:4], width=2.0, order=1, firing="softmax")
    design = Design(scale, rules, term_weights=0.5, rule_weight=2.0)
    moments = array_rows(block, limit).moments(design, np.arange(2))
    Phi = design.rows(Z)
    w = block.w[:, None]
    assert_allclose(moments.H, Phi.T @ (w * Phi), atol=1e-10)
    assert_allclose(moments.B, Phi.T @ (w * block.Y), atol=1e-10)
    assert moments.total == block.w.sum()


def test_of_labels_takes_the_weights_of_these_labels(block):
    w = np.column_stack([block.w, np.ones(50), block.w])
    Y = block.Y[:, [0, 1, 0]]
    rows = Block(X=block.X, Y=Y, w=w).all_rows()
    targets = rows.sample(50).of_labels([1])
    assert_array_equal(targets.Y, block.Y[:, [1]])
    assert_array_equal(targets.w, np.ones(50))
