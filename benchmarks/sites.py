"""A model at another site, and one model of many sites: visits, stops and pbc.

Adaptation: the old model is fitted to 8,000 rows of all other sites (years of visits,
precincts of stops), then carried to some rows of one site, and judged on the half of
that site that nobody learned from; people of visits are in one half only. Macro AP and
log loss, mean over sites and draws. Joined: the largest difference between log-odds of
the joined model and those of a ridge fit to all rows, bytes that each site sends, and
macro AP on a third of the rows that nobody learned from. The files are in the folder
tables of MLTSK_DATA.
"""

import os
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import Options, print_markdown
from mltsk import MLTSKClassifier, evaluate, read_table
from mltsk.adapting import Adaptation, RefitScores
from mltsk.probabilities import probabilities_of
from mltsk.rows.elsewhere import RowsElsewhere
from mltsk.sites import Plan, SiteSums, joined, summary_of, write_sums
from mltsk.sites.sums import numbers_of_table
from mltsk.tables import DataTable

SIZES = (10, 30, 100, 300, 1000, None)  # rows of the new site; None for all
OLD_ROWS = 8_000
DRAWS = 2
WAYS = ("as it is", "recalibrated", "refitted", "adapted")
LABELS = {
    "pbc": ["ascites", "hepatomegaly", "spiders", "edema"],
    "visits": ["out of work", "self employed", "doctor", "many visits", "hospital"],
    "stops": ["person searched", "vehicle searched", "citation"],
}
SITE_COLUMN = {"visits": "year", "stops": "precinct"}
PERSON_COLUMN = {"visits": "person"}
LEFT_OUT = {"pbc": ["patient"], "visits": [], "stops": ["stop", "date"]}
PBC_SITES = 5


@dataclass(frozen=True)
class Table:
    """Features, labels, and the site and person of each row."""

    X: pd.DataFrame
    Y: pd.DataFrame
    site: np.ndarray
    person: np.ndarray


def run(options: Options) -> None:
    folder = Path(os.environ.get("MLTSK_DATA", "../shared/datasets")) / "tables"
    if not folder.is_dir():
        print(f"There is no folder {folder}: nothing to measure.")
        return
    warnings.simplefilter("ignore")
    draws = 2 * DRAWS if options.full else DRAWS
    for name in SITE_COLUMN:
        adaptation(name, read(folder, name), draws)
    joining(folder)


def read(folder: Path, name: str) -> Table:
    path = folder / f"{name}.csv"
    if not path.exists():
        path = folder / f"{name}.csv.gz"
    frame = pd.read_csv(path)
    labels = frame[LABELS[name]].replace({"YES": 1, "NO": 0, "yes": 1, "no": 0})
    site = np.arange(len(frame)) % PBC_SITES
    if name in SITE_COLUMN:
        site = frame[SITE_COLUMN[name]].to_numpy()
    person = np.arange(len(frame))
    if name in PERSON_COLUMN:
        person = frame[PERSON_COLUMN[name]].to_numpy()
    others = [*LABELS[name], *LEFT_OUT[name]]
    for columns in (SITE_COLUMN, PERSON_COLUMN):
        others += [columns[name]] if name in columns else []
    return Table(frame.drop(columns=others), labels.astype(float), site, person)


# adaptation ---------------------------------------------------------------------------


def adaptation(name: str, table: Table, draws: int) -> None:
    results = []
    for size, site, way, ap, loss in measured(table, draws):
        results.append((size or "all", site, way, ap, loss))
    columns = ["rows", "site", "way", "AP", "log loss"]
    frame = pd.DataFrame(results, columns=columns)
    order = [size or "all" for size in SIZES]
    lines = []
    for size in order:
        own = frame[frame["rows"] == size]
        means = own.groupby("way")[["AP", "log loss"]].mean()
        best = means["AP"].drop("adapted").max()
        gap = means["AP"]["adapted"] - best
        cells = [f"{means['AP'][way]:.4f}" for way in WAYS]
        losses = [f"{means['log loss'][way]:.4f}" for way in WAYS]
        lines.append([name, size, *cells, f"{gap:+.4f}", *losses])
    header = ["table", "rows", *(f"AP {way}" for way in WAYS), "adapted less best"]
    print_markdown([*header, *(f"log loss {way}" for way in WAYS)], lines)


def measured(table: Table, draws: int) -> Iterator[tuple]:
    rng = np.random.default_rng(0)
    people = np.unique(table.person)
    is_first = dict(zip(people, rng.random(len(people)) < 0.5, strict=True))
    first = np.array([is_first[person] for person in table.person])
    for site in np.unique(table.site):
        elsewhere = np.flatnonzero((table.site != site) & first)
        rows = np.sort(rng.permutation(elsewhere)[:OLD_ROWS])
        old = fitted(table, rows)
        own = np.flatnonzero((table.site == site) & first)
        test = np.flatnonzero((table.site == site) & ~first)
        for size in SIZES:
            for _ in range(draws if size and size < 1000 else 1):
                chosen = np.sort(rng.permutation(own)[: size or len(own)])
                for way, log_odds in ways(table, old, chosen, test).items():
                    yield size, site, way, *judged(table.Y.iloc[test], log_odds)


def fitted(table: Table, rows: np.ndarray) -> MLTSKClassifier:
    clf = MLTSKClassifier()
    return clf.fit(table.X.iloc[rows], table.Y.iloc[rows], groups=table.person[rows])


