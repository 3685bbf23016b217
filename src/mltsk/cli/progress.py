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
    if not on_terminal():
        yield lambda done, total: typer.echo(f"{title}: {done} of {total} {unit}", err=True) if done else None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

    with _bar(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()) as bar:
        yield _advance(bar, bar.add_task(title, total=None))


@contextmanager
def downloading(title: str) -> Iterator[Report]:
    """The same for bytes; elsewhere than on a terminal, one line when a download begins."""
    if not on_terminal():
        typer.echo(f"{title}: downloading", err=True)
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn

    with _bar(TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()) as bar:
        yield _advance(bar, bar.add_task(title, total=None))


@contextmanager
def working(title: str) -> Iterator[None]:
    """Work of unknown length: a clock on a terminal, one line elsewhere."""
    if not on_terminal():
        typer.echo(f"{title} …", err=True)
        yield
        return
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    with _bar(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()) as bar:
        bar.add_task(title, total=None)
        yield


@contextmanager
def timed() -> Iterator[Callable[[], float]]:
    """Seconds since the block began, as a function."""
    start = time.perf_counter()
    yield lambda: time.perf_counter() - start


def _bar(*columns):
    from rich.console import Console
    from rich.progress import Progress

    return Progress(*columns, console=Console(stderr=True), transient=True)


def _advance(bar, task) -> Report:
    return lambda done, total: bar.update(task, completed=done, total=total)
