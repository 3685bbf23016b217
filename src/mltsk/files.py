"""Files that appear whole or not at all: written next to their place, then renamed into it.

A process that is killed leaves what it had written so far as ``.mltsk-….tmp``; the next one that writes there removes
it. A lock, which ends with the process that holds it, tells those of the living.
"""

import errno
import io
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from .exceptions import InputError
from .machine import lock


@contextmanager
def writing(path: str | Path) -> Iterator[io.BufferedIOBase]:
    """A binary file that appears at ``path`` only when it is complete; half a file is never left behind."""
    path = Path(path)
    check_target(path)
    if (
        path.exists() and not path.is_file()
    ):  # a device or a pipe cannot be replaced, and must not be
        with path.open("wb") as file:
            yield file
        return
    _tidy(path.parent)
    beside = path.with_name(f".mltsk-{uuid4().hex}.tmp")
    try:
        file = beside.open("xb")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror or error}."
        ) from None
    try:
        with file:
            lock(file, wait=False)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise OSError(
            f"{path} cannot be written: {error.strerror}; nothing was changed."
        ) from None
    finally:
        beside.unlink(missing_ok=True)


def _tidy(folder: Path) -> None:
    """Remove what processes that were killed have left in a folder."""
    for left in folder.glob(".mltsk-*.tmp"):
        with suppress(OSError):
            known = left.stat()
            if (
                known.st_size or time.time() - known.st_mtime > 60
            ):  # an empty one may be about to be locked
                with left.open("rb") as file:
                    lock(file, wait=False)
                left.unlink()


def spreadsheet_safe(cell: object) -> object:
    """A cell or name for CSV files: one that a spreadsheet would take for a formula gets an apostrophe before it.

    >>> spreadsheet_safe("=1+1"), spreadsheet_safe("-0.5"), spreadsheet_safe("flu")
    ("'=1+1", '-0.5', 'flu')
    """
    if not isinstance(cell, str) or not cell.startswith(
        ("=", "+", "-", "@", "\t", "\r")
    ):
        return cell
    with suppress(ValueError):
        float(cell)
        return cell
    return f"'{cell}"


def check_target(path: str | Path) -> None:
    """Refuse a place where no file can be written, before the work that would fill it."""
    path = Path(path)
    if "\0" in str(path):
        raise InputError(f"{path} is not a valid name of a file: give another one.")
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the name of a file to write.")
    if not path.parent.is_dir():
        raise InputError(
            f"The folder {path.parent} does not exist: make it first, or write elsewhere."
        )
