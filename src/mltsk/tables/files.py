"""From a file or a data frame to columns as they are written, without interpretation.

Text files are read cell by cell as text; Excel, Parquet and data frames keep the types
that they have; ARFF, NPZ and MATLAB files say for themselves which columns are nominal
and which are labels.

A CSV file needs a header line. Its delimiter is the most frequent of comma, semicolon,
tab and bar in that line, outside of quotes.
"""

import csv
import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isnan
from os import PathLike
from pathlib import Path
from typing import IO, Any, TextIO

import pandas

from mltsk.core.arrays import refuse_lazy
from mltsk.datasets import arff, mat, npz
from mltsk.datasets.dataset import (
    Dataset,
    as_number,
    repeated,
    unique_names,
    unreadable,
)
from mltsk.datasets.load import dataset_files, is_path
from mltsk.exceptions import InputError, optional
from mltsk.frames import is_polars
from mltsk.limits import (
    NUMBER_BYTES,
    OBJECT_CELL_BYTES,
    check_size,
    isolated,
    memory_limit,
    too_large,
)

from .excel import read_workbook

MAX_LINE_LENGTH = 1 << 24  # characters: a row of a million numbers
FRAME_COLUMN_BYTES = 10_000  # of a column of a data frame, whatever it holds
DELIMITERS = ",;\t|"
# Tables that come with the package, and their labels.
EXAMPLES = {"pbc": ("ascites", "hepatomegaly", "spiders", "edema")}
_QUOTED = re.compile(r'"[^"]*"')

Row = list[Any]  # cells of a file: text, or numbers and dates of a spreadsheet


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns as read: text where the file is text, else of the types of the source.

    ``labels`` are the columns that the file itself declares to be labels.
    """

    frame: pandas.DataFrame
    name: str
    source: str
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_raw(source: Any, labels: Any = None) -> RawTable:
    """The columns of a file, a data frame or a `Dataset`.

    ``labels`` may name a MULAN XML file or a MATLAB variable.
    """
    if isinstance(source, RawTable):
        return source
    refuse_lazy(source, "The table")
    if isinstance(source, Dataset):
        return _from_dataset(source, Path(source.name))
    if hasattr(source, "columns"):
        return _from_frame(source)
    if isinstance(source, str) and source in EXAMPLES:
        table = _read_csv(_example_file(source))
        return replace(table, labels=EXAMPLES[source], source=source)
    if not isinstance(source, str | PathLike):
        raise InputError(
            "A table is read from a file or a data frame, not from an object of type "
            f"{_type_name(source)}."
        )
    return _from_file(Path(source), labels)


def _from_file(path: Path, labels: Any) -> RawTable:
    """The columns of a file, by its ending."""
    reader = _reader_of(path)
    if reader is None:
        raise InputError(
            f"{path}: the ending says no format that can be read; those are "
            f"{', '.join(_READERS)}."
        )
    if not path.is_file():
        raise InputError(f"{path} cannot be read: there is no such file.")
    table = _read_mat(path, labels or None) if reader is _read_mat else reader(path)
    _check_names(list(table.frame.columns), path)
    xml = arff.label_file(path, labels)
    if xml is not None:
        declared = unique_names(arff.read_label_xml(xml), table.frame, table.name)
        in_order = tuple(name for name in table.frame.columns if name in declared)
        table = replace(table, labels=in_order)
    if not len(table.frame):
        raise InputError(f"{path} has no row below its header.")
    return table


def _reader_of(path: Path) -> Callable[[Path], RawTable] | None:
    """The function that reads files with this ending, if there is one."""
    for suffix, reader in _READERS.items():
        if path.name.lower().endswith(suffix):
            return reader
    return None


def source_files(data: str | None, labels: object = None) -> list[Path]:
    """The files that a table or a data set of the catalog is read from.

    ``labels`` may name a MULAN XML file, which is read too. No data, no files.
    """
    if data is None:
        return []
    if data in EXAMPLES:
        return [_example_file(data)]
    if not is_path(data):
        return dataset_files(data)
    path = Path(data)
    xml = arff.label_file(path, labels)
    return [path] if xml is None else [path, xml]


def _example_file(name: str) -> Path:
    """The file of a table that comes with the package."""
    return Path(__file__).parent / "data" / f"{name}.csv"


def is_table(data: str) -> bool:
    """Whether this names a file or a table of the package, not a data set."""
    return data in EXAMPLES or is_path(data)


def _from_frame(frame: Any) -> RawTable:
    """The columns of a data frame of pandas or polars."""
    if is_polars(frame):
        optional("pyarrow", "data")
    if hasattr(frame, "to_pandas"):
        frame = frame.to_pandas()
    if not isinstance(frame, pandas.DataFrame):
        raise InputError(
            "Data frames are read if they are of pandas or polars, not of type "
            f"{_type_name(frame)}."
        )
    frame = frame.copy(deep=False)
    frame.columns = [str(name) for name in frame.columns]
    _check_names(list(frame.columns), "The data frame")
    if not len(frame):
        raise InputError("The data frame has no rows.")
    return RawTable(frame, name="data", source="a data frame")


def _type_name(source: object) -> str:
    kind = type(source)
    return f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")


# text


def _read_csv(path: Path) -> RawTable:
    """A text file with delimiters."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            header, rows = _parse_csv(file, path)
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is not a text file in UTF-8: save it in that encoding."
        ) from None
    except (OSError, EOFError, csv.Error, zlib.error) as error:
        raise unreadable(path, error) from None
    return _from_rows(header, rows, path)


