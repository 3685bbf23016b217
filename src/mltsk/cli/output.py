"""What commands print: aligned columns, tables of metrics, warnings, progress.

Progress is a bar on a terminal and a few plain lines anywhere else, all of it on
standard error.
"""

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import TextIO
from warnings import catch_warnings, simplefilter

import typer

from ..exceptions import InputError, printable, printable_lines
from ..files import check_outputs, writing
from ..machine import discard_output, open_standard_descriptors
from ..text import padded, width_of

LOWER_IS_BETTER = ("HL", "OE", "RL", "CV")
MAX_PRINTED_LABELS = 20
MAX_LINE_WIDTH = 80
STANDARD_OUTPUT = "-"
# What a pipe without a reader says; Windows says EINVAL.
READER_LEFT = (errno.EPIPE, errno.EINVAL, errno.ESHUTDOWN)

ShowProgress = Callable[[int, int | None], object]  # takes (done, in all)


# tables -------------------------------------------------------------------------------


def aligned(rows: Iterable[Sequence[object]], indent: str = "") -> str:
    """Rows as lines of aligned columns, two spaces apart.

    Columns of numbers stand to the right, others to the left; the first row may be
    a header.
    """
    texts = [[printable(str(cell)) for cell in row] for row in rows]
    columns = [_padded(column) for column in zip(*texts, strict=True)]
    lines = []
    for cells in zip(*columns, strict=True):
        line = indent + "  ".join(cells)
        lines.append(line.rstrip())
    return "\n".join(lines)


def _padded(column: Sequence[str]) -> list[str]:
    """The cells of a column, all of one width."""
    width = max(map(width_of, column))
    if all(_is_number_or_dash(cell) for cell in column[1:]):
        return [cell.rjust(width) for cell in column]
    return [padded(cell, width) for cell in column]


def _is_number_or_dash(cell: str) -> bool:
    return cell == "" or cell[0] in "-+" or cell[0].isdigit()


def metric_table(
    metrics: Mapping[str, Mapping[str, float]], names: Iterable[str]
) -> str:
    """A row for each metric by its name, a column for each model or convention.

    A dash stands where a metric is about no row.
    """
    from ..metrics.label_text import digits_of

    rows = [["metric", *metrics, "better"]]
    for name in names:
        values = [digits_of(column[name], 4) for column in metrics.values()]
        rows.append([name, *values, _better(name)])
    return aligned(rows)


def _better(metric: str) -> str:
    if metric == "tied_rows":
        return ""
    return "lower" if metric in LOWER_IS_BETTER else "higher"


# notes and files ----------------------------------------------------------------------


def say(text: object, *, err: bool = False) -> None:
    """Print text; what a terminal would obey in it is spelled out.

    Every command prints with this function: names and cells of files, and words of
    servers, may hold anything.
    """
    typer.echo(printable_lines(str(text)), err=err)


def remark(sentence: object) -> None:
    """Print a sentence on standard error: one line, for programs that look for it.

    On a terminal it is divided between words, which a terminal would not do.
    """
    lines = [" ".join(str(sentence).split())]
    if sys.stderr.isatty():
        width = min(MAX_LINE_WIDTH, get_terminal_size().columns)
        lines = wrap(printable(lines[0]), width, break_on_hyphens=False)
    say("\n".join(lines), err=True)


def note(sentence: object) -> None:
    """Print a sentence on standard error about something that did not stop the job."""
    remark(f"note: {sentence}")


@contextmanager
def noted_warnings() -> Iterator[None]:
    """Print each warning once as a line, without the code that raised it."""
    with catch_warnings(record=True) as caught:
        simplefilter("always")
        yield
    for sentence in dict.fromkeys(str(warning.message) for warning in caught):
        note(sentence)


