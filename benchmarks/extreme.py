"""Tables that are all labels or all features.

120 rows × 5,000 labels, 60 rows × 50,000 features, and sparse rows of 20,000 and
1,000,000 features, most of which no row has. Seconds and memory of a default fit, a
prediction of the same rows and a short model, each in a process of its own.
"""

import json
import subprocess
import sys

from benchmarks import Options, print_table

# Rows, features, labels, and the cells that are not 0, where those are few.
SHAPES = (
    (120, 20, 5_000, 0),
    (60, 50_000, 5, 0),
    (300, 20_000, 3, 60_000),
    (300, 20_000, 3, 6_000),
    (200, 1_000_000, 3, 20_000),
)
MAX_SHORTENED_LABELS = 100
CODE = """
import json, resource, sys, warnings
from benchmarks import made_up, made_up_sparse, timed
from mltsk import MLTSKClassifier

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

warnings.simplefilter("ignore")
*shape, n_cells, is_shortened = map(int, sys.argv[1:])
X, Y = made_up_sparse(*shape, n_cells) if n_cells else made_up(*shape)
before = peak()
clf, fit = timed(MLTSKClassifier().fit, X, Y)
_, predict = timed(clf.predict, X)
figures = [fit, predict, peak() - before]
if is_shortened:
    _, shorten = timed(clf.shorten, 5)
    figures += [shorten, peak() - before]
print(json.dumps(figures))
"""


def run(options: Options) -> None:
    rows = []
    for *shape, n_cells in SHAPES:
        is_shortened = shape[-1] <= MAX_SHORTENED_LABELS
        arguments = [*shape, n_cells, int(is_shortened)]
        done = subprocess.run(
            [sys.executable, "-c", CODE, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=True,
        )
        title = " × ".join(f"{n:,}" for n in shape)
        if n_cells:
            title += f", {n_cells:,} cells"
        values = [f"{value:.1f}" for value in json.loads(done.stdout)]
        rows.append([title, *values, *["–"] * (5 - len(values))])
    header = ["N × D × L", "fit s", "predict s", "MB above start"]
    print_table([*header, "shorten(5) s", "MB above start"], rows)
