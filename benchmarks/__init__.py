"""What is timed, against whom: ``python -m benchmarks [names]``.

A module here whose name has no underscore is one benchmark: its ``run(options)`` prints
a table, or one sentence that says why it cannot run. Times are of a machine and a
moment; only ratios of times taken side by side in the same run are compared.
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mltsk.system import FuzzySystem

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class Options:
    """What the command line says to every benchmark.

    The whole job or a sample of it, how many cores, files to use, the only table of a
    benchmark that has several, and which methods on which sets within which limit.
    """

    full: bool = False
    threads: int | None = None
    cache: str | None = None
    picture: str | None = None
    only: str | None = None
    store: str = "out/rivals"
    methods: str | None = None
    sets: str | None = None
    limit: float = 300.0
    show: bool = False


def numbers_per_label(system: FuzzySystem) -> int:
    """Numbers that a fitted system has for each label, conditions not counted."""
    _, numbers_per_rule, _ = system.coef.shape
    return len(system.terms) + len(system.centers) * numbers_per_rule


def has_data() -> bool:
    """Whether MLTSK_DATA names a folder; says so if it does not."""
    if os.environ.get("MLTSK_DATA"):
        return True
    print("MLTSK_DATA names no folder with the data sets: nothing to measure.")
    return False


def data_file(name: str) -> Path | None:
    """The file in the folder that MLTSK_DATA names, or None."""
    folder = os.environ.get("MLTSK_DATA")
    if not folder:
        return None
    path = Path(folder) / name
    return path if path.is_file() else None


def folds(n: int, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows (train, test) of five shuffled folds."""
    from sklearn.model_selection import KFold

    return list(KFold(5, shuffle=True, random_state=seed).split(np.empty(n)))


def made_up(
    n: int, n_features: int, n_labels: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Normal samples and labels that are linear in them, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features))
    scores = X @ rng.standard_normal((n_features, n_labels)) / np.sqrt(n_features)
    Y = scores + 0.5 * rng.standard_normal(scores.shape) > 0.5
    return X, Y.astype(np.int8)


def made_up_sparse(
    n: int, n_features: int, n_labels: int, n_cells: int, seed: int = 0
) -> "tuple[csr_array, np.ndarray]":
    """Samples with some cells at random, and labels that are linear in them."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(seed)
    cells = rng.integers(0, n, n_cells), rng.integers(0, n_features, n_cells)
    X = csr_array((rng.random(n_cells), cells), shape=(n, n_features))
    scores = X @ rng.standard_normal((n_features, n_labels))
    return X, (scores > np.median(scores, axis=0)).astype(np.int8)


def timed(function: Callable, *arguments: object) -> tuple[object, float]:
    """What a function returns, and the seconds it took."""
    start = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - start


def processor_timed(function: Callable, *arguments: object) -> tuple[object, float]:
    """What a function returns, and the processor seconds that this process took."""
    start = time.process_time()
    result = function(*arguments)
    return result, time.process_time() - start


TABLES: list[str] = []  #: Tables printed so far, in Markdown: what ``--keep`` writes.


def print_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under a header; floats have three digits.

    The first column is set to the left, the others to the right.
    """
    texts = [[_cell_text(cell) for cell in row] for row in (header, *rows)]
    TABLES.append(_markdown(texts))
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for first, *rest in texts:
        cells = [first.ljust(widths[0])]
        for cell, width in zip(rest, widths[1:], strict=True):
            cells.append(cell.rjust(width))
        print("  ".join(cells), flush=True)


def _cell_text(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.3g}"
    return str(cell)


def print_markdown(header: Sequence[object], rows: Iterable[Iterable[object]]) -> None:
    """Print rows under a header as a page has them."""
    TABLES.append(_markdown([header, *rows]))
    print(TABLES[-1], flush=True)


def _markdown(rows: Sequence[Iterable[object]]) -> str:
    header, *lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    rule = "|" + "---|" * (header.count("|") - 1)
    return "\n".join([header, rule, *lines])
