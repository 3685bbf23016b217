"""Tables of a run next to what the paper prints: I to V, AP at a glance, what protocols are worth, what the run cost.

A `Table` is plain data: nothing here knows of HTML, Markdown or LaTeX; `mltsk.paper.report` renders it, and
`captions.toml` has titles and captions. Our values have three decimals, the paper's the two that it prints.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np

from .published import (
    DEGENERATE_TIES,
    METRICS,
    artefacts_of,
    degenerate,
    grid,
    published_table,
    read_toml,
    table_i,
)
from .results import WORTH, Results, worths

FACTS = (
    "dataset",
    "method",
    "status",
    "setting",
    "n_settings",
    "tied",
    "folds",
    "failed",
)
# From here on ties are named with a one-error, which they improve: a share x lowers an error e by about x·e.
NOTED_TIES = 0.01
_CHOSEN_BY = {"III": "AP", "IV": "HL", "V": "each"}


@dataclass(frozen=True)
class TableCell:
    """One cell: what a reader sees of ours, what the paper prints in this place, and marks of the table's notes."""

    text: str
    value: float | None = None  # the text with full precision, as is sd
    sd: float | None = None
    bold: bool = False
    paper: str = ""  # empty when it has nothing
    paper_value: float | None = None
    paper_sd: float | None = None
    difference: float | None = None  # ours less the paper's
    notes: tuple[str, ...] = ()
    paper_notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(
        default_factory=dict
    )  # further columns of the machine-readable form

    @property
    def difference_text(self) -> str:
        """Ours less the paper's, with as many decimals as ours."""
        number = self.text.split(" ")[0]
        return (
            ""
            if self.difference is None
            else signed(self.difference, len(number.partition(".")[2]))
        )


class TableRow(NamedTuple):
    """Headings of a row, one for each name in `Table.heads`, and its cells, one per column."""

    heads: tuple[str, ...]
    cells: tuple[TableCell, ...]


class Table(NamedTuple):
    """A table; ``key`` is the name of its files. Rows with two headings are grouped by the first."""

    key: str
    title: str
    caption: str
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    notes: Mapping[str, str] = {}  # mark to sentence
    prose: frozenset[str] = (
        frozenset()
    )  # columns that hold running text, to be set to the left and wrapped


def captioned(
    name: str, rows: Iterable[tuple[tuple[str, ...], Iterable[TableCell]]], columns: Sequence[str] = (),
    notes: Mapping[str, str] | None = None, key: str = "", **words: Any,
) -> Table:  # fmt: skip
    """The table of that name in `captions.toml`, with ``words`` filled in; its columns are there or given."""
    about = read_toml("captions.toml")["tables"][name]
    title, caption = (about[part].format(**words) for part in ("title", "caption"))
    heads, columns = tuple(about["heads"]), tuple(columns or about["columns"])
    made = tuple(TableRow(heads, tuple(cells)) for heads, cells in rows)
    marked = {mark: sentence for sentence, mark in (notes or {}).items()}
    return Table(
        key or name,
        title,
        caption,
        heads,
        columns,
        made,
        marked,
        frozenset(about.get("prose", ())),
    )


def _mark(notes: dict[str, str], sentence: str) -> str:
    """The mark of a note, a, b, …, z, aa, ab, …; the same sentence has the same mark."""
    mark, i = "", len(notes)
    while i >= 0:
        mark, i = ascii_lowercase[i % 26] + mark, i // 26 - 1
    return notes.setdefault(sentence, mark)


def number(value: float | None, form: str = ".2f", **more: Any) -> TableCell:
    """A cell with a number and its text; a dash where there is none."""
    return (
        TableCell("—", **more)
        if value is None
        else TableCell(f"{value:{form}}", float(value), **more)
    )


