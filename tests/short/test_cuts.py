"""Cut points and numbers have few digits."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mltsk.short.cuts import (
    cut_step,
    digits_of,
    digits_of_step,
    round_range,
    weighted_quantiles,
)


@pytest.mark.parametrize(
    ("numbers", "digits"), [([0.0], 2), ([1.234], 2), ([0.0123, 0.001], 3), ([120], 2)]
)
def test_digits_of_numbers_keeps_two_that_count(numbers, digits):
    assert digits_of(np.array(numbers)) == digits


@pytest.mark.parametrize(
    ("values", "step"),
    [([1.0, 2.0, 900.0], 1.0), ([0.01, 0.5, 0.9], 1e-3), ([np.nan], 1.0)],
)
def test_cut_step_is_a_hundredth_of_a_column_and_whole_for_whole_numbers(values, step):
    assert cut_step(np.array(values), np.ones(len(values))) == pytest.approx(step)


def test_weighted_quantiles_are_those_of_copies():
    rng = np.random.default_rng(0)
    x = rng.normal(size=40).round(1)
    w = rng.integers(1, 6, size=40)
    shares = np.linspace(0, 1, 21)
    copies = np.repeat(x, w)
    expected = np.quantile(copies, shares, method="inverted_cdf")
    assert_array_equal(weighted_quantiles(x, w, shares), expected)
    assert_array_equal(weighted_quantiles(x, 7.0 * w, shares), expected)
    assert_array_equal(
        weighted_quantiles(copies, np.ones(len(copies)), shares), expected
    )


def test_digits_of_step_are_those_after_the_point():
    assert [digits_of_step(step) for step in (0.01, 1.0, 100.0)] == [2, 0, -2]


@pytest.mark.parametrize(
    ("ends", "step", "expected"),
    [((26.28, 78.44), 0.1, (26.3, 78.4)), ((18.0, 90.0), 1.0, (18.0, 90.0))],
)
def test_round_range_lies_within_the_data(ends, step, expected):
    assert round_range(*ends, step) == pytest.approx(expected)
