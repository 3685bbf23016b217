"""Runs the cells of an experiment: here one after another, over processes, or on a Dask cluster.

Only this process writes; every cell is kept as soon as it is finished, and stopping keeps all that is finished. What a
cell gives does not depend on where it was done. A cell that fails is kept with its error and the rest goes on; a
process or worker that dies is the failure of the cell that killed it, not of the run.
"""

import multiprocessing
import os
import platform
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from ...exceptions import InputError, optional
from ...machine import ignore_interrupts
from .definition import Definition
from .execute import execute
from .store import Cell, Outcome, Store

Done = Iterator[tuple[Cell, Outcome]]
Task = tuple[Any, ...]  # arguments of `execute`, the cell first
Report = Callable[["Progress", Cell | None, Outcome | None], object]

_DIED = "The process ended without a word; there may be too little memory for it."
_NO_START = (
    "Processes cannot be started: they import the script that asks for them, so its call belongs under "
    '`if __name__ == "__main__":`; or take jobs=1.'
)


@dataclass
class Progress:
    """How far a run is, for whoever shows it."""

    total: int
    done: int = 0
    failed: int = 0
    running: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    # by method and data set: sizes of the cells to come and of those done, and the seconds that these took
    _work: dict[tuple[str, str], Any] = field(
        default_factory=lambda: defaultdict(lambda: np.zeros(3))
    )

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.started

    def expect(self, cells: Iterable[Cell]) -> None:
        """Note cells to come."""
        for cell in cells:
            self._work[cell.method, cell.dataset] += (cell.size, 0, 0)

    def count(self, cell: Cell, outcome: Outcome) -> None:
        """Note a finished cell."""
        self._work[cell.method, cell.dataset] += (
            -cell.size,
            cell.size,
            outcome.seconds,
        )
        self.running.pop(str(cell), None)
        self.done += 1
        self.failed += bool(outcome.error)

    def seconds_left(self, jobs: int) -> tuple[float, bool] | None:
        """A guess from what cells of the same method took, of its data set if there were any; None without any cell.

        The second says whether it covers all: methods of which nothing is finished yet are left out.
        """
        by_method, total, complete = (
            defaultdict[str, Any](lambda: np.zeros(3)),
            0.0,
            True,
        )
        for (method, _), work in self._work.items():
            by_method[method] += work
        for (method, _), work in self._work.items():
            _, did, took = work if work[1] else by_method[method]
            total += max(0.0, work[0]) * took / did if did else 0.0
            complete = complete and bool(did or work[0] <= 0)
        return (
            (total / jobs, complete)
            if any(work[1] for work in by_method.values())
            else None
        )


class Runner:
    """Does cells, ``slots`` of them at a time: this one in this process, one after another."""

    slots = 1

    def __init__(self) -> None:
        self.running: dict[Any, Task] = {}

    def start(self, task: Task) -> None:
        """Begin a cell."""
        self.running[task[0].key] = task

    def finished(self) -> Done:
        """Cells that are finished, after at most a second; none if there is none."""
        _, task = self.running.popitem()
        yield task[0], execute(*task)

    def close(self) -> None:
        """Stop what is running."""


class Processes(Runner):
    """Processes of this machine; after a death its cells are done again, each in a process of its own."""

    name = "pool of processes"

    def __init__(self, jobs: int) -> None:
        super().__init__()
        self.slots, self._pool = jobs, _pool(jobs)
        try:
            self._pool.submit(os.getpid).result()
        except BrokenProcessPool:
            raise InputError(_NO_START) from None

    def start(self, task: Task) -> None:  # noqa: D102
        try:
            future = self._pool.submit(execute, *task)
        except BrokenProcessPool as death:  # since the last look; `finished` sees to it
            future = Future()
            future.set_exception(death)
        self.running[future] = task

    def finished(self) -> Done:  # noqa: D102
        for future in wait(self.running, timeout=1.0, return_when=FIRST_COMPLETED).done:
            problem = None if future.cancelled() else future.exception()
            if isinstance(problem, BrokenProcessPool):
                self._pool.shutdown(wait=False, cancel_futures=True)
                tasks, self.running, self._pool = (
                    list(self.running.values()),
                    {},
                    _pool(self.slots),
                )
                for task in tasks:
                    with _pool(1) as alone:
                        yield task[0], self._outcome(alone.submit(execute, *task))
                return
            yield self.running.pop(future)[0], self._outcome(future)

    def _outcome(self, future: "Future[Outcome]") -> Outcome:
        try:
            return future.result()
        except CancelledError:
            raise InputError(
                f"The {self.name} is gone; everything finished is kept."
            ) from None
        except Exception as problem:
            died = type(problem).__name__ in ("BrokenProcessPool", "KilledWorker")
            return Outcome(
                error=_DIED
                if died
                else f"{type(problem).__name__}: {' '.join(str(problem).split())}"
            )

    def close(self) -> None:  # noqa: D102
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


