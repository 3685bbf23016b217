"""Labels that were not observed: AP when a share of training labels is hidden.

Cells are hidden at random. Each label learns from the rows where it was observed, next
to taking what is unknown for no. AP is the paper's, on test rows whose labels are all
known; one fold partition, seed 11, and with ``--full`` three of them.
"""

import numpy as np

from benchmarks import Options, folds, has_data, print_table
from mltsk import MLTSKClassifier, evaluate, load_dataset

SETS = ("emotions", "yeast", "image")
SHARES = (0.0, 0.3, 0.6, 0.9)
HIDDEN_AS = {"not observed": np.nan, "taken for no": 0.0}


def run(options: Options) -> None:
    if not has_data():
        return
    seeds = (11, 12, 13) if options.full else (11,)
    rows = []
    for name in SETS:
        for kind, value in HIDDEN_AS.items():
            aps = [mean_ap(name, share, value, seeds) for share in SHARES]
            cost = aps[0] - aps[1]
            rows.append([name, kind, *(f"{ap:.4f}" for ap in (*aps, cost))])
    shares = [f"{share:.0%} hidden" for share in SHARES]
    print_table(["data", "hidden cells", *shares, "cost of 30 %"], rows)


def mean_ap(name: str, share: float, value: float, seeds: tuple[int, ...]) -> float:
    """Mean over folds and seeds.

    The same cells are hidden whatever value they are given.
    """
    data = load_dataset(name)
    aps = []
    for seed in seeds:
        hidden = np.random.default_rng(seed).random(data.Y.shape) < share
        Y = np.where(hidden, value, data.Y)
        for train, test in folds(len(Y), seed):
            clf = MLTSKClassifier().fit(data.X[train], Y[train])
            scores = clf.predict_proba(data.X[test])
            metrics = evaluate(data.Y[test], scores, convention="paper")
            aps.append(metrics["AP"])
    return float(np.mean(aps))
