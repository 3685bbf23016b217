"""What commands print: aligned columns, tables of metrics, one line per warning, files of text, how far a job is.

Progress is a bar on a terminal and a few plain lines anywhere else, all of it on standard error.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from warnings import catch_warnings, simplefilter

import typer

from ..files import writing
from .later import console, progress

LOWER = ("HL", "OE", "RL", "CV")  # metrics of which less is better
LABELS = 20  # that a table shows
_SHOWN = {  # by unit: the line at the start where nobody watches, columns of rich where somebody does
    "": (" …", ["SpinnerColumn", "TimeElapsedColumn"]),
    "bytes": (": downloading", ["BarColumn", "DownloadColumn", "TransferSpeedColumn"]),
    "steps": ("", ["BarColumn", "MofNCompleteColumn", "TimeElapsedColumn"]),
}


def aligned(rows: Iterable[Sequence[object]], indent: str = "") -> str:
    """Rows as columns of text: numbers to the right, text to the left, two spaces between."""
    cells = [[str(cell) for cell in row] for row in rows]
    columns = []
    for column in zip(*cells, strict=True):
        width, numbers = (
            max(map(len, column)),
            all(cell[:1].isdigit() or cell[:1] in "-" for cell in column[1:]),
        )
        columns.append(
            [cell.rjust(width) if numbers else cell.ljust(width) for cell in column]
        )
    return "\n".join(
        f"{indent}{'  '.join(line)}".rstrip() for line in zip(*columns, strict=True)
    )


def metric_table(
    found: Mapping[str, Mapping[str, float]], metrics: Iterable[str]
) -> str:
    """Metrics, a column for each of what is compared; a dash where no row counts."""
    rows = [["metric", *found, "better"]]
    for name in metrics:
        better = "lower" if name in LOWER else "" if name == "tied_rows" else "higher"
        rows.append(
            [name, *(_digits(values[name]) for values in found.values()), better]
        )
    return aligned(rows)


def label_table(found: Any, columns: Sequence[str]) -> str:
    """Columns of `evaluate(..., per_label=True)`, of the first labels."""
    shown, more = found[list(columns)][:LABELS], len(found) - LABELS
    rows = [
        ["label", *columns],
        *([name, *map(_digits, row)] for name, *row in shown.itertuples()),
    ]
    return aligned(rows) + (
        f"\n… and {more} more label{'s' if more > 1 else ''}" if more > 0 else ""
    )


def _digits(value: float) -> str:
    return (
        "-"
        if value != value
        else str(int(value))
        if value == int(value) and value > 1
        else f"{value:.4f}"
    )


def note(sentence: object) -> None:
    """One line on standard error about something that did not stop the job."""
    typer.echo(f"note: {' '.join(str(sentence).split())}", err=True)


@contextmanager
def noted_warnings() -> Iterator[None]:
    """Warnings as one line each, without the code that raised them."""
    with catch_warnings(record=True) as caught:
        simplefilter("always")
        yield
    for sentence in dict.fromkeys(str(warning.message) for warning in caught):
        note(sentence)


def write_text(text: str, out: str) -> None:
    """Text to a file in one step, or to standard output for ``-``."""
    if out == "-":
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        return
    with writing(out) as file:
        file.write(text.encode())


@contextmanager
def working(title: str, unit: str = "") -> Iterator[Callable[[int, int | None], None]]:
    """A function that takes (done, in all) and shows it; ``unit`` is steps, bytes, or empty for work of unknown length.

    On a terminal that is a bar or a clock; elsewhere a line for each step, or one line at the start.
    """
    start, columns = _SHOWN[unit]
    if sys.stderr.isatty():
        shown = [getattr(progress, column)() for column in columns]
        text = progress.TextColumn("{task.description}")
        with progress.Progress(
            text, *shown, console=console.Console(stderr=True), transient=True
        ) as bar:
            task = bar.add_task(title, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    elif start:
        typer.echo(f"{title}{start}", err=True)
        yield lambda done, total: None
    else:
        yield (
            lambda done, total: (
                typer.echo(f"{title}: {done} of {total} {unit}", err=True)
                if done
                else None
            )
        )
