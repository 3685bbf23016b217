"""Next to everybody: other methods and ours on the same fixed folds.

Seven dense sets, four sparse ones and six tables with missing cells and labels; every
method in a process of its own, one thread (BOOMER chooses its own), with its library's
defaults, in an environment that ``make rivals`` makes (methods whose environment is not
there are left out, with a sentence). What was measured is kept in the folder
``--store`` (out/rivals), predictions included, so that a run goes on where the last one
stopped; a cell is measured again when the method's version is another. A method that
needs more than ``--limit`` processor seconds for a fold is recorded as over it. Two
folds of sets up to 2,000 rows and one of larger ones; all five with ``--full``.
``--methods`` and ``--sets`` name some of them, separated by "; " (sets also by commas);
``--show`` measures nothing and prints the tables of what is there, others' predictions
included;
``--picture FILE`` draws mean ranks with the critical difference.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace

from benchmarks import Options, has_data
from mltsk.exceptions import InputError

from .data import N_FOLDS, NAMES, TaskFold, fixed_folds, read_task
from .fits import METHODS
from .measure import measured, python_of, version_of
from .store import DONE, OVER, Cell, Store

__all__ = ["Store", "fixed_folds", "read_task", "run"]


def run(options: Options) -> None:
    if not has_data():
        return
    try:
        run_or_refuse(options)
    except InputError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def run_or_refuse(options: Options) -> None:
    from .summary import print_tables

    store = Store(options.store)
    wanted = options.sets.replace(",", ";") if options.sets else None
    sets = chosen(wanted, NAMES, "data set")
    methods = chosen(options.methods, tuple(METHODS), "method")
    if not options.show:
        measure_all(store, sets, at_hand(methods), options)
    print_tables(store, sets, options)


def chosen(wanted: str | None, known: Sequence[str], what: str) -> list[str]:
    """Names that were asked for, or all."""
    if wanted is None:
        return list(known)
    names = [name.strip() for name in wanted.split(";")]
    for name in names:
        if name not in known:
            listed = "; ".join(known)
            raise InputError(f"There is no {what} {name!r}; there are: {listed}.")
    return names


def at_hand(methods: Sequence[str]) -> list[str]:
    """Methods whose environment is there; says how to get the others."""
    found = []
    for method in methods:
        if python_of(method).is_file():
            found.append(method)
            print(f"{method}: {version_of(method)}")
        else:
            place = METHODS[method].environment
            print(f"{method} is left out: `make {place}` makes its environment.")
    return found


def measure_all(
    store: Store, sets: Sequence[str], methods: Sequence[str], options: Options
) -> None:
    """Measure what the store does not have: small sets first."""
    tasks = sorted(map(read_task, sets), key=lambda task: task.Y.size)
    for task in tasks:
        store.write_folds(task)
        n_folds = N_FOLDS if options.full else task.default_folds
        for number in range(1, n_folds + 1):
            measure_fold(store, task.fold(number), methods, options.limit)


def measure_fold(
    store: Store, fold: TaskFold, methods: Sequence[str], limit_s: float
) -> None:
    """Measure the methods that the store does not have of one fold."""
    missing = []
    for method in methods:
        version = version_of(method)
        if store.is_settled(method, fold, version, limit_s):
            continue
        first = store.cell(method, fold.task.fold(1))
        if first and first.fold < fold.number and is_over(first, version, limit_s):
            # the other folds of the set would take as long
            store.add(replace(first, fold=fold.number), fold, None)
            continue
        missing.append(method)
    if not missing:
        return
    for cell, probabilities in measured(missing, fold, limit_s):
        store.add(cell, fold, probabilities)
        print(said_of(cell), file=sys.stderr, flush=True)


def is_over(cell: Cell, version: str, limit_s: float) -> bool:
    """Whether such a method was over such a limit."""
    same = cell.version == version and cell.limit_s >= limit_s
    return same and cell.status == OVER


def said_of(cell: Cell) -> str:
    place = f"{cell.data}, fold {cell.fold}: {cell.method}"
    if cell.status == DONE:
        return f"{place}: fit {cell.fit_s:.1f} s, size {cell.size:.0f}"
    return f"{place}: {cell.status}: {cell.why}"
