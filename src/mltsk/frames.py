"""Data frames and arrays, column by column as they came.

pandas and polars are not imported: a frame tells by its type whose it is.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Number
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .core.arrays import Array
from .exceptions import InputError, check_different

MISSING = "not measured"
WORD_TYPES = {str, float, type(None)}  # of cells of a column of words with gaps

Frame: TypeAlias = Any  # an array, or a data frame of pandas or polars
Series: TypeAlias = Any  # one column of such a frame


class CodedWords(NamedTuple):
    """The words of a column: the different ones, and which of them each row has.

    ``codes`` (N,) are positions in ``different``, in which None is no value.
    """

    different: tuple[str | None, ...]
    codes: NDArray[np.intp]

    @classmethod
    def of_numbers(cls, numbers: Array) -> "CodedWords":
        """The words of numbers (N,)."""
        values, codes = np.unique(numbers, return_inverse=True)
        return cls._of(values.tolist(), codes)

    @classmethod
    def of_cells(cls, cells: Sequence[Any]) -> "CodedWords":
        """The words of cells, in the order of their first rows."""
        first_rows: dict[object, int] = {}
        values: list[object] = []
        codes = np.empty(len(cells), dtype=np.intp)
        for row, cell in enumerate(cells):
            # True, 1 and 1.0 are one key of a dict, and different words
            key = cell if type(cell) is str else (type(cell), str(cell))
            code = first_rows.setdefault(key, len(values))
            if code == len(values):
                values.append(cell)
            codes[row] = code
        return cls._of(values, codes)

    @classmethod
    def _of(cls, values: Sequence[Any], codes: NDArray[np.intp]) -> "CodedWords":
        """The words of values, of which some may be the same word."""
        words = [_word_or_none(value) for value in values]
        places: dict[str | None, int] = {}
        place = [places.setdefault(text, len(places)) for text in words]
        return cls(tuple(places), np.array(place, dtype=np.intp)[codes])

    def each(self, values: Sequence[Any], dtype: type) -> NDArray[Any]:
        """What the rows have (N,), given what each of the different words has."""
        return np.array(values, dtype=dtype)[self.codes]

    def by_row(self) -> NDArray[np.object_]:
        """The word of each row (N,), None where there is none."""
        return self.each(self.different, object)

    def spelled(self, spelling: Mapping[str, str]) -> "CodedWords":
        """The same words, some of them spelled in another way."""
        words = [
            None if text is None else spelling.get(text, text)
            for text in self.different
        ]
        return self._of(words, self.codes)


@dataclass(frozen=True)
class InputColumn:
    """One column as it came: ``numbers`` with NaN, or ``cells`` with None.

    ``levels`` are those of an ordered column.
    """

    name: str
    numbers: Array | None = None
    cells: Sequence[Any] = ()
    levels: tuple[str, ...] | None = None
    is_nominal: bool = False

    @property
    def example(self) -> str | None:
        """A value that is there, as a word."""
        return next((text for text in self.words.different if text is not None), None)

    @cached_property
    def words(self) -> CodedWords:
        """Values as words, None where there is none."""
        if self.numbers is None:
            return CodedWords.of_cells(self.cells)
        return CodedWords.of_numbers(self.numbers)

    def is_missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        if self.numbers is not None:
            return np.isnan(self.numbers)
        return self.words.each([text is None for text in self.words.different], bool)

    def as_numbers(self) -> Array:
        """The numbers of a column that held numbers when the model was fitted."""
        if self.numbers is not None:
            return self.numbers
        if self.example is not None:
            raise InputError(
                f"Column {self.name!r} holds {self.example!r}; it held numbers when "
                "the model was fitted."
            )
        return np.full(len(self.cells), np.nan)


def _word_or_none(cell: object) -> str | None:
    """A value as a word, None where there is none."""
    if type(cell) is str:  # the usual case first: there may be millions
        return None if cell == MISSING else cell
    return None if _is_missing(cell) else word(cell)


def columns_of(X: Frame) -> list[InputColumn]:
    """The columns of a frame or an array, as they came."""
    if is_polars(X):
        return [_polars_column(series.name, series) for series in X.iter_columns()]
    if has_columns(X):
        return [_pandas_column(str(name), series) for name, series in X.items()]
    return [_array_column(f"x{d}", X[:, d]) for d in range(X.shape[1])]


def _array_column(name: str, values: NDArray[Any]) -> InputColumn:
    """A column of an array: numbers, words, or objects."""
    if values.dtype == object:
        return _object_column(name, values.tolist())
    if values.dtype.kind in "US":
        return InputColumn(name, cells=values.tolist(), is_nominal=True)
    return InputColumn(name, values.astype(np.float64))


def _pandas_column(name: str, series: Series) -> InputColumn:
    """A column of a pandas frame, by its type."""
    dtype = series.dtype
    kind = getattr(dtype, "kind", "O")
    if dtype.name == "category":
        cells = series.astype(object).tolist()
        if not dtype.ordered:
            return InputColumn(name, cells=cells, is_nominal=True)
        levels = tuple(word(level) for level in dtype.categories)
        return InputColumn(name, cells=cells, levels=levels)
    if kind in "mM" or dtype.name.startswith("period"):
        _refuse_date(name)
    if kind == "c":
        raise InputError(
            f"Column {name!r} holds complex numbers: give their parts as columns of "
            "their own."
        )
    if kind in "iuf":
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return InputColumn(name, numbers)
    return _object_column(name, series.astype(object).tolist())


def _polars_column(name: str, series: Series) -> InputColumn:
    """A column of a polars frame, by its type."""
    if series.dtype.is_temporal():
        _refuse_date(name)
    if str(series.dtype.base_type()) == "Enum":  # polars' categories with an order
        levels = tuple(str(level) for level in series.dtype.categories)
        return InputColumn(name, cells=series.to_list(), levels=levels)
    if series.dtype.is_numeric():
        return InputColumn(name, series.cast(float).to_numpy())
    return _object_column(name, series.to_list())


def _object_column(name: str, cells: Sequence[Any]) -> InputColumn:
    """A column of objects: numbers if nothing else is there."""
    if set(map(type, cells)) <= WORD_TYPES and any(map(_is_text, cells)):
        return InputColumn(name, cells=cells, is_nominal=True)
    present = [cell for cell in cells if not _is_missing(cell)]
    _check_objects(name, present)
    if present and all(_is_number(cell) for cell in present):
        numbers = [np.nan if _is_missing(cell) else cell for cell in cells]
        return InputColumn(name, np.array(numbers, dtype=np.float64))
    return InputColumn(name, cells=cells, is_nominal=True)


def _check_objects(name: str, present: Sequence[Any]) -> None:
    """Refuse cells that are neither numbers nor words."""
    dates = (datetime.date, datetime.time, np.datetime64)
    if any(isinstance(cell, dates) for cell in present):
        _refuse_date(name)
    containers = (list, tuple, set, dict, np.ndarray, complex)
    if any(isinstance(cell, containers) for cell in present):
        raise InputError(
            f"Column {name!r} holds a {type(present[0]).__name__} per cell: numbers "
            "and words can be used."
        )


def _is_text(cell: object) -> bool:
    """Whether a cell holds a word."""
    return type(cell) is str and cell != MISSING


def _is_number(cell: object) -> bool:
    return isinstance(cell, Number) and not isinstance(cell, bool)


def _refuse_date(name: str) -> NoReturn:
    """Refuse a column of dates or times."""
    raise InputError(
        f"Column {name!r} holds dates or times: turn it into a number, such as days "
        "since some event, or leave it out."
    )


def word(cell: object) -> str:
    """A value as a word: True is "yes", 2.0 is "2"."""
    if isinstance(cell, bool | np.bool_):
        return "yes" if cell else "no"
    if isinstance(cell, float | np.floating):
        return f"{cell:.15g}"
    return str(cell)


def _is_missing(cell: object) -> bool:
    return cell == MISSING if isinstance(cell, str) else is_absent(cell)


def is_absent(cell: object) -> bool:
    """Whether a cell is None, NaN, or what pandas writes in their place."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return bool(cell != cell)


def default_names(n_features: int) -> tuple[str, ...]:
    """Names of features that have none."""
    return tuple(f"x{d}" for d in range(n_features))


def has_columns(X: object) -> bool:
    """Whether X is a data frame of pandas or polars."""
    if not (hasattr(X, "shape") and hasattr(X, "columns")):
        return False
    return is_polars(X) or type(X).__module__.startswith("pandas")


def check_column_names(X: Frame) -> None:
    """Refuse a data frame that has no column, or two of one name."""
    if has_columns(X):
        if len(X.columns) == 0:
            raise InputError("X has no columns: a model needs at least one feature.")
        check_different([str(name) for name in X.columns], "columns of X")


def is_polars(X: object) -> bool:
    """Whether X is something of polars."""
    return type(X).__module__.partition(".")[0] == "polars"
