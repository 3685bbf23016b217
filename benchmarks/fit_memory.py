"""Peak memory of a fit on bibtex with 10 rules, in a process of its own, beside what G and its Gram would take."""

import subprocess
import sys

from benchmarks import Options, data_file, print_table

N_RULES = 10
CODE = """
import resource, sys
from mltsk import MLTSKClassifier, load_dataset
data = load_dataset("bibtex")
loaded = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
clf = MLTSKClassifier(n_rules={rules}, max_iter={steps}, tol=1e-3)
import warnings; warnings.simplefilter("ignore")
clf.fit(data.X, data.Y)
print(loaded * 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def run(options: Options) -> None:
    if data_file("bibtex.npz") is None:
        print("MLTSK_DATA names no folder with bibtex.npz: nothing to measure.")
        return
    steps = 1000 if options.full else 8  # memory does not grow with steps
    code = CODE.format(rules=N_RULES, steps=steps)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, peak = map(int, done.stdout.split())
    width, rows = N_RULES * 1837, 7395
    print_table(
        ["what", "MB"],
        [
            ["peak of the process, data and libraries included", f"{peak / 1e6:.0f}"],
            ["of which before the fit", f"{before / 1e6:.0f}"],
            ["G, if it were built dense", f"{8 * rows * width / 1e6:.0f}"],
            ["its Gram matrix, if it were built", f"{8 * width**2 / 1e6:.0f}"],
        ],
    )
