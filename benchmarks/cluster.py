"""A fit in memory beside one on a `LocalCluster` of processes: time, how far apart they are, bytes to the client.

The cluster has as many single-threaded workers as there are cores (``--threads`` overrules) on this one machine, so it
cannot be faster than threads here: what is seen is what passes cost. Rows are made on the workers. Bytes are those that
pickled statistics take when they come back, pass by pass.
"""

import os
import pickle
import time
from collections import Counter

import numpy as np

from benchmarks import Options, print_table
from mltsk import MLTSKClassifier

N_FEATURES, N_LABELS, N_RULES, ROWS_A_BLOCK = 20, 8, 10, 10_000


def run(options: Options) -> None:
    try:
        import distributed
    except ImportError:
        print('Dask is missing: pip install "mltsk[dask]"')
        return
    workers = options.threads or len(os.sched_getaffinity(0))
    cluster = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster):
        rows = [measure(n) for n in ((40_000, 160_000, 640_000) if options.full else (40_000, 80_000))]
    header = ["rows", "in memory s", f"{workers} workers s", "apart", "passes", "MB to client", "largest MB"]
    print_table(header, rows)


def block(start: int, n: int) -> np.ndarray:
    """Rows with their labels beside them."""
    rng = np.random.default_rng(start)
    X = rng.normal(size=(n, N_FEATURES))
    weights = np.random.default_rng(1).normal(size=(N_FEATURES, N_LABELS))
    return np.hstack([X, (np.tanh(X) @ weights + rng.normal(size=(n, N_LABELS)) > 0.5).astype(float)])


def measure(n: int) -> list[object]:
    import dask.array as da
    from dask import delayed

    starts, width = range(0, n, ROWS_A_BLOCK), N_FEATURES + N_LABELS
    parts = [da.from_delayed(delayed(block)(s, ROWS_A_BLOCK), (ROWS_A_BLOCK, width), float) for s in starts]
    lazy, rows = da.concatenate(parts), np.vstack([block(s, ROWS_A_BLOCK) for s in starts])
    began = time.perf_counter()
    here = MLTSKClassifier(N_RULES, solver="fista").fit(rows[:, :N_FEATURES], rows[:, N_FEATURES:])
    in_memory = time.perf_counter() - began
    with counted() as sizes:
        began = time.perf_counter()
        there = MLTSKClassifier(N_RULES).fit(lazy[:, :N_FEATURES], lazy[:, N_FEATURES:])
        on_cluster = time.perf_counter() - began
    apart = float(np.abs(here.coef_ - there.coef_).max())
    largest = max(sizes.elements())
    return [n, in_memory, on_cluster, apart, sizes.total(), sum(s * c for s, c in sizes.items()) / 1e6, largest / 1e6]


class counted:
    """Counts the sizes of the statistics that come back."""

    def __enter__(self) -> Counter:
        from mltsk.scale.dask import DaskPasses

        self.home, self.plain, sizes = DaskPasses, DaskPasses.reduce, Counter()

        def reduce(passes, *work):
            found = self.plain(passes, *work)
            sizes[len(pickle.dumps(found))] += 1
            return found

        DaskPasses.reduce = reduce
        return sizes

    def __exit__(self, *problem: object) -> None:
        self.home.reduce = self.plain
