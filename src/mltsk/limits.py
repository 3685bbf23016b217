"""How much memory a file may become, and a separate process for readers that crash.

A file of a few kilobytes can declare terabytes. It may become as large as MLTSK_MEMORY
says, such as ``500M`` or ``8G``; unless that is set, as a quarter of this machine's
memory, since a fit takes a few times what was read.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO

from .exceptions import InputError, printable
from .machine import limit_process, total_memory

MEMORY_VARIABLE = "MLTSK_MEMORY"
MEMORY_PARTS = 4  # one of these parts of the machine's memory is for one file
READER_SECONDS = 60  # for a file in a process of its own; a second more per MiB
# Bytes of a cell that is a Python object: a string of 50 and a few references.
OBJECT_CELL_BYTES = 80
MAX_REASON_LENGTH = 300  # characters of a foreign library's complaint
_BINARY_DIGITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
# How the process ends where it does not succeed.
_TOO_LARGE = 3
_REFUSED = 4
_DAMAGED = 5


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
    with tempfile.TemporaryFile() as out:  # has no name: nothing can be left behind
        status, complaint = _run_job(
            [library, job, str(memory_limit()), str(path), *args], out, seconds
        )
        if status is None:
            fault = "it is damaged, or too large"
            raise InputError(f"{path} was not read in {seconds:.0f} seconds: {fault}.")
        if status == _TOO_LARGE:
            raise too_large(path)
        if status == _REFUSED:
            raise InputError(complaint)
        if status:
            reason = "it is damaged, so that its reader crashed"
            if status == _DAMAGED:
                reason = complaint.rstrip(".")
            raise InputError(f"{path} is not a readable {what}: {reason}.")
        out.seek(0)
        yield out


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
        status = _REFUSED if isinstance(error, InputError) else _DAMAGED
        lines = str(error).strip().splitlines()
        reason = printable(lines[0] if lines else type(error).__name__)
        print(reason[:MAX_REASON_LENGTH], file=sys.stderr)
    sys.stderr.flush()
    os._exit(status)  # what a damaged file left behind in memory is not tidied up
