"""The column report: what every column was taken for, and how to say otherwise."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from textwrap import wrap

from mltsk.exceptions import InputError, printable
from mltsk.text import plural

REPORT_WIDTH = 100  # characters of a printed line
NAME_WIDTH = 26  # characters of a name or an example, printed
HTML_NAME_WIDTH = 80
MAX_REPORT_COLUMNS = 100
MAX_NAMES_OF_NOTE = 8
HEADER = ("column", "kind", "distinct", "missing", "examples", "in the model as")
OVERRULE = (
    "To say otherwise, name columns in number, nominal, ordinal (stage: 1 < 2 < 3), "
    "id, drop, or words in missing: options of read_table and of the command line."
)


@dataclass(frozen=True)
class ColumnSummary:
    """One column of a table, as the report shows it.

    ``model`` says what a model makes of it; ``levels`` are the categories of a nominal
    or ordinal one; ``notes`` say what was decided or done that the owner of the file
    may not expect.
    """

    name: str
    kind: str
    rows: int
    distinct: int | None = None
    missing: int | None = None
    examples: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    model: str = "left out"

    @property
    def kind_or_levels(self) -> str | tuple[str, ...]:
        """The kind, or the levels of an ordinal column: what ``kinds=`` takes."""
        return self.levels if self.kind == "ordinal" else self.kind


class ColumnReport(tuple[ColumnSummary, ...]):
    """The columns of a table in the order of the file, printed with notes below.

    Examples
    --------
    >>> import pandas as pd
    >>> from mltsk import read_table
    >>> frame = pd.DataFrame({"age": [31, 45, None], "gout": ["yes", "no", None]})
    >>> report = read_table(frame, labels="gout").columns
    >>> print(report)  # doctest: +NORMALIZE_WHITESPACE
    data: 3 rows, 1 feature, 1 label
    <BLANKLINE>
    column  kind    distinct  missing  examples  in the model as
    age     number         2  1 (33%)  31, 45    number
    gout    label          2  1 (33%)  yes, no   label: 1 of 2 yes
    <BLANKLINE>
    To say otherwise, name columns in number, nominal, ordinal (stage: 1 < 2 < 3),
    id, drop, or words in missing: options of read_table and of the command line.
    """

    title: str
    notes: tuple[str, ...]

    def __new__(
        cls,
        columns: Iterable[ColumnSummary],
        title: str = "",
        notes: Iterable[str] = (),
    ) -> "ColumnReport":
        """Columns, a line that says what the table is, and notes on all of it."""
        report = super().__new__(cls, columns)
        report.title = title
        report.notes = (*notes, *_notes_of_columns(report))
        return report

    @property
    def is_plain(self) -> bool:
        """Whether there are numbers and labels alone, without any note."""
        if self.notes:
            return False
        return all(column.kind in ("number", "label") for column in self)

    def __repr__(self) -> str:
        rows = [report_row(column, NAME_WIDTH) for column in self[:MAX_REPORT_COLUMNS]]
        lines = [printable(self.title), "", *_aligned([HEADER, *rows]), ""]
        for note in self._notes():
            lines += _wrapped(note, indent="  ")
        return "\n".join(lines + _wrapped(OVERRULE))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in HEADER)
        body = ""
        for column in self[:MAX_REPORT_COLUMNS]:
            cells = [escape(cell) for cell in report_row(column, HTML_NAME_WIDTH)]
            body += "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
        notes = [escape(note) for note in (*self._notes(), OVERRULE)]
        items = "".join(f"<li>{note}</li>" for note in notes)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<p>{escape(printable(self.title))}</p>{table}<ul>{items}</ul>"

    def _notes(self) -> list[str]:
        """The notes as they are printed, first the one on columns that are not."""
        notes = [printable(note) for note in self.notes]
        n_hidden = len(self) - MAX_REPORT_COLUMNS
        if n_hidden > 0:
            notes.insert(0, f"… and {plural(n_hidden, 'more column')}")
        return notes


def _notes_of_columns(columns: Iterable[ColumnSummary]) -> list[str]:
    """A line per note of the columns, with the names of those that share it."""
    names_of_notes: dict[str, list[str]] = {}
    for column in columns:
        for note in column.notes:
            names = names_of_notes.setdefault(note, [])
            names.append(cut(column.name, NAME_WIDTH))
    lines = []
    for note, names in names_of_notes.items():
        shown = ", ".join(names[:MAX_NAMES_OF_NOTE])
        n_more = len(names) - MAX_NAMES_OF_NOTE
        if n_more > 0:
            shown += f" and {n_more} more"
        lines.append(f"{shown}: {note}")
    return lines


def report_row(column: ColumnSummary, width: int) -> tuple[str, ...]:
    """The cells of a column in the report, in the order of HEADER."""
    missing = "" if column.missing is None else "-"
    if column.missing:
        percent = round(100 * column.missing / column.rows) or "<1"
        missing = f"{column.missing:,} ({percent}%)"
    return (
        cut(column.name, width),
        column.kind,
        "" if column.distinct is None else f"{column.distinct:,}",
        missing,
        ", ".join(cut(text, width) for text in column.examples),
        column.model,
    )


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows as lines: examples get the room that the others leave, numbers go right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    distinct = HEADER.index("distinct")
    examples = HEADER.index("examples")
    gaps = 2 * (len(widths) - 1)
    room = REPORT_WIDTH - gaps - (sum(widths) - widths[examples])
    widths[examples] = min(widths[examples], max(room, len("examples")))
    lines = []
    for row in rows:
        cells = [
            cut(cell, width).ljust(width)
            for cell, width in zip(row, widths, strict=True)
        ]
        cells[distinct] = row[distinct].rjust(widths[distinct])
        lines.append("  ".join(cells).rstrip())
    return lines


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Text as lines of a report; the second and later ones are indented."""
    return wrap(text, REPORT_WIDTH, subsequent_indent=indent, break_on_hyphens=False)


class TableError(InputError):
    """A table that cannot be used as it is; ``columns`` is its report."""

    def __init__(self, sentence: str, columns: ColumnReport) -> None:
        super().__init__(sentence)
        self.columns = columns


def cut(text: str, width: int) -> str:
    """Printable text of at most ``width`` characters."""
    text = printable(text[: 4 * width])
    return text if len(text) <= width else f"{text[: width - 1]}…"
