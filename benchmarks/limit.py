"""How near a fit comes to what the machine can do: its time over that of the products that no closed form can avoid.

Those are the Gram matrix of the design, the products with the labels, and one factorisation, all at once with NumPy and
SciPy on an array of the same shape, in the same run, on one thread; seconds are of the processor, so that a busy
machine counts little. The fit does this for every candidate that leave-one-out compares.
"""

import time

import numpy as np
from scipy import linalg
from threadpoolctl import threadpool_limits

from benchmarks import Options, made_up, print_table
from mltsk import MLTSKClassifier

SIZES = ((2_000, 100, 20), (8_000, 200, 20))
FULL = ((20_000, 500, 50), (100_000, 100, 20))


def run(options: Options) -> None:
    with threadpool_limits(1):
        rows = [measure(*size) for size in (*SIZES, *(FULL if options.full else ()))]
    print_table(
        [
            "N × D × L",
            "columns",
            "products s",
            "default fit s",
            "ratio",
            "fit of what it chose s",
            "ratio",
        ],
        rows,
    )


def measure(n: int, n_features: int, n_labels: int) -> list[object]:
    X, Y = made_up(n, n_features, n_labels)
    clf, default = _seconds(MLTSKClassifier().fit, X, Y)
    columns = len(clf.general_coef_) + clf.coef_.shape[0] * clf.coef_.shape[1]
    _, floor = _seconds(
        _products,
        np.random.default_rng(0).standard_normal((n, columns)),
        Y.astype(float),
    )
    given = {
        name: getattr(clf, f"{name}_")
        for name in ("n_rules", "order", "width_scale", "ridge")
    }
    _, again = _seconds(MLTSKClassifier(**given).fit, X, Y)
    times = [
        f"{default:.2f}",
        f"{default / floor:.1f}",
        f"{again:.2f}",
        f"{again / floor:.1f}",
    ]
    return [f"{n:,} × {n_features} × {n_labels}", columns, f"{floor:.2f}", *times]


def _products(G: np.ndarray, Y: np.ndarray) -> np.ndarray:
    A = G.T @ G if G.shape[0] >= G.shape[1] else G @ G.T
    A[np.diag_indices_from(A)] += 1.0
    return linalg.cho_solve(
        linalg.cho_factor(A), G.T @ Y if G.shape[0] >= G.shape[1] else Y
    )


def _seconds(function, *arguments) -> tuple[object, float]:
    start = time.process_time()
    result = function(*arguments)
    return result, time.process_time() - start
