"""The whole grid of Table II for ML-TSK FS (4,000 settings, five folds) beside a plain loop, set by set.

Ours is timed on one fold and a few numbers of rules (all of both with ``--full``) and the plain loop on a few settings
of those; both are scaled up to the whole grid. Hours are of one core: `mltsk reproduce` shares the work out over all.
"""

import os
import time
from itertools import product

import numpy as np

from benchmarks import Options, print_table
from benchmarks._plain_loop import plain_algorithm1, plain_metrics
from mltsk import load_dataset
from mltsk.baselines import C2AE, PaperMLTSK
from mltsk.core.clustering import fuzzy_c_means, variances
from mltsk.core.fuzzymap import fuzzy_features
from mltsk.core.membership import authors_widths
from mltsk.experiments.splits import minmax, sliced_folds
from mltsk.metrics import five_metrics

DENSE = ("flags", "emotions", "cal500", "birds", "image", "yeast", "scene")
SMALL = ("flags", "emotions", "cal500", "birds", "image")
RULES = (2, 5, 8)  # evenly spread over 1 to 10, whose costs grow faster than linearly
SAMPLED = 4  # settings of the plain loop at each number of rules


def run(options: Options) -> None:
    if not os.environ.get("MLTSK_DATA"):
        print("MLTSK_DATA names no folder with the data sets: nothing to measure.")
        return
    rows, totals = [], np.zeros(2)
    for name in DENSE:
        data = load_dataset(name)
        Z, Y = minmax(data.X, data.X), data.Y.astype(float)
        ours, plain = np.array([_times(Z, Y, rules) for rules in _rules(options)]).T
        folds = 5 * 10 / len(_rules(options))
        hours = np.array([ours.sum(), plain.sum()]) * folds / 3600
        totals += hours
        rows.append([name, f"{60 * hours[0]:.1f}", f"{hours[1]:.1f}", f"{hours[1] / hours[0]:.0f} x"])
    rows.append(["all", f"{60 * totals[0]:.1f}", f"{totals[1]:.1f}", f"{totals[1] / totals[0]:.0f} x"])
    print_table(["data", "ours, minutes", "plain loop, hours", "ratio"], rows)
    print("\nC2AE, the slowest of the other methods: its grid of 11 settings on five folds, from one fit")
    print_table(["data", "minutes"], [[name, f"{_c2ae_seconds(name) * 55 / 60:.1f}"] for name in SMALL])


def _c2ae_seconds(name: str) -> float:
    data = load_dataset(name)
    Z, (train, _) = minmax(data.X, data.X), sliced_folds(len(data.Y), 5)[0]
    start = time.process_time()
    C2AE().fit(Z[train], data.Y[train])
    return time.process_time() - start


def _rules(options: Options) -> tuple[int, ...]:
    return tuple(range(1, 11)) if options.full else RULES


def _times(Z: np.ndarray, Y: np.ndarray, n_rules: int) -> tuple[float, float]:
    """Processor seconds of one fold and one number of rules with all their settings: ours, and the plain loop's."""
    fold = sliced_folds(len(Y), 5)[0]
    start = time.process_time()
    grid = {**PaperMLTSK.PAPER_GRID, "n_rules": [n_rules]}
    for point, test in PaperMLTSK().authors_path(Z, Y, lambda K, h: fold, grid):
        five_metrics(Y[test], point.scores, convention="paper")
    ours = time.process_time() - start
    return ours, _plain_seconds(Z, Y, fold, n_rules)


def _plain_seconds(Z: np.ndarray, Y: np.ndarray, fold: tuple[np.ndarray, np.ndarray], n_rules: int) -> float:
    train, test = fold
    found = fuzzy_c_means(Z, n_rules, fuzzifier=2.0)
    spread = variances(Z, found.centers, found.memberships, np.ones(len(Z)))
    settings = list(product((1.0, 10.0, 100.0), (0.01, 1.0, 100.0), (0.01, 1.0, 100.0), (0.1, 10.0)))
    picked = np.random.default_rng(0).choice(len(settings), SAMPLED, replace=False)
    full = np.flatnonzero((Y[test].sum(axis=1) > 0) & (Y[test].sum(axis=1) < Y.shape[1]))
    start = time.process_time()
    for h, alpha, beta, gamma in (settings[i] for i in picked):
        G = fuzzy_features(Z, found.centers, authors_widths(spread, h), underflow="authors")
        W, _ = plain_algorithm1(G[train], Y[train], alpha, beta, gamma)
        plain_metrics(Y[test][full], (G[test] @ W)[full])
    return (time.process_time() - start) / SAMPLED * 400
