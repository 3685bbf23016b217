"""A table as a value: rows of cells that know what they say, what the paper says, and what is to be noted.

Nothing here knows of HTML, Markdown or LaTeX; `mltsk.paper.report` renders it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any


@dataclass(frozen=True)
class TableCell:
    """One cell.

    Attributes
    ----------
    text : str
        What a reader sees of ours.
    value, sd : float, optional
        The same with full precision.
    bold : bool
    paper : str
        What the paper prints in this place; empty when it has nothing.
    paper_value, paper_sd, difference : float, optional
        ``difference`` is ours less the paper's.
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


@dataclass(frozen=True)
class TableRow:
    """Headings of a row, one for each name in `Table.heads`, and its cells, one a column."""

    heads: tuple[str, ...]
    cells: tuple[TableCell, ...]


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    key : str
        Name of its files: lower-case letters, digits and hyphens.
    title : str
    caption : str
        What it shows and how, in sentences.
    heads : tuple of str
        What the headings of a row are called.
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


class Notes:
    """Collects footnotes: the same sentence gets the same mark.

    Examples
    --------
    >>> notes = Notes()
    >>> notes.mark("One."), notes.mark("Two."), notes.mark("One.")
    ('a', 'b', 'a')
    """

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def mark(self, sentence: str) -> str:
        """The mark of a sentence."""
        return self._marks.setdefault(sentence, mark_of(len(self._marks)))

    @property
    def by_mark(self) -> dict[str, str]:
        """Mark to sentence, in order of appearance."""
        return {mark: sentence for sentence, mark in self._marks.items()}


def mark_of(i: int) -> str:
    """The i-th mark: a, b, …, z, aa, ab, …

    Examples
    --------
    >>> mark_of(0), mark_of(25), mark_of(26)
    ('a', 'z', 'aa')
    """
    return ascii_lowercase[i] if i < 26 else mark_of(i // 26 - 1) + ascii_lowercase[i % 26]


def mean_text(mean: float, sd: float | None, digits: int = 3) -> str:
    """A mean with its spread, as the paper sets it.

    Examples
    --------
    >>> mean_text(0.7612, 0.01), mean_text(0.7612, None, 2)
    ('0.761 (0.010)', '0.76')
    """
    number = f"{mean:.{digits}f}"
    return number if sd is None or sd != sd else f"{number} ({sd:.{digits}f})"


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign; a true minus; no sign at zero.

    Examples
    --------
    >>> signed(0.0123), signed(-0.2, 2), signed(0.0001)
    ('+0.012', '−0.20', '0.000')
    """
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")
