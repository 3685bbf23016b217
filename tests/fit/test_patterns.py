"""Sums for labels that were observed in different rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.fit import patterns
from mltsk.fit.patterns import group_batches, moments_by_group
from mltsk.fit.ridge import Moments
from mltsk.fit.rows import Block

N_ROWS = 600
GROUPS = [np.array([0, 2]), np.array([1]), np.array([3])]


def block_of(*, row_weights, seed=0):
    """Rows whose four labels fall into three groups by the rows that have them."""
    rng = np.random.default_rng(seed)
    Y = rng.integers(0, 2, size=(N_ROWS, 4)) * 1.0
    was_observed = rng.random((N_ROWS, 3)) < (0.9, 0.5, 0.7)
    is_observed = was_observed[:, [0, 1, 0, 2]]
    Y[~is_observed] = np.nan
    return Block(X=Y, Y=Y, w=is_observed * row_weights[:, None])


def assert_sums_of_each_group(block, Phi):
    sums = moments_by_group(Phi, block, GROUPS)
    for labels, moments in zip(GROUPS, sums, strict=True):
        w = block.w[:, labels[0]]
        seen = w > 0
        expected = Moments.of(Phi[seen], block.Y[seen][:, labels], w[seen])
        for name in ("H", "B", "phi", "y", "total"):
            assert_allclose(getattr(moments, name), getattr(expected, name))


@pytest.fixture
def Phi():
    return np.random.default_rng(3).normal(size=(N_ROWS, 7))


def test_moments_by_group_are_those_of_the_rows_in_which_labels_were_observed(Phi):
    weights = np.random.default_rng(4).random(N_ROWS) + 0.5
    assert_sums_of_each_group(block_of(row_weights=weights), Phi)


def test_moments_by_group_know_weights_that_differ_between_labels(Phi):
    block = block_of(row_weights=np.ones(N_ROWS))
    block.w[:, 3] *= 2.5
    assert_sums_of_each_group(block, Phi)


def test_moments_by_group_multiply_each_row_in_which_a_label_was_observed_once(
    Phi, monkeypatch
):
    multiplied = []

    class CountedMoments(Moments):
        @classmethod
        def of(cls, Phi, Y, w, before=None):
            multiplied.append(len(Phi))
            return Moments.of(Phi, Y, w, before)

    monkeypatch.setattr(patterns, "Moments", CountedMoments)
    block = block_of(row_weights=np.ones(N_ROWS))
    moments_by_group(Phi, block, GROUPS)
    assert sum(multiplied) == (block.w > 0).any(axis=1).sum() < N_ROWS


def test_group_batches_take_groups_one_at_a_time_where_their_sums_are_large():
    assert [len(batch) for batch in group_batches(GROUPS, n_columns=10)] == [3]
    assert [len(batch) for batch in group_batches(GROUPS, n_columns=10_000)] == [1] * 3
