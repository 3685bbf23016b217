"""Tables as files: CSV for programs, Markdown and LaTeX for people. All but CSV are templates."""

import csv
import io
import re
from functools import cache
from typing import Any

from ..experiments.tables import Table

_LONG = ("column", "text", "value", "sd", "bold", "paper", "paper_sd", "difference", "notes", "paper_notes")
# Letters and how LaTeX prints them; [ and * would be an option of a line break before them.
_LETTERS = r"""
\=\textbackslash{} {=\{ }=\} $=\$ &=\& #=\# %=\% _=\_ ^=\textasciicircum{} ~=\textasciitilde{} <=\textless{}
>=\textgreater{} |=\textbar{} "=\textquotedbl{} [={[} *={*} α=$\alpha$ β=$\beta$ γ=$\gamma$ ε=$\varepsilon$ ρ=$\rho$
χ=$\chi$ ²=$^2$ ∈=$\in$ ∞=$\infty$ −=$-$ ≤=$\leq$ ≥=$\geq$ ·=$\cdot$ ×=$\times$ –=-- —=--- …=\ldots{} “=`` ”='' ’='
Ȳ=$\bar{Y}$
"""
_LATEX = dict(pair.split("=", 1) for pair in _LETTERS.split())


def to_csv(table: Table) -> str:
    """One line per cell, numbers with full precision, notes written out.

    Examples
    --------
    >>> from mltsk.paper.experiments.tables import TableCell, TableRow
    >>> table = Table("t", "T", "", ("data set",), ("AP",), (TableRow(("yeast",), (TableCell("0.76", 0.7612),)),))
    >>> to_csv(table).splitlines()[1]
    'yeast,AP,0.76,0.7612,,False,,,,,'
    """
    facts = dict.fromkeys(key for row in table.rows for cell in row.cells for key in cell.facts)
    names = [key for key in facts if key not in table.heads]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*table.heads, *_LONG, *names])
    for row in table.rows:
        for column, c in zip(table.columns, row.cells, strict=True):
            notes = [" ".join(table.notes[mark] for mark in marks) for marks in (c.notes, c.paper_notes)]
            numbers = (c.value, c.sd, c.bold, c.paper_value, c.paper_sd, c.difference)
            writer.writerow([*row.heads, column, c.text, *numbers, *notes, *(c.facts.get(key) for key in names)])
    return buffer.getvalue()


def to_markdown(table: Table) -> str:
    """A table of GitHub's kind under a heading, with caption and notes."""
    return _environment().get_template("table.md").render(table=table).rstrip() + "\n"


def to_latex(table: Table) -> str:
    """A `longtable` with rules of `booktabs`; the first comment names the packages that it needs."""
    return _environment().get_template("table.tex").render(table=table).rstrip() + "\n"


@cache
def _environment() -> Any:
    import jinja2

    signs: dict[str, Any] = {"variable_start_string": "<<", "variable_end_string": ">>"}  # braces belong to LaTeX
    signs |= {"block_start_string": "<%", "block_end_string": "%>", "comment_start_string": "<#"}
    environment = jinja2.Environment(loader=jinja2.PackageLoader(__package__), trim_blocks=True, **signs)
    # text that stays text in a cell: no markup, no line breaks
    environment.filters["markdown"] = lambda text: re.sub(r"([\\`*_|<>\[\]])", r"\\\1", " ".join(text.split()))
    environment.filters["latex"] = escape_latex
    return environment


def escape_latex(text: str) -> str:
    r"""Text as LaTeX prints it; what no usual font has becomes its code point.

    Examples
    --------
    >>> print(escape_latex("50 % of a_b — χ²"))
    50 \% of a\_b --- $\chi$$^2$
    >>> print(escape_latex("語"))
    \texttt{U+8A9E}
    """

    def printed(letter: str) -> str:
        if letter.isascii():
            return letter if letter.isprintable() else " "
        return letter if "\xa0" <= letter <= "\u017f" else rf"\texttt{{U+{ord(letter):04X}}}"

    return "".join(_LATEX.get(letter) or printed(letter) for letter in text)
