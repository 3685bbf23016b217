"""The authors' published CAL500 grid on one GPU: 8 maps × 5³ weights × 5 folds, double precision, their stopping rule.

Timed: from scaled samples and labels on the device to steps and five metrics of all 5,000 runs on the device, with the
antecedents (fuzzy c-means, widths, G) and everything else. Compared: steps and metrics with those of NumPy on the host,
on four of the forty blocks, or all of them with ``--full``.
"""

import os
from functools import partial
from itertools import product

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
)  # fmt: skip
from benchmarks.gpu import best_and_median, seconds
from mltsk.core.clustering import fuzzy_c_means, variances
from mltsk.core.fuzzymap import fuzzy_features
from mltsk.core.membership import authors_widths
from mltsk.metrics import five_metrics
from mltsk.paper.solvers.algorithm1_batch import Problems, algorithm1_batch

ROUNDS = 5


def maps(X: torch.Tensor, n_rules: int) -> torch.Tensor:
    """The authors' G for every width, (4, N, Md): the clusters do not depend on it."""
    clusters = fuzzy_c_means(X, n_rules, fuzzifier=2.0, init="random", random_state=0)
    spread = variances(
        X, clusters.centers, clusters.memberships, torch.ones_like(X[:, 0])
    )
    return torch.stack(
        [
            fuzzy_features(
                X, clusters.centers, authors_widths(spread, h), underflow="authors"
            )
            for h in WIDTHS
        ]
    )


def training_rows(n: int) -> np.ndarray:
    """The folds of the benchmark on the host, as masks (8, 5, n)."""
    train = np.ones((len(RULES) * len(WIDTHS), N_FOLDS, n), dtype=bool)
    size = -(-n // N_FOLDS)
    for seed, fold in product(range(len(train)), range(N_FOLDS)):
        train[
            seed,
            fold,
            np.random.default_rng(seed).permutation(n)[fold * size : (fold + 1) * size],
        ] = False
    return train


def grid(
    X: torch.Tensor, Y: torch.Tensor, train: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Steps (8, 5, 125) and metrics (8, 5, 125, 5)."""
    found = [
        tested(maps(X, K), Y, train[4 * i : 4 * i + 4]) for i, K in enumerate(RULES)
    ]
    return torch.cat([n for n, _ in found]), torch.cat([m for _, m in found])


def tested(
    G: torch.Tensor, Y: torch.Tensor, train: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Steps (g, f, S) and five metrics (g, f, S, 5) of every setting on the rows not in ``train`` (g, f, N)."""
    problems, found = Problems.from_rows(G, Y.double(), train), []
    sizes = (~train).sum(2).flatten()
    rows = (
        train.flatten(0, 1)
        .to(torch.int8)
        .argsort(dim=1, stable=True)[:, : int(sizes.max())]
    )
    weight = (
        torch.arange(rows.shape[1], device=G.device) < sizes[:, None]
    )  # folds are filled up to one size
    maps_of = torch.arange(len(train), device=G.device).repeat_interleave(
        train.shape[1]
    )
    for part, n_iter, P in algorithm1_batch(problems, SETTINGS):
        W = P.mT
        scores = (
            (W.flatten(1, 2) @ G[maps_of[part, None], rows[part]].mT)
            .unflatten(1, W.shape[1:3])
            .mT
        )
        truth, counted = Y[rows[part]][:, None], weight[part, None]
        found.append(
            (
                n_iter,
                five_metrics(truth, scores, sample_weight=counted, convention="paper"),
            )
        )
    return tuple(
        torch.cat(column).unflatten(0, train.shape[:2])
        for column in zip(*found, strict=True)
    )


def compare(
    X: np.ndarray, Y: np.ndarray, n_iter: np.ndarray, metrics: np.ndarray, *, full: bool
) -> tuple:
    """Runs compared with the host's, how many stop elsewhere, the largest difference of a metric, and its quantile."""
    pairs = list(product(RULES, WIDTHS))
    blocks = (
        [(*pair, fold) for pair in pairs for fold in range(N_FOLDS)] if full else SAMPLE
    )
    shares = []
    for K, h, fold in blocks:
        block = list(folds(antecedents(X, K, h), Y, pairs.index((K, h))))[fold]
        shares += [Share(block, gamma) for gamma in WEIGHTS]
    with workers(min(os.cpu_count() or 1, len(shares))) as spread:
        found = spread(solve_share, shares)
    n_other, differences = 0, []
    for (K, h, fold, gamma), share in zip(
        ((*block, g) for block in blocks for g in WEIGHTS), found, strict=True
    ):
        for (a, b), (steps, row) in zip(product(WEIGHTS, WEIGHTS), share, strict=True):
            where = pairs.index((K, h)), fold, SETTINGS.index((a, b, gamma))
            n_other += int(n_iter[where] != steps)
            differences.append(np.abs(metrics[where] - row).max())
    return (
        len(differences),
        n_other,
        max(differences),
        float(np.mean(np.array(differences) < 1e-12)),
    )


def run(options: Options) -> None:
    data = load()
    if data is None:
        print("skipped: set MLTSK_DATA to a folder that holds cal500.npz")
        return
    X, Y = data
    tensors = [torch.as_tensor(a, device="cuda") for a in (X, Y, training_rows(len(Y)))]
    best, median = best_and_median(seconds(partial(grid, *tensors), ROUNDS))
    torch.cuda.reset_peak_memory_stats()
    n_iter, metrics = (t.cpu().numpy() for t in grid(*tensors))
    memory = torch.cuda.max_memory_allocated() / 1e9
    print(f"CAL500 grid: {n_iter.size} runs, {n_iter.sum()} steps, float64")
    print_table(
        ["", "best s", "median s", "peak GB"],
        [["antecedents, Algorithm I, five metrics", best, median, memory]],
    )
    n, other, largest, equal = compare(X, Y, n_iter, metrics, full=options.full)
    print(
        f"{n} runs compared with NumPy: {other} stop at another step, metrics within {largest:.1g} ",
        end="",
    )
    print(f"({equal:.1%} within 1e-12)")
    if other or largest > SAME:
        raise SystemExit("the device and the host do not give the same numbers")
