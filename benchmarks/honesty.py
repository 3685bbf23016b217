"""Are the honest numbers honest? What a fit says of itself, next to the truth.

Tables are drawn from a known law: noise, weak and strong signals, rare labels, rows in
triplicate (whole groups are left out), and cases that weigh five times as much. What a
fit says of itself (leave-one-out) is compared with what its model does on 20,000 fresh
rows of the same law:

* probabilities: their mean in the rows of the table and in fresh rows, next to the
  rate of the table, and the log loss of fresh rows next to that of a constant;
* AUC and AP with their 95 % intervals, and how often these hold the truth. The AP of
  few rows in random order is above the rate (20 cases in 100 rows: .234), and a review
  compares with that: what this adds is taken away before AP is compared with the truth;
* thresholds for F1: how many cases are found and how many alarms are right, counted in
  folds, next to what fresh rows give;
* statements of a short model: how often their ± holds the number that the same
  statements would have if they were fitted to the law itself. There is no upper limit:
  numbers are drawn towards 0, the more so the less there is to find, and ± reaches to
  where they would be without that, so on noise it always holds 0;
* stability: of features that nine of ten refits would choose again, how many a fresh
  table chooses.

± is one standard error over tables. A cell misses a limit if it is beyond it, "perhaps"
if by less than two of them. Without ``--full`` there are 40 tables per cell, and 120
where they are small, which takes some five minutes of one processor, else 400.
``--only noise`` has the cells of one signal, ``weak`` and ``strong`` the others.
"""

import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit
from threadpoolctl import threadpool_limits

from benchmarks import Options, print_table
from mltsk import MLTSKClassifier, evaluate
from mltsk.core.worth import Worth
from mltsk.metrics import IntervalEstimate, proportion_interval
from mltsk.probabilities import probabilities_of

N_FEATURES = 10
N_FRESH_ROWS = 20_000
SMALL_ROWS = 400  # tables up to here are quick to fit
TABLES_OF_LARGE = 40
TABLES_OF_SMALL = 120
TABLES_WITH_FULL = 400
MIN_CASES = 2  # tables with fewer are drawn again
# Of the first table: widths of intervals were looked at on tables with lower ones.
FIRST_SEED = 5_000
JITTER = 0.05  # between the rows of a group, where features have a deviation of 1
SHORT_STATEMENTS = 5
OFTEN_CHOSEN = 0.9  # of the refits
NEWTON_STEPS = 12
OF_SHORT_MODELS = ("lines_held", "stable", "stable_again")
LOG_LOSS_MARGIN = 0.005  # by which a model may be worse than a constant

# Lengths of the coefficients of a logistic law with three features: an AUC of .64, .80.
SIGNALS = {"noise": 0.0, "weak": 0.55, "strong": 1.35}

# What must hold of each cell.
MAX_RATE_ERROR = 0.02  # in every table
MAX_AUC_BIAS = 0.02
MAX_AP_BIAS = 0.03
MAX_GROUP_BIAS = 0.03
COVERAGE = (0.90, 0.98)
MAX_FOUND_ON_NOISE = 0.04
MAX_COUNT_BIAS = 0.05  # of sensitivity and precision


@dataclass(frozen=True)
class Cell:
    """A law that tables are drawn from, and how they are drawn."""

    signal: str
    n_rows: int
    rate: float
    n_labels: int = 1
    rows_per_group: int = 1
    case_weight: float = 1.0

    @property
    def name(self) -> str:
        """How a row of a printed table begins."""
        text = f"{self.signal} {self.rate:.0%}, {self.n_rows}"
        if self.n_labels > 1:
            text += f", {self.n_labels} labels"
        if self.rows_per_group > 1:
            text += f" in groups of {self.rows_per_group}"
        if self.case_weight != 1:
            text += f", cases weigh {self.case_weight:g}"
        return text

    @property
    def is_noise(self) -> bool:
        """Whether labels have nothing to do with features."""
        return SIGNALS[self.signal] == 0

    def n_tables(self, full: bool) -> int:
        """How many tables are drawn."""
        if full:
            return TABLES_WITH_FULL
        return TABLES_OF_SMALL if self.n_rows <= SMALL_ROWS else TABLES_OF_LARGE


