"""An experiment from its definition to a store of results.

Which data are at hand, which pieces of work there are, and doing them. A folder holds
one experiment that may grow: more data sets, methods, protocols or seeds are added to
it. What would make its numbers incomparable (another grid of a data set, number of
folds or convention) is refused.

How long it will take is known from `seconds.csv`, processor seconds of one setting on
one fold by method and data set, and of whole studies; `measured` makes it from a run.
"""

import json
import os
import platform
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from io import StringIO
from itertools import product
from math import log, prod
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ... import __version__
from ...datasets import catalog, content_digest
from ...exceptions import InputError
from ...files import csv_text
from ..methods.nets import torch_device
from .definition import (
    DataDefinition,
    Definition,
    Grid,
    GridName,
    MethodDefinition,
    Protocol,
    class_of,
    grid_of,
    known_methods,
)
from .execute import dataset
from .published import METRICS, PlainData, read_text, table_i
from .results import Results
from .run import Processes, Progress, Report, Runner, run, versions
from .store import Cell, Outcome, Store, canonical
from .studies import STUDIES

STUDY_SIZE = 1e9  # rough flops: studies come before most cells
INNER_SHARE = 0.7  # of a fold's time, for an inner fold with its fewer rows

Shape = tuple[int, int, int]


class Outlook(NamedTuple):
    """What a run is about to do.

    ``here`` names the data sets at hand, ``missing`` has a reason for each other one.
    ``left`` counts the pieces of work that the folder does not hold yet, ``seconds`` is
    their processor time as measured on one core, without the methods ``unknown``.
    """

    here: list[str]
    missing: dict[str, str]
    left: int
    seconds: float
    unknown: list[str]


class DataAtHand(NamedTuple):
    """Descriptions and digests of the data sets, and why others are missing."""

    described: dict[str, PlainData]
    digests: dict[str, str]
    missing: dict[str, str]

    def shapes(self) -> dict[str, Shape]:
        """Numbers of samples, features and labels by data set."""
        shapes = {}
        for name, data in self.described.items():
            shapes[name] = (data["samples"], data["features"], data["labels"])
        return shapes


def reproduce(
    definition: Definition,
    folder: str | Path,
    *,
    required: Collection[str] = (),
    begin: Callable[[Outlook], object] | None = None,
    jobs: int = 1,
    runner: Runner | None = None,
    command: str = "",
    report: Report | None = None,
) -> Progress:
    """Run what the folder does not hold yet of an experiment.

    Parameters
    ----------
    definition : Definition
        `section_iv` with parts replaced, or `read_definition` of a file.
    folder : str or Path
        Made if it is not there; `Store.open` reads it.
    required : collection of str
        Data sets without which nothing is begun; others that are not here are left out.
    begin : callable, optional
        Called with the `Outlook` before the first piece of work.
    jobs : int
        Processes. Numbers do not depend on it.
    runner : Runner, optional
        Where cells are done instead: `run.Cluster` of an address. Numbers do not depend
        on it either.
    command : str
        What was typed, for the report.
    report : callable, optional
        Called with (`Progress`, cell, outcome), the latter two when a cell is finished.
    """
    # A wrong import path, parameter or device is found now, not hours into the work.
    for method in definition.methods:
        _check(method)
    data = _look_at(definition)
    _refuse_missing(data, required)
    shapes = data.shapes()
    cells = list(plan(definition, shapes, data.digests))
    description = {
        **_description(definition),
        "command": command,
        "datasets": data.described,
        "missing": data.missing,
        "planned": _planned_places(cells),
    }
    if definition.studies:
        cells += study_cells(definition, data.digests)
    with Store.open(folder, create=True) as store:
        store.results()  # what is wrong with them is found now, too
        now = json.loads(canonical(description))
        store.describe(_merged(store.description(), now))
        if begin is not None:
            begin(_outlook(data, cells, store))
        if runner is None:
            runner = Runner() if jobs == 1 else Processes(jobs)
        with closing(runner):
            return run(definition, cells, store, runner, report=report or _say_nothing)


def _say_nothing(
    progress: Progress, cell: Cell | None, outcome: Outcome | None
) -> None:
    """The report of a run that nobody watches."""


