"""A fit in memory next to one on a `LocalCluster` of processes.

Time, how far apart they are, and bytes to the client. The cluster has as many
single-threaded workers as there are cores (``--threads`` overrules) on this one
machine, so it cannot be faster than threads here: what is seen is what passes cost.
Rows are made on the workers. Bytes are those that pickled results take when they come
back, pass by pass.
"""

import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np

from benchmarks import Options, made_up, print_table, timed
from mltsk import MLTSKClassifier

N_FEATURES = 20
N_LABELS = 8
ROWS_PER_BLOCK = 10_000


def run(options: Options) -> None:
    try:
        import distributed
    except ImportError:
        print('Dask is missing: pip install "mltsk[dask]"')
        return
    workers = options.threads or len(os.sched_getaffinity(0))
    sizes = (40_000, 160_000, 640_000) if options.full else (40_000, 80_000)
    cluster = distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster):
        rows = [measure(n) for n in sizes]
    header = [
        "rows",
        "in memory s",
        f"{workers} workers s",
        "scores apart",
        "passes",
        "MB to client",
        "largest MB",
    ]
    print_table(header, rows)


def block(seed: int) -> np.ndarray:
    """Rows with their labels next to them."""
    return np.hstack(made_up(ROWS_PER_BLOCK, N_FEATURES, N_LABELS, seed))


def fit(rows) -> tuple[MLTSKClassifier, float]:
    """A fit to rows with their labels, and its seconds."""
    return timed(MLTSKClassifier().fit, rows[:, :N_FEATURES], rows[:, N_FEATURES:])


def measure(n: int) -> list[object]:
    import dask.array as da
    from dask import delayed

    seeds = range(n // ROWS_PER_BLOCK)
    shape = (ROWS_PER_BLOCK, N_FEATURES + N_LABELS)
    blocks = [da.from_delayed(delayed(block)(seed), shape, float) for seed in seeds]
    rows = np.vstack([block(seed) for seed in seeds])
    local, in_memory = fit(rows)
    with sizes_to_client() as sizes:
        remote, on_cluster = fit(da.concatenate(blocks))
    X = rows[:1000, :N_FEATURES]
    apart = np.abs(local.decision_function(X) - remote.decision_function(X)).max()
    return [
        n,
        in_memory,
        on_cluster,
        float(apart),
        len(sizes),
        sum(sizes) / 1e6,
        max(sizes) / 1e6,
    ]


@contextmanager
def sizes_to_client() -> Iterator[list[int]]:
    """The sizes of what comes back to the client, one by one."""
    from distributed import Client

    sizes = []
    gather = Client.gather

    def counting(client, *arguments, **options):
        results = gather(client, *arguments, **options)
        sizes.append(len(pickle.dumps(results)))
        return results

    with patch.object(Client, "gather", counting):
        yield sizes
