"""The authors' published CAL500 grid on one GPU: 8 maps × 5³ weights × 5 folds.

Double precision, with their stopping rule. Timed: from scaled samples and labels on the
device to steps and five metrics of all 5,000 runs on the device, with the antecedents
(fuzzy c-means, widths, G) and everything else. Compared: steps and metrics with those
of NumPy on the host, on four of the forty blocks, or all of them with ``--full``.
"""

import os
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import torch

from benchmarks import Options, print_table
from benchmarks.cal500_grid import (
    N_FOLDS,
    RULES,
    SAME,
    SAMPLE,
    SETTINGS,
    WEIGHTS,
    WIDTHS,
    Share,
    antecedents,
    folds,
    load,
    solve_share,
    workers,
)
from benchmarks.gpu import best_and_median, seconds
from mltsk.core.clustering import fuzzy_c_means, variances
from mltsk.core.fuzzymap import fuzzy_features
from mltsk.core.membership import authors_widths
from mltsk.metrics import five_metrics
from mltsk.paper.solvers.algorithm1_batch import Problems, algorithm1_batch

ROUNDS = 5
MAPS = list(product(RULES, WIDTHS))


def maps(X: torch.Tensor, n_rules: int) -> torch.Tensor:
    """The authors' G for every width, (4, N, Md): the clusters do not depend on it."""
    clusters = fuzzy_c_means(X, n_rules, fuzzifier=2.0, init="random", random_state=0)
    ones = torch.ones_like(X[:, 0])
    spread = variances(X, clusters.centers, clusters.memberships, ones)
    by_width = []
    for h in WIDTHS:
        widths = authors_widths(spread, h)
        G = fuzzy_features(X, clusters.centers, widths, underflow="authors")
        by_width.append(G)
    return torch.stack(by_width)


def training_rows(n: int) -> np.ndarray:
    """The folds of the benchmark on the host, as masks (8, 5, n)."""
    train = np.ones((len(MAPS), N_FOLDS, n), dtype=bool)
    size = -(-n // N_FOLDS)
    for seed in range(len(MAPS)):
        order = np.random.default_rng(seed).permutation(n)
        for fold in range(N_FOLDS):
            train[seed, fold, order[fold * size : (fold + 1) * size]] = False
    return train


def grid(
    X: torch.Tensor, Y: torch.Tensor, train: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Steps (8, 5, 125) and metrics (8, 5, 125, 5)."""
    steps = []
    metrics = []
    for i, n_rules in enumerate(RULES):
        n_iter, values = tested(maps(X, n_rules), Y, train[4 * i : 4 * i + 4])
        steps.append(n_iter)
        metrics.append(values)
    return torch.cat(steps), torch.cat(metrics)


def tested(
    G: torch.Tensor, Y: torch.Tensor, train: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Steps (g, f, S) and five metrics (g, f, S, 5) of every setting.

    Metrics are those of the rows that are not in ``train`` (g, f, N).
    """
    problems = Problems.from_rows(G, Y.double(), train)
    # test rows first; folds are filled up to one size
    sizes = (~train).sum(2).flatten()
    order = train.flatten(0, 1).to(torch.int8).argsort(dim=1, stable=True)
    rows = order[:, : int(sizes.max())]
    is_test = torch.arange(rows.shape[1], device=G.device) < sizes[:, None]
    n_maps, n_folds = train.shape[:2]
    map_of = torch.arange(n_maps, device=G.device).repeat_interleave(n_folds)
    steps = []
    metrics = []
    for block, n_iter, P in algorithm1_batch(problems, SETTINGS):
        W = P.mT
        G_test = G[map_of[block, None], rows[block]]
        scores = (W.flatten(1, 2) @ G_test.mT).unflatten(1, W.shape[1:3]).mT
        values = five_metrics(
            Y[rows[block]][:, None],
            scores,
            sample_weight=is_test[block, None],
            convention="paper",
        )
        steps.append(n_iter)
        metrics.append(values)
    shape = (n_maps, n_folds)
    return torch.cat(steps).unflatten(0, shape), torch.cat(metrics).unflatten(0, shape)


class Comparison(NamedTuple):
    """How far the device is from the host."""

    n_runs: int
    n_other_stops: int
    largest_difference: float
    share_equal: float  # of runs with metrics within 1e-12


def compare(
    X: np.ndarray, Y: np.ndarray, n_iter: np.ndarray, metrics: np.ndarray, *, full: bool
) -> Comparison:
    """The same runs on the host, on all blocks or on a sample of them."""
    blocks = SAMPLE
    if full:
        blocks = list(product(RULES, WIDTHS, range(N_FOLDS)))
    shares = []
    places = []
    for K, h, fold in blocks:
        m = MAPS.index((K, h))
        block = list(folds(antecedents(X, K, h), Y, m))[fold]
        for gamma in WEIGHTS:
            shares.append(Share(block, gamma))
            places.append((m, fold, gamma))
    with workers(min(os.cpu_count() or 1, len(shares))) as spread:
        outcomes = spread(solve_share, shares)
    n_other = 0
    differences = []
    for (m, fold, gamma), share in zip(places, outcomes, strict=True):
        for (a, b), (steps, row) in zip(product(WEIGHTS, WEIGHTS), share, strict=True):
            where = (m, fold, SETTINGS.index((a, b, gamma)))
            n_other += int(n_iter[where] != steps)
            differences.append(np.abs(metrics[where] - row).max())
    return Comparison(
        n_runs=len(differences),
        n_other_stops=n_other,
        largest_difference=max(differences),
        share_equal=float(np.mean(np.array(differences) < 1e-12)),
    )


def run(options: Options) -> None:
    data = load()
    if data is None:
        print("skipped: set MLTSK_DATA to a folder that holds cal500.npz")
        return
    X, Y = data
    arrays = (X, Y, training_rows(len(Y)))
    tensors = [torch.as_tensor(array, device="cuda") for array in arrays]
    best, median = best_and_median(seconds(partial(grid, *tensors), ROUNDS))
    torch.cuda.reset_peak_memory_stats()
    n_iter, metrics = (tensor.cpu().numpy() for tensor in grid(*tensors))
    memory = torch.cuda.max_memory_allocated() / 1e9
    print(f"CAL500 grid: {n_iter.size} runs, {n_iter.sum()} steps, float64")
    print_table(
        ["", "best s", "median s", "peak GB"],
        [["antecedents, Algorithm I, five metrics", best, median, memory]],
    )
    found = compare(X, Y, n_iter, metrics, full=options.full)
    print(
        f"{found.n_runs} runs compared with NumPy: {found.n_other_stops} stop at "
        f"another step, metrics within {found.largest_difference:.1g} "
        f"({found.share_equal:.1%} within 1e-12)"
    )
    if found.n_other_stops or found.largest_difference > SAME:
        raise SystemExit("the device and the host do not give the same numbers")
