"""Worked rows: 1 a tie, 2 all tied, 3 empty, 4 full, 5 two ties."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.exceptions import InputError
from mltsk.metrics import five_metrics
from mltsk.metrics.conventions import is_paper, row_metrics

SCORES = np.array([[0.9, 0.5, 0.5, 0.1], [0, 0, 0, 0], [0.2, 0.8, 0.6, 0.4], [0.3, 0.2, 0.1, 0], [0.7, 0.7, 0.2, 0.2]])
LABELS = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 1, 0]], dtype=bool)


def test_rows_of_the_paper_convention():
    ap, oe, rl, cv = row_metrics(LABELS, SCORES, paper=True)
    assert_allclose(ap, [1.0, 5 / 6, 0.0, 1.0, 0.75])
    assert_allclose(oe, [0, 0, 1, 0, 0])
    assert_allclose(rl, [0.25, 1, 0, 0, 0.75])
    assert_allclose(cv, [0.5, 0.75, -0.25, 0.75, 0.5])


def test_rows_of_the_standard_convention():
    ap, oe, rl, cv = row_metrics(LABELS, SCORES, paper=False)
    assert_allclose(ap, [5 / 6, 0.5, 0.0, 1.0, 0.5])
    assert_allclose(oe, [0, 0.5, 1, 0, 0.5])
    assert_allclose(rl, [0.25, 1, 0, 0, 0.75])
    assert_allclose(cv, [0.5, 0.75, -0.25, 0.75, 0.75])


def rows(scores, labels, paper=False):
    return row_metrics(np.atleast_2d(labels).astype(bool), np.atleast_2d(np.asarray(scores, dtype=float)), paper)


def test_scores_that_differ_in_the_last_bit_are_told_apart():
    above = np.nextafter(1.0, 2.0)
    for low, high in ((1.0, above), (above, np.nextafter(above, 2.0)), (-above, -1.0)):
        assert_allclose(rows([high, low], [1, 0])[:, 0], [1, 0, 0, 0])
        assert_allclose(rows([high, low], [0, 1])[:, 0], [0.5, 1, 1, 0.5])


def test_signed_zeros_are_equal():
    assert_allclose(rows([0.0, -0.0], [1, 0]), rows([0.0, 0.0], [1, 0]))


def test_infinite_scores_are_ordered():
    assert_allclose(rows([np.inf, 0.0, -np.inf, np.inf], [1, 1, 1, 0]), rows([2, 1, 0, 2], [1, 1, 1, 0]))


@pytest.mark.parametrize("paper", [True, False])
def test_blocks_and_the_order_in_memory_do_not_show_and_scores_are_not_written_to(paper):
    rng = np.random.default_rng(0)
    scores, labels = rng.integers(0, 9, size=(70, 5)) / 4.0, rng.random((70, 5)) < 0.4
    before, whole = scores.copy(), row_metrics(labels, scores, paper)
    assert_array_equal(row_metrics(labels, np.asfortranarray(scores), paper, block=15), whole)
    assert_array_equal(scores, before)


def test_rows_with_and_without_ties_are_counted_to_the_same_bit():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(50, 60)), rng.random((50, 60)) < 0.3
    infinite = np.where(scores == scores.max(axis=1, keepdims=True), np.inf, scores)  # takes the slower way
    for paper in (True, False):
        assert_array_equal(row_metrics(labels, infinite, paper), row_metrics(labels, scores, paper))


def test_paper_averages_leave_out_full_rows_except_for_coverage():
    expected = [2.583333333333333 / 4, 0.55, 0.25, 0.5, 0.45]
    assert_allclose(five_metrics(LABELS, SCORES, convention="paper"), expected)


def test_standard_averages_leave_out_empty_and_full_rows():
    rows = [0, 1, 4]
    expected = five_metrics(LABELS[rows], SCORES[rows])
    got = five_metrics(LABELS, SCORES)
    assert_allclose(got[[0, 2, 3, 4]], expected[[0, 2, 3, 4]])
    assert got[1] == 0.55  # Hamming loss counts every row


def test_a_fold_of_nan_looks_like_a_win_under_the_paper_convention():
    labels = LABELS[[0, 1, 4]]
    tied, nan = (five_metrics(labels, np.full((3, 4), value), convention="paper") for value in (0.0, np.nan))
    assert_allclose(nan[[0, 4]], tied[[0, 4]])  # AP, CV: as if tied
    assert_allclose(nan[[2, 3]], [1.0, 0.0])  # OE: always an error; RL: never one


def test_a_single_nan_ranks_first_but_is_in_no_pair_and_never_the_maximum():
    labels, scores = np.array([[True, False, True, False]]), np.array([[np.nan, 0.9, 0.5, 0.1]])
    ap, _, oe, rl, cv = five_metrics(labels, scores, convention="paper")
    assert_allclose([ap, oe, rl, cv], [(1 + 2 / 3) / 2, 1.0, 1 / 4, 2 / 4])


def test_unknown_conventions_are_refused():
    with pytest.raises(InputError, match="'authors'"):
        is_paper("authors")
