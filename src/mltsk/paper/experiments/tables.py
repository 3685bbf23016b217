"""Tables I to V of a run, each next to what the paper prints, what protocols are worth, and what the run cost.

Table III chooses settings by AP, Table IV by HL, Table V each metric by itself, see `results`. Our values have three
decimals, the paper's the two that it prints.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...exceptions import InputError
from .published import DEGENERATE_TIES, METRICS, artefacts_of, degenerate, grid, published_table, table_i
from .results import WORTH, Results, worths
from .table import Notes, Table, TableCell, TableRow, captioned, mean_text, number, signed

FACTS = ("dataset", "method", "status", "setting", "n_settings", "tied", "folds", "failed")
# From here on ties are named with a one-error, which they improve: a share x lowers an error e by about x·e.
NOTED_TIES = 0.01
_CHOICE = {
    "III": ("AP", "settings chosen by AP"),
    "IV": ("HL", "settings chosen by HL"),
    "V": ("each", "settings chosen for each metric by itself"),
}


def table_one(results: Results) -> Table:
    """Table I: the data sets as run, and those that were not."""
    notes = Notes()
    rows = [TableRow((results.dataset_title(name),), _shape_cells(results, name)) for name in results.datasets]
    for name, reason in results.run.get("missing", {}).items():
        rows.append(TableRow((name,), _missing_cells(name, notes.mark(f"Not run: {reason}"))))
    return captioned("table-1", rows, notes=notes)


def table_two(results: Results) -> Table:
    """Table II: the grids as run next to the paper's."""
    rows = []
    for key in results.methods:
        about, theirs = results.run["methods"][key], results.paper_name(key) and grid(results.paper_name(key))
        n_theirs = int(np.prod([len(values) for values in theirs.values()])) if theirs else None
        cells = (
            TableCell(grid_text(about.get("grid") or {}) or "nothing is tuned"),
            TableCell(grid_text(about.get("params") or {}) or "–"),
            TableCell(grid_text(theirs or {}) or "not in the paper"),
            _count(int(about.get("settings", 1)), n_theirs),
        )
        rows.append(TableRow((results.title(key),), cells))
    return captioned("table-2", rows, grid=results.run.get("grid", "paper"))


def result_table(results: Results, table: str, protocol: str) -> Table:
    """Table III, IV or V under one protocol: mean (SD), the best in bold, with the paper's."""
    if table not in _CHOICE:
        raise InputError(f"The tables of results are III, IV and V, not {table!r}.")
    by, rule = _CHOICE[table]
    notes, rows = Notes(), []
    for (dataset, metric), line in results.choices[protocol, by].groupby(["dataset", "metric"], sort=False):
        about = line.to_dict("records")
        cells = [
            _result_cell(results, table, protocol, row, notes, best)
            for row, best in zip(about, _best(about, metric), strict=True)
        ]
        rows.append(TableRow((results.dataset_title(dataset), metric), tuple(cells)))
    n_folds, n_seeds = results.run["n_folds"], len(results.run["seeds"])
    seeds = f" and {n_seeds} seeds (the spread is over all folds of all)" if n_seeds > 1 else ""
    words = {"table": table, "rule": rule, "protocol": protocol, "over": f"{n_folds} folds{seeds}"}
    columns = [results.title(key) for key in results.methods]
    key = f"table-{list(_CHOICE).index(table) + 3}-{protocol}"
    return captioned("results", rows, columns, notes, key, more=_warnings(results.run, protocol), **words)


def _warnings(run: Mapping[str, Any], protocol: str) -> str:
    """Why values of a table flatter or differ, and what it does not have: the end of its caption."""
    said = ""
    if protocol != "nested":
        said += " Settings are chosen on the folds that are reported, as in the paper: all values flatter."
    if run.get("convention") != "paper":
        said += " Metrics follow the standard convention and the paper's its own, "
        said += "so differences are partly of definition."
    if missing := ", ".join(run.get("missing", {})):
        said += f" Not run: {missing} (see Table I)."
    return said


def time_table(results: Results) -> Table | None:
    """Processor time of all finished and failed work, a row per protocol and data set; None when nothing was done."""
    if not len(results.cells):
        return None
    spent = results.cells.groupby(["protocol", "dataset", "method"], observed=True)["cpu_seconds"].sum().to_dict()
    rows = [
        TableRow(
            (f"protocol {protocol}", results.dataset_title(dataset)),
            tuple(number(spent.get((protocol, dataset, method)), ",.1f") for method in results.methods),
        )
        for protocol in results.run["protocols"]
        for dataset in results.datasets
    ]
    total = _duration(float(results.cells["cpu_seconds"].sum()))
    return captioned("time", rows, [results.title(key) for key in results.methods], total=total)


def protocol_table(results: Results) -> Table | None:
    """AP of every method on every data set, settings chosen by AP; None unless the run has two protocols."""
    protocols, pairs = results.protocols, results.protocol_pairs
    if not pairs:
        return None
    found = {p: results.of_metric(p, "AP", "AP").set_index(["dataset", "method"]) for p in protocols}
    rows = []
    for dataset, method in found[protocols[0]].index:
        lines = {protocol: found[protocol].loc[(dataset, method)] for protocol in protocols}
        gains = [lines[a]["mean"] - lines[b]["mean"] for a, b in pairs]
        worth = [TableCell(signed(gain), float(gain)) if np.isfinite(gain) else TableCell("—") for gain in gains]
        heads = (results.dataset_title(dataset), results.title(method))
        rows.append(TableRow(heads, (*(TableCell(**_mean(line, "—")) for line in lines.values()), *worth)))
    columns = (*protocols, *(f"{WORTH[pair]}: {pair[0]} − {pair[1]}" for pair in pairs))
    return captioned("protocols-ap", rows, columns)


