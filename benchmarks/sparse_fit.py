"""A default fit on the sparse sets next to one-vs-rest liblinear.

First fold, side by side in one run, two threads. AP is the paper's. Both linear models
are those that one would take for text, with scikit-learn's defaults. Without ``--full``
bibtex and corel16k1 are left out.
"""

import os
import warnings
from unittest.mock import patch

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
    logistic = LogisticRegression(solver="liblinear")
    models = {
        "mltsk": MLTSKClassifier(),
        "logistic, liblinear": OneVsRestClassifier(logistic, n_jobs=threads),
        "LinearSVC": OneVsRestClassifier(LinearSVC(), n_jobs=threads),
    }
    ours_too = patch.dict(os.environ, MLTSK_THREADS=str(threads))
    with threadpool_limits(threads), ours_too:
        for name in SETS if options.full else SETS[:2]:
            compare(name, models)


def compare(name: str, models: dict) -> None:
    """Print the table of one data set; ours comes first."""
    data = load_dataset(name)
    train, test = folds(len(data.Y))[0]
    # one-vs-rest numbers its labels in the type of Y: 8 bits are too few for bibtex
    Y = data.Y.astype(int)
    rows = []
    ours = None
    for title, model in models.items():
        _, fit = timed(model.fit, data.X[train], Y[train])
        scores, predict = timed(model.decision_function, data.X[test])
        if ours is None:
            ours = fit
        metrics = evaluate(data.Y[test], scores, threshold=0.0, convention="paper")
        rows.append(
            [
                title,
                f"{metrics['AP']:.4f}",
                f"{fit:.2f}",
                f"{predict:.2f}",
                f"{ours / fit:.1f}",
            ]
        )
    print_table([name, "AP", "fit s", "predict s", "our fit time / its"], rows)
