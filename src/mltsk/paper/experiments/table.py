"""A table as a value: rows of cells that know what they say, what the paper says, and what is to be noted.

Nothing here knows of HTML, Markdown or LaTeX; `mltsk.paper.report` renders it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any, NamedTuple


@dataclass(frozen=True)
class TableCell:
    """One cell.

    Attributes
    ----------
    text : str
        What a reader sees of ours; ``value`` and ``sd`` are the same with full precision.
    paper : str
        What the paper prints in this place; empty when it has nothing. ``difference`` is ours less the paper's.
    notes, paper_notes : tuple of str
        Marks of the table's notes, about our value and about the paper's.
    facts : mapping
        Further columns of the machine-readable form.
    """

    text: str
    value: float | None = None
    sd: float | None = None
    bold: bool = False
    paper: str = ""
    paper_value: float | None = None
    paper_sd: float | None = None
    difference: float | None = None
    notes: tuple[str, ...] = ()
    paper_notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def difference_text(self) -> str:
        """Ours less the paper's, with as many decimals as ours."""
        number = self.text.split(" ")[0]
        return "" if self.difference is None else signed(self.difference, len(number.partition(".")[2]))


class TableRow(NamedTuple):
    """Headings of a row, one for each name in `Table.heads`, and its cells, one per column."""

    heads: tuple[str, ...]
    cells: tuple[TableCell, ...]


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    key : str
        Name of its files: lower-case letters, digits and hyphens.
    title, caption : str
    heads : tuple of str
        What the headings of a row are called; rows with two headings are grouped by the first.
    columns : tuple of str
    rows : tuple of TableRow
    notes : mapping
        Mark to sentence.
    prose : frozenset of str
        Columns that hold running text, to be set to the left and wrapped.
    """

    key: str
    title: str
    caption: str
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    notes: Mapping[str, str] = field(default_factory=dict)
    prose: frozenset[str] = frozenset()


class Notes(dict[str, str]):
    """Footnotes, mark to sentence: the same sentence gets the same mark."""

    def mark(self, sentence: str) -> str:
        """The mark of a sentence."""
        mark = next((mark for mark, known in self.items() if known == sentence), mark_of(len(self)))
        self[mark] = sentence
        return mark


def mark_of(i: int) -> str:
    """The i-th mark: a, b, …, z, aa, ab, …"""
    return ascii_lowercase[i] if i < 26 else mark_of(i // 26 - 1) + ascii_lowercase[i % 26]


def number(value: float | None, form: str = ".2f", **more: Any) -> TableCell:
    """A cell with a number and its text; a dash where there is none."""
    return TableCell("—") if value is None else TableCell(f"{value:{form}}", float(value), **more)


def mean_text(mean: float, sd: float | None, digits: int = 3) -> str:
    """A mean with its spread, as the paper sets it: 0.761 (0.010)."""
    text = f"{mean:.{digits}f}"
    return text if sd is None or sd != sd else f"{text} ({sd:.{digits}f})"


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign; a true minus; no sign at zero."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")
