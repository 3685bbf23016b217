"""A search over 200 points with `MLTSKClassifierCV`, in units of one default fit on the same rows.

Both run in this process, in turns, and the best processor seconds of each are compared, which other work on the machine
disturbs least. The search is that of the default grid on three folds: 600 fits and their scores, without the last fit.
With ``--full`` the scores are compared with those of `GridSearchCV` at the same points: all of them on emotions, every
fourth on yeast.
"""

import os
import time
import warnings

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

from benchmarks import Options, print_table
from mltsk import MLTSKClassifier, MLTSKClassifierCV, load_dataset
from mltsk.metrics.scorers import get_scorer

SETS = ("yeast", "scene", "cal500")
ROUNDS = 3


def run(options: Options) -> None:
    if not os.environ.get("MLTSK_DATA"):
        print("MLTSK_DATA names no folder with the data sets: nothing to measure.")
        return
    warnings.simplefilter("ignore")
    header = ["data", "points", "fit s", "search s", "search / fit", "best rules", "AP of the best"]
    print_table(header, [measure(name) for name in SETS])
    if options.full:
        compare("emotions")
        compare("yeast", every=4)


def measure(name: str) -> list[object]:
    data = load_dataset(name)
    search, fits, searches = MLTSKClassifierCV(refit=False), [], []
    for _ in range(ROUNDS):
        fits += [_seconds(lambda: MLTSKClassifier().fit(data.X, data.Y)) for _ in range(2)]
        searches += [_seconds(lambda: search.fit(data.X, data.Y))]
    fit, took, n_points = min(fits), min(searches), len(search.cv_results_["params"])
    best = [search.best_params_["n_rules"], f"{search.best_score_:.4f}"]
    return [name, n_points, f"{fit:.2f}", f"{took:.1f}", f"{took / fit:.1f}", *best]


def compare(name: str, every: int = 1) -> None:
    data, folds = load_dataset(name), KFold(3, shuffle=True, random_state=0)
    points = MLTSKClassifierCV(cv=folds, refit=False).fit(data.X, data.Y).cv_results_["params"][::every]
    points = [{k: [v] for k, v in point.items()} for point in points]
    ours = MLTSKClassifierCV(points, cv=folds, refit=False)
    took = _seconds(lambda: ours.fit(data.X, data.Y))
    plain = GridSearchCV(MLTSKClassifier(), points, scoring=get_scorer("average_precision"), cv=folds, refit=False)
    plain_took = _seconds(lambda: plain.fit(data.X, data.Y))
    apart = np.abs(ours.cv_results_["mean_test_score"] - plain.cv_results_["mean_test_score"])
    print(
        f"{name}, {len(points)} points: GridSearchCV takes {plain_took / took:.0f} times as long; mean scores differ by"
    )
    print(f"{apart.max():.1e} at most, {np.median(apart):.1e} in the middle; it chooses {_choice(ours, plain)}.")


def _choice(ours, plain) -> str:
    same = "the same point" if ours.best_index_ == plain.best_index_ else "another point"
    return f"{same} (AP {ours.best_score_:.4f} here, {plain.best_score_:.4f} there)"


def _seconds(work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
