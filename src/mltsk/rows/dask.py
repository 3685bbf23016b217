"""Rows of Dask arrays and data frames: one gather of a sample, one pass of sums.

A pass is one task per block and a tree that adds what they bring back. Parameters
travel in the graph, so that a worker that is lost takes nothing along that cannot be
made again. Dask is imported when one of its collections comes in.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ..columns import Columns
from ..exceptions import InputError
from ..fit.design import Design
from ..fit.left_out import Groups, take_groups
from ..fit.ridge import Moments
from ..fit.rows import Block, RowIndex, spread_with_groups
from ..targets import Targets, absent_cells, default_label_names
from .read import (
    PRECISIONS,
    Estimator,
    Features,
    FitInput,
    GroupsLike,
    RulesLike,
    columns_with_gaps,
    is_dask,
    read_groups,
)
from .weights import MAX_MEAN_COPIES, mean_weight

Collection: TypeAlias = Any  # a Dask array or data frame
Delayed: TypeAlias = Any  # one of its blocks, `dask.delayed`, or None
SUMS_PER_TASK = 8  # added by one task of the tree


class DelayedBlock(NamedTuple):
    """X, Y and w of a block, each `dask.delayed`; w may be None."""

    X: Delayed
    Y: Delayed
    w: Delayed


@dataclass(frozen=True)
class Reading:
    """How blocks are read: what y means, what weights mean, what columns there are."""

    targets: Targets
    unit: float
    columns: Columns | None


@dataclass
class DaskRows:
    """Rows of ``blocks`` that have ``counts`` rows each.

    ``groups`` (n,) are codes of rows that belong together, here and not on the cluster,
    or None.
    """

    blocks: Sequence[DelayedBlock]
    counts: Sequence[int]
    reading: Reading
    groups: Groups = None
    _held: tuple[NDArray[np.intp], Block] | None = None  # and where they are
    limit = 0  # no rows but those of a sample may be held
    w = None  # all labels have the same weights

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, number of labels."""
        return int(sum(self.counts)), len(self.reading.targets.names)

    def sample(self, n: int) -> Block:
        """At most n rows, evenly spread, and all rows of their groups."""
        return self.block(spread_with_groups(self.groups, self.shape[0], n))

    def block(self, rows: RowIndex) -> Block:
        """Some rows from where they lie; the same ones are gathered once."""
        positions = np.arange(self.shape[0])[rows]
        if self._held is None or not np.array_equal(self._held[0], positions):
            self._held = positions, self._gathered(positions)
        return self._held[1]

    def _gathered(self, rows: NDArray[np.intp]) -> Block:
        """Rows at rising positions, from where they lie."""
        import dask

        ends = np.cumsum(self.counts)
        starts = ends - np.asarray(self.counts)
        rows_of_blocks = np.split(rows, np.searchsorted(rows, ends)[:-1])
        take = dask.delayed(_take, pure=False)
        tasks = []
        for block, start, index in zip(
            self.blocks, starts, rows_of_blocks, strict=True
        ):
            if len(index):
                tasks.append(take(block, self.reading, index - start))
        blocks = dask.compute(*tasks)
        w = np.concatenate([block.w for block in blocks])
        if not (w > 0).any():
            raise InputError(
                "No rows are left: X is empty, or sample_weight is 0 for every row."
            )
        return Block(
            X=np.concatenate([block.X for block in blocks]),
            Y=np.concatenate([block.Y for block in blocks]),
            w=w,
            groups=take_groups(self.groups, rows),
            index=rows,
        )

    def moments(self, design: Design, labels: NDArray[np.intp]) -> Moments:
        """Sums over all rows, where they lie."""
        import dask

        shared = dask.delayed((self.reading, design, labels), traverse=False)
        of_block = dask.delayed(_moments, pure=False)
        added = dask.delayed(_added, pure=False)
        tasks = [of_block(block, shared) for block in self.blocks]
        while len(tasks) > 1:
            starts = range(0, len(tasks), SUMS_PER_TASK)
            tasks = [added(tasks[start : start + SUMS_PER_TASK]) for start in starts]
        return tasks[0].compute()


def _read_block(block: DelayedBlock, reading: Reading) -> Block:
    """A block, checked: samples as floats, labels as an indicator, weights relative."""
    X = np.asarray(block.X)
    X = X if X.dtype in PRECISIONS else X.astype(np.float64)
    if np.isinf(X).any():
        raise InputError(
            "Input X contains infinity: leave such rows out, or write NaN."
        )
    if reading.columns is not None:
        X = reading.columns.expand(X)
    w = np.ones(len(X))
    if block.w is not None:
        w = _weights(block.w) / reading.unit
    if not (np.isfinite(w) & (w >= 0)).all():
        raise InputError("sample_weight must hold finite numbers, none negative.")
    return Block(X, _read_labels(np.asarray(block.Y), reading.targets), w)


