"""Tables as HTML: everything from outside is escaped, colours and sizes are the page's."""

import re
from collections.abc import Sequence
from html import escape

from ..experiments.table import Table, TableCell, TableRow
from .table_text import difference_text

NEAR, FAR = 0.01, 0.03  # differences from the paper that a reader should see at a glance


def to_html(table: Table) -> str:
    """The table and its notes, in a box that scrolls by itself with its headings in sight.

    A table whose rows have two headings is grouped by the first.
    """
    grouped = len(table.heads) > 1
    heads = table.heads[1:] if grouped else table.heads
    top = "".join(_heading(table, name) for name in (*heads, *table.columns))
    width = len(heads) + len(table.columns)
    body, before = [], None
    for row in table.rows:
        if grouped and row.heads[0] != before:
            before = row.heads[0]
            body.append(
                f'<tr class="group"><th colspan="{width}" scope="rowgroup"><span>{escape(before)}</span></th></tr>'
            )
        body.append(_row(table, row, grouped))
    box = 'class="results" tabindex="0" role="region"'
    return (
        f'<div {box} aria-label="{escape(table.title)}"><table><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>{_notes(table)}"
    )


def _heading(table: Table, name: str) -> str:
    kind = ' class="prose"' if name in table.prose else ""
    return f'<th scope="col"{kind}>{escape(name)}</th>'


def _row(table: Table, row: TableRow, grouped: bool) -> str:
    heads = "".join(f'<th scope="row">{escape(head)}</th>' for head in row.heads[grouped:])
    cells = (_cell(table, name, cell) for name, cell in zip(table.columns, row.cells, strict=True))
    return f"<tr>{heads}{''.join(cells)}</tr>"


def _cell(table: Table, column: str, cell: TableCell) -> str:
    kind = ' class="prose"' if column in table.prose else ""
    return f"<td{kind}>{_ours(cell)}{_marks(table, cell.notes)}{_paper(table, cell)}</td>"


def _ours(cell: TableCell) -> str:
    """The value, its spread in a quieter tone."""
    number, bracket, spread = _slim(cell, cell.text).partition(" (") if cell.sd is not None else (cell.text, "", "")
    text = f"<b>{escape(number)}</b>" if cell.bold else escape(number)
    return text + (f' <span class="sd">({escape(spread)}</span>' if bracket else "")


def _paper(table: Table, cell: TableCell) -> str:
    if not cell.paper:
        return ""
    printed = escape(_slim(cell, cell.paper))
    printed = f"<s>{printed}</s>" if cell.paper_notes else printed
    gap = ""
    if cell.difference is not None:
        gap = f' <span class="{_size(cell)}">{escape(_slim(cell, difference_text(cell)))}</span>'
    return f'<div class="paper">{printed}{_marks(table, cell.paper_notes)}{gap}</div>'


def _slim(cell: TableCell, text: str) -> str:
    """Results without the zero before the point: nine methods then fit on a screen."""
    return re.sub(r"(?<!\d)0\.", ".", text) if cell.sd is not None else text


def _size(cell: TableCell) -> str:
    """How a difference is coloured; one from a value that cannot be compared is not."""
    if cell.paper_notes or cell.sd is None:
        return "gap"
    size = abs(cell.difference or 0.0)
    return "gap close" if size <= NEAR + 1e-9 else "gap far" if size > FAR + 1e-9 else "gap"


def _marks(table: Table, marks: Sequence[str]) -> str:
    links = ",".join(f'<a href="#{table.key}-{mark}">{mark}</a>' for mark in marks)
    return f"<sup>{links}</sup>" if links else ""


def _notes(table: Table) -> str:
    if not table.notes:
        return ""
    items = "".join(
        f'<li id="{table.key}-{mark}"><sup>{mark}</sup> {escape(text)}</li>' for mark, text in table.notes.items()
    )
    fold = " open" if len(table.notes) <= 12 else ""
    count = "1 note" if len(table.notes) == 1 else f"{len(table.notes)} notes"
    return f'<details class="notes small"{fold}><summary>{count}</summary><ul>{items}</ul></details>'
