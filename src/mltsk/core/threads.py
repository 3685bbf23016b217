"""How many threads the work may use, chosen by its size.

Two BLAS threads made the skinny products of clustering and of small fits slower than one, up to 40 times on a busy
machine (an emotions fit took 1.9 s against 0.04 s), because each product is shorter than the handshake. They pay for
large fits alone. Products with sparse matrices know no threads of their own; `spread` shares them out rule by
rule. ``MLTSK_THREADS`` in the environment sets the number for both.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")

# Below this many flops in its largest product a fit runs on one thread: benchmarks/threads.py prints both times.
FLOPS_FOR_THREADS = 1e11


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
