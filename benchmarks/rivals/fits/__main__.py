"""Fits methods to one fold, each in a process of its own under limits.

``python -m fits FOLD.npz FOLDER SECONDS METHOD…`` writes what each method predicts and
what that cost to FOLDER/METHOD.npz. As soon as a method has ended, a line on the
standard output names it and how it ended, 0 or the signal or status, with the last
words of its errors. Libraries are imported and rows are read once: children are forks.
"""

import json
import os
import resource
import sys
import time
import traceback
import warnings
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np

from . import METHODS, CannotFit, TooSlow, model_of
from .fold import Fold, read_fold

CANNOT_FIT = 3  # exit status
TOO_SLOW = 4
FAILED = 1
MEMORY_LIMIT_GB = 8
COMMON = ("pandas", "sklearn.pipeline")  # what most methods import


def main(fold_file: str, folder: str, seconds: str, methods: list[str]) -> None:
    warnings.simplefilter("ignore")
    fold = read_fold(Path(fold_file))
    for name in COMMON:
        with suppress(ImportError):
            import_module(name)
    for module in {METHODS[method].module for method in methods}:
        import_module(f".{module}", __package__)
    for method in methods:
        errors = Path(folder) / "errors.txt"
        child = os.fork()
        if child == 0:
            out = Path(folder) / f"{method}.npz"
            os._exit(status_of(method, fold, out, errors, float(seconds)))
        _, ended = os.waitpid(child, 0)
        status = os.waitstatus_to_exitcode(ended)
        lines = errors.read_text().strip().splitlines() or [""]
        print(json.dumps([method, status, lines[-1]]), flush=True)


def status_of(method: str, fold: Fold, out: Path, errors: Path, seconds: float) -> int:
    """Fit and predict in this process; the exit status."""
    stream = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(stream, sys.stdout.fileno())
    os.dup2(stream, sys.stderr.fileno())
    limit(seconds)
    try:
        fit(method, fold, out)
    except CannotFit as error:
        os.write(stream, str(error).encode())
        return CANNOT_FIT
    except TooSlow:
        return TOO_SLOW
    except BaseException:
        os.write(stream, traceback.format_exc().encode())
        return FAILED
    return 0


def limit(seconds: float) -> None:
    """The system ends this process beyond the limits."""
    whole = int(np.ceil(seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 5))
    n_bytes = MEMORY_LIMIT_GB * 1024**3
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def fit(method: str, fold: Fold, out: Path) -> None:
    model = model_of(method, fold)
    start = time.process_time()
    model.fit()
    fitted = time.process_time()
    chances = model.chances()
    predicted = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    np.savez(
        out,
        chances=np.clip(np.asarray(chances, dtype=np.float32), 0, 1),
        fit_s=fitted - start,
        predict_s=predicted - fitted,
        peak_mb=peak,
        size=model.size(),
    )


if __name__ == "__main__":
    if sys.argv[1] == "--versions":
        print(json.dumps({name: version(name) for name in sys.argv[2:]}))
    else:
        main(*sys.argv[1:4], sys.argv[4:])
