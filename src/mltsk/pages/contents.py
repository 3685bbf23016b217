"""What is in a table, for a page: its columns, where cells are missing, its labels and which of them go together."""

from typing import Any

import numpy as np

from ..core.arrays import Array
from ..explain.wording import name, percent, times
from ..tables.read import Table, sparse_rows
from . import svg
from .verdicts import FEW

COLUMNS, GAPS, STRIPS, PAIRS, MAPPED = 300, 40, 80, 8, 40  # that are shown at most


def contents(table: Table, Y: Array) -> dict[str, Any]:
    """What the page shows of a table whose labels are Y (n, L), NaN where not observed."""
    observed, kinds = ~np.isnan(Y), [column.kind for column in table.columns]
    had, seen = np.nansum(Y, axis=0), observed.sum(axis=0)
    shares = had / np.maximum(seen, 1)
    return {
        "columns": [table.columns._cells(column, 60) for column in table.columns[:COLUMNS]],
        "more": max(len(table.columns) - COLUMNS, 0),
        "kinds": [times(kinds.count(kind), f"{kind} column") for kind in dict.fromkeys(kinds)],
        "notes": [name(note) for note in table.columns.notes],
        "gaps": _gaps(table),
        "labels": [
            {"name": name(label), "had": int(had[j]), "seen": int(seen[j]), "share": percent(float(shares[j]))}
            | {"bar": svg.share_bar(float(shares[j])), "rare": had[j] < FEW}
            for j, label in enumerate(table.label_names)
        ],
        **_together(table, Y),
    }


def _gaps(table: Table) -> dict[str, Any]:
    """Columns that have missing cells, where they are; most first."""
    found = []
    for frame in (table.X, table.Y):
        absent = frame.isna().to_numpy() if sparse_rows(frame) is None else np.zeros((1, 0), dtype=bool)
        parts = np.array_split(np.arange(len(frame)), min(STRIPS, len(frame)))
        for j in np.flatnonzero(absent.any(axis=0)):
            strip = np.array([absent[rows, j].mean() for rows in parts])
            found.append((float(absent[:, j].mean()), name(frame.columns[j]), strip))
    found.sort(key=lambda column: -column[0])
    shown = [
        {"name": title, "share": percent(share), "strip": svg.gaps(f"missing cells of {title}", strip)}
        for share, title, strip in found[:GAPS]
    ]
    return {"shown": shown, "more": len(found) - len(shown)}


def _together(table: Table, Y: Array) -> dict[str, Any]:
    """Which labels go together: a map of few, and pairs that are told."""
    names, L = [name(label) for label in table.label_names], Y.shape[1]
    seen = (~np.isnan(Y)).astype(float)
    filled = np.nan_to_num(Y)
    both, n = filled.T @ filled, seen.T @ seen
    first = filled.T @ seen  # how many have i, of those in whom j was observed too
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt(first * (n - first))
        C = (both * n - first * first.T) / (spread * spread.T)
    pairs = [(abs(C[i, j]), i, j) for i in range(L) for j in range(i) if np.isfinite(C[i, j]) and abs(C[i, j]) > 0.1]
    told = []
    for _, i, j in sorted(pairs, reverse=True)[:PAIRS]:
        i, j = (i, j) if first[i, j] <= first[j, i] else (j, i)  # from the rarer one
        usual = percent(first[j, i] / n[i, j])
        count = f"{int(both[i, j]):,} of {int(first[i, j]):,}"
        told.append(f"{count} with {names[i]} have {names[j]}; of all rows, {usual} do.")
    return {"pairs": told, "map": svg.together("Correlation of labels", names, C) if 2 < L <= MAPPED else None}
