"""A run at a glance: average precision of all methods in one table, and of other readings of a method beside it.

Settings are chosen by AP, as in the paper's Table III; in brackets what that prints. Numbers have no zero before the
point, so that nine methods fit on a page.
"""

from collections.abc import Iterator

import numpy as np

from ...tables.cells import count
from .published import published_table
from .results import Results
from .table import Table, TableCell, TableRow, captioned


def ap_table(results: Results, protocol: str) -> Table | None:
    """AP of every method on every data set under one protocol, with the paper's value; None of variants alone."""
    frame = results.of_metric(protocol, "AP", "AP").set_index(["dataset", "method"])["mean"]
    methods = [key for key in results.methods if not results.variant_of(key)]
    rows = [
        TableRow(
            (results.dataset_title(dataset),),
            tuple(TableCell(_text(frame[dataset, key]) + _printed(results, dataset, key)) for key in methods),
        )
        for dataset in results.datasets
        if np.isfinite(frame[dataset].to_numpy()).any()
    ]
    columns = [results.title(key) for key in methods]
    return captioned("ap", rows, columns, key=f"ap-{protocol}", protocol=protocol) if columns else None


def readings_table(results: Results) -> Table | None:
    """AP of methods with other readings of them, line by line, with the paper's; None where the run has none."""
    frame = results.of_metric(results.main_protocol, "AP", "AP").set_index(["dataset", "method"])["mean"]
    rows = []
    for original in dict.fromkeys(filter(None, map(results.variant_of, results.methods))):
        lines = {"as compared": original} | {results.title(key): key for key in variants(results, original)}
        for title, key in lines.items() if original in results.methods else ():
            cells = tuple(TableCell(_text(frame.get((d, key), np.nan))) for d in results.datasets)
            rows.append(TableRow((results.title(original), title), cells))
        printed = tuple(TableCell(_printed(results, d, original).strip(" ()") or "—") for d in results.datasets)
        rows.append(TableRow((results.title(original), "the paper prints"), printed))
    return captioned("readings", rows, [results.dataset_title(d) for d in results.datasets]) if rows else None


def reading_sentences(results: Results) -> Iterator[str]:
    """How far every reading of a method is from the paper, and how far the one that is compared, on the same data."""
    frame = results.finished(results.main_protocol, "AP", "AP").pivot(index="dataset", columns="method", values="mean")
    cells = published_table("III")
    for key in [key for key in results.methods if results.variant_of(key) in frame and key in frame]:
        original = results.variant_of(key)
        both = frame[[key, original]].dropna()
        paper = np.array([cells[d, "AP", results.paper_name(original)].mean for d in both.index])
        gaps = np.abs(both.to_numpy() - paper[:, None])
        if len(both):
            yield (
                f"{results.title(key)}: mean distance from Table III {gaps[:, 0].mean():.3f} AP on "
                f"{count(len(both), 'data set')}, against {gaps[:, 1].mean():.3f} of {results.title(original)} as "
                f"compared; closer on {(gaps[:, 0] < gaps[:, 1]).sum()}, within 0.03 on {(gaps[:, 0] <= 0.03).sum()}."
            )


def readings_near(results: Results, method: str, datasets: list[str], limit: float) -> dict[str, dict[str, float]]:
    """Variants of a method of the paper that come near its printed AP on some of the data sets, with their AP there."""
    frame, cells = results.finished(results.main_protocol, "AP", "AP"), published_table("III")
    found: dict[str, dict[str, float]] = {}
    for row in frame[frame["dataset"].isin(datasets)].itertuples():
        variant = results.variant_of(row.method) and results.column(row.method) == method
        if variant and abs(row.mean - cells[row.dataset, "AP", method].mean) <= limit:
            found.setdefault(row.method, {})[row.dataset] = row.mean
    return found


def readings_around(results: Results, method: str, datasets: list[str]) -> list[str]:
    """Data sets on which a method's readings, that which is compared among them, lie on both sides of the paper."""
    frame, cells = results.finished(results.main_protocol, "AP", "AP"), published_table("III")
    frame = frame[frame["method"].map(results.column) == method]
    found = {dataset: frame.loc[frame["dataset"] == dataset, "mean"] for dataset in datasets}
    return [d for d, means in found.items() if means.min() <= cells[d, "AP", method].mean <= means.max()]


def variants(results: Results, original: str) -> list[str]:
    """Methods of a run that are other readings of one of its methods."""
    return [key for key in results.methods if results.variant_of(key) == original]


def _text(value: float) -> str:
    return f"{value:.3f}".removeprefix("0") if np.isfinite(value) else "—"


def _printed(results: Results, dataset: str, method: str) -> str:
    cell = published_table("III").get((dataset, "AP", results.paper_name(method)))
    return "" if cell is None else f" ({cell.mean:.2f})".replace("0.", ".")
