"""Rows of Dask arrays and data frames: one gather of a sample, one pass of sums.

A pass is one task per block and a tree that adds what they bring back; parameters travel in the graph, so that a worker
that is lost takes nothing along that cannot be made again. Dask is imported when one of its collections comes in.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from ..columns import Columns
from ..core.arrays import spread_rows
from ..exceptions import InputError
from ..targets import Targets
from .arrays import Block, is_dask
from .read import MOST_COPIES, note_gaps

SPLIT_EVERY = 8  # sums added by one task of the tree
Reading = tuple[
    Targets, bool, float, Columns | None
]  # of blocks: with whether weights are counts, and their unit


@dataclass
class DaskRows:
    """Rows whose ``parts`` are (X, Y, w) of each block, `dask.delayed` or None; ``reading`` says how to read them."""

    parts: Sequence[tuple[Any, Any, Any]]
    counts: Sequence[int]
    reading: Reading
    gathered: "tuple[int, Block] | None" = None
    limit = 0
    w = None  # all labels have the same weights

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and labels."""
        return int(sum(self.counts)), len(self.reading[0].names)

    def sample(self, n: int) -> Block:
        """At most n rows, evenly spread, gathered once."""
        import dask

        n = min(n, self.shape[0])
        if self.gathered is not None and self.gathered[0] == n:
            return self.gathered[1]
        rows = np.arange(self.shape[0])[spread_rows(self.shape[0], n)]
        ends = np.cumsum(self.counts)
        cuts = np.searchsorted(rows, ends)
        wanted = zip(
            np.split(rows, cuts[:-1]),
            ends - np.asarray(self.counts),
            self.parts,
            strict=True,
        )
        take = dask.delayed(_rows_of, pure=False)
        tasks = [
            take(part, self.reading, index - start)
            for index, start, part in wanted
            if len(index)
        ]
        found = dask.compute(*tasks)
        X, Y, w, copies = (
            np.concatenate([getattr(b, name) for b in found])
            for name in ("X", "Y", "w", "copies")
        )
        if not (w > 0).any():
            raise InputError(
                "No rows are left: X is empty, or sample_weight is 0 for every row."
            )
        self.gathered = n, Block(X, Y, w, copies, rows)
        return self.gathered[1]

    def moments(self, design: Any, labels: Any) -> Any:
        """Sums over all rows, where they lie."""
        import dask

        shared = dask.delayed((self.reading, design, labels), traverse=False)
        tasks = [
            dask.delayed(_moments_of, pure=False)(part, shared) for part in self.parts
        ]
        while len(tasks) > 1:
            groups = [
                tasks[i : i + SPLIT_EVERY] for i in range(0, len(tasks), SPLIT_EVERY)
            ]
            tasks = [dask.delayed(_added, pure=False)(group) for group in groups]
        return tasks[0].compute()


def _block(part: tuple[Any, Any, Any], reading: Reading) -> Block:
    """A block, checked: samples in double or single precision, labels as an indicator, weights relative."""
    (X, Y, w), (targets, is_count, unit, columns) = part, reading
    X = np.asarray(X)
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    if np.isinf(X).any():
        raise InputError(
            "Input X contains infinity: leave such rows out, or write NaN."
        )
    X = X if columns is None else columns.expand(X)
    Y = np.asarray(Y)
    if targets.multilabel:
        if not ((Y == 0) | (Y == 1)).all():
            hint = "labels not observed for every row need arrays in memory"
            raise InputError(
                f"y must be an indicator of 0 and 1, or one-dimensional classes; {hint}."
            )
        Y = Y.astype(np.float64)
    else:
        Y = targets.indicator(Y)
    w = np.ones(len(X)) if w is None else np.asarray(w, dtype=np.float64) / unit
    if not (np.isfinite(w) & (w >= 0)).all():
        raise InputError("sample_weight must hold finite numbers, none negative.")
    return Block(X, Y, w, np.where(w > 0, w, 1.0) if is_count else np.ones(len(w)))


def _rows_of(part: Any, reading: Any, index: Any) -> Block:
    return _block(part, reading).take(index)


def _moments_of(part: Any, shared: Any) -> Any:
    reading, design, labels = shared
    block = _block(part, reading)
    return block.moments(design, labels) if len(block.w) else None


def _added(parts: list[Any]) -> Any:
    found = [part for part in parts if part is not None]
    return reduce(add, found) if found else None


