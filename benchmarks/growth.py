"""How time and memory grow with rows, features, rules and labels: fits from blocks that are made, used and forgotten.

Every point is a process of its own: rows are generated 10,000 at a time and given to ``partial_fit``, then the
consequents are solved. Exponents are slopes of least squares on logarithms. In theory time is N K² (D+1)² for the Gram
matrix, so 1 in N, 2 in K and D, 0 in L while L is far below K(D+1); small sizes lie below the 2, as work that grows
more slowly still shows. Memory does not depend on N. Without ``--full`` N ends at 10^5.5 instead of 10^7, and the other
sizes grow at 20,000 rows instead of 200,000. The figure goes to the file that MLTSK_FIGURE names, if it does.
"""

import json
import os
import subprocess
import sys
from functools import partial

import numpy as np

from benchmarks import Options, print_table

BLOCK = 10_000
BASE = {"N": 20_000, "D": 40, "K": 10, "L": 10}
SWEEPS = {"D": (20, 40, 80, 160), "K": (5, 10, 20, 40), "L": (5, 10, 20, 40, 80)}
FULL_ROWS, FULL_SWEEPS = 200_000, {"D": (40, 80, 160, 320), "K": (10, 20, 40, 80), "L": (5, 10, 20, 40, 80)}
THEORY = {"N": 1, "D": 2, "K": 2, "L": 0}
CODE = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from mltsk import MLTSKClassifier
N, D, K, L, block = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
weights = rng.standard_normal((D, L)) / np.sqrt(D)
model = MLTSKClassifier(n_rules=K)
spent = np.zeros(2)
for start in range(0, N, block):
    X = rng.standard_normal((min(block, N - start), D))
    Y = (X @ weights + 0.5 * rng.standard_normal((len(X), L)) > 0.5).astype(np.int8)
    before = np.array([time.perf_counter(), time.process_time()])
    model.partial_fit(X, Y)
    spent += np.array([time.perf_counter(), time.process_time()]) - before
before = np.array([time.perf_counter(), time.process_time()])
model.decision_function(X[:1])
spent += np.array([time.perf_counter(), time.process_time()]) - before
print(json.dumps([*spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def run(options: Options) -> None:
    top = 7.0 if options.full else 5.5
    base = {**BASE, "N": FULL_ROWS} if options.full else BASE
    sweeps = {
        "N": tuple(int(10**e) for e in np.arange(4.0, top + 0.1, 0.5)),
        **(FULL_SWEEPS if options.full else SWEEPS),
    }
    threads = options.threads or 1
    print(f"{threads} threads; load {os.getloadavg()[0]:.1f}; seconds are processor time; base {base}")
    found = {axis: [point({**base, axis: size}, threads) for size in sizes] for axis, sizes in sweeps.items()}
    for axis, points in found.items():
        print_table([axis, "wall s", "CPU s", "peak MB"], [[s, *p] for s, p in zip(sweeps[axis], points, strict=True)])
    table = [[axis, f"{slope(sweeps[axis], [p[1] for p in points]):.2f}", THEORY[axis],
             f"{slope(sweeps[axis], [p[2] for p in points]):.3f}"] for axis, points in found.items()]  # fmt: skip
    print_table(["in", "exponent of time", "in theory", "exponent of memory"], table)
    if path := os.environ.get("MLTSK_FIGURE"):
        draw(sweeps, found, path)


def point(size: dict[str, int], threads: int) -> list[float]:
    """(wall s, CPU s, peak MB) of one fit."""
    limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MLTSK_THREADS"), str(threads))
    arguments = [str(size[axis]) for axis in ("N", "D", "K", "L")]
    command = [sys.executable, "-c", CODE, *arguments, str(BLOCK)]
    done = subprocess.run(command, env={**os.environ, **limits}, capture_output=True, text=True, check=True)
    return [float(x) for x in json.loads(done.stdout)]


def slope(sizes, values) -> float:
    """Exponent of a power law through the points; in N from 10^5 on, where finding the rules no longer counts."""
    sizes, values = np.asarray(sizes, float), np.asarray(values)
    late = sizes >= 9e4 if sizes.max() >= 3e5 else np.full(len(sizes), True)
    return float(np.polyfit(np.log(sizes[late]), np.log(values[late]), 1)[0])


def _digits(told: str, value: float, _: int) -> str:
    """A label for values that begin with one of some digits."""
    return f"{value:g}" if f"{value:e}"[0] in told else ""


def draw(sweeps, found, path: str) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, NullFormatter

    names = {"N": "rows", "D": "features", "K": "rules", "L": "labels"}
    figure, axes = plt.subplots(2, 4, figsize=(11, 5), sharex="col", sharey="row", layout="constrained")
    for column, (axis, points) in enumerate(found.items()):
        for row, (what, label) in enumerate(((1, "processor time, s"), (2, "peak memory, MB"))):
            values, panel = [p[what] for p in points], axes[row, column]
            panel.loglog(sweeps[axis], values, "o-", color="#1f5fa8", markersize=4)
            told = f"{slope(sweeps[axis], values) + 0.0:.2f}".replace("-0.00", "0.00")
            panel.set_title(f"exponent {told}" + (f", in theory {THEORY[axis]}" if row == 0 else ""), fontsize=9)
            panel.grid(visible=True, which="both", alpha=0.2)
            for side in (panel.xaxis, panel.yaxis):
                side.set_minor_formatter(NullFormatter())
            told_digits = "345" if row else "3"  # time spans decades, memory part of one
            panel.yaxis.set_minor_formatter(FuncFormatter(partial(_digits, told_digits)))
            panel.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
            if axis != "N":
                panel.set_xticks(sweeps[axis], [str(size) for size in sweeps[axis]])
            panel.set_xlabel(names[axis] if row else "")
            panel.set_ylabel(label if column == 0 else "")
    figure.savefig(path, dpi=110)
