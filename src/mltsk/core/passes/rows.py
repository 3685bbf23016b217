"""Blocks of rows, passes over them, and statistics that add up.

Symbols: X (n, D) samples, Y (n, L) targets, w (n,) weights > 0 of a block of n rows.

A statistic is a function of a block (and of what is the same for all blocks) whose results are added with ``+`` in the
order of the blocks, in any bracketing: a tree on a cluster. Its size must not grow with the number of rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, spread_rows

S = TypeVar("S")


@dataclass(frozen=True)
class Block:
    """Rows that follow each other: ``number`` of the block, ``start`` of its first row among all."""

    X: Array
    Y: Array
    w: Array
    number: int = 0
    start: int = 0

    def take(self, rows: NDArray[Any]) -> "Block":
        """Some of its rows."""
        return replace(self, X=self.X[rows], Y=self.Y[rows], w=self.w[rows])


class Passes(Protocol):
    """Rows in blocks, wherever they lie."""

    def reduce(self, name: str, statistic: Callable[..., S], *arguments: Any) -> S:
        """The sum of ``statistic(block, *arguments)`` over the blocks that have rows; ``name`` is for who watches."""

    def map(self, change: Callable[..., Block], *arguments: Any) -> "Passes":
        """The same rows after ``change(block, *arguments)``, which happens in every later pass."""


@dataclass(frozen=True)
class InMemory:
    """Passes over blocks at hand: for tests, and as the plainest meaning of the protocol.

    Examples
    --------
    >>> import numpy as np
    >>> rows = InMemory([Block(np.full((2, 1), i), np.zeros((2, 1)), np.ones(2), i) for i in (1.0, 2.0)])
    >>> rows.reduce("sum", lambda block: Sums(block.w @ block.X)).parts[0].tolist()
    [6.0]
    """

    blocks: Sequence[Block]

    def reduce(self, name: str, statistic: Callable[..., S], *arguments: Any) -> S:
        """See `Passes`."""
        return reduce(add, (statistic(block, *arguments) for block in self.blocks if len(block.w)))

    def map(self, change: Callable[..., Block], *arguments: Any) -> "InMemory":
        """See `Passes`."""
        return InMemory([change(block, *arguments) for block in self.blocks])


class Sums:
    """Arrays that are added one by one."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))


@dataclass(frozen=True)
class Spread:
    """Total ``weight``, ``mean`` (D,) and squares around it, ``second``: Σ w (x - mean)² (D,), or (D, D) products.

    Added without cancellation (Chan, Golub and LeVeque): what is constant keeps a second moment of 0.
    """

    weight: float
    mean: Array
    second: Array

    @classmethod
    def of(cls, X: Array, w: Array, *, products: bool = False) -> "Spread":
        """Of the rows of a block, in double precision."""
        X, w = X.astype(np.float64, copy=False), w.astype(np.float64, copy=False)
        weight = float(w.sum())
        mean = (w @ X) / weight
        centred = X - mean
        return cls(weight, mean, centred.T @ (w[:, None] * centred) if products else w @ centred**2)

    def __add__(self, other: "Spread") -> "Spread":
        weight, apart = self.weight + other.weight, other.mean - self.mean
        square = np.outer(apart, apart) if self.second.ndim == 2 else apart**2
        second = self.second + other.second + square * (self.weight * other.weight / weight)
        return Spread(weight, self.mean + apart * (other.weight / weight), second)


@dataclass(frozen=True)
class Gathered:
    """Arrays of a few rows of each block, by the block's first row."""

    parts: tuple[tuple[int, tuple[Array, ...]], ...]

    def __add__(self, other: "Gathered") -> "Gathered":
        return Gathered(self.parts + other.parts)

    def arrays(self) -> tuple[Array, ...]:
        """In the order of the rows."""
        ordered = [arrays for _, arrays in sorted(self.parts, key=lambda part: part[0])]
        return tuple(np.concatenate(column) for column in zip(*ordered, strict=True))


def gather(
    rows: Passes, n_rows: int, limit: int, name: str, make: Callable[..., tuple[Array, ...]], *arguments: Any
) -> tuple[Array, ...]:
    """``make(block, *arguments)`` of the rows that `spread_rows` names: at most ``limit``, evenly spread."""
    return rows.reduce(name, _picked, n_rows, limit, make, arguments).arrays()


def _picked(
    block: Block, n_rows: int, limit: int, make: Callable[..., tuple[Array, ...]], arguments: tuple[Any, ...]
) -> Gathered:
    part = thinned(block, n_rows, limit)
    return Gathered(((block.start, make(part, *arguments)),) if len(part.w) else ())


def thinned(block: Block, n_rows: int, limit: int) -> Block:
    """Change: the rows that `spread_rows` names, of ``n_rows`` in all, numbered anew."""
    if n_rows <= limit:
        return block
    wanted = np.asarray(spread_rows(n_rows, limit))
    first, last = np.searchsorted(wanted, [block.start, block.start + len(block.w)])
    return replace(block.take(wanted[first:last] - block.start), start=int(first))


def weights_and_mean(block: Block) -> Spread:
    """Statistic: weight, mean and variance of the features."""
    return Spread.of(block.X, block.w)