def _check(method: MethodDefinition) -> None:
    """Refuse a device that is not there, and parameters that the class refuses."""
    changes = [{}, *method.params_for.values()]
    for own in changes:
        try:
            model = class_of(method)(**{**method.params, **own})
            if hasattr(model, "_validate_params"):
                model._validate_params()
        except InputError:
            raise
        except Exception as error:  # classes of others have errors of their own
            problem = f"do not suit it: {error}"
            raise InputError(
                f"The parameters of the method {method.key!r} {problem}"
            ) from None
    if method.device is not None:
        torch_device(method.device)


def _look_at(definition: Definition) -> DataAtHand:
    """What the data sets are, and why some are missing."""
    at_hand = DataAtHand({}, {}, {})
    for data in definition.datasets:
        try:
            content = dataset(data)
        except (InputError, ImportError) as error:
            if data.file is not None:
                raise
            at_hand.missing[data.name] = str(error)
            continue
        if not content.label_names:
            way = "name or count its label columns with --labels"
            raise InputError(f"{data.file} has no labels: {way}.")
        title = data.name
        if data.file is None and data.name in catalog():
            title = catalog()[data.name].title
        n, d, n_labels = content.shape
        labels_per_row = content.Y.sum(axis=1, dtype=int)
        at_hand.described[data.name] = {
            "samples": n,
            "features": d,
            "labels": n_labels,
            "title": title,
            "grid": data.grid or definition.grid,
            "cardinality": content.cardinality,
            "density": content.density,
            "empty": int((labels_per_row == 0).sum()),
            "full": int((labels_per_row == n_labels).sum()),
        }
        at_hand.digests[data.name] = content_digest(content)
    return at_hand


def _refuse_missing(data: DataAtHand, required: Collection[str]) -> None:
    """Begin nothing without the data sets that are required, or without any."""
    for name in required:
        if name in data.missing:
            raise InputError(data.missing[name])
    if not data.described:
        raise InputError(next(iter(data.missing.values())))


def _outlook(data: DataAtHand, cells: Sequence[Cell], store: Store) -> Outlook:
    done = store.done()
    left = [cell for cell in cells if cell.key not in done]
    seconds, unknown = seconds_of(left, data.shapes())
    return Outlook(
        here=list(data.described),
        missing=data.missing,
        left=len(left),
        seconds=seconds,
        unknown=unknown,
    )


def take_over(folder: str | Path, other: str | Path) -> int:
    """Add to a folder what another one has finished, and return the number of cells.

    The other one is of the same experiment, for example on another machine. Nothing is
    written before all of it has been looked at.
    """
    with Store.open(other) as source:
        description = source.results().run
        with Store.open(folder, create=True) as store:
            merged = _merged(store.description(), description)
            count = store.absorb(source)
            store.describe(merged)
    return count


def n_settings(grid: Grid) -> int:
    """Number of settings of a grid; 1 for an empty one."""
    return prod(len(values) for values in grid.values())


def plan(
    definition: Definition, shapes: Mapping[str, Shape], digests: Mapping[str, str]
) -> Iterator[Cell]:
    """All grid cells of an experiment.

    ``shapes`` and ``digests`` know the data sets that are at hand. Work that settings
    share stays inside a cell: one clustering per fold and number of rules, one set of
    moments per fold, number of rules and width, one training for all numbers of epochs.
    """
    for data, method in product(definition.datasets, definition.methods):
        if data.name not in shapes:
            continue
        if method.datasets is not None and data.name not in method.datasets:
            continue
        details = {
            "data": digests[data.name],
            "class": method.path,
            "scale": method.scale,
            "params": {**method.params, **method.params_for.get(data.name, {})},
            "folds": definition.folds,
            "convention": definition.convention,
            "version": __version__,
            "grid": grid_of(method, _grid_name(definition, data, method)),
        }
        protocols = _protocols(definition, data, method)
        folds = range(definition.folds)
        for protocol, seed, fold in product(protocols, definition.seeds, folds):
            whole = Cell(
                kind="grid",
                protocol=protocol,
                dataset=data.name,
                method=method.key,
                seed=seed,
                fold=fold,
                details=details,
            )
            if protocol == "nested":
                nested = {**details, "inner_folds": definition.inner_folds}
                whole = replace(whole, details=nested)
                yield from _nested_cells(whole, method.split, shapes[data.name])
            else:
                yield from _pieces(whole, method.split, shapes[data.name])


