"""Time and memory of every compared method: one setting, one fold, each in a process of its own.

Yeast, cal500 and rcv1s1 (sparse). The setting is the middle of the method's grid; ML-TSK FS is
shown as its authors run it and as our default.
"""

import json
import subprocess
import sys

from benchmarks import Options, has_data, print_table

CODE = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
from mltsk import MLTSKClassifier, load_dataset
from benchmarks import folds
from mltsk.paper.methods import METHODS
from mltsk.metrics import evaluate
from sklearn.preprocessing import minmax_scale
key, name = sys.argv[1:]
data = load_dataset(name)
X = data.X if data.is_sparse else minmax_scale(data.X)
train, test = folds(len(data.Y))[0]
if key == "ours":
    model, X = MLTSKClassifier(), data.X
else:
    method = METHODS[key]
    model = method(**{k: v[len(v) // 2] for k, v in method.PAPER_GRID.items()})
if data.is_sparse and not model.__sklearn_tags__().input_tags.sparse:
    X = X.toarray()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
model.fit(X[train], data.Y[train])
fitted = time.perf_counter()
scores = model.decision_function(X[test])
done = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = evaluate(data.Y[test], scores, threshold=0.0, convention="paper")
print(json.dumps([fitted - start, done - fitted, (peak - before) / 1024, found["AP"]]))
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
    """Seconds of fit and prediction, memory above what was in use, and AP; or what went wrong, in a word."""
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
