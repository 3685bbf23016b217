"""Tables of a run next to what the paper prints.

These are Tables I to V, AP at a glance, what protocols are worth, and what the run
cost. A `ReportTable` is plain data: nothing here knows of HTML, Markdown or LaTeX;
`mltsk.paper.report` renders it, and `captions.toml` has titles and captions. Our values
have three decimals, the paper's the two that it prints.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np
import pandas as pd

from .published import (
    CONTROL,
    DEGENERATE_TIES,
    METRICS,
    PlainData,
    artefacts_of,
    degenerate,
    grid,
    published_table,
    read_toml,
    table_i,
)
from .results import WORTH, Results, metric_loss, worths

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
# From this share on ties are named with a one-error, which they improve: a share x
# lowers an error e by about x·e.
NOTED_TIES = 0.01
_CHOSEN_BY = {"III": "AP", "IV": "HL", "V": "each"}


@dataclass(frozen=True)
class TableCell:
    """One cell: what a reader sees of ours, and what the paper prints in this place.

    ``value`` and ``sd`` have the full precision; ``difference`` is ours less the
    paper's. ``notes`` and ``paper_notes`` are marks of the table's notes; the paper's
    value is struck through where it was shown, not inferred, that it cannot be
    compared. ``facts`` are further columns of the machine-readable form.
    """

    text: str
    value: float | None = None
    sd: float | None = None
    bold: bool = False
    paper: str = ""
    paper_value: float | None = None
    paper_sd: float | None = None
    difference: float | None = None
    notes: tuple[str, ...] = ()
    paper_notes: tuple[str, ...] = ()
    paper_struck: bool = False
    facts: Mapping[str, object] = field(default_factory=dict)

    @property
    def difference_text(self) -> str:
        """Ours less the paper's, with as many decimals as ours."""
        if self.difference is None:
            return ""
        _, _, decimals = self.text.split(" ")[0].partition(".")
        return signed(self.difference, len(decimals))


class TableRow(NamedTuple):
    """A row: one heading for each name in `ReportTable.heads`, one cell per column."""

    heads: tuple[str, ...]
    cells: tuple[TableCell, ...]


TableLine = tuple[tuple[str, ...], Iterable[TableCell]]  # what becomes a `TableRow`


class ReportTable(NamedTuple):
    """A table; ``key`` is the name of its files.

    Rows with two headings are grouped by the first. ``notes`` are sentences by mark.
    ``prose`` names the columns that hold running text, to be set to the left and
    wrapped.
    """

    key: str
    title: str
    caption: str
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    notes: Mapping[str, str] = {}
    prose: frozenset[str] = frozenset()


def captioned(
    name: str,
    rows: Iterable[TableLine],
    columns: Sequence[str] = (),
    notes: Mapping[str, str] | None = None,
    key: str = "",
    **words: object,
) -> ReportTable:
    """A table with the title and caption that `captions.toml` has under its name.

    ``words`` are filled in; columns are those of the file unless they are given.
    ``notes`` are marks by sentence.
    """
    texts = read_toml("captions.toml")["tables"][name]
    marked = {mark: sentence for sentence, mark in (notes or {}).items()}
    return ReportTable(
        key=key or name,
        title=texts["title"].format(**words),
        caption=texts["caption"].format(**words),
        heads=tuple(texts["heads"]),
        columns=tuple(columns or texts["columns"]),
        rows=tuple(TableRow(heads, tuple(cells)) for heads, cells in rows),
        notes=marked,
        prose=frozenset(texts.get("prose", ())),
    )


def _mark(notes: dict[str, str], sentence: str) -> str:
    """The mark of a note: a, b, …, z, aa, ab, …; equal sentences share a mark."""
    mark = ""
    rest = len(notes)
    while rest >= 0:
        mark = ascii_lowercase[rest % 26] + mark
        rest = rest // 26 - 1
    return notes.setdefault(sentence, mark)


def number(value: float | None, form: str = ".2f") -> TableCell:
    """A cell with a number and its text; a dash where there is none."""
    if value is None:
        return TableCell("—")
    return TableCell(f"{value:{form}}", float(value))


