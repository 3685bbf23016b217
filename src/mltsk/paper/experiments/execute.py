"""What a cell's work is under each protocol: rows, scale, the grid in one pass, metrics; the same in every process.

`paper` is what the authors did: features scaled, and rules clustered, on all rows before the split; one random
permutation cut into slices of ceil(n / 5) rows, for ML-TSK FS a new one for every number of rules and width. Under
`strict` and `nested` everything is fitted inside the training rows, and folds are stratified; `nested` chooses settings
on inner folds of the training rows, the others on the folds that are reported. Folds are functions of a seed.
"""

import os
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import groupby, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags

from ...core.terms import fit_scaling
from ...datasets import Dataset, load_dataset
from ...datasets.load import BENCHMARKS, is_path
from ...exceptions import InputError
from ...metrics import five_metrics
from ...metrics.scorers import label_scores
from ...tables import read_table
from ..methods.base import GridPoint
from .cross_validation import Fold, IterativeStratification
from .definition import DataDefinition, MethodDefinition, class_of
from .published import METRICS
from .store import Cell, Outcome, Row
from .studies import STUDIES

_BATCH = 64  # tables of scores that are evaluated together
Grid = Mapping[str, Sequence[Any]]


def execute(
    cell: Cell,
    data: DataDefinition,
    method: MethodDefinition | None,
    chosen: Mapping[str, Any] | None = None,
) -> Outcome:
    """Do the work of a cell; an error becomes part of the outcome. ``chosen`` are a final cell's settings, by metric.

    One thread per cell, so that numbers do not depend on how many cells run at once.
    """
    wall, cpu, outcome, threads = (
        time.perf_counter(),
        time.process_time(),
        Outcome(),
        os.environ.get("MLTSK_THREADS"),
    )
    os.environ["MLTSK_THREADS"] = "1"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # collapsed rules and tied scores are in the tables, fold by fold
            if method is None or cell.kind == "study":
                study = STUDIES[cell.method].function(
                    dataset(data), seed=cell.seed, grid=cell.details["grid"]
                )
                outcome = Outcome(study=study)
            else:
                model = class_of(method)(**cell.details["params"])
                if method.device is not None and "device" in model.get_params():
                    model.set_params(device=method.device)
                    outcome = Outcome(device=method.device)
                outcome = outcome._replace(
                    rows=tuple(_rows(cell, dataset(data), model, chosen or {}))
                )
    except Exception as problem:
        place = traceback.extract_tb(problem.__traceback__)[-1]
        where = f"{os.path.basename(place.filename)}:{place.lineno}"
        outcome = outcome._replace(
            error=f"{type(problem).__name__}: {' '.join(str(problem).split())} ({where})"
        )
    finally:
        os.environ.pop("MLTSK_THREADS")
        if threads is not None:
            os.environ["MLTSK_THREADS"] = threads
    return outcome._replace(
        seconds=time.perf_counter() - wall, cpu_seconds=time.process_time() - cpu
    )


@lru_cache(maxsize=2)
def dataset(data: DataDefinition) -> Dataset:
    """A data set, read once per process."""
    name = data.file or data.name
    if is_path(name) and not name.lower().endswith(BENCHMARKS):
        return read_table(name, data.labels).dataset()
    return load_dataset(name, labels=data.labels)


def _rows(
    cell: Cell, data: Dataset, model: Any, chosen: Mapping[str, Any]
) -> Iterator[Row]:
    if cell.kind != "final":
        yield from _evaluated(cell, data, model, cell.details["grid"])
        return
    only = {name: values[0] for name, values in cell.details["grid"].items()}
    found: dict[str, Row] = {}
    for metric, setting in (chosen or dict.fromkeys(METRICS, only)).items():
        if repr(setting) not in found:  # several metrics may choose the same
            grid = {name: [value] for name, value in setting.items()}
            (found[repr(setting)],) = _evaluated(cell, data, model, grid)
        yield found[repr(setting)]._replace(setting=setting, chosen_by=metric)


def _evaluated(cell: Cell, data: Dataset, model: Any, grid: Grid) -> Iterator[Row]:
    """Every setting with its metrics on the cell's test rows, in batches of those that share them."""
    for _, points in groupby(
        _points(cell, data, model, grid), key=lambda scored: id(scored[1])
    ):
        while batch := list(islice(points, _BATCH)):
            truth, scores = (
                data.Y[batch[0][1]],
                np.stack([point.scores for point, _ in batch]),
            )
            values = five_metrics(truth, scores, convention=cell.details["convention"])
            values[:, 1] = [
                np.mean(point.labels != truth) for point, _ in batch
            ]  # by the method's own threshold
            tied = (scores == scores[:, :, :1]).all(axis=2).mean(axis=1)
            for (point, _), metrics in zip(
                batch, np.column_stack([values, tied]).tolist(), strict=True
            ):
                yield Row(point.params, tuple(metrics))


