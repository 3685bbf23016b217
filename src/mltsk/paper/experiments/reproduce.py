"""An experiment from its definition to a store of results: which data are at hand, which pieces of work, and the doing.

A folder holds one experiment that may grow: more data sets, methods, protocols or seeds are added to it. What
would make its numbers incomparable (another grid of a data set, number of folds or convention) is refused.

How long it will take is known from `seconds.csv`, processor seconds of one setting on one fold by method and data set,
and of whole studies; `measured` makes it from a run.
"""

import json
import os
import platform
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from io import StringIO
from itertools import product
from math import log, prod
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ... import __version__
from ...datasets import catalog, content_digest
from ...exceptions import InputError
from ..methods.nets import torch_device
from .definition import (
    Definition,
    Grid,
    MethodDefinition,
    class_of,
    grid_of,
    known_methods,
)
from .execute import dataset
from .published import read_text, table_i
from .results import Results
from .run import Processes, Progress, Report, Runner, run, versions
from .store import Cell, Kind, Store, canonical
from .studies import STUDIES

Shape = tuple[int, int, int]


class Outlook(NamedTuple):
    """What a run is about to do: data sets by whether they are here, pieces of work, and how long those will take.

    ``missing`` has a reason by name, ``left`` counts the pieces that the folder does not hold yet, ``seconds`` is their
    processor time as measured on one core, without the methods ``unknown``.
    """

    here: list[str]
    missing: dict[str, str]
    left: int
    seconds: float
    unknown: list[str]


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
        Where cells are done instead: `run.Cluster` of an address. Numbers do not depend on it either.
    command : str
        What was typed, for the report.
    report : callable, optional
        Called with (`Progress`, cell, outcome), the latter two when a cell is finished.
    """
    for method in definition.methods:
        _check(
            method
        )  # a wrong import path, parameter or device is found before the work, not hours into it
    described, digests, missing = _look_at(definition)
    if lost := [missing[name] for name in required if name in missing] or (
        not described and [*missing.values()]
    ):
        raise InputError(lost[0])
    shapes = {
        name: (d["samples"], d["features"], d["labels"])
        for name, d in described.items()
    }
    cells = [
        *plan(definition, shapes, digests),
        *(study_cells(definition, digests) if definition.studies else ()),
    ]
    about = _description(definition) | {
        "command": command,
        "datasets": described,
        "missing": missing,
    }
    about["planned"] = sorted(
        {(c.protocol, c.dataset, c.method) for c in cells if c.kind != "study"}
    )
    with Store.open(folder, create=True) as store:
        store.describe(_merged(store.description(), json.loads(canonical(about))))
        if begin is not None:
            done = store.done()
            left = [cell for cell in cells if cell.key not in done]
            begin(
                Outlook(list(described), missing, len(left), *seconds_of(left, shapes))
            )
        with closing(runner or (Runner() if jobs == 1 else Processes(jobs))) as at_work:
            return run(
                definition,
                cells,
                store,
                at_work,
                report or (lambda progress, cell, outcome: None),
            )


def _check(method: MethodDefinition) -> None:
    """Refuse devices that are not there, parameters that the class does not know, and values that it does not take."""
    for params in (
        method.params,
        *({**method.params, **own} for own in method.params_for.values()),
    ):
        try:
            model = class_of(method)(**params)
            getattr(model, "_validate_params", lambda: None)()
        except InputError:
            raise
        except Exception as error:  # classes of others have errors of their own
            raise InputError(
                f"The parameters of the method {method.key!r} do not suit it: {error}"
            ) from None
    if method.device is not None:
        torch_device(method.device)


def take_over(folder: str | Path, other: str | Path) -> int:
    """Add to a folder what another one, of the same experiment on another machine, has finished; returns how many."""
    with Store.open(folder, create=True) as store, Store.open(other) as source:
        merged, count = (
            _merged(store.description(), source.description()),
            store.absorb(source),
        )
        store.describe(merged)
    return count


def _look_at(
    definition: Definition,
) -> tuple[dict[str, Any], dict[str, str], dict[str, str]]:
    """What the data sets are, their digests, and why those that are missing are."""
    described, digests, missing = dict[str, Any](), dict[str, str](), dict[str, str]()
    for data in definition.datasets:
        try:
            found = dataset(data)
        except (InputError, ImportError) as error:
            if data.file is not None:
                raise
            missing[data.name] = str(error)
            continue
        if not found.label_names:
            raise InputError(
                f"{data.file} has no labels: name or count its label columns with --labels."
            )
        (n, d, labels), count = found.shape, found.Y.sum(axis=1, dtype=int)
        title = (
            catalog()[data.name].title
            if data.file is None and data.name in catalog()
            else data.name
        )
        about = {
            "samples": n,
            "features": d,
            "labels": labels,
            "title": title,
            "grid": data.grid or definition.grid,
        }
        ratios = {"cardinality": found.cardinality, "density": found.density}
        described[data.name] = (
            about
            | ratios
            | {"empty": int((count == 0).sum()), "full": int((count == labels).sum())}
        )
        digests[data.name] = content_digest(found)
    return described, digests, missing


def n_settings(grid: Grid) -> int:
    """Number of settings of a grid; 1 for an empty one."""
    return prod(len(values) for values in grid.values())


def plan(
    definition: Definition, shapes: Mapping[str, Shape], digests: Mapping[str, str]
) -> Iterator[Cell]:
    """All grid cells of an experiment; ``shapes`` and ``digests`` know the data sets that are at hand.

    Work that settings share stays inside a cell: one clustering per fold and number of rules, one set of moments per
    fold, number of rules and width, one training for all numbers of epochs.
    """
    for data, method in product(definition.datasets, definition.methods):
        if data.name not in shapes or (
            method.datasets is not None and data.name not in method.datasets
        ):
            continue
        details: dict[str, Any] = {
            "data": digests[data.name],
            "class": method.path,
            "scale": method.scale,
        }
        details["params"] = {**method.params, **method.params_for.get(data.name, {})}
        details |= {
            "folds": definition.folds,
            "convention": definition.convention,
            "version": __version__,
        }
        grid = grid_of(
            method, method.grid_for.get(data.name) or data.grid or definition.grid
        )
        own = [
            protocols
            for protocols in (data.protocols, method.protocols)
            if protocols is not None
        ]
        run = [
            protocol
            for protocol in definition.protocols
            if all(protocol in protocols for protocols in own)
        ]
        for protocol, seed, fold in product(
            run, definition.seeds, range(definition.folds)
        ):
            inner = (
                {"inner_folds": definition.inner_folds} if protocol == "nested" else {}
            )
            where = {
                "protocol": protocol,
                "dataset": data.name,
                "method": method.key,
                "seed": seed,
                "fold": fold,
            }
            yield from _of_fold(
                where, {**details, **inner}, grid, method.split, shapes[data.name]
            )


def _of_fold(
    where: dict[str, Any],
    details: dict[str, Any],
    grid: Grid,
    split: str | None,
    shape: Shape,
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
            Cell(
                kind,
                **where,
                inner=inner,
                part=part,
                details={**details, "grid": piece},
                size=size(piece),
            )
            for part, piece in parts.items()
        ]

    if where["protocol"] != "nested":
        return pieces("grid")
    n_inner = details["inner_folds"] if n_settings(grid) > 1 else 0
    inner = [cell for i in range(n_inner) for cell in pieces("inner", i)]
    needs, least = (
        tuple(cell.key for cell in inner),
        {name: values[:1] for name, values in grid.items()},
    )
    return [
        *inner,
        Cell(
            "final",
            **where,
            details={**details, "grid": grid},
            needs=needs,
            size=5 * size(least),
        ),
    ]


def study_cells(definition: Definition, digests: Mapping[str, str]) -> Iterator[Cell]:
    """A cell for every study and data set at hand that it is made on."""
    grids = {data.name: data.grid or definition.grid for data in definition.datasets}
    for name, study in STUDIES.items():
        for data in [data for data in study.datasets or digests if data in digests]:
            grid = "fast" if grids[data] == "fast" else "paper"
            details: dict[str, Any] = {
                "data": digests[data],
                "grid": grid,
                "version": __version__,
            }
            yield Cell(
                "study",
                "",
                data,
                name,
                definition.seeds[0],
                -1,
                details=details,
                size=1e9,
            )


def _description(definition: Definition) -> dict[str, Any]:
    """What `Results.run` holds, but for the data."""
    kept, methods = (
        {"title", "grid", "convention", "folds", "inner_folds", "protocols", "seeds"},
        {},
    )
    for method in definition.methods:
        grid, about = (
            grid_of(method, definition.grid),
            method.model_dump(include={"paper", "variant_of", "params"}),
        )
        about |= {"title": method.title or method.key, "class": method.path}
        methods[method.key] = about | {"grid": grid, "settings": n_settings(grid)}
    machine = f"{platform.machine()}, {os.cpu_count()} processors, {platform.system()}"
    now = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "machine": machine,
    }
    return {
        **definition.model_dump(include=kept),
        **now,
        "n_folds": definition.folds,
        "methods": methods,
    }


def _merged(before: Mapping[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """The description of a folder that already holds results, and of what is added to them."""
    if not before:
        return now
    for name in ("folds", "inner_folds", "convention"):
        if before[name] != now[name]:
            raise InputError(
                f"This folder holds results with {name} = {before[name]}: choose another folder."
            )
    for name, data in now["datasets"].items():
        if (old := before["datasets"].get(name)) and old["grid"] != data["grid"]:
            raise InputError(
                f"This folder holds {name} with the grid {old['grid']!r}: choose another folder."
            )
    merged = {**before, **now} | {
        name: {**before[name], **now[name]} for name in ("datasets", "methods")
    }
    merged |= {
        name: list(dict.fromkeys([*before[name], *now[name]]))
        for name in ("protocols", "seeds")
    }
    merged["planned"] = sorted(
        {tuple(place) for about in (before, now) for place in about.get("planned", ())}
    )
    missing = {**before["missing"], **now["missing"]}
    merged["missing"] = {
        name: why for name, why in missing.items() if name not in merged["datasets"]
    }
    return merged


@cache
def known_seconds() -> Mapping[tuple[str, str], float]:
    """Processor seconds by (method or study, data set), as measured."""
    table = pd.read_csv(
        StringIO(read_text("seconds.csv")), index_col=["method", "dataset"]
    )
    return table["seconds"].to_dict()


def seconds_of(
    cells: Sequence[Cell], shapes: Mapping[str, Shape]
) -> tuple[float, list[str]]:
    """Processor seconds of pieces of work, and the methods of which nothing is known, which are left out.

    Other data take what the same method took on the set nearest in size, in proportion to N D L.
    """
    known, sizes, total, unknown = known_seconds(), table_i(), 0.0, dict[str, None]()
    originals = {method.key: method.variant_of for method in known_methods()}
    for cell in cells:
        method, size = cell.method, prod(shapes[cell.dataset])
        if all(
            timed != method for timed, _ in known
        ):  # another reading takes about as long
            method = originals.get(method) or method
        near = [
            dataset for timed, dataset in known if timed == method and dataset in sizes
        ]
        if (method, cell.dataset) in known:
            seconds = known[method, cell.dataset]
        elif near:
            nearest = min(
                near, key=lambda dataset: abs(log(prod(sizes[dataset]) / size))
            )
            seconds = known[method, nearest] * size / prod(sizes[nearest])
        else:
            unknown[cell.method] = None
            continue
        fits = 1 if cell.kind == "study" else n_settings(cell.details["grid"])
        # a final piece fits the choices of five metrics, an inner one fewer rows
        total += seconds * (
            min(5, fits)
            if cell.kind == "final"
            else fits * (0.7 if cell.kind == "inner" else 1)
        )
    return total, list(unknown)


def measured(results: Results) -> str:
    """The content of `seconds.csv`, of the methods and data sets that a run computed on processors alone."""
    done = results.cells[
        (results.cells["status"] == "done") & (results.cells["protocol"] != "nested")
    ]
    fits = (
        results.scores[results.scores["protocol"] != "nested"]
        .groupby(["dataset", "method"], observed=True)
        .size()
    )
    lines = [
        f"{method},{dataset},{pieces['cpu_seconds'].sum() / fits.get((dataset, method), 1):.4g}\n"
        for (method, dataset), pieces in done.groupby(["method", "dataset"])
        if (pieces["device"] == "cpu").all()
    ]
    return "method,dataset,seconds\n" + "".join(lines)
