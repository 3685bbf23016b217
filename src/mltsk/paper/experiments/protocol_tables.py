"""What the leak and the selection are worth: the same method under the protocols of a run, side by side.

`paper` against `strict` is the leak (scaling and clustering saw the test rows) together with the fold slicing;
`strict` against `nested` is the choice of settings on the reported folds. Differences are turned so that a positive
one means that the more lenient protocol looks better, whatever the direction of the metric.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .paper import METRICS
from .results import Results
from .selection import datasets_of, methods_of
from .table import Table, TableCell, TableRow, mean_text, signed
from .tables import Choices, method_title, title_of

ORDER = ("paper", "strict", "nested")  # from the most lenient to the strictest
WORTH = {("paper", "strict"): "leak", ("strict", "nested"): "selection", ("paper", "nested"): "both"}


def protocols_of(results: Results) -> list[str]:
    """Protocols of the run, the most lenient first."""
    return [protocol for protocol in ORDER if protocol in results.run["protocols"]]


def pairs_of(results: Results) -> list[tuple[str, str]]:
    """Pairs of protocols whose difference has a meaning: neighbours, and the ends when there are three."""
    protocols = protocols_of(results)
    return [*pairwise(protocols), *([(protocols[0], protocols[-1])] if len(protocols) > 2 else [])]


def protocol_table(results: Results, choices: Choices) -> Table | None:
    """AP of every method on every data set, settings chosen by AP; None unless the run has two protocols."""
    protocols, pairs = protocols_of(results), pairs_of(results)
    if len(protocols) < 2:
        return None
    found = {protocol: _by_key(choices[protocol, "AP"].to_dict("records")) for protocol in protocols}
    rows = []
    for dataset in datasets_of(results):
        for method in methods_of(results):
            cells = [_mean_cell(found[protocol][dataset, method, "AP"]) for protocol in protocols]
            values = dict(zip(protocols, cells, strict=True))
            worth = [_worth_cell(_gain(values[a].value, values[b].value, "AP")) for a, b in pairs]
            rows.append(TableRow((title_of(results, dataset), method_title(results, method)), (*cells, *worth)))
    caption = (
        "Average precision of the same methods under each protocol, settings chosen by AP. The last columns say how "
        "much better the more lenient protocol looks. Paper and strict also cut their folds in different ways, so that "
        "small differences between them are partly chance; strict and nested share their outer folds."
    )
    columns = (*protocols, *(f"{WORTH[pair]}: {pair[0]} − {pair[1]}" for pair in pairs))
    return Table(
        "protocols-ap", "The same method under each protocol", caption, ("data set", "method"), columns, tuple(rows)
    )


def worth_table(results: Results, choices: Choices) -> Table | None:
    """What leak and selection are worth on average, every metric chosen for itself; None without two protocols."""
    pairs = pairs_of(results)
    if not pairs:
        return None
    rows = [
        TableRow((WORTH[pair], method_title(results, method)), tuple(_mean_worth(gains[method, m]) for m in METRICS))
        for pair in pairs
        for gains in [worths(results, choices, pair)]
        for method in methods_of(results)
    ]
    caption = (
        "Mean over data sets of how much better a metric looks under the more lenient protocol, settings chosen for "
        "each metric by itself (one-error thus finds tied scores). In brackets the number of data sets that have "
        "finished under both."
    )
    return Table(
        "protocols-worth",
        "What the leak and the selection are worth",
        caption,
        ("what", "method"),
        METRICS,
        tuple(rows),
    )


def worths(
    results: Results, choices: Choices, pair: tuple[str, str], by: str = "each"
) -> dict[tuple[str, str], list[float]]:
    """How much better the first protocol looks than the second, by (method, metric): one number a data set."""
    lenient, strict = (_by_key(choices[protocol, by].to_dict("records")) for protocol in pair)
    gains: dict[tuple[str, str], list[float]] = {(m, k): [] for m in methods_of(results) for k in METRICS}
    for key, row in lenient.items():
        other = strict[key]
        if row["status"] == other["status"] == "done":
            gain = _gain(row["mean"], other["mean"], row["metric"])
            gains[row["method"], row["metric"]] += [] if gain is None else [gain]
    return gains


def _by_key(records: Sequence[Mapping[Any, Any]]) -> dict[tuple[str, str, str], Mapping[Any, Any]]:
    return {(row["dataset"], row["method"], row["metric"]): row for row in records}


def _gain(lenient: float | None, strict: float | None, metric: str) -> float | None:
    if lenient is None or strict is None or not np.isfinite([lenient, strict]).all():
        return None
    return lenient - strict if metric == "AP" else strict - lenient


def _mean_cell(row: Mapping[Any, Any]) -> TableCell:
    if not np.isfinite(row["mean"]):
        return TableCell("failed" if row["status"] == "failed" else "—")
    text = mean_text(row["mean"], row["sd"])
    return TableCell(text, float(row["mean"]), float(row["sd"]) if np.isfinite(row["sd"]) else None)


def _worth_cell(gain: float | None) -> TableCell:
    return TableCell("—") if gain is None else TableCell(signed(gain), gain)


def _mean_worth(gains: Sequence[float]) -> TableCell:
    if not gains:
        return TableCell("—")
    mean = float(np.mean(gains))
    return TableCell(f"{signed(mean)} ({len(gains)})", mean, facts={"datasets": len(gains)})
