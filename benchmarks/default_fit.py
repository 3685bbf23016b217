"""A default fit on every data set: its time, what it chose, how many numbers it has, and the time of a prediction.

Without ``--full`` the sparse sets are left out. Last comes what a reader of the code has before him: the files and
functions that a fit passes through.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

import mltsk
from benchmarks import Options, has_data, print_table, timed
from benchmarks.defaults import DENSE, SPARSE
from mltsk import MLTSKClassifier, load_dataset

HOME = Path(mltsk.__file__).parent


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    rows = [measure(name) for name in (*DENSE, *(SPARSE if options.full else ()))]
    header = [
        "data",
        "N",
        "D",
        "L",
        "fit s",
        "rules",
        "order",
        "numbers per label",
        "predict ms / 1000 rows",
    ]
    print_table(header, rows)
    files, functions, parts = passed_through()
    print(
        f"a fit of emotions passes through {files} files and {functions} functions ({parts} with comprehensions)"
    )


def measure(name: str) -> list[object]:
    data = load_dataset(name)
    if not data.is_sparse:
        MLTSKClassifier().fit(data.X, data.Y)  # warm up
    clf, fit = timed(MLTSKClassifier().fit, data.X, data.Y)
    _, predict = timed(clf.decision_function, data.X)
    chosen = [
        clf.n_rules_,
        clf.order_ if clf.n_rules_ else "-",
        int(clf.n_statements_.max()),
    ]
    return [
        name,
        *data.shape,
        f"{fit:.2f}",
        *chosen,
        f"{predict / len(data.Y) * 1e6:.1f}",
    ]


def passed_through() -> tuple[int, int, int]:
    """Files, functions, and functions with lambdas and comprehensions, of ours, that a fit calls."""
    data, clf, seen = (
        load_dataset("emotions"),
        MLTSKClassifier(),
        set[tuple[str, str]](),
    )
    clf.fit(data.X, data.Y)  # imports what is imported later

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and Path(code.co_filename).is_relative_to(HOME):
            seen.add((code.co_filename, code.co_qualname))

    sys.setprofile(note)
    clf.fit(data.X, data.Y)
    sys.setprofile(None)
    functions = [name for _, name in seen if not name.endswith(">")]
    return len({file for file, _ in seen}), len(functions), len(seen)
