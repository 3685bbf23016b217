"""Excel workbooks, read in a process with a limit of memory and time.

A workbook is an archive of XML files. openpyxl makes objects of some of them, such as
the styles, before a row can be asked for: 15 MB of empty styles, 27 kB in the archive,
become 2 GB. So the sizes of all parts are asked for first, and then the cells are read
in a process of their own, which hands them over as a line of JSON per row.
"""

import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from mltsk.datasets.dataset import unreadable
from mltsk.exceptions import InputError, optional
from mltsk.limits import (
    OBJECT_CELL_BYTES,
    READER_SECONDS,
    check_size,
    isolated,
    memory_limit,
    too_large,
)
from mltsk.text import did_you_mean, quoted_list

MAX_SHEET_ROWS = 1 << 20  # as in Excel
MAX_LOOKED_ROWS = 50  # of a sheet, to see whether it is a table
MIN_TABLE_ROWS = 3  # with two cells or more: names and two rows of data
MARK_BYTES = 4096  # at the start of a file that tell what it is
OLD_EXCEL = b"\xd0\xcf\x11\xe0"
XML_EXPANSION = 3  # bytes in memory per byte of XML, at least
SECONDS_PER_XML_MIB = 2.0  # of which a busy machine needs one at most
# Cells that JSON does not have are lists of the name of their type and its arguments.
_TYPES: dict[str, Callable[..., Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": timedelta,
}

Row = list[Any]


class Workbook(NamedTuple):
    """The names of all sheets, the one that was read, and its rows.

    A blank cell is "".
    """

    sheets: list[str]
    sheet: str
    rows: list[Row]


def read_workbook(path: Path, sheet: str | int | None = None) -> Workbook:
    """Read a sheet by name or number, from 1 on; None takes the first with a table."""
    optional("openpyxl", "data")
    try:
        n_bytes = _unpacked_bytes(path)
    except InputError:
        raise
    except zipfile.BadZipFile as error:
        raise _no_workbook(path) or unreadable(path, error, "Excel file") from None
    except Exception as error:  # damaged archives fail in every way
        raise unreadable(path, error, "Excel file") from None
    check_size(XML_EXPANSION * n_bytes, path)
    with isolated(
        "mltsk.tables.excel:unpack",
        path,
        "" if sheet is None else str(sheet),
        what="Excel file",
        library="openpyxl",
        seconds=READER_SECONDS + SECONDS_PER_XML_MIB * n_bytes / 2**20,
    ) as lines:
        sheets: list[str] = json.loads(lines.readline())
        chosen: list[str] = json.loads(lines.readline())
        if not chosen:
            question = did_you_mean(sheet, sheets) or f"it has {quoted_list(sheets)}."
            raise InputError(f"{path} has no sheet {str(sheet)!r}: {question}")
        return Workbook(sheets, chosen[0], list(_decoded_rows(lines)))


def _no_workbook(path: Path) -> InputError | None:
    """The sentence about a file that is no archive, if its start tells what it is."""
    with path.open("rb") as file:
        start = file.read(MARK_BYTES)
    if start.startswith(OLD_EXCEL):
        return InputError(
            f"{path} is locked by a password, or of an old Excel: save it there as "
            ".xlsx without a password, or as .csv."
        )
    if start and b"\0" not in start and not start.startswith(b"PK"):
        return InputError(
            f"{path} is no Excel file but text: if it holds a table, call it .csv."
        )
    return None


def _unpacked_bytes(path: Path) -> int:
    """Bytes of all parts of an archive, as its directory says."""
    with zipfile.ZipFile(path) as archive:
        return sum(member.file_size for member in archive.infolist())


def unpack(path: Path, out: IO[bytes], wanted: str = "") -> None:
    """Write the names of the sheets, that of the one that is read, and its rows.

    Each is a line; there is no name and no row where the wanted sheet is not there.
    """
    import openpyxl

    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise ValueError(f"its part {damaged} is damaged")
    book = openpyxl.load_workbook(
        path, read_only=True, data_only=True, keep_links=False
    )
    with closing(book):
        names = [sheet.title for sheet in book.worksheets]
        _write_line(names, out)
        position = _position(names, wanted) if wanted else _first_table(book, path)
        if position is None:
            _write_line([], out)
            return
        _write_line([names[position]], out)
        for row in _rows_of_sheet(book.worksheets[position], path):
            _write_line(row, out)


def _position(names: list[str], wanted: str) -> int | None:
    """The place of a sheet that is wanted by name, or by number."""
    if wanted in names:
        return names.index(wanted)
    if wanted.isascii() and wanted.isdigit() and 0 < int(wanted[:9]) <= len(names):
        return int(wanted) - 1
    return None


def _first_table(book: Any, path: Path) -> int:
    """The place of the first sheet that looks like a table, else of the first one.

    A table has three rows with two cells or more among its first ones; a page of
    remarks has not.
    """
    for position, sheet in enumerate(book.worksheets):
        if sheet.sheet_state != "visible":
            continue
        rows = islice(_rows_of_sheet(sheet, path), MAX_LOOKED_ROWS)
        n_rows = sum(sum(cell != "" for cell in row) > 1 for row in rows)
        if n_rows >= MIN_TABLE_ROWS:
            return position
    return 0


def _write_line(cells: Row, out: IO[bytes]) -> None:
    """Write a list as one line of JSON."""
    if not cells:
        out.write(b"[]\n")
        return
    out.write(json.dumps(cells, default=_encoded).encode() + b"\n")


def _rows_of_sheet(sheet: Any, path: Path) -> Iterator[Row]:
    """The values of the cells of a sheet; cells with errors count as blank."""
    sheet.reset_dimensions()  # a size that it declares is not used
    limit = memory_limit()
    size = 0
    for number, cells in enumerate(sheet.iter_rows()):
        # A row may have any number; all those before it are blank.
        if number == MAX_SHEET_ROWS:
            raise ValueError(f"it has more than {MAX_SHEET_ROWS:,} rows")
        values = [cell.value if cell.data_type != "e" else None for cell in cells]
        row = ["" if value is None else value for value in values]
        size += OBJECT_CELL_BYTES * (1 + len(row))
        size += sum(len(cell) for cell in row if isinstance(cell, str))
        if size > limit:
            raise too_large(path)
        yield row


def _encoded(cell: Any) -> Row:
    """A date or time as a list that `_decoded` understands."""
    name = type(cell).__name__
    if name not in _TYPES:
        raise ValueError(f"it holds a cell of type {name}")
    if isinstance(cell, timedelta):
        return [name, cell.days, cell.seconds, cell.microseconds]
    return [name, cell.isoformat()]


def _decoded_rows(lines: IO[bytes]) -> Iterator[Row]:
    """Rows as openpyxl gave them; a text that is there often is held once."""
    texts: dict[str, str] = {}
    for line in lines:
        row = json.loads(line)
        for j, cell in enumerate(row):
            if isinstance(cell, str):
                row[j] = texts.setdefault(cell, cell)
            elif isinstance(cell, list):
                row[j] = _TYPES[cell[0]](*cell[1:])
        yield row
