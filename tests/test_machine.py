"""What the operating system is asked, also on systems that lack the answer."""

import ctypes
import os
import signal
import subprocess
import sys
from textwrap import dedent
from types import SimpleNamespace

import pytest

from mltsk import machine

# A system that has nothing but what every system has.
BARE_SYSTEM = """
    import os, sys, warnings
    warnings.filterwarnings("ignore", message="Failed to inspect CPU affinity")
    for name in ("sysconf", "sched_getaffinity", "process_cpu_count"):
        if hasattr(os, name):
            delattr(os, name)
    for name in ("resource", "fcntl", "msvcrt"):
        sys.modules[name] = None
"""


def run(code, **environment):
    """What a program prints on a bare system."""
    program = dedent(BARE_SYSTEM) + dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def forgetful():
    """Asks for the memory of the machine anew, before and after a test."""
    machine.total_memory.cache_clear()
    yield
    machine.total_memory.cache_clear()


def test_a_default_fit_save_and_load_work_on_a_bare_system(tmp_path):
    code = """
        import numpy as np
        from mltsk import MLTSKClassifier, load, save
        from mltsk.datasets import make_multilabel_rules
        data = make_multilabel_rules(60, 4, 2, random_state=0)
        clf = MLTSKClassifier().fit(data.X, data.Y)
        save(clf, os.environ["PLACE"])
        same = load(os.environ["PLACE"])
        print(np.array_equal(clf.predict(data.X), same.predict(data.X)))
    """
    assert run(code, PLACE=str(tmp_path / "model.skops")) == "True"


def test_spread_takes_the_threads_of_mltsk_threads_on_a_bare_system():
    code = """
        from mltsk.core.arrays import asked_threads, spread
        import threading
        barrier = threading.Barrier(3)  # passes only if three threads work at once
        spread(lambda item: barrier.wait(60), [1, 2, 3], flops=1e9)
        print(asked_threads())
    """
    assert run(code, MLTSK_THREADS="3") == "3"


def test_usable_cores_are_those_of_the_machine_if_nothing_else_is_known():
    code = "from mltsk.machine import usable_cores; print(usable_cores() >= 1)"
    assert run(code, MLTSK_THREADS="") == "True"


def test_total_memory_is_assumed_where_the_system_does_not_say():
    code = "from mltsk import machine; print(machine.total_memory(()))"
    assert run(code) == str(machine.ASSUMED_MEMORY)


def test_total_memory_is_what_windows_says(monkeypatch, forgetful):
    def fill(pointer):
        status = pointer._obj
        assert status.length == ctypes.sizeof(status) == 64
        status.total_physical = 3 << 30
        return 1

    kernel = SimpleNamespace(GlobalMemoryStatusEx=fill)
    windows = SimpleNamespace(kernel32=kernel)
    monkeypatch.delattr(os, "sysconf", raising=False)
    monkeypatch.setattr(ctypes, "windll", windows, raising=False)
    assert machine.total_memory(()) == 3 << 30


def test_total_memory_is_at_most_that_of_the_container(tmp_path, forgetful):
    whole = machine.total_memory(())
    limit = tmp_path / "memory.max"
    limit.write_text("1048576\n")
    unlimited = tmp_path / "unlimited"
    unlimited.write_text("max\n")
    huge = tmp_path / "memory.limit_in_bytes"  # how version 1 writes "no limit"
    huge.write_text("9223372036854771712\n")
    assert machine.total_memory((limit,)) == 1 << 20
    assert machine.total_memory((unlimited, huge, tmp_path / "none")) == whole


def test_a_lock_is_held_until_the_file_is_closed(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "file"
    with path.open("w") as first:
        machine.lock(first, wait=False)
        with path.open() as second, pytest.raises(OSError):
            machine.lock(second, wait=False)
    with path.open() as third:
        machine.lock(third, wait=True)


def test_a_lock_waits_on_windows_until_the_other_process_is_done(tmp_path, monkeypatch):
    answers = [OSError(36, "deadlock avoided"), None]

    def locking(descriptor, mode, n_bytes):
        assert mode == "wait"
        assert n_bytes == 1
        if answer := answers.pop(0):
            raise answer

    windows = SimpleNamespace(LK_LOCK="wait", LK_NBLCK="try", locking=locking)
    monkeypatch.setattr("errno.EDEADLK", 36)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    with (tmp_path / "file").open("w") as file:
        machine.lock(file, wait=True)
    assert not answers


def test_a_lock_on_windows_that_another_process_holds_is_an_error(
    tmp_path, monkeypatch
):
    def locking(descriptor, mode, n_bytes):
        assert mode == "try"
        raise PermissionError(13, "Permission denied")

    windows = SimpleNamespace(LK_LOCK="wait", LK_NBLCK="try", locking=locking)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    with (tmp_path / "file").open("w") as file, pytest.raises(PermissionError):
        machine.lock(file, wait=False)


def test_limit_process_stops_a_process_that_takes_too_much_memory():
    pytest.importorskip("resource")
    code = """
        from mltsk.machine import limit_process
        limit_process(100 << 20)
        try:
            bytes(500 << 20)
        except MemoryError:
            print("stopped")
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(code)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == ("stopped" if sys.platform == "linux" else "")


def test_limit_process_sets_nothing_on_a_bare_system():
    code = "from mltsk.machine import limit_process; limit_process(1); print('on')"
    assert run(code) == "on"


def test_ignore_interrupts_leaves_ctrl_c_to_others():
    before = signal.getsignal(signal.SIGINT)
    try:
        machine.ignore_interrupts()
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
