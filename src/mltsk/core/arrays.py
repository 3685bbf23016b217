"""NumPy arrays, torch tensors and CSR matrices, and the operations that differ.

Symbols: N samples, D features, L labels; X (N, D) samples, dense or CSR; w weights of
samples (N,), or of each of their labels (N, L).

`namespace` looks at the arrays that come in and returns NumPy, or functions of the same
names for torch tensors. Without a tensor, torch is never imported. A result lies where
its input lies. Only numbers that decide something (a loss, a step, a few thousand
leave-one-out errors) are copied from a GPU to the host, the data never. Functions have
the names of the array API standard, in NumPy's spelling; ``like=`` says where a new
array is to lie. SciPy is imported only inside functions that need it, because the
metrics use `is_tensor` and should be quick to import.

The number of threads depends on the size of the work. Two BLAS threads make the narrow
matrix products of clustering and of small fits slower than one does
(``python -m benchmarks threads``), because starting them takes longer than a product.
They pay only for large fits. Products with sparse matrices use no threads by
themselves; `spread` shares them out rule by rule. ``MLTSK_THREADS`` in the environment
sets the number for both.
"""

import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..exceptions import InputError
from .tensors import Tensor, Tensors

# A NumPy array of single or double precision.
FloatArray: TypeAlias = NDArray[np.floating[Any]]
# A CSR matrix or array of SciPy, which publishes no types.
CSR: TypeAlias = Any
# What most functions of the core accept and return: a NumPy array or a torch tensor.
Array: TypeAlias = FloatArray | Tensor
# Samples, which may be sparse as well.
Matrix: TypeAlias = FloatArray | Tensor | CSR

# Work on blocks of rows keeps its temporary arrays below this many bytes: enough for
# BLAS, little next to any data set.
BLOCK_BYTES = 64 * 2**20
# On a GPU blocks are larger, which suits its matrix units, and therefore few, because
# each block needs small tables of its own. They stay below this share of its memory.
DEVICE_BLOCK_BYTES = 8 * 10**9
DEVICE_BLOCK_SHARE = 0.06


# arrays and tensors -------------------------------------------------------------------


