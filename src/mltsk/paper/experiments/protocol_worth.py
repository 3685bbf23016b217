"""What the leak and the selection are worth: the same method under the protocols of a run, side by side.

`paper` against `strict` is the leak (scaling and clustering saw the test rows) together with the fold slicing;
`strict` against `nested` is the choice of settings on the reported folds. Differences are turned so that a positive
one means that the more lenient protocol looks better, whatever the direction of the metric.
"""

from itertools import combinations

import numpy as np
import pandas as pd

from .published import METRICS
from .results import Results
from .table import Table, TableCell, TableRow, mean_text, signed

ORDER = ("paper", "strict", "nested")  # from the most lenient to the strictest
WORTH = {("paper", "strict"): "leak", ("strict", "nested"): "selection", ("paper", "nested"): "both"}


def protocols_of(results: Results) -> list[str]:
    """Protocols of the run, the most lenient first."""
    return [protocol for protocol in ORDER if protocol in results.run["protocols"]]


def pairs_of(results: Results) -> list[tuple[str, str]]:
    """Pairs of protocols that the run has: neighbours first."""
    pairs = set(combinations(protocols_of(results), 2))
    return [pair for pair in WORTH if pair in pairs]


def worths(results: Results, pair: tuple[str, str], by: str = "each") -> pd.DataFrame:
    """How much better the first protocol looks than the second: ``gain`` by data set, method and metric."""
    keys = ["dataset", "method", "metric"]
    done = [frame[frame["status"] == "done"] for frame in (results.choices[protocol, by] for protocol in pair)]
    both = done[0].merge(done[1], on=keys, suffixes=("", "_strict"))
    gain = (both["mean"] - both["mean_strict"]) * np.where(both["metric"] == "AP", 1, -1)
    return both[keys].assign(gain=gain).dropna()


def protocol_table(results: Results) -> Table | None:
    """AP of every method on every data set, settings chosen by AP; None unless the run has two protocols."""
    protocols, pairs = protocols_of(results), pairs_of(results)
    if not pairs:
        return None
    found = {p: results.of_metric(p, "AP", "AP").set_index(["dataset", "method"]) for p in protocols}
    rows = []
    for dataset, method in found[protocols[0]].index:
        lines = {protocol: found[protocol].loc[(dataset, method)] for protocol in protocols}
        worth = [_gain_cell(lines[a]["mean"] - lines[b]["mean"]) for a, b in pairs]
        heads = (results.dataset_title(dataset), results.title(method))
        rows.append(TableRow(heads, (*map(_mean_cell, lines.values()), *worth)))
    caption = (
        "Average precision of the same methods under each protocol, settings chosen by AP. The last columns say how "
        "much better the more lenient protocol looks. Paper and strict also cut their folds in different ways, so that "
        "small differences between them are partly chance; strict and nested share their outer folds."
    )
    columns = (*protocols, *(f"{WORTH[pair]}: {pair[0]} − {pair[1]}" for pair in pairs))
    title = "The same method under each protocol"
    return Table("protocols-ap", title, caption, ("data set", "method"), columns, tuple(rows))


def worth_table(results: Results) -> Table | None:
    """What leak and selection are worth on average, every metric chosen for itself; None without two protocols."""
    rows = []
    for pair in pairs_of(results):
        gains = worths(results, pair).groupby(["method", "metric"])["gain"].agg(["mean", "size"]).to_dict("index")
        for method in results.methods:
            cells = tuple(_mean_gain_cell(**gains.get((method, metric), {})) for metric in METRICS)
            rows.append(TableRow((WORTH[pair], results.title(method)), cells))
    caption = (
        "Mean over data sets of how much better a metric looks under the more lenient protocol, settings chosen for "
        "each metric by itself (one-error thus finds tied scores). In brackets the number of data sets that have "
        "finished under both."
    )
    title = "What the leak and the selection are worth"
    return Table("protocols-worth", title, caption, ("what", "method"), METRICS, tuple(rows)) if rows else None


def _mean_cell(row: pd.Series) -> TableCell:
    if not np.isfinite(row["mean"]):
        return TableCell("failed" if row["status"] == "failed" else "—")
    text = mean_text(row["mean"], row["sd"])
    return TableCell(text, float(row["mean"]), float(row["sd"]) if np.isfinite(row["sd"]) else None)


def _gain_cell(gain: float) -> TableCell:
    return TableCell(signed(gain), float(gain)) if np.isfinite(gain) else TableCell("—")


def _mean_gain_cell(mean: float = 0.0, size: int = 0) -> TableCell:
    text = f"{signed(mean)} ({size})"
    return TableCell(text, float(mean), facts={"datasets": int(size)}) if size else TableCell("—")
