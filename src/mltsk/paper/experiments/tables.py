"""Tables I to V of a run, each beside what the paper prints.

Table III chooses settings by AP, Table IV by HL, Table V each metric by itself, see `selection`. Our values have three
decimals, the paper's the two that it prints.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...exceptions import InputError
from .artefacts import DEGENERATE_TIES, NOTED_TIES, artefacts_of, degenerate
from .paper import METHODS, METRICS, grid, published_table, table_i
from .results import Results
from .selection import datasets_of, methods_of
from .table import Notes, Table, TableCell, TableRow, mean_text

CHOSEN_BY = {"III": "AP", "IV": "HL", "V": "each"}
FACTS = ("dataset", "method", "status", "setting", "n_settings", "tied", "folds", "failed")
Choices = Mapping[tuple[str, str], pd.DataFrame]

_RULES = {
    "III": "settings chosen by AP",
    "IV": "settings chosen by HL",
    "V": "settings chosen for each metric by itself",
}


def table_one(results: Results) -> Table:
    """Table I: the data sets as run, and those that were not."""
    notes = Notes()
    rows = [TableRow((title_of(results, name),), _shape_cells(results, name)) for name in datasets_of(results)]
    for name, reason in results.run.get("missing", {}).items():
        mark = (notes.mark(f"Not run: {reason}"),)
        rows.append(TableRow((name,), _missing_cells(name, mark)))
    columns = ("samples", "features", "labels", "labels a sample", "density", "no label", "all labels")
    caption = (
        "Data sets as they were run; where the paper prints another shape, a second line has it. Density is the share "
        "of ones among the labels; the last two columns count samples without any label and with all of them, which "
        "the authors' metrics treat in ways of their own."
    )
    return Table("table-1", "Table I: data sets", caption, ("data set",), columns, tuple(rows), notes.by_mark)


def table_two(results: Results) -> Table:
    """Table II: the grids as run beside the paper's."""
    rows = []
    for key in methods_of(results):
        about = results.run["methods"][key]
        ours, theirs = about.get("grid") or {}, _paper_grid(about.get("paper"))
        n_theirs = int(np.prod([len(values) for values in theirs.values()])) if theirs else None
        cells = (
            TableCell(grid_text(ours) or "nothing is tuned"),
            TableCell(grid_text(about.get("params") or {}) or "–"),
            TableCell(grid_text(theirs) or "not in the paper"),
            _count(int(about.get("settings", 1)), n_theirs),
        )
        rows.append(TableRow((method_title(results, key),), cells))
    columns = ("tuned, as run", "fixed", "the paper's grid, in its symbols", "settings")
    kind = str(results.run.get("grid", "paper"))
    caption = (
        f"Grids as they were run (grid “{kind}”) beside the paper's Table II; a second number of settings is the "
        "paper's, where it is another."
    )
    return Table(
        "table-2", "Table II: settings", caption, ("method",), columns, tuple(rows), {}, frozenset(columns[:3])
    )


def result_table(results: Results, choices: Choices, number: str, protocol: str) -> Table:
    """Table III, IV or V under one protocol: mean (SD), the best in bold, beside the paper's.

    Parameters
    ----------
    results : Results
    choices : mapping
        From `selection.chosen_all`.
    number : {"III", "IV", "V"}
    protocol : str
    """
    if number not in CHOSEN_BY:
        raise InputError(f"The tables of results are III, IV and V, not {number!r}.")
    made = _ResultTable(results, number, protocol, choices[protocol, CHOSEN_BY[number]])
    rows = tuple(made.row(dataset, metric) for dataset in datasets_of(results) for metric in METRICS)
    return Table(
        key=f"table-{['III', 'IV', 'V'].index(number) + 3}-{protocol}",
        title=f"Table {number}: {_RULES[number]}, protocol {protocol}",
        caption=_caption(results, number, protocol),
        heads=("data set", "metric"),
        columns=tuple(method_title(results, key) for key in methods_of(results)),
        rows=rows,
        notes=made.notes.by_mark,
    )


def method_title(results: Results, key: str) -> str:
    """What a method is called in print."""
    return str(results.run["methods"][key].get("title") or key)


def title_of(results: Results, dataset: str) -> str:
    """What a data set is called in print."""
    return str(results.run["datasets"].get(dataset, {}).get("title") or dataset)


def grid_text(values: Mapping[str, Any]) -> str:
    """Parameters and their values in one line.

    Examples
    --------
    >>> grid_text({"k": [1, 3], "s": [0.01], "scale": "minmax"})
    'k ∈ {1, 3}; s = 0.01; scale = minmax'
    """
    return "; ".join(f"{name} {_values(value)}" for name, value in values.items())


def _values(value: Any) -> str:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return f"= {_short(value)}"
    texts = [_short(v) for v in value]
    return f"= {texts[0]}" if len(texts) == 1 else "∈ {" + ", ".join(texts) + "}"


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _shape_cells(results: Results, name: str) -> tuple[TableCell, ...]:
    about, printed = results.run["datasets"][name], table_i().get(name)
    shape = [about.get(key) for key in ("samples", "features", "labels")]
    cells = [_count(value, printed[i] if printed else None) for i, value in enumerate(shape)]
    ratios = [
        TableCell("—") if about.get(key) is None else TableCell(f"{about[key]:.3f}", float(about[key]))
        for key in ("cardinality", "density")
    ]
    counts = [_count(about.get(key), None) for key in ("empty", "full")]
    return tuple(cells + ratios + counts)


