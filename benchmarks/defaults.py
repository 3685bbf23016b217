"""The evidence behind the defaults: 5-fold average precision (paper's convention, shuffled) of one change at a time.

Not a race but a table: what the default reaches on every data set and what each choice in it is worth. Without
``--full`` the four sparse sets are left out and each dense set gets one partition; with it, dense sets get three and
sparse sets their first two folds (a default fit there takes a minute).
"""

import os
import warnings
from collections.abc import Iterable

import numpy as np

from benchmarks import Options, print_table
from mltsk import MLTSKClassifier, load_dataset
from mltsk.metrics import evaluate
from mltsk.paper.experiments.cross_validation import shuffled_folds

DENSE = ("flags", "emotions", "cal500", "birds", "image", "yeast", "scene")
SPARSE = ("rcv1s1", "rcv1s2", "bibtex", "corel16k1")
LEAST = {
    "emotions": 0.82, "flags": 0.81, "image": 0.805, "birds": 0.365, "cal500": 0.508, "yeast": 0.768, "scene": 0.89,
    "bibtex": 0.60, "rcv1s1": 0.62, "rcv1s2": 0.64, "corel16k1": 0.34,
}  # fmt: skip
CHANGES = {
    "default": {},
    "no L1": {"l1_weight": 0.0},
    "4 rules": {"n_rules": 4},
    "8 rules": {"n_rules": 8},
    "30 rules": {"n_rules": 30},
    "1 rule": {"n_rules": 1},
    "no coupling": {"coupling": None},
    "signed": {"coupling": "signed"},
    "shift": {"coupling": "shift"},
    "precision": {"coupling": "precision"},
    "m = 1.1": {"fuzzifier": 1.1},
    "h = 0.25": {"width_scale": 0.25},
    "h = 0.5": {"width_scale": 0.5},
    "h = 1": {"width_scale": 1.0},
    "standard": {"scale": "standard"},
}
SPARSE_CHANGES = {
    "default": {},
    "no L1": {"l1_weight": 0.0},
    "8 rules": {"n_rules": 8},
    "4 rules": {"n_rules": 4},
    "1 rule": {"n_rules": 1},
}


def run(options: Options) -> None:
    if not os.environ.get("MLTSK_DATA"):
        print("MLTSK_DATA names no folder with the data sets: nothing to measure.")
        return
    warnings.simplefilter("ignore")  # rules collapse in some of the changes: that is the point of them
    seeds = range(3 if options.full else 1)
    report(DENSE, CHANGES, seeds, n_folds=5)
    if options.full:
        report(SPARSE, SPARSE_CHANGES, range(1), n_folds=2)


def report(names: Iterable[str], changes: dict[str, dict], seeds: Iterable[int], n_folds: int) -> None:
    """A line a data set: what the default reaches, then the AP of each change."""
    table = {
        name: {label: measure(name, change, seeds, n_folds) for label, change in changes.items()} for name in names
    }
    print("\nThe default: AP, Hamming loss, share of consequents that are not 0, distinctness of the rules")
    rows = [[n, f"{LEAST[n]:.3f}", *(f"{v:.4f}" for v in r["default"])] for n, r in table.items()]
    print_table(["data", "AP wanted", "AP", "HL", "non-zero", "distinct"], rows)
    print("\nAP of one change at a time")
    print_table(["data", *changes], [[n, *(f"{r[c][0]:.4f}" for c in changes)] for n, r in table.items()])
    print("\nShare of consequents that are not 0", flush=True)
    print_table(["data", *changes], [[n, *(f"{r[c][2]:.2f}" for c in changes)] for n, r in table.items()])


def measure(name: str, change: dict, seeds: Iterable[int], n_folds: int) -> np.ndarray:
    """Mean AP, HL, share of non-zero consequents and distinctness over seeds and folds."""
    data, values = load_dataset(name), []
    for seed in seeds:
        for train, test in list(shuffled_folds(len(data.Y), 5, random_state=seed))[:n_folds]:
            clf = MLTSKClassifier(**change).fit(data.X[train], data.Y[train])
            found = evaluate(data.Y[test], clf.decision_function(data.X[test]), threshold=0.0, convention="paper")
            values.append((found["AP"], found["HL"], np.mean(clf.coef_[:, 1:] != 0), clf.rule_distinctness_))
    return np.mean(values, axis=0)
