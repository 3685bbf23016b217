"""How time and memory grow with rows, features, rules and labels.

Fits are from blocks that are made, used and forgotten. Every point is a process of its
own: rows are generated 10,000 at a time and given to ``partial_fit``. Exponents are
slopes of least squares on logarithms; in theory time is N C², the Gram matrix of C
columns (the terms, and a column per exception of order 0), whose own exponent stands
next to it. Memory does not depend on N. Without ``--full`` N ends at 10^5.5 instead of
10^7, and the other sizes grow at 20,000 rows instead of 200,000. The figure goes to the
file that MLTSK_FIGURE names, if it does.
"""

import json
import os
import subprocess
import sys

import numpy as np

from benchmarks import Options, print_table

ROWS_PER_BLOCK = 10_000
BASE = {"N": 20_000, "D": 40, "K": 100, "L": 10}
SWEEPS = {"D": (20, 40, 80, 160), "K": (30, 100, 300, 1000), "L": (5, 10, 20, 40, 80)}
CODE = """
import json, resource, sys, time, warnings
import numpy as np
from mltsk import IncrementalMLTSK

def clocks():
    return np.array([time.perf_counter(), time.process_time()])

warnings.simplefilter("ignore")
N, D, K, L, block = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
weights = rng.standard_normal((D, L)) / np.sqrt(D)
model = IncrementalMLTSK(n_rules=K, order=0)
spent = np.zeros(2)
for start in range(0, N, block):
    X = rng.standard_normal((min(block, N - start), D))
    Y = (X @ weights + 0.5 * rng.standard_normal((len(X), L)) > 0.5).astype(np.int8)
    before = clocks()
    model.partial_fit(X, Y)
    spent += clocks() - before
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([*spent, peak, len(model.general_coef_) + model.n_rules_]))
"""


def run(options: Options) -> None:
    base = BASE
    decades = np.arange(4.0, 5.6, 0.5)
    if options.full:
        base = BASE | {"N": 200_000}
        decades = np.arange(4.0, 7.1, 0.5)
    sweeps = {"N": tuple(int(10**decade) for decade in decades), **SWEEPS}
    threads = options.threads or 1
    print(
        f"{threads} threads; load {os.getloadavg()[0]:.1f}; "
        f"seconds are processor time; base {base}"
    )
    measured = {}
    for axis, sizes in sweeps.items():
        measured[axis] = [point(base | {axis: size}, threads) for size in sizes]
    exponent_rows = []
    for axis, points in measured.items():
        sizes = sweeps[axis]
        rows = [[size, *values] for size, values in zip(sizes, points, strict=True)]
        print_table([axis, "wall s", "CPU s", "peak MB", "columns"], rows)
        slopes = exponents(axis, sizes, points, base)
        exponent_rows.append([axis, *map(exponent_text, slopes)])
    print_table(
        ["in", "exponent of time", "in theory", "exponent of memory"], exponent_rows
    )
    path = os.environ.get("MLTSK_FIGURE")
    if path:
        draw(sweeps, measured, path)


def point(size: dict[str, int], threads: int) -> list[float]:
    """Wall seconds, CPU seconds, peak MB and columns of one fit."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MLTSK_THREADS")
    sizes = [size["N"], size["D"], size["K"], size["L"], ROWS_PER_BLOCK]
    done = subprocess.run(
        [sys.executable, "-c", CODE, *map(str, sizes)],
        env=os.environ | dict.fromkeys(names, str(threads)),
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(value) for value in json.loads(done.stdout)]


def exponents(axis: str, sizes, points, base) -> tuple[float, float, float]:
    """Exponents of time, of time in theory, and of memory."""
    _, cpu, memory, columns = np.array(points).T
    rows = np.array(sizes) if axis == "N" else base["N"]
    return slope(sizes, cpu), slope(sizes, rows * columns**2), slope(sizes, memory)


def exponent_text(value: float) -> str:
    """Two decimals, and no -0.00."""
    return f"{round(value, 2) + 0.0:.2f}"


def slope(sizes, values) -> float:
    """Exponent of a power law through the points.

    In N it is from 10^5 on, where finding the rules no longer counts.
    """
    sizes = np.asarray(sizes, float)
    values = np.asarray(values)
    if sizes.max() >= 3e5:
        late = sizes >= 9e4
        sizes = sizes[late]
        values = values[late]
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def draw(sweeps, measured, path: str) -> None:
    import matplotlib.pyplot as plt

    names = {"N": "rows", "D": "features", "K": "exceptions", "L": "labels"}
    labels = ("processor time, s", "peak memory, MB")
    figure, axes = plt.subplots(
        2, 4, figsize=(11, 5), sharex="col", sharey="row", layout="constrained"
    )
    for column, (axis, points) in enumerate(measured.items()):
        for row in range(2):
            values = [point[row + 1] for point in points]
            panel = axes[row, column]
            panel.loglog(sweeps[axis], values, "o-", color="#1f5fa8", markersize=4)
            panel.set_title(f"exponent {slope(sweeps[axis], values):.2f}", fontsize=9)
            panel.grid(visible=True, which="both", alpha=0.2)
        axes[1, column].set_xlabel(names[axis])
    for row, label in enumerate(labels):
        axes[row, 0].set_ylabel(label)
    figure.savefig(path, dpi=110)
