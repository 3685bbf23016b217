"""Peak memory of a default fit on bibtex, next to what its design would take.

The fit runs in a process of its own.
"""

import json
import subprocess
import sys

from benchmarks import Options, data_file, print_table

CODE = """
import json, resource, warnings
from mltsk import MLTSKClassifier, load_dataset

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

warnings.simplefilter("ignore")
data = load_dataset("bibtex")
before = peak()
clf = MLTSKClassifier().fit(data.X, data.Y)
columns = len(clf.general_coef_) + clf.coef_.shape[0] * clf.coef_.shape[1]
print(json.dumps([before, peak(), len(data.Y), columns, clf.n_rules_, clf.order_]))
"""


def run(options: Options) -> None:
    if data_file("bibtex.npz") is None:
        print("MLTSK_DATA names no folder with bibtex.npz: nothing to measure.")
        return
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True
    )
    before, peak, n_rows, n_columns, n_rules, order = json.loads(done.stdout)
    design = (
        f"the design ({n_rules} exceptions of order {order}), if it were built dense"
    )
    sizes = {
        "peak of the process, data and libraries included": peak,
        "of which before the fit": before,
        design: 8 * n_rows * n_columns,
        "its Gram matrix, if it were built": 8 * n_columns**2,
    }
    rows = [[name, f"{size / 1e6:.0f}"] for name, size in sizes.items()]
    print_table(["what", "MB"], rows)
