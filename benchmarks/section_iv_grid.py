"""The whole grid of Table II for ML-TSK FS next to a plain loop, set by set.

4,000 settings, five folds. Ours is timed on one fold and a few numbers of rules (all of
both with ``--full``) and the plain loop on a few settings of those; both are scaled up
to the whole grid. Hours are of one core: `mltsk reproduce` shares the work out over
all. As there, steps are made in single precision; a second table says what that
changes, from one fold and two rules.

Then all nine methods on the five sets of fewer than 700 rows, each with its whole grid,
as `mltsk reproduce` does them: the pieces of work of one fold, data and metrics
included, times five. C2AE's eleven settings cost the same, so one of them stands for
all unless ``--full`` is given. The goal is 30 minutes on two cores. With ``--full`` the
same follows for the four sparse sets with the grid "fast" (a quarter of an hour for the
benchmark itself); their goal is an hour.
"""

import time
from itertools import product

import numpy as np

from benchmarks import Options, has_data, print_table, processor_timed
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
# Evenly spread over 1 to 10, whose costs grow faster than linearly.
RULES = (2, 5, 8)
# Minutes on two cores for all nine methods: whole grids on SMALL sets, "fast" ones on
# SPARSE sets.
SMALL_GOAL = 30
SPARSE_GOAL = 60
# Settings of the plain loop at each number of rules.
N_PLAIN_SETTINGS = 4


def run(options: Options) -> None:
    if not has_data():
        return
    minutes = _print_ours_and_plain(options)
    print("\nSingle against double precision: 400 settings with two rules on one fold")
    print_table(
        [
            "data",
            "AP apart by more than .001",
            "most",
            "mean AP apart",
            "best AP apart",
        ],
        [_against_double(name) for name in DENSE],
    )
    print(
        "\nAll nine methods with their whole grids on the sets of fewer than 700 rows, "
        "minutes of one core"
    )
    by_method = _minutes(section_iv(), SMALL, options, leave_out="ml-tsk-fs")
    by_method["ml-tsk-fs"] = [minutes[name] for name in SMALL]
    _print_methods(by_method, SMALL, SMALL_GOAL)
    if options.full:
        print(
            '\nAll nine methods with the grid "fast" on the sparse sets, '
            "minutes of one core"
        )
        fast = section_iv().model_copy(update={"grid": "fast"})
        _print_methods(_minutes(fast, SPARSE, options), SPARSE, SPARSE_GOAL)


def _print_ours_and_plain(options: Options) -> dict[str, float]:
    """Hours of the whole grid, ours and the plain loop's; minutes of ours by set."""
    numbers_of_rules = range(1, 11) if options.full else RULES
    runs = 5 * 10 / len(numbers_of_rules)
    rows = []
    minutes = {}
    total = np.zeros(2)
    for name in DENSE:
        data = load_dataset(name)
        Z = minmax(data.X, data.X)
        Y = data.Y.astype(float)
        seconds = np.sum([_seconds(Z, Y, n) for n in numbers_of_rules], axis=0)
        hours = seconds * runs / 3600
        total += hours
        minutes[name] = 60 * hours[0]
        rows.append(_row_of_hours(name, *hours))
    rows.append(_row_of_hours("all", *total))
    print_table(["data", "ours, minutes", "plain loop, hours", "ratio"], rows)
    return minutes


def _row_of_hours(name: str, ours: float, plain: float) -> list[str]:
    return [name, f"{60 * ours:.1f}", f"{plain:.1f}", f"{plain / ours:.0f} x"]


def _print_methods(
    minutes: dict[str, list[float]], sets: tuple[str, ...], goal: int
) -> None:
    total = np.sum(list(minutes.values()), axis=0).tolist()
    rows = []
    for key, by_set in {**minutes, "all": total}.items():
        cells = [f"{value:.2f}" for value in (*by_set, sum(by_set))]
        rows.append([key, *cells])
    print_table(["method", *sets, "all"], rows)
    print(f"\nThat is {sum(total) / 2:.0f} minutes on two cores; the goal is {goal}.")


