"""The array types of the mathematics, and the few operations that differ between dense and CSR input.

``X`` is an (N, D) float array or a CSR matrix of that shape; everything else is dense. A dense array may be a torch
tensor (`backend`).
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..exceptions import InputError
from .backend import asnumpy, cast, device_memory, is_tensor, namespace

Array: TypeAlias = NDArray[np.floating[Any]]
Matrix: TypeAlias = Any  # an Array or a scipy CSR matrix or array; scipy's sparse types are not generic in a useful way

# Temporaries of row-blocked work stay under this many bytes: large enough for BLAS, small next to any data set.
BLOCK_BYTES = 64 * 2**20
# Those on a GPU are larger, for its matrix units, and few, since each takes small tables along.
DEVICE_BLOCK_BYTES, DEVICE_BLOCK_SHARE = 8 * 10**9, 0.06


def row_blocks(
    n_rows: int, bytes_per_row: int, limit: int = BLOCK_BYTES, *, like: Matrix | None = None
) -> Iterator[slice]:
    """Slices that cover ``range(n_rows)``, each with at most ``limit`` bytes of temporaries (more on a GPU).

    >>> list(row_blocks(5, 8, limit=16))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    if is_tensor(like) and (memory := device_memory(like)):
        limit = min(DEVICE_BLOCK_BYTES, int(DEVICE_BLOCK_SHARE * memory))
    step = max(1, limit // max(1, bytes_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def spread_rows(n: int, limit: int) -> "slice | NDArray[np.int_]":
    """All rows of ``n``, or ``limit`` of them evenly spread, first and last included.

    >>> spread_rows(7, 3).tolist()
    [0, 3, 6]
    """
    return slice(None) if n <= limit else np.linspace(0, n - 1, limit).astype(int)


def check_plain(values: Any, name: str) -> None:
    """Refuse what would lose something without a word on its way to plain numbers: masks, dates, imaginary parts."""
    refuse_lazy(values, name)
    dtypes = [values.dtype] if hasattr(values, "dtype") else getattr(values, "dtypes", ())
    kinds = {getattr(dtype, "kind", "O") for dtype in dtypes}
    if np.ma.is_masked(values):
        raise InputError(f"{name} is a masked array: write NaN where a value is not known, as in {name}.filled(nan).")
    if kinds & {"M", "m"}:
        raise InputError(f"{name} holds dates or times: turn them into numbers, such as days since some event.")
    if "c" in kinds:
        raise InputError(f"Complex data not supported: give the parts of {name} as columns of their own.")


def refuse_lazy(values: Any, name: str) -> None:
    """Refuse a frame of polars that has not been computed."""
    if type(values).__name__ == "LazyFrame":
        raise InputError(f"{name} is a LazyFrame of polars, which has no rows yet: pass what its collect() returns.")


def row_square_norms(X: Matrix) -> Array:
    """Squared Euclidean length of every row, (N,)."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return namespace(X).einsum("nd,nd->n", X, X)


def dense(X: Matrix) -> Any:
    """X as a dense array."""
    return X.toarray() if sparse.issparse(X) else X


def n_entries(X: Matrix) -> int:
    """Stored entries of X."""
    return int(X.nnz if sparse.issparse(X) else X.shape[0] * X.shape[1])


def weighted_mean(X: Matrix, w: Array) -> Array:
    """Mean row under the weights ``w``, (D,)."""
    return namespace(X).asarray(X.T @ cast(w, X.dtype)).ravel() / w.sum()


def weighted_mean_and_sd(X: Array, w: Array) -> tuple[Any, Any]:
    """Mean and standard deviation (D,) of the columns of dense X, of what is not missing, as NumPy arrays."""
    xp, w = namespace(X), cast(w, X.dtype)
    there = X == X
    if bool(there.all()):
        mean = weighted_mean(X, w)
        return asnumpy(mean), np.sqrt(asnumpy(w @ (X - mean) ** 2 / w.sum()))
    total = w @ cast(there, X.dtype)
    total = xp.where(total > 0, total, 1.0)
    mean = w @ xp.where(there, X, 0.0) / total
    return asnumpy(mean), np.sqrt(asnumpy(w @ xp.where(there, X - mean, 0.0) ** 2 / total))


def within_reach(X: Matrix) -> Matrix:
    """X, in which numbers whose squares would not be finite are the largest ones whose squares are."""
    xp, values = namespace(X), X.data if sparse.issparse(X) else X
    most = float(xp.finfo(X.dtype).max) ** 0.4
    if bool((abs(values) <= most).all()):
        return X
    values = xp.clip(values, -most, most)
    return sparse.csr_array((values, X.indices, X.indptr), shape=X.shape) if sparse.issparse(X) else values


def unit_rows(X: Matrix) -> Matrix:
    """Every row scaled to unit length; a row of zeros stays as it is. CSR in, CSR out."""
    xp = namespace(X)
    norms = cast(xp.sqrt(row_square_norms(X)), X.dtype)
    scale = 1.0 / xp.where(norms > 0, norms, 1.0)
    if sparse.issparse(X):
        return sparse.csr_array((X.data * np.repeat(scale, np.diff(X.indptr)), X.indices, X.indptr), shape=X.shape)
    return X * scale[:, None]
