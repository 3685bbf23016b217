"""How the time of a fit and of a prediction grows with N, D, L and K.

They are doubled in turn on made-up rows. Exponents are slopes of least squares on
logarithms, of processor seconds on one thread; below each stands that of what
docs/complexity.md counts, at the same sizes. PaperMLTSK makes all its 100 steps;
MLTSKClassifier is told how many exceptions of order 0 to make (25 per rule of the
paper's), all else is chosen by leave-one-out.
"""

import os
import warnings
from unittest.mock import patch

from threadpoolctl import threadpool_limits

from benchmarks import Options, made_up, print_table, processor_timed
from benchmarks.stream_growth import exponent_text, slope
from mltsk import MLTSKClassifier, PaperMLTSK

BASE = {"N": 20_000, "D": 80, "L": 20, "K": 8}
SWEEPS = {
    "N": (5_000, 10_000, 20_000, 40_000),
    "D": (20, 40, 80, 160),
    "L": (10, 20, 40, 80),
    "K": (2, 4, 8, 16),
}
STEPS = 100
TIMED = (
    "PaperMLTSK, fit",
    "PaperMLTSK, predict",
    "MLTSKClassifier, fit",
    "MLTSKClassifier, predict",
)


def run(options: Options) -> None:
    warnings.simplefilter("ignore")
    measured = {}
    theory = {}
    with threadpool_limits(1), patch.dict(os.environ, MLTSK_THREADS="1"):
        seconds(**BASE)  # warm up
        for axis, values in SWEEPS.items():
            sizes = [BASE | {axis: value} for value in values]
            measured[axis] = [seconds(**size) for size in sizes]
            theory[axis] = [counted(**size) for size in sizes]
    rows = []
    for which, name in enumerate(TIMED):
        rows.append([name, *slopes(measured, which)])
        rows.append(["counted", *slopes(theory, which)])
    print_table(["exponent of time in", *SWEEPS], rows)


def slopes(points: dict[str, list[list[float]]], which: int) -> list[str]:
    """Exponents along every axis of one of the things that are timed."""
    texts = []
    for axis, values in SWEEPS.items():
        times = [point[which] for point in points[axis]]
        texts.append(exponent_text(slope(values, times)))
    return texts


def seconds(N: int, D: int, L: int, K: int) -> list[float]:
    """Processor seconds of each of the rows of the table."""
    X, Y = made_up(N, D, L)
    paper = PaperMLTSK(
        K, width_scale=100.0, correlation_weight=0.01, max_iter=STEPS, tol=0.0
    )
    spent = []
    for model in (paper, MLTSKClassifier(n_rules=25 * K, order=0)):
        _, fit = processor_timed(model.fit, X, Y)
        _, predict = processor_timed(model.decision_function, X)
        spent += [fit, predict]
    return spent


def counted(N: int, D: int, L: int, K: int) -> list[float]:
    """Multiplications of each, as the page has them.

    M are the numbers per label in the paper's system, Q those in ours.
    """
    M = K * (D + 1)
    Q = 6 * D + 25 * K
    paper = N * M**2 / 2 + M**3 / 3 + N * M * L + STEPS * (M**2 * L + M * L**2)
    ours = N * Q**2 + Q**3 / 3 + 2 * N * Q * L
    return [paper, 2 * N * K * D + N * M * L, ours, N * 25 * K * D + N * Q * L]
