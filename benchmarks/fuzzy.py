"""Fuzzy parts other than the default's: AP of each on the same five folds, and rules of a clinician's own.

Terms of the general rule that are triangles or trapezoids, as many exceptions as Xie and Beni's index asks for, and
conditions joined by their minimum, next to the default (the paper's AP, seed 5). Then rules of one's own, on pbc and on
data that need one: mean over labels of AP, five folds of three seeds. Without ``--full``, flags and emotions alone.
"""

import warnings
from collections.abc import Iterator

import numpy as np

from benchmarks import Options, folds, has_data, print_table
from mltsk import MLTSKClassifier, evaluate, load_dataset, read_table

SEED, SEEDS = 5, (5, 6, 7)
SETS = ("flags", "emotions", "cal500", "birds", "image", "yeast", "scene")
KINDS = {
    "default": {},
    "no exceptions": {"n_rules": 0},
    "triangles": {"scale": "triangles"},
    "trapezoids": {"scale": "trapezoids"},
    "Xie-Beni": {"n_rules": "xie-beni"},
    "minimum": {"width_scale": "minimum"},
}
RULES = [
    {"bilirubin": (3, None), "albumin": (None, 3.5)},
    {"age": (60, None), "prothrombin time": (11, None)},
    {"stage": 4, "platelet": (None, 150)},
]
SYNTHETIC = [{"x0": (0.5, None), "x1": (None, 0.0)}]


def run(options: Options) -> None:
    warnings.simplefilter("ignore")
    if has_data():
        found = {name: measured(name) for name in (SETS if options.full else SETS[:2])}
        mean = np.mean([scores for scores, _ in found.values()], axis=0)
        rows = [
            [name, *(f"{x:.4f}" for x in scores), "/".join(counts)]
            for name, (scores, counts) in found.items()
        ]
        print(
            f"AP, five folds, seed {SEED}; exceptions that each took in the last fold"
        )
        print_table(
            ["data", *KINDS, "exceptions"],
            [*rows, ["mean", *(f"{x:.4f}" for x in mean), ""]],
        )
    print("\nRules of one's own: mean over labels of AP, five folds, seeds 5, 6 and 7")
    tables = {
        "pbc": (*clinical(), RULES),
        "both conditions decide": (*decided_by_two(), SYNTHETIC),
    }
    rows = [row for name, given in tables.items() for row in compared(name, *given)]
    print_table(["data", "n_rules", "without", "with rules", "gain per seed"], rows)


def compared(name: str, X: object, Y: object, rules: list) -> Iterator[list[str]]:
    """A line for curves alone and one for the default, without rules of one's own and with them."""
    for n_rules in (0, "auto"):
        without, with_rules = (
            own_rules(X, Y, n_rules, None),
            own_rules(X, Y, n_rules, rules),
        )
        gains = " ".join(f"{gain:+.4f}" for gain in with_rules - without)
        yield [
            name,
            str(n_rules),
            f"{without.mean():.4f}",
            f"{with_rules.mean():.4f}",
            gains,
        ]


def measured(name: str) -> tuple[list[float], list[str]]:
    """AP of every kind on one data set, and how many exceptions it took."""
    data, found, counts = load_dataset(name), [], []
    for kind in KINDS.values():
        scores = []
        for train, test in folds(len(data.Y), SEED):
            clf = MLTSKClassifier(**kind).fit(data.X[train], data.Y[train])
            given = clf.decision_function(data.X[test])
            scores.append(
                evaluate(data.Y[test], given, threshold=0.0, convention="paper")["AP"]
            )
        found.append(float(np.mean(scores)))
        counts.append(str(clf.n_rules_))
    return found, counts


def clinical() -> tuple:
    """pbc, in the box."""
    table = read_table("pbc")
    return table.X, table.Y


def decided_by_two() -> tuple:
    """A label that only two conditions together decide, and one that none of them does; 0.1 of the labels are wrong."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(600, 6))
    Y = np.column_stack([(X[:, 0] >= 0.5) & (X[:, 1] <= 0), X[:, 2] > 0])
    return X, (Y != (rng.random(Y.shape) < 0.1)).astype(int)


def own_rules(X: object, Y: object, n_rules: object, rules: list | None) -> np.ndarray:
    """Mean over labels of AP on rows that were left out, of each seed, with rules of one's own or without."""
    cells, own, found = (
        np.asarray(Y, dtype=float),
        X.iloc if hasattr(X, "iloc") else X,
        [],
    )
    for seed in SEEDS:
        scores = np.zeros(cells.shape)
        for train, test in folds(len(cells), seed):
            scores[test] = (
                MLTSKClassifier(n_rules)
                .fit(own[train], cells[train], rules=rules)
                .predict_proba(own[test])
            )
        found.append(np.mean(evaluate(cells, scores, per_label=True)["AP"]))
    return np.array(found)