def mean_text(mean: float, sd: float | None, digits: int = 3) -> str:
    """A mean with its spread, as the paper sets it: 0.761 (0.010)."""
    text = f"{mean:.{digits}f}"
    return text if sd is None or sd != sd else f"{text} ({sd:.{digits}f})"


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign; a true minus; no sign at zero."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def table_one(results: Results) -> Table:
    """Table I: the data sets as run, and those that were not."""
    notes, rows, missing = dict[str, str](), [], results.run.get("missing", {})
    for name in (*results.datasets, *missing):
        about, printed = (
            results.run["datasets"].get(name, {}),
            table_i().get(name, (None, None, None)),
        )
        cells = [
            _count(about.get(key), n)
            for key, n in zip(("samples", "features", "labels"), printed, strict=True)
        ]
        cells += [number(about.get(key), ".3f") for key in ("cardinality", "density")]
        cells += [_count(about.get(key), None) for key in ("empty", "full")]
        if name in missing:
            cells[0] = replace(
                cells[0],
                text="not run",
                notes=(_mark(notes, f"Not run: {missing[name]}"),),
            )
        rows.append(((results.dataset_title(name),), cells))
    return captioned("table-1", rows, notes=notes)


def _count(value: int | None, printed: int | None) -> TableCell:
    """A count, and the paper's in a second line where there is something to see."""
    if printed is None:
        return number(value, ",d")
    return number(
        value,
        ",d",
        paper="" if value == printed else f"{printed:,}",
        paper_value=float(printed),
    )


def table_two(results: Results) -> Table:
    """Table II: the grids as run next to the paper's."""
    rows = []
    for key in results.methods:
        about, theirs = (
            results.run["methods"][key],
            grid(results.paper_name(key)) if results.paper_name(key) else {},
        )
        texts = [
            grid_text(about.get("grid") or {}) or "nothing is tuned",
            grid_text(about.get("params") or {}) or "–",
        ]
        texts.append(grid_text(theirs) or "not in the paper")
        settings = _count(
            int(about.get("settings", 1)),
            prod(map(len, theirs.values())) if theirs else None,
        )
        rows.append(((results.title(key),), [*map(TableCell, texts), settings]))
    return captioned("table-2", rows, grid=results.run.get("grid", "paper"))


def grid_text(values: Mapping[str, Any]) -> str:
    """Parameters and their values in one line.

    Examples
    --------
    >>> grid_text({"k": [1, 3], "s": [0.01], "scale": "minmax"})
    'k ∈ {1, 3}; s = 0.01; scale = minmax'
    """
    texts = []
    for name, value in values.items():
        several = (
            [value]
            if isinstance(value, str) or not isinstance(value, Sequence)
            else value
        )
        written = [f"{v:g}" if isinstance(v, float) else str(v) for v in several]
        texts.append(
            f"{name} = {written[0]}"
            if len(written) == 1
            else f"{name} ∈ {{{', '.join(written)}}}"
        )
    return "; ".join(texts)


def result_table(results: Results, table: str, protocol: str) -> Table:
    """Table III, IV or V under one protocol: mean (SD), the best in bold, with the paper's."""
    by, notes, rows, run = _CHOSEN_BY[table], dict[str, str](), [], results.run
    for (dataset, metric), line in results.choices[protocol, by].groupby(
        ["dataset", "metric"], sort=False
    ):
        # the best to three decimals; only cells with all folds may be, and none made of ties
        fit = (line["folds"] >= line["expected"]) & (line["tied"] < DEGENERATE_TIES)
        loss = np.round(line["mean"].where(fit) * (-1 if metric == "AP" else 1), 3)
        best = (loss == loss.min()) & (
            np.isfinite(loss).sum() > 1
        )  # with something to be better than
        about = zip(line.to_dict("records"), best, strict=True)
        cells = [
            _result_cell(results, table, protocol, row, notes, bold)
            for row, bold in about
        ]
        rows.append(((results.dataset_title(dataset), metric), cells))
    n_seeds, more = len(run["seeds"]), ""
    if protocol != "nested":
        more += " Settings are chosen on the folds that are reported, as in the paper: all values flatter."
    if run.get("convention") != "paper":
        more += " Metrics follow the standard convention and the paper's its own, "
        more += "so differences are partly of definition."
    if run.get("missing"):
        more += f" Not run: {', '.join(run['missing'])} (see Table I)."
    seeds = (
        f" and {n_seeds} seeds (the spread is over all folds of all)"
        if n_seeds > 1
        else ""
    )
    rule = (
        f"settings chosen {'for each metric by itself' if by == 'each' else f'by {by}'}"
    )
    words = {
        "table": table,
        "rule": rule,
        "protocol": protocol,
        "over": f"{run['n_folds']} folds{seeds}",
    }
    columns, key = (
        map(results.title, results.methods),
        f"table-{list(_CHOSEN_BY).index(table) + 3}-{protocol}",
    )
    return captioned("results", rows, list(columns), notes, key, more=more, **words)


