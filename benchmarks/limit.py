"""How near a fit comes to what the machine can do.

Its time is divided by that of the products that no closed form can avoid. Those are the
Gram matrix of the design, the products with the labels, and one factorisation, all at
once with NumPy and SciPy on an array of the same shape, in the same run, on one thread;
seconds are of the processor, so that a busy machine counts little. The fit does this
for every candidate that leave-one-out compares.
"""

import numpy as np
from scipy import linalg
from threadpoolctl import threadpool_limits

from benchmarks import Options, made_up, print_table, processor_timed
from mltsk import MLTSKClassifier

SIZES = ((2_000, 100, 20), (8_000, 200, 20))
LARGE_SIZES = ((20_000, 500, 50), (100_000, 100, 20))
HEADER = [
    "N × D × L",
    "columns",
    "products s",
    "default fit s",
    "ratio",
    "fit of what it chose s",
    "ratio",
]


def run(options: Options) -> None:
    sizes = (*SIZES, *LARGE_SIZES) if options.full else SIZES
    with threadpool_limits(1):
        rows = [measure(*size) for size in sizes]
    print_table(HEADER, rows)


def measure(n: int, n_features: int, n_labels: int) -> list[object]:
    X, Y = made_up(n, n_features, n_labels)
    clf, default = processor_timed(MLTSKClassifier().fit, X, Y)
    columns = len(clf.general_coef_) + clf.coef_.shape[0] * clf.coef_.shape[1]
    design = np.random.default_rng(0).standard_normal((n, columns))
    _, floor = processor_timed(products, design, Y.astype(float))
    same = MLTSKClassifier(
        n_rules=clf.n_rules_,
        order=clf.order_,
        width_scale=clf.width_scale_,
        ridge=clf.ridge_,
    )
    _, again = processor_timed(same.fit, X, Y)
    return [
        f"{n:,} × {n_features} × {n_labels}",
        columns,
        f"{floor:.2f}",
        f"{default:.2f}",
        f"{default / floor:.1f}",
        f"{again:.2f}",
        f"{again / floor:.1f}",
    ]


def products(G: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """A ridge regression by the smaller of the two Gram matrices."""
    n_rows, n_columns = G.shape
    if n_rows >= n_columns:
        A = G.T @ G
        B = G.T @ Y
    else:
        A = G @ G.T
        B = Y
    A[np.diag_indices_from(A)] += 1.0
    return linalg.cho_solve(linalg.cho_factor(A), B)
