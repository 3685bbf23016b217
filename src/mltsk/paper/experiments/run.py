"""Runs the cells of an experiment: here one after another, over processes, or on a Dask cluster.

Only this process writes; every cell is kept as soon as it is finished, and stopping keeps all that is finished. What a
cell gives does not depend on where it was done. A cell that fails is kept with its error and the rest goes on; a
process or worker that dies is the failure of the cell that killed it, not of the run.
"""

import json
import multiprocessing
import os
import platform
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ...exceptions import InputError, optional
from .cells import Cell
from .definition import Definition
from .execute import execute
from .published import METRICS
from .store import Outcome, Store

Done = Iterator[tuple[Cell, Outcome]]
Task = tuple[Any, ...]  # arguments of `execute`, the cell first

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
    # sizes of cells by method and data set: those to come, those done, and the seconds that these took
    _left: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    _did: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    _took: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.started

    def expect(self, cells: Iterable[Cell]) -> None:
        """Note cells to come."""
        for cell in cells:
            self._left[cell.method, cell.dataset] += cell.size

    def count(self, cell: Cell, outcome: Outcome) -> None:
        """Note a finished cell."""
        of = (cell.method, cell.dataset)
        self._left[of] -= cell.size
        self._did[of] += cell.size
        self._took[of] += outcome.seconds
        self.running.pop(str(cell), None)
        self.done += 1
        self.failed += bool(outcome.error)

    def seconds_left(self, jobs: int) -> tuple[float, bool] | None:
        """A guess from what cells of the same method took, of its data set if there were any; None without any cell.

        The second says whether it covers all: methods of which nothing is finished yet are left out.
        """
        if not self._did:
            return None
        guesses = [self._guess(of, left) for of, left in self._left.items() if left > 0]
        return sum(g for g in guesses if g is not None) / jobs, None not in guesses

    def _guess(self, of: tuple[str, str], left: float) -> float | None:
        same = [of] if of in self._did else [other for other in self._did if other[0] == of[0]]
        size = sum(self._did[other] for other in same)
        return left * sum(self._took[other] for other in same) / size if size else None


Report = Callable[[Progress, Cell | None, Outcome | None], object]


class Runner:
    """Does cells, ``slots`` of them at a time: this one in this process, one after another."""

    slots = 1

    def __init__(self) -> None:
        self._running: dict[Any, Task] = {}

    @property
    def busy(self) -> int:
        """Cells begun."""
        return len(self._running)

    def start(self, task: Task) -> None:
        """Begin a cell."""
        self._running[task[0].key] = task

    def finished(self) -> Done:
        """Cells that are finished, after at most a second; none if there is none."""
        _, task = self._running.popitem()
        yield task[0], execute(*task)

    def close(self) -> None:
        """Stop what is running."""


class Processes(Runner):
    """Processes of this machine; after a death its cells are done again, each in a process of its own."""

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
        self._running[future] = task

    def finished(self) -> Done:  # noqa: D102
        for future in wait(self._running, timeout=1.0, return_when=FIRST_COMPLETED).done:
            if isinstance(future.exception(), BrokenProcessPool):
                yield from self._after_a_death()
                return
            yield self._running.pop(future)[0], future.result()

    def close(self) -> None:  # noqa: D102
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()

    def _after_a_death(self) -> Done:
        self._pool.shutdown(wait=False, cancel_futures=True)
        tasks, self._running, self._pool = list(self._running.values()), {}, _pool(self.slots)
        for task in tasks:
            with _pool(1) as alone:
                try:
                    yield task[0], alone.submit(execute, *task).result()
                except BrokenProcessPool:
                    yield task[0], Outcome(error=_DIED)


