"""Rows in memory, in a file that is mapped, or in tensors: arrays that can be indexed."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import is_tensor, namespace, row_blocks, spread_rows
from ..fit.design import Design
from ..fit.ridge import Moments, of_labels


def is_dask(x: Any) -> bool:
    """Whether x is a Dask collection; Dask is not imported to find out."""
    return "dask" in sys.modules and type(x).__module__.partition(".")[0] == "dask"


@dataclass(frozen=True)
class Block:
    """Rows: samples ``X`` (n, D), labels ``Y`` (n, L), weights ``w`` and ``copies`` (n,) or (n, L), and their numbers.

    Copies are weights that count, or ones.
    """

    X: Any
    Y: Any
    w: Any
    copies: Any
    index: Any = None

    def rows(self) -> "ArrayRows":
        """These rows as all there are."""
        return ArrayRows(
            self.X, self.Y, self.w, self.copies, self.Y.shape, self.X.shape[0]
        )

    def take(self, rows: Any) -> "Block":
        """Some of the rows."""
        return Block(self.X[rows], self.Y[rows], self.w[rows], self.copies[rows])

    def moments(self, design: Design, labels: NDArray[np.intp]) -> Moments:
        """Of the labels of one pattern of weights, in blocks whose Φ is small."""
        Y, w, _ = of_labels(self, labels)

        def of(part: slice) -> Moments:
            keep = namespace(w).flatnonzero(w[part] > 0)
            return Moments.of(
                design.rows(design.scale.apply(self.X[part][keep])),
                Y[part][keep],
                w[part][keep],
            )

        return reduce(
            add, map(of, row_blocks(self.X.shape[0], 24 * design.shape[2], like=w))
        )


@dataclass(frozen=True)
class ArrayRows:
    """Rows of arrays, ``shape`` of them and their labels; weights and copies may be None, for ones.

    ``limit`` is how many rows may be held at once; ``read`` checks and casts the X and Y of so many, where that is not
    done. Arrays that do not fit are read block by block, and their leave-one-out scores are those of a sample.
    """

    X: Any
    Y: Any
    w: Any
    copies: Any
    shape: tuple[int, int]
    limit: int
    read: Callable[[Any, Any], tuple[Any, Any]] | None = None

    def block(self, rows: Any) -> Block:
        """Some rows."""
        X, Y = self.X[rows], self.Y[rows]
        X, Y = self.read(X, Y) if self.read else (X, Y)
        ones = (
            namespace(Y).ones(X.shape[0], like=Y)
            if is_tensor(Y)
            else np.ones(X.shape[0])
        )
        w = ones if self.w is None else self.w[rows]
        copies = namespace(w).ones_like(w) if self.copies is None else self.copies[rows]
        return Block(X, Y, w, copies, rows)

    def sample(self, n: int) -> Block:
        """At most n rows, evenly spread."""
        return self.block(spread_rows(self.shape[0], n))

    def moments(self, design: Design, labels: NDArray[np.intp]) -> Moments:
        """Sums over all rows, block by block."""
        parts = (
            slice(start, min(start + self.limit, self.shape[0]))
            for start in range(0, self.shape[0], self.limit)
        )
        return reduce(add, (self.block(part).moments(design, labels) for part in parts))
