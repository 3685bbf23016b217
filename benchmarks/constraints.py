"""What plausible wishes cost: ours next to boosted trees with the same constraints.

Macro AP over the labels that some wish is about, on rows of folds that no model has
seen: pbc and nhefs 5 folds, stops the first of them (seed 3). A model under wishes has
no exceptions, so it is compared with the model without them (*free*) as well as with
the default. *Price* is what `price_` says of the rows of the fit, by leave-one-out,
before any other row is seen; *lost* is what the folds say. *Turns* is the share of
wished curves of the free models that go the other way somewhere on a grid, *left* that
under wishes. Boosted trees (scikit-learn's HistGradientBoostingClassifier at its
defaults) have a model per label and learn from the rows where it was observed.
"""

import time
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score

from benchmarks import Options, folds, has_data, print_table
from benchmarks.growth import FIRST_LABEL, LARGE, SMALL, read_large, tables_folder
from mltsk import MLTSKClassifier

SEED = 3
GRID = 100  # values of a feature along which directions are checked
CHECKED_ROWS = 20
# Directions that somebody who knows the field would ask for.
LIVER = ("ascites", "hepatomegaly", "spiders", "edema")
WISHES = {
    "pbc": {
        "bilirubin": dict.fromkeys(LIVER, 1),
        "albumin": dict.fromkeys(LIVER, -1),
        "prothrombin time": dict.fromkeys(LIVER, 1),
        "copper": dict.fromkeys(LIVER, 1),
        "stage": dict.fromkeys(LIVER, 1),
    },
    "nhefs": {
        "age": {"hbp": 1, "diabetes": 1, "hbpmed": 1},
        "sbp": {"hbp": 1, "hbpmed": 1},
        "wt71": {"hbp": 1, "diabetes": 1},
        "cholesterol": {"hbp": 1, "diabetes": 1, "hbpmed": 1},
        "smokeyrs": {"bronch": 1, "chroniccough": 1},
        "smokeintensity": {"bronch": 1, "chroniccough": 1},
    },
    "stops": {"hour": {"person searched": 1, "vehicle searched": 1}},
}


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    n_folds = {"pbc": 5, "nhefs": 5 if options.full else 2, "stops": 1}
    rows = [measured(name, n_folds[name]) for name in WISHES]
    print_table(
        [
            *("table", "default", "free", "wished", "price", "lost"),
            *("s", "s wished", "turns", "left"),
        ],
        [row[:10] for row in rows],
    )
    print_table(
        ["boosted trees", "AP", "wished", "lost", "s", "s wished"],
        [[row[0], *row[10:]] for row in rows],
    )


def read(name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Features and labels of a table; words are categories."""
    if name in LARGE:
        X, labels = read_large(name)
        Y = pd.DataFrame(labels, columns=LARGE[name])
    else:
        frame = pd.read_csv(tables_folder() / f"{name}.csv").drop(columns=SMALL[name])
        first = frame.columns.get_loc(FIRST_LABEL[name])
        X = frame.iloc[:, :first]
        Y = frame.iloc[:, first:].astype(float)
    for column in X.select_dtypes(exclude="number"):
        X[column] = X[column].astype("category")
    return X, Y


def measured(name: str, n_folds: int) -> list[object]:
    """A line of both tables: ours, then that of boosted trees."""
    wishes = WISHES[name]
    X, Y = read(name)
    wished = sorted({label for by_label in wishes.values() for label in by_label})
    ours, theirs, prices, turned = [], [], [], []
    for train, test in folds(len(X), SEED)[:n_folds]:
        rows, labels = X.iloc[train], Y.iloc[train]
        default, seconds = timed(lambda r=rows, y=labels: MLTSKClassifier().fit(r, y))
        free = default
        if default.n_rules_:
            free = MLTSKClassifier(n_rules=0).fit(rows, labels)
        asked = MLTSKClassifier(monotonic_cst=wishes)
        model, wished_seconds = timed(lambda r=rows, y=labels, m=asked: m.fit(r, y))
        precision = [
            macro(clf.predict_proba(X.iloc[test]), Y.iloc[test], wished)
            for clf in (default, free, model)
        ]
        ours.append([*precision, seconds, wished_seconds])
        corrected = free.constrained(monotonic_cst=wishes)
        prices.append(float(corrected.price_["AP_lost"][wished].mean()))
        turned.append([turns(clf, X.iloc[test], wishes) for clf in (free, model)])
        theirs.append(boosted(rows, labels, X.iloc[test], Y.iloc[test], wishes, wished))
    mine = np.mean(ours, axis=0)
    trees = np.mean(theirs, axis=0)
    share_free, share_wished = np.mean(turned, axis=0)
    return [
        name,
        f"{mine[0]:.4f}",
        f"{mine[1]:.4f}",
        f"{mine[2]:.4f}",
        f"{np.mean(prices):+.4f}",
        f"{mine[1] - mine[2]:+.4f}",
        f"{mine[3]:.2f}",
        f"{mine[4]:.2f}",
        f"{share_free:.0%}",
        f"{share_wished:.0%}",
        f"{trees[0]:.4f}",
        f"{trees[1]:.4f}",
        f"{trees[0] - trees[1]:+.4f}",
        f"{trees[2]:.2f}",
        f"{trees[3]:.2f}",
    ]


def timed(work):
    """What some work returns, and the seconds that it took."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def macro(scores: np.ndarray, Y: pd.DataFrame, labels: list[str]) -> float:
    """Mean average precision of some labels, where they were observed."""
    values = []
    for label in labels:
        place = Y.columns.get_loc(label)
        seen = Y[label].notna().to_numpy()
        truth = Y[label].to_numpy()[seen]
        values.append(average_precision_score(truth, scores[seen, place]))
    return float(np.mean(values))


def boosted(X, Y, X_test, Y_test, wishes, labels: list[str]) -> list[float]:
    """AP of boosted trees without and with the same constraints, and their seconds."""
    line: list[float] = []
    times: list[float] = []
    for constrained in (False, True):
        scores = np.zeros(Y_test.shape)
        start = time.perf_counter()
        for label in labels:
            directions = None
            if constrained:
                directions = {
                    name: by_label[label]
                    for name, by_label in wishes.items()
                    if label in by_label
                }
            seen = Y[label].notna().to_numpy()
            trees = HistGradientBoostingClassifier(
                categorical_features="from_dtype",
                monotonic_cst=directions,
                random_state=0,
            )
            trees.fit(X[seen], Y[label][seen])
            place = Y.columns.get_loc(label)
            scores[:, place] = trees.predict_proba(X_test)[:, 1]
        times.append(time.perf_counter() - start)
        line.append(macro(scores, Y_test, labels))
    return [*line, *times]


def turns(clf: MLTSKClassifier, X: pd.DataFrame, wishes) -> float:
    """The share of wishes that some row of a few contradicts somewhere on a grid."""
    contradicted = []
    names = list(clf.label_names_)
    for name, by_label in wishes.items():
        values = np.linspace(X[name].min(), X[name].max(), GRID)
        worst = dict.fromkeys(by_label, 0.0)
        for row in range(CHECKED_ROWS):
            grid = pd.concat([X.iloc[[row]]] * GRID, ignore_index=True)
            grid[name] = values
            changes = np.diff(clf.decision_function(grid), axis=0)
            for label, direction in by_label.items():
                own = direction * changes[:, names.index(label)]
                worst[label] = min(worst[label], float(own.min()))
        contradicted += [change < -1e-9 for change in worst.values()]
    return float(np.mean(contradicted))
