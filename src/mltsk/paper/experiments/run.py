"""Runs the cells of an experiment, one after another, over processes, or on a cluster.

Only this process writes; every cell is kept as soon as it is finished, and stopping
keeps all that is finished. What a cell gives does not depend on where it was done. A
cell that fails is kept with its error and the rest goes on; a process or worker that
dies is the failure of the cell that killed it, not of the run.
"""

import multiprocessing
import os
import platform
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from typing import Any, NamedTuple

from ...exceptions import InputError, optional, printable
from ...machine import ignore_interrupts
from .definition import DataDefinition, Definition, MethodDefinition
from .execute import execute
from .published import PlainData
from .store import Cell, Outcome, Store

FinishedCells = Iterator[tuple[Cell, Outcome]]
Report = Callable[["Progress", Cell | None, Outcome | None], object]

_DIED = "The process ended without a word; there may be too little memory for it."
_NO_START = (
    "Processes cannot be started: they import the script that asks for them, so its "
    'call belongs under `if __name__ == "__main__":`; or take jobs=1.'
)


class Task(NamedTuple):
    """The arguments of `execute`."""

    cell: Cell
    data: DataDefinition
    method: MethodDefinition | None
    chosen: Mapping[str, PlainData]


@dataclass
class _Load:
    """Sizes of cells to come and of those done, and the seconds that these took."""

    ahead: float = 0.0
    done: float = 0.0
    seconds: float = 0.0


@dataclass
class Progress:
    """How far a run is, for whoever shows it."""

    total: int
    done: int = 0
    failed: int = 0
    running: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    # by method and data set
    _loads: dict[tuple[str, str], _Load] = field(
        default_factory=lambda: defaultdict(_Load)
    )

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.started

    def expect(self, cells: Iterable[Cell]) -> None:
        """Note cells to come."""
        for cell in cells:
            self._loads[cell.method, cell.dataset].ahead += cell.size

    def count(self, cell: Cell, outcome: Outcome) -> None:
        """Note a finished cell."""
        load = self._loads[cell.method, cell.dataset]
        load.ahead -= cell.size
        load.done += cell.size
        load.seconds += outcome.seconds
        self.running.pop(str(cell), None)
        self.done += 1
        self.failed += bool(outcome.error)

    def seconds_left(self, jobs: int) -> tuple[float, bool] | None:
        """A guess from what cells of the same method took; None before any is done.

        Cells of the same data set count alone where there are any. The second value
        says whether the guess covers all: methods of which nothing is finished yet are
        left out.
        """
        by_method: dict[str, _Load] = defaultdict(_Load)
        for (method, _), load in self._loads.items():
            by_method[method].done += load.done
            by_method[method].seconds += load.seconds
        if not any(load.done for load in by_method.values()):
            return None
        total = 0.0
        is_complete = True
        for (method, _), load in self._loads.items():
            measured = load if load.done else by_method[method]
            if measured.done:
                total += max(0.0, load.ahead) * measured.seconds / measured.done
            elif load.ahead > 0:
                is_complete = False
        return total / jobs, is_complete


class Runner:
    """Does cells, ``slots`` of them at a time: this one in this process, one by one."""

    slots = 1

    def __init__(self) -> None:
        self.running: dict[Any, Task] = {}  # by key, or by future

    def start(self, task: Task) -> None:
        """Begin a cell."""
        self.running[task.cell.key] = task

    def finished(self) -> FinishedCells:
        """Cells that are finished, after at most a second; none if there is none."""
        _, task = self.running.popitem()
        yield task.cell, execute(*task)

    def close(self) -> None:
        """Stop what is running."""


