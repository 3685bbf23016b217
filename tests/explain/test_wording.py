import numpy as np
import pytest

from mltsk.exceptions import InputError
from mltsk.explain.wording import (
    exactly,
    fifth,
    margin,
    name,
    number,
    percent,
    place_words,
    positions,
    shortened,
    signed,
)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (8.1234, "8.12"),
        (12345.6, "12,346"),
        (-0.00012, "-0.00012"),
        (0.0, "0"),
        (3e12, "3e+12"),
        (np.nan, "unknown"),
    ],
)
def test_number_has_three_significant_digits(x, words):
    assert number(x) == words


def test_positions_of_a_name_that_occurs_twice_are_both():
    kept = np.array([10, 11, 12])
    places = positions(["a", "b", "a"], ["a", "b"], kept, "label")
    assert places.tolist() == [10, 12, 11]


def test_positions_refuses_a_list_in_place_of_a_name():
    with pytest.raises(InputError, match="no label called"):
        positions(["a", "b"], [["a", "b"]], np.arange(2), "label")


def test_number_that_rounding_may_have_left_is_0_next_to_its_size():
    assert number(-3e-17) == number(1e-6, size=1e9) == "0"
    assert number(-3e-17, size=0) == number(-3e-17, size=1e-15) == "-3e-17"
    assert number(0.0, size=0) == "0"


def test_place_words_keep_the_digits_of_a_small_value():
    assert place_words(2e-15, 0.115) == "very low (2e-15, bottom 12 %)"


def test_exactly_keeps_ten_digits():
    assert [exactly(x) for x in (1.25, 1234567.5, 2e9)] == [
        "1.25",
        "1,234,567.5",
        "2000000000",
    ]


def test_signed_shows_the_sign_and_two_digits():
    assert [signed(x) for x in (0.02, -0.0456, 3.0, -1234.5)] == [
        "+0.020",
        "-0.046",
        "+3.0",
        "-1,234",
    ]


def test_margin_is_nothing_where_the_error_is_not_known():
    assert [margin(x) for x in (0.1, 2.34, None)] == [" ± 0.10", " ± 2.3", ""]


def test_percent_never_rounds_a_share_to_all_or_nothing():
    assert [percent(share) for share in (0.0, 0.001, 0.5, 0.999, 1.0)] == [
        "0 %",
        "under 1 %",
        "50 %",
        "over 99 %",
        "100 %",
    ]


def test_fifth_has_five_words():
    words = [fifth(percentile) for percentile in (0.1, 0.3, 0.5, 0.7, 1.0)]
    assert words == ["very low", "low", "medium", "high", "very high"]


@pytest.mark.parametrize(
    ("percentile", "words"),
    [
        (0.0, "very low (2, bottom 1 %)"),
        (0.199, "very low (2, bottom 20 %)"),
        (0.201, "low (2, bottom 21 %)"),
        (0.4, "medium (2, near the median)"),
        (0.59, "medium (2, near the median)"),
        (0.799, "high (2, top 21 %)"),
        (0.801, "very high (2, top 20 %)"),
        (1.0, "very high (2, top 1 %)"),
    ],
)
def test_place_words_and_the_end_of_the_data_agree_next_to_a_border(percentile, words):
    assert place_words(2.0, percentile) == words


def test_name_cannot_break_lines_or_reach_the_terminal():
    assert name("blood\n\tsugar \x1b[31m") == "blood sugar ?[31m"


def test_shortened_cuts_long_names():
    assert [shortened("bilirubin", length) for length in (9, 5)] == [
        "bilirubin",
        "bili…",
    ]


def test_positions_keeps_all_columns_of_a_name():
    kept = positions(["a", "b", "a"], ["a"], np.array([4, 5, 7]), "feature")
    assert kept.tolist() == [4, 7]


def test_positions_says_what_comes_close_to_an_unknown_name():
    names = ["age", "glucose"]
    with pytest.raises(
        InputError, match="no feature called 'glucos': did you mean 'glucose'"
    ):
        positions(names, ["glucos"], np.arange(2), "feature")
    with pytest.raises(
        InputError, match="no feature called 'zzz': the first of 2 is 'age'"
    ):
        positions(names, ["zzz"], np.arange(2), "feature")
    with pytest.raises(InputError, match="at least one label"):
        positions(names, [], np.arange(2), "label")
