"""One BLAS thread against all of them, for a default fit on sets of growing size: where threads begin to pay.

The package chooses by the size of the work; MLTSK_THREADS overrules it, as is done here.
"""

import os
import warnings

from threadpoolctl import threadpool_limits

from benchmarks import Options, has_data, made_up, print_table, timed
from mltsk import MLTSKClassifier, load_dataset


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    cores, rows = options.threads or os.cpu_count() or 1, []
    sets = {
        name: (d.X, d.Y)
        for name in ("flags", "emotions", "cal500", "yeast", "scene")
        if (d := load_dataset(name))
    }
    sets["20,000 × 100 × 20"] = made_up(20_000, 100, 20)
    for name, (X, Y) in sets.items():
        one, all_of_them = (seconds(X, Y, n) for n in (1, cores))
        rows.append(
            [name, f"{one:.3f}", f"{all_of_them:.3f}", f"{all_of_them / one:.2f}"]
        )
    print_table(["data", "1 thread s", f"{cores} threads s", "ratio"], rows)


def seconds(X, Y, n_threads: int) -> float:
    """Least of three fits under a limit of BLAS threads that the package cannot overrule upwards."""
    os.environ["MLTSK_THREADS"] = str(n_threads)
    with threadpool_limits(n_threads):
        best = min(timed(MLTSKClassifier().fit, X, Y)[1] for _ in range(3))
    del os.environ["MLTSK_THREADS"]
    return best
