"""What a cell's work is: rows, scale, the grid in one pass, metrics. Plain functions, the same in every process."""

import os
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags

from ...datasets import Dataset, load_dataset
from ...metrics import five_metrics
from ...metrics.scorers import label_scores
from ..methods.base import GridPoint
from .cells import Cell
from .cross_validation import Fold
from .definition import DataDefinition, MethodDefinition, class_of
from .protocols import inner_fold, minmax, outer_fold, sliced_folds
from .published import METRICS
from .store import Outcome, Row
from .studies import STUDIES

_BATCH = 64  # tables of scores that are evaluated together
Grid = Mapping[str, Sequence[Any]]
Settings = Mapping[str, Mapping[str, Any]]
Scored = tuple[GridPoint, NDArray[Any]]  # with the test rows


def execute(
    cell: Cell, data: DataDefinition, method: MethodDefinition | None, chosen: Settings | None = None
) -> Outcome:
    """Do the work of a cell; an error becomes part of the outcome. ``chosen`` are a final cell's settings, by metric.

    One thread per cell, so that numbers do not depend on how many cells run at once.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    rows: tuple[Row, ...] = ()
    study, error, device = None, "", "cpu"
    try:
        with _one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # collapsed rules and tied scores are in the tables, fold by fold
            if method is None:
                study = STUDIES[cell.method].function(dataset(data), seed=cell.seed, grid=cell.details["grid"])
            else:
                model, device = _model(cell, method)
                rows = tuple(_rows(cell, dataset(data), model, chosen or {}))
    except Exception as problem:
        error = _described(problem)
    return Outcome(rows, study, error, time.perf_counter() - wall, time.process_time() - cpu, device)


@contextmanager
def _one_thread() -> Iterator[None]:
    """MLTSK_THREADS is 1 while inside, and what it was before afterwards."""
    before = os.environ.get("MLTSK_THREADS")
    os.environ["MLTSK_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["MLTSK_THREADS"]
        else:
            os.environ["MLTSK_THREADS"] = before


def dataset(data: DataDefinition) -> Dataset:
    """A data set, read once per process."""
    return _read(data.model_dump_json(exclude={"grid"}))


@lru_cache(maxsize=2)
def _read(text: str) -> Dataset:
    data = DataDefinition.model_validate_json(text)
    return load_dataset(data.file or data.name, labels=data.labels)


def _described(problem: Exception) -> str:
    place = traceback.extract_tb(problem.__traceback__)[-1]
    where = f"{os.path.basename(place.filename)}:{place.lineno}"
    return f"{type(problem).__name__}: {' '.join(str(problem).split())} ({where})"


def _model(cell: Cell, method: MethodDefinition) -> tuple[Any, str]:
    """The cell's classifier and where it computes: on the device asked for, if it has a parameter of that name."""
    model = class_of(method)(**cell.details["params"])
    if method.device is None or "device" not in model.get_params():
        return model, "cpu"
    return model.set_params(device=method.device), method.device


def _rows(cell: Cell, data: Dataset, model: Any, chosen: Settings) -> Iterator[Row]:
    if cell.kind != "final":
        for params, metrics in _evaluated(cell, data, model, cell.details["grid"]):
            yield Row(params, metrics)
        return
    only = {name: values[0] for name, values in cell.details["grid"].items()}
    chosen, found = chosen or dict.fromkeys(METRICS, only), {}
    for setting in {repr(setting): setting for setting in chosen.values()}.values():
        grid = {name: [value] for name, value in setting.items()}
        ((_, found[repr(setting)]),) = _evaluated(cell, data, model, grid)
    for metric, setting in chosen.items():
        yield Row(setting, found[repr(setting)], metric)


def _evaluated(
    cell: Cell, data: Dataset, model: BaseEstimator, grid: Grid
) -> Iterator[tuple[Mapping[str, Any], tuple[float, ...]]]:
    """Every setting with its metrics on the cell's test rows, in batches of those that share them."""
    for _, points in groupby(_points(cell, data, model, grid), key=lambda scored: id(scored[1])):
        while batch := list(islice(points, _BATCH)):
            yield from _metrics(batch, data.Y, cell.details["convention"])


def _points(cell: Cell, data: Dataset, model: Any, grid: Grid) -> Iterator[Scored]:
    n_splits, seed, scaled = cell.details["folds"], cell.seed, cell.details["scale"] == "minmax"
    if cell.protocol == "paper" and hasattr(model, "authors_path"):

        def split(n_rules: int, width_scale: float) -> Fold:
            return sliced_folds(len(data), n_splits, (seed, n_rules, round(1000 * width_scale)))[cell.fold]

        yield from model.authors_path(minmax(data.X, data.X), data.Y, split, grid)
        return
    train, test = outer = outer_fold(cell.protocol, data.Y, n_splits, seed, cell.fold)
    if cell.inner >= 0:
        train, test = inner_fold(data.Y, outer, cell.details["inner_folds"], seed, cell.inner)
    X = minmax(data.X, data.X if cell.protocol == "paper" else data.X[train]) if scaled else data.X
    for point in _path(model, X[train], data.Y[train], X[test], grid, scaled):
        yield point, test


def _path(model: Any, X: Any, Y: NDArray[Any], T: Any, grid: Grid, scaled: bool) -> Iterable[GridPoint]:
    if sparse.issparse(X) and not get_tags(model).input_tags.sparse:
        X, T = X.toarray(), T.toarray()
    if scaled and hasattr(model, "scaled_path"):
        return model.scaled_path(X, Y, T, grid)
    if hasattr(model, "grid_path"):
        return model.grid_path(X, Y, T, grid)
    return _one_by_one(model, X, Y, T, grid)


def _one_by_one(model: Any, X: Any, Y: NDArray[Any], T: Any, grid: Grid) -> Iterator[GridPoint]:
    for params in ParameterGrid(dict(grid)):
        fitted = clone(model).set_params(**params).fit(X, Y)
        yield GridPoint(params, label_scores(fitted, T, Y.shape[1]), np.asarray(fitted.predict(T)))


def _metrics(
    batch: Sequence[Scored], Y: NDArray[Any], convention: str
) -> Iterator[tuple[Mapping[str, Any], tuple[float, ...]]]:
    truth = Y[batch[0][1]]
    scores = np.stack([point.scores for point, _ in batch])
    values = five_metrics(truth, scores, convention=convention)
    values[:, 1] = [np.mean(point.labels != truth) for point, _ in batch]  # by the method's own threshold
    tied = (scores == scores[:, :, :1]).all(axis=2).mean(axis=1)
    for (point, _), metrics, share in zip(batch, values.tolist(), tied.tolist(), strict=True):
        yield point.params, (*metrics, share)