def mean_text(mean: float, sd: float | None, digits: int = 3) -> str:
    """A mean with its spread, as the paper sets it: 0.761 (0.010)."""
    text = f"{mean:.{digits}f}"
    if sd is None or np.isnan(sd):
        return text
    return f"{text} ({sd:.{digits}f})"


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign; a true minus; no sign at zero."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def table_one(results: Results) -> ReportTable:
    """Table I: the data sets as run, and those that were not."""
    missing = results.run.get("missing", {})
    notes: dict[str, str] = {}
    rows: list[TableLine] = []
    for name in (*results.datasets, *missing):
        data = results.run["datasets"].get(name, {})
        n, d, k = table_i().get(name, (None, None, None))
        cells = [
            _count(data.get("samples"), n),
            _count(data.get("features"), d),
            _count(data.get("labels"), k),
            number(data.get("cardinality"), ".3f"),
            number(data.get("density"), ".3f"),
            _count(data.get("empty")),
            _count(data.get("full")),
        ]
        if name in missing:
            mark = _mark(notes, f"Not run: {missing[name]}")
            cells[0] = replace(cells[0], text="not run", notes=(mark,))
        rows.append(((results.dataset_title(name),), cells))
    return captioned("table-1", rows, notes=notes)


def _count(value: int | None, printed: int | None = None) -> TableCell:
    """A count, and the paper's in a second line where it is another one."""
    cell = number(value, ",d")
    if printed is None:
        return cell
    paper = "" if value == printed else f"{printed:,}"
    return replace(cell, paper=paper, paper_value=float(printed))


def table_two(results: Results) -> ReportTable:
    """Table II: the grids as run next to the paper's."""
    rows: list[TableLine] = []
    for key in results.methods:
        method = results.run["methods"][key]
        name = results.paper_name(key)
        printed = grid(name) if name else {}
        n_printed = prod(map(len, printed.values())) if printed else None
        cells = [
            TableCell(grid_text(method.get("grid") or {}) or "nothing is tuned"),
            TableCell(grid_text(method.get("params") or {}) or "–"),
            TableCell(grid_text(printed) or "not in the paper"),
            _count(int(method.get("settings", 1)), n_printed),
        ]
        rows.append(((results.title(key),), cells))
    return captioned("table-2", rows, grid=results.run.get("grid", "paper"))


def grid_text(values: Mapping[str, object]) -> str:
    """Parameters and their values in one line.

    Examples
    --------
    >>> grid_text({"k": [1, 3], "s": [0.01], "scale": "minmax"})
    'k ∈ {1, 3}; s = 0.01; scale = minmax'
    """
    texts = []
    for name, value in values.items():
        items: Sequence[object] = [value]
        if isinstance(value, Sequence) and not isinstance(value, str):
            items = value
        written = [_value_text(item) for item in items]
        if len(written) == 1:
            texts.append(f"{name} = {written[0]}")
        else:
            texts.append(f"{name} ∈ {{{', '.join(written)}}}")
    return "; ".join(texts)


def _value_text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def result_table(results: Results, table: str, protocol: str) -> ReportTable:
    """Table III, IV or V under one protocol: mean (SD), with the paper's.

    The best of a row is bold.
    """
    by = _CHOSEN_BY[table]
    notes: dict[str, str] = {}
    rows: list[TableLine] = []
    methods = _control_first(results)
    groups = results.choices[protocol, by].groupby(["dataset", "metric"], sort=False)
    for (dataset, metric), group in groups:
        line = group.set_index("method", drop=False).loc[methods]
        cells = []
        best = _is_best(line, metric)
        for choice, is_best in zip(line.to_dict("records"), best, strict=True):
            cell = _result_cell(results, table, choice)
            marks = [_mark(notes, text) for text in _remarks(results, protocol, choice)]
            wrong = artefacts_of(table, *_place(results, choice))
            cell = replace(
                cell,
                bold=bool(is_best),
                notes=tuple(marks),
                paper_notes=tuple(_mark(notes, artefact.note) for artefact in wrong),
                paper_struck=any(each.standing == "shown" for each in wrong),
            )
            cells.append(cell)
        rows.append(((results.dataset_title(dataset), metric), cells))
    rule = "for each metric by itself" if by == "each" else f"by {by}"
    return captioned(
        "results",
        rows,
        columns=[results.title(key) for key in methods],
        notes=notes,
        key=f"table-{list(_CHOSEN_BY).index(table) + 3}-{protocol}",
        table=table,
        protocol=protocol,
        rule=f"settings chosen {rule}",
        over=_folds_text(results.run),
        more=_caveats(results.run, protocol),
    )


def _control_first(results: Results) -> list[str]:
    """Methods of a run: the paper's own, the compared ones, then other readings."""

    def place(key: str) -> tuple[bool, bool]:
        return bool(results.variant_of(key)), results.paper_name(key) != CONTROL

    return sorted(results.methods, key=place)