def _read_labels(Y: NDArray[Any], targets: Targets) -> NDArray[np.float64]:
    """Labels of a block as an indicator."""
    if not targets.multilabel:
        return targets.indicator(Y)
    if not ((Y == 0) | (Y == 1)).all():
        raise InputError(
            "y must be an indicator of 0 and 1, or one-dimensional classes."
        )
    return Y.astype(np.float64)


def _take(block: DelayedBlock, reading: Reading, rows: NDArray[np.intp]) -> Block:
    """Some rows of a block."""
    return _read_block(block, reading).take(rows)


def _moments(
    block: DelayedBlock, shared: tuple[Reading, Design, NDArray[np.intp]]
) -> Moments | None:
    """Sums over the rows of a block; None where it has none."""
    reading, design, labels = shared
    rows = _read_block(block, reading)
    return rows.moments(design, labels) if len(rows.w) else None


def _added(sums: Sequence[Moments | None]) -> Moments | None:
    """The sum of sums, None where all blocks are empty."""
    present = [moments for moments in sums if moments is not None]
    return reduce(add, present) if present else None


def read_dask(
    reader: BaseEstimator,
    X: Collection,
    y: Collection,
    sample_weight: Collection,
    rules: RulesLike,
    groups: GroupsLike,
) -> FitInput:
    """Read Dask collections that were passed to `fit`."""
    _check_features(reader, X)
    _check_collection(y, "y")
    if sample_weight is not None:
        _check_collection(sample_weight, "sample_weight")
        if sample_weight.ndim != 1:
            raise InputError(
                "On Dask, sample_weight holds one number per row: "
                "weights per label need arrays in memory."
            )
    blocks = _delayed_blocks(X, y, sample_weight)
    surveys = _surveys(blocks)
    targets = _targets(surveys, getattr(y, "columns", None))
    unit = _weight_unit(surveys)
    counts = [survey.n_rows for survey in surveys]
    missing = np.sum([survey.missing for survey in surveys], axis=0)
    columns = columns_with_gaps(reader, missing, sum(counts), rules)
    reading = Reading(targets, unit, columns)
    names = groups.compute() if is_dask(groups) else groups
    rows = DaskRows(blocks, counts, reading, read_groups(names, sum(counts)))
    return FitInput(rows, targets, Features.of(reader, columns))


def _check_features(reader: BaseEstimator, X: Collection) -> None:
    """Note names and number of features; refuse columns that hold no numbers."""
    if not hasattr(X, "columns"):
        reader.__dict__.pop("feature_names_in_", None)
        reader.n_features_in_ = int(X.shape[1])
        return
    validate_data(reader, X._meta, skip_check_array=True)
    for name, dtype in X.dtypes.items():
        if dtype.kind not in "fiu":
            raise InputError(
                f"Column {str(name)!r} does not hold numbers: "
                "on Dask, turn words and booleans into numbers."
            )


def _check_collection(values: object, name: str) -> None:
    """Refuse labels or weights that are no Dask collection."""
    if values is not None and not is_dask(values):
        raise InputError(
            f"X is a Dask collection, so {name} must be one too; "
            f"it is a {type(values).__name__}."
        )


class Survey(NamedTuple):
    """What must be known of all blocks before one can be read.

    ``n_labels`` is None where y is one-dimensional, whose ``classes`` are those of the
    block; ``missing`` (D,) counts the missing cells of each feature.
    """

    n_rows: int
    n_labels: int | None
    classes: NDArray[Any] | None
    weights: "WeightSurvey | None"
    missing: NDArray[np.intp]


class WeightSurvey(NamedTuple):
    """Weights above 0 of a block."""

    least: float
    largest: float
    are_whole: bool
    mean: float
    n_weights: int


def _surveys(blocks: Sequence[DelayedBlock]) -> Sequence[Survey]:
    """Survey all blocks in one pass."""
    import dask

    survey = dask.delayed(_survey, pure=False)
    return dask.compute(*[survey(*block) for block in blocks])


def _survey(X: ArrayLike, Y: ArrayLike, w: ArrayLike | None) -> Survey:
    """Survey one block."""
    X = np.asarray(X, dtype=np.float64)
    Y = np.asarray(Y)
    if len(X) != len(Y):
        raise InputError(f"A block of X has {len(X)} rows but that of y has {len(Y)}.")
    _check_observed(Y)
    is_flat = Y.ndim == 1
    if is_flat and Y.dtype.kind == "f" and not (Y == np.round(Y)).all():
        raise InputError(
            "Unknown label type: y must be a 0/1 indicator matrix, "
            "or one-dimensional classes."
        )
    return Survey(
        n_rows=len(X),
        n_labels=None if is_flat else Y.shape[1],
        classes=np.unique(Y) if is_flat else None,
        weights=None if w is None else _survey_weights(_weights(w)),
        missing=np.isnan(X).sum(axis=0),
    )


def _check_observed(Y: NDArray[Any]) -> None:
    """Refuse labels of a block that were not observed in every row."""
    if absent_cells(Y).any():
        raise InputError(
            "Input y contains NaN: on Dask all labels must be observed in every row. "
            "Leave out rows in which one was not, or pass X and y as arrays or data "
            "frames in memory (X.compute(), y.compute()): there each label is learned "
            "from the rows where it was observed."
        )


