"""Fuzzy parts other than the default's, and rules of a clinician's own.

AP of each on the same five folds. Terms of the general rule that are triangles or
trapezoids, as many exceptions as Xie and Beni's index asks for, and conditions joined
by their minimum, next to the default (the paper's AP, seed 5). Then rules of one's own,
on pbc and on data that need one: mean over labels of AP, five folds of three seeds.
Without ``--full``, flags and emotions alone.
"""

import warnings
from collections.abc import Iterator

import numpy as np

from benchmarks import Options, folds, has_data, print_table
from mltsk import MLTSKClassifier, evaluate, load_dataset, read_table

SEED = 5
SEEDS = (5, 6, 7)
SETS = ("flags", "emotions", "cal500", "birds", "image", "yeast", "scene")
KINDS = {
    "default": {},
    "no exceptions": {"n_rules": 0},
    "triangles": {"scale": "triangles"},
    "trapezoids": {"scale": "trapezoids"},
    "Xie-Beni": {"n_rules": "xie-beni"},
    "minimum": {"tnorm": "minimum"},
}
CLINICAL_RULES = [
    {"bilirubin": (3, None), "albumin": (None, 3.5)},
    {"age": (60, None), "prothrombin time": (11, None)},
    {"stage": 4, "platelet": (None, 150)},
]
SYNTHETIC_RULES = [{"x0": (0.5, None), "x1": (None, 0.0)}]


def run(options: Options) -> None:
    warnings.simplefilter("ignore")
    if has_data():
        print_kinds(SETS if options.full else SETS[:2])
    print("\nRules of one's own: mean over labels of AP, five folds, seeds 5, 6 and 7")
    pbc = read_table("pbc")
    X, Y = decided_by_two()
    rows = [
        *compared("pbc", pbc.X, pbc.Y, CLINICAL_RULES),
        *compared("both conditions decide", X, Y, SYNTHETIC_RULES),
    ]
    print_table(["data", "n_rules", "without", "with rules", "gain per seed"], rows)


def print_kinds(names: tuple[str, ...]) -> None:
    """AP of every kind, a line per data set, and their mean."""
    rows = []
    all_aps = []
    for name in names:
        aps, n_exceptions = measured(name)
        all_aps.append(aps)
        rows.append([name, *(f"{ap:.4f}" for ap in aps), "/".join(n_exceptions)])
    means = np.mean(all_aps, axis=0)
    rows.append(["mean", *(f"{ap:.4f}" for ap in means), ""])
    print(f"AP, five folds, seed {SEED}; exceptions that each took in the last fold")
    print_table(["data", *KINDS, "exceptions"], rows)


def compared(name: str, X: object, Y: object, rules: list) -> Iterator[list[str]]:
    """A line for curves alone and one for the default.

    Each without rules of one's own and with them.
    """
    for n_rules in (0, "auto"):
        without = macro_aps(X, Y, n_rules, None)
        with_rules = macro_aps(X, Y, n_rules, rules)
        means = [f"{aps.mean():.4f}" for aps in (without, with_rules)]
        gains = " ".join(f"{gain:+.4f}" for gain in with_rules - without)
        yield [name, str(n_rules), *means, gains]


def measured(name: str) -> tuple[list[float], list[str]]:
    """AP of every kind on one data set, and how many exceptions it took."""
    data = load_dataset(name)
    means = []
    n_exceptions = []
    for kind in KINDS.values():
        aps = []
        for train, test in folds(len(data.Y), SEED):
            clf = MLTSKClassifier(**kind).fit(data.X[train], data.Y[train])
            scores = clf.decision_function(data.X[test])
            metrics = evaluate(data.Y[test], scores, threshold=0.0, convention="paper")
            aps.append(metrics["AP"])
        means.append(float(np.mean(aps)))
        n_exceptions.append(str(clf.n_rules_))
    return means, n_exceptions


def decided_by_two() -> tuple[np.ndarray, np.ndarray]:
    """A label that only two conditions together decide, and one that none of them does.

    0.1 of the labels are wrong.
    """
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(600, 6))
    Y = np.column_stack([(X[:, 0] >= 0.5) & (X[:, 1] <= 0), X[:, 2] > 0])
    wrong = rng.random(Y.shape) < 0.1
    return X, (Y != wrong).astype(int)


def macro_aps(X: object, Y: object, n_rules: object, rules: list | None) -> np.ndarray:
    """Mean over labels of AP on rows that were left out, of each seed.

    With rules of one's own or without.
    """
    cells = np.asarray(Y, dtype=float)
    rows = X.iloc if hasattr(X, "iloc") else X
    means = []
    for seed in SEEDS:
        scores = np.zeros(cells.shape)
        for train, test in folds(len(cells), seed):
            clf = MLTSKClassifier(n_rules)
            clf.fit(rows[train], cells[train], rules=rules)
            scores[test] = clf.predict_proba(rows[test])
        means.append(np.mean(evaluate(cells, scores, per_label=True)["AP"]))
    return np.array(means)
