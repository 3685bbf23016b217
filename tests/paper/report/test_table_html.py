"""Tables as HTML."""

from html.parser import HTMLParser

import pytest

from mltsk.pages.render import template
from mltsk.paper.experiments.tables import ReportTable, TableCell, TableRow

HOSTILE = '<script>alert(1)</script>"'


def result(value, paper, **more):
    gap = value - paper
    return TableCell(
        f"{value} (0.01)",
        value,
        0.01,
        paper=f"{paper}",
        paper_value=paper,
        difference=gap,
        **more,
    )


def to_html(table):
    return template("table.html", "mltsk.paper.report").module.results(table)


def made(*cells, notes=None, heads=("data set", "metric")):
    names = tuple(f"m{i}" for i in range(len(cells)))
    rows = (
        TableRow(("Yeast", "AP")[-len(heads) :], cells),
        TableRow(("Yeast", "HL")[-len(heads) :], cells),
    )
    return to_html(ReportTable("t", HOSTILE, "", heads, names, rows, notes or {}))


def test_everything_from_outside_is_text():
    page = made(TableCell(HOSTILE, paper=HOSTILE), notes={"a": HOSTILE})
    assert "<script" not in page
    assert (
        page.count("&lt;script&gt;alert(1)&lt;/script&gt;&#34;") == 6
    )  # title, two cells with two each, note


def test_two_headings_make_groups_and_one_does_not():
    assert made(TableCell("1")).count('class="group"') == 1
    assert 'class="group"' not in made(TableCell("1"), heads=("metric",))


@pytest.mark.parametrize(
    ("value", "kind"), [(0.83, "gap close"), (0.85, "gap"), (0.86, "gap far")]
)
def test_differences_are_coloured_by_size(value, kind):
    assert f'<span class="{kind}">' in made(result(value, 0.82))


def test_a_value_that_cannot_be_compared_is_struck_and_not_coloured():
    page = made(result(0.9, 0.0, paper_notes=("a",)), notes={"a": "Ties."})
    assert '<s>.0</s><sup><a href="#t-a">a</a></sup> <span class="gap">' in page
    assert '<li id="t-a"><sup>a</sup> Ties.</li>' in page


def test_the_best_is_bold_without_its_spread():
    assert '<b>.83</b> <span class="sd">(.01)</span>' in made(
        result(0.83, 0.82, bold=True)
    )


def test_tags_are_closed():
    class Outline(HTMLParser):
        stack: list[str] = []  # noqa: RUF012

        def handle_starttag(self, tag, attrs):
            self.stack.append(tag)

        def handle_endtag(self, tag):
            assert self.stack.pop() == tag

    parser = Outline()
    parser.feed(
        made(
            result(0.83, 0.82, bold=True, notes=("a",)),
            TableCell("—"),
            notes={"a": "x"},
        )
    )
    assert parser.stack == []