def _minutes(
    definition, names: tuple[str, ...], options: Options, leave_out: str = ""
) -> dict[str, list[float]]:
    """Minutes of the paper's methods on some sets, from the cells of one fold."""
    sets = {data.name: data for data in definition.datasets if data.name in names}
    methods = {}
    for method in definition.methods:
        if method.paper and method.key != leave_out:
            methods[method.key] = method
    shapes = {}
    for name, data in sets.items():
        shapes[name] = (*dataset(data).X.shape, dataset(data).Y.shape[1])
    minutes = {key: dict.fromkeys(names, 0.0) for key in methods}
    for cell in plan(definition, shapes, dict.fromkeys(names, "")):
        n_alike = _n_alike(cell, options)
        if cell.method in methods and n_alike:
            outcome = execute(cell, sets[cell.dataset], methods[cell.method])
            if outcome.error:
                raise RuntimeError(f"{cell}: {outcome.error}")
            minutes[cell.method][cell.dataset] += outcome.cpu_seconds * n_alike / 60
    return {key: list(by_set.values()) for key, by_set in minutes.items()}


def _n_alike(cell: Cell, options: Options) -> int:
    """How many cells of this cost it stands for; 0 if another stands for it.

    These are 5 folds, and 11 settings of C2AE.
    """
    if cell.fold:
        return 0
    if cell.method != "c2ae" or options.full:
        return 5
    return 55 if cell.part == "alpha=1.0" else 0


def _seconds(Z: np.ndarray, Y: np.ndarray, n_rules: int) -> tuple[float, float]:
    """Processor seconds of one fold and one number of rules with all their settings.

    Ours, and the plain loop's.
    """
    _, ours = processor_timed(_average_precisions, Z, Y, n_rules, "single")
    return ours, _plain_seconds(Z, Y, n_rules)


def _average_precisions(
    Z: np.ndarray, Y: np.ndarray, n_rules: int, precision: str
) -> np.ndarray:
    """AP of all settings with one number of rules, on the first fold.

    The other metrics are computed with it.
    """
    fold = sliced_folds(len(Y), 5)[0]
    grid = PaperMLTSK.PAPER_GRID | {"n_rules": [n_rules]}
    points = PaperMLTSK(precision=precision).authors_path(Z, Y, lambda K, h: fold, grid)
    values = []
    for point, test in points:
        metrics = five_metrics(Y[test], point.scores, convention="paper")
        values.append(metrics[0])
    return np.array(values)


def _against_double(name: str) -> list[object]:
    """How far AP in single precision is from AP in double precision."""
    data = load_dataset(name)
    Z = minmax(data.X, data.X)
    Y = data.Y.astype(float)
    single = _average_precisions(Z, Y, 2, "single")
    double = _average_precisions(Z, Y, 2, "double")
    apart = np.abs(single - double)
    return [
        name,
        f"{(apart > 1e-3).sum()} of {len(apart)}",
        f"{apart.max():.4f}",
        f"{apart.mean():.1e}",
        f"{single.max() - double.max():+.1e}",
    ]


def _plain_seconds(Z: np.ndarray, Y: np.ndarray, n_rules: int) -> float:
    """Processor seconds of the plain loop on 400 settings, from a few of them."""
    train, test = sliced_folds(len(Y), 5)[0]
    clusters = fuzzy_c_means(Z, n_rules, fuzzifier=2.0)
    spread = variances(Z, clusters.centers, clusters.memberships, np.ones(len(Z)))
    weights = (0.01, 1.0, 100.0)
    settings = list(product((1.0, 10.0, 100.0), weights, weights, (0.1, 10.0)))
    rng = np.random.default_rng(0)
    picked = rng.choice(len(settings), N_PLAIN_SETTINGS, replace=False)
    n_labels = Y[test].sum(axis=1)
    judged = np.flatnonzero((n_labels > 0) & (n_labels < Y.shape[1]))
    start = time.process_time()
    for i in picked:
        h, alpha, beta, gamma = settings[i]
        widths = authors_widths(spread, h)
        G = fuzzy_features(Z, clusters.centers, widths, underflow="authors")
        W, _ = plain_algorithm1(G[train], Y[train], alpha, beta, gamma)
        plain_metrics(Y[test][judged], (G[test] @ W)[judged])
    return (time.process_time() - start) / N_PLAIN_SETTINGS * 400
