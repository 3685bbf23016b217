"""The report of an experiment: complete, escaped, nothing fetched; tables as files."""

import csv
import io
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import product

import pytest

from mltsk.exceptions import InputError
from mltsk.paper.experiments.tables import ReportTable, TableCell, TableRow
from mltsk.paper.report.experiment import table_text, write_report

HOSTILE = "<script>alert(1)</script>"
ODD = r"a_b & 50% #1 {x} ~ ^ $y$ \input{z} <i> | *é* 語 [0]"
NEVER_CLOSED = ("meta", "br", "img", "hr")
PREAMBLE = (
    r"\documentclass{article}\usepackage[T1]{fontenc}"
    r"\usepackage{booktabs,longtable}\begin{document}"
)


class Outline(HTMLParser):
    """Tags that must be closed, what a browser would fetch, and where links lead."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.sources = []
        self.links = []
        self.ids = []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        assert tag not in ("script", "iframe", "object", "link")
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        for key in ("src", "xlink:href"):
            if key in attributes:
                self.sources.append(attributes[key])
        if tag not in NEVER_CLOSED:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in NEVER_CLOSED:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page_text(paths):
    """The page of a report, from its files."""
    return paths[0].read_text(encoding="utf-8")


def test_write_report_writes_every_file_and_every_link_leads_somewhere(
    make_results, tmp_path
):
    results = make_results(
        protocols=["paper", "nested"], datasets=("emotions", "yeast")
    )
    paths = write_report(results, tmp_path)
    page = Outline()
    page.feed(page_text(paths))
    inside = {link[1:] for link in page.links if link.startswith("#")}
    to_files = {tmp_path / link for link in page.links if not link.startswith("#")}
    assert paths[0] == tmp_path / "index.html"
    # and nothing half-written beside them
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(written) == sorted(paths)
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    assert inside <= set(page.ids)
    assert to_files == set(paths[1:])
    assert all(source.startswith(("data:", "#")) for source in page.sources)


def test_write_report_has_all_tables_of_the_paper_in_three_forms(
    make_results, tmp_path
):
    write_report(make_results(datasets=("emotions", "yeast")), tmp_path)
    keys = (
        "table-1",
        "table-2",
        "table-3-paper",
        "table-4-paper",
        "table-5-paper",
        "table-6",
        "ranks-paper-all-methods",
    )
    for key, kind in product(keys, ("csv", "md", "tex")):
        assert (tmp_path / "tables" / f"{key}.{kind}").stat().st_size > 100
    suffixes = {path.suffix for path in (tmp_path / "figures").iterdir()}
    assert suffixes == {".svg", ".png"}


def test_write_report_shows_names_and_errors_as_text(
    make_results, failed_cell, tmp_path
):
    method = {
        "title": HOSTILE,
        "paper": None,
        "params": {"a": HOSTILE},
        "grid": {},
        "settings": 1,
    }
    results = make_results(
        [],
        datasets=(HOSTILE,),
        methods={"x": method},
        cells=[failed_cell(HOSTILE, "x", 0, HOSTILE)],
        missing={HOSTILE: HOSTILE},
    )
    page = page_text(write_report(results, tmp_path))
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_write_report_of_a_run_that_has_just_begun(make_results, tmp_path):
    page = page_text(write_report(make_results([]), tmp_path))
    assert "0 of 4 methods on 0 of 3 data sets so far" in page
    assert "Table VI" in page


def test_write_report_explains_protocol_and_convention(make_results, tmp_path):
    results = make_results(
        protocols=["nested"], convention="standard", datasets=("yeast",)
    )
    page = page_text(write_report(results, tmp_path))
    assert "Inner folds of the training rows choose" in page
    assert "As the authors ran it" not in page
    assert "They follow the standard convention" in page


def test_write_report_replaces_an_earlier_report(make_results, tmp_path):
    write_report(make_results([], datasets=("yeast",)), tmp_path)
    page = page_text(write_report(make_results(datasets=("yeast",)), tmp_path))
    assert "4 methods on 1 data set, all finished" in page


def test_write_report_refuses_links_before_it_writes_anything(make_results, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "mine").mkdir()
    (out / "figures").symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match="figures is a link that leads elsewhere"):
        write_report(make_results(datasets=("yeast",)), out)
    assert [path.name for path in out.iterdir()] == ["figures"]
    assert not list((tmp_path / "mine").iterdir())


@pytest.fixture
def table():
    """Two rows of two cells, with names that every format could stumble over."""
    finished = TableCell(
        text="0.823 (0.012)",
        value=0.82345678901,
        sd=0.0123,
        bold=True,
        paper="0.82 (0.01)",
        paper_value=0.82,
        paper_sd=0.01,
        difference=0.00345678901,
        notes=("a",),
        paper_notes=("b",),
    )
    failed = TableCell("failed", facts={"status": "failed"})
    return ReportTable(
        key="t",
        title=f"T {ODD}",
        caption=f"C {ODD}",
        heads=("data set", "metric"),
        columns=("BR", ODD),
        rows=(
            TableRow(("Yeast", "AP"), (finished, failed)),
            TableRow((ODD, "HL"), (TableCell("—"), TableCell(ODD))),
        ),
        notes={"a": "A.", "b": ODD},
    )


def test_table_text_as_csv_has_full_precision_and_whole_notes(table):
    rows = list(csv.DictReader(io.StringIO(table_text(table, "csv"))))
    finished, failed, other, _ = rows
    assert float(finished["value"]) == 0.82345678901
    assert float(finished["difference"]) == 0.00345678901
    assert (finished["notes"], finished["paper_notes"]) == ("A.", ODD)
    assert finished["bold"] == "True"
    assert (failed["text"], failed["value"]) == ("failed", "")
    assert failed["status"] == "failed"
    assert other["data set"] == ODD


def test_table_text_as_markdown_keeps_its_columns_whatever_the_names(table):
    text = table_text(table, "md")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.split(r"(?<!\\)\|", line)) for line in lines} == {6}
    assert "**0.823 (0.012) ^a^**<br>[~~0.82 (0.01)~~ ^b^, +0.003]" in lines[2]
    assert r"\<i\>" in lines[3]


def test_table_text_as_latex_escapes_and_balances(table):
    text = table_text(table, "tex")
    without_braces = re.sub(r"\\[{}]", "", text)
    assert without_braces.count("{") == without_braces.count("}")
    assert text.count(r"\begin{longtable}") == text.count(r"\end{longtable}") == 1
    assert r"\input" not in text
    assert r"\textbf{0.823 (0.012)}\textsuperscript{a}" in text
    columns = set()
    for line in text.replace(r"\&", "").splitlines():
        if "&" in line and "multicolumn" not in line:
            columns.add(line.count("&"))
    assert columns == {2}


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex on this machine"
)
def test_table_text_as_latex_compiles(table, tmp_path):
    document = PREAMBLE + table_text(table, "tex") + r"\end{document}"
    (tmp_path / "t.tex").write_text(document, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