def worth_table(results: Results) -> Table | None:
    """What leak and selection are worth on average, every metric chosen for itself; None without two protocols."""
    rows = []
    for pair in results.protocol_pairs:
        gains = worths(results, pair).groupby(["method", "metric"])["gain"].agg(["mean", "size"]).to_dict("index")
        for method in results.methods:
            cells = tuple(_gain_cell(**gains.get((method, metric), {})) for metric in METRICS)
            rows.append(TableRow((WORTH[pair], results.title(method)), cells))
    return captioned("protocols-worth", rows) if rows else None


def _gain_cell(mean: float = 0.0, size: int = 0) -> TableCell:
    text = f"{signed(mean)} ({size})"
    return TableCell(text, float(mean), facts={"datasets": int(size)}) if size else TableCell("—")


def _duration(seconds: float) -> str:
    """A time in the unit that people would use."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def grid_text(values: Mapping[str, Any]) -> str:
    """Parameters and their values in one line.

    Examples
    --------
    >>> grid_text({"k": [1, 3], "s": [0.01], "scale": "minmax"})
    'k ∈ {1, 3}; s = 0.01; scale = minmax'
    """
    return "; ".join(f"{name} {_values(value)}" for name, value in values.items())


def _values(value: Any) -> str:
    values = [value] if isinstance(value, str) or not isinstance(value, Sequence) else value
    texts = [f"{v:g}" if isinstance(v, float) else str(v) for v in values]
    return f"= {texts[0]}" if len(texts) == 1 else "∈ {" + ", ".join(texts) + "}"


def _shape_cells(results: Results, name: str) -> tuple[TableCell, ...]:
    about, printed = results.run["datasets"][name], table_i().get(name, (None, None, None))
    counts = [_count(about.get(key), n) for key, n in zip(("samples", "features", "labels"), printed, strict=True)]
    ratios = [number(about.get(key), ".3f") for key in ("cardinality", "density")]
    return (*counts, *ratios, *(_count(about.get(key), None) for key in ("empty", "full")))


def _missing_cells(name: str, mark: str) -> tuple[TableCell, ...]:
    printed = [*table_i().get(name, ()), *[None] * 7][:7]
    cells = [TableCell("—") if n is None else TableCell("—", paper=f"{n:,}", paper_value=float(n)) for n in printed]
    return (replace(cells[0], text="not run", notes=(mark,)), *cells[1:])


def _count(value: int | None, printed: int | None) -> TableCell:
    """A count, and the paper's in a second line where there is something to see."""
    if printed is None:
        return number(value, ",d")
    return number(value, ",d", paper="" if value == printed else f"{printed:,}", paper_value=float(printed))


def _best(line: Sequence[Mapping[Any, Any]], metric: str) -> list[bool]:
    """Which cells of a row are the best to three decimals; only those with all folds may be, and none made of ties."""
    fit = [row["folds"] >= row["expected"] and row["tied"] < DEGENERATE_TIES for row in line]
    loss = np.array([row["mean"] if ok else np.nan for row, ok in zip(line, fit, strict=True)], dtype=np.float64)
    loss = np.round(loss * (-1 if metric == "AP" else 1), 3)
    if np.isfinite(loss).sum() < 2:  # nothing to be better than
        return [False] * len(line)
    return list(loss == np.nanmin(loss))


def _mean(row: Any, unknown: str) -> dict[str, Any]:
    """Text, value and spread of a row of `Results.choices`."""
    if not np.isfinite(row["mean"]):
        return {"text": "failed" if row["status"] == "failed" else unknown}
    sd = float(row["sd"]) if np.isfinite(row["sd"]) else None
    return {"text": mean_text(row["mean"], sd), "value": float(row["mean"]), "sd": sd}


def _result_cell(
    results: Results, table: str, protocol: str, row: Mapping[Any, Any], notes: Notes, best: bool
) -> TableCell:
    place = (row["dataset"], row["metric"], results.column(row["method"]))
    cell = TableCell(
        **_mean(row, "—" if row["status"] in ("missing", "left out") else "NaN"),
        bold=best,
        notes=tuple(notes.mark(sentence) for sentence in _remarks(results, protocol, row)),
        paper_notes=tuple(notes.mark(artefact.note) for artefact in artefacts_of(table, *place)),
        facts={key: row[key] for key in FACTS},
    )
    if (printed := published_table(table).get(place)) is None:
        return cell
    gap = None if cell.value is None else cell.value - printed.mean
    text = mean_text(printed.mean, printed.sd, 2)
    return replace(cell, paper=text, paper_value=printed.mean, paper_sd=printed.sd, difference=gap)


def _remarks(results: Results, protocol: str, row: Mapping[Any, Any]) -> list[str]:
    remarks = []
    if row["failed"]:
        remarks.append(f"{row['failed']} of {row['expected']} folds failed: {row['error']}")
    elif 0 < row["folds"] < row["expected"]:
        remarks.append(f"{row['folds']} of {row['expected']} folds so far.")
    expected = int(results.run["methods"][row["method"]].get("settings") or 0)
    if protocol != "nested" and 0 < row["n_settings"] < expected:
        remarks.append(f"Chosen among {row['n_settings']:,} of {expected:,} settings.")
    authors = results.run.get("convention") == "paper"
    if (reason := degenerate(row["dataset"], row["means"] if authors else {}, row["tied"])) is not None:
        remarks.append(reason)
    elif row["metric"] == "OE" and row["tied"] >= NOTED_TIES and authors:
        remarks.append(f"{100 * row['tied']:.0f} % of test rows are all tied, which counts as right in one-error.")
    return remarks