def _weights(w: ArrayLike) -> NDArray[np.float64]:
    """Weights of a block in double precision."""
    try:
        return np.asarray(w, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must hold numbers alone.") from None


def _survey_weights(w: NDArray[np.float64]) -> WeightSurvey | None:
    """Survey the weights of a block; None where none is above 0."""
    w = w[w > 0]
    if not len(w):
        return None
    return WeightSurvey(
        least=float(w.min()),
        largest=float(w.max()),
        are_whole=bool((w == np.round(w)).all()),
        mean=mean_weight(w),
        n_weights=len(w),
    )


def _targets(surveys: Sequence[Survey], names: Iterable[object] | None) -> Targets:
    """What y means, from all blocks."""
    n_labels = surveys[0].n_labels
    if n_labels is None:
        classes = np.concatenate([survey.classes for survey in surveys])
        return Targets.of(np.unique(classes))
    if names is None:
        names = default_label_names(n_labels)
    return Targets(
        Y=np.zeros((0, n_labels)),
        classes=np.arange(n_labels),
        names=tuple(str(name) for name in names),
        multilabel=True,
    )


def _weight_unit(surveys: Sequence[Survey]) -> float:
    """What weights are divided by.

    As `mltsk.rows.read.read_weights` decides it.
    """
    weights = [survey.weights for survey in surveys if survey.weights is not None]
    if not weights:
        return 1.0
    least = min(block.least for block in weights)
    if least == max(block.largest for block in weights):
        return float(least)
    n_weights = sum(block.n_weights for block in weights)
    # Shares first: the sum of large weights may be too large for a number.
    mean = sum(block.mean * (block.n_weights / n_weights) for block in weights)
    if all(block.are_whole for block in weights) and mean <= MAX_MEAN_COPIES:
        return 1.0
    return mean


def _delayed_blocks(
    X: Collection, y: Collection, sample_weight: Collection
) -> list[DelayedBlock]:
    """Blocks of rows of the collections, side by side."""
    X_blocks = _row_blocks(X)
    y_blocks = _row_blocks(y)
    w_blocks = [None] * len(X_blocks)
    if sample_weight is not None:
        w_blocks = _row_blocks(sample_weight)
    if not len(X_blocks) == len(y_blocks) == len(w_blocks):
        raise InputError(
            f"X has {len(X_blocks)} blocks but y has {len(y_blocks)}: "
            "rechunk one to the blocks of the other."
        )
    triples = zip(X_blocks, y_blocks, w_blocks, strict=True)
    return [DelayedBlock(*triple) for triple in triples]


def _row_blocks(values: Collection) -> list[Delayed]:
    """Blocks of rows of a collection, `dask.delayed` objects."""
    if hasattr(values, "to_dask_array"):
        return list(values.to_delayed())
    if "sparse" in type(getattr(values, "_meta", None)).__module__:
        raise InputError(
            "X holds sparse blocks, which are not supported on Dask: pass dense ones."
        )
    if values.ndim == 2 and values.numblocks[1] > 1:
        values = values.rechunk({1: -1})
    return list(values.to_delayed().ravel())


def lazily(estimator: Estimator, X: Collection, method: str) -> Collection:
    """A lazy Dask array of what a method of an estimator gives for the rows of X."""
    from dask import delayed

    check_is_fitted(estimator)
    is_frame = hasattr(X, "columns")
    if is_frame:
        validate_data(estimator, X._meta, skip_check_array=True, reset=False)
    n_features = len(X.columns) if is_frame else X.shape[1]
    if n_features != estimator.n_features_in_:
        raise InputError(
            f"X has {n_features} features, "
            f"but this model was fitted on {estimator.n_features_in_}."
        )
    model = _for_workers(estimator)
    rows = X.to_dask_array() if hasattr(X, "to_dask_array") else X
    rows = rows.rechunk({1: -1}) if rows.numblocks[1] > 1 else rows
    example = getattr(model, method)(np.zeros((1, n_features)))
    if example.ndim == 1:
        shape: dict[str, Any] = {"drop_axis": 1}
    else:
        shape = {"chunks": (rows.chunks[0], (example.shape[1],))}
    return rows.map_blocks(
        _of_block,
        delayed(model, name=None, pure=True, traverse=False),
        method,
        dtype=example.dtype,
        meta=example[:0],
        name=f"mltsk-{method}",
        **shape,
    )


def _for_workers(estimator: Estimator) -> Estimator:
    """A copy without names, which were checked, and what workers do not need."""
    model = copy(estimator)
    for name in ("feature_names_in_", "loo_scores_", "stream_"):
        model.__dict__.pop(name, None)
    return model


def _of_block(X: ArrayLike, model: Estimator, method: str) -> NDArray[Any]:
    """What a method gives for the rows of a block, which may be empty."""
    X = np.asarray(X)
    if len(X):
        return getattr(model, method)(X)
    return getattr(model, method)(np.zeros((1, X.shape[1])))[:0]
