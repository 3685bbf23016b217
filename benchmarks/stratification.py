"""Iterative stratification against plain shuffled folds and against another package.

That is `iterative-stratification`. Five folds, ten seeds. Deviation is |rate of a label
in a test fold − its rate in all rows|, mean over labels and folds; pairs are (fold,
label) without a positive in the fold's training or test rows.
"""

from functools import partial

import numpy as np
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold
from sklearn.model_selection import KFold

from benchmarks import Options, has_data, print_table, timed
from mltsk import load_dataset
from mltsk.model_selection import IterativeStratification

DATASETS = ("cal500", "rcv1s1", "yeast", "birds", "bibtex")
SEEDS = range(10)
SPLITTERS = {
    "shuffled": partial(KFold, 5, shuffle=True),
    "stratified": partial(IterativeStratification, 5),
    "order 2": partial(IterativeStratification, 5, order=2),
    "other package": partial(MultilabelStratifiedKFold, 5, shuffle=True),
}
HEADER = [
    "data",
    "folds",
    "deviation",
    "no training positive",
    "no test positive",
    "sizes differ",
    "time",
]


def run(options: Options) -> None:
    if not has_data():
        return
    rows = []
    for name in DATASETS:
        Y = np.asarray(load_dataset(name).Y, dtype=int)
        for title, splitter in SPLITTERS.items():
            partitions, seconds = timed(split, splitter, Y)
            qualities = [quality(Y, folds) for folds in partitions]
            means = np.mean(qualities, axis=0).round(5)
            rows.append([name, title, *means, f"{seconds / len(SEEDS):.2f} s"])
    print_table(HEADER, rows)


def split(splitter, Y: np.ndarray) -> list[list]:
    """Folds of every seed."""
    return [list(splitter(random_state=seed).split(Y, Y)) for seed in SEEDS]


def quality(Y: np.ndarray, folds: list) -> tuple[float, int, int, int]:
    """Mean deviation, pairs without training and without test positives, and sizes.

    The last is the largest fold less the smallest.
    """
    deviations = []
    n_without_training = 0
    n_without_test = 0
    sizes = []
    for train, test in folds:
        deviations.append(np.abs(Y[test].mean(axis=0) - Y.mean(axis=0)).mean())
        n_without_training += int((Y[train].sum(axis=0) == 0).sum())
        n_without_test += int((Y[test].sum(axis=0) == 0).sum())
        sizes.append(len(test))
    spread = max(sizes) - min(sizes)
    return float(np.mean(deviations)), n_without_training, n_without_test, spread
