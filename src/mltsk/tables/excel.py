"""Excel workbooks, read in a process with a limit of memory and time.

A workbook is an archive of XML files. openpyxl makes objects of some of them, such as
the styles, before a row can be asked for: 15 MB of empty styles, 27 kB in the archive,
become 2 GB. So the sizes of all parts are asked for first, and then the cells are read
in a process of their own, which hands them over as a line of JSON per row.
"""

import json
import re
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
MAX_HEAD_ROWS = 20  # in which titles and groups of names may be merged cells
MAX_TAG_BYTES = 4096  # of the XML about a cell or merged ones, which a block may cut
_MERGED = re.compile(rb'<mergeCell ref="([A-Z]{1,3}\d{1,7}):([A-Z]{1,3}\d{1,7})"')
# A formula without a value; one of a text may be empty.
_UNCOMPUTED = re.compile(
    rb'<c (?![^>]*t="str")[^>]*>\s*<f[^>]*?(?:/>|>[^<]*</f>)\s*'
    rb"(?:<v\s*/>|<v></v>)?\s*</c>"
)
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

    A blank cell is "". ``n_filled`` are cells that have what stands in the first of the
    merged ones to which they belong, and ``n_without_value`` are formulas that no
    program has computed.
    """

    sheets: list[str]
    sheet: str
    rows: list[Row]
    n_filled: int = 0
    n_without_value: int = 0


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
        n_without_value: int = json.loads(lines.readline())[0]
        merged: list[list[int]] = json.loads(lines.readline())
        rows = list(_decoded_rows(lines))
        n_filled = _fill_down(rows, merged)
        return Workbook(
            sheets,
            sheet=chosen[0],
            rows=rows,
            n_filled=n_filled,
            n_without_value=n_without_value,
        )


def _fill_down(rows: list[Row], merged: list[list[int]]) -> int:
    """Write the first value of merged cells into the cells below it; how many it were.

    Rows above the data are left alone: those down to the last merged cells that lie
    side by side, as titles and groups of names do, and the first row.
    """
    n_merged = sum(last_row - first_row for first_row, _, last_row, _ in merged)
    if n_merged > sum(map(len, rows)):  # more than there are: the file is damaged
        return 0
    n_head = _rows_above_data(merged)
    n_filled = 0
    for first_row, column, last_row, _ in merged:
        if first_row > n_head:
            n_filled += _fill_column(rows[first_row - 1 : last_row], column - 1)
    return n_filled


def _rows_above_data(merged: list[list[int]]) -> int:
    """How many rows hold titles and groups of names."""
    n_head = 1
    for _, first_column, last_row, last_column in merged:
        if last_column > first_column and last_row <= MAX_HEAD_ROWS:
            n_head = max(n_head, last_row)
    return n_head


def _fill_column(rows: list[Row], column: int) -> int:
    """Give blank cells of a column the first value above them; how many it were."""
    value: Any = ""
    n_filled = 0
    for row in rows:
        cell = row[column] if column < len(row) else ""
        if value == "":
            value = cell
        elif cell == "":
            row += [""] * (column + 1 - len(row))
            row[column] = value
            n_filled += 1
    return n_filled


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
        marks = _marks_of(book.worksheets[position], path)
        _write_line([marks.n_without_value], out)
        _write_line(marks.merged, out)
        for row in _rows_of_sheet(book.worksheets[position], path):
            _write_line(row, out)


class _Marks(NamedTuple):
    """What a sheet says about cells that openpyxl does not tell row by row.

    ``merged`` are the first row and column of merged cells and their last ones, from 1
    on; ``n_without_value`` is the number of formulas without a value.
    """

    merged: Row
    n_without_value: int


def _marks_of(sheet: Any, path: Path) -> _Marks:
    """The marks of a sheet, from the part of the archive that holds it."""
    part = getattr(sheet, "_worksheet_path", None)
    if part is None:
        return _Marks([], 0)
    ranges: list[tuple[int, ...]] = []
    n_without_value = 0
    rest = b""
    with zipfile.ZipFile(path) as archive, archive.open(part) as file:
        while block := file.read(MARK_BYTES * 256):
            text = rest + block
            for match in _MERGED.finditer(text):
                ranges.append((*_row_and_column(match[1]), *_row_and_column(match[2])))
            n_without_value += len(_UNCOMPUTED.findall(text))
            rest = text[max(text.rfind(b"</c>"), text.rfind(b"/>"), 0) :]
            rest = rest[-MAX_TAG_BYTES:]
    return _Marks(list(dict.fromkeys(ranges)), n_without_value)


def _row_and_column(cell: bytes) -> tuple[int, int]:
    """The row and the column of a cell such as B12, from 1 on."""
    letters = cell.rstrip(b"0123456789")
    column = 0
    for letter in letters:
        column = 26 * column + letter - ord("A") + 1
    return int(cell[len(letters) :]), column


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