def _result_cell(
    results: Results, table: str, protocol: str, row: Any, notes: Any, best: bool
) -> TableCell:
    place = (row["dataset"], row["metric"], results.column(row["method"]))
    cell = TableCell(
        **_mean(row, "—" if row["status"] in ("missing", "left out") else "NaN"),
        bold=bool(best),
        notes=tuple(
            _mark(notes, sentence) for sentence in _remarks(results, protocol, row)
        ),
        paper_notes=tuple(
            _mark(notes, artefact.note) for artefact in artefacts_of(table, *place)
        ),
        facts={key: row[key] for key in FACTS},
    )
    if (printed := published_table(table).get(place)) is None:
        return cell
    gap = None if cell.value is None else cell.value - printed.mean
    text = mean_text(printed.mean, printed.sd, 2)
    return replace(
        cell, paper=text, paper_value=printed.mean, paper_sd=printed.sd, difference=gap
    )


def _mean(row: Any, unknown: str) -> dict[str, Any]:
    """Text, value and spread of a row of `Results.choices`."""
    if not np.isfinite(row["mean"]):
        return {"text": "failed" if row["status"] == "failed" else unknown}
    sd = float(row["sd"]) if np.isfinite(row["sd"]) else None
    return {"text": mean_text(row["mean"], sd), "value": float(row["mean"]), "sd": sd}


def _remarks(results: Results, protocol: str, row: Mapping[Any, Any]) -> Iterable[str]:
    if row["failed"]:
        yield f"{row['failed']} of {row['expected']} folds failed: {row['error']}"
    elif 0 < row["folds"] < row["expected"]:
        yield f"{row['folds']} of {row['expected']} folds so far."
    expected = int(results.run["methods"][row["method"]].get("settings") or 0)
    if protocol != "nested" and 0 < row["n_settings"] < expected:
        yield f"Chosen among {row['n_settings']:,} of {expected:,} settings."
    authors = results.run.get("convention") == "paper"
    if (
        reason := degenerate(
            row["dataset"], row["means"] if authors else {}, row["tied"]
        )
    ) is not None:
        yield reason
    elif row["metric"] == "OE" and row["tied"] >= NOTED_TIES and authors:
        yield f"{100 * row['tied']:.0f} % of test rows are all tied, which counts as right in one-error."


def ap_table(results: Results, protocol: str) -> Table | None:
    """AP of every method on every data set under one protocol, with the paper's value; None of variants alone."""
    methods = [key for key in results.methods if not results.variant_of(key)]
    frame, rows = (
        results.of_metric(protocol, "AP", "AP").set_index(["dataset", "method"])[
            "mean"
        ],
        [],
    )
    for dataset in results.datasets:
        printed = {key: _printed_ap(results, dataset, key) for key in methods}
        texts = [
            _short(frame[dataset, key]) + (f" ({printed[key]})" if printed[key] else "")
            for key in methods
        ]
        if np.isfinite(frame[dataset].to_numpy()).any():
            rows.append(((results.dataset_title(dataset),), map(TableCell, texts)))
    columns = [results.title(key) for key in methods]
    return (
        captioned("ap", rows, columns, key=f"ap-{protocol}", protocol=protocol)
        if columns
        else None
    )


