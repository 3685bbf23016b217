"""The evidence behind the defaults: 5-fold average precision (paper's convention, shuffled) of one change at a time.

Not a race but a table: what the default reaches on every data set and what each choice in it is worth. Without
``--full`` the four sparse sets are left out and each dense set gets one partition; with it, dense sets get three and
sparse sets their first two folds.
"""

import warnings
from collections.abc import Iterable

import numpy as np

from benchmarks import Options, folds, has_data, print_table
from mltsk import MLTSKClassifier, evaluate, load_dataset

DENSE = ("flags", "emotions", "cal500", "birds", "image", "yeast", "scene")
SPARSE = ("rcv1s1", "rcv1s2", "bibtex", "corel16k1")
LEAST = {
    "emotions": 0.82, "flags": 0.81, "image": 0.805, "birds": 0.365, "cal500": 0.508, "yeast": 0.768, "scene": 0.89,
    "bibtex": 0.60, "rcv1s1": 0.62, "rcv1s2": 0.64, "corel16k1": 0.34,
}  # fmt: skip
CHANGES = {
    "default": {},
    "no exceptions": {"n_rules": 0},
    **{f"{n} rules": {"n_rules": n} for n in (30, 100, 300)},
    **{f"order {order}": {"order": order} for order in (0, 1)},
    "no ramps": {"scale": "standard"},
    **{
        name: {"coupling": name}
        for name in ("laplacian", "signed", "shift", "precision", "ridge")
    },
}
SPARSE_CHANGES = {
    name: CHANGES[name]
    for name in ("default", "no exceptions", "order 0", "order 1", "precision")
}


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    report(DENSE, CHANGES, range(3 if options.full else 1), n_folds=5)
    if options.full:
        report(SPARSE, SPARSE_CHANGES, range(1), n_folds=2)


def report(
    names: Iterable[str], changes: dict[str, dict], seeds: Iterable[int], n_folds: int
) -> None:
    """A line per data set: what the default reaches, then AP and numbers per label of each change."""
    table = {
        name: {
            label: measure(name, change, seeds, n_folds)
            for label, change in changes.items()
        }
        for name in names
    }
    rows = [
        [
            n,
            f"{LEAST[n]:.3f}",
            *(f"{v:.4f}" for v in r["default"][:2]),
            *(f"{v:.1f}" for v in r["default"][2:]),
        ]
        for n, r in table.items()
    ]
    print_table(
        ["data", "AP wanted", "AP", "HL", "numbers per label", "rules", "order"], rows
    )
    print("\nAP of one change at a time")
    print_table(
        ["data", *changes],
        [[n, *(f"{r[c][0]:.4f}" for c in changes)] for n, r in table.items()],
    )
    print("\nNumbers per label", flush=True)
    print_table(
        ["data", *changes],
        [[n, *(f"{r[c][2]:.0f}" for c in changes)] for n, r in table.items()],
    )


def measure(
    name: str, change: dict, seeds: Iterable[int], n_folds: int = 5
) -> np.ndarray:
    """Mean AP, HL, numbers per label, rules and order over seeds and folds."""
    data, values = load_dataset(name), []
    for train, test in (
        fold for seed in seeds for fold in folds(len(data.Y), seed)[:n_folds]
    ):
        clf = MLTSKClassifier(**change).fit(data.X[train], data.Y[train])
        found = evaluate(
            data.Y[test],
            clf.decision_function(data.X[test]),
            threshold=0.0,
            convention="paper",
        )
        values.append(
            (
                found["AP"],
                found["HL"],
                clf.n_statements_.mean(),
                clf.n_rules_,
                clf.order_,
            )
        )
    return np.mean(values, axis=0)
