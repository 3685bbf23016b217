"""Runs the cells of an experiment, wherever a runner does them, and keeps every one as soon as it is finished.

Only this process writes. A cell that fails is kept with its error and the rest goes on. Stopping keeps all that is
finished.
"""

import json
import platform
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .cells import Cell
from .definition import DataDefinition, Definition, MethodDefinition
from .runners import Processes, Runner, Serial
from .store import METRICS, Outcome, Store

_UP = ("AP",)


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

    def count(self, cell: Cell, seconds: float) -> None:
        """Note a cell that took so long."""
        of = (cell.method, cell.dataset)
        self._left[of] -= cell.size
        self._did[of] += cell.size
        self._took[of] += seconds

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


@dataclass(frozen=True)
class Work:
    """Cells with what is needed to do them."""

    cells: Sequence[Cell]
    datasets: Mapping[str, DataDefinition]
    methods: Mapping[str, MethodDefinition]

    @classmethod
    def of(cls, definition: Definition, cells: Sequence[Cell]) -> "Work":
        """The cells of a definition."""
        return cls(cells, {d.name: d for d in definition.datasets}, {m.key: m for m in definition.methods})


def run(
    work: Work, store: Store, *, jobs: int = 1, runner: Runner | None = None, report: Report | None = None
) -> Progress:
    """Do all cells that the store does not have; returns how it went. Without a runner, by processes here."""
    finished = store.done()
    waiting = [cell for cell in work.cells if cell.key not in finished]
    progress = Progress(total=len(work.cells), done=len(work.cells) - len(waiting))
    for cell in waiting:
        progress._left[cell.method, cell.dataset] += cell.size
    tell = report or (lambda progress, cell, outcome: None)
    tell(progress, None, None)
    kept = versions()
    queue = _Queue(waiting, finished)
    runner = runner or (Serial() if jobs == 1 else Processes(jobs))
    for cell, outcome in _outcomes(queue, work, store, runner, progress, tell):
        store.add(cell, outcome, {**kept, "device": outcome.device})
        progress.running.pop(str(cell), None)
        progress.done += 1
        progress.failed += bool(outcome.error)
        progress.count(cell, outcome.seconds)
        queue.finish(cell, failed=bool(outcome.error))
        tell(progress, cell, outcome)
    return progress


class _Queue:
    """Cells whose needs are met, longest first; cells that need one that failed are given back as failed."""

    def __init__(self, cells: Sequence[Cell], finished: set[str]) -> None:
        self._cells = sorted(cells, key=lambda cell: -cell.size)
        self._finished, self._failed = set(finished), set[str]()

    def take(self) -> Cell | None:
        """The next cell that can be begun, None if there is none now."""
        ready = (i for i, cell in enumerate(self._cells) if self._finished.issuperset(cell.needs) or self.lost(cell))
        i = next(ready, None)
        return None if i is None else self._cells.pop(i)

    def lost(self, cell: Cell) -> bool:
        """Whether the cell can never be done."""
        return not self._failed.isdisjoint(cell.needs)

    def finish(self, cell: Cell, *, failed: bool) -> None:
        (self._failed if failed else self._finished).add(cell.key)


def _outcomes(
    queue: _Queue, work: Work, store: Store, runner: Runner, progress: Progress, tell: Report
) -> Iterator[tuple[Cell, Outcome]]:
    """Cells with their outcomes as they finish."""
    with closing(runner):
        while True:
            while runner.busy < runner.slots and (cell := queue.take()) is not None:
                if queue.lost(cell):
                    yield cell, _lost(cell)
                    continue
                progress.running[str(cell)] = time.monotonic()
                runner.start(_arguments(cell, work, store))
            if not runner.busy:
                return
            tell(progress, None, None)
            yield from runner.finished()


def _lost(cell: Cell) -> Outcome:
    return Outcome(error="An inner fold that this one needs has failed.")


def _arguments(cell: Cell, work: Work, store: Store) -> tuple[Any, ...]:
    method = None if cell.kind == "study" else work.methods[cell.method]
    return cell, work.datasets[cell.dataset], method, _chosen(cell, store)


def _chosen(cell: Cell, store: Store) -> list[dict[str, Any]]:
    """For each metric the setting that was best on the inner folds; the first in canonical order among equals."""
    if not cell.needs:
        return []
    means = store.inner_scores(cell.needs)
    picked = []
    for metric in METRICS[:5]:
        values = means[metric].fillna(float("-inf") if metric in _UP else float("inf"))
        best = values.idxmax() if metric in _UP else values.idxmin()
        picked.append({"chosen_by": metric, "setting": json.loads(means["setting"][best])})
    return picked


def versions() -> dict[str, str]:
    """Versions of everything that can move a number."""
    found = {"python": platform.python_version()}
    for name in ("mltsk", "numpy", "scipy", "scikit-learn", "torch"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
