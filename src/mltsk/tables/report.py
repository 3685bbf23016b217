"""The column report: what every column of a table was taken for, and what can be said otherwise."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from itertools import chain
from textwrap import wrap

from mltsk.exceptions import InputError, printable

from .cells import count

WIDTH, NAME, LINES = (
    100,
    26,
    100,
)  # of a printed report, of a name in it, and the columns that it shows
HEADER = ("column", "kind", "distinct", "missing", "examples", "in the model as")
OVERRULE = (
    "To say otherwise, name columns in number, nominal, ordinal (stage: 1 < 2 < 3), id, drop, or words in missing: "
    "options of read_table and of the command line."
)


@dataclass(frozen=True)
class Column:
    """One column of a table.

    ``model`` says what a model makes of it; ``levels`` are the categories of a nominal or ordinal one; ``notes`` are
    what was decided or done that the reader of the file may not expect.
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


class ColumnReport(tuple[Column, ...]):
    """The columns of a table in the order of the file; prints as an aligned table with notes below.

    Examples
    --------
    >>> import pandas as pd
    >>> from mltsk import read_table
    >>> table = read_table(pd.DataFrame({"age": [31, 45, None], "gout": ["yes", "no", None]}), labels="gout")
    >>> print(table.columns)
    data: 3 rows, 1 feature, 1 label
    <BLANKLINE>
    column  kind    distinct  missing  examples  in the model as
    age     number         2  1 (33%)  31, 45    number
    gout    label          2  1 (33%)  yes, no   label: 1 of 2 yes
    <BLANKLINE>
    To say otherwise, name columns in number, nominal, ordinal (stage: 1 < 2 < 3), id, drop, or words in
    missing: options of read_table and of the command line.
    """

    title: str
    notes: tuple[str, ...]

    def __new__(
        cls, columns: Iterable[Column], title: str = "", notes: Iterable[str] = ()
    ) -> "ColumnReport":
        """Columns, a line that says what the table is, and notes on the whole of it."""
        report, grouped, told = (
            super().__new__(cls, columns),
            dict[str, list[str]](),
            list(notes),
        )
        for column in report:
            for text in column.notes:
                grouped.setdefault(text, []).append(cut(column.name, NAME))
        for text, names in grouped.items():
            more = f" and {len(names) - 8} more" if len(names) > 8 else ""
            told.append(f"{', '.join(names[:8])}{more}: {text}")
        report.title, report.notes = title, tuple(told)
        return report

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to tell: numbers and labels alone, without a note."""
        return not self.notes and all(
            column.kind in ("number", "label") for column in self
        )

    def __repr__(self) -> str:
        rows = [HEADER, *(self._cells(column) for column in self[:LINES])]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        others = sum(widths) - widths[4] + 2 * (len(widths) - 1)
        widths[4] = min(
            widths[4], max(WIDTH - others, len(HEADER[4]))
        )  # examples have what room there is
        lines = [printable(self.title), ""]
        for row in rows:
            cells = [
                cut(cell, width).ljust(width)
                for cell, width in zip(row, widths, strict=True)
            ]
            cells[2] = row[2].rjust(widths[2])
            lines.append("  ".join(cells).rstrip())
        *notes, last = self._told()
        told = [
            wrap(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
            for text in notes
        ]
        return "\n".join(
            [*lines, "", *chain(*told), *wrap(last, WIDTH, break_on_hyphens=False)]
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in HEADER)
        rows = [self._cells(column, 80) for column in self[:LINES]]
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
            for row in rows
        )
        notes = "".join(f"<li>{escape(text)}</li>" for text in self._told())
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<p>{escape(printable(self.title))}</p>{table}<ul>{notes}</ul>"

    def _told(self) -> list[str]:
        hidden = len(self) - LINES
        more = [f"… and {count(hidden, 'more column')}"] if hidden > 0 else []
        return [*more, *map(printable, self.notes), OVERRULE]

    def _cells(self, column: Column, width: int = NAME) -> tuple[str, ...]:
        missing = "" if column.missing is None else "-"
        if column.missing:
            missing = f"{column.missing:,} ({round(100 * column.missing / column.rows) or '<1'}%)"
        distinct = "" if column.distinct is None else f"{column.distinct:,}"
        examples = ", ".join(cut(text, width) for text in column.examples)
        return (
            cut(column.name, width),
            column.kind,
            distinct,
            missing,
            examples,
            column.model,
        )


class TableError(InputError):
    """A table that cannot be used as it is; ``columns`` is its report."""

    def __init__(self, sentence: str, columns: ColumnReport) -> None:
        super().__init__(sentence)
        self.columns = columns


def cut(text: str, width: int) -> str:
    """Printable text of at most so many characters."""
    text = printable(text[: 4 * width])
    return text if len(text) <= width else f"{text[: width - 1]}…"
