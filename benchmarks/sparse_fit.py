"""A default fit on the sparse sets next to one-vs-rest liblinear: first fold, side by side in one run, two threads.

AP is the paper's. Both linear models are those that one would take for text, with scikit-learn's defaults. Without
``--full`` bibtex and corel16k1 are left out.
"""

import os
import warnings

from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks import Options, folds, has_data, print_table, timed
from mltsk import MLTSKClassifier, evaluate, load_dataset

SETS = ("rcv1s1", "rcv1s2", "bibtex", "corel16k1")


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    threads = options.threads or 2
    os.environ["MLTSK_THREADS"] = str(threads)
    models = {
        "mltsk": MLTSKClassifier(),
        "logistic, liblinear": OneVsRestClassifier(
            LogisticRegression(solver="liblinear"), n_jobs=threads
        ),
        "LinearSVC": OneVsRestClassifier(LinearSVC(), n_jobs=threads),
    }
    with threadpool_limits(threads):
        for name in SETS if options.full else SETS[:2]:
            compare(name, models)
    del os.environ["MLTSK_THREADS"]


def compare(name: str, models: dict) -> None:
    data = load_dataset(name)
    train, test = folds(len(data.Y))[0]
    Y = data.Y.astype(
        int
    )  # one-vs-rest numbers its labels in the type of Y: 8 bits are too few for bibtex
    rows, ours = [], None
    for title, model in models.items():
        _, fit = timed(model.fit, data.X[train], Y[train])
        scores, predict = timed(model.decision_function, data.X[test])
        ours = ours or fit
        ap = evaluate(data.Y[test], scores, threshold=0.0, convention="paper")["AP"]
        rows.append(
            [title, f"{ap:.4f}", f"{fit:.2f}", f"{predict:.2f}", f"{ours / fit:.1f}"]
        )
    print_table([name, "AP", "fit s", "predict s", "our fit time / its"], rows)
