"""An experiment from its definition to a store of results: which data are at hand, what there is to do, and the doing.

A folder holds one experiment that may grow: more data sets, methods, protocols or seeds are added to it. What
would make its numbers incomparable (another grid of a data set, number of folds or convention) is refused.
"""

import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...datasets import Dataset, catalog, content_digest
from ...exceptions import InputError
from ..methods.nets import torch_device
from .cells import n_settings, plan, study_cells
from .definition import DataDefinition, Definition, GridName, MethodDefinition, class_of, grid_of
from .execute import dataset
from .run import Progress, Report, Runner, run, versions
from .store import Store
from .studies import STUDIES

_FIXED = ("folds", "inner_folds", "convention")


def reproduce(
    definition: Definition,
    folder: str | Path,
    *,
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
        _check(method)  # a wrong import path, parameter or device is found before the work, not hours into it
        if method.device is not None:
            torch_device(method.device)
    with Store.open(folder, create=True) as store:
        before = store.description()
        described, digests, missing = _look_at(definition)
        if not described:
            raise InputError(f"None of the data sets is on this machine: {next(iter(missing.values()))}")
        store.describe(_merged(before, _description(definition, described, missing, command)))
        shapes = {name: (d["samples"], d["features"], d["labels"]) for name, d in described.items()}
        cells = plan(definition, shapes, digests)
        if definition.studies:
            cells += study_cells({name: study.datasets for name, study in STUDIES.items()}, definition, digests)
        return run(definition, cells, store, jobs=jobs, runner=runner, report=report)


def _check(method: MethodDefinition) -> None:
    """Refuse parameters that the method's class does not know, or whose values it says it does not take."""
    for params in (method.params, *({**method.params, **own} for own in method.params_for.values())):
        try:
            model = class_of(method)(**params)
            getattr(model, "_validate_params", lambda: None)()
        except (TypeError, ValueError) as error:
            raise InputError(f"The parameters of the method {method.key!r} do not suit it: {error}") from None


def take_over(folder: str | Path, other: str | Path) -> int:
    """Add to a folder what another one, of the same experiment on another machine, has finished; returns how many."""
    with Store.open(folder, create=True) as store, Store.open(other) as source:
        merged = _merged(store.description(), source.description())
        count = store.absorb(other)
        store.describe(merged)
    return count


def _look_at(definition: Definition) -> tuple[dict[str, Any], dict[str, str], dict[str, str]]:
    """What the data sets are, their digests, and why those that are missing are."""
    described: dict[str, Any] = {}
    digests: dict[str, str] = {}
    missing: dict[str, str] = {}
    for data in definition.datasets:
        try:
            found = dataset(data)
        except (InputError, ImportError) as error:
            if data.file is not None:
                raise
            missing[data.name] = str(error)
            continue
        if not found.label_names:
            raise InputError(f"{data.file} has no labels: name or count its label columns with --labels.")
        described[data.name] = {**_shape(found), "title": _title(data), "grid": data.grid or definition.grid}
        digests[data.name] = content_digest(found)
    return described, digests, missing


def _shape(data: Dataset) -> dict[str, Any]:
    n, d, labels = data.shape
    count = data.Y.sum(axis=1, dtype=int)
    return {
        "samples": n,
        "features": d,
        "labels": labels,
        "cardinality": data.cardinality,
        "density": data.density,
        "empty": int((count == 0).sum()),
        "full": int((count == labels).sum()),
    }


def _title(data: DataDefinition) -> str:
    known = catalog()
    return known[data.name].title if data.file is None and data.name in known else data.name


def _description(
    definition: Definition, described: Mapping[str, Any], missing: Mapping[str, str], command: str
) -> dict[str, Any]:
    return {
        "title": definition.title,
        "command": command,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "machine": f"{platform.machine()}, {os.cpu_count()} processors, {platform.system()}",
        "grid": definition.grid,
        "convention": definition.convention,
        "n_folds": definition.folds,
        "folds": definition.folds,
        "inner_folds": definition.inner_folds,
        "protocols": list(definition.protocols),
        "seeds": list(definition.seeds),
        "datasets": dict(described),
        "missing": dict(missing),
        "methods": {method.key: _method(method, definition.grid) for method in definition.methods},
    }


def _method(method: MethodDefinition, grid: GridName) -> dict[str, Any]:
    values = grid_of(method, grid)
    return {
        "title": method.title or method.key,
        "paper": method.paper,
        "class": method.path,
        "params": method.params,
        "grid": values,
        "settings": n_settings(values),
    }


def _merged(before: Mapping[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """The description of a folder that already holds results, and of what is added to them."""
    if not before:
        return now
    for name in _FIXED:
        if before[name] != now[name]:
            raise InputError(f"This folder holds results with {name} = {before[name]}: choose another folder.")
    for name, data in now["datasets"].items():
        if (old := before["datasets"].get(name)) and old["grid"] != data["grid"]:
            raise InputError(f"This folder holds {name} with the grid {old['grid']!r}: choose another folder.")
    merged = {**before, **now}
    for name in ("datasets", "methods"):
        merged[name] = {**before[name], **now[name]}
    for name in ("protocols", "seeds"):
        merged[name] = list(dict.fromkeys([*before[name], *now[name]]))
    missing = {**before["missing"], **now["missing"]}
    merged["missing"] = {name: why for name, why in missing.items() if name not in merged["datasets"]}
    return merged