def _points(
    cell: Cell, data: Dataset, model: Any, grid: Grid
) -> Iterator[tuple[GridPoint, NDArray[Any]]]:
    """Every setting with its scores, and the rows that they are of."""
    n_splits, seed, scaled = (
        cell.details["folds"],
        cell.seed,
        cell.details["scale"] == "minmax",
    )
    if cell.protocol == "paper" and hasattr(model, "authors_path"):

        def split(n_rules: int, width_scale: float) -> Fold:
            return sliced_folds(
                len(data), n_splits, (seed, n_rules, round(1000 * width_scale))
            )[cell.fold]

        yield from model.authors_path(minmax(data.X, data.X), data.Y, split, grid)
        return
    train, test = folds_of(cell.protocol, data.Y, n_splits, seed)[cell.fold]
    if cell.inner >= 0:
        fit, check = folds_of(
            cell.protocol, data.Y[train], cell.details["inner_folds"], seed
        )[cell.inner]
        train, test = train[fit], train[check]
    X = (
        minmax(data.X, data.X if cell.protocol == "paper" else data.X[train])
        if scaled
        else data.X
    )
    X, T = X[train], X[test]
    if sparse.issparse(X) and not get_tags(model).input_tags.sparse:
        X, T = X.toarray(), T.toarray()
    path = getattr(model, "grid_path", partial(_one_by_one, model))
    if scaled and hasattr(model, "scaled_path"):
        path = model.scaled_path
    for point in path(X, data.Y[train], T, grid):
        yield point, test


def _one_by_one(
    model: Any, X: Any, Y: NDArray[Any], T: Any, grid: Grid
) -> Iterator[GridPoint]:
    """What `grid_path` of our own methods gives, for any classifier of scikit-learn."""
    for params in ParameterGrid(dict(grid)):
        fitted = clone(model).set_params(**params).fit(X, Y)
        yield GridPoint(
            params, label_scores(fitted, T, Y.shape[1]), np.asarray(fitted.predict(T))
        )


def sliced_folds(
    n: int, n_splits: int = 5, seed: "int | tuple[int, ...]" = 0
) -> list[Fold]:
    """Folds as the authors cut them: a permutation in slices of ceil(n / n_splits) rows, the last one shorter.

    Examples
    --------
    >>> [len(test) for _, test in sliced_folds(11, 4)]
    [3, 3, 3, 2]
    """
    size = -(-n // n_splits)
    if n_splits < 2 or size * (n_splits - 1) >= n:
        raise InputError(
            f"{n_splits} slices of {size} rows cannot be cut from {n} rows: take fewer folds."
        )
    order = np.random.default_rng(seed).permutation(n)
    tests = [np.sort(order[i * size : (i + 1) * size]) for i in range(n_splits)]
    return [(np.setdiff1d(order, test), test) for test in tests]


def minmax(X: Any, fit_on: Any) -> Any:
    """X with every feature scaled by the range that it has on the rows ``fit_on``.

    Sparse X stays sparse: where 0 is a feature's least value the scale is a division. A feature that is constant on
    those rows stays as it is, as in the authors' program.
    """
    if not sparse.issparse(X):
        return fit_scaling(fit_on, np.ones(len(fit_on)), "minmax").apply(X)
    low, high = (
        np.asarray(getattr(fit_on, which)(axis=0).toarray()).ravel()
        for which in ("min", "max")
    )
    if (low < 0).any() or ((low > 0) & (high > low)).any():
        raise InputError(
            "Sparse features with a least value other than 0 cannot be scaled to [0, 1] and stay sparse."
        )
    return sparse.csr_array(X @ sparse.diags_array(1 / np.where(high > low, high, 1.0)))


def folds_of(protocol: str, Y: NDArray[Any], n_splits: int, seed: int) -> list[Fold]:
    """Training and test rows of every fold."""
    if protocol == "paper":
        return sliced_folds(len(Y), n_splits, seed)
    return _stratified(Y.astype(np.int8).tobytes(), len(Y), n_splits, seed)


@lru_cache(maxsize=8)
def _stratified(labels: bytes, n: int, n_splits: int, seed: int) -> list[Fold]:
    """Stratified folds, found once per process: bibtex takes seconds."""
    Y = np.frombuffer(labels, dtype=np.int8).reshape(n, -1)
    return list(IterativeStratification(n_splits, random_state=seed).split(Y, Y))
