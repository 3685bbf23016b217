"""Cut points and numbers have few digits."""

import numpy as np
import pytest

from mltsk.short.cuts import cut_step, digits_of, digits_of_step, round_range


@pytest.mark.parametrize(
    ("numbers", "digits"), [([0.0], 3), ([1.234], 3), ([0.0123, 0.001], 4), ([120], 3)]
)
def test_digits_of_numbers_keeps_two_that_count(numbers, digits):
    assert digits_of(np.array(numbers)) == digits


@pytest.mark.parametrize(
    ("values", "step"),
    [([1.0, 2.0, 900.0], 1.0), ([0.01, 0.5, 0.9], 1e-3), ([np.nan], 1.0)],
)
def test_cut_step_is_a_hundredth_of_a_column_and_whole_for_whole_numbers(values, step):
    assert cut_step(np.array(values)) == pytest.approx(step)


def test_digits_of_step_are_those_after_the_point():
    assert [digits_of_step(step) for step in (0.01, 1.0, 100.0)] == [2, 0, -2]


@pytest.mark.parametrize(
    ("ends", "step", "expected"),
    [((26.28, 78.44), 0.1, (26.3, 78.4)), ((18.0, 90.0), 1.0, (18.0, 90.0))],
)
def test_round_range_lies_within_the_data(ends, step, expected):
    assert round_range(*ends, step) == pytest.approx(expected)
