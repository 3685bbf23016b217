"""Tables as CSV, Markdown and LaTeX."""

import csv
import io
import re
import shutil
import subprocess

import pytest

from mltsk.paper.experiments.tables import Table, TableCell, TableRow
from mltsk.paper.report.table_files import escape_latex, to_csv, to_latex, to_markdown

HOSTILE = r"a_b & 50% #1 {x} ~ ^ $y$ \input{z} <i> | *é* 語 [0]"


@pytest.fixture
def table():
    cells = (
        TableCell(
            "0.823 (0.012)", 0.82345678901, 0.0123, True, "0.82 (0.01)", 0.82, 0.01, 0.00345678901, ("a",), ("b",)
        ),
        TableCell("failed", facts={"status": "failed"}),
    )
    rows = (TableRow(("Yeast", "AP"), cells), TableRow((HOSTILE, "HL"), (TableCell("—"), TableCell(HOSTILE))))
    return Table(
        "t", f"T {HOSTILE}", f"C {HOSTILE}", ("data set", "metric"), ("BR", HOSTILE), rows, {"a": "A.", "b": HOSTILE}
    )


def test_csv_has_a_line_per_cell_with_full_precision_and_whole_notes(table):
    rows = list(csv.DictReader(io.StringIO(to_csv(table))))
    assert len(rows) == 4
    assert float(rows[0]["value"]) == 0.82345678901
    assert float(rows[0]["difference"]) == 0.00345678901
    assert (rows[0]["notes"], rows[0]["paper_notes"], rows[0]["bold"]) == ("A.", HOSTILE, "True")
    assert (rows[1]["text"], rows[1]["value"], rows[1]["status"]) == ("failed", "", "failed")
    assert rows[2]["data set"] == HOSTILE


def test_markdown_keeps_its_columns_whatever_the_names(table):
    lines = [line for line in to_markdown(table).splitlines() if line.startswith("|")]
    assert {len(re.split(r"(?<!\\)\|", line)) for line in lines} == {6}
    assert "**0.823 (0.012) ^a^**<br>[~~0.82 (0.01)~~ ^b^, +0.003]" in lines[2]
    assert r"\<i\>" in lines[3]


def test_latex_escapes_and_balances(table):
    text = to_latex(table)
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.count(r"\begin{longtable}") == text.count(r"\end{longtable}") == 1
    assert r"\input" not in text
    assert r"\textbf{0.823 (0.012)}\textsuperscript{a}" in text
    body = [line for line in text.splitlines() if "&" in line.replace(r"\&", "") and "multicolumn" not in line]
    assert {line.replace(r"\&", "").count("&") for line in body} == {2}


def test_every_letter_that_latex_reads_as_a_command_is_escaped():
    assert escape_latex("$%&#_") == r"\$\%\&\#\_"
    assert escape_latex("~^\\") == r"\textasciitilde{}\textasciicircum{}\textbackslash{}"
    assert escape_latex("é\n語") == r"é \texttt{U+8A9E}"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex on this machine")
def test_latex_compiles(table, tmp_path):
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs,longtable}\begin{document}"
    (tmp_path / "t.tex").write_text(head + to_latex(table) + r"\end{document}", encoding="utf-8")
    done = subprocess.run(["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
