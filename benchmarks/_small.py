"""Small models of others: the scores of every candidate of a method.

Run ``python _small.py METHOD FOLD.npz OUT.npz``. A method is a function (X, Y, X_test,
sizes) -> candidates, each the scores of X_test at every size and, last, of a model of
any size. Candidates are ways to be small that a user might try; who calls chooses among
them on rows that no candidate has seen. Y is complete here: labels that were observed
in the same rows are handed over together.

BOOMER and additive models live in environments of their own, which have NumPy,
scikit-learn and this folder alone.
"""

import sys
import warnings

import numpy as np


def candidates(method: str, X, Y, X_test, sizes) -> np.ndarray:
    """(candidates, sizes + 1, rows of X_test, labels); NaN in Y means not observed."""
    observed = np.isfinite(Y)
    patterns, pattern_of = np.unique(observed, axis=1, return_inverse=True)
    all_scores = None
    for number, rows in enumerate(patterns.T):
        labels = np.flatnonzero(pattern_of.ravel() == number)
        Y_rows = Y[rows][:, labels].astype(int)
        scores = np.asarray(function_of(method)(X[rows], Y_rows, X_test, sizes))
        if all_scores is None:
            all_scores = np.empty((*scores.shape[:3], Y.shape[1]))
        all_scores[..., labels] = scores
    return all_scores


def function_of(method: str):
    """The function of a method, by its name."""
    if method == "BOOMER":
        from _small_boomer import few_rules

        return few_rules
    if method == "EBM":
        from _small_ebm import few_steps

        return each_label(few_steps)
    if method == "L1 logistic":
        return each_label(few_coefficients)
    if method == "tree per label":
        return each_label(trees)
    return trees


def each_label(function):
    """The function for one label after the other.

    A label that is always or never given keeps its rate.
    """

    def fit(X, Y, X_test, sizes):
        by_label = []
        shape = (1, len(sizes) + 1, len(X_test), 1)
        for y in Y.T:
            scores = None
            if y.min() != y.max():
                scores = np.asarray(function(X, y[:, None], X_test, sizes))
                shape = scores.shape
            by_label.append(scores)
        for j, scores in enumerate(by_label):
            if scores is None:
                by_label[j] = np.full(shape, Y[0, j])
        return np.concatenate(by_label, axis=-1)

    return fit


def few_coefficients(X, y, X_test, sizes) -> list[list[np.ndarray]]:
    """Logistic regression of the weakest L1 penalty with at most k coefficients.

    As it is, or refitted on those.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(X)
    X = scaler.transform(X)
    X_test = scaler.transform(X_test)
    y = y.ravel()
    models = sparse_models(X, y, sizes)
    rate = np.full(len(X_test), y.mean())
    as_they_are = []
    refitted = []
    for k in sizes:
        used = np.flatnonzero(models[k].coef_) if k in models else []
        if len(used) == 0:
            as_they_are.append(rate)
            refitted.append(rate)
            continue
        again = LogisticRegression(max_iter=2000).fit(X[:, used], y)
        as_they_are.append(models[k].predict_proba(X_test)[:, 1])
        refitted.append(again.predict_proba(X_test[:, used])[:, 1])
    whole = LogisticRegression(max_iter=2000).fit(X, y).predict_proba(X_test)[:, 1]
    ways = ([*as_they_are, whole], [*refitted, whole])
    return [[scores[:, None] for scores in way] for way in ways]


def sparse_models(X, y, sizes) -> dict:
    """Of each size, the model of the weakest L1 penalty with that many coefficients."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import l1_min_c

    models = {}
    for C in l1_min_c(X, y, loss="log") * np.logspace(0.02, 2.5, 25):
        model = LogisticRegression(
            penalty="l1", C=C, solver="liblinear", max_iter=200
        ).fit(X, y)
        n_used = np.count_nonzero(model.coef_)
        for k in sizes:
            if n_used <= k:
                models[k] = model
        if n_used > 2 * max(sizes):
            break
    return models


def trees(X, Y, X_test, sizes) -> list[list[np.ndarray]]:
    """Trees of k splits, with leaves of any size and of ten rows at least."""
    ways = []
    for leaf in (1, 10):
        ways.append([tree_scores(X, Y, X_test, k, leaf) for k in (*sizes, None)])
    return ways


def tree_scores(X, Y, X_test, n_splits, leaf) -> np.ndarray:
    """Scores of one tree; n_splits is None for one of any size."""
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(
        max_leaf_nodes=None if n_splits is None else n_splits + 1,
        min_samples_leaf=leaf,
        random_state=0,
    )
    chances = model.fit(X, Y).predict_proba(X_test)
    if not isinstance(chances, list):
        chances = [chances]
    columns = []
    for j, values in enumerate(chances):
        if values.shape[1] == 2:
            columns.append(values[:, 1])
        else:  # the one value of a label that has no other
            columns.append(values[:, 0] * Y[:, j].min())
    return np.column_stack(columns)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    method, fold_file, out_file = sys.argv[1:]
    with np.load(fold_file) as fold:
        sizes = fold["sizes"].tolist()
        scores = candidates(method, fold["X"], fold["Y"], fold["X_test"], sizes)
    np.save(out_file, scores)
