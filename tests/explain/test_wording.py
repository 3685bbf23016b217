import pytest

from mltsk.explain.wording import fifth, name, number, percent, signed, tail, times


@pytest.mark.parametrize(
    ("x", "words"), [(8.1234, "8.12"), (12345.6, "12,346"), (-0.00012, "-0.00012"), (0.0, "0"), (3e12, "3e+12")]
)
def test_numbers_have_three_digits_that_count(x, words):
    assert number(x) == words


def test_changes_show_their_sign_and_two_digits():
    assert [signed(x) for x in (0.02, -0.0456, 3.0, -1234.5)] == ["+0.020", "-0.046", "+3.0", "-1,234"]


def test_a_share_is_never_rounded_to_all_or_nothing():
    assert [percent(s) for s in (0.0, 0.001, 0.5, 0.999, 1.0)] == ["0 %", "under 1 %", "50 %", "over 99 %", "100 %"]


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (0.199, ("very low", "bottom 20 %")),
        (0.201, ("low", "bottom 21 %")),
        (0.799, ("high", "top 21 %")),
        (0.801, ("very high", "top 20 %")),
    ],
)
def test_the_word_and_the_tail_agree_next_to_a_border(p, words):
    assert (fifth(p), tail(p)) == words


def test_the_middle_fifth_is_near_the_median():
    assert [tail(p) for p in (0.4, 0.5, 0.59)] == ["near the median"] * 3
    assert {fifth(p) for p in (0.4, 0.5, 0.59)} == {"medium"}


def test_ends_of_the_scale_have_words():
    assert (fifth(0.0), tail(0.0)) == ("very low", "bottom 1 %")
    assert (fifth(1.0), tail(1.0)) == ("very high", "top 1 %")


def test_names_cannot_break_lines_or_reach_the_terminal():
    assert name("blood\n\tsugar \x1b[31m") == "blood sugar ?[31m"


def test_one_is_singular():
    assert [times(n, "rule") for n in (0, 1, 1200)] == ["0 rules", "1 rule", "1,200 rules"]
