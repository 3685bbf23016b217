import numpy as np
import pytest

from mltsk.explain.wording import (
    FALL,
    RISE,
    Node,
    Page,
    left_out,
    name,
    number,
    percent,
    place_words,
    signed,
    summed_up,
    times,
)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (8.1234, "8.12"),
        (12345.6, "12,346"),
        (-0.00012, "-0.00012"),
        (0.0, "0"),
        (3e12, "3e+12"),
    ],
)
def test_numbers_have_three_digits_that_count(x, words):
    assert number(x) == words


def test_changes_show_their_sign_and_two_digits():
    assert [signed(x) for x in (0.02, -0.0456, 3.0, -1234.5)] == [
        "+0.020",
        "-0.046",
        "+3.0",
        "-1,234",
    ]


def test_a_share_is_never_rounded_to_all_or_nothing():
    assert [percent(s) for s in (0.0, 0.001, 0.5, 0.999, 1.0)] == [
        "0 %",
        "under 1 %",
        "50 %",
        "over 99 %",
        "100 %",
    ]


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
def test_the_word_and_the_end_of_the_data_agree_next_to_a_border(percentile, words):
    assert place_words(2.0, percentile) == words


def test_names_cannot_break_lines_or_reach_the_terminal():
    assert name("blood\n\tsugar \x1b[31m") == "blood sugar ?[31m"


def test_one_is_singular():
    assert [times(n, "rule") for n in (0, 1, 1200)] == [
        "0 rules",
        "1 rule",
        "1,200 rules",
    ]


EVIL = "<script>alert('x')</script>"
PAGE = [
    Node(f"legend of {EVIL}"),
    Node("Rule 1", (Node("IF", (Node(EVIL),)), Node("gout +0.2", amount=0.2))),
]


class Told(Page):
    def nodes(self, *nodes):
        return [*nodes]


def test_html_escapes_every_sentence():
    page = Told().to_html(*PAGE)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 2


def test_html_draws_amounts_as_bars_of_two_colours():
    page = Told().to_html(
        Node("x", (Node("a", amount=0.2), Node("b", amount=-0.1), Node("c")))
    )
    assert "class='up' style='width:8.00em'" in page
    assert "class='down' style='width:4.00em'" in page
    assert page.count("<i ") == 2
    assert RISE in page
    assert FALL in page


def test_markdown_escapes_markup_but_not_underscores_within_names():
    assert (
        Told().to_markdown(Node("mean_of_x *y* _z_ <b> a|b"))
        == r"mean_of_x \*y\* \_z\_ \<b\> a\|b"
    )
    lines = Told().to_markdown(*PAGE).splitlines()
    assert lines[2:6] == [
        "### Rule 1",
        "",
        "- IF",
        r"    - \<script\>alert('x')\</script\>",
    ]


def test_text_is_indented_and_wrapped():
    lines = Told().to_text(Node("Rule 1", (Node("word " * 60),))).splitlines()
    assert lines[0] == "Rule 1"
    assert all(line.startswith("  ") for line in lines[1:])
    assert max(map(len, lines)) <= 110


def test_what_is_left_out_is_counted():
    assert left_out(7, 5, "label") == (Node("and 2 labels", muted=True),)
    assert left_out(5, 5, "label") == left_out(7, None, "label") == ()


X21 = np.linspace(0.0, 20.0, 21)


def test_a_rising_curve_is_told_by_where_it_passes_its_average():
    assert summed_up(X21, X21 / 10 - 1) == ("rises", 10.0, 2.0, (20, 0))
    assert summed_up(X21, 1 - X21 / 10) == ("falls", 10.0, -2.0, (20, 0))


def test_a_small_way_back_does_not_make_a_peak():
    kind, _, change, _ = summed_up(
        X21, np.concatenate([np.linspace(-1, 1, 17), np.full(4, 0.8)])
    )
    assert (kind, change) == ("rises", pytest.approx(1.8))


@pytest.mark.parametrize(("sign", "kind"), [(1, "peaks"), (-1, "dips")])
def test_a_curve_that_turns_is_told_by_where(sign, kind):
    assert summed_up(X21, -sign * (X21 - 8) ** 2 / 100)[:3] == (
        kind,
        8.0,
        pytest.approx(sign * 1.44),
    )
