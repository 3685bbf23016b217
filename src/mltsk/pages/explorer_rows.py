"""Samples for the explorer to start from: rows of the caller's data with their labels, and typical samples.

Symbols: n rows in the page, D columns of numbers, L labels. Dense rows are written column by column, each in the
shortest exact form: codes of its distinct values, decimals as whole numbers, or doubles. Sparse rows are CSR.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from ..columns import MISSING
from ..core.arrays import dense, spread_rows
from ..exceptions import InputError
from ..explain.tables import Subject, Tables
from ..explain.wording import name
from ..rows.read import read_samples
from .explorer_model import packed

MOST_ROWS, MOST_TYPICAL = 2_000, 12
ROOM = 3_000_000  # bytes for the cells of all rows: 1,250 rows of 300 numbers of eight bytes


def rows_data(model: Any, values: Any, labels: np.ndarray | None, names: list[str] | None) -> dict[str, Any]:
    """Rows as the page holds them: ``count`` of all, the ``index`` of those that are here, ``ids``, cells and labels.

    ``typical`` are positions of rows to begin with. Where not all rows are here, the others are evenly spread.
    """
    n, typical = values.shape[0], _typical(model, values)
    most = min(n, MOST_ROWS)
    while True:
        index = np.union1d(np.arange(n)[spread_rows(n, most)], typical).astype(int)
        cells, size = _sparse_cells(values[index]) if sparse.issparse(values) else _dense_cells(values[index])
        if size <= ROOM or most <= 1:
            break
        most = max(1, int(0.95 * most * ROOM / size))
    found = {"count": n, "index": None if len(index) == n else packed(index, "<u4"), "cells": cells}
    found |= {"ids": None if names is None else [names[i] for i in index]}
    found |= {"typical": np.searchsorted(index, typical).tolist()}
    found |= {"truth": None, "observed": None}
    if labels is not None:  # a bit per row and label that is there, and one that was observed, if some were not
        observed = ~np.isnan(labels[index])
        found["truth"] = packed(np.packbits(labels[index] > 0, bitorder="little"), "u1")
        found["observed"] = None if observed.all() else packed(np.packbits(observed, bitorder="little"), "u1")
    return found


def _dense_cells(values: np.ndarray) -> tuple[dict[str, Any], int]:
    """Columns as [kind, numbers, distinct values or None, decimals], and their size in bytes."""
    columns = [min(_forms(column), key=_size) for column in np.asarray(values).T]
    told = [[kind, packed(numbers, kind), packed(known), decimals] for kind, numbers, known, decimals in columns]
    return {"columns": told}, sum(map(_size, columns))


def _size(form: tuple[str, np.ndarray, np.ndarray | None, int]) -> int:
    return form[1].nbytes + (0 if form[2] is None else form[2].nbytes)


def _forms(column: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray | None, int]]:
    """Ways to write a column exactly."""
    known, codes = np.unique(column, return_inverse=True)
    if len(known) <= 256:
        yield "u1", codes.astype("u1"), known, 0
    for decimals in range(7):
        whole, missing = np.round(column * 10.0**decimals), np.isnan(column)
        if (missing | (whole / 10.0**decimals == column)).all():
            size = np.abs(whole[~missing]).max(initial=0)
            kind = "<i2" if size < 2**15 else "<i4"
            if size < 2**31:
                yield kind, np.where(missing, np.iinfo(kind).min, whole).astype(kind), None, decimals
            break
    yield "<f8", column.astype("<f8"), None, 0


def _sparse_cells(values: Any) -> tuple[dict[str, Any], int]:
    rows = sparse.csr_matrix(values)
    parts = {"ends": (rows.indptr, "<u4"), "at": (rows.indices, "<u4"), "values": (rows.data, "<f8")}
    return {key: packed(*part) for key, part in parts.items()}, 12 * rows.nnz


def identifiers(X: Any, ids: Any, n: int) -> list[str] | None:
    """What rows are called: ``ids`` (a list or a frame), else the index of a frame, unless it only counts."""
    if ids is None:
        index: Any = getattr(X, "index", None)
        if not hasattr(index, "nlevels") or (index.nlevels == 1 and list(index) == list(range(n))):
            return None
        ids = index
    cells = ids.to_numpy().tolist() if hasattr(ids, "to_numpy") else list(ids)
    if len(cells) != n:
        raise InputError(f"There are {len(cells)} identifiers for {n} rows: give one per row.")
    return [name(" · ".join(map(_word, cell)) if isinstance(cell, list | tuple) else _word(cell)) for cell in cells]


def _word(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _typical(model: Any, values: Any) -> np.ndarray:
    """The rows that each exception applies to most, those with most data first; without exceptions, by labels."""
    system = model.system_
    scores = np.asarray(system.scores(values))
    ranked = (system.firing(values), system.rule_weights) if system.shape[0] else (scores, scores.mean(axis=0))
    rows = np.array(typical_rows(ranked[0], ranked[1], MOST_TYPICAL), dtype=np.intp)
    silent = (scores[rows] < system.thresholds).all(axis=1)
    return rows[np.argsort(silent, kind="stable")]  # the page opens on one that is given a label


def typical_rows(M: np.ndarray, weights: np.ndarray, most: int) -> list[int]:
    """Rows that stand highest in the columns of M: one per column, then their seconds, in the order of the weights."""
    ranked = np.argsort(-M, axis=0, kind="stable")[:, np.argsort(-weights, kind="stable")]
    return list(dict.fromkeys(ranked[:most].ravel().tolist()))[: min(most, len(M))]


def made_samples(tables: Tables) -> dict[str, Any]:
    """Samples that are no rows: a usual one and the centre of each exception, with what they are called."""
    system, noun = tables.system, tables.noun.lower()
    order = np.argsort(-system.rule_weights, kind="stable")[:MOST_TYPICAL]
    usual: NDArray[np.floating[Any]] = np.zeros(system.shape[1])
    called = "an empty row"
    if system.quantiles is not None:
        usual, called = system.quantiles[:, 10], "every feature at its median"
    values = np.vstack([usual, system.prototypes[order]])
    for t, subject in enumerate(tables.subjects):
        _settle(values, tables, t, subject)
    if system.columns is not None and tables.given:
        values[:, -len(tables.given) :] = system.columns.held(values)
    return {"names": [called, *(f"typical of {noun} {k + 1}" for k in order)], "values": packed(values)}


def _settle(values: np.ndarray, tables: Tables, t: int, subject: Subject) -> None:
    """Give rows one of the named values of a subject, the nearest or most frequent: there is nothing between them."""
    known, own = np.array(list(tables.named_values(t))), values[:, subject.columns]
    if subject.kind == MISSING:
        own[:] = 0.0
    elif subject.kind == "nominal" and own.shape[1] == len(known):
        own[0] = tables.frequencies(t)
        own[:] = own.argmax(axis=1)[:, None] == np.arange(len(known))
    elif len(known):
        own[:] = known[np.abs(own - known).argmin(axis=1)][:, None]


def read_values(inner: Any, X: Any) -> Any:
    """Rows as the classifier reads them: named columns in its order, dense or CSR, tables in columns of numbers."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        try:
            if hasattr(inner, "columns_"):
                X = read_samples(inner, X)
                return X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
            return validate_data(inner, X, accept_sparse="csr", dtype=np.float64, reset=False)
        except ValueError as error:
            raise InputError(f"These rows cannot be shown: {' '.join(str(error).split())[:300]}") from None


def read_labels(inner: Any, Y: Any, n_rows: int) -> np.ndarray:
    """Labels (n, L) of 0 and 1, NaN where not observed, also of classes in one dimension."""
    labels = np.asarray(dense(getattr(Y, "values", Y)))
    if labels.ndim == 1:
        labels = labels[:, None] == (inner.classes_[1:] if len(inner.classes_) == 2 else inner.classes_)
    if labels.shape != (n_rows, len(inner.label_names_)):
        raise InputError(f"Y has shape {labels.shape}, and rows and labels are {(n_rows, len(inner.label_names_))}.")
    return labels.astype(np.float64)
