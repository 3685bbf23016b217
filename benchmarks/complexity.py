"""How the time of a fit and of a prediction grows: N, D, L and K are doubled in turn on made-up rows.

Exponents are slopes of least squares on logarithms, of processor seconds on one thread; below each stands that of what
docs/complexity.md counts, at the same sizes. PaperMLTSK makes all its 100 steps; MLTSKClassifier is told how many
exceptions of order 0 to make (25 per rule of the paper's), all else is chosen by leave-one-out.
"""

import os
import time
import warnings
from unittest.mock import patch

from threadpoolctl import threadpool_limits

from benchmarks import Options, made_up, print_table
from benchmarks.growth import slope
from mltsk import MLTSKClassifier, PaperMLTSK

BASE = {"N": 20_000, "D": 80, "L": 20, "K": 8}
SWEEPS = {
    "N": (5_000, 10_000, 20_000, 40_000),
    "D": (20, 40, 80, 160),
    "L": (10, 20, 40, 80),
    "K": (2, 4, 8, 16),
}
STEPS = 100
ROWS = (
    "PaperMLTSK, fit",
    "PaperMLTSK, predict",
    "MLTSKClassifier, fit",
    "MLTSKClassifier, predict",
)


def run(options: Options) -> None:
    warnings.simplefilter("ignore")
    with threadpool_limits(1), patch.dict(os.environ, MLTSK_THREADS="1"):
        seconds(**BASE)  # warm up
        found = {
            axis: [{**BASE, axis: size} for size in sizes]
            for axis, sizes in SWEEPS.items()
        }
        measured = {
            axis: [seconds(**size) for size in sizes] for axis, sizes in found.items()
        }
    table = []
    for row, name in enumerate(ROWS):
        for what, points in (
            (name, measured),
            ("counted", {a: [counted(**s) for s in found[a]] for a in SWEEPS}),
        ):
            slopes = (
                slope(sizes, [point[row] for point in points[axis]])
                for axis, sizes in SWEEPS.items()
            )
            table.append([what, *(f"{round(x, 2) + 0.0:.2f}" for x in slopes)])
    print_table(["exponent of time in", *SWEEPS], table)


def seconds(N: int, D: int, L: int, K: int) -> list[float]:
    """Processor seconds of each of the rows of the table."""
    X, Y = made_up(N, D, L)
    paper = PaperMLTSK(
        K, width_scale=100.0, correlation_weight=0.01, max_iter=STEPS, tol=0.0
    )
    spent = []
    for model in (paper, MLTSKClassifier(n_rules=25 * K, order=0)):
        for step in (model.fit, lambda X, _, model=model: model.decision_function(X)):
            start = time.process_time()
            step(X, Y)
            spent.append(time.process_time() - start)
    return spent


def counted(N: int, D: int, L: int, K: int) -> list[float]:
    """Multiplications of each, as the page has them; M numbers per label in the paper's system, Q in ours."""
    M, Q = K * (D + 1), 6 * D + 25 * K
    paper = N * M**2 / 2 + M**3 / 3 + N * M * L + STEPS * (M**2 * L + M * L**2)
    ours = N * Q**2 + Q**3 / 3 + 2 * N * Q * L
    return [paper, 2 * N * K * D + N * M * L, ours, N * 25 * K * D + N * Q * L]
