"""The authors' published CAL500 grid, with their metrics.

2 numbers of rules × 4 widths × 5³ weights × 5 folds. Three things are timed in turns in
one run:

ours      antecedents, `algorithm1_grid` and `five_metrics` for every setting and fold
products  the matrix products of the algorithm, and nothing else: for every setting A V
          and V R once per step, as often as that setting takes steps, and its test
          scores; A, B, YᵀY and the ridge start once per fold and gamma. One setting at
          a time, results into buffers that are there, on the same cores as ours.
plain     a plain NumPy loop (`_plain_loop`), one setting after the other, on one BLAS
          thread: with two it was 1.4 times faster in a quiet moment of the machine and
          60 times slower in a busy one

A run without ``--full`` takes four of the forty (rules, width, fold) blocks, and times
the plain loop on every fourteenth of their settings: seconds per setting are fitted as
c₀ + c₁ · steps and added up over the real step counts.

Next to seconds stand core-seconds, processor time added up over processes: they do not
mind what else the machine does.
"""

import cProfile
import os
import pstats
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from multiprocessing import get_context

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import Options, data_file, print_table, processor_timed
from benchmarks._plain_loop import plain_algorithm1, plain_metrics
from mltsk.core.clustering import fuzzy_c_means, variances
from mltsk.core.fuzzymap import fuzzy_features
from mltsk.core.membership import authors_widths
from mltsk.core.scales import fit_scaling
from mltsk.metrics import five_metrics
from mltsk.paper.solvers.algorithm1 import algorithm1_grid

WEIGHTS = (0.01, 0.1, 1.0, 10.0, 100.0)
SETTINGS = list(product(WEIGHTS, WEIGHTS, WEIGHTS))
RULES = (2, 3)
WIDTHS = (0.1, 1.0, 10.0, 100.0)
N_FOLDS = 5
SAMPLE = ((2, 0.1, 0), (2, 10.0, 1), (3, 1.0, 2), (3, 100.0, 3))
PLAIN_EVERY = 14
ROUNDS = 2
# Where two labels are equal in a training fold, as in nine of the forty, rounding
# orders them: one rank is 6e-5.
SAME = 1e-4

Outcome = tuple[int, np.ndarray]  # steps and the five metrics of a setting


@dataclass(frozen=True)
class Block:
    """One fold of one (rules, width): G and Y of its training and test rows."""

    G: np.ndarray
    Y: np.ndarray
    G_test: np.ndarray
    Y_test: np.ndarray


@dataclass(frozen=True)
class Share:
    """What one worker does at a time: the 25 settings of one block with one gamma."""

    block: Block
    gamma: float


def solve_share(share: Share) -> list[Outcome]:
    """Ours: steps and the five metrics of each of the 25 settings."""
    block = share.block

    def keep(result):
        return result.n_iter, block.G_test @ result.P

    kept = algorithm1_grid(
        block.G, block.Y, WEIGHTS, WEIGHTS, [share.gamma], then=keep
    ).values()
    scores = np.stack([scores for _, scores in kept])
    metrics = five_metrics(block.Y_test, scores, convention="paper")
    return [(steps, row) for (steps, _), row in zip(kept, metrics, strict=True)]


def products_of_share(share: Share, steps: Iterable[int]) -> None:
    """The products that those settings need, and nothing else."""
    block = share.block
    A = block.G.T @ block.G
    B = block.G.T @ block.Y
    R = block.Y.T @ block.Y
    W = np.linalg.solve(A + share.gamma * np.eye(len(A)), B)
    AW = np.empty_like(W)
    WR = np.empty_like(W)
    scores = np.empty(block.Y_test.shape)
    for n in steps:
        for _ in range(n):
            np.matmul(A, W, out=AW)
            np.matmul(W, R, out=WR)
        np.matmul(block.G_test, W, out=scores)


def plain_setting(block: Block, setting: tuple[float, float, float]) -> Outcome:
    """The plain loop: steps and the five metrics of one setting."""
    W, steps = plain_algorithm1(block.G, block.Y, *setting)
    return steps, plain_metrics(block.Y_test, block.G_test @ W)


def load() -> tuple[np.ndarray, np.ndarray] | None:
    """Scaled samples and labels, or None where there is no file."""
    path = data_file("cal500.npz")
    if path is None:
        return None
    with np.load(path, allow_pickle=False) as file:
        X = file["X"].astype(float)
        Y = file["Y"].astype(float)
    return fit_scaling(X, np.ones(len(X)), "minmax").apply(X), Y


