"""The whole grid of Table II for ML-TSK FS (4,000 settings, five folds) next to a plain loop, set by set.

Ours is timed on one fold and a few numbers of rules (all of both with ``--full``) and the plain loop on a few settings
of those; both are scaled up to the whole grid. Hours are of one core: `mltsk reproduce` shares the work out over all.
As there, steps are made in single precision; a second table says what that changes, from one fold and two rules.

Then all nine methods on the five sets of fewer than 700 rows, each with its whole grid, as `mltsk reproduce` does them:
the pieces of work of one fold, data and metrics included, times five. C2AE's eleven settings cost the same, so one of
them stands for all unless ``--full`` is given. The goal is 30 minutes on two cores. With ``--full`` the same follows
for the four sparse sets with the grid "fast" (a quarter of an hour for the benchmark itself); their goal is an hour.
"""

import time
from itertools import product

import numpy as np

from benchmarks import Options, has_data, print_table
from benchmarks._plain_loop import plain_algorithm1, plain_metrics
from mltsk import load_dataset
from mltsk.core.clustering import fuzzy_c_means, variances
from mltsk.core.fuzzymap import fuzzy_features
from mltsk.core.membership import authors_widths
from mltsk.metrics import five_metrics
from mltsk.paper.experiments.definition import section_iv
from mltsk.paper.experiments.execute import dataset, execute, minmax, sliced_folds
from mltsk.paper.experiments.reproduce import plan
from mltsk.paper.experiments.store import Cell
from mltsk.paper.methods import PaperMLTSK

DENSE = ("flags", "emotions", "cal500", "birds", "image", "yeast", "scene")
SMALL = ("flags", "emotions", "cal500", "birds", "image")
SPARSE = ("bibtex", "corel16k1", "rcv1s1", "rcv1s2")
RULES = (2, 5, 8)  # evenly spread over 1 to 10, whose costs grow faster than linearly
GOAL, SPARSE_GOAL = (
    30,
    60,
)  # minutes on two cores: all nine methods, whole grids on SMALL, "fast" ones on SPARSE sets
SAMPLED = 4  # settings of the plain loop at each number of rules


def run(options: Options) -> None:
    if not has_data():
        return
    rows, totals, minutes = [], np.zeros(2), {}
    for name in DENSE:
        data = load_dataset(name)
        Z, Y = minmax(data.X, data.X), data.Y.astype(float)
        ours, plain = np.array([_times(Z, Y, rules) for rules in _rules(options)]).T
        folds = 5 * 10 / len(_rules(options))
        hours = np.array([ours.sum(), plain.sum()]) * folds / 3600
        totals += hours
        minutes[name] = 60 * hours[0]
        rows.append(
            [
                name,
                f"{60 * hours[0]:.1f}",
                f"{hours[1]:.1f}",
                f"{hours[1] / hours[0]:.0f} x",
            ]
        )
    rows.append(
        [
            "all",
            f"{60 * totals[0]:.1f}",
            f"{totals[1]:.1f}",
            f"{totals[1] / totals[0]:.0f} x",
        ]
    )
    print_table(["data", "ours, minutes", "plain loop, hours", "ratio"], rows)
    print("\nSingle against double precision: 400 settings with two rules on one fold")
    header = [
        "data",
        "AP apart by more than .001",
        "most",
        "mean AP apart",
        "best AP apart",
    ]
    print_table(header, [_against_double(name) for name in DENSE])
    print(
        "\nAll nine methods with their whole grids on the sets of fewer than 700 rows, minutes of one core"
    )
    others = _minutes(section_iv(), SMALL, options, leave_out="ml-tsk-fs")
    _print_methods(
        {**others, "ml-tsk-fs": [minutes[name] for name in SMALL]}, SMALL, GOAL
    )
    if options.full:
        print(
            '\nAll nine methods with the grid "fast" on the sparse sets, minutes of one core'
        )
        _print_methods(
            _minutes(section_iv().model_copy(update={"grid": "fast"}), SPARSE, options),
            SPARSE,
            SPARSE_GOAL,
        )


def _print_methods(
    minutes: dict[str, list[float]], sets: tuple[str, ...], goal: int
) -> None:
    minutes = {**minutes, "all": np.sum(list(minutes.values()), axis=0).tolist()}
    print_table(
        ["method", *sets, "all"],
        [[key, *(f"{m:.2f}" for m in [*v, sum(v)])] for key, v in minutes.items()],
    )
    print(
        f"\nThat is {sum(minutes['all']) / 2:.0f} minutes on two cores; the goal is {goal}."
    )


