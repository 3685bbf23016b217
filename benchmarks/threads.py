"""One BLAS thread against all of them, for a default fit on sets of growing size: where threads begin to pay."""

import os
import time
import warnings

from threadpoolctl import threadpool_limits

from benchmarks import Options, print_table
from mltsk import MLTSKClassifier, load_dataset
from mltsk.core.threads import FLOPS_FOR_THREADS


def run(options: Options) -> None:
    if not os.environ.get("MLTSK_DATA"):
        print("MLTSK_DATA names no folder with the data sets: nothing to measure.")
        return
    warnings.simplefilter("ignore")
    cores, rows = options.threads or os.cpu_count() or 1, []
    for name in ("flags", "emotions", "cal500", "yeast", "scene"):
        data = load_dataset(name)
        times = [seconds(data, n) for n in (1, cores)]
        flops = 2 * len(data.Y) * (data.X.shape[1] + 1) ** 2 * 15**2
        rows.append([name, f"{flops:.1e}", f"{times[0]:.3f}", f"{times[1]:.3f}", f"{times[1] / times[0]:.2f}"])
    print(f"a fit below {FLOPS_FOR_THREADS:.0e} flops in its largest product runs on one thread")
    print_table(["data", "flops", "1 thread s", f"{cores} threads s", "ratio"], rows)


def seconds(data, n_threads: int) -> float:
    """Least of three fits under a limit of BLAS threads that the package cannot overrule upwards."""
    os.environ["MLTSK_THREADS"] = str(n_threads)
    best = float("inf")
    with threadpool_limits(n_threads):
        for _ in range(3):
            start = time.perf_counter()
            MLTSKClassifier().fit(data.X, data.Y)
            best = min(best, time.perf_counter() - start)
    del os.environ["MLTSK_THREADS"]
    return best