class Cluster(Processes):
    """A Dask cluster by the address of its scheduler; workers need this package and the data.

    The scheduler must answer within ``seconds``. Results come back to this process, which alone writes them. A cell
    whose worker is lost is done again by another.
    """

    def __init__(self, address: str, seconds: float = 10.0) -> None:
        Runner.__init__(self)
        self.name = f"cluster at {address}"
        connect: Any = optional("distributed", "dask").Client
        try:
            self._client = connect(address, timeout=seconds, set_as_default=False)
        except (OSError, ValueError, TimeoutError):
            message = f"No Dask scheduler answers at {address}: start `dask scheduler`, and give its address, such as"
            raise InputError(f"{message} tcp://10.0.0.1:8786.") from None
        self._pool = self._client.get_executor(pure=False)

    @property
    def slots(self) -> int:  # type: ignore[override]
        """Threads of the workers that are there now; twice as many cells are under way, so that none waits for us."""
        return max(1, 2 * sum(self._client.nthreads().values()))

    def close(self) -> None:  # noqa: D102
        self._pool.shutdown(wait=False)
        self._client.close()


def _pool(jobs: int) -> ProcessPoolExecutor:
    # New interpreters: a fork would copy the locks of BLAS and PyTorch threads in whatever state they are.
    return ProcessPoolExecutor(
        jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_serve
    )


def _serve() -> None:
    """Leave Ctrl-C to the process that keeps the results, and end with it, however it ends."""
    ignore_interrupts()
    parent: Any = multiprocessing.parent_process()

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def run(
    definition: Definition,
    cells: Sequence[Cell],
    store: Store,
    runner: Runner,
    report: Report,
) -> Progress:
    """Do all cells of a definition that the store does not have, longest first; returns how it went."""
    datasets, methods = (
        {d.name: d for d in definition.datasets},
        {m.key: m for m in definition.methods},
    )
    finished, failed, kept = store.done(), set[str](), versions()
    waiting = sorted(
        (cell for cell in cells if cell.key not in finished),
        key=lambda cell: -cell.size,
    )
    progress = Progress(total=len(cells), done=len(cells) - len(waiting))
    progress.expect(waiting)
    report(progress, None, None)

    def keep(cell: Cell, outcome: Outcome) -> None:
        store.add(cell, outcome, {**kept, "device": outcome.device})
        progress.count(cell, outcome)
        (failed if outcome.error else finished).add(cell.key)
        report(progress, cell, outcome)

    while True:
        while (
            len(runner.running) < runner.slots
            and (ready := _take(waiting, finished, failed)) is not None
        ):
            if not failed.isdisjoint(ready.needs):
                keep(
                    ready,
                    Outcome(error="An inner fold that this one needs has failed."),
                )
                continue
            progress.running[str(ready)] = time.monotonic()
            chosen = store.best_settings(ready.needs) if ready.needs else {}
            runner.start(
                (ready, datasets[ready.dataset], methods.get(ready.method), chosen)
            )
        if not runner.running:
            return progress
        report(progress, None, None)
        for cell, outcome in runner.finished():
            keep(cell, outcome)


def _take(waiting: list[Cell], finished: set[str], failed: set[str]) -> Cell | None:
    """The next cell whose needs are met, or can never be; None if there is none now."""
    for i, cell in enumerate(waiting):
        if finished.issuperset(cell.needs) or not failed.isdisjoint(cell.needs):
            return waiting.pop(i)
    return None


def versions() -> dict[str, str]:
    """Versions of everything that can move a number."""
    found = {"python": platform.python_version()}
    for name in ("mltsk", "numpy", "scipy", "scikit-learn", "torch"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
