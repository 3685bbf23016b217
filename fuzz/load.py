"""``python -m fuzz.load``: many at once, for minutes, and nothing grows or differs.

First threads of one process fit and predict, each with data of its own, next to each
other; then processes predict from one model file by the command line. Every answer must
be that of the same work done alone. Memory and open files are looked at all the time:
what they are at the end may not be more than what they were after a fifth of it.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from mltsk import MLTSKClassifier, save
from mltsk.datasets import make_multilabel_rules, write_npz

N_THREADS = 8
N_PROCESSES = 16
SECONDS = 300.0
N_TASKS = 24  # different data, so that threads are at different places of the code
# Numbers of the same fit differ by rounding where others keep threads of BLAS busy.
MAX_DIFFERENCE = 1e-9
WARM_SHARE = 0.2  # of the time, after which nothing may grow any more
MAX_GROWTH_MB = 48.0  # what malloc keeps varies: 8 were seen in 20 seconds
SECONDS_BETWEEN_LOOKS = 0.5

Answers = np.ndarray


def task(number: int) -> Answers:
    """Fit one of the made-up tables in one of many ways; probabilities of its rows."""
    data = make_multilabel_rules(80 + 13 * number, 4 + number % 3, 3, random_state=0)
    Y = data.Y.astype(float)
    if number % 4 == 1:
        Y[:: 3 + number % 5, 0] = np.nan
    options = {"n_rules": (0, "auto", 5)[number % 3]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = MLTSKClassifier(**options).fit(data.X, Y)
        if number % 6 == 0:
            clf = clf.shorten(4)
        str(clf.rules_)
        clf.explain(data.X[:1])
    return clf.predict_proba(data.X)


def resident_mb() -> float:
    """Memory of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise OSError("this system does not say how much memory a process has")


def open_files() -> int:
    """How many files this process has open."""
    return len(os.listdir("/proc/self/fd"))


class Watch(threading.Thread):
    """Looks at memory and open files until it is told to stop."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.done = threading.Event()
        self.looks: list[tuple[float, int]] = []

    def run(self) -> None:
        """Look twice a second."""
        while not self.done.wait(SECONDS_BETWEEN_LOOKS):
            self.looks.append((resident_mb(), open_files()))

    def growth(self) -> tuple[float, float, int, int]:
        """Most memory and files of the warm part, then of the last such part."""
        self.done.set()
        self.join()
        n_warm = max(1, int(WARM_SHARE * len(self.looks)))
        early = self.looks[n_warm : 2 * n_warm] or self.looks
        late = self.looks[-n_warm:]
        return (
            float(np.median([memory for memory, _ in early])),
            float(np.median([memory for memory, _ in late])),
            max(files for _, files in early),
            max(files for _, files in late),
        )


def repeat(work: Callable[[int], str], workers: int, seconds: float) -> Counter[str]:
    """Let workers do numbered work until the time is over; how often what came out."""
    end = time.monotonic() + seconds
    verdicts: Counter[str] = Counter()

    def one_worker(first: int) -> Counter[str]:
        own: Counter[str] = Counter()
        number = first
        while not own or time.monotonic() < end:
            own[work(number)] += 1
            number += workers
        return own

    with ThreadPoolExecutor(workers) as pool:
        for own in pool.map(one_worker, range(workers)):
            verdicts += own
    return verdicts


def threads(seconds: float) -> str:
    """Fit and predict in threads; what was found, or an AssertionError."""
    alone = [task(number) for number in range(N_TASKS)]

    def work(number: int) -> str:
        which = number * 7 % N_TASKS
        difference = float(abs(task(which) - alone[which]).max())
        if difference > MAX_DIFFERENCE:
            return f"task {which} differs by {difference:.1e}"
        return "equal"

    watch = Watch()
    watch.start()
    verdicts = repeat(work, N_THREADS, seconds)
    memory, memory_later, files, files_later = watch.growth()
    found = (
        f"{N_THREADS} threads: {verdicts.total()} fits with predictions, "
        f"{verdicts['equal']} equal; {memory:.0f} MB, then {memory_later:.0f}; "
        f"{files} open files, then {files_later}"
    )
    assert set(verdicts) == {"equal"}, f"{found}: {dict(verdicts)}"
    assert memory_later <= memory + MAX_GROWTH_MB, found
    assert files_later <= files, found
    return found


def processes(seconds: float) -> str:
    """Predict from one file in processes; what was found, or an AssertionError."""
    data = make_multilabel_rules(300, 8, 4, random_state=0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "model.skops"
        save(MLTSKClassifier().fit(data.X, data.Y), model)
        rows = write_npz(folder / "rows.npz", data)

        def work(number: int) -> str:
            out = folder / f"{number % N_PROCESSES}.csv"
            done = subprocess.run(
                [sys.executable, "-m", "mltsk", "predict", model, rows, "--out", out],
                capture_output=True,
                text=True,
            )
            if done.returncode:
                return f"status {done.returncode}: {done.stderr[-200:]}"
            return hashlib.sha256(out.read_bytes()).hexdigest()

        alone = work(0)
        files = open_files()
        answers = repeat(work, N_PROCESSES, seconds)
        left = sorted(path.name for path in folder.iterdir())
    found = (
        f"{N_PROCESSES} processes: {answers.total()} predictions, {answers[alone]} "
        f"equal; {files} open files, then {open_files()}"
    )
    assert set(answers) == {alone}, f"{found}: {dict(answers)}"
    assert len(left) == N_PROCESSES + 2, f"{found}; left behind: {left}"
    assert open_files() <= files, found
    return found


def main() -> int:
    """Load the machine, and say what was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of threads")
    arguments = parser.parse_args()
    try:
        print(threads(arguments.seconds), flush=True)
        print(processes(arguments.seconds / 5), flush=True)
    except AssertionError as failure:
        print(f"FAILED {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
