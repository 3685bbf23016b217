"""Run tests as other machines would: ``python scripts/machines.py [CASES]``.

Each case is a machine that this one can pretend to be, or an interpreter and versions
of libraries that are at hand: a line per case says what came out, or why the case
cannot be run here. Nothing is downloaded unless ``--install`` is given; then
environments are made under ``out/machines``, once each.

    python scripts/machines.py --list
    python scripts/machines.py one-core memory locale-tr
    python scripts/machines.py --install python3.12 oldest newest
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = ROOT / "out" / "machines"
TESTS = ("tests/fit", "tests/core", "tests/cli/test_fit.py", "tests/test_machine.py")
QUICK_TESTS = ("tests/cli/test_fit.py", "tests/test_machine.py")
# An older typer asks a newer click for names that are to go. Under -O pytest warns of
# assertions elsewhere; those of tests are checked.
PYTEST_OPTIONS = (
    "-p",
    "no:cacheprovider",
    "-W",
    "ignore::DeprecationWarning:typer",
    "-W",
    "ignore:assertions not in test modules",
)
TEST_LIBRARIES = ("pytest>=8", "hypothesis>=6.100")
EXTRAS = ("data", "report", "onnx")  # torch and river are heavy, and tests do without
LEFT_OUT = ("river",)
GIB = 1 << 30
# Runs before anything else in every Python of a case.
SITE = """
import os, sys
if os.environ.get("PRETEND") == "bare":
    import asyncio  # Python's own modules take the system as it is
    try:
        import psutil  # on such a system it would be another one
    except ImportError:
        pass
    for name in ("sysconf", "sched_getaffinity"):
        if hasattr(os, name):
            delattr(os, name)
    os.process_cpu_count = os.cpu_count
    sys.modules["fcntl"] = None
if os.environ.get("PRETEND") == "offline":
    import socket
    def refuse(self, address):
        if self.family != socket.AF_UNIX:
            raise OSError(101, "Network is unreachable")
        return connect(self, address)
    connect = socket.socket.connect
    socket.socket.connect = refuse
"""


class NotHereError(Exception):
    """Why a case cannot be run on this machine."""


@dataclass(frozen=True)
class Machine:
    """A machine to pretend to be.

    ``environment`` is added to that of the tests; ``pretend`` names what is taken away
    from Python before they start; ``prepare`` makes variables of a folder that is there
    for the case alone, or says that it cannot; ``python`` finds the interpreter.
    """

    about: str
    environment: Mapping[str, str] = field(default_factory=dict)
    pretend: str = ""
    prefix: tuple[str, ...] = ()
    memory: int = 0
    tests: tuple[str, ...] = QUICK_TESTS
    prepare: Callable[[Path], dict[str, str]] | None = None
    python: Callable[[bool], Path] | None = None


# what a case needs --------------------------------------------------------------------


def locale(name: str) -> Callable[[Path], dict[str, str]]:
    """Makes a locale where the system does not have it."""

    def prepare(folder: Path) -> dict[str, str]:
        if not shutil.which("localedef"):
            raise NotHereError("there is no localedef")
        place = folder / f"{name}.UTF-8"
        done = subprocess.run(
            ["localedef", "-i", name, "-f", "UTF-8", str(place)], capture_output=True
        )
        if not place.is_dir():
            raise NotHereError(f"the system cannot make it ({done.returncode})")
        return {"LOCPATH": str(folder), "LC_ALL": f"{name}.UTF-8", "LANGUAGE": name}

    return prepare


def read_only_home(folder: Path) -> dict[str, str]:
    """A home that nobody, not even root, can write to."""
    return {"HOME": "/proc/1", "XDG_CACHE_HOME": "/proc/1/cache"}


def another_python(version: str) -> Callable[[bool], Path]:
    """An interpreter of a version, with the newest libraries."""

    def find(may_install: bool) -> Path:
        python = interpreter(version)
        return environment(f"python{version}", python, newest(), may_install)

    return find


def interpreter(version: str) -> Path:
    """An interpreter, on the path or under pyenv's folder."""
    found = shutil.which(f"python{version}")
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for path in sorted(pyenv.glob(f"versions/{version}.*/bin/python")):
        found = str(path)
    if not found:
        raise NotHereError(f"there is no Python {version}")
    return Path(found)


def oldest_libraries(may_install: bool) -> Path:
    """The lower bounds of pyproject.toml, on the oldest Python."""
    pinned = [line.replace(">=", "==") for line in newest()]
    return environment("oldest", interpreter("3.11"), pinned, may_install)


def newest_libraries(may_install: bool) -> Path:
    """What pip installs today, whatever constraints.txt says."""
    return environment("newest", Path(sys.executable), newest(), may_install)


def newest() -> list[str]:
    """What the package asks for, with the extras that tests need most."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = list(project["dependencies"])
    for extra in EXTRAS:
        lines += project["optional-dependencies"][extra]
    return [line for line in lines if not line.startswith(LEFT_OUT)]


def environment(
    name: str, python: Path, libraries: Sequence[str], may_install: bool
) -> Path:
    """The interpreter of a virtual environment, made where that is allowed."""
    folder = ENVIRONMENTS / name
    own = folder / "bin" / "python"
    stamp = folder / "installed.txt"
    wanted = "\n".join([str(python), *libraries])
    if stamp.exists() and stamp.read_text() == wanted:
        return own
    if not may_install:
        raise NotHereError("not installed: add --install")
    shutil.rmtree(folder, ignore_errors=True)
    _prepare([str(python), "-m", "venv", str(folder)], "an environment cannot be made")
    pip = [str(own), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _prepare([*pip, *libraries, *TEST_LIBRARIES], "pip cannot install it")
    stamp.write_text(wanted)
    return own


def _prepare(command: Sequence[str], otherwise: str) -> None:
    """Run a command that a case needs; without it the case cannot be run here."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise NotHereError(f"{otherwise}: {last_line(done)}")