def _is_best(line: pd.DataFrame, metric: str) -> pd.Series:
    """Which methods have the best mean of a row, to three decimals.

    Only cells with all folds count, none that is made of ties, and only where there is
    something to be better than.
    """
    counts = (line["folds"] >= line["expected"]) & (line["tied"] < DEGENERATE_TIES)
    loss = metric_loss(line["mean"].where(counts), metric, decimals=3)
    return (loss == loss.min()) & (np.isfinite(loss).sum() > 1)


def _folds_text(run: PlainData) -> str:
    """Over which folds and seeds a mean is."""
    n_seeds = len(run["seeds"])
    if n_seeds == 1:
        return f"{run['n_folds']} folds"
    spread = "the spread is over all folds of all"
    return f"{run['n_folds']} folds and {n_seeds} seeds ({spread})"


def _caveats(run: PlainData, protocol: str) -> str:
    """Sentences after the caption of a table of results."""
    sentences = ""
    if protocol != "nested":
        sentences += (
            " Settings are chosen on the folds that are reported, as in the paper: "
            "all values flatter."
        )
    if run.get("convention") != "paper":
        sentences += (
            " Metrics follow the standard convention and the paper's its own, "
            "so differences are partly of definition."
        )
    if run.get("missing"):
        sentences += f" Not run: {', '.join(run['missing'])} (see Table I)."
    return sentences


def _place(results: Results, choice: PlainData) -> tuple[str, str, str]:
    """Data set, metric and method as the paper's tables name them."""
    return choice["dataset"], choice["metric"], results.column(choice["method"])


def _result_cell(results: Results, table: str, choice: PlainData) -> TableCell:
    """Mean and spread of a row of `Results.choices`, next to the paper's."""
    is_absent = choice["status"] in ("missing", "left out")
    cell = _mean_cell(choice, "—" if is_absent else "NaN")
    cell = replace(cell, facts={name: choice[name] for name in FACTS})
    printed = published_table(table).get(_place(results, choice))
    if printed is None:
        return cell
    return replace(
        cell,
        paper=mean_text(printed.mean, printed.sd, digits=2),
        paper_value=printed.mean,
        paper_sd=printed.sd,
        difference=None if cell.value is None else cell.value - printed.mean,
    )


def _mean_cell(choice: PlainData, unknown: str) -> TableCell:
    """Mean and spread of a row of `Results.choices`."""
    if not np.isfinite(choice["mean"]):
        return TableCell("failed" if choice["status"] == "failed" else unknown)
    mean = float(choice["mean"])
    sd = float(choice["sd"]) if np.isfinite(choice["sd"]) else None
    return TableCell(mean_text(mean, sd), mean, sd)


def _remarks(results: Results, protocol: str, choice: PlainData) -> Iterator[str]:
    """Notes on a cell: missing folds and settings, and ties."""
    if choice["failed"]:
        folds = f"{choice['failed']} of {choice['expected']} folds"
        yield f"{folds} failed: {choice['error']}"
    elif 0 < choice["folds"] < choice["expected"]:
        yield f"{choice['folds']} of {choice['expected']} folds so far."
    n_settings = int(results.run["methods"][choice["method"]].get("settings") or 0)
    if protocol != "nested" and 0 < choice["n_settings"] < n_settings:
        yield f"Chosen among {choice['n_settings']:,} of {n_settings:,} settings."
    is_authors = results.run.get("convention") == "paper"
    tied = choice["tied"]
    means = choice["means"] if is_authors else {}
    reason = degenerate(choice["dataset"], means, tied)
    if reason is not None:
        yield reason
    elif choice["metric"] == "OE" and tied >= NOTED_TIES and is_authors:
        yield (
            f"{100 * tied:.0f} % of test rows are all tied, "
            "which counts as right in one-error."
        )


def ap_table(results: Results, protocol: str) -> ReportTable | None:
    """AP of every method on every data set under one protocol, with the paper's value.

    None of a run that has variants alone.
    """
    methods = [key for key in _control_first(results) if not results.variant_of(key)]
    if not methods:
        return None
    means = _ap_means(results, protocol)
    rows: list[TableLine] = []
    for dataset in results.datasets:
        if not np.isfinite(means[dataset].to_numpy()).any():
            continue
        cells = []
        for key in methods:
            printed = _printed_ap(results, dataset, key)
            text = _short(means[dataset, key])
            cells.append(TableCell(f"{text} ({printed})" if printed else text))
        rows.append(((results.dataset_title(dataset),), cells))
    return captioned(
        "ap",
        rows,
        columns=[results.title(key) for key in methods],
        key=f"ap-{protocol}",
        protocol=protocol,
    )


