"""Fit and predict on rows mapped from a file, with a small working memory: peak memory against the size of the data.

Each size runs in a process of its own. What is printed is the peak of the memory that the process itself fills
(anonymous pages); pages of the mapped file belong to the system, which takes them back when it needs them. Without
``--full`` the largest file has 400 MB, with it more than half of the machine's memory, if the disk has room.
"""

import os
import shutil
import subprocess
import sys
import tempfile

from benchmarks import Options, print_table

N_FEATURES, N_LABELS, WORKING_MB = 50, 10, 32
CODE = """
import sys, threading, time, sklearn, numpy as np
from mltsk import MLTSKClassifier
def anonymous():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))
n, d, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
X = np.memmap(folder + "/X", dtype=np.float64, mode="w+", shape=(n, d))
Y = np.memmap(folder + "/Y", dtype=np.int8, mode="w+", shape=(n, int(sys.argv[4])))
rng = np.random.default_rng(0)
for start in range(0, n, 20000):
    X[start:start + 20000] = rng.normal(size=(len(X[start:start + 20000]), d))
    Y[start:start + 20000] = X[start:start + 20000, :Y.shape[1]] + X[start:start + 20000, 1:1 + Y.shape[1]] > 0
sklearn.set_config(working_memory=float(sys.argv[5]))
clf = MLTSKClassifier()
before, peak, done = anonymous(), [0], threading.Event()
def watch():
    while not done.wait(0.005):
        peak[0] = max(peak[0], anonymous())
watcher = threading.Thread(target=watch); watcher.start()
start = time.perf_counter(); clf.fit(X, Y); fitted = time.perf_counter() - start
scores = sum(float(clf.decision_function(X[i:i + 100000]).sum()) for i in range(0, n, 100000))
done.set(); watcher.join()
print(before, peak[0], fitted)
"""


def run(options: Options) -> None:
    sizes = (
        50_000,
        200_000,
        1_000_000,
        *((8_000_000, *larger_than_half_the_memory()) if options.full else ()),
    )
    rows = []
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            words = map(str, (n, N_FEATURES, folder, N_LABELS, WORKING_MB))
            done = subprocess.run(
                [sys.executable, "-c", CODE, *words],
                capture_output=True,
                text=True,
                check=True,
            )
        before, peak, seconds = map(float, done.stdout.split())
        rows.append(
            [
                f"{n:,}",
                f"{8e-6 * n * N_FEATURES:.0f}",
                f"{(peak - before) / 1e6:.0f}",
                f"{seconds:.1f}",
            ]
        )
    print_table(["rows", "data MB", "peak above start, MB", "fit s"], rows)


def larger_than_half_the_memory() -> tuple[int, ...]:
    """Rows of a file of 52 % of the memory; none where the disk cannot take it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    n_bytes = int(0.52 * memory)
    if shutil.disk_usage(tempfile.gettempdir()).free < 1.2 * n_bytes:
        print(
            f"No room on disk for {n_bytes / 1e9:.0f} GB, half of the memory: that size is left out."
        )
        return ()
    return (n_bytes // (8 * N_FEATURES),)
