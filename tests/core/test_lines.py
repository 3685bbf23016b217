"""Lines over the range of a feature have round numbers per round unit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mltsk.core.lines import over_range, per_unit_of, round_unit, rounded_line


def test_over_range_is_said_of_ramps_that_leave_out_little_at_either_end():
    low = np.array([0.0, 0.04, 0.2, 0.0])
    high = np.array([1.0, 0.97, 1.0, 0.8])
    assert_array_equal(over_range(low, high), [True, True, False, False])


@pytest.mark.parametrize(
    ("span", "unit"),
    [(52.0, 10.0), (20.0, 10.0), (10.0, 1.0), (3e-7, 1e-7), (4e12, 1e12)],
)
def test_round_unit_is_the_power_of_ten_below_half_of_a_span(span, unit):
    assert round_unit(span) == unit


@pytest.mark.parametrize("span", [0.0, np.inf, np.nan, 1e-310, 1e305])
def test_round_unit_is_none_where_no_one_would_read_it(span):
    assert round_unit(span) is None
    assert rounded_line(0.12345, span, 3) == 0.123
    assert per_unit_of(0.123, span) is None


@pytest.mark.parametrize("number", [0.68217, -0.0312345, 1.23456, 12.3456])
@pytest.mark.parametrize("span", [52.0, 1.0, 0.031, 9_999.0])
def test_per_unit_of_a_rounded_line_is_what_is_printed(number, span):
    whole = rounded_line(number, span, 3)
    per_unit, unit = per_unit_of(whole, span)
    assert whole == pytest.approx(per_unit * span / unit, rel=1e-12)
    assert whole == pytest.approx(number, abs=1.1e-2)
    assert len(f"{abs(per_unit):.6f}".rstrip("0").partition(".")[2]) <= 4


def test_per_unit_of_other_numbers_is_none():
    assert per_unit_of(0.123, 52.0) is None
    assert per_unit_of(0.0, 52.0) is None
