"""Cells of one fold: methods in the environments where they live."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from .data import TaskFold
from .fits import METHODS
from .fits.fold import write_fold
from .store import DONE, FAILED, OVER, REFUSED, Cell

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
CANNOT_FIT = 3  # exit status of a method in fits
TOO_SLOW = 4
MEMORY_LIMIT_GB = 8  # that fits sets
COSTS = ("fit_s", "predict_s", "peak_mb", "size")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# BOOMER has an opinion on threads of its own: two, as many as the machine has. They
# sleep while they wait (OMP_WAIT_POLICY): turning, they took forty times as long on a
# machine with other work.
OWN_THREADS = ("BOOMER",)
OUT_OF_MEMORY = ("MemoryError", "bad_alloc", "Unable to allocate", "bad allocation")
# Rooms and modules that decide what our models say; pages and commands do not.
FITTING = ("core", "fit", "short", "rows")


def python_of(method: str) -> Path:
    """The Python in whose environment a method lives."""
    place = METHODS[method].environment
    return ROOT / place / "bin" / "python" if place else Path(sys.executable)


def version_of(method: str) -> str:
    """What results of a method depend on: its packages, its settings, our files."""
    about = METHODS[method]
    if about.module == "ours":
        return f"mltsk {digest_of_ours()}; {about.settings}"
    versions = _versions(str(python_of(method)), about.packages)
    listed = ", ".join(f"{name} {number}" for name, number in versions.items())
    return f"{listed}; {about.settings}"


@cache
def _versions(python: str, packages: tuple[str, ...]) -> dict[str, str]:
    done = subprocess.run(
        [python, "-m", "fits", "--versions", *packages],
        env=_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@cache
def digest_of_ours() -> str:
    """Of the files that decide what our models say."""
    package = ROOT / "src" / "mltsk"
    paths = sorted(package.glob("*.py"))
    for room in FITTING:
        paths += sorted((package / room).rglob("*.py"))
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _environment() -> dict[str, str]:
    paths = os.pathsep.join([str(HERE), str(ROOT / "src")])
    return os.environ | {"PYTHONPATH": paths}


def measured(
    methods: Sequence[str], fold: TaskFold, limit_s: float
) -> Iterator[tuple[Cell, np.ndarray | None]]:
    """Cells one by one, each with what the method predicts, or None."""
    by_environment: dict[str, list[str]] = {}
    for method in methods:
        by_environment.setdefault(METHODS[method].environment, []).append(method)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_fold(folder / "fold.npz", fold.as_arrays())
        for group in by_environment.values():
            yield from _measured_in_one_place(group, fold, folder, limit_s)


def _measured_in_one_place(
    methods: Sequence[str], fold: TaskFold, folder: Path, limit_s: float
) -> Iterator[tuple[Cell, np.ndarray | None]]:
    """Cells of methods that live in one environment."""
    environment = _environment() | {"OMP_WAIT_POLICY": "passive"}
    if methods[0] not in OWN_THREADS:
        environment |= dict.fromkeys(ONE_THREAD, "1")
    words = ["-m", "fits", str(folder / "fold.npz"), str(folder), str(limit_s)]
    process = subprocess.Popen(
        [str(python_of(methods[0])), *words, *methods],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        for line in process.stdout:
            method, status, last_words = json.loads(line)
            about = Cell(
                method=method,
                data=fold.task.name,
                fold=fold.number,
                version=version_of(method),
                limit_s=limit_s,
                status=FAILED,
            )
            if status != 0:
                state, why = _reason(status, last_words, limit_s)
                yield replace(about, status=state, why=why), None
                continue
            with np.load(folder / f"{method}.npz") as file:
                costs = {name: float(file[name]) for name in COSTS}
                yield replace(about, status=DONE, **costs), file["chances"]


def _reason(status: int, last_words: str, limit_s: float) -> tuple[str, str]:
    """Why there are no predictions."""
    if status in (-signal.SIGXCPU, -signal.SIGKILL, TOO_SLOW):
        return OVER, f"over {limit_s:.0f} s"
    if any(words in last_words for words in OUT_OF_MEMORY):
        return OVER, f"over {MEMORY_LIMIT_GB} GB"
    if status == CANNOT_FIT:
        return REFUSED, last_words
    return FAILED, last_words or f"exit status {status}"
