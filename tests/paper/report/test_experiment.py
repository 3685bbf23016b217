"""The report of an experiment: complete, escaped, nothing fetched, whatever is missing; its tables as files."""

import csv
import io
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from mltsk.paper.experiments.tables import ReportTable, TableCell, TableRow
from mltsk.paper.report.experiment import escape_latex, table_text, write_report

HOSTILE = "<script>alert(1)</script>"
ODD = r"a_b & 50% #1 {x} ~ ^ $y$ \input{z} <i> | *é* 語 [0]"


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
    assert sorted(p for p in out.rglob("*") if p.is_file()) == sorted(
        paths
    )  # and nothing half-written beside them
    page = outline(paths[0].read_text(encoding="utf-8"))
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert {out / link for link in page.links if not link.startswith("#")} == set(
        paths
    ) - {paths[0]}
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
    methods = {
        "x": {
            "title": HOSTILE,
            "paper": None,
            "params": {"a": HOSTILE},
            "grid": {},
            "settings": 1,
        }
    }
    cells = [failed_cell(HOSTILE, "x", 0, HOSTILE)]
    results = make_results(
        [],
        datasets=(HOSTILE,),
        methods=methods,
        cells=cells,
        missing={HOSTILE: HOSTILE},
    )
    page = write_report(results, tmp_path)[0].read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_a_run_that_has_just_begun_has_a_report(report):
    _, paths = report(rows=[])
    page = paths[0].read_text(encoding="utf-8")
    assert "0 of 4 methods on 0 of 3 data sets so far" in page
    assert "Table VI" in page


def test_the_page_explains_protocol_and_convention(report):
    page = report(protocols=["nested"], convention="standard", datasets=("yeast",))[1][
        0
    ].read_text(encoding="utf-8")
    assert "Inner folds of the training rows choose" in page
    assert "As the authors ran it" not in page
    assert "They follow the standard convention" in page


def test_a_second_report_replaces_the_first(make_results, tmp_path):
    write_report(make_results([], datasets=("yeast",)), tmp_path)
    page = write_report(make_results(datasets=("yeast",)), tmp_path)[0].read_text(
        encoding="utf-8"
    )
    assert "4 methods on 1 data set, all finished" in page


@pytest.fixture
def table():
    cells = (
        TableCell(
            "0.823 (0.012)",
            0.82345678901,
            0.0123,
            True,
            "0.82 (0.01)",
            0.82,
            0.01,
            0.00345678901,
            ("a",),
            ("b",),
        ),
        TableCell("failed", facts={"status": "failed"}),
    )
    rows = (
        TableRow(("Yeast", "AP"), cells),
        TableRow((ODD, "HL"), (TableCell("—"), TableCell(ODD))),
    )
    return ReportTable(
        "t",
        f"T {ODD}",
        f"C {ODD}",
        ("data set", "metric"),
        ("BR", ODD),
        rows,
        {"a": "A.", "b": ODD},
    )


def test_csv_has_a_line_per_cell_with_full_precision_and_whole_notes(table):
    rows = list(csv.DictReader(io.StringIO(table_text(table, "csv"))))
    assert len(rows) == 4
    assert float(rows[0]["value"]) == 0.82345678901
    assert float(rows[0]["difference"]) == 0.00345678901
    assert (rows[0]["notes"], rows[0]["paper_notes"], rows[0]["bold"]) == (
        "A.",
        ODD,
        "True",
    )
    assert (rows[1]["text"], rows[1]["value"], rows[1]["status"]) == (
        "failed",
        "",
        "failed",
    )
    assert rows[2]["data set"] == ODD


def test_markdown_keeps_its_columns_whatever_the_names(table):
    lines = [
        line for line in table_text(table, "md").splitlines() if line.startswith("|")
    ]
    assert {len(re.split(r"(?<!\\)\|", line)) for line in lines} == {6}
    assert "**0.823 (0.012) ^a^**<br>[~~0.82 (0.01)~~ ^b^, +0.003]" in lines[2]
    assert r"\<i\>" in lines[3]


def test_latex_escapes_and_balances(table):
    text = table_text(table, "tex")
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.count(r"\begin{longtable}") == text.count(r"\end{longtable}") == 1
    assert r"\input" not in text
    assert r"\textbf{0.823 (0.012)}\textsuperscript{a}" in text
    body = [
        line
        for line in text.splitlines()
        if "&" in line.replace(r"\&", "") and "multicolumn" not in line
    ]
    assert {line.replace(r"\&", "").count("&") for line in body} == {2}


def test_every_letter_that_latex_reads_as_a_command_is_escaped():
    assert escape_latex("$%&#_") == r"\$\%\&\#\_"
    assert (
        escape_latex("~^\\") == r"\textasciitilde{}\textasciicircum{}\textbackslash{}"
    )
    assert escape_latex("é\n語") == r"é \texttt{U+8A9E}"


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex on this machine"
)
def test_latex_compiles(table, tmp_path):
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs,longtable}\begin{document}"
    (tmp_path / "t.tex").write_text(
        head + table_text(table, "tex") + r"\end{document}", encoding="utf-8"
    )
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