def readings_table(results: Results) -> ReportTable | None:
    """AP of methods with other readings of them, line by line, with the paper's.

    None where the run has no method together with another reading of it.
    """
    means = _ap_means(results, results.main_protocol)
    readings: dict[str, dict[str, str]] = {}
    for key in results.methods:
        original = results.variant_of(key)
        if original in results.methods:
            lines = readings.setdefault(original, {"as compared": original})
            lines[results.title(key)] = key
    rows: list[TableLine] = []
    for original, lines in readings.items():
        for title, key in lines.items():
            texts = [_short(means[dataset, key]) for dataset in results.datasets]
            rows.append(((results.title(original), title), map(TableCell, texts)))
        printed = [_printed_ap(results, name, original) for name in results.datasets]
        cells = [TableCell(text or "—") for text in printed]
        rows.append(((results.title(original), "the paper prints"), cells))
    if not rows:
        return None
    titles = [results.dataset_title(dataset) for dataset in results.datasets]
    return captioned("readings", rows, titles)


def _ap_means(results: Results, protocol: str) -> pd.Series:
    """AP by data set and method, settings chosen by it."""
    frame = results.of_metric(protocol, "AP", "AP")
    return frame.set_index(["dataset", "method"])["mean"]


def _short(value: float) -> str:
    """Without the zero before the point, so that nine methods fit on a page."""
    return f"{value:.3f}".removeprefix("0") if np.isfinite(value) else "—"


def _printed_ap(results: Results, dataset: str, method: str) -> str:
    """The paper's AP of Table III; empty where it has none."""
    cell = published_table("III").get((dataset, "AP", results.paper_name(method)))
    return "" if cell is None else f"{cell.mean:.2f}".removeprefix("0")


def time_table(results: Results) -> ReportTable | None:
    """Processor time of all work, a row per protocol and data set.

    Failed work counts too; None when nothing was done.
    """
    if results.cells.empty:
        return None
    keys = ["protocol", "dataset", "method"]
    groups = results.cells.groupby(keys, observed=True)
    spent = groups["cpu_seconds"].sum().to_dict()
    rows: list[TableLine] = []
    for protocol, dataset in product(results.run["protocols"], results.datasets):
        places = [(protocol, dataset, method) for method in results.methods]
        cells = [number(spent.get(place), ",.1f") for place in places]
        rows.append(((f"protocol {protocol}", results.dataset_title(dataset)), cells))
    total = _duration_text(float(results.cells["cpu_seconds"].sum()))
    titles = [results.title(key) for key in results.methods]
    return captioned("time", rows, titles, total=total)


def _duration_text(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"


def protocol_table(results: Results) -> ReportTable | None:
    """AP of every method on every data set under each protocol.

    Settings are chosen by AP. None unless the run has two protocols.
    """
    pairs = results.protocol_pairs
    if not pairs:
        return None
    frames = {}
    for protocol in results.protocols:
        frame = results.of_metric(protocol, "AP", "AP")
        frames[protocol] = frame.set_index(["dataset", "method"])
    rows: list[TableLine] = []
    for dataset, method in product(results.datasets, results.methods):
        cells = []
        means = {}
        for protocol, frame in frames.items():
            choice = frame.loc[(dataset, method)]
            cells.append(_mean_cell(choice, "—"))
            means[protocol] = float(choice["mean"])
        for lenient, strict in pairs:
            gain = means[lenient] - means[strict]
            cell = TableCell(signed(gain), gain)
            cells.append(cell if np.isfinite(gain) else TableCell("—"))
        rows.append(((results.dataset_title(dataset), results.title(method)), cells))
    gains = [f"{WORTH[a, b]}: {a} − {b}" for a, b in pairs]
    return captioned("protocols-ap", rows, [*results.protocols, *gains])


def worth_table(results: Results) -> ReportTable | None:
    """What leak and selection are worth on average, each metric chosen for itself.

    None unless the run has two protocols.
    """
    rows: list[TableLine] = []
    for pair in results.protocol_pairs:
        groups = worths(results, pair).groupby(["method", "metric"])["gain"]
        gains = groups.agg(["mean", "size"]).to_dict("index")
        for method in results.methods:
            cells = [_worth_cell(gains.get((method, metric))) for metric in METRICS]
            rows.append(((WORTH[pair], results.title(method)), cells))
    return captioned("protocols-worth", rows) if rows else None


def _worth_cell(gains: PlainData | None) -> TableCell:
    """The mean gain over data sets, and their number."""
    if gains is None:
        return TableCell("—")
    mean = float(gains["mean"])
    size = int(gains["size"])
    return TableCell(f"{signed(mean)} ({size})", mean, facts={"datasets": size})
