"""One BLAS thread against all of them, for a default fit on sets of growing size.

It shows where threads begin to pay. The package chooses by the size of the work;
MLTSK_THREADS overrules it, as is done here.
"""

import os
import warnings
from unittest.mock import patch

from threadpoolctl import threadpool_limits

from benchmarks import Options, has_data, made_up, print_table, timed
from mltsk import MLTSKClassifier, load_dataset

SETS = ("flags", "emotions", "cal500", "yeast", "scene")


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    cores = options.threads or os.cpu_count() or 1
    sets = {}
    for name in SETS:
        data = load_dataset(name)
        sets[name] = (data.X, data.Y)
    sets["20,000 × 100 × 20"] = made_up(20_000, 100, 20)
    rows = []
    for name, (X, Y) in sets.items():
        one = seconds(X, Y, 1)
        several = seconds(X, Y, cores)
        rows.append([name, f"{one:.3f}", f"{several:.3f}", f"{several / one:.2f}"])
    print_table(["data", "1 thread s", f"{cores} threads s", "ratio"], rows)


def seconds(X, Y, n_threads: int) -> float:
    """Least of three fits under a limit of BLAS threads.

    The package cannot overrule the limit upwards.
    """
    ours_too = patch.dict(os.environ, MLTSK_THREADS=str(n_threads))
    with threadpool_limits(n_threads), ours_too:
        times = [timed(MLTSKClassifier().fit, X, Y)[1] for _ in range(3)]
    return min(times)
