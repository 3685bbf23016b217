"""Tables of a store: where ours is not first, mean ranks, accuracy and cost."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import TABLES, Options, print_markdown
from mltsk.paper.significance import (
    RankComparison,
    critical_difference_diagram,
    friedman,
    nemenyi,
)
from mltsk.text import plural

from .data import DENSE, NAMES, SPARSE
from .data import TABLES as TABLE_NAMES
from .fits import METHODS, OURS, OURS_SHORT
from .measure import version_of
from .results import results_of
from .store import DONE, Store

LEVEL = 0.002
WORST = 1e3  # log loss, or minus any other measure, of a method without a result
SHORT_METHODS = (
    OURS_SHORT,
    "logistic, 12 features",
    "tree, 12 splits",
    "APLR, 12 terms",
)
KINDS = {"dense": DENSE, "sparse": SPARSE, "table": tuple(TABLE_NAMES)}
OTHER_MEASURES = ("macro AP", "AUC", "log loss")
COUNTS = ("no result", "ahead of ours")  # data sets
# What the README shows.
WELL_KNOWN = (
    OURS,
    "BOOMER",
    "LightGBM",
    "logistic regression",
    OURS_SHORT,
)
IN_SHORT = {
    "all": "mean rank",
    "dense": "dense sets",
    "sparse": "sparse sets",
    "table": "tables",
}


def print_tables(store: Store, sets: Sequence[str], options: Options) -> None:
    """Print all tables of what the store has of these data sets."""
    sets = [name for name in sets if any(store.folder.glob(f"*/*/{name}.fold*"))]
    if not sets:
        print(f"{store.folder} has no results.")
        return
    every = results_of(store, sets, all_folds=options.full)
    shown = complete_methods(every, sets)
    say_what_is_missing(every)
    say_what_is_old(every)
    results = every[every["method"].isin(shown)]
    if OURS in shown:
        print("\nWhere ours is not first, and by how much\n")
        print_markdown(*not_first(every))
    print("\nMean ranks; a method without a result on a set is last there\n")
    comparisons = print_ranks(results, shown)
    print_ranks_beside_sparse(every, shown)
    for kind, names in KINDS.items():
        present = [name for name in names if name in sets]
        if present:
            print(f"\n{'Macro AP' if kind == 'table' else 'AP'}: {kind}\n")
            print_markdown(*accuracy(every, complete_methods(every, present), present))
    if OURS in shown:
        print("\nCost next to ours, and what one reads\n")
        print_markdown(*costs(every, list(every["method"].unique())))
    if set(WELL_KNOWN) <= set(shown) and set(NAMES) <= set(sets):
        print("\nIn short\n")
        print_markdown(*in_short(results, shown))
    if options.picture:
        draw(comparisons, options.picture)


def complete_methods(results: pd.DataFrame, sets: Sequence[str]) -> list[str]:
    """Methods with an outcome, if only a reason, on each of these data sets."""
    there = results[results["data"].isin(sets)]
    complete = []
    for method, rows in there.groupby("method", sort=False):
        if (rows["status"] != "").all():
            complete.append(method)
    return complete


def say_what_is_missing(results: pd.DataFrame) -> None:
    """Name methods that are not measured on every data set."""
    for method, rows in results.groupby("method", sort=False):
        n_missing = int((rows["status"] == "").sum())
        if 0 < n_missing < len(rows):
            sets = plural(n_missing, "data set")
            print(f"{method} has no mean rank: {sets} are still to be measured.")


def print_ranks_beside_sparse(results: pd.DataFrame, shown: Sequence[str]) -> None:
    """Print mean ranks without sparse sets, where more methods are measured."""
    beside = results[results["kind"] != "sparse"]
    methods = complete_methods(beside, list(beside["data"].unique()))
    if len(methods) > len(shown):
        print("\nMean ranks without sparse sets\n")
        print_ranks(beside[beside["method"].isin(methods)], methods)


def say_what_is_old(results: pd.DataFrame) -> None:
    """Name our results that another state of the package made."""
    for method in (OURS, OURS_SHORT):
        versions = results.loc[results["method"] == method, "version"]
        measured = versions[versions != ""]
        n_old = int((measured != version_of(method)).sum())
        if n_old:
            print(
                f"{method}: {n_old} of {len(measured)} results were measured with "
                "another state of the package."
            )


def grid(
    results: pd.DataFrame, measure: str, methods: Sequence[str], sets: Sequence[str]
) -> pd.DataFrame:
    """(data sets, methods), NaN where there is no result."""
    table = results.pivot(index="data", columns="method", values=measure)
    return table.loc[list(sets), list(methods)]


def not_first(results: pd.DataFrame) -> tuple[list[str], list[list[object]]]:
    """A row per data set on which another method is ahead of ours."""
    methods = results["method"].unique()
    others = [name for name in methods if name not in (OURS, OURS_SHORT)]
    readable = [name for name in others if is_readable(name)]
    values = grid(results, "first", methods, results["data"].unique())
    behind = (values[others].max(axis=1) - values[OURS]).sort_values(ascending=False)
    rows = []
    for name in behind.index[behind > 0]:
        by_method = values.loc[name]
        row: list[object] = [name, number(by_method[OURS])]
        for group in (others, readable):
            best = by_method[group].max()
            first = by_method[group].idxmax() if best > 0 else ""
            row += [first, number(best), f"{by_method[OURS] - best:+.3f}"]
        rows.append(row)
    header = ["data", "ours", "first of others", "it", "ours − it"]
    return [*header, "first readable of others", "it", "ours − it"], rows


def is_readable(method: str) -> bool:
    return method in METHODS and METHODS[method].is_readable


def print_ranks(
    results: pd.DataFrame, shown: Sequence[str]
) -> dict[str, RankComparison]:
    """Print mean ranks among all, readable and short methods; return the tests."""
    groups = {
        "all": list(shown),
        "readable": [name for name in shown if is_readable(name)],
        "short": [name for name in shown if name in SHORT_METHODS],
    }
    sets = list(results["data"].unique())
    if len(sets) < 2 or len(shown) < 2:
        print("Ranks are of two data sets and two methods at least.")
        return {}
    comparisons = {}
    sentences = []
    for title, methods in groups.items():
        if len(methods) < 2:
            continue
        scores = filled(grid(results, "first", methods, sets), "first")
        test = friedman(scores, greater_is_better=True)
        comparisons[title] = nemenyi(test.mean_ranks, len(sets))
        sentences.append(
            f"- Among {title} methods: {len(methods)} on {len(sets)} data sets, "
            f"critical difference {comparisons[title].critical_difference:.2f}, "
            f"Friedman's p {p_text(test.p_value)}."
        )
    ranks = {title: comparison.mean_ranks for title, comparison in comparisons.items()}
    columns = rank_columns(results, shown, ranks)
    print_markdown(["method", *columns], rank_rows(columns, shown))
    TABLES.append("\n".join(sentences))
    print("\n" + TABLES[-1])
    return comparisons


def p_text(p_value: float) -> str:
    return "< .0001" if p_value < 1e-4 else f"= {p_value:.4f}"


def rank_columns(
    results: pd.DataFrame, shown: Sequence[str], ranks: dict[str, pd.Series]
) -> dict[str, pd.Series]:
    """Mean ranks by group of methods, kind of data, and measure."""
    columns = dict(ranks)
    sets = list(results["data"].unique())
    for kind, names in KINDS.items():
        present = [name for name in names if name in sets]
        if present:
            columns[kind] = mean_ranks(grid(results, "first", shown, present), "first")
    for measure in OTHER_MEASURES:
        columns[measure] = mean_ranks(grid(results, measure, shown, sets), measure)
    values = grid(results, "first", shown, sets)
    has_result = values.notna()
    columns["where it has a result"] = (
        ranks_of(values, "first").where(has_result).mean()
    )
    columns["no result"] = (~has_result).sum()
    if OURS in values:
        columns["ahead of ours"] = values.sub(values[OURS] + LEVEL, axis=0).gt(0).sum()
    return columns


def rank_rows(
    columns: dict[str, pd.Series], shown: Sequence[str]
) -> list[list[object]]:
    """A row per method, the best first."""
    rows = []
    for method in sorted(shown, key=lambda name: columns["all"][name]):
        cells: list[object] = [method]
        for title, values in columns.items():
            if method not in values:
                cells.append("")
            elif title in COUNTS:
                cells.append(int(values[method]))
            else:
                cells.append(f"{values[method]:.1f}")
        rows.append(cells)
    return rows


def mean_ranks(values: pd.DataFrame, measure: str) -> pd.Series:
    return ranks_of(values, measure).mean()


def ranks_of(values: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Ranks on every data set, 1 is best."""
    return filled(values, measure).rank(axis=1, ascending=False)


