"""How much memory a file may become, and a separate process for readers that crash.

A file of a few kilobytes can declare terabytes. It may become as large as MLTSK_MEMORY
says, such as ``500M`` or ``8G``; unless that is set, as a quarter of this machine's
memory, since a fit takes a few times what was read. While a file is read, at most
`PEAK_FACTOR` times that much is in use.
"""

import errno
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from zipfile import ZipFile

from .exceptions import InputError, printable
from .machine import limit_process, total_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEMORY_VARIABLE = "MLTSK_MEMORY"
MEMORY_PARTS = 4  # one of these parts of the machine's memory is for one file
READER_SECONDS = 60  # for a file in a process of its own; a second more per MiB
# Memory that reading takes at its peak, as a multiple of what a file may become.
PEAK_FACTOR = 2
# Bytes of a cell that is a Python object: a string of 50, a few references, and half of
# what it takes to decide what its column is (at most 220 in all were seen).
OBJECT_CELL_BYTES = 110
# Bytes in memory per byte of a file that consists of nothing but brackets, at most.
JSON_EXPANSION = 32
NUMBER_BYTES = 8
CHUNK_BYTES = 1 << 20
MAX_REASON_LENGTH = 300  # characters of a foreign library's complaint
_BINARY_DIGITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
# How the process ends where it does not succeed.
_TOO_LARGE = 3
_REFUSED = 4
_DAMAGED = 5
_DISK_FULL = 6
DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT)


def memory_limit() -> int:
    """Bytes that one file may become: MLTSK_MEMORY, or a quarter of the memory."""
    text = os.environ.get(MEMORY_VARIABLE, "").strip()
    if not text:
        return total_memory() // MEMORY_PARTS
    unit = text[-1].upper() if text[-1].isalpha() else ""
    number = text[: len(text) - len(unit)]
    is_number = number.isascii() and number.isdigit() and int(number[:9]) > 0
    if not is_number or unit not in _BINARY_DIGITS:
        hint = "give a size such as 500M or 8G"
        raise InputError(f"{MEMORY_VARIABLE} is {text[:40]!r}: {hint}.")
    return int(number) << _BINARY_DIGITS[unit]


def check_size(size: float, name: object) -> None:
    """Refuse something that would take ``size`` bytes if `memory_limit` is lower."""
    if size > memory_limit():
        raise too_large(name)


def too_large(name: object) -> InputError:
    """The error about something that would take more memory than it may."""
    limit = memory_limit()
    reason = ", a quarter of this machine's memory"
    if os.environ.get(MEMORY_VARIABLE):
        reason = ""
    return InputError(
        f"{name} would take more than {max(1, limit >> 20):,} MiB of memory{reason}: "
        f"save it in parts, or set {MEMORY_VARIABLE}={max(2, limit >> 29)}G."
    )


def read_bounded(path: str | Path, expansion: int) -> bytes:
    """The content of a file that may become ``expansion`` times as large in memory.

    Pipes are read too, so that a size is not asked for.
    """
    content = bytearray()
    with Path(path).open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            content += chunk
            check_size(expansion * len(content), path)
    return bytes(content)


def read_json(path: str | Path) -> Any:
    """The content of a JSON file; ValueError if it is none."""
    try:
        return json.loads(read_bounded(path, JSON_EXPANSION))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def array_bytes(archive: ZipFile, member: str) -> int:
    """Bytes that an array in an archive becomes, by its header; ValueError if it lies.

    Every number counts as one of 64 bits, which it becomes sooner or later, and every
    text as an object.
    """
    from numpy.lib import format as npy  # commands that read no array start faster

    with archive.open(member) as stream:
        version = npy.read_magic(stream)
        if version == (1, 0):
            shape, _, dtype = npy.read_array_header_1_0(stream)
        elif version == (2, 0):
            shape, _, dtype = npy.read_array_header_2_0(stream)
        else:
            raise ValueError(f"its part {member!r} has a header of an unknown version")
        n_bytes = archive.getinfo(member).file_size - stream.tell()
    count = 1
    for length in shape:
        count *= length
    if dtype.hasobject:  # a pickle, which is refused where arrays are read
        return n_bytes
    if count * dtype.itemsize > n_bytes:
        raise ValueError(f"its part {member!r} is shorter than it says")
    cell_bytes = max(NUMBER_BYTES, dtype.itemsize)
    if dtype.kind not in "biufc":
        cell_bytes += OBJECT_CELL_BYTES
    return max(n_bytes, count * cell_bytes)


