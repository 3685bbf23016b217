"""Dask arrays and frames as blocks of rows: which parts belong together, what they must hold, and lazy results.

X may be a Dask array or frame, y an indicator (array or frame) or classes (array or series), weights an array or
series. Their blocks of rows must match; arrays whose lengths are known are cut alike.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core.passes.rows import Block
from ..exceptions import InputError
from .dask import DaskPasses, is_dask


def dask_rows(X: Any, y: Any, w: Any | None) -> tuple[DaskPasses, np.dtype]:
    """Passes over the blocks of X, y and the weights, as they are, and the precision to compute with."""
    others = {"y": y} if w is None else {"y": y, "sample_weight": w}
    for name, part in others.items():
        if not is_dask(part):
            raise InputError(f"X is a Dask collection, so {name} must be one too; it is a {type(part).__name__}.")
    _require_dense(X)
    cut = _cut(X)
    columns = {name: _pieces(part, cut, name) for name, part in {"X": X, **others}.items()}
    match_blocks({name: len(column) for name, column in columns.items()})
    dtype = _precision(X)
    return DaskPasses(list(zip(*columns.values(), strict=True)), ((read, (dtype,)),)), dtype


def _require_dense(X: Any) -> None:
    if "sparse" in type(getattr(X, "_meta", None)).__module__:
        raise InputError(
            "X is a Dask array of sparse blocks, which is not computed with: map its blocks to dense ones."
        )
    if getattr(X, "ndim", 2) != 2:
        raise InputError(f"X must have two dimensions, rows and features; it has {X.ndim}.")


def _precision(X: Any) -> np.dtype:
    """Single where all of X has it, else double."""
    kinds = set(X.dtypes) if hasattr(X, "columns") else {X.dtype}
    return np.dtype(np.float32 if kinds == {np.dtype(np.float32)} else np.float64)


def _cut(X: Any) -> tuple[int, ...] | None:
    """Lengths of the blocks of X, None where they are not known."""
    lengths = X.chunks[0] if hasattr(X, "chunks") else (math.nan,)
    return None if any(math.isnan(n) for n in lengths) else lengths


def _pieces(part: Any, cut: tuple[int, ...] | None, name: str) -> list[Any]:
    """Delayed blocks of rows, all columns together, cut like X where lengths are known."""
    if not hasattr(part, "chunks"):
        return list(part.to_delayed())
    known = _cut(part) is not None and cut is not None
    if known and sum(part.chunks[0]) != sum(cut or ()):
        raise InputError(f"X has {sum(cut or ())} rows but {name} has {sum(part.chunks[0])}.")
    plan = {0: cut} if known else {}
    part = part.rechunk(plan | {1: -1} if part.ndim == 2 else plan) if plan or part.ndim == 2 else part
    return list(part.to_delayed().ravel())


def match_blocks(counts: dict[str, int]) -> None:
    """Refuse collections that come in different numbers of blocks."""
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{name} in {n}" for name, n in counts.items())
        raise InputError(f"Blocks of rows must match, but they come {told}: repartition them alike.")


def read(number: int, x: Any, y: Any, *rest: Any) -> Block:
    """Parts of one block as arrays, of weight 1 where there are no weights; rows are neither checked nor dropped."""
    *weights, dtype = rest
    X = np.asarray(x, dtype=dtype)
    w = np.asarray(weights[0], dtype=dtype) if weights else np.ones(len(X), dtype=dtype)
    Y = np.asarray(y)
    if not len(X) == len(Y) == len(w):
        lengths = f"{len(X)} rows of X, {len(Y)} of y, {len(w)} weights"
        raise InputError(f"Block {number} has {lengths}: blocks of rows must match.")
    return Block(X, Y, w, number)


@dataclass(frozen=True)
class Survey:
    """What a first pass finds out: rows of weight > 0 of each block, labels (None for 1-D classes), and the classes."""

    counts: dict[int, int] = field(default_factory=dict)
    n_labels: int | None = None
    classes: Any = None

    @classmethod
    def of(cls, block: Block) -> "Survey":
        """Statistic: of a block, whose values are checked on the way."""
        _check(block)
        counts = {block.number: int((block.w > 0).sum())}
        if block.Y.ndim == 2:
            return cls(counts, block.Y.shape[1])
        return cls(counts, None, np.unique(block.Y[block.w > 0]))

    def __add__(self, other: "Survey") -> "Survey":
        classes = None if self.classes is None else np.union1d(self.classes, other.classes)
        return Survey(self.counts | other.counts, self.n_labels, classes)

    @property
    def n_rows(self) -> int:
        """Rows of weight > 0."""
        return sum(self.counts.values())

    def starts(self) -> dict[int, int]:
        """Number of the first row of each block."""
        numbers = sorted(self.counts)
        before = np.concatenate([[0], np.cumsum([self.counts[i] for i in numbers])[:-1]])
        return dict(zip(numbers, before.astype(int).tolist(), strict=True))


def _check(block: Block) -> None:
    if not np.isfinite(block.X).all():
        raise InputError("Input X contains NaN or infinity: remove or impute them first.")
    if not (np.isfinite(block.w) & (block.w >= 0)).all():
        raise InputError("sample_weight must hold finite numbers, none negative.")
    Y = block.Y
    if Y.ndim == 2 and not ((Y == 0) | (Y == 1)).all():
        raise InputError("y must be an indicator of 0 and 1, or one-dimensional classes.")
    if Y.ndim > 2 or (Y.ndim == 1 and Y.dtype.kind == "f" and not (Y == np.round(Y)).all()):
        raise InputError("Unknown label type: y must be a 0/1 indicator matrix, or one-dimensional classes.")


def counted(block: Block, starts: dict[int, int], columns: Any) -> Block:
    """Change: rows of weight > 0, numbered through, with y as an indicator; ``columns`` are classes or None."""
    block = replace(block, start=starts.get(block.number, 0))
    block = block if (block.w > 0).all() else block.take(np.flatnonzero(block.w > 0))
    Y = block.Y if columns is None else block.Y[:, None] == columns
    return replace(block, Y=np.asarray(Y, dtype=block.X.dtype))


def whole(block: Block) -> tuple[Any, Any, Any]:
    """Samples, labels and weights of a block."""
    return block.X, block.Y, block.w


def lazily(function: Callable[..., Any], X: Any, width: int | None, dtype: Any, model: Any, method: str) -> Any:
    """A Dask array of ``function(block, model, method)``, (N, width) or (N,) where the width is None.

    Nothing runs until it is computed; the model travels once, as a part of the graph.
    """
    from dask import delayed

    _require_dense(X)
    rows = X.to_dask_array() if hasattr(X, "to_dask_array") else X
    rows = rows.rechunk({1: -1}) if rows.numblocks[1] > 1 else rows
    shape = {"drop_axis": 1} if width is None else {"chunks": (rows.chunks[0], (width,))}
    empty = np.empty((0,) if width is None else (0, width), dtype=dtype)
    shared = delayed(model, name=None, pure=True, traverse=False)
    return rows.map_blocks(function, shared, method, dtype=dtype, meta=empty, name=f"mltsk-{method}", **shape)
