"""From a file or a data frame to columns as they are written, without interpretation.

Text files are read cell by cell as text; Excel, Parquet and data frames keep the types
that they have; ARFF, NPZ and MATLAB files say for themselves which columns are nominal
and which are labels.

Where the table lies in a text file or a sheet is found by `mltsk.tables.layout`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import IO, Any

import pandas

from mltsk.core.arrays import refuse_lazy
from mltsk.datasets import arff, mat, npz
from mltsk.datasets.dataset import Dataset, repeated, unique_names, unreadable
from mltsk.datasets.load import dataset_files, is_path
from mltsk.exceptions import InputError, optional
from mltsk.frames import is_polars
from mltsk.limits import (
    NUMBER_BYTES,
    OBJECT_CELL_BYTES,
    check_size,
    isolated,
)
from mltsk.text import plural

from .delimited import FRAME_COLUMN_BYTES, read_text_rows
from .excel import read_workbook
from .layout import Layout, Row, is_blank, lay_out
from .strays import (
    data_rows,
    fill_up,
    refuse_data_as_names,
    without_other_tables,
)

# Programs whose files are not read, by the ending.
OTHER_PROGRAMS = {
    ".xls": "an old Excel",
    ".xlsb": "Excel",
    ".ods": "LibreOffice",
    ".numbers": "Numbers",
    ".gsheet": "Google Sheets",
    ".sav": "SPSS",
    ".dta": "Stata",
    ".sas7bdat": "SAS",
    ".xpt": "SAS",
    ".rds": "R",
    ".rdata": "R",
    ".mdb": "Access",
    ".accdb": "Access",
    ".docx": "Word",
    ".pdf": "a printer",
}
# Tables that come with the package, and their labels.
EXAMPLES = {"pbc": ("ascites", "hepatomegaly", "spiders", "edema")}


@dataclass(frozen=True)
class FileRules:
    """What a user says about a file; None is to be found.

    Attributes
    ----------
    sheet : name or number, from 1 on, of the sheet of a workbook
    encoding : of a text file
    layout : where the table lies
    """

    sheet: str | int | None = None
    encoding: str | None = None
    layout: Layout = field(default_factory=Layout)


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns as read: text where the file is text, else of the types of the source.

    ``labels`` are the columns that the file itself declares to be labels; ``sheet`` is
    the one of a workbook with several.
    """

    frame: pandas.DataFrame
    name: str
    source: str
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sheet: str = ""

    @property
    def where(self) -> str:
        """The table as a sentence about a column that is not there calls it."""
        return f"{self.name} (sheet {self.sheet!r})" if self.sheet else self.name


def read_raw(
    source: Any, labels: Any = None, rules: FileRules | None = None
) -> RawTable:
    """The columns of a file, a data frame or a `Dataset`.

    ``labels`` may name a MULAN XML file or a MATLAB variable. ``rules`` are about files
    alone.
    """
    rules = rules or FileRules()
    if isinstance(source, RawTable):
        return source
    refuse_lazy(source, "The table")
    is_path_like = isinstance(source, str | PathLike)
    if rules != FileRules() and not is_path_like:
        raise InputError(
            "Sheets, encodings and rows to skip are of files: this table is none."
        )
    if isinstance(source, Dataset):
        return _from_dataset(source, Path(source.name))
    if hasattr(source, "columns"):
        return _from_frame(source)
    if isinstance(source, str) and source in EXAMPLES:
        table = _read_csv(_example_file(source), rules)
        return replace(table, labels=EXAMPLES[source], source=source)
    if not is_path_like:
        raise InputError(
            "A table is read from a file or a data frame, not from an object of type "
            f"{_type_name(source)}."
        )
    return _from_file(Path(source), labels, rules)


def _from_file(path: Path, labels: Any, rules: FileRules) -> RawTable:
    """The columns of a file, by its ending."""
    reader = _reader_of(path)
    if reader is None:
        raise _no_reader(path)
    if not path.is_file():
        raise InputError(f"{path} cannot be read: there is no such file.")
    _refuse_rules(path, rules, reader)
    if reader is _read_mat:
        table = _read_mat(path, rules, labels or None)
    else:
        table = reader(path, rules)
    _check_names(list(table.frame.columns), path)
    xml = arff.label_file(path, labels)
    if xml is not None:
        declared = unique_names(arff.read_label_xml(xml), table.frame, table.name)
        in_order = tuple(name for name in table.frame.columns if name in declared)
        table = replace(table, labels=in_order)
    if not len(table.frame):
        raise InputError(f"{path} has no row below its header.")
    return table


def _no_reader(path: Path) -> InputError:
    """The sentence about a file whose ending says no format that can be read."""
    program = OTHER_PROGRAMS.get(path.suffix.lower())
    if program:
        return InputError(
            f"{path} is a file of {program}: save it there as .csv or .xlsx."
        )
    return InputError(
        f"{path}: the ending says no format that can be read; those are "
        f"{', '.join(_READERS)}. A text file with columns may be called .csv or .txt."
    )


