"""Labels that were not observed: AP when a share of the label cells is hidden at random from the training rows.

Each label learns from the rows where it was observed, next to taking what is unknown for no. AP is the paper's, on test
rows whose labels are all known; one fold partition, seed 11, and with ``--full`` three of them.
"""

import numpy as np

from benchmarks import Options, folds, has_data, print_table
from mltsk import MLTSKClassifier, evaluate, load_dataset

SETS = ("emotions", "yeast", "image")
SHARES = (0.0, 0.3, 0.6, 0.9)


def run(options: Options) -> None:
    if not has_data():
        return
    seeds = (11, 12, 13) if options.full else (11,)
    rows = []
    for name in SETS:
        for kind, hide in {"not observed": np.nan, "taken for no": 0.0}.items():
            found = [mean_ap(name, share, hide, seeds) for share in SHARES]
            rows.append(
                [
                    name,
                    kind,
                    *(f"{ap:.4f}" for ap in found),
                    f"{found[0] - found[1]:.4f}",
                ]
            )
    print_table(
        [
            "data",
            "hidden cells",
            *(f"{share:.0%} hidden" for share in SHARES),
            "cost of 30 %",
        ],
        rows,
    )


def mean_ap(name: str, share: float, hide: float, seeds: tuple[int, ...]) -> float:
    """Mean over folds and seeds; the same cells are hidden whatever they are taken for."""
    data, found = load_dataset(name), []
    for seed in seeds:
        hidden = np.random.default_rng(seed).random(data.Y.shape) < share
        Y = np.where(hidden, hide, data.Y)
        for train, test in folds(len(Y), seed):
            scores = (
                MLTSKClassifier()
                .fit(data.X[train], Y[train])
                .predict_proba(data.X[test])
            )
            found.append(evaluate(data.Y[test], scores, convention="paper")["AP"])
    return float(np.mean(found))
