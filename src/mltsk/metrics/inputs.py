"""Checks of what callers hand to the metrics: label tables, score tables, thresholds and weights.

A table has a row per sample and a column per label, and may be an array, a list of lists, a data frame or sparse.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mltsk.core.arrays import is_tensor
from mltsk.exceptions import InputError

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.floating[Any]]
_NO_NAN = 'scores hold NaN{}; repair the model, or pass convention="paper", which has a rule for NaN.'


def check_labels(
    Y: Any, name: str = "Y", shape: tuple[int, ...] | None = None
) -> tuple[BoolArray, BoolArray]:
    """Labels (N, L), only 0 and 1, and which were observed (not NaN, None, NA): all, where a ``shape`` is asked for."""
    table = _array(Y, name)
    if table.ndim != 2:
        raise InputError(
            f"{name} must have one row per sample and one column per label, got {table.ndim}-d."
        )
    if 0 in table.shape:
        raise InputError(
            f"{name} is empty: its shape is {table.shape}; at least one row and label are needed."
        )
    observed = np.ones(table.shape, dtype=bool)
    if (
        shape is None and table.dtype.kind == "O"
    ):  # pandas' NA is not even equal to itself: comparing it gives NA again
        observed = np.vectorize(
            lambda cell: cell is not None and str(cell == cell) == "True", otypes=[bool]
        )(table)
    elif shape is None:
        observed = table == table
    table = table if observed.all() else np.where(observed, table, 0)
    is_label = np.asarray((table == 0) | (table == 1), dtype=bool)
    if not is_label.all():
        row, column = np.argwhere(~is_label)[0]
        where = f"row {row}, column {column} holds {table[row, column]!r}"
        how = "code an absent label as 0 and a present one as 1"
        raise InputError(f"{name} must hold only 0 and 1, but {where}; {how}.")
    if table.shape != (shape or table.shape):
        raise InputError(
            f"{name} have shape {table.shape} but Y has shape {shape}; they must match."
        )
    return np.asarray(table == 1, dtype=bool), observed


def check_tensors(Y: Any, scores: Any, *, allow_nan: bool) -> Any:
    """Labels of 0 and 1 as a boolean tensor next to a tensor of scores (…, N, L); they may have fewer axes."""
    if not is_tensor(Y) or Y.device != scores.device:
        raise InputError(
            f"scores are a tensor on {scores.device}, so Y must be one there too."
        )
    if (
        scores.ndim < 2
        or Y.shape[-2:] != scores.shape[-2:]
        or not bool(((Y == 0) | (Y == 1)).all())
    ):
        shapes = f"scores have shape {tuple(scores.shape)}, Y has {tuple(Y.shape)}"
        raise InputError(f"Y must hold 0 and 1 for every score: {shapes}.")
    if not allow_nan and bool(scores.isnan().any()):
        raise InputError(_NO_NAN.format(""))
    return Y == 1


def check_scores(
    scores: Any, shape: tuple[int, ...], *, allow_nan: bool, batch: bool = False
) -> FloatArray:
    """Score table as float64 of the labels' shape (N, L), or (S, N, L) when `batch` allows several tables at once."""
    table = _array(scores, "scores", np.float64)
    if table.ndim != 2 and not (batch and table.ndim == 3):
        raise InputError(
            f"scores must have one row per sample and one column per label, got {table.ndim}-d."
        )
    if table.shape[-2:] != shape:
        raise InputError(
            f"scores have shape {table.shape} but Y has shape {shape}; they must match."
        )
    if not allow_nan and np.isnan(table).any():
        where = tuple(int(i) for i in np.argwhere(np.isnan(table))[0])
        raise InputError(_NO_NAN.format(f" (first at {where})"))
    return table


def check_threshold(threshold: Any, n_labels: int) -> FloatArray:
    """Threshold as a 0-d array (one for all labels) or an (L,) array (one per label)."""
    cut = _array(threshold, "threshold", np.float64)
    if cut.shape not in ((), (n_labels,)):
        raise InputError(
            f"threshold must be one number or one per label ({n_labels} of them), got shape {cut.shape}."
        )
    if np.isnan(cut).any():
        raise InputError(
            "threshold must not be NaN; pass a number, or one number per label."
        )
    return cut


def check_weight(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray:
    """Row weights as float64 (N,), ones when None; not negative, and not all zero."""
    weight = (
        np.ones(n_rows)
        if sample_weight is None
        else _array(sample_weight, "sample_weight", np.float64)
    )
    if weight.shape != (n_rows,):
        raise InputError(
            f"sample_weight must hold one number per row ({n_rows}), got shape {weight.shape}."
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise InputError(
            "sample_weight must hold finite numbers that are not negative."
        )
    if not weight.any():
        raise InputError(
            "sample_weight is zero for every row, so nothing is left to average."
        )
    return weight


def _array(values: Any, name: str, dtype: Any = None) -> NDArray[Any]:
    try:
        return np.asarray(
            values.toarray() if hasattr(values, "toarray") else values, dtype=dtype
        )
    except (TypeError, ValueError) as error:
        what = (
            "hold numbers only, in rows of"
            if dtype
            else "be a table whose rows all have"
        )
        raise InputError(f"{name} must {what} the same length.") from error
