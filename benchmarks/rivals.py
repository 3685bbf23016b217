"""A default fit next to what one would pick instead: BOOMER, forests, kernel ridge, a linear and a neural model.

Same rows, same fold, same number of threads, one run; each method in a process of its own, with its library's defaults.
Wall time is what a user waits; processor time tells it from a busy machine's. Memory is the peak of the process, data
and libraries included; AP is the paper's. BOOMER needs an environment of its own (``make .venv-boomer``), whose Python
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
    "mltsk", "boomer", "random forest", "extra trees", "kernel ridge", "RidgeClassifier", "MLPClassifier",
    "plain NumPy ML-TSK FS",
)  # fmt: skip
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
    methods = [m for m in METHODS if m != "boomer" or boomer_python()]
    if len(methods) < len(METHODS):
        print("BOOMER is not installed: `make .venv-boomer` does that.")
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    print(
        f"{threads} threads each; load of the machine over 1, 5, 15 minutes: {load}; fold 1 of 5"
    )
    for name in ("emotions", "yeast", "cal500", *(("scene",) if options.full else ())):
        print(f"\n{name}", flush=True)
        compare(name, methods, threads, repeats=5 if options.full else 3)


def compare(name: str, methods: list[str], threads: int, repeats: int) -> None:
    """Print the table of one data set."""
    from mltsk import load_dataset
    from mltsk.metrics import evaluate

    data = load_dataset(name)
    train, test = folds(len(data.Y))[0]
    with tempfile.TemporaryDirectory() as folder:
        fold = Path(folder) / "fold.npz"
        np.savez(
            fold, X=data.X[train], Y=data.Y[train].astype(np.int64), X_test=data.X[test]
        )
        rows, ours = [], None
        for method in methods:
            found = measure(method, fold, threads, repeats)
            if found is None:
                rows.append([method, "failed", *[""] * 5])
                continue
            wall, cpu, wait, _ = found["times"]
            ours = wall if ours is None else ours
            ap = evaluate(data.Y[test], found["scores"], convention="paper")["AP"]
            seconds = [f"{x:.3f}" for x in (wall, cpu, wait)]
            rows.append(
                [
                    method,
                    *seconds,
                    f"{found['peak'] / 1e6:.0f}",
                    f"{ap:.3f}",
                    f"{wall / ours:.1f}",
                ]
            )
    print_table(HEADER, rows)


def measure(method: str, fold: Path, threads: int, repeats: int) -> dict | None:
    """Medians of times (fit wall, CPU, predict wall, CPU), peak memory and scores; None when the process fails."""
    python = boomer_python() if method == "boomer" else sys.executable
    limits = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    own = (
        {}
        if method == "boomer"
        else {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    )
    environment = {**os.environ, **dict.fromkeys(limits, str(threads)), **own}
    out = fold.with_name("out.npz")
    command = [
        python,
        str(ROOT / "benchmarks" / "_rival.py"),
        method,
        str(fold),
        str(out),
        str(threads),
        str(repeats),
    ]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"{method}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
        return None
    with np.load(out) as file:
        return {key: file[key] for key in file.files}


def boomer_python() -> str | None:
    """The Python of BOOMER's environment, or None."""
    path = os.environ.get("MLTSK_BOOMER") or str(
        ROOT / ".venv-boomer" / "bin" / "python"
    )
    return path if Path(path).is_file() else None