def _minutes(
    definition, names: tuple[str, ...], options: Options, leave_out: str = ""
) -> dict[str, list[float]]:
    """Minutes of the paper's methods on some sets, from the cells of one fold."""
    sets = {data.name: data for data in definition.datasets if data.name in names}
    methods = {
        method.key: method
        for method in definition.methods
        if method.paper and method.key != leave_out
    }
    shapes = {
        name: (*dataset(data).X.shape, dataset(data).Y.shape[1])
        for name, data in sets.items()
    }
    minutes = {key: dict.fromkeys(names, 0.0) for key in methods}
    for cell in plan(definition, shapes, dict.fromkeys(names, "")):
        if cell.method in methods and (share := _share(cell, options)):
            outcome = execute(cell, sets[cell.dataset], methods[cell.method])
            if outcome.error:
                raise RuntimeError(f"{cell}: {outcome.error}")
            minutes[cell.method][cell.dataset] += outcome.cpu_seconds * share / 60
    return {key: list(by_set.values()) for key, by_set in minutes.items()}


def _share(cell: Cell, options: Options) -> int:
    """How many cells of this cost it stands for: 5 folds, and 11 settings of C2AE; 0 if another stands for it."""
    if cell.fold or (
        cell.method == "c2ae" and not options.full and cell.part != "alpha=1.0"
    ):
        return 0
    return 55 if cell.method == "c2ae" and not options.full else 5


def _rules(options: Options) -> tuple[int, ...]:
    return tuple(range(1, 11)) if options.full else RULES


def _times(Z: np.ndarray, Y: np.ndarray, n_rules: int) -> tuple[float, float]:
    """Processor seconds of one fold and one number of rules with all their settings: ours, and the plain loop's."""
    fold = sliced_folds(len(Y), 5)[0]
    start = time.process_time()
    _average_precisions(Z, Y, n_rules, "single")
    ours = time.process_time() - start
    return ours, _plain_seconds(Z, Y, fold, n_rules)


def _average_precisions(
    Z: np.ndarray, Y: np.ndarray, n_rules: int, precision: str
) -> np.ndarray:
    """AP of all settings with one number of rules, on the first fold; the other metrics are computed with it."""
    fold, grid = (
        sliced_folds(len(Y), 5)[0],
        {**PaperMLTSK.PAPER_GRID, "n_rules": [n_rules]},
    )
    points = PaperMLTSK(precision=precision).authors_path(Z, Y, lambda K, h: fold, grid)
    return np.array(
        [
            five_metrics(Y[test], point.scores, convention="paper")[0]
            for point, test in points
        ]
    )


def _against_double(name: str) -> list[object]:
    data = load_dataset(name)
    Z, Y = minmax(data.X, data.X), data.Y.astype(float)
    single, double = (
        _average_precisions(Z, Y, 2, precision) for precision in ("single", "double")
    )
    apart = np.abs(single - double)
    far, best = int((apart > 1e-3).sum()), single.max() - double.max()
    return [
        name,
        f"{far} of {len(apart)}",
        f"{apart.max():.4f}",
        f"{apart.mean():.1e}",
        f"{best:+.1e}",
    ]


def _plain_seconds(
    Z: np.ndarray, Y: np.ndarray, fold: tuple[np.ndarray, np.ndarray], n_rules: int
) -> float:
    train, test = fold
    found = fuzzy_c_means(Z, n_rules, fuzzifier=2.0)
    spread = variances(Z, found.centers, found.memberships, np.ones(len(Z)))
    settings = list(
        product((1.0, 10.0, 100.0), (0.01, 1.0, 100.0), (0.01, 1.0, 100.0), (0.1, 10.0))
    )
    picked = np.random.default_rng(0).choice(len(settings), SAMPLED, replace=False)
    full = np.flatnonzero(
        (Y[test].sum(axis=1) > 0) & (Y[test].sum(axis=1) < Y.shape[1])
    )
    start = time.process_time()
    for h, alpha, beta, gamma in (settings[i] for i in picked):
        G = fuzzy_features(
            Z, found.centers, authors_widths(spread, h), underflow="authors"
        )
        W, _ = plain_algorithm1(G[train], Y[train], alpha, beta, gamma)
        plain_metrics(Y[test][full], (G[test] @ W)[full])
    return (time.process_time() - start) / SAMPLED * 400
