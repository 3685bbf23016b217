"""Arrays: NumPy's, torch tensors where those lie, and CSR matrices, with the few operations that differ between them.

``X`` is an (N, D) float array or a CSR matrix of that shape; everything else is dense. `namespace` looks at the arrays
that come in and nothing else: no tensor, no torch (the mathematics imports none). What a function makes lies where its
input lies; numbers that decide something (a loss, a step, the few thousand leave-one-out errors) are read on the host,
data never are. The names are those of the array API standard, in NumPy's spelling; ``like=`` says where a new array is
to lie. Nor is SciPy imported: the metrics ask for `is_tensor` and are instant to import.

How many threads the work may use is chosen by its size. Two BLAS threads make the skinny products of clustering and of
small fits slower than one (``python -m benchmarks threads``), because each product is shorter than the handshake. They
pay for large fits alone. Products with sparse matrices know no threads of their own; `spread` shares them out rule by
rule. ``MLTSK_THREADS`` in the environment sets the number for both.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, reduce
from typing import Any, TypeAlias, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ..exceptions import InputError
from ..machine import asked_threads, usable_cores

Array: TypeAlias = NDArray[np.floating[Any]]
Matrix: TypeAlias = Any  # an Array or a scipy CSR matrix or array; scipy's sparse types are not generic in a useful way

# Temporaries of row-blocked work stay under this many bytes: large enough for BLAS, small next to any data set.
BLOCK_BYTES = 64 * 2**20
# Those on a GPU are larger, for its matrix units, and few, since each takes small tables along.
DEVICE_BLOCK_BYTES, DEVICE_BLOCK_SHARE = 8 * 10**9, 0.06

T = TypeVar("T")
R = TypeVar("R")

# Below this many flops in its largest product a fit runs on one thread: benchmarks/threads.py prints both times.
FLOPS_FOR_THREADS = 1e11


def is_tensor(x: Any) -> TypeGuard[Any]:
    """Whether x is a torch tensor; torch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def namespace(*arrays: Any) -> Any:
    """NumPy, or a `Tensors` namespace when any of the arrays is a torch tensor.

    >>> namespace(np.ones(2)) is np
    True
    """
    return _tensors() if any(map(is_tensor, arrays)) else np


def cast(x: Any, dtype: Any) -> Any:
    """x in another precision, itself if it has it already; NumPy's name of a type serves for tensors too."""
    return (
        x.to(dtype=namespace(x).dtype(dtype))
        if is_tensor(x)
        else x.astype(dtype, copy=False)
    )


def asnumpy(x: Any) -> Any:
    """x as a NumPy array: the one place where tensors leave their device."""
    return x.detach().cpu().numpy() if is_tensor(x) else np.asarray(x)


def put(x: Any, like: Any) -> Any:
    """The NumPy array x with the precision and in the place of ``like``."""
    return (
        namespace(like).asarray(x, dtype=like.dtype, like=like)
        if is_tensor(like)
        else x
    )


def device_memory(like: Any) -> int:
    """Bytes of memory of the GPU on which a tensor lies; 0 where it does not lie on one."""
    return (
        0
        if not like.is_cuda
        else int(
            sys.modules["torch"].cuda.get_device_properties(like.device).total_memory
        )
    )


class Tensors:
    """The functions of NumPy that the mathematics uses, on torch tensors; what has the same form is torch's own."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._torch, name)
        if name not in ("empty", "zeros", "ones"):
            return own
        return lambda shape, dtype=np.float64, *, like: own(
            shape, dtype=self.dtype(dtype), device=like.device
        )

    def dtype(self, dtype: Any) -> Any:
        """torch's type of a name that either library uses."""
        return (
            dtype
            if isinstance(dtype, self._torch.dtype)
            else getattr(self._torch, np.dtype(dtype).name)
        )

    def result_type(self, *dtypes: Any) -> Any:
        """The precision of a result of these."""
        return reduce(
            self._torch.promote_types,
            [self.dtype(getattr(d, "dtype", d)) for d in dtypes],
        )

    def asarray(self, x: Any, dtype: Any = None, like: Any = None) -> Any:
        """x as a tensor; a NumPy array goes to the device of ``like``."""
        device = getattr(
            x if like is None else like, "device", None
        )  # a default device of torch's moves nothing
        return self._torch.as_tensor(
            x, dtype=None if dtype is None else self.dtype(dtype), device=device
        )

    def arange(self, n: int, *, like: Any) -> Any:
        """NumPy's, on the device of ``like``."""
        return self._torch.arange(n, device=like.device)

    def maximum(self, a: Any, b: Any) -> Any:
        """Of two tensors, or of a tensor and a number."""
        return self._torch.maximum(a, b) if is_tensor(b) else a.clamp(min=b)

    def repeat(self, a: Any, count: Any, axis: int) -> Any:
        """NumPy's."""
        return self._torch.repeat_interleave(a, count, dim=axis)

    def fill_diagonal(self, A: Any, value: float) -> None:
        """In place."""
        A.fill_diagonal_(value)

    def flatnonzero(self, x: Any) -> Any:
        """Positions of what is not zero."""
        return self._torch.nonzero(x.reshape(-1))[:, 0]