def _missing_cells(name: str, mark: tuple[str, ...]) -> tuple[TableCell, ...]:
    printed = table_i().get(name)
    first = [TableCell("—", paper=f"{value:,}", paper_value=float(value)) for value in printed or ()]
    cells = first + [TableCell("—")] * (7 - len(first))
    return (TableCell("not run", paper=cells[0].paper, paper_value=cells[0].paper_value, notes=mark), *cells[1:])


def _count(value: int | None, printed: int | None) -> TableCell:
    if value is None:
        return TableCell("—")
    if printed is None:
        return TableCell(f"{value:,}", float(value))
    shown = "" if value == printed else f"{printed:,}"  # a second line only where there is something to see
    return TableCell(f"{value:,}", float(value), paper=shown, paper_value=float(printed))


def _paper_grid(method: str | None) -> dict[str, list[Any]]:
    return grid(method) if method in METHODS else {}


def _best(line: Sequence[Mapping[str, Any]], metric: str) -> list[bool]:
    """Which cells of a row are the best to three decimals; only those with all folds may be, and none made of ties."""
    fit = [row["folds"] >= row["expected"] and row["tied"] < DEGENERATE_TIES for row in line]
    loss = np.array([row["mean"] if ok else np.nan for row, ok in zip(line, fit, strict=True)], dtype=np.float64)
    loss = np.round(loss * (-1 if metric == "AP" else 1), 3)
    if np.isfinite(loss).sum() < 2:  # nothing to be better than
        return [False] * len(line)
    return list(loss == np.nanmin(loss))


class _ResultTable:
    """One of Tables III to V while it is being made."""

    def __init__(self, results: Results, number: str, protocol: str, frame: pd.DataFrame) -> None:
        self.results, self.number, self.protocol, self.notes = results, number, protocol, Notes()
        self.found = {(row["dataset"], row["method"], row["metric"]): row for row in frame.to_dict("records")}

    def row(self, dataset: str, metric: str) -> TableRow:
        """All methods on one data set by one metric."""
        line = [self.found[dataset, method, metric] for method in methods_of(self.results)]
        best = _best(line, metric)
        cells = tuple(self.cell(row, is_best) for row, is_best in zip(line, best, strict=True))
        return TableRow((title_of(self.results, dataset), metric), cells)

    def cell(self, row: Mapping[str, Any], best: bool) -> TableCell:
        """One value of ours and what the paper has in its place."""
        name = str(self.results.run["methods"][row["method"]].get("paper") or "")
        printed = published_table(self.number).get((row["dataset"], row["metric"], name))
        wrong = artefacts_of(self.number, row["dataset"], row["metric"], name)
        known = bool(np.isfinite(row["mean"]))
        return TableCell(
            text=mean_text(row["mean"], row["sd"]) if known else _no_number(row),
            value=float(row["mean"]) if known else None,
            sd=float(row["sd"]) if known and np.isfinite(row["sd"]) else None,
            bold=best,
            paper=mean_text(printed.mean, printed.sd, 2) if printed else "",
            paper_value=printed.mean if printed else None,
            paper_sd=printed.sd if printed else None,
            difference=float(row["mean"]) - printed.mean if printed and known else None,
            notes=tuple(self.notes.mark(sentence) for sentence in self.remarks(row)),
            paper_notes=tuple(self.notes.mark(artefact.note) for artefact in wrong),
            facts={key: row[key] for key in FACTS},
        )

    def remarks(self, row: Mapping[str, Any]) -> list[str]:
        """Footnotes to a value of ours."""
        remarks = []
        if row["failed"]:
            remarks.append(f"{row['failed']} of {row['expected']} folds failed: {row['error']}")
        elif 0 < row["folds"] < row["expected"]:
            remarks.append(f"{row['folds']} of {row['expected']} folds so far.")
        expected = int(self.results.run["methods"][row["method"]].get("settings") or 0)
        if self.protocol != "nested" and 0 < row["n_settings"] < expected:
            remarks.append(f"Chosen among {row['n_settings']:,} of {expected:,} settings so far.")
        return remarks + self.ties(row)

    def ties(self, row: Mapping[str, Any]) -> list[str]:
        """A footnote to a value that ties made."""
        authors = self.results.run.get("convention") == "paper"
        same = (self.found[row["dataset"], row["method"], metric] for metric in METRICS if authors)
        means = {other["metric"]: other["mean"] for other in same if other["setting"] == row["setting"]}
        if (reason := degenerate(row["dataset"], means, row["tied"])) is not None:
            return [reason]
        if row["metric"] == "OE" and row["tied"] >= NOTED_TIES and authors:
            return [f"{100 * row['tied']:.0f} % of test rows are all tied, which counts as right in one-error."]
        return []


def _no_number(row: Mapping[str, Any]) -> str:
    """What stands where there is no number."""
    return {"failed": "failed", "missing": "—"}.get(row["status"], "NaN")


def _caption(results: Results, number: str, protocol: str) -> str:
    run = results.run
    seeds = len(run["seeds"])
    over = f"{run['n_folds']} folds" + (
        f" and {seeds} seeds (the spread is over all folds of all)" if seeds > 1 else ""
    )
    parts = [
        f"Mean (standard deviation) over {over}, {_RULES[number]}; in the second line what the paper prints and our "
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
