"""How long an experiment will take, before it begins: from what its pieces took on one core, in `seconds.csv`.

The file has processor seconds of one setting on one fold, by method and data set, and of whole studies; `measured`
makes it from a run. Other data take what the same method took on the set nearest in size, in proportion to N D L.
"""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from math import log, prod

from .cells import Cell, Shape, n_settings
from .definition import known_methods
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
    """The content of `seconds.csv`, of the methods and data sets that a run computed on processors alone."""
    done = results.cells[(results.cells["status"] == "done") & (results.cells["protocol"] != "nested")]
    fits = results.scores[results.scores["protocol"] != "nested"].groupby(["dataset", "method"], observed=True).size()
    lines = [
        f"{method},{dataset},{pieces['cpu_seconds'].sum() / fits.get((dataset, method), 1):.4g}\n"
        for (method, dataset), pieces in done.groupby(["method", "dataset"])
        if (pieces["device"] == "cpu").all()
    ]
    return "method,dataset,seconds\n" + "".join(lines)


def _n_fits(cell: Cell) -> float:
    """Settings of a piece of work; a final one fits the choices of five metrics, an inner one fewer rows."""
    if cell.kind == "study":
        return 1.0
    if cell.kind == "final":
        return min(5.0, n_settings(cell.details["grid"]))
    return n_settings(cell.details["grid"]) * (0.7 if cell.kind == "inner" else 1.0)


def _one_setting(cell: Cell, shape: Shape) -> float | None:
    known, sizes, method = known_seconds(), table_i(), cell.method
    if all(m != method for m, _ in known):  # another reading takes about as long
        method = next((other.variant_of for other in known_methods() if other.key == method), None) or method
    if (method, cell.dataset) in known:
        return known[method, cell.dataset]
    near = [d for m, d in known if m == method and d in sizes]
    if not near:
        return None
    nearest = min(near, key=lambda d: abs(log(prod(sizes[d]) / prod(shape))))
    return known[method, nearest] * prod(shape) / prod(sizes[nearest])
