"""Arrays and CSR above scikit-learn's working memory, read block by block.

They are often mapped from files. Labels and weights are looked at once before the fit;
the rows of X are read when the fit asks for them. `mltsk.rows.read` comes here where an
array is that large, and reads each block as it reads a whole array.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from ..core.arrays import Array, Matrix, spread_rows
from ..core.used import UsedFeatures
from ..fit.rows import ArrayRows
from ..targets import (
    Targets,
    absent_cells,
    are_label_lists,
    check_present,
    default_label_names,
    plain_lists,
    table_targets,
)
from .given_rules import check_rules_apply
from .read import (
    Estimator,
    Features,
    FitInput,
    GroupsLike,
    RulesLike,
    TargetsLike,
    check_lengths,
    numbers_of,
    of_observed,
    read_groups,
    read_samples,
    read_weights,
    rows_at_once,
)
from .weights import WeightsLike

GAP_SAMPLE_ROWS = 20_000  # of arrays that do not fit in memory, to look for gaps in
BLOCKS_IN_MEMORY = 8  # blocks of a large array that working memory holds


def read_large(
    reader: Estimator,
    X: Matrix,
    y: TargetsLike,
    sample_weight: WeightsLike,
    rules: RulesLike,
    groups: GroupsLike,
) -> FitInput:
    """Rows of an array that does not fit in memory, read block by block."""
    validate_data(reader, X, skip_check_array=True)
    if rules:
        check_rules_apply(reader.scale, X)
    y, targets = _large_targets(y)
    check_lengths(X.shape[0], y.shape[0])
    columns = None
    if isinstance(X, np.ndarray):
        sample = X[spread_rows(len(X), GAP_SAMPLE_ROWS)]
        _, columns = numbers_of(reader, np.asarray(sample, dtype=np.float64), rules)
    used = UsedFeatures.of(X)
    n_rows_of_block = max(1, (rows_at_once(X) or 1) // BLOCKS_IN_MEMORY)
    observed = None
    if targets.multilabel:
        observed = _observed_cells(y, targets.names, n_rows_of_block)
    shape = (X.shape[0], len(targets.names))
    w = read_weights(sample_weight, shape, targets.names)
    w = of_observed(w, replace(targets, observed=observed))

    def read(X_block: Matrix, y_block: TargetsLike) -> tuple[Matrix, Array]:
        if targets.multilabel:
            Y = table_targets(_dense(y_block), targets.names, may_miss=True).Y
        else:
            Y = targets.indicator(y_block)
        return read_samples(reader, X_block, columns, used), Y

    rows = ArrayRows(
        X=X,
        Y=y,
        w=w,
        groups=read_groups(groups, shape[0]),
        shape=shape,
        limit=n_rows_of_block,
        read=read,
    )
    return FitInput(rows, targets, Features.of(reader, columns, used))


def _large_targets(y: TargetsLike) -> tuple[TargetsLike, Targets]:
    """y as an array or CSR that blocks are taken from, and what it means.

    Its cells are not read yet: the targets have no rows.
    """
    y, names = _with_names(plain_lists(y))
    y = y.tocsr() if sparse.issparse(y) else np.asarray(y)
    if not names and _is_column_of_classes(y):
        y = np.ravel(_dense(y))
    if y.ndim != 2:
        check_present(y)
        return y, Targets.of(np.unique(y))
    n_labels = y.shape[1]
    names = names or default_label_names(n_labels)
    Y = np.zeros((0, n_labels))
    return y, Targets(Y, np.arange(n_labels), names, multilabel=True)


def _with_names(y: TargetsLike) -> tuple[TargetsLike, tuple[str, ...]]:
    """y and the names of its labels, () where it has none.

    Lists of labels become an indicator.
    """
    if getattr(y, "ndim", 1) == 1 and are_label_lists(y):
        in_memory = Targets.of(y)
        return in_memory.Y, in_memory.names
    if hasattr(y, "columns"):
        return y, tuple(str(name) for name in y.columns)
    return y, ()


def _is_column_of_classes(y: TargetsLike) -> bool:
    """Whether y is a single column in which no cell is missing."""
    if y.ndim != 2 or y.shape[1] != 1:
        return False
    return sparse.issparse(y) or not absent_cells(y).any()


def _dense(y: TargetsLike) -> NDArray[Any]:
    """An array of what may be CSR."""
    return y.toarray() if sparse.issparse(y) else y


def _observed_cells(
    y: TargetsLike, names: Sequence[str], n_rows: int
) -> NDArray[np.bool_] | None:
    """Which cells of y (N, L) were observed; None for all.

    They are read ``n_rows`` at a time, and wrong ones are refused.
    """
    observed = np.ones(y.shape, dtype=bool)
    for start in range(0, y.shape[0], n_rows):
        rows = slice(start, start + n_rows)
        block = table_targets(_dense(y[rows]), names, may_miss=True, first_row=start)
        if block.observed is not None:
            observed[rows] = block.observed
    return None if observed.all() else observed
