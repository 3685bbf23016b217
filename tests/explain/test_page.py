import pytest

from mltsk.explain.page import FALL, RISE, Node, Page, largest_amount, left_out

EVIL = "<script>alert('x')</script>"
PAGE = [
    Node(f"legend of {EVIL}"),
    Node("Rule 1", (Node("IF", (Node(EVIL),)), Node("gout +0.2", amount=0.2))),
]


class Outline(Page):
    def nodes(self, *nodes):
        return [*nodes]


def test_to_html_escapes_every_sentence():
    page = Outline().to_html(*PAGE)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 2


def test_to_html_draws_amounts_as_bars_of_two_colours():
    children = (Node("a", amount=0.2), Node("b", amount=-0.1), Node("c"))
    page = Outline().to_html(Node("x", children))
    assert "class='up' style='width:8.00em'" in page
    assert "class='down' style='width:4.00em'" in page
    assert page.count("<i ") == 2
    assert RISE in page
    assert FALL in page


def test_to_markdown_escapes_markup_but_not_underscores_within_names():
    escaped = Outline().to_markdown(Node("mean_of_x *y* _z_ <b> a|b"))
    assert escaped == r"mean_of_x \*y\* \_z\_ \<b\> a\|b"
    lines = Outline().to_markdown(*PAGE).splitlines()
    assert lines[2:6] == [
        "### Rule 1",
        "",
        "- IF",
        r"    - \<script\>alert('x')\</script\>",
    ]


def test_to_text_is_indented_and_wrapped():
    lines = Outline().to_text(Node("Rule 1", (Node("word " * 60),))).splitlines()
    assert lines[0] == "Rule 1"
    assert all(line.startswith("  ") for line in lines[1:])
    assert max(map(len, lines)) <= 110


def test_left_out_counts_what_is_not_shown():
    assert left_out(7, 5, "label") == (Node("and 2 labels", muted=True),)
    assert left_out(5, 5, "label") == left_out(7, None, "label") == ()


@pytest.mark.parametrize(("nodes", "amount"), [(PAGE, 0.2), (PAGE[:1], 0.0)])
def test_largest_amount_looks_at_all_nodes_of_all_trees(nodes, amount):
    assert largest_amount(nodes) == amount
