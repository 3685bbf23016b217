"""What commands print: aligned columns, one line per warning, files of rows."""

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from warnings import catch_warnings, simplefilter

import typer


def aligned(rows: Iterable[Sequence[object]], indent: str = "") -> str:
    """Rows as columns of text: numbers to the right, text to the left, two spaces between.

    Examples
    --------
    >>> print(aligned([["name", "rows"], ["yeast", 2417], ["flags", 194]]))
    name   rows
    yeast  2417
    flags   194
    """
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    right = [all(_numeric(cell) for cell in column[1:]) for column in zip(*cells, strict=True)]
    lines = (
        "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)) for row in cells
    )
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def _numeric(text: str) -> bool:
    return text[:1].isdigit() or text[:1] in "-" or text == ""


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
    from ..io import writing

    with writing(out) as file:
        file.write(text.encode())


def write_rows(header: Sequence[str], rows: Iterable[Sequence[object]], out: str) -> None:
    """A CSV file in one step, or to standard output for ``-``."""
    if out == "-":
        _write_csv(sys.stdout, header, rows)
        return
    from ..io import writing

    with writing(out) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        _write_csv(text, header, rows)
        text.flush()
        text.detach()


def _write_csv(file, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