def read_dask(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[DaskRows, Targets]:
    """(rows, targets) of a fit on Dask collections; sets ``n_features_in_`` and ``feature_names_in_``."""
    import dask

    names = [str(c) for c in y.columns] if hasattr(y, "columns") else None
    if hasattr(X, "columns"):
        _check_feature_names(estimator, X._meta, reset=True)
        if words := [
            str(name) for name, dtype in X.dtypes.items() if dtype.kind not in "fiu"
        ]:
            what = (
                "does not hold numbers: on Dask, turn words and booleans into numbers"
            )
            raise InputError(f"Column {words[0]!r} {what}.")
    estimator.n_features_in_ = (
        len(X.columns) if hasattr(X, "columns") else int(X.shape[1])
    )
    for values, name in ((y, "y"), (sample_weight, "sample_weight")):
        if values is not None and not is_dask(values):
            raise InputError(
                f"X is a Dask collection, so {name} must be one too; it is a {type(values).__name__}."
            )
    if sample_weight is not None and sample_weight.ndim != 1:
        raise InputError(
            "On Dask, sample_weight holds one number per row: weights per label need arrays in memory."
        )
    Xb, yb = _delayed_blocks(X), _delayed_blocks(y)
    wb = [None] * len(Xb) if sample_weight is None else _delayed_blocks(sample_weight)
    if not len(Xb) == len(yb) == len(wb):
        raise InputError(
            f"X has {len(Xb)} blocks but y has {len(yb)}: rechunk one to the blocks of the other."
        )
    survey = dask.delayed(_survey, pure=False)
    found = dask.compute(*[survey(*part) for part in zip(Xb, yb, wb, strict=True)])
    targets = _targets(found, names)
    is_count, unit = _weights([f[3] for f in found if f[3] is not None])
    counts = [f[0] for f in found]
    columns = note_gaps(estimator, sum(f[4] for f in found), sum(counts))
    return DaskRows(
        list(zip(Xb, yb, wb, strict=True)), counts, (targets, is_count, unit, columns)
    ), targets


def _survey(X: Any, Y: Any, w: Any) -> tuple[int, int | None, Any, Any, Any]:
    """(rows, labels or None, classes, (least, largest, all whole, sum, count) of the positive weights, missing cells
    per column) of a block."""
    Y, missing = np.asarray(Y), np.isnan(np.asarray(X, dtype=np.float64)).sum(axis=0)
    if len(X) != len(Y):
        raise InputError(f"A block of X has {len(X)} rows but that of y has {len(Y)}.")
    if Y.ndim == 1 and Y.dtype.kind == "f" and not (Y == np.round(Y)).all():
        raise InputError(
            "Unknown label type: y must be a 0/1 indicator matrix, or one-dimensional classes."
        )
    if w is not None:
        w = np.asarray(w, dtype=np.float64)
        w = w[w > 0]
        w = (
            (w.min(), w.max(), bool((w == np.round(w)).all()), w.sum(), len(w))
            if len(w)
            else None
        )
    return (
        len(X),
        Y.shape[1] if Y.ndim == 2 else None,
        np.unique(Y) if Y.ndim == 1 else None,
        w,
        missing,
    )


def _targets(found: Sequence[Any], names: list[str] | None) -> Targets:
    n_labels = found[0][1]
    if n_labels is None:
        return Targets.of(np.unique(np.concatenate([f[2] for f in found])))
    names = names or [f"label {j}" for j in range(n_labels)]
    return Targets(np.zeros((0, n_labels)), np.arange(n_labels), tuple(names), True)


def _weights(found: Sequence[Any]) -> tuple[bool, float]:
    """Whether weights are counts, and what they are divided by otherwise: see `mltsk.rows.read.read_weights`."""
    if not found:
        return False, 1.0
    least, largest = min(f[0] for f in found), max(f[1] for f in found)
    if least == largest:
        return False, float(least)
    mean = float(sum(f[3] for f in found) / sum(f[4] for f in found))
    is_count = all(f[2] for f in found) and mean <= MOST_COPIES
    return is_count, 1.0 if is_count else mean


def _delayed_blocks(values: Any) -> list[Any]:
    """The blocks of rows of a collection, `dask.delayed` objects."""
    if hasattr(values, "to_dask_array"):
        return list(values.to_delayed())
    if "sparse" in type(getattr(values, "_meta", None)).__module__:
        raise InputError(
            "X holds sparse blocks, which are not supported on Dask: pass dense ones."
        )
    if values.ndim == 2 and values.numblocks[1] > 1:
        values = values.rechunk({1: -1})
    return list(values.to_delayed().ravel())


def later(estimator: Any, X: Any, method: str) -> Any:
    """A lazy Dask array of what ``method`` gives for the rows of X."""
    from dask import delayed

    check_is_fitted(estimator)
    if hasattr(X, "columns"):
        _check_feature_names(estimator, X._meta, reset=False)
    width = len(X.columns) if hasattr(X, "columns") else X.shape[1]
    if width != estimator.n_features_in_:
        raise InputError(
            f"X has {width} features, but this model was fitted on {estimator.n_features_in_}."
        )
    model = copy(estimator)
    for name in (
        "feature_names_in_",
        "loo_scores_",
        "stream_",
        "_sample",
    ):  # checked above, and not needed
        model.__dict__.pop(name, None)
    example = getattr(model, method)(np.zeros((1, width)))
    rows = X.to_dask_array() if hasattr(X, "to_dask_array") else X
    rows = rows.rechunk({1: -1}) if rows.numblocks[1] > 1 else rows
    shape = (
        {"drop_axis": 1}
        if example.ndim == 1
        else {"chunks": (rows.chunks[0], (example.shape[1],))}
    )
    shared = delayed(model, name=None, pure=True, traverse=False)
    like = {"dtype": example.dtype, "meta": example[:0], "name": f"mltsk-{method}"}
    return rows.map_blocks(_of_block, shared, method, **like, **shape)


def _of_block(X: Any, model: Any, method: str) -> Any:
    X = np.asarray(X)
    return (
        getattr(model, method)(X)
        if len(X)
        else getattr(model, method)(np.zeros((1, X.shape[1])))[:0]
    )