def _grid_name(
    definition: Definition, data: DataDefinition, method: MethodDefinition
) -> GridName:
    """The grid of a method on a data set: the most particular choice decides."""
    return method.grid_for.get(data.name) or data.grid or definition.grid


def _protocols(
    definition: Definition, data: DataDefinition, method: MethodDefinition
) -> list[Protocol]:
    """Protocols of the experiment that both the data set and the method take."""
    protocols = list(definition.protocols)
    for own in (data.protocols, method.protocols):
        if own is not None:
            protocols = [protocol for protocol in protocols if protocol in own]
    return protocols


def _pieces(whole: Cell, split: str | None, shape: Shape) -> list[Cell]:
    """A cell in pieces, one for each value of the parameter ``split`` in its grid."""
    grid = whole.details["grid"]
    if split not in grid:
        return [replace(whole, size=_flops(grid, shape))]
    pieces = []
    for value in grid[split]:
        own_grid = {**grid, split: [value]}
        piece = replace(
            whole,
            part=f"{split}={value}",
            details={**whole.details, "grid": own_grid},
            size=_flops(own_grid, shape),
        )
        pieces.append(piece)
    return pieces


def _nested_cells(whole: Cell, split: str | None, shape: Shape) -> list[Cell]:
    """The pieces of the inner folds of a fold, and the fold with what they choose.

    A grid of one setting leaves no choice and needs no inner folds.
    """
    grid = whole.details["grid"]
    inner_cells: list[Cell] = []
    if n_settings(grid) > 1:
        pieces = _pieces(whole, split, shape)
        for i in range(whole.details["inner_folds"]):
            inner_cells += [replace(piece, kind="inner", inner=i) for piece in pieces]
    one_setting = {name: values[:1] for name, values in grid.items()}
    final = replace(
        whole,
        kind="final",
        needs=tuple(cell.key for cell in inner_cells),
        size=len(METRICS) * _flops(one_setting, shape),
    )
    return [*inner_cells, final]


def _flops(grid: Grid, shape: Shape) -> float:
    """Rough size of the work on a grid."""
    return float(n_settings(grid) * prod(shape)) * max(grid.get("n_rules", [1]))


def study_cells(definition: Definition, digests: Mapping[str, str]) -> Iterator[Cell]:
    """A cell for every study and data set at hand that it is made on."""
    grids = {data.name: data.grid or definition.grid for data in definition.datasets}
    for name, study in STUDIES.items():
        for data in study.datasets or digests:
            if data not in digests:
                continue
            grid = "fast" if grids[data] == "fast" else "paper"
            yield Cell(
                kind="study",
                protocol="",
                dataset=data,
                method=name,
                seed=definition.seeds[0],
                fold=-1,
                details={"data": digests[data], "grid": grid, "version": __version__},
                size=STUDY_SIZE,
            )


def _planned_places(cells: Sequence[Cell]) -> list[tuple[str, str, str]]:
    """Every protocol, data set and method that has cells."""
    return sorted({(cell.protocol, cell.dataset, cell.method) for cell in cells})


def _description(definition: Definition) -> PlainData:
    """What `Results.run` holds of an experiment, without the data."""
    description = definition.model_dump(exclude={"studies", "datasets", "methods"})
    methods = {}
    for method in definition.methods:
        grid = grid_of(method, definition.grid)
        methods[method.key] = {
            **method.model_dump(include={"paper", "variant_of", "params"}),
            "title": method.title or method.key,
            "class": method.path,
            "grid": grid,
            "settings": n_settings(grid),
        }
    machine = f"{platform.machine()}, {os.cpu_count()} processors, {platform.system()}"
    return {
        **description,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "machine": machine,
        "n_folds": definition.folds,
        "methods": methods,
    }


