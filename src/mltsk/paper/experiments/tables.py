"""Tables I to V of a run, each next to what the paper prints, and what the run cost.

Table III chooses settings by AP, Table IV by HL, Table V each metric by itself, see `results`. Our values have three
decimals, the paper's the two that it prints.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...exceptions import InputError
from .published import DEGENERATE_TIES, artefacts_of, degenerate, grid, published_table, table_i
from .results import Results
from .table import Notes, Table, TableCell, TableRow, mean_text, number

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
    columns = ("samples", "features", "labels", "labels a sample", "density", "no label", "all labels")
    caption = (
        "Data sets as they were run; where the paper prints another shape, a second line has it. Density is the share "
        "of ones among the labels; the last two columns count samples without any label and with all of them, which "
        "the authors' metrics treat in ways of their own."
    )
    return Table("table-1", "Table I: data sets", caption, ("data set",), columns, tuple(rows), notes)


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
    columns = ("tuned, as run", "fixed", "the paper's grid, in its symbols", "settings")
    caption = (
        f"Grids as they were run (grid “{results.run.get('grid', 'paper')}”) next to the paper's Table II; a second "
        "number of settings is the paper's, where it is another."
    )
    prose = frozenset(columns[:3])
    return Table("table-2", "Table II: settings", caption, ("method",), columns, tuple(rows), prose=prose)


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
    return Table(
        key=f"table-{list(_CHOICE).index(table) + 3}-{protocol}",
        title=f"Table {table}: {rule}, protocol {protocol}",
        caption=_caption(results, rule, protocol),
        heads=("data set", "metric"),
        columns=tuple(results.title(key) for key in results.methods),
        rows=tuple(rows),
        notes=notes,
    )


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
    total = duration(float(results.cells["cpu_seconds"].sum()))
    caption = f"Seconds of processor time for whole grids and all folds; {total} in all."
    columns = tuple(results.title(key) for key in results.methods)
    return Table("time", "Processor time", caption, ("protocol", "data set"), columns, tuple(rows))


def duration(seconds: float) -> str:
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


def _result_cell(
    results: Results, table: str, protocol: str, row: Mapping[Any, Any], notes: Notes, best: bool
) -> TableCell:
    place = (row["dataset"], row["metric"], results.paper_name(row["method"]))
    printed = published_table(table).get(place)
    mean, sd, known = row["mean"], row["sd"], bool(np.isfinite(row["mean"]))
    return TableCell(
        text=mean_text(mean, sd) if known else {"failed": "failed", "missing": "—"}.get(row["status"], "NaN"),
        value=float(mean) if known else None,
        sd=float(sd) if known and np.isfinite(sd) else None,
        bold=best,
        paper=mean_text(printed.mean, printed.sd, 2) if printed else "",
        paper_value=printed.mean if printed else None,
        paper_sd=printed.sd if printed else None,
        difference=float(mean) - printed.mean if printed and known else None,
        notes=tuple(notes.mark(sentence) for sentence in _remarks(results, protocol, row)),
        paper_notes=tuple(notes.mark(artefact.note) for artefact in artefacts_of(table, *place)),
        facts={key: row[key] for key in FACTS},
    )


def _remarks(results: Results, protocol: str, row: Mapping[Any, Any]) -> list[str]:
    remarks = []
    if row["failed"]:
        remarks.append(f"{row['failed']} of {row['expected']} folds failed: {row['error']}")
    elif 0 < row["folds"] < row["expected"]:
        remarks.append(f"{row['folds']} of {row['expected']} folds so far.")
    expected = int(results.run["methods"][row["method"]].get("settings") or 0)
    if protocol != "nested" and 0 < row["n_settings"] < expected:
        remarks.append(f"Chosen among {row['n_settings']:,} of {expected:,} settings so far.")
    authors = results.run.get("convention") == "paper"
    if (reason := degenerate(row["dataset"], row["means"] if authors else {}, row["tied"])) is not None:
        remarks.append(reason)
    elif row["metric"] == "OE" and row["tied"] >= NOTED_TIES and authors:
        remarks.append(f"{100 * row['tied']:.0f} % of test rows are all tied, which counts as right in one-error.")
    return remarks


def _caption(results: Results, rule: str, protocol: str) -> str:
    run = results.run
    seeds = len(run["seeds"])
    over = f"{run['n_folds']} folds" + (
        f" and {seeds} seeds (the spread is over all folds of all)" if seeds > 1 else ""
    )
    parts = [
        f"Mean (standard deviation) over {over}, {rule}; in the second line what the paper prints and our "
        "difference from it. AP goes up, the others go down. Bold: the best of a row, to three decimals; scores that "
        "are mostly tied are not in the running. A printed value that cannot be compared has a note that says why, and "
        "is struck through where that can be shown."
    ]
    if protocol != "nested":
        parts.append("Settings are chosen on the folds that are reported, as in the paper: all values flatter.")
    if run.get("convention") != "paper":
        parts.append(
            "Metrics follow the standard convention and the paper's its own, so differences are partly of definition."
        )
    if missing := ", ".join(run.get("missing", {})):
        parts.append(f"Not run: {missing} (see Table I).")
    return " ".join(parts)
