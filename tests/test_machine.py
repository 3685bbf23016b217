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
    import asyncio, os, sys, warnings  # Python's own modules take the system as it is
    warnings.filterwarnings("ignore", message="Failed to inspect CPU affinity")
    for name in ("sysconf", "sched_getaffinity"):
        if hasattr(os, name):
            delattr(os, name)
    os.process_cpu_count = os.cpu_count  # as Python 3.13 has it on such a system
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
        from mltsk.core.threads import asked_threads, spread
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
    code = """
        from pathlib import Path
        from mltsk import machine
        print(machine.total_memory(Path("nowhere")))
    """
    assert run(code) == str(machine.ASSUMED_MEMORY)


def test_total_memory_is_what_windows_says(monkeypatch, forgetful, tmp_path):
    def fill(pointer):
        status = pointer._obj
        assert status.length == ctypes.sizeof(status) == 64
        status.total_physical = 3 << 30
        return 1

    kernel = SimpleNamespace(GlobalMemoryStatusEx=fill)
    windows = SimpleNamespace(kernel32=kernel)
    monkeypatch.delattr(os, "sysconf", raising=False)
    monkeypatch.setattr(ctypes, "windll", windows, raising=False)
    monkeypatch.setitem(sys.modules, "resource", None)  # Windows does not have it
    assert machine.total_memory(tmp_path) == 3 << 30


@pytest.fixture
def container(tmp_path, forgetful):
    """Makes /proc/self of a process in a control group, and the files of its groups."""

    def make(groups, mounts, limits):
        process = tmp_path / "proc"
        process.mkdir()
        (process / "cgroup").write_text("\n".join(groups))
        lines = [line.format(root=tmp_path) for line in mounts]
        (process / "mountinfo").write_text("\n".join(lines))
        for name, text in limits.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")
        return process

    return make


V1_MOUNT = "35 31 0:32 {group} {{root}}/memory rw - cgroup cgroup rw,memory"
V2_MOUNT = "35 31 0:32 {group} {{root}}/all rw shared:9 - cgroup2 cgroup2 rw,nsdelegate"
NO_LIMIT_OF_V1 = 9223372036854771712


def test_total_memory_is_at_most_that_of_the_nearest_or_any_outer_group_of_v2(
    container,
):
    limits = {
        "all/jobs/memory.max": 1 << 20,
        "all/jobs/mine/memory.max": "max",
        "all/others/memory.max": 1 << 10,
    }
    mounts = [V2_MOUNT.format(group="/")]
    process = container(["0::/jobs/mine"], mounts, limits)
    assert machine.total_memory(process) == 1 << 20


def test_total_memory_is_at_most_that_of_a_nested_group_of_v1(container):
    limits = {
        "memory/memory.limit_in_bytes": NO_LIMIT_OF_V1,
        "memory/jobs/memory.limit_in_bytes": 1 << 21,
        "memory/jobs/mine/memory.limit_in_bytes": 1 << 20,
    }
    groups = ["5:devices:/", "4:cpu,memory:/jobs/mine", "0::/"]
    mounts = [V1_MOUNT.format(group="/"), "31 23 0:28 / /sys rw - tmpfs tmpfs rw"]
    process = container(groups, mounts, limits)
    assert machine.total_memory(process) == 1 << 20


def test_total_memory_knows_a_container_that_sees_its_own_group_as_the_root(
    container,
):
    limits = {
        "memory/memory.limit_in_bytes": 1 << 22,
        "memory/mine/memory.limit_in_bytes": 1 << 21,
    }
    mounts = [V1_MOUNT.format(group="/docker/12")]
    process = container(["4:memory:/docker/12/mine"], mounts, limits)
    assert machine.total_memory(process) == 1 << 21


def test_total_memory_knows_a_container_whose_group_lies_elsewhere(container):
    limits = {"all/memory.max": 1 << 22}
    mounts = [V2_MOUNT.format(group="/docker/12")]
    process = container(["0::/../other"], mounts, limits)
    assert machine.total_memory(process) == 1 << 22


def test_total_memory_is_that_of_the_machine_where_no_group_has_a_limit(
    container, tmp_path
):
    limits = {"memory/memory.limit_in_bytes": NO_LIMIT_OF_V1, "all/memory.max": "max"}
    mounts = [V1_MOUNT.format(group="/"), V2_MOUNT.format(group="/")]
    process = container(["4:memory:/", "0::/"], mounts, limits)
    assert machine.total_memory(process) == machine.total_memory(tmp_path / "nothing")


@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_total_memory_is_at_most_what_the_shell_allows(limit):
    pytest.importorskip("resource")
    code = """
        import resource
        import sys
        from mltsk.machine import total_memory
        limit = getattr(resource, sys.argv[1])
        hard = resource.getrlimit(limit)[1]
        resource.setrlimit(limit, (1 << 30, hard))
        print(total_memory())
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(code), limit],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) <= 1 << 30


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
