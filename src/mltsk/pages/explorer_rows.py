"""Samples that the page of the explorer starts from: rows of the user, and made ones.

Rows are read as the classifier reads them. All of it is ready for JSON, with arrays as
text (`packing`); dense rows are written column by column.

Symbols: K exceptions, D columns of numbers, L labels, n rows.
"""

import warnings
from base64 import b64decode
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from ..core.arrays import FloatArray, Matrix, dense, spread_rows
from ..exceptions import InputError
from ..explain.effects import Effects
from ..explain.wording import name
from ..frames import MISSING
from ..rows.read import Estimator, TableLike, read_samples
from ..system import FuzzySystem
from .packing import PageData, packed, packed_bits, shortest_form

MAX_PAGE_ROWS = 2_000
MAX_TYPICAL_SAMPLES = 12
# Bytes for the cells of all rows: 1,250 rows of 300 numbers of eight bytes.
MAX_CELL_BYTES = 3_000_000
MAX_COMPLAINT_LENGTH = 300  # characters of an error of scikit-learn
MEDIAN = 10  # its place among the quantiles of a system

Index: TypeAlias = NDArray[np.intp]


# reading ------------------------------------------------------------------------------


def read_values(classifier: Estimator, X: TableLike) -> Matrix:
    """Return rows as a classifier reads them.

    Named columns come in its order, tables in columns of numbers, dense or CSR.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "X does not have valid feature names", UserWarning
        )
        try:
            if not hasattr(classifier, "categorical_features"):
                return validate_data(
                    classifier, X, accept_sparse="csr", dtype=np.float64, reset=False
                )
            system = classifier.system_
            values = read_samples(classifier, X, system.columns, system.used)
        except ValueError as error:
            complaint = " ".join(str(error).split())[:MAX_COMPLAINT_LENGTH]
            raise InputError(f"These rows cannot be shown: {complaint}") from None
    return values if sparse.issparse(values) else np.asarray(values, dtype=np.float64)


def read_labels(classifier: Estimator, Y: TableLike, n_rows: int) -> FloatArray:
    """Return labels (n, L) of 0 and 1, NaN where not observed.

    Y may be classes in one dimension, too.
    """
    labels = np.asarray(dense(getattr(Y, "values", Y)))
    if labels.ndim == 1:
        classes = classifier.classes_
        labels = labels[:, None] == (classes[1:] if len(classes) == 2 else classes)
    expected = (n_rows, len(classifier.label_names_))
    if labels.shape != expected:
        raise InputError(
            f"Y has shape {labels.shape}, but {expected} is needed: a row per sample "
            "and a column per label."
        )
    return labels.astype(np.float64)


def row_names(X: TableLike, ids: TableLike, n_rows: int) -> list[str] | None:
    """Return what rows are called.

    That is ``ids``, a list or a frame, else the index of the frame X, unless it only
    counts.
    """
    if ids is None:
        ids = getattr(X, "index", None)
        if not hasattr(ids, "nlevels"):
            return None
        if ids.nlevels == 1 and list(ids) == list(range(n_rows)):
            return None
    cells = ids.to_numpy().tolist() if hasattr(ids, "to_numpy") else list(ids)
    if len(cells) != n_rows:
        raise InputError(
            f"There are {len(cells)} identifiers for {n_rows} rows: give one per row."
        )
    return [name(_row_name(cell)) for cell in cells]


def _row_name(cell: object) -> str:
    """A cell, or the cells of several identifiers, as text."""
    if isinstance(cell, list | tuple):
        return " · ".join(map(_row_name, cell))
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


# rows of the user ---------------------------------------------------------------------


def rows_data(
    system: FuzzySystem,
    values: Matrix,
    labels: FloatArray | None,
    names: list[str] | None,
) -> PageData:
    """Return rows as the page holds them.

    They are values (n, D), labels (n, L), NaN where not observed, and names of rows.
    ``count`` is the number of all rows, ``index`` are those that the page holds (None
    for all), ``typical`` are positions of rows to begin with. ``truth`` has a bit per
    row and label that is there, ``observed`` one that was observed, if some were not.
    """
    n_rows = values.shape[0]
    typical = _typical_rows(system, values)
    index, cells = _rows_that_fit(values, typical)
    truth = None
    observed = None
    if labels is not None:
        is_observed = ~np.isnan(labels[index])
        truth = packed_bits(labels[index] > 0)
        if not is_observed.all():
            observed = packed_bits(is_observed)
    return {
        "count": n_rows,
        "index": None if len(index) == n_rows else packed(index, "<u4"),
        "cells": cells,
        "ids": None if names is None else [names[i] for i in index],
        "typical": np.searchsorted(index, typical).tolist(),
        "truth": truth,
        "observed": observed,
    }


def shown_index(rows: PageData) -> Index:
    """Which of all rows `rows_data` holds, in order."""
    if rows["index"] is None:
        return np.arange(rows["count"])
    return np.frombuffer(b64decode(rows["index"]), dtype="<u4").astype(np.intp)


def _typical_rows(system: FuzzySystem, values: Matrix) -> Index:
    """Rows that each exception (else each label) applies to most, then their seconds.

    Exceptions with most data come first. Rows that are given no label come last, so
    that the page opens on one that is given a label.
    """
    scores = np.asarray(system.scores(values))
    strengths = scores
    weights = scores.mean(axis=0)
    if system.shape[0]:
        strengths = system.firing_strengths(values)
        weights = system.rule_weights
    by_strength = np.argsort(-strengths, axis=0, kind="stable")[:MAX_TYPICAL_SAMPLES]
    ranked = by_strength[:, np.argsort(-weights, kind="stable")].ravel().tolist()
    distinct = list(dict.fromkeys(ranked))
    typical = np.array(distinct[:MAX_TYPICAL_SAMPLES], dtype=np.intp)
    has_no_label = (scores[typical] < system.thresholds).all(axis=1)
    return typical[np.argsort(has_no_label, kind="stable")]


def _rows_that_fit(values: Matrix, typical: Index) -> tuple[Index, PageData]:
    """The typical rows and others, evenly spread, that the page has room for."""
    n_rows = values.shape[0]
    limit = min(n_rows, MAX_PAGE_ROWS)
    while True:
        spread = np.arange(n_rows)[spread_rows(n_rows, limit)]
        index = np.union1d(spread, typical).astype(int)
        cells, n_bytes = _cells(values[index])
        if n_bytes <= MAX_CELL_BYTES or limit <= 1:
            return index, cells
        limit = max(1, int(0.95 * limit * MAX_CELL_BYTES / n_bytes))


def _cells(values: Matrix) -> tuple[PageData, int]:
    """Rows column by column, or sparse rows as CSR, and their size in bytes."""
    if sparse.issparse(values):
        rows = sparse.csr_matrix(values)
        cells = {
            "ends": packed(rows.indptr, "<u4"),
            "at": packed(rows.indices, "<u4"),
            "values": packed(rows.data),
        }
        return cells, 12 * rows.nnz
    forms = [shortest_form(column) for column in values.T]
    n_bytes = sum(form.n_bytes for form in forms)
    return {"columns": [form.data() for form in forms]}, n_bytes


# made samples -------------------------------------------------------------------------


def made_samples(effects: Effects) -> PageData:
    """Return samples that are no rows: a usual one and the centre of each exception.

    Features with named values have one of them, the nearest or most frequent: there is
    nothing between them.
    """
    system = effects.system
    order = np.argsort(-system.rule_weights, kind="stable")[:MAX_TYPICAL_SAMPLES]
    usual = np.zeros(system.shape[1])
    names = ["an empty row"]
    if system.quantiles is not None:
        usual[:] = system.quantiles[:, MEDIAN]
        names = ["every feature at its median"]
    names += [f"typical of {effects.noun.lower()} {k + 1}" for k in order]
    values = np.vstack([usual, system.prototypes[order]])
    for t, subject in enumerate(effects.subjects):
        _choose_named_values(effects, t, values[:, subject.columns])
    n_given = len(effects.subjects.given)
    if system.columns is not None and n_given:
        values[:, -n_given:] = system.columns.held(values)
    return {"names": names, "values": packed(values)}


def _choose_named_values(effects: Effects, t: int, values: FloatArray) -> None:
    """Put named values of subject t in place of others, in its columns of samples."""
    kind = effects.subjects[t].kind
    named = np.array(list(effects.subjects.named_values(t)))
    if not values.shape[1]:
        return  # a word in no row that counts
    if kind == MISSING:
        values[:] = 0.0
    elif kind == "nominal" and values.shape[1] == len(named):
        values[0] = effects.frequencies(t)
        chosen = values.argmax(axis=1)[:, None]
        values[:] = chosen == np.arange(len(named))
    elif len(named):
        nearest = np.abs(values - named).argmin(axis=1)
        values[:] = named[nearest][:, None]
