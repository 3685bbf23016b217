"""A default fit next to what one would pick instead.

That is BOOMER, forests, kernel ridge, a linear and a neural model. Same rows, same
fold, same number of threads, one run; each method in a process of its own, with its
library's defaults. Wall time is what a user waits; processor time tells it from a busy
machine's. Memory is the peak of the process, data and libraries included; AP is the
paper's. BOOMER needs an environment of its own (``make .venv-boomer``), whose Python
``MLTSK_BOOMER`` may name; without it the others are measured alone.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import Options, folds, has_data, print_table

METHODS = (
    "mltsk",
    "boomer",
    "random forest",
    "extra trees",
    "kernel ridge",
    "RidgeClassifier",
    "MLPClassifier",
    "plain NumPy ML-TSK FS",
)
ROOT = Path(__file__).resolve().parent.parent
HEADER = [
    "method",
    "fit s",
    "fit CPU s",
    "predict s",
    "peak MB",
    "AP",
    "fit time / ours",
]


def run(options: Options) -> None:
    if not has_data():
        return
    threads = options.threads or os.cpu_count() or 1
    methods = list(METHODS)
    if boomer_python() is None:
        methods.remove("boomer")
        print("BOOMER is not installed: `make .venv-boomer` does that.")
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    print(
        f"{threads} threads each; load of the machine over 1, 5, 15 minutes: {load}; "
        "fold 1 of 5"
    )
    names = ["emotions", "yeast", "cal500"]
    if options.full:
        names.append("scene")
    for name in names:
        print(f"\n{name}", flush=True)
        compare(name, methods, threads, repeats=5 if options.full else 3)


def compare(name: str, methods: list[str], threads: int, repeats: int) -> None:
    """Print the table of one data set; ours comes first."""
    from mltsk import load_dataset
    from mltsk.metrics import evaluate

    data = load_dataset(name)
    train, test = folds(len(data.Y))[0]
    rows = []
    ours = None
    with tempfile.TemporaryDirectory() as folder:
        fold = Path(folder) / "fold.npz"
        Y = data.Y[train].astype(np.int64)
        np.savez(fold, X=data.X[train], Y=Y, X_test=data.X[test])
        for method in methods:
            measured = measure(method, fold, threads, repeats)
            if measured is None:
                rows.append([method, "failed", "", "", "", "", ""])
                continue
            wall, cpu, wait, _ = measured["times"]
            if ours is None:
                ours = wall
            metrics = evaluate(data.Y[test], measured["scores"], convention="paper")
            rows.append(
                [
                    method,
                    f"{wall:.3f}",
                    f"{cpu:.3f}",
                    f"{wait:.3f}",
                    f"{measured['peak'] / 1e6:.0f}",
                    f"{metrics['AP']:.3f}",
                    f"{wall / ours:.1f}",
                ]
            )
    print_table(HEADER, rows)


def measure(method: str, fold: Path, threads: int, repeats: int) -> dict | None:
    """Medians of times (fit wall, CPU, predict wall, CPU), peak memory and scores.

    None when the process fails.
    """
    python = sys.executable
    limits = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = os.environ | dict.fromkeys(limits, str(threads))
    if method == "boomer":
        python = boomer_python()
    else:
        environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    script = ROOT / "benchmarks" / "_rival.py"
    out = fold.with_name("out.npz")
    arguments = (script, method, fold, out, threads, repeats)
    done = subprocess.run(
        [python, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        print(f"{method}: {lines[-1]}")
        return None
    with np.load(out) as file:
        return {key: file[key] for key in file.files}


def boomer_python() -> str | None:
    """The Python of BOOMER's environment, or None."""
    default = ROOT / ".venv-boomer" / "bin" / "python"
    path = os.environ.get("MLTSK_BOOMER") or str(default)
    return path if Path(path).is_file() else None