def check_files(
    outputs: Iterable[str | Path | None], inputs: Iterable[str | Path | None]
) -> None:
    """Refuse outputs that cannot be written or that would overwrite an input.

    Options that were not given are None; standard output, ``-``, is never in the way.
    """
    check_outputs(
        [path for path in outputs if path not in (None, STANDARD_OUTPUT)],
        [path for path in inputs if path is not None],
    )


def refuse_standard_output(out: str | Path, option: str, content: str) -> None:
    """Refuse ``-`` as the name of a file for content that is not printed."""
    if str(out) == STANDARD_OUTPUT:
        raise InputError(
            f"{content} is not written to standard output: give {option} a name "
            "(./- is a file called -)."
        )


def write_text(text: str, out: str) -> None:
    """Write text to a file in one step, or to standard output for ``-``."""
    if out == STANDARD_OUTPUT:
        if sys.stdout.isatty():  # a program may want every byte
            text = printable_lines(text)
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        return
    with writing(out) as file:
        file.write(text.encode())


def typed_command() -> list[str]:
    """The words of the command that is running, as one would type them again."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    return ["mltsk", *arguments]


# streams ------------------------------------------------------------------------------


class PatientStream:
    """Standard output or errors for a command, which goes on when nobody reads it.

    The reader of a pipe may leave early, as in ``mltsk fit … | head -1``: the rest goes
    nowhere, and the model is written all the same. Any other failure to write is one
    of the command, unless the stream only ``tells`` how it goes.
    """

    def __init__(self, stream: TextIO, *, tells: bool = False) -> None:
        self._stream = stream
        self._tells = tells

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write text, or nothing if the reader has left."""
        if text == "":
            return 0  # click tries a stream so, and hides what that raises
        with self._reader_may_leave():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Pass on what was written."""
        with self._reader_may_leave():
            self._stream.flush()

    @contextmanager
    def _reader_may_leave(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            discard_output(self._stream)  # else the end of the process fails again
            if self._tells or error.errno in READER_LEFT:
                return
            reason = error.strerror
            raise OSError(f"Standard output cannot be written: {reason}.") from None


@contextmanager
def standard_streams() -> Iterator[None]:
    """Let commands print whether or not standard output and errors are there."""
    open_standard_descriptors()
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        # a stream is None where it was closed, as by >&-
        output = PatientStream(sys.stdout or nowhere)
        errors = PatientStream(sys.stderr or nowhere, tells=True)
        with redirect_stdout(output), redirect_stderr(errors):
            yield


# progress -----------------------------------------------------------------------------


@contextmanager
def working(title: str, unit: str = "") -> Iterator[ShowProgress]:
    """A function that takes (done, in all) and shows how far a job is.

    ``unit`` is "steps", "bytes", or "" for work of unknown length. On a terminal there
    is a bar or a clock; elsewhere a line for each step, or one line at the start.
    """
    if sys.stderr.isatty():
        with _bar(printable(title), unit) as show_bar:
            yield show_bar
        return

    def show_line(done: int, total: int | None) -> None:
        if done and unit == "steps":
            say(f"{title}: {done} of {total} steps", err=True)

    if unit != "steps":
        say(f"{title}: downloading" if unit else f"{title} …", err=True)
    yield show_line


@contextmanager
def _bar(title: str, unit: str) -> Iterator[ShowProgress]:
    """A bar or a clock on a terminal, which disappears at the end."""
    from rich import progress
    from rich.console import Console

    kinds: dict[str, list[type[progress.ProgressColumn]]] = {
        "": [progress.SpinnerColumn, progress.TimeElapsedColumn],
        "bytes": [
            progress.BarColumn,
            progress.DownloadColumn,
            progress.TransferSpeedColumn,
        ],
        "steps": [
            progress.BarColumn,
            progress.MofNCompleteColumn,
            progress.TimeElapsedColumn,
        ],
    }
    columns = [kind() for kind in kinds[unit]]
    text = progress.TextColumn("{task.description}")
    console = Console(stderr=True)
    with progress.Progress(text, *columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