@cache
def _tensors() -> Tensors:
    return Tensors(sys.modules["torch"])


# dense arrays and CSR -------------------------------------------------------------------------------------------------


def row_blocks(
    n_rows: int,
    bytes_per_row: int,
    limit: int = BLOCK_BYTES,
    *,
    like: Matrix | None = None,
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
    if not isinstance(values, np.ndarray):
        refuse_lazy(values, name)
    dtypes = (
        [values.dtype] if hasattr(values, "dtype") else getattr(values, "dtypes", ())
    )
    kinds = {getattr(dtype, "kind", "O") for dtype in dtypes}
    if np.ma.is_masked(values):
        raise InputError(
            f"{name} is a masked array: write NaN where a value is not known, as in {name}.filled(nan)."
        )
    if kinds & {"M", "m"}:
        raise InputError(
            f"{name} holds dates or times: turn them into numbers, such as days since some event."
        )
    if "c" in kinds:
        raise InputError(
            f"Complex data not supported: give the parts of {name} as columns of their own."
        )


def refuse_lazy(values: Any, name: str) -> None:
    """Refuse a frame of polars that has not been computed."""
    if type(values).__name__ == "LazyFrame":
        raise InputError(
            f"{name} is a LazyFrame of polars, which has no rows yet: pass what its collect() returns."
        )


def row_square_norms(X: Matrix) -> Array:
    """Squared Euclidean length of every row, (N,)."""
    if hasattr(X, "indptr"):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return namespace(X).einsum("nd,nd->n", X, X)


def dense(X: Matrix) -> Any:
    """X as a dense array."""
    return X.toarray() if hasattr(X, "toarray") else X


def is_sound(X: Matrix) -> bool:
    """Whether the parts of a CSR matrix from a file fit each other: SciPy lets a last row pass that ends at 0."""
    try:
        X.check_format(full_check=True)
    except ValueError:
        return False
    return bool((np.diff(X.indptr) >= 0).all())


def n_entries(X: Matrix) -> int:
    """Stored entries of X."""
    return int(X.nnz if hasattr(X, "indptr") else X.shape[0] * X.shape[1])


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
    return asnumpy(mean), np.sqrt(
        asnumpy(w @ xp.where(there, X - mean, 0.0) ** 2 / total)
    )


def within_reach(X: Matrix) -> Matrix:
    """X, in which numbers whose squares would not be finite are the largest ones whose squares are."""
    from scipy.sparse import csr_array

    xp, values = namespace(X), X.data if hasattr(X, "indptr") else X
    most = float(xp.finfo(X.dtype).max) ** 0.4
    if bool((abs(values) <= most).all()):
        return X
    values = xp.clip(values, -most, most)
    return (
        csr_array((values, X.indices, X.indptr), shape=X.shape)
        if hasattr(X, "indptr")
        else values
    )


def unit_rows(X: Matrix) -> Matrix:
    """Every row scaled to unit length; a row of zeros stays as it is. CSR in, CSR out."""
    from scipy.sparse import csr_array

    xp = namespace(X)
    norms = cast(xp.sqrt(row_square_norms(X)), X.dtype)
    scale = 1.0 / xp.where(norms > 0, norms, 1.0)
    if hasattr(X, "indptr"):
        return csr_array(
            (X.data * np.repeat(scale, np.diff(X.indptr)), X.indices, X.indptr),
            shape=X.shape,
        )
    return X * scale[:, None]


# threads -------------------------------------------------------------------------------------------------------------


def spread(work: Callable[[T], R], items: Sequence[T], flops: float) -> list[R]:
    """``work`` of every item, in order, over threads where the flops are worth them. Same numbers with any number."""
    if len(items) == 1 or flops < 1e8:
        return [work(item) for item in items]
    workers = usable_cores()
    if workers == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(min(workers, len(items))) as pool:
        return list(pool.map(work, items))


@cache
def _controller() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401 - SciPy's BLAS must be loaded to be found

    return ThreadpoolController()


@contextmanager
def blas_threads(flops: float) -> Iterator[None]:
    """Limit BLAS to one thread for work of fewer than FLOPS_FOR_THREADS flops, or to MLTSK_THREADS if that is set."""
    limit = asked_threads() or (1 if flops < FLOPS_FOR_THREADS else None)
    if limit is None:
        yield
        return
    with _controller().limit(limits=limit, user_api="blas"):
        yield
