"""Files that appear whole or not at all: written next to their place, then renamed.

A process that is killed leaves what it had written so far as ``.mltsk-….tmp``. The next
process that writes there removes it, unless it is locked: a lock ends with the process
that holds it.
"""

import csv
import errno
import io
import itertools
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from numbers import Number
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

from .exceptions import InputError
from .machine import lock

# An empty file that is younger may be about to be locked.
SECONDS_BEFORE_LOCK = 60
FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# How cells begin that spreadsheets take for formulas; some also do so for wide letters.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@contextmanager
def writing(path: str | Path) -> Iterator[io.BufferedIOBase]:
    """A binary file that appears at ``path`` only when it is complete."""
    path = Path(path)
    check_target(path)
    if path.exists() and not path.is_file():  # a device or a pipe is never replaced
        with path.open("wb") as file:
            yield file
        return
    _remove_leftovers(path.parent)
    temporary = path.with_name(f".mltsk-{uuid4().hex}.tmp")
    try:
        file = temporary.open("xb")
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{path} cannot be written: {reason}.") from None
    try:
        with file:
            lock(file, wait=False)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if error.errno not in FULL_DISK:
            raise
        reason = f"{error.strerror}; nothing was changed"
        raise OSError(f"{path} cannot be written: {reason}.") from None
    finally:
        temporary.unlink(missing_ok=True)


def _remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of processes that were killed."""
    for path in folder.glob(".mltsk-*.tmp"):
        with suppress(OSError):  # it is locked, or another process has removed it
            status = path.stat()
            age = time.time() - status.st_mtime
            if status.st_size == 0 and age <= SECONDS_BEFORE_LOCK:
                continue
            with path.open("rb") as file:
                lock(file, wait=False)
            path.unlink()  # the name is not used again, so no lock is needed


def csv_text(header: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """A table as the text of a CSV file; no cell of it is a formula.

    All CSV files are written here. None is an empty cell.

    >>> csv_text(["name", "@x"], [["=1+1", -0.5], [None, "-2"]])
    "name,'@x\\n'=1+1,-0.5\\n,-2\\n"
    """
    lines: list[str] = []
    # The writer puts cells into quotes that hold a letter of the end of a line. Some
    # programs take a carriage return for one, behind which a formula could stand.
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    for cells in itertools.chain([header], rows):
        writer.writerow([spreadsheet_safe(cell) for cell in cells])
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines)


def spreadsheet_safe(cell: object) -> object:
    """A cell or name for CSV files; what looks like a formula gets an apostrophe.

    >>> spreadsheet_safe("=1+1"), spreadsheet_safe("-0.5"), spreadsheet_safe("flu")
    ("'=1+1", '-0.5', 'flu')
    """
    if cell is None or isinstance(cell, Number):
        return cell
    text = str(cell)
    if not text.startswith(_FORMULA_STARTS):
        return cell
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return cell


def check_target(path: str | Path) -> None:
    """Refuse a place where no file can be written, before the work for it begins."""
    path = Path(path)
    if "\0" in str(path):
        raise InputError(f"{path} is not a valid name of a file: give another one.")
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the name of a file to write.")
    if not path.parent.is_dir():
        hint = "make it first, or write elsewhere"
        raise InputError(f"The folder {path.parent} does not exist: {hint}.")
