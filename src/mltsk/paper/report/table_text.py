"""Tables as text: CSV for programs, Markdown and LaTeX for people."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

from ..experiments.table import Table, TableCell, TableRow, signed

_LONG = ("column", "text", "value", "sd", "bold", "paper", "paper_sd", "difference", "notes", "paper_notes")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",  # after a line break these two would be an option of it
    "*": "{*}",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "ε": r"$\varepsilon$",
    "ρ": r"$\rho$",
    "χ": r"$\chi$",
    "²": r"$^2$",
    "∈": r"$\in$",
    "∞": r"$\infty$",
    "−": r"$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "“": "``",
    "”": "''",
    "’": "'",
    "Ȳ": r"$\bar{Y}$",
}


def to_csv(table: Table) -> str:
    """One line a cell, numbers with full precision, notes written out.

    Examples
    --------
    >>> table = Table("t", "T", "", ("data set",), ("AP",), (TableRow(("yeast",), (TableCell("0.76", 0.7612),)),))
    >>> to_csv(table).splitlines()[1]
    'yeast,AP,0.76,0.7612,,False,,,,,'
    """
    facts = list(dict.fromkeys(key for row in table.rows for cell in row.cells for key in cell.facts))
    facts = [key for key in facts if key not in table.heads]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*table.heads, *_LONG, *facts])
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            writer.writerow([*row.heads, *_long(table, column, cell), *(cell.facts.get(key) for key in facts)])
    return buffer.getvalue()


def to_markdown(table: Table) -> str:
    """A table of GitHub's kind under a heading, with caption and notes."""
    lines = [f"## {table.title}", "", table.caption, ""]
    lines.append("| " + " | ".join(map(_escape_markdown, (*table.heads, *table.columns))) + " |")
    lines.append("|" + "---|" * (len(table.heads) + len(table.columns)))
    for row in table.rows:
        texts = (*map(_escape_markdown, row.heads), *map(_markdown_cell, row.cells))
        lines.append("| " + " | ".join(texts) + " |")
    lines += ["", *(f"{mark}. {_escape_markdown(sentence)}" + "  " for mark, sentence in table.notes.items())]
    return "\n".join(lines).rstrip() + "\n"


def to_latex(table: Table) -> str:
    """A `longtable` with rules of `booktabs`; the first comment names the packages that it needs."""
    n, groups = max(len(table.heads) - 1, 0), len(table.heads) > 1
    heads = table.heads[1:] if groups else table.heads
    width = len(heads) + len(table.columns)
    kinds = "".join(r"p{5cm}" if column in table.prose else "r" for column in table.columns)
    header = " & ".join(escape_latex(name) for name in (*heads, *table.columns)) + r" \\"
    lines = [
        r"% \usepackage[T1]{fontenc}\usepackage{booktabs,longtable}; wide: set it in landscape",
        r"{\scriptsize\setlength{\tabcolsep}{2.5pt}",
        rf"\begin{{longtable}}{{{'l' * len(heads)}{kinds}}}",
        rf"\caption{{{escape_latex(_sentence(table.title))} {escape_latex(table.caption)}}}\label{{tab:{table.key}}}\\",
        rf"\toprule {header} \midrule \endfirsthead",
        rf"\toprule {header} \midrule \endhead",
        r"\bottomrule \endfoot",
    ]
    for row, starts in _with_group_starts(table.rows, groups):
        if starts:
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{escape_latex(row.heads[0])}}}}} \\")
        lines += _latex_row(row.heads[n:] if groups else row.heads, row.cells)
    lines.append(r"\end{longtable}")
    lines += [rf"\noindent\textsuperscript{{{m}}}~{escape_latex(s)}\par" for m, s in table.notes.items()]
    return "\n".join([*lines, "}"]) + "\n"


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
    texts = [_latex_cell(cell) for cell in cells]
    lines = [" & ".join([*map(escape_latex, heads), *texts]) + r" \\"]
    if any(cell.paper for cell in cells):
        paper = [_latex_paper(cell) for cell in cells]
        lines = [lines[0] + "*", " & ".join([*[""] * len(heads), *paper]) + r" \\[2pt]"]
    return lines


def _latex_cell(cell: TableCell) -> str:
    text = escape_latex(cell.text)
    return (rf"\textbf{{{text}}}" if cell.bold else text) + _latex_marks(cell.notes)


def _latex_paper(cell: TableCell) -> str:
    if not cell.paper:
        return ""
    gap = "" if cell.difference is None else f"; {escape_latex(difference_text(cell))}"
    return rf"{{[}}{escape_latex(cell.paper)}{_latex_marks(cell.paper_notes)}{gap}]"


def _latex_marks(marks: Sequence[str]) -> str:
    return rf"\textsuperscript{{{','.join(marks)}}}" if marks else ""


def _with_group_starts(rows: Iterable[TableRow], groups: bool) -> Iterable[tuple[TableRow, bool]]:
    """Rows, and whether each begins a group: whether its first heading is another than the one before."""
    before = None
    for row in rows:
        yield row, groups and row.heads[0] != before
        before = row.heads[0] if row.heads else None


def difference_text(cell: TableCell) -> str:
    """Ours less the paper's, with as many decimals as ours.

    Examples
    --------
    >>> [difference_text(TableCell(text, difference=2)) for text in ("0.82 (0.01)", "7")]
    ['+2.00', '+2']
    """
    assert cell.difference is not None
    decimals = re.match(r"[\d,]*\.?(\d*)", cell.text)
    return signed(cell.difference, len(decimals[1]) if decimals else 3)


def _long(table: Table, column: str, cell: TableCell) -> list[object]:
    notes = [" ".join(table.notes[mark] for mark in marks) for marks in (cell.notes, cell.paper_notes)]
    return [column, cell.text, cell.value, cell.sd, cell.bold, cell.paper_value, cell.paper_sd, cell.difference, *notes]


def _markdown_cell(cell: TableCell) -> str:
    text = _escape_markdown(cell.text) + _marks(cell.notes)
    text = f"**{text}**" if cell.bold else text
    if not cell.paper:
        return text
    gap = "" if cell.difference is None else f", {difference_text(cell)}"
    printed = f"~~{cell.paper}~~{_marks(cell.paper_notes)}" if cell.paper_notes else cell.paper
    return f"{text}<br>[{printed}{gap}]"


def _sentence(title: str) -> str:
    return title if title.endswith(("?", "!", ".")) else f"{title}."


def _marks(marks: Sequence[str]) -> str:
    return f" ^{','.join(marks)}^" if marks else ""


def _escape_markdown(text: str) -> str:
    """Text that stays text in a cell: no markup, no line breaks."""
    text = " ".join(text.split())
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", text)
