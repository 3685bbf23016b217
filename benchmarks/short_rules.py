"""What short rules cost: 5-fold average precision (paper's convention, shuffled) before and after `simplify`.

At most 5 conditions a rule and 10 terms for a label in a rule. The constants of the shortening were chosen with fold
seeds 1000 to 1003; the table is of others, three partitions with ``--full``, else one.
"""

import os
import warnings

import numpy as np

from benchmarks import Options, print_table
from mltsk import MLTSKClassifier, load_dataset
from mltsk.metrics import evaluate
from mltsk.paper.experiments.cross_validation import shuffled_folds

NAMES = ("emotions", "flags", "yeast", "image", "scene")
SEEDS = (300, 301, 302)
HEADER = ["data", "AP", "AP short", "loss", "worst", "rules", "conditions", "terms", "terms/label before", "after"]


def run(options: Options) -> None:
    if not os.environ.get("MLTSK_DATA"):
        print("MLTSK_DATA names no folder with the data sets: nothing to measure.")
        return
    warnings.simplefilter("ignore")
    print_table(HEADER, [row(name, SEEDS if options.full else SEEDS[:1]) for name in NAMES])


def row(name: str, seeds: tuple[int, ...]) -> list[str]:
    """Means over partitions and folds; the worst is the partition that loses most."""
    data, values = load_dataset(name), []
    for seed in seeds:
        folds = shuffled_folds(len(data.Y), 5, random_state=seed)
        values.append([measure(data, train, test) for train, test in folds])
    long, short, rules, conditions, terms, before, after = np.mean(values, axis=(0, 1))
    losses = np.diff(np.mean(values, axis=1)[:, :2])[:, 0]
    counts = [f"{rules:.1f}", f"{conditions:.0f}", f"{terms:.0f}", f"{before:.0f}", f"{after:.0f}"]
    return [name, f"{long:.4f}", f"{short:.4f}", f"{short - long:+.4f}", f"{losses.min():+.4f}", *counts]


def measure(data: object, train: np.ndarray, test: np.ndarray) -> list[float]:
    """AP before and after, rules, and the parts that `simplification_` counts, of one fold."""
    long = MLTSKClassifier().fit(data.X[train], data.Y[train])
    short = long.simplify(data.X[train], data.Y[train], cv=None)
    scores = [model.decision_function(data.X[test]) for model in (long, short)]
    aps = [evaluate(data.Y[test], S, threshold=0.0, convention="paper")["AP"] for S in scores]
    parts = short.simplification_
    return [*aps, parts["rules"][1], parts["conditions"][1], parts["terms"][1], *parts["terms_per_label"]]