def ways(
    table: Table, old: MLTSKClassifier, rows: np.ndarray, test: np.ndarray
) -> dict[str, np.ndarray]:
    X, Y = table.X.iloc[rows], table.Y.iloc[rows]
    groups = table.person[rows]
    test_X = table.X.iloc[test]
    new_rows = RowsElsewhere.read(old, X, Y, None, groups)
    before = scores(old, test_X)
    refit = old._refitted(new_rows)  # one fit serves two ways
    own = None
    if refit is not None:
        own = RefitScores(refit.fit_record_.scores, refit.loo_scores_)
    carried = Adaptation(old.system_, new_rows, own, 0.5)
    found = {"as it is": before, "recalibrated": carried.recalibration.log_odds(before)}
    found["refitted"] = 0 * before  # a label that none of these rows observed
    if refit is not None:
        found["refitted"] = scores(refit, test_X)
    found["adapted"] = found["refitted"]
    if not carried.starts_over:
        found["adapted"] = carried.system().scores(old._samples(test_X))
    return found


def scores(model: MLTSKClassifier, X: pd.DataFrame) -> np.ndarray:
    return model.decision_function(X) + model.system_.thresholds


def judged(Y: pd.DataFrame, log_odds: np.ndarray) -> tuple[float, float]:
    p = np.clip(probabilities_of(log_odds), 1e-6, 1 - 1e-6)
    truth = Y.to_numpy()
    losses = -np.where(truth == 1, np.log(p), np.log(1 - p))
    loss = np.nanmean(np.where(np.isnan(truth), np.nan, losses), axis=0).mean()
    return float(evaluate(Y, p, per_label=True)["AP"].mean()), float(loss)


# joined -------------------------------------------------------------------------------


def joining(folder: Path) -> None:
    lines = []
    for name in ("pbc", "stops"):
        table = read(folder, name)
        for least in (1, 10):
            lines.append([name, *measured_join(name, table, least)])
    print_markdown(
        [
            "table",
            "sites",
            "columns",
            "least people",
            "difference",
            "kB per site",
            "AP joined",
            "AP one fit",
        ],
        lines,
    )


def measured_join(name: str, table: Table, least: int) -> list[object]:
    frame = table.X.join(table.Y)
    is_test = np.random.default_rng(0).random(len(frame)) < 1 / 3
    labels = LABELS[name]
    sites = []
    for site in np.unique(table.site):
        sites.append(frame[(table.site == site) & ~is_test])
    tables = [read_table(rows, labels=labels) for rows in sites]
    plan = Plan.of([summary_of(own, least) for own in tables], curves=True)

    def by_plan(rows: pd.DataFrame) -> DataTable:
        return read_table(rows, labels=list(plan.label_names), kinds=plan.kinds)

    sums = [SiteSums.of(by_plan(rows), plan, least) for rows in sites]
    model = joined(sums)
    whole = by_plan(frame[~is_test])
    test = by_plan(frame[is_test])
    names = list(model.label_names_)
    one = MLTSKClassifier(n_rules=0, n_pairs=0).fit(whole.X, whole.Y[names])
    aps = []
    for fitted_model in (model, one):
        p = fitted_model.predict_proba(test.X)
        aps.append(f"{evaluate(test.Y[names], p, per_label=True)['AP'].mean():.4f}")
    return [
        len(sums),
        plan.design.n_columns,
        least,
        difference(model, whole, plan) if least == 1 else "-",
        kilobytes(sums),
        *aps,
    ]


def kilobytes(sums: list[SiteSums]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        sizes = []
        for number, own in enumerate(sums):
            path = write_sums(own, Path(folder) / f"{number}.sums")
            sizes.append(path.stat().st_size / 1000)
    return f"{min(sizes):.0f} to {max(sizes):.0f}"


def difference(model: MLTSKClassifier, whole: DataTable, plan: Plan) -> str:
    """How far log-odds are from a line of scores of a ridge fit to all rows."""
    numbers = numbers_of_table(whole, plan)
    Phi = plan.design.rows(plan.scale.apply(numbers))
    log_odds = model.decision_function(whole.X)
    largest = 0.0
    for j, name in enumerate(model.label_names_):
        y = whole.Y[name].to_numpy()
        seen = ~np.isnan(y)
        differences = []
        for share in (0.0, 0.3, 1.0):
            weights = weights_of(Phi, whole, plan, share)
            fitted_scores = ridge_scores(Phi * weights, y, seen, model.ridge_)
            line = np.column_stack([np.ones(len(y)), fitted_scores])
            solution = np.linalg.lstsq(line, log_odds[:, j], rcond=None)[0]
            differences.append(np.abs(line @ solution - log_odds[:, j]).max())
        largest = max(largest, min(differences))
    return f"{largest:.0e}"


def weights_of(
    Phi: np.ndarray, whole: DataTable, plan: Plan, share: float
) -> np.ndarray:
    """Roots of the weights of columns, by the rows of the label observed most."""
    most = whole.Y.notna().sum().idxmax()
    variances = Phi[whole.Y[most].notna().to_numpy()].var(axis=0)
    weights = plan.scale.term_weights(variances, share)
    return np.sqrt(np.where(variances < 1e-6, 0.0, weights))


def ridge_scores(
    Phi: np.ndarray, y: np.ndarray, seen: np.ndarray, ridge: float
) -> np.ndarray:
    """Scores of all rows by a ridge fit, from a QR decomposition of rows."""
    centred = Phi[seen] - Phi[seen].mean(axis=0)
    target = y[seen] - y[seen].mean()
    left = np.vstack([centred, np.sqrt(ridge) * np.eye(Phi.shape[1])])
    Q, R = np.linalg.qr(left)
    padded = np.concatenate([target, np.zeros(Phi.shape[1])])
    return Phi @ np.linalg.solve(R, Q.T @ padded)
