"""What is in a user's table, for its review: columns, gaps, labels, and their pairs."""

import numpy as np
from numpy.typing import NDArray
from pandas import concat

from ..core.arrays import FloatArray
from ..explain.wording import name, percent
from ..tables.report import HEADER, ColumnSummary, report_row
from ..tables.table import DataTable, sparse_rows
from ..text import plural
from . import svg, svg_maps
from .packing import PageData
from .sections import Review, Section
from .worth import RARE_CASES

MAX_SHOWN_COLUMNS = 300
CELL_WIDTH = 60  # characters of a name or an example
MAX_GAP_COLUMNS = 40
MAX_STRIP_PARTS = 80  # parts of the rows in the picture of a column's gaps
MAX_LABEL_PAIRS = 8
MIN_PAIR_CORRELATION = 0.1
MAX_MAPPED_LABELS = 40


def table_section(review: Review) -> Section:
    """What is in the table: columns, gaps, labels, and pairs of labels."""
    table = review.training or review.table
    title = "What is in the table"
    if review.training is not None:
        title = "What is in the table of the fit"
    Y = table.Y.to_numpy(dtype=float)
    return Section(
        key="table",
        title=title,
        bar_title="The table",
        template="review/table.html",
        facts={
            **table_facts(table, Y, review.shown),
            "n_rows": len(table),
            "n_labels": len(table.label_names),
        },
    )


def table_facts(
    table: DataTable, Y: FloatArray, shown_labels: NDArray[np.intp] | None = None
) -> PageData:
    """Return what is in a table whose labels are Y (n, L), NaN where not observed.

    ``shown_labels`` are the labels that are told one by one, None for all.
    """
    if shown_labels is None:
        shown_labels = np.arange(Y.shape[1])
    label_names = [name(table.label_names[j]) for j in shown_labels]
    shown_Y = Y[:, shown_labels]
    shown = table.columns[:MAX_SHOWN_COLUMNS]
    kinds = [column.kind for column in table.columns]
    return {
        "columns": [_report_cells(column) for column in shown],
        "more": len(table.columns) - len(shown),
        "gaps": _gaps(table),
        "labels": _labels(label_names, shown_Y),
        "kinds": [
            plural(kinds.count(kind), f"{kind} column") for kind in dict.fromkeys(kinds)
        ],
        "notes": [name(note) for note in table.columns.notes],
        **_label_pairs(label_names, shown_Y),
    }


def _report_cells(column: ColumnSummary) -> list[str]:
    """The cells of a column in the report; a per cent sign stays with its number."""
    cells = list(report_row(column, CELL_WIDTH))
    missing = HEADER.index("missing")
    cells[missing] = cells[missing].replace("%", "\N{NO-BREAK SPACE}%")
    return cells


def _labels(names: list[str], Y: FloatArray) -> list[PageData]:
    """How many rows have each label, of those in which it was observed."""
    labels = []
    for label, y in zip(names, Y.T, strict=True):
        n_cases = int(np.nansum(y))
        n_observed = int((~np.isnan(y)).sum())
        share = n_cases / max(n_observed, 1)
        labels.append(
            {
                "name": label,
                "had": n_cases,
                "seen": n_observed,
                "share": percent(share),
                "rare": n_cases < RARE_CASES,
                "bar": svg.share_bar(share),
            }
        )
    return labels


def _gaps(table: DataTable) -> PageData:
    """Columns that have missing cells, most first, and where these are."""
    frames = [table.X, table.Y]
    if sparse_rows(table.X) is not None:
        frames = [table.Y]
    is_missing = concat(frames, axis=1).isna()
    shares = is_missing.mean().to_numpy()
    by_share = np.argsort(-shares, kind="stable")
    n_columns = int(np.count_nonzero(shares))
    n_parts = min(MAX_STRIP_PARTS, len(is_missing))
    parts = np.array_split(is_missing.to_numpy(), n_parts)
    shown = []
    for j in by_share[: min(n_columns, MAX_GAP_COLUMNS)]:
        column = name(is_missing.columns[j])
        strip = np.array([part[:, j].mean() for part in parts])
        shown.append(
            {
                "name": column,
                "share": percent(float(shares[j])),
                "strip": svg_maps.gaps(f"missing cells of {column}", strip),
            }
        )
    return {"shown": shown, "more": n_columns - len(shown)}


def _label_pairs(names: list[str], Y: FloatArray) -> PageData:
    """Which labels occur together: sentences on some pairs, and a map of few labels."""
    L = len(names)
    is_observed = (~np.isnan(Y)).astype(float)
    cases = np.nan_to_num(Y)
    both = cases.T @ cases
    n = is_observed.T @ is_observed
    first = cases.T @ is_observed  # that have i, of those in which j was observed, too
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt(first * (n - first))
        C = (both * n - first * first.T) / (spread * spread.T)
    strengths = np.abs(np.nan_to_num(C, posinf=0.0, neginf=0.0))
    rows, columns = np.tril_indices(L, -1)
    by_strength = np.lexsort([columns, rows, strengths[rows, columns]])[::-1]
    sentences = []
    for pair in by_strength[:MAX_LABEL_PAIRS]:
        i = rows[pair]
        j = columns[pair]
        if strengths[i, j] <= MIN_PAIR_CORRELATION:
            break
        if first[i, j] > first[j, i]:  # tell it from the rarer one
            i, j = j, i
        n_both = f"{int(both[i, j]):,} of {int(first[i, j]):,}"
        share = percent(first[j, i] / n[i, j])
        sentences.append(
            f"{n_both} with {names[i]} have {names[j]}; of all rows, {share} do."
        )
    picture = None
    if 2 < L <= MAX_MAPPED_LABELS:
        picture = svg_maps.together("Correlation of labels", names, C)
    return {"pairs": sentences, "map": picture}
