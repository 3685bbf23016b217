"""What sheets to print are worth: points that add up, and intervals of people.

Points: macro AP of the whole model, of 8 statements per label, and of the same as
points whose largest feature has 5, 10 or 20 of them, all by the same five folds of rows
that were left out (`PointsClassifier.worth_`); groups are kept together. Intervals: the
share of 95 % intervals of new people that hold their true probability, and their width,
over simulated tables whose log-odds are linear (`mltsk.person`).
"""

import warnings

import numpy as np

from benchmarks import Options, has_data, print_table
from benchmarks.growth import tables_folder
from mltsk import MLTSKClassifier, read_table
from mltsk.person import certainty_of_people, interval

MOST_POINTS = (5, 10, 20)
TABLES = {
    "pbc.csv": {"labels": "ascites,hepatomegaly,spiders,edema", "id": "patient"},
    "nhefs.csv": {"labels": 15, "id": "seqn"},
    "crashes.csv.gz": {
        "labels": "dead,belted,deployed",
        "group": "case",
        "drop": "weight",
    },
    "visits.csv.gz": {
        "labels": "out of work,self employed,doctor,many visits,hospital",
        "group": "person",
    },
}
SIMULATIONS = ((200, 6, 1.0), (400, 6, 1.0), (400, 15, 0.5), (1000, 6, 1.0))
N_PEOPLE = 60


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    print_table(
        ["table", "whole model", "8 statements", *(f"{n} points" for n in MOST_POINTS)],
        [points_of(name) for name in TABLES],
    )
    n_tables = 30 if options.full else 10
    print_table(
        ["rows", "features", "strength", "intervals that hold the truth", "width"],
        [held(*simulation, n_tables) for simulation in SIMULATIONS],
    )


def points_of(name: str) -> list[object]:
    """A line of the table on points."""
    table = read_table(tables_folder() / name, **TABLES[name])
    clf = MLTSKClassifier().fit(table.X, table.Y, groups=table.groups)
    worths = [clf.points(max_points=n).worth_ for n in MOST_POINTS]
    reached = [worths[0]["AP_long"], worths[0]["AP_short"]]
    reached += [worth["AP"] for worth in worths]
    return [name.split(".")[0], *(f"{AP.mean():.3f}" for AP in reached)]


def held(n_rows: int, n_features: int, strength: float, n_tables: int) -> list[object]:
    """A line of the table on intervals."""
    is_held, widths = [], []
    for seed in range(n_tables):
        X, Y, _ = simulated(n_rows, n_features, strength, seed)
        people, _, p = simulated(N_PEOPLE, n_features, strength, 10_000 + seed)
        record = MLTSKClassifier().fit(X, Y).fit_record_
        log_odds = record.system().scores(people)
        _, errors = certainty_of_people(record, people, log_odds)
        low, high = interval(log_odds, errors)
        is_held.append((low <= p) & (p <= high))
        widths.append(high - low)
    share = f"{np.mean(is_held):.1%}"
    return [n_rows, n_features, strength, share, f"{np.mean(widths):.2f}"]


def simulated(
    n_rows: int, n_features: int, strength: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, two labels, and their probabilities."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    log_odds = np.column_stack([1.5 * X[:, 0] - X[:, 1], X[:, 2] - 1.5])
    p = 1 / (1 + np.exp(-strength * log_odds))
    return X, (rng.random(p.shape) < p).astype(int), p