def _merged(before: PlainData, now: PlainData) -> PlainData:
    """The description of a folder that holds results, with what is added to them."""
    if not before or not now:
        return before or now
    _refuse_other_numbers(before, now)
    merged = {**before, **now}
    for name in ("datasets", "methods"):
        merged[name] = {**before[name], **now[name]}
    for name in ("protocols", "seeds"):
        merged[name] = list(dict.fromkeys([*before[name], *now[name]]))
    places = [*before.get("planned", ()), *now.get("planned", ())]
    merged["planned"] = sorted(set(map(tuple, places)))
    merged["missing"] = {**before["missing"], **now["missing"]}
    for name in merged["datasets"]:
        merged["missing"].pop(name, None)
    return merged


def _refuse_other_numbers(before: PlainData, now: PlainData) -> None:
    """Refuse to mix results that cannot be compared in one folder."""
    for name in ("folds", "inner_folds", "convention"):
        if before[name] != now[name]:
            content = f"results with {name} = {before[name]}"
            raise InputError(f"This folder holds {content}: choose another folder.")
    for name, data in now["datasets"].items():
        old = before["datasets"].get(name)
        if old and old["grid"] != data["grid"]:
            content = f"{name} with the grid {old['grid']!r}"
            raise InputError(f"This folder holds {content}: choose another folder.")


@cache
def known_seconds() -> Mapping[tuple[str, str], float]:
    """Processor seconds by (method or study, data set), as measured."""
    file = StringIO(read_text("seconds.csv"))
    table = pd.read_csv(file, index_col=["method", "dataset"])
    return table["seconds"].to_dict()


def seconds_of(
    cells: Sequence[Cell], shapes: Mapping[str, Shape]
) -> tuple[float, list[str]]:
    """Processor seconds of pieces of work, and methods of which nothing is known.

    These are left out of the seconds.
    """
    total = 0.0
    unknown: dict[str, None] = {}
    for cell in cells:
        seconds = _seconds_per_setting(cell, prod(shapes[cell.dataset]))
        if seconds is None:
            unknown[cell.method] = None
        else:
            total += seconds * _n_fits(cell)
    return total, list(unknown)


def _seconds_per_setting(cell: Cell, size: int) -> float | None:
    """Processor seconds of one setting, or of a study; None where nothing is known.

    Other data take what the same method took on the set nearest in size, in proportion
    to N D L. Another reading of a method takes about as long as the original.
    """
    seconds = known_seconds()
    method = cell.method
    if method not in {timed for timed, _ in seconds}:
        originals = {other.key: other.variant_of for other in known_methods()}
        method = originals.get(method) or method
    if (method, cell.dataset) in seconds:
        return seconds[method, cell.dataset]
    distances = {}
    for name, shape in table_i().items():
        if (method, name) in seconds:
            distances[name] = abs(log(prod(shape) / size))
    if not distances:
        return None
    nearest = min(distances, key=distances.__getitem__)
    return seconds[method, nearest] * size / prod(table_i()[nearest])


def _n_fits(cell: Cell) -> float:
    """How many times a cell takes the time of one setting on a reported fold."""
    if cell.kind == "study":
        return 1
    n_fits = n_settings(cell.details["grid"])
    if cell.kind == "final":
        return min(len(METRICS), n_fits)  # the choices of five metrics
    return n_fits * INNER_SHARE if cell.kind == "inner" else n_fits


def measured(results: Results) -> str:
    """The content of `seconds.csv` from a run.

    It has the methods and data sets that were computed on processors alone.
    """
    cells = results.cells
    done = cells[(cells["status"] == "done") & (cells["protocol"] != "nested")]
    scores = results.scores[results.scores["protocol"] != "nested"]
    n_fits = scores.groupby(["dataset", "method"], observed=True).size()
    rows = []
    for (method, dataset_name), pieces in done.groupby(["method", "dataset"]):
        if (pieces["device"] == "cpu").all():
            fits = n_fits.get((dataset_name, method), 1)
            seconds = pieces["cpu_seconds"].sum() / fits
            rows.append([method, dataset_name, f"{seconds:.4g}"])
    return csv_text(["method", "dataset", "seconds"], rows)