def _parse_csv(file: TextIO, path: Path) -> tuple[list[str], list[Row]]:
    """The names of the columns, and the rows, of an open text file."""
    lines = _CheckedLines(file, path)
    first = next(lines, "")
    lines.delimiter = max(DELIMITERS, key=_QUOTED.sub("", first).count)
    check_size(FRAME_COLUMN_BYTES * first.count(lines.delimiter), path)
    reader = csv.reader(chain([first], lines), delimiter=lines.delimiter, strict=True)
    header = [name.strip() for name in next(reader, [])]
    rows: list[Row] = []
    for row in filter(None, reader):
        if len(row) != len(header):
            raise InputError(
                f"{path}, line {reader.line_num}: {len(row)} values for "
                f"{len(header)} columns."
            )
        lines.size += OBJECT_CELL_BYTES * len(row) + sum(map(len, row))
        lines.unparsed = 0
        rows.append(row)
    return header, rows


class _CheckedLines(Iterator[str]):
    """The lines of a file, as long as they look like those of a table.

    A row can go over many lines, and has cells before it is complete.

    Attributes
    ----------
    delimiter : what separates cells
    limit : bytes that the table may take
    size : bytes that the rows take so far
    unparsed : bytes that the row that is not complete yet may take, at most
    """

    def __init__(self, file: TextIO, path: Path) -> None:
        self.file = file
        self.path = path
        self.number = 0
        self.delimiter = "\n"
        self.limit = memory_limit()
        self.size = 0
        self.unparsed = 0

    def __next__(self) -> str:
        line = self.file.readline(MAX_LINE_LENGTH)
        if not line:
            raise StopIteration
        self.number += 1
        if len(line) == MAX_LINE_LENGTH:
            raise InputError(
                f"{self.path}, line {self.number} is longer than "
                f"{MAX_LINE_LENGTH:,} characters: it is no table."
            )
        if "\0" in line:
            raise InputError(
                f"{self.path}, line {self.number}: there is a NUL byte; the file is "
                "damaged or not UTF-8 text."
            )
        n_cells = 1 + line.count(self.delimiter)
        self.unparsed += OBJECT_CELL_BYTES * n_cells + len(line)
        if self.size + self.unparsed > self.limit:
            raise too_large(self.path)
        return line


def _from_rows(header: Sequence[str], rows: list[Row], path: Path) -> RawTable:
    """A table of rows; blank ones at the end, as spreadsheets leave them, go."""
    _check_names(header, path)
    if not any(isnan(as_number(name)) for name in header):
        raise InputError(
            f"{path} starts with numbers: it needs a first line with the names of its "
            "columns."
        )
    n_rows = len(rows)
    while rows and not any(str(cell).strip() for cell in rows[-1]):
        rows.pop()
    notes = []
    if len(rows) < n_rows:
        notes.append(f"empty rows at the end left out: {n_rows - len(rows):,}")
    return RawTable(
        frame=pandas.DataFrame(rows, columns=header, dtype=object),
        name=_stem(path),
        source=str(path),
        notes=tuple(notes),
    )


# other formats


def _read_excel(path: Path) -> RawTable:
    """The first sheet of a workbook."""
    sheets, rows = read_workbook(path)
    header, *rows = _without_blank_edges(rows) or [[]]
    table = _from_rows([str(name).strip() for name in header], rows, path)
    if len(sheets) == 1:
        return table
    note = f"only the first of {len(sheets)} sheets was read, {sheets[0]!r}"
    return replace(table, notes=(*table.notes, note))


