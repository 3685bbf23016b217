"""The column report: what every column was taken for, and how to say otherwise."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from textwrap import wrap

from mltsk.exceptions import InputError, printable
from mltsk.text import padded, plural, shortened, width_of

REPORT_WIDTH = 80  # characters of a printed line
NAME_WIDTH = 26  # characters of a name or an example, printed
MIN_EXAMPLES_WIDTH = 8  # characters; names are cut for them
HTML_NAME_WIDTH = 80
MAX_REPORT_COLUMNS = 100
MAX_NAMES_OF_NOTE = 8
HEADER = ("column", "kind", "distinct", "missing", "examples", "in the model as")
OVERRULE = (
    "To say otherwise: --number, --nominal, --ordinal (stage: 1 < 2 < 3), --id, "
    "--drop, --missing; in Python, read_table(..., number=...)."
)
# What notes are about, the worst first: rows and cells that are read as something else,
# rows that belong together, columns that are left out, and the rest.
NOTE_SIGNS = (
    *("to overrule", "no value in the file", "fewer cells than"),
    *("the same as an earlier", "kept together", "left out"),
)
_EXAMPLE = re.compile(r" \([^)]*\)")
_COUNT_OF_CELLS = re.compile(r"\b[\d,]+ cells?\b")


@dataclass(frozen=True)
class ColumnSummary:
    """One column of a table, as the report shows it.

    ``model`` says what a model makes of it; ``levels`` are the categories of a nominal
    or ordinal one; ``unit`` is what was taken off its numbers; ``notes`` say what was
    decided or done that the owner of the file may not expect.
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
    unit: str = ""

    @property
    def kind_or_levels(self) -> str | tuple[str, ...]:
        """The kind, or the levels of an ordinal column: what ``kinds=`` takes."""
        return self.levels if self.kind == "ordinal" else self.kind


class ColumnReport(tuple[ColumnSummary, ...]):
    """The columns of a table in the order of the file, printed with notes below.

    What changes most comes first among the notes; each decision names the option that
    overrules it.

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
    gout    label          2  1 (33%)  yes, no   1 of 2 yes
    <BLANKLINE>
    To say otherwise: --number, --nominal, --ordinal (stage: 1 < 2 < 3), --id, --drop,
    --missing; in Python, read_table(..., number=...).
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
        all_notes = [*notes, *_notes_of_columns(report)]
        report.notes = tuple(sorted(all_notes, key=_severity))
        return report

    def with_note(self, note: str) -> "ColumnReport":
        """The same report with one more note on all of the table."""
        report = ColumnReport(self, self.title)
        report.notes = tuple(sorted((*self.notes, note), key=_severity))
        return report

    @property
    def is_plain(self) -> bool:
        """Whether there are numbers and labels alone, without any note."""
        if self.notes:
            return False
        return all(column.kind in ("number", "label") for column in self)

    def __repr__(self) -> str:
        rows = [report_row(column, NAME_WIDTH) for column in self[:MAX_REPORT_COLUMNS]]
        title = _wrapped(printable(self.title), indent="  ")
        lines = [*title, "", *_aligned([HEADER, *rows]), ""]
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


def _severity(note: str) -> int:
    """The place of a note: the worst have the lowest."""
    for place, sign in enumerate(NOTE_SIGNS):
        if sign in note:
            return place
    return len(NOTE_SIGNS)


def _notes_of_columns(columns: Iterable[ColumnSummary]) -> list[str]:
    """A line per note of the columns, with the names of those that share it.

    Notes that differ in their examples, in brackets, are one. So are those that differ
    in how many cells they are about, which is then left out.
    """
    names_of_notes: dict[str, list[str]] = {}
    first_notes: dict[str, str] = {}
    for column in columns:
        for note in column.notes:
            sense = _COUNT_OF_CELLS.sub("cells", _EXAMPLE.sub("", note))
            first = first_notes.setdefault(sense, note)
            if _counts_in(first) != _counts_in(note):
                first_notes[sense] = _COUNT_OF_CELLS.sub("cells", first)
            names = names_of_notes.setdefault(sense, [])
            names.append(cut(column.name, NAME_WIDTH))
    lines = []
    for sense, names in names_of_notes.items():
        shown = ", ".join(names[:MAX_NAMES_OF_NOTE])
        n_more = len(names) - MAX_NAMES_OF_NOTE
        if n_more > 0:
            shown += f" and {n_more} more"
        lines.append(f"{shown}: {first_notes[sense]}")
    return lines


def _counts_in(note: str) -> list[str]:
    return _COUNT_OF_CELLS.findall(note)


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
    """Rows as lines: examples get the room that the others leave, numbers go right.

    Where that is too little, names are cut.
    """
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    distinct = HEADER.index("distinct")
    examples = HEADER.index("examples")
    gaps = 2 * (len(widths) - 1)
    room = REPORT_WIDTH - gaps - (sum(widths) - widths[examples])
    if room < MIN_EXAMPLES_WIDTH:
        widths[0] = max(MIN_EXAMPLES_WIDTH, widths[0] - MIN_EXAMPLES_WIDTH + room)
    widths[examples] = min(widths[examples], max(room, MIN_EXAMPLES_WIDTH))
    lines = []
    for row in rows:
        fitting = list(row)
        fitting[examples] = _first_examples(row[examples], widths[examples])
        cells = [
            padded(cut(cell, width), width)
            for cell, width in zip(fitting, widths, strict=True)
        ]
        cells[distinct] = row[distinct].rjust(widths[distinct])
        lines.append("  ".join(cells).rstrip())
    return lines


def _first_examples(text: str, width: int) -> str:
    """As many examples as there is room for, the first one in any case."""
    while width_of(text) > width and ", " in text:
        text = text.rpartition(", ")[0]
    return text


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Text as lines of a report; the second and later ones are indented."""
    return wrap(text, REPORT_WIDTH, subsequent_indent=indent, break_on_hyphens=False)


class TableError(InputError):
    """A table that cannot be used as it is; ``columns`` is its report."""

    def __init__(self, sentence: str, columns: ColumnReport) -> None:
        super().__init__(sentence)
        self.columns = columns


def cut(text: str, width: int) -> str:
    """Printable text of at most ``width`` columns of a terminal."""
    return shortened(printable(text[: 4 * width]), width)