CELLS = (
    Cell("noise", 100, 0.2),
    Cell("noise", 300, 0.2),
    Cell("noise", 1_000, 0.2),
    Cell("noise", 400, 0.05),
    Cell("noise", 300, 0.2, n_labels=4),
    Cell("weak", 100, 0.05),
    Cell("weak", 400, 0.05),
    Cell("weak", 200, 0.2),
    Cell("weak", 800, 0.2),
    Cell("strong", 200, 0.2),
    Cell("strong", 800, 0.2),
    Cell("strong", 600, 0.03),
    Cell("noise", 300, 0.2, rows_per_group=3),
    Cell("weak", 300, 0.2, rows_per_group=3),
    Cell("noise", 300, 0.2, case_weight=5),
    Cell("weak", 300, 0.2, case_weight=5),
)


def run(options: Options) -> None:
    with Workers(options.threads or 2) as map_tables:
        results = {}
        for number, cell in enumerate(CELLS):
            if options.only not in (None, cell.signal):
                continue
            seeds = FIRST_SEED + np.arange(cell.n_tables(options.full))
            of_tables = map_tables(partial(judge_table, cell, number), seeds)
            result = pd.DataFrame(chain.from_iterable(of_tables))
            results[cell] = result
            sentences = "; ".join(missed_limits(cell, result)) or "holds"
            print(f"  {cell.name}: {sentences}", flush=True)
    print_results(results)


class Workers:
    """Processes with one thread each."""

    def __init__(self, n_processes: int) -> None:
        os.environ["MLTSK_THREADS"] = "1"
        self._pool = ProcessPoolExecutor(n_processes, initializer=_one_thread)

    def __enter__(self) -> Callable[..., Iterator]:
        return self._pool.map

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)


def _one_thread() -> None:
    warnings.simplefilter("ignore")
    threadpool_limits(1)


# tables -------------------------------------------------------------------------------


@dataclass(frozen=True)
class DrawnTable:
    """Rows of a law: features, labels (n, L), groups and weights (n,)."""

    X: np.ndarray
    Y: np.ndarray
    groups: np.ndarray | None
    weights: np.ndarray | None


