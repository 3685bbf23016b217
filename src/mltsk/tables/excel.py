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
from pathlib import Path
from typing import IO, Any

from mltsk.datasets.dataset import unreadable
from mltsk.exceptions import InputError, optional
from mltsk.limits import OBJECT_CELL_BYTES, READER_SECONDS, check_size, isolated

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


def read_workbook(path: Path) -> tuple[list[str], list[Row]]:
    """The names of all sheets, and the rows of the first one; "" for a blank cell."""
    optional("openpyxl", "data")
    try:
        n_bytes = _unpacked_bytes(path)
    except InputError:
        raise
    except Exception as error:  # damaged archives fail in every way
        raise unreadable(path, error, "Excel file") from None
    check_size(XML_EXPANSION * n_bytes, path)
    with isolated(
        "mltsk.tables.excel:unpack",
        path,
        what="Excel file",
        library="openpyxl",
        seconds=READER_SECONDS + SECONDS_PER_XML_MIB * n_bytes / 2**20,
    ) as lines:
        sheets: list[str] = json.loads(lines.readline())
        return sheets, list(_decoded_rows(lines))


def _unpacked_bytes(path: Path) -> int:
    """Bytes of all parts of an archive, as its directory says."""
    with zipfile.ZipFile(path) as archive:
        return sum(member.file_size for member in archive.infolist())


def unpack(path: Path, out: IO[bytes]) -> None:
    """Write the names of the sheets and the rows of the first one, a line each."""
    import openpyxl

    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise ValueError(f"its part {damaged} is damaged")
    book = openpyxl.load_workbook(
        path, read_only=True, data_only=True, keep_links=False
    )
    with closing(book):
        _write_line(book.sheetnames, out)
        for row in _rows_of_sheet(book.worksheets[0], path):
            _write_line(row, out)


def _write_line(cells: Row, out: IO[bytes]) -> None:
    """Write a list as one line of JSON."""
    out.write(json.dumps(cells, default=_encoded).encode() + b"\n")


def _rows_of_sheet(sheet: Any, path: Path) -> Iterator[Row]:
    """The values of the cells of a sheet; cells with errors count as blank."""
    sheet.reset_dimensions()  # a size that it declares is not used
    size = 0
    for cells in sheet.iter_rows():
        values = [cell.value if cell.data_type != "e" else None for cell in cells]
        row = ["" if value is None else value for value in values]
        size += OBJECT_CELL_BYTES * (1 + len(row))
        size += sum(len(cell) for cell in row if isinstance(cell, str))
        check_size(size, path)
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
