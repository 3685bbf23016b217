"""Fit and predict on rows mapped from a file: peak memory against the size of the data.

The working memory is small, and each size runs in a process of its own. What is printed
is the peak of the memory that the process itself fills (anonymous pages); pages of the
mapped file belong to the system, which takes them back when it needs them. Without
``--full`` the largest file has 400 MB, with it more than half of the machine's memory,
if the disk has room.
"""

import os
import shutil
import subprocess
import sys
import tempfile

from benchmarks import Options, print_table

N_FEATURES = 50
N_LABELS = 10
WORKING_MB = 32
CODE = """
import sys, threading, time
import numpy as np
import sklearn
from mltsk import MLTSKClassifier

def anonymous():
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith("RssAnon"):
                return int(line.split()[1]) * 1024

n, n_features, n_labels = map(int, sys.argv[1:4])
working_memory, folder = sys.argv[4:]
X = np.memmap(folder + "/X", dtype=np.float64, mode="w+", shape=(n, n_features))
Y = np.memmap(folder + "/Y", dtype=np.int8, mode="w+", shape=(n, n_labels))
rng = np.random.default_rng(0)
for start in range(0, n, 20000):
    rows = slice(start, min(start + 20000, n))
    block = rng.normal(size=(rows.stop - start, n_features))
    X[rows] = block
    Y[rows] = block[:, :n_labels] + block[:, 1:1 + n_labels] > 0
sklearn.set_config(working_memory=float(working_memory))
clf = MLTSKClassifier()
before = anonymous()
peak = 0
done = threading.Event()

def watch():
    global peak
    while not done.wait(0.005):
        peak = max(peak, anonymous())

watcher = threading.Thread(target=watch)
watcher.start()
start = time.perf_counter()
clf.fit(X, Y)
seconds = time.perf_counter() - start
for i in range(0, n, 100000):
    clf.decision_function(X[i:i + 100000]).sum()
done.set()
watcher.join()
print(before, peak, seconds)
"""


def run(options: Options) -> None:
    sizes = [50_000, 200_000, 1_000_000]
    if options.full:
        sizes += [8_000_000, *larger_than_half_the_memory()]
    rows = []
    for n in sizes:
        before, peak, seconds = measure(n)
        data_mb = f"{8e-6 * n * N_FEATURES:.0f}"
        peak_mb = f"{(peak - before) / 1e6:.0f}"
        rows.append([f"{n:,}", data_mb, peak_mb, f"{seconds:.1f}"])
    print_table(["rows", "data MB", "peak above start, MB", "fit s"], rows)


def measure(n: int) -> list[float]:
    """Bytes before the fit, bytes at the peak, and seconds of the fit."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = (n, N_FEATURES, N_LABELS, WORKING_MB, folder)
        done = subprocess.run(
            [sys.executable, "-c", CODE, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=True,
        )
    return [float(word) for word in done.stdout.split()]


def larger_than_half_the_memory() -> tuple[int, ...]:
    """Rows of a file of 52 % of the memory; none where the disk cannot take it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    n_bytes = int(0.52 * memory)
    if shutil.disk_usage(tempfile.gettempdir()).free < 1.2 * n_bytes:
        print(
            f"No room on disk for {n_bytes / 1e9:.0f} GB, half of the memory: "
            "that size is left out."
        )
        return ()
    return (n_bytes // (8 * N_FEATURES),)
