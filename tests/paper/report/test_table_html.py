"""Tables as HTML, by the template ``table.html``."""

from html.parser import HTMLParser

import pytest

from mltsk.pages.render import template
from mltsk.paper.experiments.tables import ReportTable, TableCell, TableRow

HOSTILE = '<script>alert(1)</script>"'


def result_cell(value, paper, **more):
    """A finished cell next to the paper's value."""
    return TableCell(
        text=f"{value} (0.01)",
        value=value,
        sd=0.01,
        paper=f"{paper}",
        paper_value=paper,
        difference=value - paper,
        **more,
    )


def table_html(*cells, notes=None, heads=("data set", "metric")):
    """A table of two rows, each with these cells, by the macro ``results``."""
    rows = (
        TableRow(("Yeast", "AP")[-len(heads) :], cells),
        TableRow(("Yeast", "HL")[-len(heads) :], cells),
    )
    table = ReportTable(
        key="t",
        title=HOSTILE,
        caption="",
        heads=heads,
        columns=tuple(f"m{i}" for i in range(len(cells))),
        rows=rows,
        notes=notes or {},
    )
    return template("table.html", "mltsk.paper.report").module.results(table)


def test_results_shows_everything_from_outside_as_text():
    page = table_html(TableCell(HOSTILE, paper=HOSTILE), notes={"a": HOSTILE})
    assert "<script" not in page
    # the title, two cells with two each, and the note
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;&#34;") == 6


def test_results_groups_rows_by_the_first_of_two_headings():
    assert table_html(TableCell("1")).count('class="group"') == 1
    assert 'class="group"' not in table_html(TableCell("1"), heads=("metric",))


@pytest.mark.parametrize(
    ("value", "kind"), [(0.83, "gap close"), (0.85, "gap"), (0.86, "gap far")]
)
def test_results_colours_differences_by_size(value, kind):
    assert f'<span class="{kind}">' in table_html(result_cell(value, 0.82))


def test_results_strikes_what_was_shown_not_to_compare_and_does_not_colour_it():
    cell = result_cell(0.9, 0.0, paper_notes=("a",), paper_struck=True)
    page = table_html(cell, notes={"a": "Ties."})
    assert '<s>.0</s><sup><a href="#t-a">a</a></sup> <span class="gap">' in page
    assert '<li id="t-a"><sup>a</sup> Ties.</li>' in page


def test_results_leaves_what_is_inferred_not_to_compare_unstruck():
    page = table_html(result_cell(0.9, 0.0, paper_notes=("a",)), notes={"a": "Ties."})
    assert "<s>" not in page
    assert '.0<sup><a href="#t-a">a</a></sup> <span class="gap">' in page


def test_results_shows_the_best_in_bold_without_its_spread():
    page = table_html(result_cell(0.83, 0.82, bold=True))
    assert '<b>.83</b> <span class="sd">(.01)</span>' in page


class OpenTags(HTMLParser):
    """Tags that are still open."""

    def __init__(self):
        super().__init__()
        self.names = []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)

    def handle_endtag(self, tag):
        assert self.names.pop() == tag


def test_results_closes_its_tags():
    best = result_cell(0.83, 0.82, bold=True, notes=("a",))
    tags = OpenTags()
    tags.feed(table_html(best, TableCell("—"), notes={"a": "x"}))
    assert tags.names == []
