"""What tells a table from others: a digest of all of its cells.

A model file keeps it, so that a sheet about the rows of a fit is not made from others.
It is one digest of labels and features together: of a column of a few yes and no alone,
it could be found by trying.
"""

from hashlib import sha256

import numpy as np
import pandas
from numpy.typing import NDArray
from scipy import sparse

from ..core.arrays import Matrix


def table_digest(X: pandas.DataFrame | Matrix, Y: pandas.DataFrame) -> str:
    """A digest of features and labels; the order of columns does not matter.

    >>> X = pandas.DataFrame({"age": [50.0, None], "ward": ["north", "south"]})
    >>> Y = pandas.DataFrame({"gout": [1.0, 0.0]})
    >>> table_digest(X[["ward", "age"]], Y) == table_digest(X, Y)
    True
    >>> table_digest(X[::-1], Y) == table_digest(X, Y)
    False
    """
    digest = sha256()
    for half in (X, Y):
        for name, content in _columns(half):
            digest.update(f"{len(name)} {len(content)} ".encode())
            digest.update(name.encode("utf-8", "surrogatepass"))
            digest.update(content)
    return f"sha256:{digest.hexdigest()}"


def _columns(part: pandas.DataFrame | Matrix) -> list[tuple[str, bytes]]:
    """Names and contents of columns, sorted; of arrays, which have no names, parts."""
    if isinstance(part, pandas.DataFrame):
        columns = [(str(name), _content(part[name])) for name in part]
        return sorted(columns)
    if sparse.issparse(part):
        rows = sparse.csr_array(part)
        rows.sort_indices()
        numbers = _bytes(rows.data)
        places = _bytes(rows.indices) + _bytes(rows.indptr)
        return [("numbers", numbers), ("places", places)]
    return [("numbers", _bytes(np.asarray(part)))]


def _content(column: pandas.Series) -> bytes:
    """The cells of a column: numbers as such, all else as text."""
    if pandas.api.types.is_float_dtype(column.dtype):
        return _bytes(column.to_numpy(dtype=np.float64, na_value=np.nan))
    cells = column.astype(object)
    texts = ("=" + cells.astype(str)).where(cells.notna(), "")
    return "\0".join(texts).encode("utf-8", "surrogatepass")


def _bytes(numbers: NDArray[np.generic]) -> bytes:
    """Numbers as bytes; there is one zero, and one NaN."""
    floats = np.array(numbers, dtype="<f8") + 0.0
    floats[np.isnan(floats)] = np.nan
    return floats.tobytes()
