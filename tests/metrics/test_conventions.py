"""Worked rows: 1 a tie, 2 all tied, 3 empty, 4 full, 5 two ties."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.exceptions import InputError
from mltsk.metrics import five_metrics
from mltsk.metrics.conventions import get_convention
from mltsk.metrics.ranked import rank_rows

SCORES = np.array([[0.9, 0.5, 0.5, 0.1], [0, 0, 0, 0], [0.2, 0.8, 0.6, 0.4], [0.3, 0.2, 0.1, 0], [0.7, 0.7, 0.2, 0.2]])
LABELS = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 1, 0]], dtype=bool)
RANKED = rank_rows(LABELS, SCORES)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("average_precision", [1.0, 5 / 6, 0.0, 1.0, 0.75]),
        ("one_error", [0, 0, 1, 0, 0]),
        ("ranking_loss", [0.25, 1, 0, 0, 0.75]),
        ("coverage", [0.5, 0.75, -0.25, 0.75, 0.5]),
    ],
)
def test_rows_of_the_paper_convention(metric, expected):
    assert_allclose(getattr(get_convention("paper"), metric)(RANKED), expected)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("average_precision", [5 / 6, 0.5, 0.0, 1.0, 0.5]),
        ("one_error", [0, 0.5, 1, 0, 0.5]),
        ("ranking_loss", [0.25, 1, 0, 0, 0.75]),
        ("coverage", [0.5, 0.75, -0.25, 0.75, 0.75]),
    ],
)
def test_rows_of_the_standard_convention(metric, expected):
    assert_allclose(getattr(get_convention("standard"), metric)(RANKED), expected)


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
        get_convention("authors")
