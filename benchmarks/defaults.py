"""The evidence behind the defaults: 5-fold average precision of one change at a time.

AP is the paper's, folds are shuffled. Not a race but a table: what the default reaches
on every data set and what each choice in it is worth. Without ``--full`` the four
sparse sets are left out and each dense set gets one partition; with it, dense sets get
three and sparse sets their first two folds.
"""

import warnings
from collections.abc import Iterable

import numpy as np

from benchmarks import Options, folds, has_data, numbers_per_label, print_table
from mltsk import MLTSKClassifier, evaluate, load_dataset

DENSE = ("flags", "emotions", "cal500", "birds", "image", "yeast", "scene")
SPARSE = ("rcv1s1", "rcv1s2", "bibtex", "corel16k1")
AP_WANTED = {
    "emotions": 0.82,
    "flags": 0.81,
    "image": 0.805,
    "birds": 0.365,
    "cal500": 0.508,
    "yeast": 0.768,
    "scene": 0.89,
    "bibtex": 0.60,
    "rcv1s1": 0.62,
    "rcv1s2": 0.64,
    "corel16k1": 0.34,
}
CHANGES = {
    "default": {},
    "no exceptions": {"n_rules": 0},
    "30 rules": {"n_rules": 30},
    "100 rules": {"n_rules": 100},
    "300 rules": {"n_rules": 300},
    "order 0": {"order": 0},
    "order 1": {"order": 1},
    "no ramps": {"scale": "standard"},
    "laplacian": {"coupling": "laplacian"},
    "signed": {"coupling": "signed"},
    "shift": {"coupling": "shift"},
    "precision": {"coupling": "precision"},
    "ridge": {"coupling": "ridge"},
}
SPARSE_CHANGES = ("default", "no exceptions", "order 0", "order 1", "precision")


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    report(DENSE, CHANGES, range(3 if options.full else 1), n_folds=5)
    if options.full:
        report(SPARSE, SPARSE_CHANGES, range(1), n_folds=2)


def report(
    names: Iterable[str], changes: Iterable[str], seeds: Iterable[int], n_folds: int
) -> None:
    """A line per data set: what the default reaches, then each change."""
    defaults = []
    aps = []
    sizes = []
    for name in names:
        by_change = {}
        for change in changes:
            by_change[change] = measure(name, CHANGES[change], seeds, n_folds)
        ap, hl, *chosen = by_change["default"]
        wanted = f"{AP_WANTED[name]:.3f}"
        numbers = [f"{value:.1f}" for value in chosen]
        defaults.append([name, wanted, f"{ap:.4f}", f"{hl:.4f}", *numbers])
        aps.append([name, *(f"{values[0]:.4f}" for values in by_change.values())])
        sizes.append([name, *(f"{values[2]:.0f}" for values in by_change.values())])
    print_table(
        ["data", "AP wanted", "AP", "HL", "numbers per label", "rules", "order"],
        defaults,
    )
    print("\nAP of one change at a time")
    print_table(["data", *changes], aps)
    print("\nNumbers per label", flush=True)
    print_table(["data", *changes], sizes)


def measure(
    name: str, change: dict, seeds: Iterable[int], n_folds: int = 5
) -> np.ndarray:
    """Mean AP, HL, numbers per label, rules and order over seeds and folds."""
    data = load_dataset(name)
    values = []
    for seed in seeds:
        for train, test in folds(len(data.Y), seed)[:n_folds]:
            clf = MLTSKClassifier(**change).fit(data.X[train], data.Y[train])
            scores = clf.decision_function(data.X[test])
            metrics = evaluate(data.Y[test], scores, threshold=0.0, convention="paper")
            n_numbers = numbers_per_label(clf.system_)
            values.append(
                (metrics["AP"], metrics["HL"], n_numbers, clf.n_rules_, clf.order_)
            )
    return np.mean(values, axis=0)