def read_npy(stream: IO[bytes]) -> "NDArray[Any]":
    """An array in NumPy's format; ValueError for pickles and texts that are none.

    NumPy takes any number for a character, and Python dies of the first that is none.
    """
    from numpy import uint32
    from numpy.lib import format as npy

    array: NDArray[Any] = npy.read_array(stream, allow_pickle=False)
    if array.dtype.kind != "U" or not array.nbytes:
        return array
    native = array.ravel().astype(array.dtype.newbyteorder("="))
    if native.view(uint32).max() > sys.maxunicode:
        raise ValueError("its texts are damaged: there are no such characters")
    return array


@contextmanager
def isolated(
    job: str,
    path: Path,
    *args: str,
    what: str,
    library: str = "os",
    seconds: float = READER_SECONDS,
) -> Iterator[IO[bytes]]:
    """The output of a job on a file, done in a process with limits of memory and time.

    ``job`` is "module:function". The function is called with the path, a binary file to
    write to, and ``args``. The ``library`` that it uses is imported first, and does not
    count as memory. Where the process crashes, takes too much or complains, an
    `InputError` says so, and that the file is no readable ``what``.
    """
    seconds += path.stat().st_size / 2**20
    with _temporary_file(path) as out:
        status, complaint = _run_job(
            [library, job, str(memory_limit()), str(path), *args], out, seconds
        )
        if status is None:
            fault = "it is damaged, or too large"
            raise InputError(f"{path} was not read in {seconds:.0f} seconds: {fault}.")
        # Where C++ dies for lack of memory, this is its last word.
        if status == _TOO_LARGE or (status and "std::bad_alloc" in complaint):
            raise too_large(path)
        if status == _DISK_FULL:
            raise _full_disk(path)
        if status == _REFUSED:
            raise InputError(complaint)
        if status:
            reason = "it is damaged, so that its reader crashed"
            if status == _DAMAGED:
                reason = complaint.rstrip(".")
            raise InputError(f"{path} is not a readable {what}: {reason}.")
        out.seek(0)
        yield out


def _temporary_file(path: Path) -> IO[bytes]:
    """A file without a name, of which nothing can be left behind."""
    try:
        return tempfile.TemporaryFile()
    except OSError as error:
        if error.errno in DISK_FULL_ERRORS:
            raise _full_disk(path) from None
        # Python names all folders that it tried.
        raise OSError(
            f"{path} was not read, because no temporary file can be made: "
            f"{error.strerror or error}; set TMPDIR to a folder that can be written to."
        ) from None


def _full_disk(path: Path) -> OSError:
    """The error about a temporary folder in which there is no space left."""
    return OSError(
        f"{path} was not read, because the temporary folder {tempfile.gettempdir()} is "
        "full: make space there, or set TMPDIR to another folder."
    )


def _run_job(
    arguments: list[str], out: IO[bytes], seconds: float
) -> tuple[int | None, str]:
    """(exit status, last line of complaint) of a child; None if it took too long."""
    program = "from mltsk.limits import child; child()"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "OPENBLAS_NUM_THREADS": "1",
    }
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            env=environment,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return done.returncode, lines[-1] if lines else ""


def child() -> None:
    """Do the job that `isolated` asks for; this process ends with it."""
    library, job, limit, path, *args = sys.argv[1:]
    module, _, name = job.partition(":")
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not get into the result
    function = getattr(import_module(module), name)
    import_module(library)
    limit_process(int(limit))
    try:
        function(Path(path), out, *args)
        out.close()
        status = 0
    except MemoryError:
        status = _TOO_LARGE
    except Exception as error:  # readers meet damaged files with errors of every kind
        status = _status_of(error)
        lines = str(error).strip().splitlines()
        reason = printable(lines[0] if lines else type(error).__name__)
        print(reason[:MAX_REASON_LENGTH], file=sys.stderr)
    sys.stderr.flush()
    os._exit(status)  # what a damaged file left behind in memory is not tidied up


def _status_of(error: Exception) -> int:
    """How the process ends after an error."""
    if isinstance(error, InputError):
        return _REFUSED
    number = getattr(error, "errno", None)
    if number in DISK_FULL_ERRORS:
        return _DISK_FULL
    # The result would be larger than a file of this process may be.
    return _TOO_LARGE if number == errno.EFBIG else _DAMAGED
