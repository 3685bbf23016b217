"""Time and memory of every compared method: one setting, one fold, own processes.

Yeast, cal500 and rcv1s1 (sparse). The setting is the middle of the method's grid;
ML-TSK FS is shown as its authors run it and as our default.
"""

import json
import subprocess
import sys

from benchmarks import Options, has_data, print_table

CODE = """
import json, resource, sys, warnings
from sklearn.preprocessing import minmax_scale
from benchmarks import folds, timed
from mltsk import MLTSKClassifier, load_dataset
from mltsk.metrics import evaluate
from mltsk.paper.methods import METHODS

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

warnings.simplefilter("ignore")
key, name = sys.argv[1:]
data = load_dataset(name)
X = data.X
if key == "ours":
    model = MLTSKClassifier()
else:
    method = METHODS[key]
    grid = method.PAPER_GRID
    middle = {name: values[len(values) // 2] for name, values in grid.items()}
    model = method(**middle)
    if not data.is_sparse:
        X = minmax_scale(X)
if data.is_sparse and not model.__sklearn_tags__().input_tags.sparse:
    X = X.toarray()
train, test = folds(len(data.Y))[0]
before = peak()
_, fit = timed(model.fit, X[train], data.Y[train])
scores, predict = timed(model.decision_function, X[test])
memory = peak() - before
metrics = evaluate(data.Y[test], scores, threshold=0.0, convention="paper")
print(json.dumps([fit, predict, memory, metrics["AP"]]))
"""


def run(options: Options) -> None:
    if not has_data():
        return
    from mltsk.paper.methods import METHODS

    for name in ("yeast", "cal500", "rcv1s1"):
        print(f"\n{name}")
        rows = [[key, *measure(key, name)] for key in (*METHODS, "ours")]
        print_table(["method", "fit s", "predict s", "peak MB above start", "AP"], rows)


def measure(key: str, name: str) -> list[str]:
    """Seconds of fit and prediction, memory above what was in use, and AP.

    Or what went wrong, in a word.
    """
    done = subprocess.run(
        [sys.executable, "-c", CODE, key, name],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return ["failed:", done.stderr.strip().splitlines()[-1][:60], "", ""]
    fit, predict, memory, ap = json.loads(done.stdout)
    return [f"{fit:.2f}", f"{predict:.2f}", f"{memory:.0f}", f"{ap:.3f}"]