def filled(values: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Larger is better, and without a result one is last."""
    signed = -values if measure == "log loss" else values
    return signed.fillna(-WORST)


def accuracy(
    results: pd.DataFrame, shown: Sequence[str], sets: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """A row per method; in bold what is first or level with the first."""
    values = grid(results, "first", shown, sets)
    why = grid(results, "why", shown, sets).fillna("failed")
    best = values.max(axis=1)
    rows = []
    for method in mean_ranks(values, "first").sort_values(kind="stable").index:
        cells = [method]
        for name in sets:
            value = values.loc[name, method]
            if np.isnan(value):
                reason = why.loc[name, method]
                cells.append("refused" if reason.startswith("refuses") else reason)
            elif best[name] - value <= LEVEL:
                cells.append(f"**{number(value)}**")
            else:
                cells.append(number(value))
        rows.append(cells)
    return ["method", *sets], rows


def number(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def costs(
    results: pd.DataFrame, shown: Sequence[str]
) -> tuple[list[str], list[list[object]]]:
    """Times as ratios to ours where both have a result, medians of the rest."""
    done = results[results["status"] == DONE].set_index(["method", "data"])
    rows = []
    for method in shown:
        if method not in done.index.get_level_values(0):
            continue
        own = done.loc[method]
        if own["fit_s"].isna().all():
            continue
        ours = done.loc[OURS].reindex(own.index)
        rows.append(
            [
                method,
                own["version"].iloc[0].partition(";")[0],
                ratio(own["fit_s"], ours["fit_s"]),
                ratio(own["predict_s"], ours["predict_s"]),
                f"{own['peak_mb'].median():.0f}",
                f"{own['size'].median():,.0f}",
                len(own),
            ]
        )
    header = ["method", "version", "fit time / ours", "predict time / ours"]
    return [*header, "peak MB", "size per label", "data sets"], rows


def in_short(
    results: pd.DataFrame, shown: Sequence[str]
) -> tuple[list[str], list[list[object]]]:
    """Mean ranks and size of methods that most people know."""
    columns = {"all": mean_ranks(grid(results, "first", shown, NAMES), "first")}
    for kind, names in KINDS.items():
        columns[kind] = mean_ranks(grid(results, "first", shown, names), "first")
    header, rows_of_costs = costs(results, WELL_KNOWN)
    size = header.index("size per label")
    rows = []
    for cost in sorted(rows_of_costs, key=lambda row: columns["all"][row[0]]):
        method = str(cost[0])
        ranks = [f"{columns[kind][method]:.1f}" for kind in IN_SHORT]
        rows.append([method, *ranks, cost[size]])
    titles = [f"of {len(shown)} methods", *IN_SHORT.values()]
    return [*titles, "size per label"], rows


def ratio(theirs: pd.Series, ours: pd.Series) -> str:
    """Geometric mean of times next to ours, of a millisecond at least."""
    logs = np.log(theirs.clip(lower=1e-3)) - np.log(ours.clip(lower=1e-3))
    return f"{np.exp(logs.mean()):.2g}"


def draw(comparisons: dict[str, RankComparison], file: str) -> None:
    """Diagrams of all methods (FILE) and of readable ones (FILE, "-readable")."""
    path = Path(file)
    endings = {"all": "", "readable": "-readable"}
    for title, ending in endings.items():
        if title in comparisons:
            figure = critical_difference_diagram(comparisons[title])
            figure.savefig(path.with_stem(path.stem + ending), bbox_inches="tight")
