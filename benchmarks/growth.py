"""How time and memory grow with rows, features, rules and labels: fits from blocks that are made, used and forgotten.

Every point is a process of its own: rows are generated 10,000 at a time and given to ``partial_fit``. Exponents are
slopes of least squares on logarithms; in theory time is N C², the Gram matrix of C columns (the terms, and a column per
exception of order 0), whose own exponent stands next to it. Memory does not depend on N. Without ``--full`` N ends at
10^5.5 instead of 10^7, and the other sizes grow at 20,000 rows instead of 200,000. The figure goes to the file that
MLTSK_FIGURE names, if it does.
"""

import json
import os
import subprocess
import sys

import numpy as np

from benchmarks import Options, print_table

BLOCK = 10_000
BASE = {"N": 20_000, "D": 40, "K": 100, "L": 10}
SWEEPS = {"D": (20, 40, 80, 160), "K": (30, 100, 300, 1000), "L": (5, 10, 20, 40, 80)}
CODE = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from mltsk import IncrementalMLTSK
N, D, K, L, block = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
weights = rng.standard_normal((D, L)) / np.sqrt(D)
model, spent = IncrementalMLTSK(n_rules=K, order=0), np.zeros(2)
for start in range(0, N, block):
    X = rng.standard_normal((min(block, N - start), D))
    Y = (X @ weights + 0.5 * rng.standard_normal((len(X), L)) > 0.5).astype(np.int8)
    before = np.array([time.perf_counter(), time.process_time()])
    model.partial_fit(X, Y)
    spent += np.array([time.perf_counter(), time.process_time()]) - before
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([*spent, peak, len(model.general_coef_) + model.n_rules_]))
"""


def run(options: Options) -> None:
    base = {**BASE, "N": 200_000} if options.full else BASE
    sweeps = {
        "N": tuple(
            int(10**e) for e in np.arange(4.0, 7.1 if options.full else 5.6, 0.5)
        ),
        **SWEEPS,
    }
    threads = options.threads or 1
    print(
        f"{threads} threads; load {os.getloadavg()[0]:.1f}; seconds are processor time; base {base}"
    )
    found = {
        axis: [point({**base, axis: size}, threads) for size in sizes]
        for axis, sizes in sweeps.items()
    }
    for axis, points in found.items():
        rows = [
            [size, *values] for size, values in zip(sweeps[axis], points, strict=True)
        ]
        print_table([axis, "wall s", "CPU s", "peak MB", "columns"], rows)
    table = [
        [
            axis,
            *(
                f"{round(x, 2) + 0.0:.2f}"
                for x in exponents(axis, sweeps[axis], points, base)
            ),
        ]
        for axis, points in found.items()
    ]
    print_table(["in", "exponent of time", "in theory", "exponent of memory"], table)
    if path := os.environ.get("MLTSK_FIGURE"):
        draw(sweeps, found, path)


def point(size: dict[str, int], threads: int) -> list[float]:
    """(wall s, CPU s, peak MB, columns) of one fit."""
    limits = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MLTSK_THREADS"), str(threads)
    )
    command = [
        sys.executable,
        "-c",
        CODE,
        *(str(size[axis]) for axis in ("N", "D", "K", "L")),
        str(BLOCK),
    ]
    done = subprocess.run(
        command,
        env={**os.environ, **limits},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(x) for x in json.loads(done.stdout)]


def exponents(axis: str, sizes, points, base) -> tuple[float, float, float]:
    """Of time, of time in theory, and of memory."""
    _, cpu, memory, columns = np.array(points).T
    rows = np.array(sizes) if axis == "N" else base["N"]
    return slope(sizes, cpu), slope(sizes, rows * columns**2), slope(sizes, memory)


def slope(sizes, values) -> float:
    """Exponent of a power law through the points; in N from 10^5 on, where finding the rules no longer counts."""
    sizes = np.asarray(sizes, float)
    late = sizes >= 9e4 if sizes.max() >= 3e5 else np.full(len(sizes), True)
    return float(
        np.polyfit(np.log(sizes[late]), np.log(np.asarray(values)[late]), 1)[0]
    )


def draw(sweeps, found, path: str) -> None:
    import matplotlib.pyplot as plt

    names = {"N": "rows", "D": "features", "K": "exceptions", "L": "labels"}
    figure, axes = plt.subplots(
        2, 4, figsize=(11, 5), sharex="col", sharey="row", layout="constrained"
    )
    for column, (axis, points) in enumerate(found.items()):
        for row, (what, label) in enumerate(
            ((1, "processor time, s"), (2, "peak memory, MB"))
        ):
            values, panel = [p[what] for p in points], axes[row, column]
            panel.loglog(sweeps[axis], values, "o-", color="#1f5fa8", markersize=4)
            panel.set_title(f"exponent {slope(sweeps[axis], values):.2f}", fontsize=9)
            panel.grid(visible=True, which="both", alpha=0.2)
            panel.set(xlabel=names[axis] if row else "", ylabel="" if column else label)
    figure.savefig(path, dpi=110)
