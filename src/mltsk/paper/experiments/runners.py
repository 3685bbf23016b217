"""Where the cells of an experiment are done: here one after another, over processes, or on a Dask cluster.

A runner takes cells while it is ``free`` and gives each back with its outcome; what a cell gives does not depend on
where it was done. A process or worker that dies is the failure of the cell that killed it, not of the run.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol
from uuid import uuid4

from ...exceptions import InputError
from .cells import Cell
from .execute import execute
from .store import Outcome

Done = Iterator[tuple[Cell, Outcome]]
Task = tuple[Any, ...]  # arguments of `execute`, the cell first

ANSWER_SECONDS = 10.0  # in which a scheduler must answer
_DIED = "The process ended without a word; there may be too little memory for it."
_NO_START = (
    "Processes cannot be started: they import the script that asks for them, so its call belongs under "
    '`if __name__ == "__main__":`; or take jobs=1.'
)


class Runner(Protocol):
    """Does cells, ``slots`` of them at a time."""

    @property
    def slots(self) -> int: ...  # noqa: D102
    @property
    def busy(self) -> int: ...  # noqa: D102

    def start(self, task: Task) -> None:
        """Begin a cell."""

    def finished(self) -> Done:
        """Cells that are finished, after at most a second; none if there is none."""

    def close(self) -> None:
        """Stop what is running."""


class Serial:
    """One cell after another, in this process."""

    slots = 1

    def __init__(self) -> None:
        self._waiting: list[Task] = []

    @property
    def busy(self) -> int:
        """Cells begun."""
        return len(self._waiting)

    def start(self, task: Task) -> None:
        """See `Runner`."""
        self._waiting.append(task)

    def finished(self) -> Done:
        """See `Runner`."""
        task = self._waiting.pop()
        yield task[0], execute(*task)

    def close(self) -> None:
        """See `Runner`."""


class Processes:
    """Processes of this machine; after a death its cells are done again, each in a process of its own."""

    def __init__(self, jobs: int) -> None:
        self.slots, self._pool = jobs, _pool(jobs)
        self._running: dict[Future[Outcome], Task] = {}
        try:
            self._pool.submit(os.getpid).result()
        except BrokenProcessPool:
            raise InputError(_NO_START) from None

    @property
    def busy(self) -> int:
        """Cells begun."""
        return len(self._running)

    def start(self, task: Task) -> None:
        """See `Runner`."""
        try:
            future = self._pool.submit(execute, *task)
        except BrokenProcessPool as death:  # since the last look; `finished` sees to it
            future = Future()
            future.set_exception(death)
        self._running[future] = task

    def finished(self) -> Done:
        """See `Runner`."""
        for future in wait(self._running, timeout=1.0, return_when=FIRST_COMPLETED).done:
            if isinstance(future.exception(), BrokenProcessPool):
                yield from self._after_a_death()
                return
            yield self._running.pop(future)[0], future.result()

    def close(self) -> None:
        """See `Runner`."""
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()

    def _after_a_death(self) -> Done:
        self._pool.shutdown(wait=False, cancel_futures=True)
        tasks, self._running, self._pool = list(self._running.values()), {}, _pool(self.slots)
        for task in tasks:
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as alone:
                try:
                    yield task[0], alone.submit(execute, *task).result()
                except BrokenProcessPool:
                    yield task[0], Outcome(error=_DIED)


class Cluster:
    """A Dask cluster by the address of its scheduler; workers need this package and the data.

    Results come back to this process, which alone writes them. A cell whose worker is lost is done again by another.
    """

    def __init__(self, address: str) -> None:
        self.address, self._client = address, _connected(address)
        self._running: dict[Any, Task] = {}

    @property
    def slots(self) -> int:
        """Threads of the workers that are there now; twice as many cells are under way, so that none waits for us."""
        return max(1, 2 * sum(self._client.nthreads().values()))

    @property
    def busy(self) -> int:
        """Cells begun."""
        return len(self._running)

    def start(self, task: Task) -> None:
        """See `Runner`."""
        future = self._client.submit(execute, *task, key=f"mltsk-cell-{uuid4().hex}", pure=False)
        self._running[future] = task

    def finished(self) -> Done:
        """See `Runner`."""
        import distributed

        waiting: Any = distributed.wait
        try:
            with self._client.as_current():
                done = waiting(list(self._running), timeout=1.0, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            return
        for future in done:
            yield self._running.pop(future)[0], self._outcome(future)

    def close(self) -> None:
        """See `Runner`."""
        self._client.cancel(list(self._running))
        self._client.close()

    def _outcome(self, future: Any) -> Outcome:
        if future.status == "finished":
            return future.result()
        if future.status != "error":
            raise InputError(f"The cluster at {self.address} is gone; everything finished is kept.")
        problem = future.exception()
        died = type(problem).__name__ == "KilledWorker"
        return Outcome(error=_DIED if died else f"{type(problem).__name__}: {' '.join(str(problem).split())}")


def _connected(address: str) -> Any:
    try:
        import distributed
    except ImportError:
        raise ImportError('pip install "mltsk[dask]"') from None
    connect: Any = distributed.Client
    try:
        return connect(address, timeout=ANSWER_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError):
        example = "tcp://10.0.0.1:8786"
        message = (
            f"No Dask scheduler answers at {address}: start `dask scheduler`, and give its address, such as {example}."
        )
        raise InputError(message) from None


def _pool(jobs: int) -> ProcessPoolExecutor:
    # New interpreters: a fork would copy the locks of BLAS and PyTorch threads in whatever state they are.
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_serve)


def _serve() -> None:
    """Leave Ctrl-C to the process that keeps the results, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