# cases --------------------------------------------------------------------------------

MACHINES = {
    "as-it-is": Machine("this machine"),
    "bare": Machine(
        "without os.sysconf, os.sched_getaffinity and fcntl", pretend="bare"
    ),
    "one-core": Machine(
        "one core, whatever threads are asked for",
        environment={"MLTSK_THREADS": "4", "OMP_NUM_THREADS": "4"},
        prefix=("taskset", "-c", "0"),
    ),
    "memory": Machine("2 GiB of memory (ulimit -d)", memory=2 * GIB),
    "threads": Machine(
        "eight threads of OpenMP, MKL and OpenBLAS, by their variables",
        environment={
            "OMP_NUM_THREADS": "8",
            "MKL_NUM_THREADS": "8",
            "OPENBLAS_NUM_THREADS": "8",
            "KMP_DUPLICATE_LIB_OK": "TRUE",
        },
    ),
    "read-only-home": Machine("a home that is read-only", prepare=read_only_home),
    "offline": Machine("no network", pretend="offline"),
    "locale-de": Machine("German: a comma for decimals", prepare=locale("de_DE")),
    "locale-tr": Machine("Turkish: the lower i of I", prepare=locale("tr_TR")),
    "ascii": Machine(
        "the C locale without UTF-8",
        environment={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ),
    "optimised": Machine("python -O", environment={"PYTHONOPTIMIZE": "1"}),
    "oldest": Machine(
        "the lower bounds of pyproject.toml", tests=TESTS, python=oldest_libraries
    ),
    "newest": Machine(
        "the newest libraries, beyond constraints.txt",
        tests=TESTS,
        python=newest_libraries,
    ),
}
for minor in (11, 12, 13, 14):
    MACHINES[f"python3.{minor}"] = Machine(
        f"Python 3.{minor}", tests=TESTS, python=another_python(f"3.{minor}")
    )


def outcome(machine: Machine, tests: Sequence[str], may_install: bool) -> str:
    """What the tests of a case say in their last line; NotHereError without them."""
    python = Path(sys.executable)
    if machine.python is not None:
        python = machine.python(may_install)
    if machine.prefix and not shutil.which(machine.prefix[0]):
        raise NotHereError(f"there is no {machine.prefix[0]}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = machine.prepare(folder) if machine.prepare else {}
        (folder / "sitecustomize.py").write_text(SITE)
        paths = [str(folder), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        command = [*machine.prefix, python, "-m", "pytest", "-q", *PYTEST_OPTIONS]
        done = subprocess.run(
            [*command, *(tests or machine.tests)],
            cwd=ROOT,
            env={
                **os.environ,
                "OPENBLAS_NUM_THREADS": "1",
                "OMP_NUM_THREADS": "1",
                "PRETEND": machine.pretend,
                "PYTHONPATH": os.pathsep.join(filter(None, paths)),
                **machine.environment,
                **own,
            },
            preexec_fn=limiter(machine.memory) if machine.memory else None,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        failed = [
            line for line in done.stdout.splitlines() if line.startswith("FAILED")
        ]
        raise AssertionError("\n    ".join([last_line(done), *failed[:10]]))
    return last_line(done)


def last_line(done: "subprocess.CompletedProcess[str]") -> str:
    """The last line that a process printed."""
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines()
    return lines[-1] if lines else f"status {done.returncode}"


def limiter(n_bytes: int) -> Callable[[], None]:
    """Limits the memory that a process may fill.

    Not what it may address: libraries alone reserve 1.6 GiB, of which a fit of pbc
    fills .24.
    """
    import resource

    def limit() -> None:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, hard))

    return limit


def read_arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", metavar="case", help="by default all")
    parser.add_argument("--list", action="store_true", help="what the cases are")
    parser.add_argument(
        "--install", action="store_true", help="make environments in out/machines"
    )
    parser.add_argument(
        "--tests", default="", help="other tests than those of the cases"
    )
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.cases) - set(MACHINES))
    if unknown:
        parser.error(f"no case is called {', '.join(unknown)}: see --list")
    return arguments


def main() -> int:
    """Run the cases, a line each; fail if one did."""
    arguments = read_arguments()
    n_failed = 0
    for name in arguments.cases or MACHINES:
        machine = MACHINES[name]
        if arguments.list:
            print(f"{name:15} {machine.about}")
            continue
        start = time.perf_counter()
        try:
            found = outcome(machine, arguments.tests.split(), arguments.install)
        except NotHereError as reason:
            found = f"not here: {reason}"
        except AssertionError as failure:
            found = f"FAILED: {failure}"
            n_failed += 1
        seconds = time.perf_counter() - start
        print(f"{name:15} {machine.about}: {found} [{seconds:.0f} s]", flush=True)
    return int(n_failed > 0)


if __name__ == "__main__":
    sys.exit(main())
