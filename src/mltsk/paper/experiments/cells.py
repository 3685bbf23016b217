"""The pieces of work of an experiment: one method on one fold of one data set with (part of) its grid, or one study.

A `Cell` says everything that its numbers depend on, so its key, a digest of that, is what the store is asked for:
what is there is not computed again, and what changed is.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from ... import __version__
from ...exceptions import InputError
from .definition import DataDefinition, Definition, Grid, GridName, MethodDefinition

Kind = Literal["grid", "inner", "final", "study"]


@dataclass(frozen=True)
class Cell:
    """One piece of work.

    ``kind`` is "grid" for a grid on a reported fold, "inner" for a grid on an inner fold of ``fold``, "final" for the
    settings that the inner folds of ``fold`` chose, "study" for a figure's numbers, ``method`` then names the study.
    ``part`` tells the pieces of one grid apart. ``details`` holds the rest of what the numbers depend on, and
    ``needs`` the keys of the inner cells of a final one.
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
    """JSON with sorted keys: equal values have equal text.

    Examples
    --------
    >>> canonical({"b": 1.0, "a": [1, 2]})
    '{"a":[1,2],"b":1.0}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    """NumPy numbers, tuples and mappings as JSON knows them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else list(value)


def class_of(method: MethodDefinition) -> type:
    """The method's class, from its import path."""
    module, name = method.path.split(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        if str(error).startswith("pip install"):
            raise
        raise InputError(f"The method {method.key!r} cannot be imported from {method.path!r}: {error}.") from None


def grid_of(method: MethodDefinition, name: GridName) -> Grid:
    """The grid that a method has under a name: its own, the class's ``PAPER_GRID``, or none (its defaults alone).

    A method without an "authors" grid is run with its paper's.
    """
    if name in method.grids:
        return {parameter: list(values) for parameter, values in method.grids[name].items()}
    if name == "authors" and "paper" in method.grids:
        return grid_of(method, "paper")
    return {parameter: list(values) for parameter, values in getattr(class_of(method), "PAPER_GRID", {}).items()}


def n_settings(grid: Grid) -> int:
    """Number of settings of a grid; 1 for an empty one."""
    count = 1
    for values in grid.values():
        count *= len(values)
    return count


def plan(definition: Definition, shapes: Mapping[str, tuple[int, int, int]], digests: Mapping[str, str]) -> list[Cell]:
    """All grid cells of an experiment; ``shapes`` and ``digests`` know the data sets that are at hand.

    Work that settings share stays inside a cell: one clustering a fold and number of rules, one set of moments a fold,
    number of rules and width, one training for all numbers of epochs.
    """
    cells: list[Cell] = []
    for data in definition.datasets:
        if data.name in shapes:
            for method in definition.methods:
                cells += _cells_of(definition, data, method, shapes[data.name], digests[data.name])
    return cells


def _cells_of(
    definition: Definition, data: DataDefinition, method: MethodDefinition, shape: tuple[int, int, int], digest: str
) -> list[Cell]:
    grid = grid_of(method, data.grid or definition.grid)
    common = {
        "data": digest,
        "class": method.path,
        "params": {**method.params, **method.params_for.get(data.name, {})},
        "scale": method.scale,
        "folds": definition.folds,
        "convention": definition.convention,
        "version": __version__,
    }
    cells: list[Cell] = []
    for protocol in definition.protocols:
        for seed in definition.seeds:
            for fold in range(definition.folds):
                where = {"protocol": protocol, "dataset": data.name, "method": method.key, "seed": seed, "fold": fold}
                if protocol == "nested":
                    details = {**common, "inner_folds": definition.inner_folds}
                    cells += _nested(where, details, method, grid, shape, definition.inner_folds)
                else:
                    cells += _parts("grid", where, common, method, grid, shape)
    return cells


def _nested(
    where: Mapping[str, Any],
    details: Mapping[str, Any],
    method: MethodDefinition,
    grid: Grid,
    shape: tuple[int, int, int],
    n_inner: int,
) -> list[Cell]:
    inner: list[Cell] = []
    if n_settings(grid) > 1:  # a single setting needs no choice
        for i in range(n_inner):
            inner += _parts("inner", {**where, "inner": i}, details, method, grid, shape)
    final = Cell(
        kind="final",
        **where,
        details={**details, "grid": grid},
        needs=tuple(cell.key for cell in inner),
        size=_size(shape, grid and {k: v[:1] for k, v in grid.items()}) * 5,
    )
    return [*inner, final]


def _parts(
    kind: Kind,
    where: Mapping[str, Any],
    details: Mapping[str, Any],
    method: MethodDefinition,
    grid: Grid,
    shape: tuple[int, int, int],
) -> list[Cell]:
    """The pieces of a grid: one for each value of the parameter by which the method is split."""
    if method.split is None or method.split not in grid:
        return [Cell(kind=kind, **where, details={**details, "grid": grid}, size=_size(shape, grid))]
    parts = [(f"{method.split}={value}", {**grid, method.split: [value]}) for value in grid[method.split]]
    return [
        Cell(kind=kind, **where, part=part, details={**details, "grid": piece}, size=_size(shape, piece))
        for part, piece in parts
    ]


def _size(shape: tuple[int, int, int], grid: Grid) -> float:
    """Rough flops, for the order of the work and the time left: longest first keeps all processes busy to the end."""
    n, d, labels = shape
    rules = max(grid.get("n_rules", [1]))
    return float(n_settings(grid)) * n * d * labels * rules


def study_cells(
    names: Sequence[str], datasets: Mapping[str, Sequence[str]], definition: Definition, digests: Mapping[str, str]
) -> list[Cell]:
    """A cell for every study and data set that it is made on."""
    grids = {data.name: data.grid or definition.grid for data in definition.datasets}
    return [
        Cell(
            kind="study",
            protocol="",
            dataset=dataset,
            method=name,
            seed=definition.seeds[0],
            fold=-1,
            details={
                "data": digests[dataset],
                "grid": "fast" if grids[dataset] == "fast" else "paper",
                "version": __version__,
            },
            size=1e9,
        )
        for name in names
        for dataset in datasets[name]
        if dataset in digests
    ]
