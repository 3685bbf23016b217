"""Rows of arrays: samples are evenly spread, sums do not depend on blocks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.fit.design import Design, ExceptionRules, Scale
from mltsk.fit.rows import ArrayRows, Block
from mltsk.fit.solve import groups_of_labels


@pytest.fixture
def block():
    rng = np.random.default_rng(0)
    w = rng.integers(0, 3, size=50) * 1.0
    return Block(
        rng.normal(size=(50, 3)), (rng.random((50, 2)) < 0.5) * 1.0, w, np.maximum(w, 1)
    )


def in_parts(block, limit):
    return ArrayRows(
        block.X, block.Y, block.w, block.copies, (50, 2), limit, lambda X, Y: (X, Y)
    )


def test_a_sample_is_evenly_spread(block):
    some = in_parts(block, 10).sample(8)
    assert some.index.tolist() == [0, 7, 14, 21, 28, 35, 42, 49]
    assert_array_equal(some.X, block.X[some.index])
    assert_array_equal(block.take(some.index).copies, some.copies)
    assert len(in_parts(block, 10).sample(60).w) == 50


@pytest.mark.parametrize("limit", [1, 7, 50])
def test_sums_over_blocks_are_those_of_all_rows(block, limit):
    scale, Z = Scale.of(block.X, block.w, "quantile")
    design = Design(scale, ExceptionRules(Z[:4], 2.0, 1, "softmax"), 0.5, 2.0)
    found, rows = in_parts(block, limit).moments(design, np.arange(2)), design.rows(Z)
    assert_allclose(found.H, rows.T @ (block.w[:, None] * rows), atol=1e-10)
    assert_allclose(found.B, rows.T @ (block.w[:, None] * block.Y), atol=1e-10)
    assert found.total == block.w.sum()


def test_labels_of_the_same_weights_go_together(block):
    w = np.column_stack([block.w, np.ones(50), block.w])
    rows = Block(block.X, block.Y[:, [0, 1, 0]], w, np.maximum(w, 1)).all_rows()
    assert sorted(labels.tolist() for labels in groups_of_labels(rows.w, 3)) == [
        [0, 2],
        [1],
    ]
    assert_array_equal(rows.sample(50).of_labels([1]).w, np.ones(50))
    assert [labels.tolist() for labels in groups_of_labels(block.w, 2)] == [[0, 1]]
