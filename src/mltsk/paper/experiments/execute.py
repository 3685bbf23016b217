"""What a cell's work is: rows, scale, the grid in one pass, metrics. Plain functions, the same in every process."""

import os
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
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
from .cells import Cell, class_of
from .definition import DataDefinition, MethodDefinition
from .protocol import Fold
from .splits import inner_fold, minmax, outer_fold, sliced_folds
from .store import Outcome, Row

_BATCH = 64  # tables of scores that are evaluated together
Settings = Sequence[Mapping[str, Any]]


def execute(cell: Cell, data: DataDefinition, method: MethodDefinition | None, chosen: Settings = ()) -> Outcome:
    """Do the work of a cell; an error becomes part of the outcome. ``chosen`` are the settings of a final cell.

    One thread a cell, so that numbers do not depend on how many cells run at once.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    rows: tuple[Row, ...] = ()
    study, error, device = None, "", "cpu"
    try:
        with _one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # collapsed rules and tied scores are in the tables, fold by fold
            if method is None:
                study = _study(cell, dataset(data))
            else:
                model, device = _model(cell, dataset(data), method)
                rows = tuple(_rows(cell, dataset(data), model, chosen))
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
    """A data set, read once a process."""
    labels = tuple(data.labels) if isinstance(data.labels, list) else data.labels
    return _read(data.name, data.file, labels)


@lru_cache(maxsize=2)
def _read(name: str, file: str | None, labels: Any) -> Dataset:
    return load_dataset(name if file is None else file, labels=list(labels) if isinstance(labels, tuple) else labels)


def _described(problem: Exception) -> str:
    place = traceback.extract_tb(problem.__traceback__)[-1]
    where = f"{os.path.basename(place.filename)}:{place.lineno}"
    return f"{type(problem).__name__}: {' '.join(str(problem).split())} ({where})"


def _study(cell: Cell, data: Dataset) -> Mapping[str, Any]:
    from .studies import STUDIES

    return STUDIES[cell.method].function(data, seed=cell.seed, grid=cell.details["grid"])


def _model(cell: Cell, data: Dataset, method: MethodDefinition) -> tuple[Any, str]:
    """The cell's classifier and where it computes: the device asked for, if it has one and takes these rows there."""
    model = class_of(method)(**cell.details["params"])
    # The compared methods make sparse rows dense for a device; MLTSKClassifier refuses them there and stays here.
    fits = hasattr(model, "grid_path") or not data.is_sparse
    if method.device is None or not fits or "device" not in model.get_params():
        return model, "cpu"
    return model.set_params(device=method.device), method.device


def _rows(cell: Cell, data: Dataset, model: Any, chosen: Settings) -> Iterator[Row]:
    if cell.kind != "final":
        for params, metrics in _evaluated(cell, data, model, cell.details["grid"]):
            yield Row(params, metrics)
        return
    settings = {entry["chosen_by"]: entry["setting"] for entry in chosen} or {"": {}}
    found = {
        repr(setting): metrics
        for setting in settings.values()
        for _, metrics in _evaluated(cell, data, model, {name: [value] for name, value in setting.items()})
    }
    for by, setting in settings.items():
        for name in (by,) if by else ("AP", "HL", "OE", "RL", "CV"):
            yield Row(setting, found[repr(setting)], name)


def _evaluated(
    cell: Cell, data: Dataset, model: BaseEstimator, grid: Mapping[str, Sequence[Any]]
) -> Iterator[tuple[Mapping[str, Any], tuple[float, ...]]]:
    """Every setting with its metrics on the cell's test rows."""
    points = _points(cell, data, model, grid)
    batch: list[tuple[GridPoint, NDArray[Any]]] = []
    for point, test in points:
        if batch and (len(batch) == _BATCH or batch[-1][1] is not test):
            yield from _metrics(batch, data.Y, cell.details["convention"])
            batch = []
        batch.append((point, test))
    if batch:
        yield from _metrics(batch, data.Y, cell.details["convention"])


def _points(
    cell: Cell, data: Dataset, model: Any, grid: Mapping[str, Sequence[Any]]
) -> Iterator[tuple[GridPoint, NDArray[Any]]]:
    """Scores of every setting of the grid, each with its test rows."""
    n_splits, seed, scaled = cell.details["folds"], cell.seed, cell.details["scale"] == "minmax"
    if cell.protocol == "paper" and hasattr(model, "authors_path"):

        def split(n_rules: int, width_scale: float) -> Fold:
            return sliced_folds(len(data), n_splits, (seed, n_rules, round(1000 * width_scale)))[cell.fold]

        yield from model.authors_path(minmax(data.X, data.X), data.Y, split, grid)
        return
    train, test = _fold(cell, data, n_splits)
    X = minmax(data.X, data.X if cell.protocol == "paper" else data.X[train]) if scaled else data.X
    for point in _path(model, X[train], data.Y[train], X[test], grid, scaled):
        yield point, test


def _fold(cell: Cell, data: Dataset, n_splits: int) -> Fold:
    outer = outer_fold(cell.protocol, data.Y, n_splits, cell.seed, cell.fold)
    return inner_fold(data.Y, outer, cell.details["inner_folds"], cell.seed, cell.inner) if cell.inner >= 0 else outer


def _path(
    model: Any, X: Any, Y: NDArray[Any], T: Any, grid: Mapping[str, Sequence[Any]], scaled: bool
) -> Iterable[GridPoint]:
    if sparse.issparse(X) and not get_tags(model).input_tags.sparse:
        X, T = X.toarray(), T.toarray()
    if scaled and hasattr(model, "scaled_path"):
        return model.scaled_path(X, Y, T, grid)
    if hasattr(model, "grid_path"):
        return model.grid_path(X, Y, T, grid)
    return _one_by_one(model, X, Y, T, grid)


def _one_by_one(model: Any, X: Any, Y: NDArray[Any], T: Any, grid: Mapping[str, Sequence[Any]]) -> Iterator[GridPoint]:
    """Any scikit-learn classifier: one fit a setting."""
    for params in ParameterGrid(dict(grid)):
        fitted = clone(model).set_params(**params).fit(X, Y)
        yield GridPoint(params, label_scores(fitted, T, Y.shape[1]), np.asarray(fitted.predict(T)))


def _metrics(
    batch: Sequence[tuple[GridPoint, NDArray[Any]]], Y: NDArray[Any], convention: str
) -> Iterator[tuple[Mapping[str, Any], tuple[float, ...]]]:
    truth = Y[batch[0][1]]
    scores = np.stack([point.scores for point, _ in batch])
    values = five_metrics(truth, scores, convention=convention)
    values[:, 1] = [np.mean(point.labels != truth) for point, _ in batch]  # by the method's own threshold
    tied = (scores == scores[:, :, :1]).all(axis=2).mean(axis=1)
    for (point, _), metrics, share in zip(batch, values.tolist(), tied.tolist(), strict=True):
        yield point.params, (*metrics, share)
