"""Small models of others: ``python _small.py METHOD FOLD.npz OUT.npz`` writes the scores of every candidate.

A method is a function (X, Y, X_test, sizes) -> candidates, each the scores of X_test at every size and, last, of a
model of any size. Candidates are ways to be small that a user might try; who calls chooses among them on rows that no
candidate has seen. Y is complete here: labels that were observed in the same rows are handed over together.

BOOMER and additive models live in environments of their own, which have NumPy, scikit-learn and this folder alone.
"""

import sys
import warnings

import numpy as np


def candidates(method: str, X, Y, X_test, sizes) -> np.ndarray:
    """(candidates, sizes + 1, rows of X_test, labels); NaN in Y means not observed."""
    seen = np.isfinite(Y)
    patterns, pattern_of = np.unique(seen, axis=1, return_inverse=True)
    out = None
    for place, rows in enumerate(patterns.T):
        labels = np.flatnonzero(pattern_of.ravel() == place)
        found = np.asarray(
            _method(method)(X[rows], Y[rows][:, labels].astype(int), X_test, sizes)
        )
        out = np.empty((*found.shape[:3], Y.shape[1])) if out is None else out
        out[..., labels] = found
    return out


def _method(name: str):
    if name == "BOOMER":
        from _small_boomer import few_rules

        return few_rules
    if name == "EBM":
        from _small_ebm import few_steps

        return each_label(few_steps)
    return {
        "L1 logistic": each_label(few_coefficients),
        "tree per label": each_label(trees),
        "one tree": trees,
    }[name]


def each_label(method):
    """The method for one label after the other; a label that is always or never given keeps its rate."""

    def fit(X, Y, X_test, sizes):
        every = [
            None
            if y.min() == y.max()
            else np.asarray(method(X, y[:, None], X_test, sizes))
            for y in Y.T
        ]
        shape = next(
            (one.shape for one in every if one is not None),
            (1, len(sizes) + 1, len(X_test), 1),
        )
        return np.concatenate(
            [
                np.full(shape, y[0]) if one is None else one
                for y, one in zip(Y.T, every, strict=True)
            ],
            axis=-1,
        )

    return fit


def few_coefficients(X, y, X_test, sizes) -> list[list[np.ndarray]]:
    """Logistic regression of the weakest L1 penalty with at most k coefficients, as it is or refitted on those."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import l1_min_c

    scaler, y = StandardScaler().fit(X), y.ravel()
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    best = {}
    for C in l1_min_c(X, y, loss="log") * np.logspace(0.02, 2.5, 25):
        model = LogisticRegression(
            penalty="l1", C=C, solver="liblinear", max_iter=200
        ).fit(X, y)
        count = np.count_nonzero(model.coef_)
        best.update({k: model for k in sizes if count <= k})
        if count > 2 * max(sizes):
            break
    sparse, again = [], []
    for k in sizes:
        used = np.flatnonzero(best[k].coef_) if k in best else []
        rate = np.full(len(X_test), y.mean())
        sparse.append(best[k].predict_proba(X_test)[:, 1] if len(used) else rate)
        refit = (
            LogisticRegression(max_iter=2000).fit(X[:, used], y) if len(used) else None
        )
        again.append(refit.predict_proba(X_test[:, used])[:, 1] if refit else rate)
    whole = LogisticRegression(max_iter=2000).fit(X, y).predict_proba(X_test)[:, 1]
    return [[one[:, None] for one in (*found, whole)] for found in (sparse, again)]


def trees(X, Y, X_test, sizes) -> list[list[np.ndarray]]:
    """Trees of k splits, with leaves of any size and of ten rows at least."""
    return [[_tree(X, Y, X_test, k, leaf) for k in (*sizes, None)] for leaf in (1, 10)]


def _tree(X, Y, X_test, k, leaf) -> np.ndarray:
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(
        max_leaf_nodes=k and k + 1, min_samples_leaf=leaf, random_state=0
    ).fit(X, Y)
    chances = model.predict_proba(X_test)
    chances = chances if isinstance(chances, list) else [chances]
    always = Y.min(axis=0)  # the one value of a label that has no other
    return np.column_stack(
        [
            c[:, 1] if c.shape[1] == 2 else c[:, 0] * a
            for c, a in zip(chances, always, strict=True)
        ]
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with np.load(sys.argv[2]) as fold:
        np.save(
            sys.argv[3],
            candidates(
                sys.argv[1],
                fold["X"],
                fold["Y"],
                fold["X_test"],
                fold["sizes"].tolist(),
            ),
        )
