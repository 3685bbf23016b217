"""A default fit on every data set: its time, how much of it matrix products and factorisations take, and prediction.

The share is that of time inside BLAS, LAPACK and sparse products, seen by a profiler that follows the calls into them;
the rest is Python and element-wise work. Without ``--full`` the sparse sets are left out.
"""

import cProfile
import os
import pstats
import time
import warnings

from benchmarks import Options, print_table
from benchmarks.defaults import DENSE, SPARSE
from mltsk import MLTSKClassifier, load_dataset

# Functions whose own time is a product or a factorisation. NumPy's @ is an operator and shows up as its caller's own
# time, so the callers that do little else are named.
PRODUCTS = (
    "eigh", "cho_factor", "cho_solve", "_matmul_multivector", "csr_matvecs", "csc_matvecs", "__matmul__",
    "transpose_matmul", "gram", "dual_gram", "apply", "square_distances", "exponents", "couple", "of", "matvec",
)  # fmt: skip


def run(options: Options) -> None:
    if not os.environ.get("MLTSK_DATA"):
        print("MLTSK_DATA names no folder with the data sets: nothing to measure.")
        return
    warnings.simplefilter("ignore")
    rows = [measure(name) for name in (*DENSE, *(SPARSE if options.full else ()))]
    print_table(["data", "N", "D", "L", "fit s", "steps", "in products", "predict ms / 1000 rows"], rows)


def measure(name: str) -> list[object]:
    data = load_dataset(name)
    clf = MLTSKClassifier().fit(data.X, data.Y)  # warm up
    start = time.perf_counter()
    clf.fit(data.X, data.Y)
    seconds = time.perf_counter() - start
    profile = cProfile.Profile()
    profile.runcall(clf.fit, data.X, data.Y)
    stats = pstats.Stats(profile)
    inside = sum(own for (_, _, function), (_, _, own, _, _) in stats.stats.items() if _is_product(function))
    start = time.perf_counter()
    clf.decision_function(data.X)
    predict = (time.perf_counter() - start) / len(data.Y) * 1e6
    share = f"{100 * inside / stats.total_tt:.0f} %"
    return [name, *data.shape, f"{seconds:.2f}", clf.n_iter_, share, f"{predict:.1f}"]


def _is_product(function: str) -> bool:
    return function in PRODUCTS or "matmul" in function or "_eig" in function
