"""Tables that are all labels or all features.

120 rows × 5,000 labels, 60 rows × 50,000 features. Seconds and memory of a default fit
and a prediction of the same rows, each in a process of its own.
"""

import json
import subprocess
import sys

from benchmarks import Options, print_table

SHAPES = ((120, 20, 5_000), (60, 50_000, 5))
CODE = """
import json, resource, sys, warnings
from benchmarks import made_up, timed
from mltsk import MLTSKClassifier

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

warnings.simplefilter("ignore")
X, Y = made_up(*map(int, sys.argv[1:]))
before = peak()
clf, fit = timed(MLTSKClassifier().fit, X, Y)
_, predict = timed(clf.predict, X)
print(json.dumps([fit, predict, peak() - before]))
"""


def run(options: Options) -> None:
    rows = []
    for shape in SHAPES:
        done = subprocess.run(
            [sys.executable, "-c", CODE, *map(str, shape)],
            capture_output=True,
            text=True,
            check=True,
        )
        title = " × ".join(f"{n:,}" for n in shape)
        values = [f"{value:.1f}" for value in json.loads(done.stdout)]
        rows.append([title, *values])
    print_table(["N × D × L", "fit s", "predict s", "MB above start"], rows)
