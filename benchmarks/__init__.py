"""What is timed, against whom, as ratios measured side by side in one run: ``python -m benchmarks [names]``.

A module here whose name has no underscore is one benchmark: its ``run(options)`` prints a table, or one sentence that
says why it cannot run. Times are of a machine and a moment; only ratios of times taken in the same run are compared.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """What the command line says to every benchmark: the whole job or a sample of it, and how many cores."""

    full: bool = False
    threads: int | None = None


def data_file(name: str) -> Path | None:
    """The file in the folder that MLTSK_DATA names, or None."""
    folder = os.environ.get("MLTSK_DATA")
    path = Path(folder or ".") / name
    return path if folder and path.is_file() else None


def print_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Rows under a header: the first column to the left, the others to the right; floats with three digits."""
    texts = [[f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for row in texts:
        first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join([row[0].ljust(len(first)), *rest]))
