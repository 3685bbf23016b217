"""From a file or a data frame to columns as they are written: nothing is interpreted here.

Text files are read cell by cell as text; Excel, Parquet and data frames keep the types that they have; ARFF, NPZ and
MATLAB files say for themselves which columns are nominal and which are labels.

A CSV file needs a header line. Its delimiter is whichever of comma, semicolon, tab and bar is most frequent there,
outside of quotes.
"""

import csv
import gzip
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from math import isnan
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple, TextIO

import pandas

from mltsk.columns import is_polars
from mltsk.core.arrays import refuse_lazy
from mltsk.datasets import arff, mat, npz
from mltsk.datasets.dataset import (
    Dataset,
    as_number,
    repeated,
    unique_names,
    unreadable,
)
from mltsk.datasets.load import is_path
from mltsk.exceptions import InputError, optional
from mltsk.limits import CELL, check_size, isolated

MAX_LINE = 1 << 24  # characters: a row of a million numbers
COLUMN = 10_000  # bytes of a column of a data frame, whatever it holds
DELIMITERS = ",;\t|"
EXAMPLES = {
    "pbc": ("ascites", "hepatomegaly", "spiders", "edema")
}  # tables in the box, and their labels
_QUOTED = re.compile(r'"[^"]*"')


class Raw(NamedTuple):
    """Columns as read: text where the file is text, and else of the types that the source gives them."""

    frame: Any
    name: str
    source: str
    labels: tuple[
        str, ...
    ] = ()  # the columns that the file itself declares to be labels
    notes: tuple[str, ...] = ()


def read_raw(source: Any, labels: Any = None) -> Raw:
    """The columns of a file, a data frame or a `Dataset`; ``labels`` may name a MULAN XML file or a MATLAB variable."""
    if isinstance(source, Raw):
        return source
    refuse_lazy(source, "The table")
    if isinstance(source, Dataset) or hasattr(source, "columns"):
        return (
            _from_dataset(source, Path(source.name))
            if isinstance(source, Dataset)
            else _from_frame(source)
        )
    if isinstance(source, str) and source in EXAMPLES:
        file = Path(__file__).parent / "data" / f"{source}.csv"
        return _csv(file, None)._replace(labels=EXAMPLES[source], source=source)
    if not isinstance(source, str | PathLike):
        raise InputError(
            f"A table is read from a file or a data frame, not from an object of type {_type(source)}."
        )
    path = Path(source)
    read = next(
        (
            reader
            for suffix, reader in _READERS.items()
            if path.name.lower().endswith(suffix)
        ),
        None,
    )
    if read is None:
        raise InputError(
            f"{path}: the ending says no format that can be read; those are {', '.join(_READERS)}."
        )
    if not path.is_file():
        raise InputError(f"{path} cannot be read: there is no such file.")
    raw = read(path, labels)
    _check_names(list(raw.frame.columns), path)
    if (xml := arff.label_file(path, labels)) is not None:
        listed = unique_names(arff.read_label_xml(xml), raw.frame, raw.name)
        raw = raw._replace(
            labels=tuple(name for name in raw.frame.columns if name in listed)
        )
    if not len(raw.frame):
        raise InputError(f"{path} has no row below its header.")
    return raw


def is_table(data: str) -> bool:
    """Whether this names a file or a table in the box, and no data set of the catalog."""
    return data in EXAMPLES or is_path(data)


def _from_frame(frame: Any) -> Raw:
    if is_polars(frame):
        optional("pyarrow", "data")
    frame = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    if not isinstance(frame, pandas.DataFrame):
        raise InputError(
            f"Data frames are read if they are of pandas or polars, not of type {_type(frame)}."
        )
    frame = frame.copy(deep=False)
    frame.columns = [str(name) for name in frame.columns]
    _check_names(list(frame.columns), "The data frame")
    if not len(frame):
        raise InputError("The data frame has no rows.")
    return Raw(frame, "data", "a data frame")


def _type(source: Any) -> str:
    return f"{type(source).__module__}.{type(source).__name__}".removeprefix(
        "builtins."
    )


def _csv(path: Path, _: Any) -> Raw:
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    rows, size = [], 0
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            lines = _bounded(file, path)
            first = next(lines, "")
            bare = _QUOTED.sub("", first)
            reader = csv.reader(
                chain([first], lines),
                delimiter=max(DELIMITERS, key=bare.count),
                strict=True,
            )
            header = [name.strip() for name in next(reader, [])]
            for row in filter(None, reader):
                if len(row) != len(header):
                    raise InputError(
                        f"{path}, line {reader.line_num}: {len(row)} values for {len(header)} columns."
                    )
                check_size(size := size + CELL * len(row) + sum(map(len, row)), path)
                rows.append(row)
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is not a text file in UTF-8: save it in that encoding."
        ) from None
    except (OSError, EOFError, csv.Error, zlib.error) as error:
        raise unreadable(path, error) from None
    return _raw(header, rows, path)


def _bounded(file: TextIO, path: Path) -> Iterator[str]:
    number = 0
    while line := file.readline(MAX_LINE):
        number += 1
        if len(line) == MAX_LINE:
            raise InputError(
                f"{path}, line {number} is longer than {MAX_LINE:,} characters: it is no table."
            )
        if "\0" in line:
            raise InputError(
                f"{path}, line {number}: there is a NUL byte; the file is damaged or not UTF-8 text."
            )
        yield line


