"""The report of an experiment: complete, escaped, nothing fetched, whatever is missing."""

from html.parser import HTMLParser

import pytest

from mltsk.paper.report.experiment import write_report

HOSTILE = "<script>alert(1)</script>"


class Outline(HTMLParser):
    """Tags that must be closed, what a browser would fetch, and where links lead."""

    def __init__(self):
        super().__init__()
        self.open, self.sources, self.links, self.ids = [], [], [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert tag not in ("script", "iframe", "object", "link")
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if tag == "a" else []
        self.sources += [attrs[key] for key in ("src", "xlink:href") if key in attrs]
        if tag not in ("meta", "br", "img", "hr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in ("meta", "br", "img", "hr"):
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def outline(page):
    parser = Outline()
    parser.feed(page)
    return parser


@pytest.fixture
def report(make_results, tmp_path):
    """Two protocols, a user's data set and method with hostile names, a failure."""

    def write(**more):
        out = tmp_path / "out"
        return out, write_report(make_results(**more), out)

    return write


def test_every_file_is_there_and_every_link_leads_somewhere(report):
    out, paths = report(protocols=["paper", "nested"], datasets=("emotions", "yeast"))
    assert paths[0] == out / "index.html"
    assert all(path.is_file() for path in paths)
    assert sorted(p for p in out.rglob("*") if p.is_file()) == sorted(paths)  # and nothing half-written beside them
    page = outline(paths[0].read_text(encoding="utf-8"))
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert {out / link for link in page.links if not link.startswith("#")} == set(paths) - {paths[0]}
    assert all(source.startswith(("data:", "#")) for source in page.sources)


def test_the_tables_of_the_paper_are_all_there_in_three_forms(report):
    out, _ = report(datasets=("emotions", "yeast"))
    for key in (
        "table-1",
        "table-2",
        "table-3-paper",
        "table-4-paper",
        "table-5-paper",
        "table-6",
        "ranks-paper-all-methods",
    ):
        for kind in ("csv", "md", "tex"):
            assert (out / "tables" / f"{key}.{kind}").stat().st_size > 100
    assert {p.suffix for p in (out / "figures").iterdir()} == {".svg", ".png"}


def test_names_and_errors_are_text(make_results, failed_cell, tmp_path):
    methods = {"x": {"title": HOSTILE, "paper": None, "params": {"a": HOSTILE}, "grid": {}, "settings": 1}}
    cells = [failed_cell(HOSTILE, "x", 0, HOSTILE)]
    results = make_results([], datasets=(HOSTILE,), methods=methods, cells=cells, missing={HOSTILE: HOSTILE})
    page = write_report(results, tmp_path)[0].read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_a_run_that_has_just_begun_has_a_report(report):
    _, paths = report(rows=[])
    page = paths[0].read_text(encoding="utf-8")
    assert "0 of 4 methods on 0 of 3 data sets so far" in page
    assert "Table VI" in page


def test_the_page_explains_protocol_and_convention(report):
    page = report(protocols=["nested"], convention="standard", datasets=("yeast",))[1][0].read_text(encoding="utf-8")
    assert "Inner folds of the training rows choose" in page
    assert "As the authors ran it" not in page
    assert "They follow the standard convention" in page


def test_a_second_report_replaces_the_first(make_results, tmp_path):
    write_report(make_results([], datasets=("yeast",)), tmp_path)
    page = write_report(make_results(datasets=("yeast",)), tmp_path)[0].read_text(encoding="utf-8")
    assert "4 methods on 1 data set, all finished" in page
