"""Average precision of float32 against float64: the same folds, the default classifier, one line a data set."""

import os
import warnings

import numpy as np
from sklearn.model_selection import KFold

from benchmarks import Options, print_table
from mltsk import MLTSKClassifier, load_dataset
from mltsk.metrics import average_precision_score

SETS = ("flags", "emotions", "cal500", "birds", "image")
MORE = ("yeast", "scene")


def run(options: Options) -> None:
    if not os.environ.get("MLTSK_DATA"):
        print("MLTSK_DATA names no folder with the data sets: nothing to measure.")
        return
    warnings.simplefilter("ignore")
    rows = [measure(name) for name in (*SETS, *(MORE if options.full else ()))]
    print_table(["data", "AP float64", "AP float32", "lost"], rows)


def measure(name: str) -> list[object]:
    data, found = load_dataset(name), []
    for train, test in KFold(3, shuffle=True, random_state=0).split(data.X):
        scores = []
        for dtype in (np.float64, np.float32):
            X = data.X.astype(dtype)
            clf = MLTSKClassifier().fit(X[train], data.Y[train])
            scores.append(average_precision_score(data.Y[test], clf.decision_function(X[test])))
        found.append(scores)
    double, single = np.mean(found, axis=0)
    return [name, f"{double:.4f}", f"{single:.4f}", f"{double - single:+.1e}"]
