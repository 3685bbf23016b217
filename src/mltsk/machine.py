"""Questions to the operating system: memory, cores, file locks, limits, signals.

Systems answer in different ways, or not at all. No other module asks them, so that a
system that lacks an answer is dealt with here, once.
"""

import errno
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, Any

ASSUMED_MEMORY = 8 << 30  # bytes, where the system does not say how many it has
# Where Linux tells about a process: its control groups, and where they are mounted.
PROCESS = Path("/proc/self")


@cache
def total_memory(process: Path = PROCESS) -> int:
    """Bytes of memory that this process may take.

    Those of the machine, of the container that this runs in, of a container around
    that one, or of a limit that a shell has set (``ulimit -v`` or ``-d``): the fewest.
    """
    memory = _posix_memory() or _windows_memory() or ASSUMED_MEMORY
    memory = min(memory, _limit_of_shell() or memory)
    for path in container_memory_files(process):
        with suppress(OSError, ValueError):  # no such file, or the word "max"
            memory = min(memory, int(path.read_text()))
    return memory


def container_memory_files(process: Path) -> Iterator[Path]:
    """Files with the memory that the control groups of a process may take.

    Of version 1 and 2, its own group first, then those around it: each of them may
    have a limit. A container often sees its own group as the root of all.
    """
    with suppress(OSError, ValueError):
        groups = _memory_groups(process)
        for kind, root, mount in _memory_mounts(process):
            name = "memory.max"
            if kind == "cgroup":
                name = "memory.limit_in_bytes"
            inner = os.path.relpath(groups.get(kind, root), root)
            if inner.startswith(".."):  # a group that cannot be seen from here
                inner = "."
            folder = mount / inner
            yield folder / name
            while folder != mount:
                folder = folder.parent
                yield folder / name


def _memory_groups(process: Path) -> dict[str, str]:
    """The control group of a process, by version: "cgroup" is 1, "cgroup2" is 2."""
    groups = {}
    for line in (process / "cgroup").read_text().splitlines():
        number, controllers, group = line.split(":", 2)
        if number == "0":
            groups["cgroup2"] = group
        elif "memory" in controllers.split(","):
            groups["cgroup"] = group
    return groups


def _memory_mounts(process: Path) -> Iterator[tuple[str, str, Path]]:
    """(version, group that is the root, folder) of all mounts that tell of memory."""
    for line in (process / "mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        _, _, _, root, folder, *_ = before.split()
        kind, _, options = after.split(" ", 2)
        if kind == "cgroup2" or (kind == "cgroup" and "memory" in options.split(",")):
            yield kind, root, Path(folder)


def _limit_of_shell() -> int:
    """Bytes that this process may address, or fill; 0 where there is no such limit."""
    resource = _module("resource")
    if resource is None:
        return 0
    kinds = (resource.RLIMIT_AS, resource.RLIMIT_DATA)
    limits = [resource.getrlimit(kind)[0] for kind in kinds]
    return min((n for n in limits if n != resource.RLIM_INFINITY), default=0)


def _posix_memory() -> int:
    """Bytes of memory as Linux and macOS tell them; 0 where they cannot be asked."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0


def _windows_memory() -> int:
    """Bytes of memory as Windows tells them; 0 on any other system."""
    import ctypes

    class MemoryStatus(ctypes.Structure):
        """MEMORYSTATUSEX of the Windows interface."""

        _fields_ = (
            ("length", ctypes.c_uint32),
            ("percent_used", ctypes.c_uint32),
            ("total_physical", ctypes.c_uint64),
            ("others", ctypes.c_uint64 * 6),
        )

    status = MemoryStatus(length=ctypes.sizeof(MemoryStatus))
    windows: Any = getattr(ctypes, "windll", None)
    if windows and windows.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return int(status.total_physical)
    return 0


def usable_cores() -> int:
    """How many cores this process may use.

    Cores that the system keeps from this process (by affinity, or by the quota of a
    container) are not counted.
    """
    from joblib import cpu_count

    return int(cpu_count())


def lock(file: IO[bytes] | IO[str], *, wait: bool) -> None:
    """Hold an open file until it is closed, so that no other process can hold it.

    While another process holds it, ``wait``, or raise an OSError. On a system without
    locks every process may go on.
    """
    if fcntl := _module("fcntl"):
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    elif msvcrt := _module("msvcrt"):
        _lock_on_windows(msvcrt, file, wait)


def _lock_on_windows(msvcrt: ModuleType, file: IO[bytes] | IO[str], wait: bool) -> None:
    """Lock the byte at the present position, which need not exist."""
    mode = msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK
    while True:
        try:
            msvcrt.locking(file.fileno(), mode, 1)
            return
        except OSError as error:
            # LK_LOCK gives up after ten seconds, with an error of its own.
            if not wait or error.errno != errno.EDEADLK:
                raise


def open_standard_descriptors() -> None:
    """Open those of standard input, output and errors that are closed, for nothing.

    Otherwise the next file that is opened takes the free number, and what a library or
    another process prints would end up in that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


def discard_output(stream: IO[str]) -> None:
    """Let what is still written to a stream go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with suppress(OSError):  # a stream without a descriptor is in memory
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def limit_process(n_bytes: int) -> None:
    """Let this process take at most ``n_bytes`` more memory, and write no larger file.

    A system that knows no such limits sets none.
    """
    resource = _module("resource")
    if resource is None:
        return
    used = 0
    with suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        used = pages * resource.getpagesize()
    limits = {
        resource.RLIMIT_AS: used + n_bytes,
        resource.RLIMIT_FSIZE: n_bytes,
        resource.RLIMIT_CORE: 0,
    }
    for kind, limit in limits.items():
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (limit, resource.getrlimit(kind)[1]))


@contextmanager
def termination_raises(error: type[BaseException]) -> Iterator[None]:
    """Let SIGTERM raise an error, as Ctrl-C does, so that what is open is tidied up.

    Where somebody else listens, or outside of the main thread, nothing changes.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise error

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _module(name: str) -> ModuleType | None:
    """A module of the standard library, or None on a system that does not have it."""
    try:
        return import_module(name)
    except ImportError:
        return None
