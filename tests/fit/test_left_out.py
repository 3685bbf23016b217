"""Rows that are left out together."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.fit.left_out import (
    blocks_of_groups,
    group_codes,
    rate_shifts,
    residuals_by_factor,
    residuals_by_kept,
    take_groups,
    whole_groups,
)

GROUPS = np.array([0, 1, 0, 2, 2, 2, 3])


def test_group_codes_count_groups_by_their_first_appearance():
    assert group_codes(np.array([7, 3, 7, 5])).tolist() == [0, 1, 0, 2]


def test_take_groups_are_none_where_every_row_is_alone():
    assert take_groups(None, slice(None)) is None
    assert take_groups(GROUPS, np.array([0, 1, 3])) is None
    assert take_groups(GROUPS, np.array([5, 0, 3])).tolist() == [0, 1, 0]


def test_whole_groups_are_all_rows_of_the_groups_of_some():
    assert whole_groups(GROUPS, np.array([2, 6])).tolist() == [0, 2, 6]
    assert whole_groups(None, np.array([2, 6])).tolist() == [2, 6]


def test_blocks_of_groups_cut_no_group_in_two():
    groups = np.random.default_rng(0).integers(0, 40, 500)
    blocks = list(blocks_of_groups(groups, 500, bytes_per_row=10**6))
    assert len(blocks) > 1
    assert_array_equal(np.sort(np.concatenate(blocks)), np.arange(500))
    seen = [set(groups[rows]) for rows in blocks]
    assert sum(len(each) for each in seen) == len(set(groups))


@pytest.mark.parametrize("n_columns", [2, 5])
def test_residuals_by_kept_and_by_factor_solve_each_group(n_columns):
    rng = np.random.default_rng(1)
    A = 0.3 * rng.normal(size=(7, n_columns))
    r = rng.normal(size=(7, 2))
    kept = np.eye(7) - A @ A.T
    expected = np.empty_like(r)
    for group in range(4):
        rows = np.flatnonzero(group == GROUPS)
        expected[rows] = np.linalg.solve(kept[np.ix_(rows, rows)], r[rows])
    assert_allclose(residuals_by_kept(kept, r, GROUPS, least=0.0), expected)
    assert_allclose(residuals_by_factor(A, r, GROUPS, least=0.0), expected)


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["alone", "in groups"])
def test_rate_shifts_are_what_leaving_out_does_to_rates(groups):
    rng = np.random.default_rng(2)
    Y = rng.integers(0, 2, (7, 2)) * 1.0
    w = rng.integers(1, 4, (7, 2)) * 1.0
    shifts = rate_shifts(Y, w, groups)
    codes = np.arange(7) if groups is None else groups
    rates = np.average(Y, axis=0, weights=w)
    for i in range(7):
        others = codes != codes[i]
        without = np.average(Y[others], axis=0, weights=w[others])
        assert_allclose(shifts[i], rates - without)