def readings_table(results: Results) -> Table | None:
    """AP of methods with other readings of them, line by line, with the paper's; None where the run has none."""
    frame = results.of_metric(results.main_protocol, "AP", "AP").set_index(
        ["dataset", "method"]
    )["mean"]
    rows = []
    for original in dict.fromkeys(
        filter(None, map(results.variant_of, results.methods))
    ):
        variants = {
            results.title(key): key
            for key in results.methods
            if results.variant_of(key) == original
        }
        lines = (
            {"as compared": original} | variants if original in results.methods else {}
        )
        texts = {
            title: [_short(frame[dataset, key]) for dataset in results.datasets]
            for title, key in lines.items()
        }
        texts["the paper prints"] = [
            _printed_ap(results, dataset, original) or "—"
            for dataset in results.datasets
        ]
        rows += [
            ((results.title(original), title), map(TableCell, line))
            for title, line in texts.items()
        ]
    return (
        captioned(
            "readings", rows, [results.dataset_title(d) for d in results.datasets]
        )
        if rows
        else None
    )


def _short(value: float) -> str:
    """Without the zero before the point, so that nine methods fit on a page."""
    return f"{value:.3f}".removeprefix("0") if np.isfinite(value) else "—"


def _printed_ap(results: Results, dataset: str, method: str) -> str:
    cell = published_table("III").get((dataset, "AP", results.paper_name(method)))
    return "" if cell is None else f"{cell.mean:.2f}".removeprefix("0")


def time_table(results: Results) -> Table | None:
    """Processor time of all finished and failed work, a row per protocol and data set; None when nothing was done."""
    if not len(results.cells):
        return None
    spent = (
        results.cells.groupby(["protocol", "dataset", "method"], observed=True)[
            "cpu_seconds"
        ]
        .sum()
        .to_dict()
    )
    rows = []
    for protocol, dataset in product(results.run["protocols"], results.datasets):
        cells = [
            number(spent.get((protocol, dataset, method)), ",.1f")
            for method in results.methods
        ]
        rows.append(((f"protocol {protocol}", results.dataset_title(dataset)), cells))
    seconds = float(results.cells["cpu_seconds"].sum())
    size, unit = (
        (1, "s") if seconds < 60 else (60, "min") if seconds < 3600 else (3600, "h")
    )
    return captioned(
        "time",
        rows,
        [results.title(key) for key in results.methods],
        total=f"{seconds / size:.1f} {unit}",
    )


def protocol_table(results: Results) -> Table | None:
    """AP of every method on every data set, settings chosen by AP; None unless the run has two protocols."""
    protocols, pairs, rows = results.protocols, results.protocol_pairs, []
    if not pairs:
        return None
    found = {
        p: results.of_metric(p, "AP", "AP").set_index(["dataset", "method"])
        for p in protocols
    }
    for dataset, method in found[protocols[0]].index:
        lines = {
            protocol: found[protocol].loc[(dataset, method)] for protocol in protocols
        }
        gains = [lines[a]["mean"] - lines[b]["mean"] for a, b in pairs]
        worth = [
            TableCell(signed(gain), float(gain))
            if np.isfinite(gain)
            else TableCell("—")
            for gain in gains
        ]
        heads = (results.dataset_title(dataset), results.title(method))
        rows.append(
            (
                heads,
                [*(TableCell(**_mean(line, "—")) for line in lines.values()), *worth],
            )
        )
    return captioned(
        "protocols-ap",
        rows,
        [*protocols, *(f"{WORTH[a, b]}: {a} − {b}" for a, b in pairs)],
    )


def worth_table(results: Results) -> Table | None:
    """What leak and selection are worth on average, every metric chosen for itself; None without two protocols."""
    rows = []
    for pair in results.protocol_pairs:
        gains = (
            worths(results, pair)
            .groupby(["method", "metric"])["gain"]
            .agg(["mean", "size"])
            .to_dict("index")
        )
        for method in results.methods:
            cells = []
            for found in (
                gains.get((method, metric), {"mean": 0.0, "size": 0})
                for metric in METRICS
            ):
                mean, size = float(found["mean"]), int(found["size"])
                told = TableCell(
                    f"{signed(mean)} ({size})", mean, facts={"datasets": size}
                )
                cells.append(told if size else TableCell("—"))
            rows.append(((WORTH[pair], results.title(method)), cells))
    return captioned("protocols-worth", rows) if rows else None
