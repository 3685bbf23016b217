"""The work of a cell under each protocol; it is the same in every process.

`paper` is what the authors did: features scaled, and rules clustered, on all rows
before the split; one random permutation cut into slices of ceil(n / 5) rows, for ML-TSK
FS a new one for every number of rules and width. Under `strict` and `nested` everything
is fitted inside the training rows, and folds are stratified; `nested` chooses settings
on inner folds of the training rows, the others on the folds that are reported. Folds
are functions of a seed.
"""

import os
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import groupby, islice

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags

from ...core.arrays import Array, Matrix, dense
from ...core.scales import fit_scaling
from ...datasets import Dataset, load_dataset
from ...datasets.load import BENCHMARKS, is_path
from ...exceptions import InputError, printable
from ...metrics import five_metrics
from ...metrics.scorers import label_scores
from ...model_selection import IterativeStratification
from ...tables import read_table
from ..methods.base import GridPoint
from .cross_validation import Fold, IntArray
from .definition import DataDefinition, MethodDefinition, class_of
from .published import METRICS, PlainData
from .store import Cell, Outcome, Row
from .studies import STUDIES
from .studies.sample import ParameterValues

MAX_BATCH = 64  # tables of scores that are evaluated together
ScoredPoint = tuple[GridPoint, IntArray]  # a setting, and the rows of its scores


