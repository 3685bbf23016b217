from mltsk.explain.outline import FALL, RISE, Node, Page, left_out, markdown

EVIL = "<script>alert('x')</script>"
PAGE = [Node(f"legend of {EVIL}"), Node("Rule 1", (Node("IF", (Node(EVIL),)), Node("gout +0.2", amount=0.2)))]


class Told(Page):
    def nodes(self, *nodes):
        return [*nodes]


def test_html_escapes_every_sentence():
    page = Told().to_html(*PAGE)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 2


def test_html_draws_amounts_as_bars_of_two_colours():
    page = Told().to_html(Node("x", (Node("a", amount=0.2), Node("b", amount=-0.1), Node("c"))))
    assert "class='up' style='width:8.00em'" in page
    assert "class='down' style='width:4.00em'" in page
    assert page.count("<i ") == 2
    assert RISE in page
    assert FALL in page


def test_markdown_escapes_markup_but_not_underscores_within_names():
    assert markdown("mean_of_x *y* _z_ <b> a|b") == r"mean_of_x \*y\* \_z\_ \<b\> a\|b"
    assert Told().to_markdown(*PAGE).splitlines()[2:6] == ["### Rule 1", "", "- IF", rf"    - {markdown(EVIL)}"]


def test_text_is_indented_and_wrapped():
    lines = Told().to_text(Node("Rule 1", (Node("word " * 60),))).splitlines()
    assert lines[0] == "Rule 1"
    assert all(line.startswith("  ") for line in lines[1:])
    assert max(map(len, lines)) <= 110


def test_what_is_left_out_is_counted():
    assert left_out(7, 5, "label") == (Node("and 2 labels", muted=True),)
    assert left_out(5, 5, "label") == left_out(7, None, "label") == ()