def is_tensor(x: object) -> TypeGuard[Tensor]:
    """Whether x is a torch tensor; torch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def is_csr(x: object) -> TypeGuard[CSR]:
    """Whether x is a CSR matrix; SciPy is not imported to find out."""
    return hasattr(x, "indptr")


def namespace(*arrays: object) -> Any:
    """NumPy, or its functions for torch tensors if one of the arrays is a tensor.

    >>> namespace(np.ones(2)) is np
    True
    """
    return _tensors() if any(map(is_tensor, arrays)) else np


def cast(x: Matrix, dtype: DTypeLike) -> Matrix:
    """Convert x to another precision; x itself if it already has that precision.

    ``dtype`` may have NumPy's name of a type for tensors, too.
    """
    if is_tensor(x):
        return x.to(dtype=namespace(x).dtype(dtype))
    return x.astype(dtype, copy=False)


def asnumpy(x: Array) -> NDArray[Any]:
    """Convert x to a NumPy array: the one place where tensors leave their device."""
    if is_tensor(x):
        x = x.detach().cpu().numpy()
    return np.asarray(x)


def put(x: Array, like: Matrix) -> Array:
    """Move the NumPy array x to the device and precision of the tensor ``like``.

    If ``like`` is not a tensor, x comes back as it is.
    """
    if not is_tensor(like):
        return x
    return namespace(like).asarray(x, dtype=like.dtype, like=like)


def device_memory(like: Tensor) -> int:
    """Bytes of memory of the GPU that holds a tensor; 0 if no GPU holds it."""
    if not like.is_cuda:
        return 0
    torch = sys.modules["torch"]
    return int(torch.cuda.get_device_properties(like.device).total_memory)


@cache
def _tensors() -> Tensors:
    """The namespace of tensors; torch is loaded, because a tensor exists."""
    return Tensors(sys.modules["torch"])


def underflow_is_zero() -> np.errstate:
    """Let numbers that are too small become 0, whatever the caller asked of NumPy.

    Where memberships are computed, that is the answer: far from a rule they are 0.
    """
    return np.errstate(under="ignore")


# rows ---------------------------------------------------------------------------------


def row_blocks(
    n_rows: int,
    bytes_per_row: int,
    limit: int = BLOCK_BYTES,
    *,
    like: Matrix | None = None,
) -> Iterator[slice]:
    """Slices that cover ``range(n_rows)``, with few bytes of temporaries each.

    Parameters
    ----------
    n_rows : int
    bytes_per_row : int
        Temporary memory that the work on one row needs.
    limit : int
        The most bytes of a block, on the host; blocks on a GPU are larger.
    like : array or tensor, optional
        Where the work is done.

    Examples
    --------
    >>> list(row_blocks(5, 8, limit=16))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    if is_tensor(like) and like.is_cuda:
        limit = min(DEVICE_BLOCK_BYTES, int(DEVICE_BLOCK_SHARE * device_memory(like)))
    step = max(1, limit // max(1, bytes_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def spread_rows(n: int, limit: int) -> slice | NDArray[np.int_]:
    """All ``n`` rows, or ``limit`` of them evenly spread from the first to the last.

    >>> spread_rows(7, 3).tolist()
    [0, 3, 6]
    """
    if n <= limit:
        return slice(None)
    return np.linspace(0, n - 1, limit).astype(int)


def weights_per_label(w: Array, shape: tuple[int, ...]) -> Array:
    """Weights as (N, L): weights of samples (N,) hold for each of their labels.

    Parameters
    ----------
    w : array of shape (N,) or (N, L)
    shape : (N, L)

    Returns
    -------
    array of shape (N, L)
        A view, which NumPy does not let you write to.

    Examples
    --------
    >>> weights_per_label(np.array([1.0, 2.0]), (2, 3)).tolist()
    [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
    """
    columns = w[:, None] if w.ndim == 1 else w
    return namespace(w).broadcast_to(columns, shape)


def mean_of_known(A: FloatArray, axis: int) -> NDArray[np.float64]:
    """Means along an axis without NaN; NaN, and no warning, where nothing is known.

    >>> mean_of_known(np.array([[1.0, np.nan], [3.0, np.nan]]), axis=0).tolist()
    [2.0, nan]
    """
    is_known = ~np.isnan(A)
    n_known = is_known.sum(axis=axis)
    sums = np.where(is_known, A, 0.0).sum(axis=axis)
    return np.where(n_known > 0, sums / np.maximum(n_known, 1), np.nan)


# what users pass ----------------------------------------------------------------------


def check_plain(values: object, name: str) -> None:
    """Refuse masks, dates and complex numbers, which plain numbers would lose.

    Parameters
    ----------
    values : array, CSR, data frame or sequence
    name : str
        What the message calls them: "X", "y", "sample_weight".
    """
    if not isinstance(values, np.ndarray):
        refuse_lazy(values, name)
    if hasattr(values, "dtype"):
        dtypes = [values.dtype]
    else:
        dtypes = getattr(values, "dtypes", [])
    kinds = {getattr(dtype, "kind", "O") for dtype in dtypes}
    if np.ma.is_masked(values):
        raise InputError(
            f"{name} is a masked array: write NaN where a value is not known, "
            f"as in {name}.filled(nan)."
        )
    if kinds & {"M", "m"}:
        raise InputError(
            f"{name} holds dates or times: turn them into numbers, "
            "such as days since some event."
        )
    if "c" in kinds:
        raise InputError(
            f"Complex data not supported: give the parts of {name} "
            "as columns of their own."
        )


def refuse_lazy(values: object, name: str) -> None:
    """Refuse a frame of polars that has not been computed."""
    if type(values).__name__ == "LazyFrame":
        raise InputError(
            f"{name} is a LazyFrame of polars, which has no rows yet: "
            "pass what its collect() returns."
        )


# dense arrays and CSR -----------------------------------------------------------------


def dense(X: Matrix) -> Array:
    """X as a dense array."""
    return X.toarray() if hasattr(X, "toarray") else X


def n_entries(X: Matrix) -> int:
    """The number of entries of X that are stored."""
    return int(X.nnz if is_csr(X) else X.shape[0] * X.shape[1])


def is_sound(X: CSR) -> bool:
    """Whether the arrays of a CSR matrix from a file fit each other.

    SciPy's own check accepts a last row that ends at 0.
    """
    try:
        X.check_format(full_check=True)
    except ValueError:
        return False
    return bool((np.diff(X.indptr) >= 0).all())


def row_square_norms(X: Matrix) -> Array:
    """Squared Euclidean length (N,) of each row of X (N, D)."""
    if is_csr(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return namespace(X).einsum("nd,nd->n", X, X)


def weighted_mean(X: Matrix, w: Array) -> Array:
    """Mean (D,) of the rows of X (N, D) under the weights w (N,)."""
    return namespace(X).asarray(X.T @ cast(w, X.dtype)).ravel() / w.sum()


@underflow_is_zero()
def weighted_mean_and_sd(X: Matrix, w: Array) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of each column, missing values left out.

    Parameters
    ----------
    X : array or CSR of shape (N, D)
        NaN is missing in dense arrays; CSR has none.
    w : array of shape (N,)

    Returns
    -------
    mean, sd : NumPy arrays of shape (D,)
    """
    w = cast(w, X.dtype)
    if is_csr(X):
        return _sparse_mean_and_sd(X, w)
    xp = namespace(X)
    measured = X == X
    if bool(measured.all()):
        mean = weighted_mean(X, w)
        variance = w @ (X - mean) ** 2 / w.sum()
    else:
        total = w @ cast(measured, X.dtype)
        total = xp.where(total > 0, total, 1.0)
        mean = w @ xp.where(measured, X, 0.0) / total
        variance = w @ xp.where(measured, X - mean, 0.0) ** 2 / total
    return asnumpy(mean), np.sqrt(asnumpy(variance))


def _sparse_mean_and_sd(X: CSR, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """`weighted_mean_and_sd` of CSR: cells that are stored, and zeros for the rest.

    Squares are those of distances from the mean, so nothing cancels.
    """
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    mean = weighted_mean(X, w)
    weights = np.repeat(w, np.diff(X.indptr))
    distances = X.data - mean[X.indices]
    n_columns = X.shape[1]
    squares = np.bincount(X.indices, weights * distances**2, minlength=n_columns)
    stored = np.bincount(X.indices, weights, minlength=n_columns)
    squares = squares + np.maximum(w.sum() - stored, 0.0) * mean**2
    return mean, np.sqrt(squares / w.sum())


def put_double(table: FloatArray, like: Array) -> Array:
    """A table in double precision, where ``like`` lies."""
    if not is_tensor(like):
        return np.asarray(table, dtype=np.float64)
    return namespace(like).asarray(table, dtype=np.float64, like=like)