def execute(
    cell: Cell,
    data: DataDefinition,
    method: MethodDefinition | None,
    chosen: Mapping[str, PlainData] | None = None,
) -> Outcome:
    """Do the work of a cell; an error becomes part of the outcome.

    ``chosen`` are a final cell's settings, by metric. A cell has one thread, so that
    numbers do not depend on how many cells run at once.
    """
    started = time.perf_counter()
    cpu_started = time.process_time()
    outcome = Outcome()
    with _one_thread(), warnings.catch_warnings():
        # collapsed rules and tied scores are in the tables, fold by fold
        warnings.simplefilter("ignore")
        try:
            if method is None or cell.kind == "study":
                outcome = Outcome(study=_study(cell, dataset(data)))
            else:
                model = class_of(method)(**cell.details["params"])
                if method.device is not None and "device" in model.get_params():
                    model.set_params(device=method.device)
                    outcome = Outcome(device=method.device)
                rows = _rows(cell, dataset(data), model, chosen or {})
                outcome = outcome._replace(rows=tuple(rows))
        except Exception as problem:
            outcome = outcome._replace(error=_error_text(problem))
    return outcome._replace(
        seconds=time.perf_counter() - started,
        cpu_seconds=time.process_time() - cpu_started,
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread for numerical work; what was set before is set again afterwards."""
    before = os.environ.get("MLTSK_THREADS")
    os.environ["MLTSK_THREADS"] = "1"
    try:
        yield
    finally:
        os.environ.pop("MLTSK_THREADS", None)
        if before is not None:
            os.environ["MLTSK_THREADS"] = before


def _error_text(problem: Exception) -> str:
    """Kind, message and place of an error in one line."""
    place = traceback.extract_tb(problem.__traceback__)[-1]
    where = f"{os.path.basename(place.filename)}:{place.lineno}"
    sentence = " ".join(str(problem).split())
    return printable(f"{type(problem).__name__}: {sentence} ({where})")


@lru_cache(maxsize=2)
def dataset(data: DataDefinition) -> Dataset:
    """A data set, read once per process."""
    name = data.file or data.name
    if is_path(name) and not name.lower().endswith(BENCHMARKS):
        return complete_table(data, name)
    return load_dataset(name, labels=data.labels)


def complete_table(data: DataDefinition, path: str) -> Dataset:
    """The table of a user's file as complete numbers."""
    table = read_table(path, data.labels)
    try:
        return table.dataset()
    except InputError as error:
        raise InputError(
            f"{error} A comparison has no --drop: leave such columns out of the file."
        ) from None


def _study(cell: Cell, data: Dataset) -> PlainData:
    study = STUDIES[cell.method]
    return study.function(data, seed=cell.seed, grid=cell.details["grid"])


def _rows(
    cell: Cell, data: Dataset, model: BaseEstimator, chosen: Mapping[str, PlainData]
) -> Iterator[Row]:
    """Metrics of all settings of a cell, or of those that inner folds have chosen."""
    grid = cell.details["grid"]
    if cell.kind != "final":
        yield from _evaluated(cell, data, model, grid)
        return
    if not chosen:  # a grid of one setting leaves no choice
        only = {name: values[0] for name, values in grid.items()}
        chosen = dict.fromkeys(METRICS, only)
    rows: dict[str, Row] = {}
    for metric, setting in chosen.items():
        text = repr(setting)
        if text not in rows:  # several metrics may choose the same
            point = {name: [value] for name, value in setting.items()}
            (rows[text],) = _evaluated(cell, data, model, point)
        yield rows[text]._replace(setting=setting, chosen_by=metric)


def _evaluated(
    cell: Cell, data: Dataset, model: BaseEstimator, grid: ParameterValues
) -> Iterator[Row]:
    """Every setting with its metrics on the cell's test rows.

    Settings that have the same test rows are evaluated in batches.
    """
    points = _points(cell, data, model, grid)
    for _, same_rows in groupby(points, key=lambda scored: id(scored[1])):
        while batch := list(islice(same_rows, MAX_BATCH)):
            test = batch[0][1]
            settings = [point for point, _ in batch]
            yield from _rows_of(settings, data.Y[test], cell.details["convention"])


def _rows_of(
    points: Sequence[GridPoint], truth: Array, convention: str
) -> Iterator[Row]:
    """Metrics and share of tied rows of several settings on the same test rows."""
    scores = np.stack([point.scores for point in points])
    values = five_metrics(truth, scores, convention=convention)
    # Hamming loss by the method's own threshold
    values[:, 1] = [np.mean(point.labels != truth) for point in points]
    tied = (scores == scores[:, :, :1]).all(axis=2).mean(axis=1)
    table = np.column_stack([values, tied]).tolist()
    for point, metrics in zip(points, table, strict=True):
        yield Row(point.params, tuple(metrics))


def _points(
    cell: Cell, data: Dataset, model: BaseEstimator, grid: ParameterValues
) -> Iterator[ScoredPoint]:
    """Every setting with its scores, and the rows that they are of."""
    if cell.protocol == "paper" and hasattr(model, "authors_path"):

        def split(n_rules: int, width_scale: float) -> Fold:
            seed = (cell.seed, n_rules, round(1000 * width_scale))
            return sliced_folds(len(data), cell.details["folds"], seed)[cell.fold]

        yield from model.authors_path(minmax(data.X, data.X), data.Y, split, grid)
        return
    train, test = _fold(cell, data.Y)
    X = data.X
    is_scaled = cell.details["scale"] == "minmax"
    if is_scaled:
        X = minmax(X, X if cell.protocol == "paper" else X[train])
    X_train = X[train]
    X_test = X[test]
    if sparse.issparse(X) and not get_tags(model).input_tags.sparse:
        X_train = dense(X_train)
        X_test = dense(X_test)
    path = getattr(model, "grid_path", partial(_one_by_one, model))
    if is_scaled and hasattr(model, "scaled_path"):
        path = model.scaled_path
    for point in path(X_train, data.Y[train], X_test, grid):
        yield point, test


def _fold(cell: Cell, Y: Array) -> Fold:
    """Training and test rows of a cell."""
    folds = folds_of(cell.protocol, Y, cell.details["folds"], cell.seed)
    train, test = folds[cell.fold]
    if cell.inner < 0:
        return train, test
    n_inner = cell.details["inner_folds"]
    inner_folds = folds_of(cell.protocol, Y[train], n_inner, cell.seed)
    fit, check = inner_folds[cell.inner]
    return train[fit], train[check]


def _one_by_one(
    model: BaseEstimator, X: Matrix, Y: Array, T: Matrix, grid: ParameterValues
) -> Iterator[GridPoint]:
    """What `grid_path` of our methods gives, for any classifier of scikit-learn."""
    for params in ParameterGrid(dict(grid)):
        fitted = clone(model).set_params(**params).fit(X, Y)
        scores = label_scores(fitted, T, Y.shape[1])
        yield GridPoint(params, scores, np.asarray(fitted.predict(T)))


def sliced_folds(
    n: int, n_splits: int = 5, seed: int | tuple[int, ...] = 0
) -> list[Fold]:
    """Folds as the authors cut them: slices of a permutation of ``n`` rows.

    A slice has ceil(n / n_splits) rows, the last one may be shorter.

    Examples
    --------
    >>> [len(test) for _, test in sliced_folds(11, 4)]
    [3, 3, 3, 2]
    """
    size = -(-n // n_splits)
    if n_splits < 2 or size * (n_splits - 1) >= n:
        problem = f"{n_splits} slices of {size} rows cannot be cut from {n} rows"
        raise InputError(f"{problem}: take fewer folds.")
    order = np.random.default_rng(seed).permutation(n)
    folds = []
    for start in range(0, n, size):
        test = np.sort(order[start : start + size])
        folds.append((np.setdiff1d(order, test), test))
    return folds


def minmax(X: Matrix, fit_on: Matrix) -> Matrix:
    """X with every feature scaled by the range that it has on the rows ``fit_on``.

    Sparse X stays sparse: where 0 is a feature's least value the scale is a division. A
    feature that is constant on those rows stays as it is, as in the authors' program.
    """
    if not sparse.issparse(X):
        return fit_scaling(fit_on, np.ones(len(fit_on)), "minmax").apply(X)
    low = np.asarray(fit_on.min(axis=0).toarray()).ravel()
    high = np.asarray(fit_on.max(axis=0).toarray()).ravel()
    varies = high > low
    if (low < 0).any() or ((low > 0) & varies).any():
        raise InputError(
            "Sparse features with a least value other than 0 cannot be scaled to "
            "[0, 1] and stay sparse."
        )
    return sparse.csr_array(X @ sparse.diags_array(1 / np.where(varies, high, 1.0)))


def folds_of(protocol: str, Y: Array, n_splits: int, seed: int) -> list[Fold]:
    """Training and test rows of every fold."""
    if protocol == "paper":
        return sliced_folds(len(Y), n_splits, seed)
    return _stratified(Y.astype(np.int8).tobytes(), len(Y), n_splits, seed)


@lru_cache(maxsize=8)
def _stratified(labels: bytes, n: int, n_splits: int, seed: int) -> list[Fold]:
    """Stratified folds, found once per process: bibtex takes seconds."""
    Y = np.frombuffer(labels, dtype=np.int8).reshape(n, -1)
    return list(IterativeStratification(n_splits, random_state=seed).split(Y, Y))
