"""Comma-separated and Parquet files: named columns of numbers, with text columns coded by category.

A CSV file needs a header line. Its delimiter is whichever of comma, semicolon, tab and bar is most frequent in that
line. A column in which every value is a number is numeric; any other becomes nominal, its categories in sorted order.
Missing values (nothing, ?, NA, N/A, NaN, null) become NaN: a model refuses them in features, and we in labels.
"""

import csv
import gzip
import zlib
from collections.abc import Iterable, Sequence
from itertools import chain
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mltsk.exceptions import InputError

from .dataset import as_number, import_pandas, repeated, unreadable
from .table import Table

MISSING = frozenset({"", "?", "na", "n/a", "nan", "-nan", "null"})
DELIMITERS = ",;\t|"

Column = tuple[NDArray[np.float64], tuple[str, ...]]  # values, categories


def read_csv(path: str | Path) -> Table:
    """Read a CSV file (also ``.tsv`` and ``.csv.gz``) into a table.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mltsk.datasets import read_csv
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "toy.csv"
    >>> _ = file.write_text("size;colour;good\\n1.5;red;1\\n2;blue;0\\n")
    >>> table = read_csv(file)
    >>> table.values
    array([[1.5, 1. , 1. ],
           [2. , 0. , 0. ]])
    >>> table.categories[1]
    ('blue', 'red')
    """
    path = Path(path)
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            header, rows = _rows(file, path)
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file in UTF-8: save it in that encoding.") from None
    except (OSError, EOFError, csv.Error, zlib.error) as error:
        raise unreadable(path, error) from None
    return _table(header, [_column([row[j] for row in rows]) for j in range(len(header))], path)


def read_parquet(path: str | Path) -> Table:
    """Read a Parquet file into a table; needs pandas and pyarrow."""
    path = Path(path)
    pandas = import_pandas("pyarrow")  # pandas names many engines when it is missing; we name one
    try:
        frame = pandas.read_parquet(path)
    except Exception as error:  # the reader meets damaged files with errors of every kind
        raise unreadable(path, error, "Parquet file") from None
    names = [str(name) for name in frame.columns]
    _check_header(names, path)
    return _table(names, [_frame_column(frame.iloc[:, j], names[j], path) for j in range(len(names))], path)


def _rows(file: Iterable[str], path: Path) -> tuple[list[str], list[list[str]]]:
    lines = iter(file)
    first = next(lines, "")
    reader = csv.reader(chain([first], lines), delimiter=max(DELIMITERS, key=first.count), strict=True)
    header = [name.strip() for name in next(reader, [])]
    _check_header(header, path)
    rows = []
    for row in filter(None, reader):
        if len(row) != len(header):
            raise InputError(f"{path}, line {reader.line_num}: {len(row)} values for {len(header)} columns.")
        rows.append(row)
    if not rows:
        raise InputError(f"{path} has no row below its header.")
    return header, rows


def _check_header(header: Sequence[str], path: Path) -> None:
    if not header:
        raise InputError(f"{path} is empty: it needs a line with the names of its columns.")
    if not any(isnan(as_number(name)) for name in header):
        raise InputError(f"{path} starts with numbers: it needs a first line with the names of its columns.")
    if "" in header:
        at = header.index("") + 1
        raise InputError(f"{path}: column {at} has no name (a row index? leave it out when you save the file).")
    if (twice := repeated(header)) is not None:
        raise InputError(f"{path}: two columns are called {twice!r}.")


def _column(texts: Sequence[str]) -> Column:
    try:
        if not any("_" in text for text in texts):  # float() reads 1_0 as 10
            return np.array([float(text) for text in texts]), ()
    except ValueError:
        pass
    texts = [text.strip() for text in texts]
    present = sorted({text for text in texts if text.lower() not in MISSING})
    codes = {text: as_number(text) for text in present}
    categories = tuple(present) if any(map(isnan, codes.values())) else ()
    if categories:
        codes = {text: float(code) for code, text in enumerate(present)}
    return np.array([codes.get(text, np.nan) for text in texts]), categories


def _frame_column(column: Any, name: str, path: Path) -> Column:
    from pandas.api import types

    if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan), ()
    if not (types.is_string_dtype(column.dtype) or isinstance(column.dtype, types.CategoricalDtype)):
        raise InputError(f"{path}: column {name!r} is of type {column.dtype}; numbers and text can be read.")
    return _column(["" if missing else str(text) for text, missing in zip(column, column.isna(), strict=True)])


def _table(header: Sequence[str], columns: Sequence[Column], path: Path) -> Table:
    return Table(
        values=np.column_stack([values for values, _ in columns]),
        names=tuple(header),
        categories=tuple(categories for _, categories in columns),
        name=path.name.partition(".")[0],
        source=str(path),
    )
