"""How long an experiment will take, before it begins: from what its pieces took on one core, in `seconds.csv`.

The file has processor seconds of one setting on one fold, by method and data set, and of whole studies; `measured`
makes it from a run. For data that it does not have, the seconds of the same method grow with N D L.
"""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from statistics import fmean

from .cells import Cell, Shape, n_settings
from .published import read_text, table_i
from .results import Results

Seconds = Mapping[tuple[str, str], float]


@cache
def known_seconds() -> Seconds:
    """Processor seconds by (method or study, data set), as measured."""
    rows = csv.DictReader(read_text("seconds.csv").splitlines())
    return {(row["method"], row["dataset"]): float(row["seconds"]) for row in rows}


def seconds_of(cells: Sequence[Cell], shapes: Mapping[str, Shape]) -> tuple[float, list[str]]:
    """Processor seconds of pieces of work, and the methods of which nothing is known, which are left out."""
    total, unknown = 0.0, dict[str, None]()
    for cell in cells:
        one = _one_setting(cell, shapes[cell.dataset])
        if one is None:
            unknown[cell.method] = None
        else:
            total += one * _n_fits(cell)
    return total, list(unknown)


def measured(results: Results) -> str:
    """The content of `seconds.csv`, from the pieces of a run that were computed on processors."""
    done = results.cells[(results.cells["status"] == "done") & (results.cells["device"] == "cpu")]
    fits = results.scores[results.scores["protocol"] != "nested"].groupby(["dataset", "method"], observed=True).size()
    spent = done[done["protocol"] != "nested"].groupby(["method", "dataset"])["cpu_seconds"].sum()
    lines = [f"{m},{d},{seconds / fits.get((d, m), 1):.4g}\n" for (m, d), seconds in spent.items()]
    return "method,dataset,seconds\n" + "".join(lines)


def _n_fits(cell: Cell) -> float:
    """Settings of a piece of work; a final one fits the choices of five metrics, an inner one fewer rows."""
    if cell.kind == "study":
        return 1.0
    if cell.kind == "final":
        return min(5.0, n_settings(cell.details["grid"]))
    return n_settings(cell.details["grid"]) * (0.7 if cell.kind == "inner" else 1.0)


def _one_setting(cell: Cell, shape: Shape) -> float | None:
    known, sizes = known_seconds(), table_i()
    if (cell.method, cell.dataset) in known:
        return known[cell.method, cell.dataset]
    rates = [seconds / prod(sizes[d]) for (m, d), seconds in known.items() if m == cell.method and d in sizes]
    return prod(shape) * fmean(rates) if rates else None
