"""5-fold AP on emotions of every compared method, best setting of its grid on the reported folds, as in the paper.

Without ``--full`` C2AE and ML-TSK FS are left out: their grids take minutes.
"""

import time
import warnings

import numpy as np
from sklearn.preprocessing import minmax_scale

from benchmarks import Options, folds, has_data, print_table
from mltsk import load_dataset
from mltsk.metrics import five_metrics

LONG = ("c2ae", "ml-tsk-fs")


def run(options: Options) -> None:
    if not has_data():
        return
    from mltsk.paper.methods import METHODS

    warnings.simplefilter("ignore")
    rows = [[key, *tune(method)] for key, method in METHODS.items() if options.full or key not in LONG]
    print_table(["method", "best AP", "settings", "s"], rows)


def tune(method: type) -> list[str]:
    """Best mean AP over the method's grid, how many settings it has, and the seconds that took."""
    data, start, found = load_dataset("emotions"), time.perf_counter(), {}
    X = minmax_scale(data.X)
    for train, test in folds(len(data.Y)):
        for point in method().grid_path(X[train], data.Y[train], X[test]):
            ap = five_metrics(data.Y[test], point.scores, convention="paper")[0]
            found.setdefault(tuple(sorted(point.params.items())), []).append(ap)
    best = max(float(np.mean(aps)) for aps in found.values())
    return [f"{best:.4f}", str(len(found)), f"{time.perf_counter() - start:.0f}"]
