"""Metrics of each row, with ties and without."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.metrics.ranked_rows import row_metrics

from .tied_rows import LABELS, SCORES


def test_row_metrics_of_the_paper_convention():
    ap, oe, rl, cv = row_metrics(LABELS, SCORES, paper=True)
    assert_allclose(ap, [1.0, 5 / 6, 0.0, 1.0, 0.75])
    assert_allclose(oe, [0, 0, 1, 0, 0])
    assert_allclose(rl, [0.25, 1, 0, 0, 0.75])
    assert_allclose(cv, [0.5, 0.75, -0.25, 0.75, 0.5])


def test_row_metrics_of_the_standard_convention():
    ap, oe, rl, cv = row_metrics(LABELS, SCORES, paper=False)
    assert_allclose(ap, [5 / 6, 0.5, 0.0, 1.0, 0.5])
    assert_allclose(oe, [0, 0.5, 1, 0, 0.5])
    assert_allclose(rl, [0.25, 1, 0, 0, 0.75])
    assert_allclose(cv, [0.5, 0.75, -0.25, 0.75, 0.75])


def rows(scores, labels, paper=False):
    return row_metrics(
        np.atleast_2d(labels).astype(bool),
        np.atleast_2d(np.asarray(scores, dtype=float)),
        paper,
    )


def test_row_metrics_tell_scores_apart_by_their_last_bit():
    above = np.nextafter(1.0, 2.0)
    for low, high in ((1.0, above), (above, np.nextafter(above, 2.0)), (-above, -1.0)):
        assert_allclose(rows([high, low], [1, 0])[:, 0], [1, 0, 0, 0])
        assert_allclose(rows([high, low], [0, 1])[:, 0], [0.5, 1, 1, 0.5])


def test_row_metrics_take_signed_zeros_for_equal():
    assert_allclose(rows([0.0, -0.0], [1, 0]), rows([0.0, 0.0], [1, 0]))


def test_row_metrics_order_infinite_scores():
    assert_allclose(
        rows([np.inf, 0.0, -np.inf, np.inf], [1, 1, 1, 0]),
        rows([2, 1, 0, 2], [1, 1, 1, 0]),
    )


@pytest.mark.parametrize("paper", [True, False])
def test_row_metrics_do_not_depend_on_blocks_or_memory_order(
    paper,
):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 9, size=(400, 200)) / 4.0  # more than one block
    labels = rng.random((400, 200)) < 0.4
    before = scores.copy()
    whole = row_metrics(labels, np.asfortranarray(scores), paper)
    assert_array_equal(whole[:, :99], row_metrics(labels[:99], scores[:99], paper))
    assert_array_equal(whole[:, 99:], row_metrics(labels[99:], scores[99:], paper))
    assert_array_equal(scores, before)  # nothing was written to them


def test_row_metrics_agree_to_the_bit_with_and_without_ties():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(50, 60))
    labels = rng.random((50, 60)) < 0.3
    # Takes the slower way.
    infinite = np.where(scores == scores.max(axis=1, keepdims=True), np.inf, scores)
    for paper in (True, False):
        assert_array_equal(
            row_metrics(labels, infinite, paper), row_metrics(labels, scores, paper)
        )
