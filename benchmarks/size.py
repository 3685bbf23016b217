"""Accuracy against size: AP of models whose text has so many terms per label, on the same folds.

A model's size is how many statements a reader needs for one label: numbers of ours (terms and shifts), coefficients of
a sparse logistic regression that are not 0, splits of a tree (a tree for all labels is read whole for each). Ours are
`clf.shorten(k)`; the logistic regression is that of the weakest L1 penalty with k coefficients at most; trees have k
splits. AP is the paper's; two of five folds, seed 21, all five with ``--full``.
"""

import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c
from sklearn.tree import DecisionTreeClassifier

from benchmarks import Options, folds, has_data, print_table
from mltsk import MLTSKClassifier, evaluate, load_dataset

SETS = ("flags", "emotions", "image", "birds", "cal500", "yeast", "scene")
SIZES = (3, 5, 8, 12, 20, 30)


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    rows = []
    for name in SETS:
        data = load_dataset(name)
        X, Y = np.asarray(data.X), data.Y.astype(int)
        parts = folds(len(Y), 21)[: 5 if options.full else 2]
        found = [measure(X[train], Y[train], X[test], Y[test]) for train, test in parts]
        for method in found[0]:
            means = np.mean([one[method] for one in found], axis=0)
            rows.append([name, method, *(f"{ap:.3f}" for ap in means)])
    print_table(["data", "model", *(f"{k} terms" for k in SIZES), "all"], rows)


def measure(X, Y, X_test, Y_test) -> dict[str, list[float]]:
    """AP of each method at each size, and of its model of any size."""
    whole = MLTSKClassifier().fit(X, Y)
    scaler = StandardScaler().fit(X)
    sparse = sparse_logistic(scaler.transform(X), Y, scaler.transform(X_test))
    scores = {
        "ours": [*(whole.shorten(k).predict_proba(X_test) for k in SIZES), whole.predict_proba(X_test)],
        "L1 logistic": sparse,
        "tree per label": [trees(X, Y, X_test, k) for k in (*SIZES, None)],
        "one tree": [tree(X, Y, X_test, k) for k in (*SIZES, None)],
    }
    return {name: [evaluate(Y_test, S, convention="paper")["AP"] for S in found] for name, found in scores.items()}


def sparse_logistic(X, Y, X_test) -> list[np.ndarray]:
    out = [np.zeros((len(X_test), Y.shape[1])) for _ in (*SIZES, None)]
    for label, y in enumerate(Y.T):
        if len(np.unique(y)) < 2:
            continue
        for C in l1_min_c(X, y, loss="log") * np.logspace(0.02, 2.5, 25):
            model = LogisticRegression(penalty="l1", C=C, solver="liblinear", max_iter=200).fit(X, y)
            count, scores = np.count_nonzero(model.coef_), model.predict_proba(X_test)[:, 1]
            for place, k in enumerate(SIZES):
                if count <= k:
                    out[place][:, label] = scores
        out[-1][:, label] = LogisticRegression(max_iter=2000).fit(X, y).predict_proba(X_test)[:, 1]
    return out


def trees(X, Y, X_test, k) -> np.ndarray:
    return np.column_stack([tree(X, y[:, None], X_test, k) for y in Y.T])


def tree(X, Y, X_test, k) -> np.ndarray:
    model = DecisionTreeClassifier(max_leaf_nodes=None if k is None else k + 1, random_state=0).fit(X, Y)
    return np.asarray(model.predict(X_test) if k is None else _chances(model, X_test, Y.shape[1]), dtype=float).reshape(
        len(X_test), -1
    )


def _chances(model, X, n_labels) -> np.ndarray:
    chances = model.predict_proba(X)
    chances = chances if isinstance(chances, list) else [chances]
    return np.column_stack([c[:, 1] if c.shape[1] == 2 else np.zeros(len(X)) for c in chances])