def draw_table(cell: Cell, n_rows: int, rng: np.random.Generator) -> DrawnTable:
    """Draw rows; those of a group have the same labels and nearly the same features."""
    n_groups = -(-n_rows // cell.rows_per_group)
    X = rng.standard_normal((n_groups, N_FEATURES))
    chances = expit(intercept(cell) + X @ coefficients(cell))
    Y = (rng.random((n_groups, cell.n_labels)) < chances[:, None]).astype(float)
    groups = None
    if cell.rows_per_group > 1:
        groups = np.repeat(np.arange(n_groups), cell.rows_per_group)[:n_rows]
        X = X[groups] + JITTER * rng.standard_normal((n_rows, N_FEATURES))
        Y = Y[groups]
    weights = None
    if cell.case_weight != 1:
        weights = np.where(Y.any(axis=1), cell.case_weight, 1.0)
    return DrawnTable(X, Y, groups, weights)


def draw_fitted_table(cell: Cell, rng: np.random.Generator) -> DrawnTable:
    """A table to fit to: one in which every label has some cases."""
    table = draw_table(cell, cell.n_rows, rng)
    while table.Y.sum(axis=0).min() < MIN_CASES:
        table = draw_table(cell, cell.n_rows, rng)
    return table


def coefficients(cell: Cell) -> np.ndarray:
    """Those of the features (10,) in the log-odds of a law."""
    coef = np.zeros(N_FEATURES)
    coef[:3] = SIGNALS[cell.signal] / np.sqrt(3)
    return coef


def intercept(cell: Cell) -> float:
    """The log-odds at which a law has its rate."""
    signal = SIGNALS[cell.signal]
    scores = signal * np.sqrt(2) * np.polynomial.hermite.hermgauss(60)[0]
    shares = np.polynomial.hermite.hermgauss(60)[1] / np.sqrt(np.pi)
    return brentq(lambda a: shares @ expit(a + scores) - cell.rate, -12, 12)


# one table ----------------------------------------------------------------------------


def judge_table(cell: Cell, number: int, seed: int) -> list[dict[str, float]]:
    """What a fit says and what is true, a dict per label."""
    rng = np.random.default_rng([number, seed])
    table = draw_fitted_table(cell, rng)
    fresh = draw_table(cell, N_FRESH_ROWS, rng)
    clf = MLTSKClassifier(threshold="f1")
    clf.fit(table.X, table.Y, sample_weight=table.weights, groups=table.groups)
    worth = clf.fit_record_.judged_labels
    given = clf.fit_record_.given_by_folds("f1")
    of_short = judge_short_model(cell, clf, rng)
    scores = log_odds(clf, fresh.X)
    told = evaluate(table.Y, clf.loo_scores_, predictions=given, per_label=True)
    true = evaluate(
        fresh.Y, scores, predictions=scores >= clf.system_.thresholds, per_label=True
    )
    results = []
    for j in range(cell.n_labels):
        result = dict(of_short)
        for figure in ("AP", "AUC", "sensitivity", "precision"):
            result[f"told_{figure}"] = told[figure].iloc[j]
            result[f"true_{figure}"] = true[figure].iloc[j]
        rate = np.average(table.Y[:, j], weights=table.weights)
        result |= judge_intervals(worth, j, result)
        result["told_AP_less_chance"] = less_chance(worth, j)
        result["true_AP_less_chance"] = result["true_AP"]
        chances = probabilities_of(scores[:, j])
        result["fresh_rate_error"] = np.average(chances, weights=fresh.weights) - rate
        own_chances = probabilities_of(log_odds(clf, table.X)[:, j])
        result["rate_error"] = np.average(own_chances, weights=table.weights) - rate
        result["excess_loss"] = excess_loss(fresh, j, scores[:, j], rate)
        results.append(result)
    return results


def log_odds(clf: MLTSKClassifier, X: np.ndarray) -> np.ndarray:
    """Log-odds (n, L) of rows."""
    distances = clf.decision_function(X).reshape(len(X), -1)
    return distances + clf.system_.thresholds


def less_chance(worth: Worth, j: int) -> float:
    """The AP of a label less what guessing has above the rate in so few rows.

    It is on the same way from guessing to perfect.
    """
    rate = worth.n_cases[j] / worth.n_observed[j]
    missing = (1 - worth.AP[j, 0]) / (1 - worth.guessed_AP[j])
    return 1 - (1 - rate) * missing


def judge_intervals(worth: Worth, j: int, result: dict[str, float]) -> dict[str, float]:
    """Whether intervals hold the truth, and whether the label is said to be found."""
    _, ap_low, ap_high = worth.AP[j]
    _, auc_low, auc_high = worth.AUC[j]
    return {
        "AP_held": float(ap_low <= result["true_AP"] <= ap_high),
        "AUC_held": float(auc_low <= result["true_AUC"] <= auc_high),
        "AUC_above": float(auc_low > result["true_AUC"]),
        "found": float(worth.is_better_than_guessing[j]),
    }


def excess_loss(fresh: DrawnTable, j: int, scores: np.ndarray, rate: float) -> float:
    """Log loss on fresh rows less that of a constant, the rate of the table.

    Rows count by their weights: these are what probabilities are about.
    """
    y = fresh.Y[:, j]

    def log_loss(chances: np.ndarray) -> float:
        losses = -np.log(np.where(y > 0, chances, 1 - chances))
        return float(np.average(losses, weights=fresh.weights))

    return log_loss(probabilities_of(scores)) - log_loss(np.full(len(y), rate))


def judge_short_model(
    cell: Cell, clf: MLTSKClassifier, rng: np.random.Generator
) -> dict[str, float]:
    """How often ± of a short model holds the truth, and what would be chosen again.

    The first label of small tables is looked at.
    """
    if cell.n_rows > SMALL_ROWS:
        return {}
    short = clf.shorten(SHORT_STATEMENTS)
    return judge_statements(cell, short, rng) | judge_stability(cell, short, rng)


def judge_statements(
    cell: Cell, short: MLTSKClassifier, rng: np.random.Generator
) -> dict[str, float]:
    """In how many of the straight lines ± holds their true number."""
    shapes = short.rules_.general[0].shapes
    if not shapes:
        return {}
    fresh = draw_table(cell, N_FRESH_ROWS, rng)
    columns = [np.ones(len(fresh.X))]
    for shape in shapes:
        x = fresh.X[:, int(shape.feature.removeprefix("x"))]
        columns.append(np.interp(x, shape.x, shape.y) / np.ptp(shape.y))
    true_numbers = numbers_of_law(cell, fresh, np.stack(columns))[1:]
    held = []
    for shape, number in zip(shapes, true_numbers, strict=True):
        if len(shape.x) == 2:  # the ± of a line that bends is that of a part of it
            held.append(abs(np.ptp(shape.y) - number) <= shape.error)
    return {"lines_held": np.mean(held)} if held else {}


def numbers_of_law(cell: Cell, fresh: DrawnTable, columns: np.ndarray) -> np.ndarray:
    """Numbers (q,) of columns (q, n) that give the chances of a law best."""
    chances = expit(intercept(cell) + fresh.X @ coefficients(cell))
    weights = np.ones(len(chances))
    if fresh.weights is not None:
        # a case weighs more, so it is as if there were more of them
        weights = 1 + (cell.case_weight - 1) * chances
        chances = cell.case_weight * chances / weights
    numbers = np.zeros(len(columns))
    numbers[0] = logit(np.average(chances, weights=weights))
    for _ in range(NEWTON_STEPS):
        p = expit(numbers @ columns)
        hessian = (columns * (weights * p * (1 - p))) @ columns.T
        gradient = columns @ (weights * (chances - p))
        numbers = numbers + np.linalg.lstsq(hessian, gradient, rcond=1e-10)[0]
    return numbers


def judge_stability(
    cell: Cell, short: MLTSKClassifier, rng: np.random.Generator
) -> dict[str, float]:
    """Of the features of a short model, how many are said to be chosen again.

    Also how many of those a fresh table of the same size chooses.
    """
    used = used_features(short)
    certainty = short.certainty_
    if not len(used) or certainty is None or certainty.chosen is None:
        return {}
    shares = certainty.chosen[used, 0] / certainty.folds
    stable = used[shares >= OFTEN_CHOSEN]
    again = np.nan
    if len(stable):
        other = draw_fitted_table(cell, rng)
        fresh = MLTSKClassifier(max_statements=SHORT_STATEMENTS)
        fresh.fit(other.X, other.Y, sample_weight=other.weights, groups=other.groups)
        again = np.isin(stable, used_features(fresh)).mean()
    return {"stable": len(stable) / len(used), "stable_again": again}


def used_features(clf: MLTSKClassifier) -> np.ndarray:
    """Features that a short model has a term of, for its first label."""
    has_number = clf.general_coef_[:, 0] != 0
    return np.unique(clf.terms_.feature[has_number])


# results ------------------------------------------------------------------------------


def print_results(results: dict[Cell, pd.DataFrame]) -> None:
    """Print a table of probabilities, one of rankings, one of counts, and what misses.

    ``results`` are those of each cell.
    """
    pairs = list(results.items())
    print_table(
        [
            *("probabilities", "tables", "rate error", "worst"),
            *("on fresh rows", "worst", "log loss - constant's"),
        ],
        [probability_row(cell, result) for cell, result in pairs],
    )
    print()
    print_table(
        [
            *("rankings", "AUC told", "true", "held", "below interval"),
            *("AP told", "less chance", "true", "held"),
        ],
        [ranking_row(cell, result) for cell, result in pairs],
    )
    print()
    print_table(
        [
            *("told", "found", "sens.", "true", "precision", "true"),
            *("± holds", "stable", "again"),
        ],
        [told_row(cell, result) for cell, result in pairs],
    )
    print()
    misses = []
    for cell, result in pairs:
        for sentence in missed_limits(cell, result):
            misses.append([cell.name, sentence])
    if misses:
        print_table(["cell", "misses"], misses)
    else:
        print("All limits hold.")


def probability_row(cell: Cell, result: pd.DataFrame) -> list[object]:
    row: list[object] = [cell.name, len(result)]
    for error in (result["rate_error"], result["fresh_rate_error"]):
        row += [signed(error), f"{error.abs().max():.3f}"]
    return [*row, signed(result["excess_loss"])]


def ranking_row(cell: Cell, result: pd.DataFrame) -> list[object]:
    return [
        cell.name,
        bias_text(result, "AUC"),
        share(result["true_AUC"]),
        share(result["AUC_held"]),
        share(result["AUC_above"]),
        share(result["told_AP"]),
        bias_text(result, "AP_less_chance"),
        share(result["true_AP"]),
        share(result["AP_held"]),
    ]


def told_row(cell: Cell, result: pd.DataFrame) -> list[object]:
    return [
        cell.name,
        share(result["found"]),
        bias_text(result, "sensitivity"),
        share(result["true_sensitivity"]),
        bias_text(result, "precision"),
        share(result["true_precision"]),
        *[share(result[name]) if name in result else "" for name in OF_SHORT_MODELS],
    ]


def share(values: pd.Series) -> str:
    mean = values.mean()
    return "" if np.isnan(mean) else f"{mean:.3f}"


def signed(values: pd.Series) -> str:
    return f"{values.mean():+.3f} ± {values.sem():.3f}"


def bias_text(result: pd.DataFrame, figure: str) -> str:
    """The mean of what was told, and the standard error of told - true."""
    error = bias(result, figure).sem()
    return f"{result[f'told_{figure}'].mean():.3f} ± {error:.3f}"


def bias(result: pd.DataFrame, figure: str) -> pd.Series:
    return result[f"told_{figure}"] - result[f"true_{figure}"]


def missed_limits(cell: Cell, result: pd.DataFrame) -> list[str]:
    """What does not hold of a cell; "perhaps" if it may by two standard errors."""
    misses = []
    for rows, name in (("its own", "rate_error"), ("fresh", "fresh_rate_error")):
        worst = result[name].abs().max()
        if cell.is_noise and worst > MAX_RATE_ERROR:
            sentence = f"mean probability of {rows} rows off by {worst:.3f} in a table"
            misses.append(sentence)
    limits = {
        "AUC": MAX_AUC_BIAS,
        "AP_less_chance": MAX_AP_BIAS,
        "sensitivity": MAX_COUNT_BIAS,
        "precision": MAX_COUNT_BIAS,
    }
    if cell.rows_per_group > 1:
        limits |= {"AUC": MAX_GROUP_BIAS, "AP_less_chance": MAX_GROUP_BIAS}
    for figure, limit in limits.items():
        values = bias(result, figure)
        words = figure.replace("_", " ")
        sentence = f"{words} told {values.mean():+.3f} off the truth"
        misses += miss(sentence, abs(values.mean()), limit, values.sem())
    for figure in ("AP", "AUC"):
        held = proportion_interval(result[f"{figure}_held"].sum(), len(result))
        sentence = f"interval of {figure} holds the truth in {held.value:.0%}"
        if held.value < COVERAGE[0]:
            misses += miss(sentence, -held.value, -COVERAGE[0], half_width(held) / 2)
        else:
            misses += miss(sentence, held.value, COVERAGE[1], half_width(held) / 2)
    if "lines_held" in result:
        lines = result["lines_held"].dropna()
        sentence = f"± of statements holds the truth in {lines.mean():.0%}"
        misses += miss(sentence, -lines.mean(), -COVERAGE[0], lines.sem())
    if cell.is_noise:
        found = proportion_interval(result["found"].sum(), len(result))
        sentence = f"told as found in {found.value:.0%} of tables"
        misses += miss(sentence, found.value, MAX_FOUND_ON_NOISE, half_width(found) / 2)
    loss = result["excess_loss"]
    sentence = f"log loss {loss.mean():+.3f} above that of a constant"
    misses += miss(sentence, loss.mean(), LOG_LOSS_MARGIN, loss.sem())
    return misses


def miss(sentence: str, value: float, limit: float, error: float) -> list[str]:
    """The sentence if a value is above a limit, and whether that may be chance."""
    if value <= limit:
        return []
    return [sentence if value - 2 * error > limit else f"perhaps {sentence}"]


def half_width(interval: IntervalEstimate) -> float:
    """Half of the width of an interval."""
    return (interval.high - interval.low) / 2
