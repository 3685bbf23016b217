"""A default fit on every data set: its time, what it chose, and that of a prediction.

It also says how many numbers the model has. Without ``--full`` the sparse sets are left
out. Last comes what a reader of the code has before him: the files and functions that a
fit passes through.
"""

import sys
import warnings
from pathlib import Path
from types import FrameType

import mltsk
from benchmarks import Options, has_data, numbers_per_label, print_table, timed
from benchmarks.defaults import DENSE, SPARSE
from mltsk import MLTSKClassifier, load_dataset

HOME = Path(mltsk.__file__).parent
HEADER = [
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


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    names = (*DENSE, *SPARSE) if options.full else DENSE
    print_table(HEADER, [measure(name) for name in names])
    n_files, n_functions, n_pieces = passed_through()
    print(
        f"a fit of emotions passes through {n_files} files and {n_functions} functions "
        f"({n_pieces} with comprehensions)"
    )


def measure(name: str) -> list[object]:
    data = load_dataset(name)
    if not data.is_sparse:
        MLTSKClassifier().fit(data.X, data.Y)  # warm up
    clf, fit = timed(MLTSKClassifier().fit, data.X, data.Y)
    _, predict = timed(clf.decision_function, data.X)
    return [
        name,
        *data.shape,
        f"{fit:.2f}",
        clf.n_rules_,
        clf.order_ if clf.n_rules_ else "-",
        numbers_per_label(clf.system_),
        f"{predict / len(data.Y) * 1e6:.1f}",
    ]


def passed_through() -> tuple[int, int, int]:
    """Files, functions, and functions with lambdas and comprehensions, of a fit.

    Only ours are counted.
    """
    data = load_dataset("emotions")
    clf = MLTSKClassifier()
    clf.fit(data.X, data.Y)  # imports what is imported later
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and Path(code.co_filename).is_relative_to(HOME):
            seen.add((code.co_filename, code.co_qualname))

    sys.setprofile(note)
    clf.fit(data.X, data.Y)
    sys.setprofile(None)
    files = {file for file, _ in seen}
    functions = [name for _, name in seen if not name.endswith(">")]
    return len(files), len(functions), len(seen)
