"""One method on one fold in a process of its own.

Run ``python _rival.py METHOD FOLD.npz OUT.npz THREADS REPEATS``. It needs NumPy and the
method alone, so that BOOMER's environment can run it too. Every method has its
library's defaults; those that need features of one scale get them standardised. Times
are medians over the repeats.
"""

import os
import resource
import sys
import time
import warnings

import numpy as np


def make(method: str, threads: int, n_features: int):
    """An estimator, and the name of its method that gives scores."""
    if method == "boomer":
        from mlrl.boosting import BoomerClassifier

        return BoomerClassifier(random_state=1), "predict_proba"
    if method == "mltsk":
        from mltsk import MLTSKClassifier

        return MLTSKClassifier(), "decision_function"
    if method == "plain NumPy ML-TSK FS":
        from benchmarks._plain_loop import PlainMLTSK

        return PlainMLTSK(), "scores"
    return make_of_scikit_learn(method, threads, n_features)


def make_of_scikit_learn(method: str, threads: int, n_features: int):
    """An estimator of scikit-learn, and the name of its method that gives scores."""
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import RidgeClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if method == "random forest":
        forest = RandomForestClassifier(n_jobs=threads, random_state=0)
        return forest, "predict_proba"
    if method == "extra trees":
        return ExtraTreesClassifier(n_jobs=threads, random_state=0), "predict_proba"
    scaled = {
        "kernel ridge": (KernelRidge(kernel="rbf", gamma=1 / n_features), "predict"),
        "RidgeClassifier": (RidgeClassifier(), "decision_function"),
        "MLPClassifier": (MLPClassifier(random_state=0), "predict_proba"),
    }
    model, scores = scaled[method]
    return make_pipeline(StandardScaler(), model), scores


def scores_of(model, name: str, X: np.ndarray) -> np.ndarray:
    """Scores (rows, labels); forests give the chances of each label apart."""
    scores = getattr(model, name)(X)
    if not isinstance(scores, list):
        return np.asarray(scores)
    columns = []
    for chances in scores:
        has_both_values = chances.shape[1] > 1
        columns.append(chances[:, -1] * has_both_values)
    return np.stack(columns, axis=1)


def main(method: str, fold: str, out: str, threads: str, repeats: str) -> None:
    warnings.simplefilter("ignore")
    data = np.load(fold)
    model, name = make(method, int(threads), data["X"].shape[1])
    times = []
    for _ in range(int(repeats)):
        start = clocks()
        model.fit(data["X"], data["Y"])
        fitted = clocks()
        scores = scores_of(model, name, data["X_test"])
        times.append([*(fitted - start), *(clocks() - fitted)])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    np.savez(out, times=np.median(times, axis=0), scores=scores, peak=peak)


def clocks() -> np.ndarray:
    """Wall time and processor time of this process and its children."""
    used = os.times()
    busy = used.user + used.system + used.children_user + used.children_system
    return np.array([time.perf_counter(), busy])


if __name__ == "__main__":
    main(*sys.argv[1:])
