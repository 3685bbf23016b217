"""Tables that are wide, long, full of labels, of gaps in labels, or of categories.

Processor seconds and memory of a default fit, of a prediction of the same rows and of a
short model, each shape in a process of its own on one thread. The estimate is what the
fit expects to take before it begins: one that is above the memory of the machine is
refused, which the last table shows. Pages are those of a model of 1,000 labels. With
``--full`` shapes are larger, and bibtex is among them where MLTSK_DATA has it.
"""

import json
import os
import subprocess
import sys

from benchmarks import Options, print_table

# Title, then what is made: rows, features, labels, and more of a kind.
SHAPES = (
    ("wide", "dense", 60, 20_000, 5, 0),
    ("wide, sparse, 60,000 cells", "sparse", 300, 20_000, 3, 60_000),
    ("wide, sparse, 20,000 cells", "sparse", 200, 1_000_000, 3, 20_000),
    ("long", "dense", 200_000, 5, 3, 0),
    ("long and wide", "dense", 10_000, 100, 5, 0),
    ("labels", "dense", 120, 20, 5_000, 0),
    ("label patterns", "gaps", 2_000, 20, 100, 0),
    ("100 categories each", "categories", 5_000, 10, 3, 100),
)
LARGER_SHAPES = (
    ("wide", "dense", 60, 50_000, 5, 0),
    ("long", "dense", 1_000_000, 5, 3, 0),
    ("long and wide", "dense", 20_000, 200, 5, 0),
    ("labels", "dense", 500, 20, 20_000, 0),
    ("label patterns", "gaps", 3_000, 20, 400, 0),
    ("1,000 categories each", "categories", 20_000, 4, 3, 1_000),
    ("bibtex", "bibtex", 0, 0, 0, 0),
)
# Fits that no machine has the memory for.
REFUSED = (
    ("wide", 1_000_000, 5_000_000, 3),
    ("labels", 100_000, 20, 50_000_000),
)
MAKE = """
import json, resource, sys, tempfile, time, warnings
import numpy as np
from benchmarks import made_up, made_up_sparse, processor_timed
from mltsk import MLTSKClassifier, explore, load_dataset, review
from mltsk.exceptions import InputError
from mltsk.fit.memory import FitSize

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def categories(n, n_features, n_labels, n_values):
    import pandas as pd
    rng = np.random.default_rng(0)
    codes = rng.integers(0, n_values, (n, n_features))
    Y = codes[:, :1] % np.arange(2, n_labels + 2) == 0
    words = np.char.add("v", codes.astype(str))
    names = [f"c{d}" for d in range(n_features)]
    return pd.DataFrame(words, columns=names), Y.astype(np.int8)

def gaps(n, n_features, n_labels, _):
    X, Y = made_up(n, n_features, n_labels)
    missing = np.random.default_rng(1).random(Y.shape) < 0.3
    return X, np.where(missing, np.nan, Y)

def bibtex(*_):
    data = load_dataset("bibtex")
    return data.X, data.Y

MAKERS = {
    "dense": lambda n, d, l, _: made_up(n, d, l),
    "sparse": made_up_sparse,
    "gaps": gaps,
    "categories": categories,
    "bibtex": bibtex,
}
warnings.simplefilter("ignore")
MLTSKClassifier().fit(*made_up(60, 3, 2))  # libraries are loaded
"""
FIT = """
estimates = []
check = FitSize.check
def noted(self):
    from mltsk.machine import total_memory
    estimates.append(self.peak(total_memory()) / 2**20)
    check(self)
FitSize.check = noted
kind, *numbers = sys.argv[1:]
X, Y = MAKERS[kind](*map(int, numbers))
before = peak()
clf, fit = processor_timed(MLTSKClassifier().fit, X, Y)
of_fit = peak() - before
_, predict = processor_timed(clf.predict, X)
figures = [fit, of_fit, max(estimates), predict, peak() - before]
if Y.shape[1] <= 100:
    _, shorten = processor_timed(clf.shorten, 5)
    figures += [shorten, peak() - before]
print(json.dumps(figures))
"""
PAGES = """
from pathlib import Path
X, Y = made_up(500, 20, 1_000)
clf, fit = processor_timed(MLTSKClassifier().fit, X, Y)
text, seconds = processor_timed(str, clf.rules_)
rows = [["text of the rules", seconds, seconds / fit, len(text) / 1000]]
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "page.html"
    _, seconds = processor_timed(explore, clf, page, X, Y)
    rows.append(["explorer", seconds, seconds / fit, page.stat().st_size / 1000])
    _, seconds = processor_timed(lambda: review(X, page, Y, quick=True))
    rows.append(["quick review", seconds, seconds / fit, page.stat().st_size / 1000])
print(json.dumps(rows))
"""
REFUSE = """
n, n_features, n_labels = map(int, sys.argv[1:])
before = peak()
try:
    FitSize(n, n_features, n_labels).check()
except InputError as refused:
    print(json.dumps([peak() - before, str(refused)]))
"""


def run(options: Options) -> None:
    shapes = SHAPES
    if options.full:
        shapes = (*SHAPES, *LARGER_SHAPES)
    if not os.environ.get("MLTSK_DATA"):
        shapes = tuple(shape for shape in shapes if shape[1] != "bibtex")
    print_table(
        [
            "table",
            "N × D × L",
            "fit s",
            "MB",
            "estimate MB",
            "predict s",
            "MB",
            "shorten(5) s",
            "MB",
        ],
        [row(*shape) for shape in shapes],
    )
    print_table(["of 1,000 labels", "s", "fits", "kB"], _page_rows())
    for title, *sizes in REFUSED:
        taken, sentence = measured(REFUSE, *sizes)
        print(f"{title}: {sentence} ({taken:.0f} MB)")


def row(title: str, kind: str, *numbers: int) -> list[object]:
    figures = measured(FIT, kind, *numbers)
    texts = []
    for position, figure in enumerate(figures):
        is_seconds = position in (0, 3, 5)
        texts.append(f"{figure:.1f}" if is_seconds else f"{figure:.0f}")
    size = " × ".join(f"{n:,}" for n in numbers[:3])
    if kind == "bibtex":
        size = "its own"
    return [title, size, *texts, *["–"] * (7 - len(texts))]


def _page_rows() -> list[list[object]]:
    rows = []
    for page, seconds, fits, size in measured(PAGES):
        rows.append([page, f"{seconds:.1f}", f"{fits:.1f}", f"{size:,.0f}"])
    return rows


def measured(code: str, *arguments: object) -> list:
    """What a program prints in a process of its own."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MLTSK_THREADS")
    done = subprocess.run(
        [sys.executable, "-c", MAKE + code, *map(str, arguments)],
        env=os.environ | dict.fromkeys(names, "1"),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)