def _without_blank_edges(rows: list[Row]) -> list[Row]:
    """Rows up to the last one with a value, and the columns that hold something."""
    while rows and all(cell == "" for cell in rows[-1]):
        rows.pop()
    used: set[int] = set()
    for row in rows:
        used.update(j for j, cell in enumerate(row) if str(cell).strip())
    columns = sorted(used)
    return [[row[j] if j < len(row) else "" for j in columns] for row in rows]


def _read_parquet(path: Path) -> RawTable:
    """A Parquet file, decoded in a process of its own."""
    optional("pyarrow", "data")
    from pyarrow import ipc

    job = "mltsk.tables.files:unpack_parquet"
    with isolated(job, path, what="Parquet file", library="pyarrow.parquet") as file:
        table = ipc.open_file(file).read_all()
    # Columns are read one after another; the cells of one are objects meanwhile.
    size = table.nbytes + OBJECT_CELL_BYTES * table.num_rows
    size += sum(FRAME_COLUMN_BYTES + _object_bytes(column) for column in table.columns)
    check_size(size, path)
    try:
        frame = table.to_pandas()
    except Exception as error:
        raise unreadable(path, error, "Parquet file") from None
    frame = frame.reset_index(drop=frame.index.names == [None])
    frame.columns = [str(name) for name in frame.columns]
    return RawTable(frame, name=_stem(path), source=str(path))


def _object_bytes(column: Any) -> int:
    """Bytes that the cells of an Arrow column take as cells of a data frame."""
    from pyarrow import types

    kind = column.type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return NUMBER_BYTES * len(column)
    if types.is_dictionary(kind):
        return NUMBER_BYTES * len(column)
    size = OBJECT_CELL_BYTES * len(column)
    if types.is_nested(kind):  # whose cells are objects that hold others
        for chunk in getattr(column, "chunks", [column]):
            inner = chunk.flatten()
            for child in inner if isinstance(inner, list) else [inner]:
                size += OBJECT_CELL_BYTES * len(child) + _object_bytes(child)
    return size


def unpack_parquet(path: Path, out: IO[bytes]) -> None:
    """Write the table of a Parquet file as an Arrow file, checked to the last value."""
    from pyarrow import ipc, parquet

    file = parquet.ParquetFile(path, pre_buffer=False, page_checksum_verification=True)
    # Threads would wait for each other where memory is short.
    table = file.read(use_threads=False)
    # Otherwise text that is no UTF-8 fails later, where it is used.
    table.validate(full=True)
    with ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)


def _read_arff(path: Path) -> RawTable:
    """An ARFF file."""
    data, declared = arff.read_columns(path)
    _check_frame(data, path)
    frame = data.frames()[0]
    return RawTable(frame, name=path.stem, source=str(path), labels=declared)


def _read_npz(path: Path) -> RawTable:
    """An NPZ file of this package."""
    return _from_dataset(npz.read_npz(path), path)


def _read_mat(path: Path, labels: Any = None) -> RawTable:
    """A MATLAB file; ``labels`` is the variable with the labels."""
    return _from_dataset(mat.read_mat(path, labels), path)


def _from_dataset(data: Dataset, path: Path) -> RawTable:
    """The columns of a data set: features, then labels."""
    _check_names([*data.feature_names, *data.label_names], path)
    _check_frame(data, path)
    return RawTable(
        frame=data.to_frame(),
        name=_stem(path),
        source=data.source or str(path),
        labels=tuple(data.label_names),
    )


def _check_frame(data: Dataset, path: Path) -> None:
    """Refuse a data set whose data frame would take too much memory.

    Columns are read one after another; the cells of one are objects meanwhile.
    """
    n_columns = sum(data.shape[1:])
    check_size(FRAME_COLUMN_BYTES * n_columns + OBJECT_CELL_BYTES * len(data), path)


def _check_names(header: Sequence[str], where: object) -> None:
    """Refuse columns without a name, and names that are there twice."""
    if not header:
        raise InputError(
            f"{where} is empty: it needs a line with the names of its columns."
        )
    if "" in header:
        raise InputError(
            f"{where}: column {header.index('') + 1} has no name (a row index? leave "
            "it out when you save the file)."
        )
    twice = repeated(header)
    if twice is not None:
        raise InputError(f"{where}: two columns are called {twice!r}.")


def _stem(path: Path) -> str:
    """The name of a file without any of its endings."""
    return path.name.partition(".")[0]


_READERS: dict[str, Callable[[Path], RawTable]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".txt": _read_csv,
    ".csv.gz": _read_csv,
    ".tsv.gz": _read_csv,
    ".xlsx": _read_excel,
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
    ".arff": _read_arff,
    ".npz": _read_npz,
    ".mat": _read_mat,
}
