"""How far a job is: a bar on a terminal, a few plain lines anywhere else. All of it on standard error."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import typer

Report = Callable[[int, int | None], None]
Shown = AbstractContextManager[Report]


def on_terminal() -> bool:
    """Whether someone is watching."""
    return sys.stderr.isatty()


def counting(title: str, unit: str) -> Shown:
    """A function that takes (done, in all) and shows it: a bar, or a line for each step."""

    def line(done: int, total: int | None) -> None:
        if done:
            typer.echo(f"{title}: {done} of {total} {unit}", err=True)

    return _shown(title, None, line, "BarColumn", "MofNCompleteColumn", "TimeElapsedColumn")


def downloading(title: str) -> Shown:
    """The same for bytes; elsewhere than on a terminal, one line when a download begins."""
    return _shown(title, f"{title}: downloading", None, "BarColumn", "DownloadColumn", "TransferSpeedColumn")


def working(title: str) -> Shown:
    """Work of unknown length: a clock on a terminal, one line elsewhere."""
    return _shown(title, f"{title} …", None, "SpinnerColumn", "TimeElapsedColumn")


@contextmanager
def _shown(title: str, start: str | None, line: Report | None, *columns: str) -> Iterator[Report]:
    """A bar with columns on a terminal; elsewhere a line at the start, and what ``line`` prints."""
    if not on_terminal():
        if start:
            typer.echo(start, err=True)
        yield line or (lambda done, total: None)
        return
    from rich import progress
    from rich.console import Console

    shown = (progress.TextColumn("{task.description}"), *(getattr(progress, column)() for column in columns))
    with progress.Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
