"""The data section of an ARFF file: every row becomes numbers as it is read, so that no text is held.

Dense rows fill one float64 buffer. Sparse rows fill the three arrays of a CSR matrix; an attribute that a
sparse row does not mention has the number 0, or the *first* category when it is nominal, as WEKA defines it.
"""

import re
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .arff_text import Fault, items, short, values
from .dataset import category_values

MAX_FILLED = 1 << 24  # entries that omitted non-zero first categories may add to a sparse file

_SPECIAL = re.compile(r"""['"?{}\\_]""")


class Rows:
    """Rows of an ARFF file, one call to `add` each; `finish` gives the matrix."""

    def __init__(self, names: Sequence[str], categories: Sequence[tuple[str, ...]]) -> None:
        self.names, self.categories = names, categories
        self.codes = [dict(zip(c, category_values(c).tolist(), strict=True)) for c in categories]
        self.convert: list[Callable[[str], float]] = [c.__getitem__ if c else float for c in self.codes]
        self.sparse: bool | None = None
        self.data, self.columns, self.starts, self.lines = array("d"), array("i"), array("q", [0]), array("q")

    def add(self, line: str, number: int) -> None:
        """Take in one line of the data section."""
        if self.sparse is None:
            self.sparse = line.startswith("{")
        self.lines.append(number)
        if self.sparse:
            self._add_sparse(line)
        else:
            self._add_dense(line)
        self.starts.append(len(self.data))

    def finish(self) -> Any:
        """The matrix: a float64 array, or a CSR array when the rows were sparse."""
        if not self.lines:
            raise Fault("there is no row after @data (is the file cut off?)")
        shape = (len(self.lines), len(self.names))
        if not self.sparse:
            return np.array(self.data).reshape(shape)
        columns, starts = np.array(self.columns, dtype=np.int32), np.array(self.starts, dtype=np.int64)
        self._check(columns, starts)
        X = sparse.csr_array((np.array(self.data, dtype=np.float64), columns, starts), shape=shape)
        X.sort_indices()
        X = _fill_omitted(X, self.categories)
        X.eliminate_zeros()
        return X

    def _add_dense(self, line: str) -> None:
        if not _SPECIAL.search(line):
            try:
                self.data.extend([c(text) for c, text in zip(self.convert, line.split(","), strict=True)])
                return
            except (ValueError, KeyError):
                pass  # the careful way copes with spaces around values, or says what is wrong
        row = [(text, quoted) for text, quoted in values(line)]
        if len(row) != len(self.names):
            raise Fault(f"{len(row)} values for {len(self.names)} attributes (is the file cut off?)")
        self.data.extend([self._number(j, text, quoted) for j, (text, quoted) in enumerate(row)])

    def _add_sparse(self, line: str) -> None:
        if not (line.startswith("{") and line.endswith("}")):
            raise Fault(f"expected a sparse row in braces, found {short(line)} (is the file cut off?)")
        line = line[1:-1].strip()
        if line and (_SPECIAL.search(line) or not self._add_plain_items(line)):
            for column, text, quoted in items(line):
                if column >= len(self.names):
                    raise Fault(f"there is no attribute {column}: the positions are 0 to {len(self.names) - 1}")
                self.data.append(self._number(column, text, quoted))
                self.columns.append(column)

    def _add_plain_items(self, line: str) -> bool:
        try:
            positions, texts = zip(*map(str.split, line.split(",")), strict=True)
            columns = [int(position) for position in positions]
            self.data.extend([self.convert[j](text) for j, text in zip(columns, texts, strict=True)])
            self.columns.extend(columns)
        except (ValueError, KeyError, IndexError):
            return False
        return True

    def _number(self, j: int, text: str, quoted: bool) -> float:
        if text == "?" and not quoted:
            return np.nan
        if self.codes[j]:
            if text not in self.codes[j]:
                raise Fault(f"{self.names[j]!r} has no category {short(text)}")
            return self.codes[j][text]
        try:
            return float(text.replace("_", "x"))  # float() alone reads 1_0 as 10
        except ValueError:
            raise Fault(f"{self.names[j]!r} is numeric and cannot be {short(text)}") from None

    def _check(self, columns: NDArray[np.int32], starts: NDArray[np.int64]) -> None:
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        if (columns < 0).any():
            at = (columns < 0).argmax()
            raise Fault(f"there is no attribute {columns[at]}", self.lines[rows[at]])
        order = np.lexsort((columns, rows))
        twice = (np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)
        if twice.any():
            at = order[twice.argmax()]
            raise Fault(f"{self.names[columns[at]]!r} is given twice", self.lines[rows[at]])


def _fill_omitted(X: sparse.csr_array, categories: Sequence[tuple[str, ...]]) -> sparse.csr_array:
    """Write the first category where it was omitted, in the rare columns where it is not the number 0."""
    first = {j: value for j, c in enumerate(categories) if c and (value := category_values(c)[0]) != 0}
    if not first:
        return X
    columns = np.array(list(first))
    if len(columns) * X.shape[0] > MAX_FILLED:
        raise Fault(f"{len(columns)} nominal attributes whose first category is not 0 are too many for a sparse file")
    given = sparse.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)[:, columns].toarray()
    rows, which = np.nonzero(given == 0)
    filled = np.array(list(first.values()))[which]
    return sparse.csr_array(X + sparse.csr_array((filled, (rows, columns[which])), shape=X.shape))
