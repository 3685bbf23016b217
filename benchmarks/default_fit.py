"""A default fit on every data set: its time, what it chose, how many numbers it has, and the time of a prediction.

Without ``--full`` the sparse sets are left out.
"""

import warnings

from benchmarks import Options, has_data, print_table, timed
from benchmarks.defaults import DENSE, SPARSE
from mltsk import MLTSKClassifier, load_dataset


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    rows = [measure(name) for name in (*DENSE, *(SPARSE if options.full else ()))]
    header = ["data", "N", "D", "L", "fit s", "rules", "order", "numbers per label", "predict ms / 1000 rows"]
    print_table(header, rows)


def measure(name: str) -> list[object]:
    data = load_dataset(name)
    if not data.is_sparse:
        MLTSKClassifier().fit(data.X, data.Y)  # warm up
    clf, fit = timed(MLTSKClassifier().fit, data.X, data.Y)
    _, predict = timed(clf.decision_function, data.X)
    chosen = [clf.n_rules_, clf.order_ if clf.n_rules_ else "-", int(clf.n_terms_.max())]
    return [name, *data.shape, f"{fit:.2f}", *chosen, f"{predict / len(data.Y) * 1e6:.1f}"]
