"""Arrays as short, exact text for the data of a page.

An array becomes base64 of its little-endian numbers, which is a third of its size as
decimal text. If most numbers are zero, the others are written with a bit per number
that says where they are. A column of a table is written in the shortest exact form:
codes of its distinct values, decimals as whole numbers, or doubles.
"""

from base64 import b64encode
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.arrays import FloatArray

MAX_DISTINCT_CODES = 256  # values of a column that codes of one byte can tell apart
MAX_DECIMALS = 6

# What becomes JSON, or fills a template.
PageData: TypeAlias = dict[str, Any]


def packed(array: ArrayLike | None, kind: str = "<f8") -> str | None:
    """Return base64 of an array as numbers of a NumPy ``kind``; None stays None."""
    if array is None:
        return None
    return b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def packed_bits(mask: NDArray[np.bool_]) -> str | None:
    """Return base64 of a bit per entry, row by row, the first bit lowest."""
    return packed(np.packbits(mask, bitorder="little"), "u1")


def packed_nonzero(array: FloatArray, *, is_single: bool) -> PageData:
    """Return the numbers that are not zero, and where they are."""
    return {
        "mask": packed_bits(array.ravel() != 0),
        "values": packed(array[array != 0], "<f4" if is_single else "<f8"),
        "single": is_single,
    }


class ColumnForm(NamedTuple):
    """One way to write a column of n values exactly.

    Attributes
    ----------
    kind : str
        What NumPy calls the numbers.
    numbers : array of shape (n,)
    distinct : array or None
        The values that the numbers are codes of.
    decimals : int
        The numbers are values times 10 to this power; the least possible number of
        their kind stands for a missing value.
    """

    kind: str
    numbers: NDArray[Any]
    distinct: FloatArray | None = None
    decimals: int = 0

    @property
    def n_bytes(self) -> int:
        """How many bytes the numbers and distinct values have."""
        n_bytes = len(self.numbers) * np.dtype(self.kind).itemsize
        return n_bytes if self.distinct is None else n_bytes + self.distinct.nbytes

    def data(self) -> list[str | int | None]:
        """The column as the page reads it."""
        return [
            self.kind,
            packed(self.numbers, self.kind),
            packed(self.distinct),
            self.decimals,
        ]


def shortest_form(column: FloatArray) -> ColumnForm:
    """Return the way to write a column that takes the fewest bytes."""
    return min(_forms(column), key=lambda form: form.n_bytes)


def _forms(column: FloatArray) -> Iterator[ColumnForm]:
    """Yield the ways to write a column."""
    distinct, codes = np.unique(column, return_inverse=True)
    if len(distinct) <= MAX_DISTINCT_CODES:
        yield ColumnForm("u1", codes, distinct=distinct)
    decimal_form = _as_whole_numbers(column)
    if decimal_form is not None:
        yield decimal_form
    yield ColumnForm("<f8", column)


def _as_whole_numbers(column: FloatArray) -> ColumnForm | None:
    """Return values of few decimals as whole numbers, or None if there are others."""
    is_missing = np.isnan(column)
    for decimals in range(MAX_DECIMALS + 1):
        whole = np.round(column * 10.0**decimals)
        is_exact = whole / 10.0**decimals == column
        if (is_missing | is_exact).all():
            break
    else:
        return None
    largest = np.abs(whole[~is_missing]).max(initial=0)
    if largest >= 2**31:
        return None
    kind = "<i2" if largest < 2**15 else "<i4"
    numbers = np.where(is_missing, np.iinfo(kind).min, whole)
    return ColumnForm(kind, numbers, decimals=decimals)
