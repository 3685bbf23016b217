"""Files that appear whole or not at all: written next to their place, then renamed into it."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from .exceptions import InputError


@contextmanager
def writing(path: str | Path) -> Iterator[io.BufferedIOBase]:
    """A binary file that appears at ``path`` only when it is complete; half a file is never left behind."""
    path = Path(path)
    check_target(path)
    if path.exists() and not path.is_file():  # a device or a pipe cannot be replaced, and must not be
        with path.open("wb") as file:
            yield file
        return
    beside = path.with_name(f".{uuid4().hex}.tmp")
    try:
        file = beside.open("xb")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from None
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def check_target(path: str | Path) -> None:
    """Refuse a place where no file can be written, before the work that would fill it."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the name of a file to write.")
    if not path.parent.is_dir():
        raise InputError(f"The folder {path.parent} does not exist: make it first, or write elsewhere.")
