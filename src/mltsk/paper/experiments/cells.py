"""The pieces of work of an experiment: one method on one fold of one data set with (part of) its grid, or one study.

A `Cell` says everything that its numbers depend on, so its key, a digest of that, is what the store is asked for:
what is there is not computed again, and what changed is.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, Literal

from ... import __version__
from .definition import Definition, Grid, grid_of
from .studies import STUDIES

Kind = Literal["grid", "inner", "final", "study"]
Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Cell:
    """One piece of work.

    ``kind`` is "grid" for a grid on a reported fold, "inner" for a grid on an inner fold of ``fold``, "final" for the
    settings that the inner folds of ``fold`` chose, "study" for a figure's numbers, ``method`` then names the study.
    ``part`` tells the pieces of one grid apart. ``details`` holds the rest of what the numbers depend on, and
    ``needs`` the keys of the inner cells of a final one. ``size`` is rough flops, for the order of the work and the
    time left: longest first keeps all processes busy to the end.
    """

    kind: Kind
    protocol: str
    dataset: str
    method: str
    seed: int
    fold: int
    inner: int = -1
    part: str = ""
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)
    needs: tuple[str, ...] = ()
    size: float = 1.0

    @property
    def key(self) -> str:
        """Digest of everything that the numbers depend on."""
        names = ("kind", "protocol", "dataset", "method", "seed", "fold", "inner", "part", "details")
        return hashlib.sha256(canonical({name: getattr(self, name) for name in names}).encode()).hexdigest()[:32]

    def __str__(self) -> str:
        if self.kind == "study":
            return f"{self.method} on {self.dataset}"
        inner = f".{self.inner + 1}" if self.inner >= 0 else ""
        part = f" ({self.part})" if self.part else ""
        return f"{self.method} on {self.dataset}, {self.protocol} fold {self.fold + 1}{inner}{part}"


def canonical(value: Any) -> str:
    """JSON with sorted keys: equal values have equal text. Arrays and numbers of NumPy are written as plain ones."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=lambda array: array.tolist())


def n_settings(grid: Grid) -> int:
    """Number of settings of a grid; 1 for an empty one."""
    return prod(len(values) for values in grid.values())


def plan(definition: Definition, shapes: Mapping[str, Shape], digests: Mapping[str, str]) -> list[Cell]:
    """All grid cells of an experiment; ``shapes`` and ``digests`` know the data sets that are at hand.

    Work that settings share stays inside a cell: one clustering per fold and number of rules, one set of moments per
    fold, number of rules and width, one training for all numbers of epochs.
    """
    cells: list[Cell] = []
    for data, method in product(definition.datasets, definition.methods):
        if data.name not in shapes or (method.datasets is not None and data.name not in method.datasets):
            continue
        details: dict[str, Any] = {"data": digests[data.name], "class": method.path, "scale": method.scale}
        details["params"] = {**method.params, **method.params_for.get(data.name, {})}
        details |= {"folds": definition.folds, "convention": definition.convention, "version": __version__}
        grid = grid_of(method, method.grid_for.get(data.name) or data.grid or definition.grid)
        own = [protocols for protocols in (data.protocols, method.protocols) if protocols is not None]
        run = [protocol for protocol in definition.protocols if all(protocol in protocols for protocols in own)]
        for protocol, seed, fold in product(run, definition.seeds, range(definition.folds)):
            inner = {"inner_folds": definition.inner_folds} if protocol == "nested" else {}
            where = {"protocol": protocol, "dataset": data.name, "method": method.key, "seed": seed, "fold": fold}
            cells += _of_fold(where, {**details, **inner}, grid, method.split, shapes[data.name])
    return cells


def _of_fold(
    where: Mapping[str, Any], details: Mapping[str, Any], grid: Grid, split: str | None, shape: Shape
) -> list[Cell]:
    """The pieces of a grid on a fold, one for each value of the parameter ``split``.

    Under `nested` they are of its inner folds, and the fold itself follows with what they choose, if there is a choice.
    """
    parts = {"": grid}
    if split in grid:
        parts = {f"{split}={value}": {**grid, split: [value]} for value in grid[split]}

    def size(piece: Grid) -> float:
        return float(n_settings(piece) * prod(shape)) * max(piece.get("n_rules", [1]))

    def pieces(kind: Kind, inner: int = -1) -> list[Cell]:
        return [
            Cell(kind, **where, inner=inner, part=part, details={**details, "grid": piece}, size=size(piece))
            for part, piece in parts.items()
        ]

    if where["protocol"] != "nested":
        return pieces("grid")
    n_inner = details["inner_folds"] if n_settings(grid) > 1 else 0
    inner = [cell for i in range(n_inner) for cell in pieces("inner", i)]
    needs, least = tuple(cell.key for cell in inner), {name: values[:1] for name, values in grid.items()}
    return [*inner, Cell("final", **where, details={**details, "grid": grid}, needs=needs, size=5 * size(least))]


def study_cells(definition: Definition, digests: Mapping[str, str]) -> list[Cell]:
    """A cell for every study and data set at hand that it is made on."""
    cells, grids = [], {data.name: data.grid or definition.grid for data in definition.datasets}
    for name, study in STUDIES.items():
        for dataset in [dataset for dataset in study.datasets or digests if dataset in digests]:
            grid = "fast" if grids[dataset] == "fast" else "paper"
            details: dict[str, Any] = {"data": digests[dataset], "grid": grid, "version": __version__}
            cells.append(Cell("study", "", dataset, name, definition.seeds[0], -1, details=details, size=1e9))
    return cells