def _refuse_rules(path: Path, rules: FileRules, reader: object) -> None:
    """Refuse what is said about a file that has no such thing."""
    if rules.sheet is not None and reader is not _read_excel:
        raise InputError(f"{path} has no sheets: --sheet is for Excel files.")
    if rules.encoding is not None and reader is not _read_csv:
        raise InputError(f"{path} is no text file: --encoding is for text files.")
    if rules.layout != Layout() and reader not in (_read_csv, _read_excel):
        raise InputError(
            f"{path} says itself where its columns are: rows are skipped in text and "
            "Excel files."
        )


def _reader_of(path: Path) -> "Reader | None":
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


def _read_csv(path: Path, rules: FileRules) -> RawTable:
    """A text file with delimiters."""
    text = read_text_rows(path, rules.encoding)
    laid_out = lay_out(text.rows, rules.layout, path)
    names = laid_out.names
    notes = text.notes + laid_out.notes
    rows = without_other_tables(names, laid_out.rows, rules.layout, notes)
    for row in rows:
        if len(row) > len(names) and all(map(is_blank, row[len(names) :])):
            del row[len(names) :]
    fill_up(len(names), rows, notes)
    for number, row in enumerate(rows):
        if len(row) != len(names):
            line = text.line_numbers[laid_out.first + number]
            raise InputError(f"{path}, line {line}: {_wrong_length(row, len(names))}")
    return _from_rows(names, rows, path, rules.layout, notes)


def _wrong_length(row: Row, n_names: int) -> str:
    """The sentence about a row with more or fewer cells than there are names."""
    counts = f"{plural(len(row), 'value')} for {plural(n_names, 'column')}"
    if len(row) > n_names:
        return f"{counts}; put text and numbers that hold the delimiter in quotes."
    return f"{counts}; a cell without a value needs its delimiter, too."


def _from_rows(
    names: Sequence[str],
    rows: list[Row],
    path: Path,
    layout: Layout,
    notes: Sequence[str],
) -> RawTable:
    """A table of rows."""
    _check_names(names, path)
    all_notes = list(notes)
    keep_totals = layout.skip_end is not None
    rows = data_rows(names, rows, all_notes, keep_totals=keep_totals)
    refuse_data_as_names(names, rows, layout, path)
    return RawTable(
        frame=pandas.DataFrame(rows, columns=names, dtype=object),
        name=_stem(path),
        source=str(path),
        notes=tuple(all_notes),
    )


# other formats


def _read_excel(path: Path, rules: FileRules) -> RawTable:
    """A sheet of a workbook: the one that is asked for, or the first with a table."""
    book = read_workbook(path, rules.sheet)
    rows = _without_blank_edges(book.rows)
    laid_out = lay_out(rows, rules.layout, path)
    notes = laid_out.notes
    rows = without_other_tables(laid_out.names, laid_out.rows, rules.layout, notes)
    if len(book.sheets) > 1 and rules.sheet is None:
        sheets = len(book.sheets)
        notes.insert(
            0, f"sheet {book.sheet!r} was read, of {sheets}; --sheet to overrule"
        )
    if book.n_filled:
        cells = plural(book.n_filled, "cell")
        notes.append(
            f"{cells} of merged ones filled with what stands in the first; unmerge "
            "them in Excel to overrule"
        )
    if book.n_without_value:
        formulas = plural(book.n_without_value, "formula")
        notes.append(
            f"no value in the file for {formulas}: open it in Excel and save it there"
        )
    raw = _from_rows(laid_out.names, rows, path, rules.layout, notes)
    return replace(raw, sheet=book.sheet if len(book.sheets) > 1 else "")


def _without_blank_edges(rows: list[Row]) -> list[Row]:
    """Rows up to the last one with a cell, and the columns that hold something."""
    while rows and all(cell == "" for cell in rows[-1]):
        rows.pop()
    used: set[int] = set()
    for row in rows:
        used.update(j for j, cell in enumerate(row) if str(cell).strip())
    columns = sorted(used)
    return [[row[j] if j < len(row) else "" for j in columns] for row in rows]


def _read_parquet(path: Path, _: FileRules) -> RawTable:
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


def _read_arff(path: Path, _: FileRules) -> RawTable:
    """An ARFF file."""
    data, declared = arff.read_columns(path)
    _check_frame(data, path)
    frame = data.frames()[0]
    return RawTable(frame, name=path.stem, source=str(path), labels=declared)


def _read_npz(path: Path, _: FileRules) -> RawTable:
    """An NPZ file of this package."""
    return _from_dataset(npz.read_npz(path), path)


def _read_mat(path: Path, _: FileRules, labels: Any = None) -> RawTable:
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


Reader = Callable[[Path, FileRules], RawTable]
_READERS: dict[str, Reader] = {
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