class Cluster(Runner):
    """A Dask cluster by the address of its scheduler; workers need this package and the data.

    The scheduler must answer within ``seconds``. Results come back to this process, which alone writes them. A cell
    whose worker is lost is done again by another.
    """

    def __init__(self, address: str, seconds: float = 10.0) -> None:
        super().__init__()
        connect: Any = optional("distributed", "dask").Client
        try:
            self.address, self._client = address, connect(address, timeout=seconds, set_as_default=False)
        except (OSError, ValueError, TimeoutError):
            message = f"No Dask scheduler answers at {address}: start `dask scheduler`, and give its address, such as"
            raise InputError(f"{message} tcp://10.0.0.1:8786.") from None
        self._pool = self._client.get_executor(pure=False)

    @property
    def slots(self) -> int:  # type: ignore[override]
        """Threads of the workers that are there now; twice as many cells are under way, so that none waits for us."""
        return max(1, 2 * sum(self._client.nthreads().values()))

    def start(self, task: Task) -> None:  # noqa: D102
        self._running[self._pool.submit(execute, *task)] = task

    def finished(self) -> Done:  # noqa: D102
        for future in wait(self._running, timeout=1.0, return_when=FIRST_COMPLETED).done:
            if future.cancelled():
                raise InputError(f"The cluster at {self.address} is gone; everything finished is kept.")
            outcome, problem = Outcome(error=_DIED), future.exception()
            if problem is None:
                outcome = future.result()
            elif type(problem).__name__ != "KilledWorker":
                outcome = Outcome(error=f"{type(problem).__name__}: {' '.join(str(problem).split())}")
            yield self._running.pop(future)[0], outcome

    def close(self) -> None:  # noqa: D102
        self._pool.shutdown(wait=False)
        self._client.close()


def _pool(jobs: int) -> ProcessPoolExecutor:
    # New interpreters: a fork would copy the locks of BLAS and PyTorch threads in whatever state they are.
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_serve)


def _serve() -> None:
    """Leave Ctrl-C to the process that keeps the results, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent: Any = multiprocessing.parent_process()

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def run(
    definition: Definition, cells: Sequence[Cell], store: Store, *, runner: Runner, report: Report | None = None
) -> Progress:
    """Do all cells of a definition that the store does not have, longest first; returns how it went."""
    datasets, methods = {d.name: d for d in definition.datasets}, {m.key: m for m in definition.methods}
    finished, failed, kept = store.done(), set[str](), versions()
    waiting = sorted((cell for cell in cells if cell.key not in finished), key=lambda cell: -cell.size)
    progress = Progress(total=len(cells), done=len(cells) - len(waiting))
    progress.expect(waiting)
    tell = report or (lambda progress, cell, outcome: None)
    tell(progress, None, None)

    def keep(cell: Cell, outcome: Outcome) -> None:
        store.add(cell, outcome, {**kept, "device": outcome.device})
        progress.count(cell, outcome)
        (failed if outcome.error else finished).add(cell.key)
        tell(progress, cell, outcome)

    with closing(runner):
        while True:
            while runner.busy < runner.slots and (ready := _take(waiting, finished, failed)) is not None:
                if not failed.isdisjoint(ready.needs):
                    keep(ready, Outcome(error="An inner fold that this one needs has failed."))
                    continue
                progress.running[str(ready)] = time.monotonic()
                how = None if ready.kind == "study" else methods[ready.method], _chosen(ready, store)
                runner.start((ready, datasets[ready.dataset], *how))
            if not runner.busy:
                return progress
            tell(progress, None, None)
            for cell, outcome in runner.finished():
                keep(cell, outcome)


def _take(waiting: list[Cell], finished: set[str], failed: set[str]) -> Cell | None:
    """The next cell whose needs are met, or can never be; None if there is none now."""
    for i, cell in enumerate(waiting):
        if finished.issuperset(cell.needs) or not failed.isdisjoint(cell.needs):
            return waiting.pop(i)
    return None


def _chosen(cell: Cell, store: Store) -> Mapping[str, Any]:
    """For each metric the setting that was best on the inner folds; the first in canonical order among equals."""
    if not cell.needs:
        return {}
    means = store.inner_scores(cell.needs)
    losses = {metric: means[metric] * (-1 if metric == "AP" else 1) for metric in METRICS}
    best = {metric: loss.fillna(float("inf")).idxmin() for metric, loss in losses.items()}
    return {metric: json.loads(means["setting"][row]) for metric, row in best.items()}


def versions() -> dict[str, str]:
    """Versions of everything that can move a number."""
    found = {"python": platform.python_version()}
    for name in ("mltsk", "numpy", "scipy", "scikit-learn", "torch"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
