"""How many threads work at once: our own, and those of BLAS."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TypeAlias, TypeVar

from threadpoolctl import LibController, ThreadpoolController

from ..machine import usable_cores

# A fit runs on one thread if its largest product has fewer floating-point operations
# than this: benchmarks/threads.py prints both times.
FLOPS_FOR_THREADS = 1e10
MIN_THREADED_FACTOR = 3_000  # of a matrix for which SciPy's BLAS gets threads too
MIN_SPREAD_FLOPS = 1e8  # below, starting threads takes longer than the work

# Libraries and their numbers of threads.
ThreadNumbers: TypeAlias = list[tuple[LibController, int]]
T = TypeVar("T")
R = TypeVar("R")


def asked_threads() -> int | None:
    """The number in MLTSK_THREADS, or None."""
    asked = os.environ.get("MLTSK_THREADS", "")
    return int(asked) if asked.isdecimal() and int(asked) > 0 else None


def spread(work: Callable[[T], R], items: Sequence[T], flops: float) -> list[R]:
    """Do ``work`` for each item, in threads if there are enough flops to pay for them.

    Results are in the order of the items and do not depend on the number of threads.
    """
    workers = 1
    if len(items) > 1 and flops >= MIN_SPREAD_FLOPS:
        workers = asked_threads() or usable_cores()
    if workers == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(min(workers, len(items))) as pool:
        return list(pool.map(work, items))


@cache
def _controller() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401 - SciPy's BLAS must be loaded to be found

    return ThreadpoolController()


class _BlasLimit:
    """One limit of BLAS threads for the process, which several threads may ask for.

    Most builds of BLAS have one number of threads for the process. The first who asks
    sets it and remembers what it was; the last who leaves puts that back. Without
    counting, the first of two fits that overlap would end the limit of the second, and
    the second would put back the limit of the first for good. Builds with OpenMP have a
    number for each thread: there everybody sets and restores their own.
    """

    def __init__(self) -> None:
        self._before: ThreadNumbers = []
        self.start_anew()

    def start_anew(self) -> None:
        """Forget who is inside: in the child of a fork there is nobody."""
        self._lock = threading.Lock()
        self._n_inside = 0

    def enter(self, limit: int | None) -> ThreadNumbers:
        """Set the limit, None for what is there; the result is for `leave`."""
        own = _limited(_blas_libraries(per_thread=True), limit)
        with self._lock:
            if self._n_inside == 0:
                self._before = _limited(_blas_libraries(per_thread=False), limit)
            self._n_inside += 1
        return own

    def leave(self, own: ThreadNumbers) -> None:
        """Put back what was there, for the process if nobody else is inside."""
        _restore(own)
        with self._lock:
            self._n_inside = max(self._n_inside - 1, 0)
            if self._n_inside == 0:
                _restore(self._before)


def _blas_libraries(*, per_thread: bool) -> list[LibController]:
    """BLAS libraries with a number of threads for each thread, or for the process."""
    libraries = []
    for library in _controller().lib_controllers:
        has_own = getattr(library, "threading_layer", None) == "openmp"
        if library.user_api == "blas" and has_own == per_thread:
            libraries.append(library)
    return libraries


def _is_scipys_own(library: LibController) -> bool:
    """Whether SciPy brought a library along, next to that of NumPy."""
    folders = Path(library.filepath).parts[:-1]
    return not {"scipy", "scipy.libs"}.isdisjoint(folders)


def _limited(libraries: list[LibController], limit: int | None) -> ThreadNumbers:
    """Limit the threads of libraries, None for as many as there are; what was before.

    SciPy's own BLAS gets one thread: threads of two libraries wait for each other at
    full speed, and a fit to 41,536 rows took 7.3 seconds on two cores with two threads
    each, where it takes 5.9 on one.
    """
    before = [(library, library.num_threads) for library in libraries]
    for library in libraries:
        n_threads = 1 if _is_scipys_own(library) else limit
        if n_threads is not None:
            library.set_num_threads(n_threads)
    return before


def _restore(before: ThreadNumbers) -> None:
    """Give libraries the threads that they had.

    threadpoolctl listens only to the thread that set a number first, until that one
    lets go (from version 3.7 on). The thread that restores is often another one.
    """
    for library, n_threads in before:
        let_go = getattr(library, "clear_controlling_thread", None)
        if let_go is None:
            library.set_num_threads(n_threads)
        else:
            let_go(force=True)
            library.set_num_threads(n_threads)
            let_go(force=True)


_blas_limit = _BlasLimit()
if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_blas_limit.start_anew)


@contextmanager
def blas_threads(flops: float) -> Iterator[None]:
    """Limit BLAS to one thread for work of fewer than FLOPS_FOR_THREADS flops.

    If MLTSK_THREADS is set, that is the limit, or the number of cores where these are
    fewer: threads of BLAS wait for each other at full speed. Three fits of 400 rows
    took 2 seconds with one thread on one core, and over 9 minutes with four. The number
    of threads is one for the whole process; it is as before when the last fit that runs
    has ended.
    """
    limit = asked_threads() or (1 if flops < FLOPS_FOR_THREADS else None)
    if limit is not None and limit > 1:
        limit = min(limit, usable_cores())
    own = _blas_limit.enter(limit)
    try:
        yield
    finally:
        _blas_limit.leave(own)


@contextmanager
def factor_threads(size: int) -> Iterator[None]:
    """Give SciPy's BLAS the threads of NumPy's, to factorise a matrix (size, size).

    Where both have one library, or the matrix is not large, nothing changes.
    """
    libraries = _blas_libraries(per_thread=False)
    scipys = [library for library in libraries if _is_scipys_own(library)]
    others = [library for library in libraries if not _is_scipys_own(library)]
    if size < MIN_THREADED_FACTOR or not scipys or not others:
        yield
        return
    before = [(library, library.num_threads) for library in scipys]
    for library in scipys:
        library.set_num_threads(others[0].num_threads)
    try:
        yield
    finally:
        _restore(before)
