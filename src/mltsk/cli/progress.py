"""How far a job is: a bar on a terminal, a few plain lines anywhere else. All of it on standard error."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

Report = Callable[[int, int | None], None]


def on_terminal() -> bool:
    """Whether someone is watching."""
    return sys.stderr.isatty()


@contextmanager
def counting(title: str, unit: str) -> Iterator[Report]:
    """A function that takes (done, in all) and shows it: a bar, or a line for each step."""
    if on_terminal():
        with _bar(title, "BarColumn", "MofNCompleteColumn", "TimeElapsedColumn") as report:
            yield report
    else:
        yield lambda done, total: typer.echo(f"{title}: {done} of {total} {unit}", err=True) if done else None


@contextmanager
def downloading(title: str) -> Iterator[Report]:
    """The same for bytes; elsewhere than on a terminal, one line when a download begins."""
    if on_terminal():
        with _bar(title, "BarColumn", "DownloadColumn", "TransferSpeedColumn") as report:
            yield report
    else:
        typer.echo(f"{title}: downloading", err=True)
        yield lambda done, total: None


@contextmanager
def working(title: str) -> Iterator[None]:
    """Work of unknown length: a clock on a terminal, one line elsewhere."""
    if on_terminal():
        with _bar(title, "SpinnerColumn", "TimeElapsedColumn"):
            yield
    else:
        typer.echo(f"{title} …", err=True)
        yield


@contextmanager
def _bar(title: str, *columns: str) -> Iterator[Report]:
    from rich import progress
    from rich.console import Console

    shown = (progress.TextColumn("{task.description}"), *(getattr(progress, column)() for column in columns))
    with progress.Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def timed() -> Iterator[Callable[[], float]]:
    """Seconds since the block began, as a function."""
    start = time.perf_counter()
    yield lambda: time.perf_counter() - start
