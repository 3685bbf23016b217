"""Which library computes: NumPy, or for torch tensors the same few functions on tensors, where those lie.

`namespace` looks at the arrays that come in and nothing else: no tensor, no torch (the mathematics imports none). What
a function makes lies where its input lies; numbers that decide something (a loss, a step, the few thousand
leave-one-out errors) are read on the host, data never are.

The names are those of the array API standard, in NumPy's spelling; ``like=`` says where a new array is to lie.

How many threads the work may use is chosen by its size. Two BLAS threads make the skinny products of clustering and of
small fits slower than one (``python -m benchmarks threads``), because each product is shorter than the handshake. They
pay for large fits alone. Products with sparse matrices know no threads of their own; `spread` shares them out rule by
rule. ``MLTSK_THREADS`` in the environment sets the number for both.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, reduce
from typing import Any, TypeGuard, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

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
    return x.to(dtype=namespace(x).dtype(dtype)) if is_tensor(x) else x.astype(dtype, copy=False)


def asnumpy(x: Any) -> Any:
    """x as a NumPy array: the one place where tensors leave their device."""
    return x.detach().cpu().numpy() if is_tensor(x) else np.asarray(x)


def put(x: Any, like: Any) -> Any:
    """The NumPy array x with the precision and in the place of ``like``."""
    return namespace(like).asarray(x, dtype=like.dtype, like=like) if is_tensor(like) else x


def device_memory(like: Any) -> int:
    """Bytes of memory of the GPU on which ``like`` lies; 0 where it does not lie on one."""
    if not (is_tensor(like) and like.is_cuda):
        return 0
    return int(sys.modules["torch"].cuda.get_device_properties(like.device).total_memory)


class Tensors:
    """The functions of NumPy that the mathematics uses, on torch tensors; what has the same form is torch's own."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._torch, name)
        if name not in ("empty", "zeros", "ones"):
            return own
        return lambda shape, dtype=np.float64, *, like: own(shape, dtype=self.dtype(dtype), device=like.device)

    def dtype(self, dtype: Any) -> Any:
        """torch's type of a name that either library uses."""
        return dtype if isinstance(dtype, self._torch.dtype) else getattr(self._torch, np.dtype(dtype).name)

    def result_type(self, *dtypes: Any) -> Any:
        """The precision of a result of these."""
        return reduce(self._torch.promote_types, [self.dtype(getattr(d, "dtype", d)) for d in dtypes])

    def asarray(self, x: Any, dtype: Any = None, like: Any = None) -> Any:
        """x as a tensor; a NumPy array goes to the device of ``like``."""
        device = getattr(x if like is None else like, "device", None)  # a default device of torch's moves nothing
        return self._torch.as_tensor(x, dtype=None if dtype is None else self.dtype(dtype), device=device)

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


# threads -------------------------------------------------------------------------------------------------------------


def asked_threads() -> int | None:
    """The number in MLTSK_THREADS, or None."""
    asked = os.environ.get("MLTSK_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) > 0 else None


def spread(work: Callable[[T], R], items: Sequence[T], flops: float) -> list[R]:
    """``work`` of every item, in order, over threads where the flops are worth them. Same numbers with any number."""
    workers = asked_threads() or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if workers == 1 or len(items) == 1 or flops < 1e8:
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
