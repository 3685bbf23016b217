"""Iterative stratification against plain shuffled folds and against the package `iterative-stratification`.

Five folds, ten seeds. Deviation is |rate of a label in a test fold − its rate in all rows|, mean over labels and folds;
pairs are (fold, label) without a positive in the fold's training or test rows.
"""

import time

import numpy as np
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold
from sklearn.model_selection import KFold

from benchmarks import Options, has_data, print_table
from mltsk import load_dataset
from mltsk.paper.experiments.cross_validation import IterativeStratification

DATASETS = ("cal500", "rcv1s1", "yeast", "birds", "bibtex")
SEEDS = range(10)
SPLITTERS = {
    "shuffled": lambda seed: KFold(5, shuffle=True, random_state=seed),
    "stratified": lambda seed: IterativeStratification(5, random_state=seed),
    "order 2": lambda seed: IterativeStratification(5, random_state=seed, order=2),
    "other package": lambda seed: MultilabelStratifiedKFold(
        5, shuffle=True, random_state=seed
    ),
}


def run(options: Options) -> None:
    if not has_data():
        return
    rows = []
    for name in DATASETS:
        Y = np.asarray(load_dataset(name).Y, dtype=int)
        for splitter, make in SPLITTERS.items():
            start = time.perf_counter()
            folds = [list(make(seed).split(Y, Y)) for seed in SEEDS]
            seconds = (time.perf_counter() - start) / len(SEEDS)
            rows.append(
                [
                    name,
                    splitter,
                    *np.mean([quality(Y, f) for f in folds], axis=0).round(5),
                    f"{seconds:.2f} s",
                ]
            )
    print_table(
        [
            "data",
            "folds",
            "deviation",
            "no training positive",
            "no test positive",
            "sizes differ",
            "time",
        ],
        rows,
    )


def quality(Y: np.ndarray, folds: list) -> tuple[float, int, int, int]:
    """Mean deviation, pairs without training positives, pairs without test positives, largest less smallest fold."""
    tests, trainings = ([Y[fold[part]] for fold in folds] for part in (1, 0))
    deviation = np.mean(
        [np.abs(test.mean(axis=0) - Y.mean(axis=0)).mean() for test in tests]
    )
    missing = [
        sum(int((part.sum(axis=0) == 0).sum()) for part in parts)
        for parts in (trainings, tests)
    ]
    sizes = [len(test) for test in tests]
    return float(deviation), *missing, max(sizes) - min(sizes)