def antecedents(X: np.ndarray, n_rules: int, width: float) -> np.ndarray:
    """The authors' G: fuzzy c-means on all rows, before the split."""
    clusters = fuzzy_c_means(X, n_rules, fuzzifier=2.0, init="random", random_state=0)
    spread = variances(X, clusters.centers, clusters.memberships, np.ones(len(X)))
    widths = authors_widths(spread, width)
    return fuzzy_features(X, clusters.centers, widths, underflow="authors")


def folds(G: np.ndarray, Y: np.ndarray, seed: int) -> Iterator[Block]:
    """Consecutive slices of one random permutation, the last one shorter."""
    order = np.random.default_rng(seed).permutation(len(Y))
    size = -(-len(Y) // N_FOLDS)
    for start in range(0, len(Y), size):
        here = slice(start, start + size)
        test = order[here]
        train = np.delete(order, here)
        yield Block(G=G[train], Y=Y[train], G_test=G[test], Y_test=Y[test])


def race_shares(
    spread: Callable, function: Callable, *columns: list
) -> tuple[list, tuple[float, float]]:
    """Results of the function over shares of work, and (seconds, core-seconds)."""
    start = time.perf_counter()
    pairs = spread(partial(processor_timed, function), *columns)
    elapsed = time.perf_counter() - start
    results = [result for result, _ in pairs]
    return results, (elapsed, sum(cost for _, cost in pairs))


def one_blas_thread() -> None:
    threadpool_limits(1, user_api="blas")


@contextmanager
def workers(n: int) -> Iterator[Callable]:
    """A map over n processes with one BLAS thread each.

    They are started and warm when the clock starts.
    """
    if n == 1:
        with threadpool_limits(1, user_api="blas"):
            yield lambda function, *columns: list(map(function, *columns))
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(n, context, initializer=one_blas_thread) as pool:
        list(pool.map(time.sleep, [0.2] * n))
        yield lambda function, *columns: list(pool.map(function, *columns))


def shares(blocks: Iterable[Block]) -> list[Share]:
    return [Share(block, gamma) for block in blocks for gamma in WEIGHTS]


def best_workers(blocks: list[Block]) -> int:
    """One per core, unless one alone does a small part of ours faster.

    That happens where the machine is busy.
    """
    probe = shares(blocks)[:4]
    seconds = {}
    for n in {1, os.cpu_count() or 1}:
        with workers(n) as spread:
            spread(solve_share, probe[:n])
            _, (seconds[n], _) = race_shares(spread, solve_share, probe)
    most = max(seconds)
    return 1 if seconds[1] < 0.9 * seconds[most] else most


class Race:
    """Times the three contestants on blocks, and compares what they find."""

    def __init__(self, spread: Callable, *, full: bool) -> None:
        self.spread = spread
        self.full = full
        self.n_compared = 0
        self.n_other_steps = 0
        self.difference = 0.0

    def run(self, blocks: list[Block]) -> np.ndarray:
        """(seconds, core-seconds) of ours, of the products and of the plain loop.

        Products are made as often as ours takes steps.
        """
        work = shares(blocks)
        outcomes, ours = race_shares(self.spread, solve_share, work)
        steps = [[n for n, _ in share] for share in outcomes]
        _, products = race_shares(self.spread, products_of_share, work, steps)
        plain = np.zeros(2)
        for i, block in enumerate(blocks):
            plain += self._plain(block, outcomes[5 * i : 5 * i + 5], i)
        return np.array([ours, products, plain])

    def _plain(
        self, block: Block, outcomes: list[list[Outcome]], offset: int
    ) -> np.ndarray:
        """Cost of the plain loop over all settings of a block.

        It is timed on all or on some of them.
        """
        ours = {}
        for gamma, share in zip(WEIGHTS, outcomes, strict=True):
            for (a, b), outcome in zip(product(WEIGHTS, WEIGHTS), share, strict=True):
                ours[a, b, gamma] = outcome
        chosen = SETTINGS if self.full else SETTINGS[offset::PLAIN_EVERY]
        costs = []
        with threadpool_limits(1, user_api="blas"):
            for setting in chosen:
                start = time.perf_counter()
                plain, busy = processor_timed(plain_setting, block, setting)
                costs.append((time.perf_counter() - start, busy))
                self._compare(plain, ours[setting])
        if self.full:
            return np.sum(costs, axis=0)
        steps = np.array([ours[setting][0] for setting in chosen])
        design = np.stack([np.ones_like(steps), steps], axis=1)
        per_setting_and_step = np.linalg.lstsq(design, np.array(costs), rcond=None)[0]
        all_steps = sum(n for n, _ in ours.values())
        return np.array([len(SETTINGS), all_steps]) @ per_setting_and_step

    def _compare(self, plain: Outcome, ours: Outcome) -> None:
        self.n_compared += 1
        self.n_other_steps += plain[0] != ours[0]
        self.difference = max(self.difference, float(np.abs(plain[1] - ours[1]).max()))


def run(options: Options) -> None:
    data = load()
    if data is None:
        print("skipped: set MLTSK_DATA to a folder that holds cal500.npz")
        return
    X, Y = data
    start = time.perf_counter()
    maps = {pair: antecedents(X, *pair) for pair in product(RULES, WIDTHS)}
    rules_time = time.perf_counter() - start
    grid = {}
    for seed, (pair, G) in enumerate(maps.items()):
        grid[pair] = list(folds(G, Y, seed))
    sample = [grid[K, h][fold] for K, h, fold in SAMPLE]
    n_workers = options.threads or best_workers(sample)
    with workers(n_workers) as spread:
        race = Race(spread, full=options.full)
        total = _full(race, grid) if options.full else _sampled(race, sample)
    total[0] += rules_time
    _print_result(total, race, n_workers, options)
    _print_split(sample)


def _full(race: Race, grid: dict) -> np.ndarray:
    """Cost of the whole grid, block by block."""
    total = np.zeros((3, 2))
    for (n_rules, width), blocks in grid.items():
        costs = race.run(blocks)
        ours, products, plain = costs[:, 0]
        print(
            f"K={n_rules} h={width:<5g} ours {ours:5.1f} s, "
            f"products {products:5.1f} s, plain {plain:5.1f} s",
            flush=True,
        )
        total += costs
    return total


def _sampled(race: Race, sample: list[Block]) -> np.ndarray:
    """The best of some rounds, for the whole grid.

    Other work on the machine only ever adds time.
    """
    best = np.min([race.run(sample) for _ in range(ROUNDS)], axis=0)
    return best * len(RULES) * len(WIDTHS) * N_FOLDS / len(sample)


def _print_result(
    total: np.ndarray, race: Race, n_workers: int, options: Options
) -> None:
    how = f"best of {ROUNDS} rounds over 4 of 40 blocks, times 10"
    if options.full:
        how = "all 40 blocks"
    print(f"{len(SETTINGS) * 8} settings × {N_FOLDS} folds ({how})")
    _, products, plain = total[:, 0]
    names = ("ours", "products alone", "plain loop")
    cores = (n_workers, n_workers, 1)
    rows = []
    for name, n_cores, (wall, busy) in zip(names, cores, total.tolist(), strict=True):
        rows.append((name, n_cores, busy, wall, wall / products, plain / wall))
    print_table(
        ("", "cores", "core-seconds", "seconds", "/ products", "speed-up on plain"),
        rows,
    )
    print(
        f"compared on {race.n_compared} runs of the plain loop: {race.n_other_steps} "
        f"other step counts, metrics within {race.difference:.1g}; "
        "wanted: ours / products at most 1.5, speed-up at least 6"
    )
    if race.n_other_steps or race.difference > SAME:
        raise SystemExit("ours and the plain loop do not give the same numbers")


def _print_split(sample: list[Block]) -> None:
    """Where our time goes, from a profile of one share of each block on one core."""
    profile = cProfile.Profile()
    with threadpool_limits(1, user_api="blas"):
        for block in sample:
            profile.runcall(solve_share, Share(block, 1.0))
    seconds = {}
    for (file, _, function), entry in pstats.Stats(profile).stats.items():
        seconds[os.path.basename(file), function] = entry[3]
    whole = seconds["cal500_grid.py", "solve_share"]
    parts = {
        "products": ("algorithm1.py", "_multiply"),
        "steps": ("algorithm1.py", "step"),
        "stop-loss": ("algorithm1.py", "loss"),
        "metrics": ("ranking.py", "five_metrics"),
    }
    shown = {name: seconds[place] / whole for name, place in parts.items()}
    shown["rest"] = 1 - sum(shown.values())
    listed = ", ".join(f"{name} {share:.0%}" for name, share in shown.items())
    print(f"ours, share of time: {listed}")