class Processes(Runner):
    """Processes of this machine.

    After a death its cells are done again, each in a process of its own.
    """

    name = "pool of processes"

    def __init__(self, jobs: int) -> None:
        super().__init__()
        self.slots = jobs
        self._pool = _pool(jobs)
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

    def finished(self) -> FinishedCells:  # noqa: D102
        for future in wait(self.running, timeout=1.0, return_when=FIRST_COMPLETED).done:
            problem = None if future.cancelled() else future.exception()
            if isinstance(problem, BrokenProcessPool):
                yield from self._each_alone()
                return
            yield self.running.pop(future).cell, self._outcome(future)

    def _each_alone(self) -> FinishedCells:
        """Do all running cells again, each in a process of its own."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = _pool(self.slots)
        tasks = list(self.running.values())
        self.running = {}
        for task in tasks:
            with _pool(1) as alone:
                yield task.cell, self._outcome(alone.submit(execute, *task))

    def _outcome(self, future: "Future[Outcome]") -> Outcome:
        try:
            return future.result()
        except CancelledError:
            problem = f"The {self.name} is gone"
            raise InputError(f"{problem}; everything finished is kept.") from None
        except Exception as problem:
            kind = type(problem).__name__
            if kind in ("BrokenProcessPool", "KilledWorker"):
                return Outcome(error=_DIED)
            sentence = " ".join(str(problem).split())
            return Outcome(error=printable(f"{kind}: {sentence}"))

    def close(self) -> None:  # noqa: D102
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


class Cluster(Processes):
    """A Dask cluster by the address of its scheduler.

    Workers need this package and the data. The scheduler must answer within
    ``seconds``. Results come back to this process, which alone writes them. A cell
    whose worker is lost is done again by another.
    """

    def __init__(self, address: str, seconds: float = 10.0) -> None:
        Runner.__init__(self)
        self.name = f"cluster at {address}"
        connect: Any = optional("distributed", "dask").Client
        try:
            self._client = connect(address, timeout=seconds, set_as_default=False)
        except (OSError, ValueError, TimeoutError):
            raise InputError(
                f"No Dask scheduler answers at {address}: start `dask scheduler`, and "
                "give its address, such as tcp://10.0.0.1:8786."
            ) from None
        self._pool = self._client.get_executor(pure=False)

    @property
    def slots(self) -> int:  # type: ignore[override]
        """Twice the threads of the workers that are there now.

        More cells are under way than threads, so that no worker waits for us.
        """
        return max(1, 2 * sum(self._client.nthreads().values()))

    def close(self) -> None:  # noqa: D102
        self._pool.shutdown(wait=False)
        self._client.close()


def _pool(jobs: int) -> ProcessPoolExecutor:
    """Processes that end with this one."""
    # New interpreters: a fork would copy the locks of BLAS and PyTorch threads in
    # whatever state they are.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_serve)


def _serve() -> None:
    """Leave Ctrl-C to the process that keeps the results, and end when it ends."""
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
    """Do all cells of a definition that the store does not have, longest first.

    Returns how it went.
    """
    datasets = {data.name: data for data in definition.datasets}
    methods = {method.key: method for method in definition.methods}
    used_versions = versions()
    finished = store.done()
    failed: set[str] = set()
    waiting = [cell for cell in cells if cell.key not in finished]
    waiting.sort(key=lambda cell: -cell.size)
    progress = Progress(total=len(cells), done=len(cells) - len(waiting))
    progress.expect(waiting)
    report(progress, None, None)

    def keep(cell: Cell, outcome: Outcome) -> None:
        store.add(cell, outcome, {**used_versions, "device": outcome.device})
        progress.count(cell, outcome)
        (failed if outcome.error else finished).add(cell.key)
        report(progress, cell, outcome)

    def start(cell: Cell) -> None:
        if not failed.isdisjoint(cell.needs):
            keep(cell, Outcome(error="An inner fold that this one needs has failed."))
            return
        progress.running[str(cell)] = time.monotonic()
        chosen = store.best_settings(cell.needs) if cell.needs else {}
        method = methods.get(cell.method)
        runner.start(Task(cell, datasets[cell.dataset], method, chosen))

    while True:
        while len(runner.running) < runner.slots:
            ready = _take(waiting, finished, failed)
            if ready is None:
                break
            start(ready)
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
    by_name = {"python": platform.python_version()}
    for name in ("mltsk", "numpy", "scipy", "scikit-learn", "torch"):
        with suppress(PackageNotFoundError):
            by_name[name] = version(name)
    return by_name
