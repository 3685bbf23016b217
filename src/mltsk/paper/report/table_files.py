"""Tables as files: CSV for programs, Markdown and LaTeX for people. The page has its own in templates/table.html."""

import csv
import io
import re
from collections.abc import Sequence

from ..experiments.table import Table, TableCell

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
    >>> from mltsk.paper.experiments.table import TableRow
    >>> table = Table("t", "T", "", ("data set",), ("AP",), (TableRow(("yeast",), (TableCell("0.76", 0.7612),)),))
    >>> to_csv(table).splitlines()[1]
    'yeast,AP,0.76,0.7612,,False,,,,,'
    """
    facts = dict.fromkeys(key for row in table.rows for cell in row.cells for key in cell.facts)
    facts = [key for key in facts if key not in table.heads]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*table.heads, *_LONG, *facts])
    for row in table.rows:
        for column, c in zip(table.columns, row.cells, strict=True):
            notes = [" ".join(table.notes[mark] for mark in marks) for marks in (c.notes, c.paper_notes)]
            numbers = (c.value, c.sd, c.bold, c.paper_value, c.paper_sd, c.difference)
            writer.writerow([*row.heads, column, c.text, *numbers, *notes, *(c.facts.get(key) for key in facts)])
    return buffer.getvalue()


def to_markdown(table: Table) -> str:
    """A table of GitHub's kind under a heading, with caption and notes."""
    header = [_escape_markdown(name) for name in (*table.heads, *table.columns)]
    rows = [[*map(_escape_markdown, row.heads), *map(_markdown_cell, row.cells)] for row in table.rows]
    first, *rest = [f"| {' | '.join(texts)} |" for texts in (header, *rows)]
    notes = [f"{mark}. {_escape_markdown(sentence)}  " for mark, sentence in table.notes.items()]
    lines = [f"## {table.title}", "", table.caption, "", first, "|" + "---|" * len(header), *rest, "", *notes]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_cell(cell: TableCell) -> str:
    text = _escape_markdown(cell.text) + _markdown_marks(cell.notes)
    text = f"**{text}**" if cell.bold else text
    if not cell.paper:
        return text
    gap = "" if cell.difference is None else f", {cell.difference_text}"
    printed = f"~~{cell.paper}~~{_markdown_marks(cell.paper_notes)}" if cell.paper_notes else cell.paper
    return f"{text}<br>[{printed}{gap}]"


def _markdown_marks(marks: Sequence[str]) -> str:
    return f" ^{','.join(marks)}^" if marks else ""


def _escape_markdown(text: str) -> str:
    """Text that stays text in a cell: no markup, no line breaks."""
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", " ".join(text.split()))


def to_latex(table: Table) -> str:
    """A `longtable` with rules of `booktabs`; the first comment names the packages that it needs."""
    grouped = len(table.heads) > 1
    heads = table.heads[grouped:]
    kinds = "".join(r"p{5cm}" if column in table.prose else "r" for column in table.columns)
    header = " & ".join(escape_latex(name) for name in (*heads, *table.columns)) + r" \\"
    title = table.title if table.title.endswith(("?", "!", ".")) else f"{table.title}."
    lines = [
        r"% \usepackage[T1]{fontenc}\usepackage{booktabs,longtable}; wide: set it in landscape",
        r"{\scriptsize\setlength{\tabcolsep}{2.5pt}",
        rf"\begin{{longtable}}{{{'l' * len(heads)}{kinds}}}",
        rf"\caption{{{escape_latex(title)} {escape_latex(table.caption)}}}\label{{tab:{table.key}}}\\",
        rf"\toprule {header} \midrule \endfirsthead",
        rf"\toprule {header} \midrule \endhead",
        r"\bottomrule \endfoot",
    ]
    group = None
    for row in table.rows:
        if grouped and row.heads[0] != group:
            group, width = row.heads[0], len(heads) + len(table.columns)
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{escape_latex(group)}}}}} \\")
        lines += _latex_row(row.heads[grouped:], row.cells)
    notes = [rf"\noindent\textsuperscript{{{m}}}~{escape_latex(s)}\par" for m, s in table.notes.items()]
    return "\n".join([*lines, r"\end{longtable}", *notes, "}"]) + "\n"


def escape_latex(text: str) -> str:
    r"""Text as LaTeX prints it; what no usual font has becomes its code point.

    Examples
    --------
    >>> print(escape_latex("50 % of a_b — χ²"))
    50 \% of a\_b --- $\chi$$^2$
    >>> print(escape_latex("語"))
    \texttt{U+8A9E}
    """
    return "".join(_LATEX.get(letter) or _latex_letter(letter) for letter in text)


def _latex_letter(letter: str) -> str:
    if letter.isascii():
        return letter if letter.isprintable() else " "
    return letter if "\xa0" <= letter <= "\u017f" else rf"\texttt{{U+{ord(letter):04X}}}"


def _latex_row(heads: Sequence[str], cells: Sequence[TableCell]) -> list[str]:
    """Our line, and under it the paper's where it has one."""
    texts = [rf"\textbf{{{escape_latex(c.text)}}}" if c.bold else escape_latex(c.text) for c in cells]
    texts = [text + _latex_marks(cell.notes) for text, cell in zip(texts, cells, strict=True)]
    line = " & ".join([*map(escape_latex, heads), *texts]) + r" \\"
    if not any(cell.paper for cell in cells):
        return [line]
    return [line + "*", " & ".join([*[""] * len(heads), *map(_latex_paper, cells)]) + r" \\[2pt]"]


def _latex_paper(cell: TableCell) -> str:
    gap = "" if cell.difference is None else f"; {escape_latex(cell.difference_text)}"
    return rf"{{[}}{escape_latex(cell.paper)}{_latex_marks(cell.paper_notes)}{gap}]" if cell.paper else ""


def _latex_marks(marks: Sequence[str]) -> str:
    return rf"\textsuperscript{{{','.join(marks)}}}" if marks else ""
