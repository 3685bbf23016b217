"""How much memory a file may become, and a process of their own for readers that can crash.

A file of a few kilobytes can declare terabytes. What it becomes may take MLTSK_MEMORY, such as ``500M`` or ``8G``;
unless that is set, a quarter of this machine's memory, since a fit takes a few times what was read.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from .exceptions import InputError, printable
from .machine import limit_process, total_memory

VARIABLE, SHARE = "MLTSK_MEMORY", 4
SECONDS = (
    60  # for a file to be read in a process of its own, and a second more per MiB of it
)
CELL = (
    80  # bytes of a cell that is a Python object: a string of 50 and a few references
)
_UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}
_TOO_LARGE, _REFUSED, _DAMAGED = (
    3,
    4,
    5,
)  # how the process ends where it does not succeed


def memory_limit() -> int:
    """Bytes that one file may become: MLTSK_MEMORY, or a quarter of this machine's memory."""
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return total_memory() // SHARE
    number, unit = (
        (given[:-1], given[-1].upper()) if given[-1].isalpha() else (given, "")
    )
    if not (
        number.isascii()
        and number.isdigit()
        and 0 < int(number[:9])
        and unit in ("", *_UNITS)
    ):
        raise InputError(
            f"{VARIABLE} is {given[:40]!r}: give a size such as 500M or 8G."
        )
    return int(number) << _UNITS.get(unit, 0)


def check_size(size: float, what: Any) -> None:
    """Refuse what would take so many bytes, before it takes them, if that is more than `memory_limit`."""
    if size > memory_limit():
        raise too_large(what)


def too_large(what: Any) -> InputError:
    """The sentence about something that would take more memory than it may."""
    limit, why = (
        memory_limit(),
        "" if os.environ.get(VARIABLE) else ", a quarter of this machine's memory",
    )
    ways = f"save it in parts, or set {VARIABLE}={max(2, limit >> 29)}G"
    return InputError(
        f"{what} would take more than {max(1, limit >> 20):,} MiB of memory{why}: {ways}."
    )


@contextmanager
def isolated(
    job: str,
    path: Path,
    *args: str,
    what: str,
    library: str = "os",
    seconds: float = SECONDS,
) -> Iterator[IO[bytes]]:
    """What ``job`` ("module:function") writes about a file in a process of its own, with a limit of memory and time.

    The function is called with the path, a binary file to write to, and ``args``; the ``library`` that it uses is
    imported first, and does not count as memory. Where the process crashes, takes too much or complains, an
    `InputError` says so, and that the file is no readable ``what``.
    """
    seconds += path.stat().st_size / 2**20
    program = "from mltsk.limits import child; child()"
    command = [
        sys.executable,
        "-P",
        "-c",
        program,
        library,
        job,
        str(memory_limit()),
        str(path),
        *args,
    ]
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "OPENBLAS_NUM_THREADS": "1",
    }
    with (
        tempfile.TemporaryFile() as out
    ):  # has no name, so that nothing can be left behind
        files: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": out,
            "stderr": subprocess.PIPE,
        }
        try:
            done = subprocess.run(command, **files, env=env, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise InputError(
                f"{path} was not read in {seconds:.0f} seconds: it is damaged, or too large."
            ) from None
        if (status := done.returncode) == _TOO_LARGE:
            raise too_large(path)
        if status:
            said = (done.stderr.decode(errors="replace").strip().splitlines() or [""])[
                -1
            ]
            reason = (
                said.rstrip(".")
                if status == _DAMAGED
                else "it is damaged, so that its reader crashed"
            )
            raise InputError(
                said
                if status == _REFUSED
                else f"{path} is not a readable {what}: {reason}."
            )
        out.seek(0)
        yield out


def child() -> None:
    """Do the job that `isolated` asks for; the end of this process."""
    library, job, limit, path, *args = sys.argv[1:]
    module, _, name = job.partition(":")
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no part of the result
    function, _ = getattr(import_module(module), name), import_module(library)
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
        print(
            printable(lines[0] if lines else type(error).__name__)[:300],
            file=sys.stderr,
        )
    sys.stderr.flush()
    os._exit(status)  # what a damaged file left behind in memory is not tidied up