def _excel(path: Path, _: Any) -> Raw:
    openpyxl = optional("openpyxl", "data")
    cells, size = list[list[Any]](), 0
    try:
        with zipfile.ZipFile(path) as archive:
            check_size(3 * sum(member.file_size for member in archive.infolist()), path)
            if (damaged := archive.testzip()) is not None:
                raise ValueError(f"its part {damaged} is damaged")
        with closing(
            openpyxl.load_workbook(
                path, read_only=True, data_only=True, keep_links=False
            )
        ) as book:
            sheets, sheet = book.sheetnames, book.worksheets[0]
            sheet.reset_dimensions()  # a size that it declares is not used
            for row in sheet.iter_rows():
                check_size(size := size + CELL * (1 + len(row)), path)
                cells.append(
                    [
                        ""
                        if cell.value is None or cell.data_type == "e"
                        else cell.value
                        for cell in row
                    ]
                )
    except InputError:
        raise
    except Exception as error:  # readers meet damaged files with errors of every kind
        raise unreadable(path, error, "Excel file") from None
    while cells and not any(cell != "" for cell in cells[-1]):
        cells.pop()
    used = sorted(
        {j for row in cells for j, cell in enumerate(row) if str(cell).strip()}
    )  # blank at the edge
    header, *rows = [
        [row[j] if j < len(row) else "" for j in used] for row in cells
    ] or [[]]
    raw = _raw([str(name).strip() for name in header], rows, path)
    note = f"only the first of {len(sheets)} sheets was read, {sheets[0]!r}"
    return raw._replace(notes=(*raw.notes, note)) if len(sheets) > 1 else raw


def _raw(header: Sequence[str], rows: list[Any], path: Path) -> Raw:
    _check_names(header, path)
    if not any(isnan(as_number(name)) for name in header):
        raise InputError(
            f"{path} starts with numbers: it needs a first line with the names of its columns."
        )
    n = len(rows)
    while rows and not any(
        str(cell).strip() for cell in rows[-1]
    ):  # as spreadsheets leave them
        rows.pop()
    notes = (
        (f"empty rows at the end left out: {n - len(rows):,}",) if len(rows) < n else ()
    )
    frame = pandas.DataFrame(rows, columns=header, dtype=object)
    return Raw(frame, _stem(path), str(path), notes=notes)


def _parquet(path: Path, _: Any) -> Raw:
    optional("pyarrow", "data")
    from pyarrow import ipc, types

    job = "mltsk.tables.files:unpack_parquet"
    with isolated(job, path, what="Parquet file", library="pyarrow.parquet") as file:
        table = ipc.open_file(file).read_all()
    objects = [
        c
        for c in table.columns
        if not (types.is_primitive(c.type) or types.is_dictionary(c.type))
    ]
    check_size(
        table.nbytes + CELL * sum(map(len, objects)) + COLUMN * table.num_columns, path
    )
    try:
        frame = table.to_pandas()
    except Exception as error:
        raise unreadable(path, error, "Parquet file") from None
    frame = frame.reset_index(drop=frame.index.names == [None])
    frame.columns = [str(name) for name in frame.columns]
    return Raw(frame, _stem(path), str(path))


def unpack_parquet(path: Path, out: IO[bytes]) -> None:
    """Write the table of a Parquet file as an Arrow file, checked to the last value."""
    from pyarrow import ipc, parquet

    file = parquet.ParquetFile(path, pre_buffer=False, page_checksum_verification=True)
    table = file.read(
        use_threads=False
    )  # which would wait for each other where memory is short
    table.validate(
        full=True
    )  # text that is no UTF-8 would be found out by whoever touches it
    with ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)


def _arff(path: Path, _: Any) -> Raw:
    data, declared = arff.read_columns(path)
    return Raw(data.frames()[0], path.stem, str(path), declared)


def _from_dataset(data: Dataset, path: Path) -> Raw:
    _check_names([*data.feature_names, *data.label_names], path)
    check_size(COLUMN * sum(data.shape[1:]), path)
    return Raw(
        data.to_frame(), _stem(path), data.source or str(path), tuple(data.label_names)
    )


def _check_names(header: Sequence[str], where: Any) -> None:
    if not header:
        raise InputError(
            f"{where} is empty: it needs a line with the names of its columns."
        )
    if "" in header:
        at = header.index("") + 1
        raise InputError(
            f"{where}: column {at} has no name (a row index? leave it out when you save the file)."
        )
    if (twice := repeated(header)) is not None:
        raise InputError(f"{where}: two columns are called {twice!r}.")


def _stem(path: Path) -> str:
    return path.name.partition(".")[0]


_READERS = dict.fromkeys((".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz"), _csv) | {
    ".xlsx": _excel,
    ".parquet": _parquet,
    ".pq": _parquet,
    ".arff": _arff,
    ".npz": lambda path, _: _from_dataset(npz.read_npz(path), path),
    ".mat": lambda path, labels: _from_dataset(
        mat.read_mat(path, labels or None), path
    ),
}
