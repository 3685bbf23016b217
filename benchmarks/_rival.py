"""One method on one fold in a process of its own: ``python _rival.py METHOD FOLD.npz OUT.npz THREADS REPEATS``.

Needs NumPy and the method alone, so that BOOMER's environment can run it too. Every method has its library's defaults;
those that need features of one scale get them standardised. Times are medians over the repeats.
"""

import os
import resource
import sys
import time
import warnings

import numpy as np


def make(method: str, threads: int, n_features: int):
    """(estimator, how it gives scores)."""
    if method == "boomer":
        from mlrl.boosting import BoomerClassifier

        return BoomerClassifier(random_state=1), lambda model, X: np.asarray(
            model.predict_proba(X)
        )
    if method == "mltsk":
        from mltsk import MLTSKClassifier

        return MLTSKClassifier(), lambda model, X: model.decision_function(X)
    if method == "plain NumPy ML-TSK FS":
        from benchmarks._plain_loop import PlainMLTSK

        return PlainMLTSK(), lambda model, X: model.scores(X)
    return _of_scikit_learn(method, threads, n_features)


def _of_scikit_learn(method: str, threads: int, n_features: int):
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import RidgeClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    scaled = {
        "kernel ridge": KernelRidge(kernel="rbf", gamma=1 / n_features),
        "RidgeClassifier": RidgeClassifier(),
        "MLPClassifier": MLPClassifier(random_state=0),
    }
    forests = {
        "random forest": RandomForestClassifier,
        "extra trees": ExtraTreesClassifier,
    }
    if method in forests:
        model = forests[method](n_jobs=threads, random_state=0)
        return model, lambda m, X: np.stack(
            [p[:, -1] * (p.shape[1] > 1) for p in m.predict_proba(X)], axis=1
        )
    score = {
        "kernel ridge": "predict",
        "RidgeClassifier": "decision_function",
        "MLPClassifier": "predict_proba",
    }
    return make_pipeline(StandardScaler(), scaled[method]), lambda m, X: getattr(
        m, score[method]
    )(X)


def main(method: str, fold: str, out: str, threads: str, repeats: str) -> None:
    warnings.simplefilter("ignore")
    data = np.load(fold)
    model, score = make(method, int(threads), data["X"].shape[1])
    times = []
    for _ in range(int(repeats)):
        marks = [_clock()]
        model.fit(data["X"], data["Y"])
        marks.append(_clock())
        scores = score(model, data["X_test"])
        marks.append(_clock())
        times.append(np.diff(marks, axis=0).ravel())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    np.savez(out, times=np.median(times, axis=0), scores=scores, peak=peak)


def _clock() -> tuple[float, float]:
    """Wall time and processor time of this process and its children."""
    used = os.times()
    return (
        time.perf_counter(),
        used.user + used.system + used.children_user + used.children_system,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
