"""A table as a value: rows of cells that know what they say, what the paper says, and what is to be noted.

Nothing here knows of HTML, Markdown or LaTeX; `mltsk.paper.report` renders it. `captions.toml` has titles and captions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any, NamedTuple

from .published import read_toml


@dataclass(frozen=True)
class TableCell:
    """One cell: what a reader sees of ours, what the paper prints in this place, and marks of the table's notes."""

    text: str
    value: float | None = None  # the text with full precision, as is sd
    sd: float | None = None
    bold: bool = False
    paper: str = ""  # empty when it has nothing
    paper_value: float | None = None
    paper_sd: float | None = None
    difference: float | None = None  # ours less the paper's
    notes: tuple[str, ...] = ()
    paper_notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)  # further columns of the machine-readable form

    @property
    def difference_text(self) -> str:
        """Ours less the paper's, with as many decimals as ours."""
        number = self.text.split(" ")[0]
        return "" if self.difference is None else signed(self.difference, len(number.partition(".")[2]))


class TableRow(NamedTuple):
    """Headings of a row, one for each name in `Table.heads`, and its cells, one per column."""

    heads: tuple[str, ...]
    cells: tuple[TableCell, ...]


class Table(NamedTuple):
    """A table; ``key`` is the name of its files. Rows with two headings are grouped by the first."""

    key: str
    title: str
    caption: str
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    notes: Mapping[str, str] = {}  # mark to sentence
    prose: frozenset[str] = frozenset()  # columns that hold running text, to be set to the left and wrapped


def captioned(
    name: str, rows: Iterable[TableRow], columns: Sequence[str] = (), notes: Mapping[str, str] | None = None,
    key: str = "", **words: Any,
) -> Table:  # fmt: skip
    """The table of that name in `captions.toml`, with ``words`` filled in; its columns are there or given."""
    about = read_toml("captions.toml")["tables"][name]
    title, caption = (about[part].format(**words) for part in ("title", "caption"))
    heads, columns = tuple(about["heads"]), tuple(columns or about["columns"])
    prose = frozenset(about.get("prose", ()))
    return Table(key or name, title, caption, heads, columns, tuple(rows), notes or {}, prose)


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
