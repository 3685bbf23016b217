"""Files that appear whole or not at all: written next to their place, then renamed.

No output may be a file that is read: `check_outputs` compares files, not names. A
process that is killed leaves what it had written so far as ``.mltsk-….tmp``. The next
process that writes there removes it, unless it is locked: a lock ends with the process
that holds it.
"""

import csv
import errno
import io
import itertools
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import combinations, product
from numbers import Number
from pathlib import Path
from types import SimpleNamespace
from unicodedata import normalize
from uuid import uuid4

from .exceptions import InputError
from .machine import lock

# An empty file that is younger may be about to be locked.
SECONDS_BEFORE_LOCK = 60
FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# How cells begin that spreadsheets take for formulas; some also do so for wide letters.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


# writing ------------------------------------------------------------------------------


@contextmanager
def writing(
    path: str | Path, *, follow_link: bool = True
) -> Iterator[io.BufferedIOBase]:
    """A binary file that appears at ``path`` only when it is complete.

    A file that is there keeps its mode and, where the system allows it, its owner. Of a
    symbolic link the target is written and the link stays; without ``follow_link`` the
    link is replaced. That is for names that the user did not type: a link in a folder
    from somebody else may lead anywhere.
    """
    path = Path(path)
    if follow_link or not path.is_symlink():
        check_target(path)
        if path.exists() and not path.is_file():  # devices and pipes are not replaced
            with path.open("wb") as file:
                yield file
            return
        path = Path(os.path.realpath(path))
    _remove_leftovers(path.parent)
    temporary = path.with_name(f".mltsk-{uuid4().hex}.tmp")
    try:
        file = _created(temporary, like=path)
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


def _created(path: Path, *, like: Path) -> io.BufferedWriter:
    """A new file, open, with the mode of another one that it will replace.

    Without that other file, or where it is a link, the mode is that of any new file.
    """
    if like.is_symlink() or not like.exists():
        return path.open("xb")
    # nobody else may read it before it has its mode
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags, 0o600), "wb")
    status = like.stat()
    with suppress(OSError, AttributeError):  # only root may, and Windows cannot
        os.chown(path, status.st_uid, status.st_gid)
    with suppress(OSError):  # file systems without modes
        os.chmod(path, stat.S_IMODE(status.st_mode))
    return file


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


# before the work ----------------------------------------------------------------------


def check_target(path: str | Path) -> None:
    """Refuse a place where no file can be written, before the work for it begins."""
    path = Path(path)
    if "\0" in str(path):
        raise InputError(f"{path} is not a valid name of a file: give another one.")
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the name of a file to write.")
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise InputError(f"{path} is a link that leads to itself: write elsewhere.")
    # also of no/../file, which the system would not find
    if not path.parent.is_dir() or not target.parent.is_dir():
        folder = target.parent if path.is_symlink() else path.parent
        hint = "make it first, or write elsewhere"
        raise InputError(f"The folder {folder} does not exist: {hint}.")
    if target.exists() and not os.access(target, os.W_OK):
        hint = "change its mode, or write elsewhere"
        raise InputError(f"{path} is protected against writing: {hint}.")


def check_outputs(
    outputs: Iterable[str | Path], inputs: Iterable[str | Path] = ()
) -> None:
    """Refuse outputs that cannot be written, that are inputs, or that are one file.

    Files are compared, not names: links, other spellings of a path, and capitals on a
    file system that ignores them make no difference.
    """
    targets = [Path(output) for output in outputs]
    for target in targets:
        check_target(target)
    for target, source in product(targets, map(Path, inputs)):
        if _is_same_file(target, source):
            other = f"the same file as {source}, which"
            if str(source) == str(target):
                other = "a file that"
            raise InputError(
                f"{target} is {other} is read here: write to another one, so that "
                "nothing is lost."
            )
    for first, second in combinations(targets, 2):
        if _is_same_file(first, second) or _may_become_one(first, second):
            raise InputError(
                f"{first} and {second} are one file: give each output a name of its "
                "own."
            )


def _is_same_file(first: Path, second: Path) -> bool:
    """Whether two paths lead to one file that exists; devices are no files.

    The first is where `writing` would write.
    """
    first = Path(os.path.realpath(first))
    try:
        return first.is_file() and first.samefile(second)
    except (OSError, ValueError):  # the second one does not exist, or cannot
        return False


def _may_become_one(first: Path, second: Path) -> bool:
    """Whether two files that do not exist yet have one folder and one name.

    Names that differ in capitals alone count as one, because they are on many systems,
    and which kind a folder is shows only when something is written.
    """
    first = Path(os.path.realpath(first))
    second = Path(os.path.realpath(second))
    if first.exists() or second.exists():
        return False
    names = {normalize("NFC", path.name).casefold() for path in (first, second)}
    return len(names) == 1 and first.parent.samefile(second.parent)


def check_no_link(path: str | Path) -> None:
    """Refuse a link among the files and folders of a folder that is written to.

    The user did not type its name: the folder may come from a stranger, and a link in
    it may lead anywhere.
    """
    path = Path(path)
    place = Path(os.path.realpath(path.parent)) / path.name
    # junctions of Windows are no links, but lead elsewhere all the same
    if path.is_symlink() or (path.exists() and not _is_at(path, place)):
        raise InputError(
            f"{path} is a link that leads elsewhere, where nothing is written: put a "
            "copy in its place, or choose another folder."
        )


def _is_at(path: Path, place: Path) -> bool:
    """Whether a path leads to a place, by the names of the file system."""
    return os.path.normcase(os.path.realpath(path)) == os.path.normcase(place)


def check_folder_of_ours(path: str | Path) -> None:
    """Refuse what stands in the place of a folder that will be written to."""
    path = Path(path)
    check_no_link(path)
    if path.exists() and not path.is_dir():
        raise InputError(
            f"{path} is a file, where a folder is to be: move it away, or choose "
            "another folder."
        )


def check_inputs_outside(folder: str | Path, inputs: Iterable[str | Path]) -> None:
    """Refuse inputs that lie in a folder whose files will be replaced."""
    folder = Path(folder)
    if not folder.is_dir():
        return
    for source in inputs:
        parents = Path(os.path.realpath(source)).parents
        if any(parent.is_dir() and parent.samefile(folder) for parent in parents):
            raise InputError(
                f"{source} is read here and lies in {folder}, whose files are "
                "replaced: move it, or write elsewhere."
            )
