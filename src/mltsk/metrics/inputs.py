"""Checks of what callers hand to the metrics: labels, scores, thresholds and weights.

A table has a row per sample and a column per label, and may be an array, a list of
lists, a data frame or sparse.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mltsk.core.arrays import dense, is_tensor
from mltsk.exceptions import InputError

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.floating[Any]]
AnyArray = NDArray[Any]
_REPAIR_NAN = 'repair the model, or pass convention="paper", which has a rule for NaN.'


def check_labels(
    Y: ArrayLike, name: str = "Y", shape: tuple[int, ...] | None = None
) -> tuple[BoolArray, BoolArray]:
    """Labels (N, L) of only 0 and 1, and which of them were observed.

    NaN, None and NA are labels that were not observed. Where a ``shape`` is asked for,
    as of predictions, the table must have it and all its entries must be labels.
    """
    table = _array(Y, name)
    _check_is_table(table, name)
    observed = np.ones(table.shape, dtype=bool)
    if shape is None:
        observed = _is_observed(table)
    if not observed.all():
        table = np.where(observed, table, 0)
    is_label = np.asarray((table == 0) | (table == 1), dtype=bool)
    if not is_label.all():
        row, column = np.argwhere(~is_label)[0]
        where = f"row {row}, column {column} holds {table[row, column]!r}"
        raise InputError(
            f"{name} must hold only 0 and 1, but {where}; "
            "code an absent label as 0 and a present one as 1."
        )
    if shape is not None and table.shape != shape:
        raise InputError(
            f"{name} have shape {table.shape} but Y has shape {shape}; they must match."
        )
    return np.asarray(table == 1, dtype=bool), observed


def _check_is_table(table: AnyArray, name: str) -> None:
    """Refuse what has no rows, no columns, or more or fewer axes than these two."""
    if table.ndim != 2:
        hint = ": of one label, give a column, as by reshape(-1, 1)"
        raise InputError(
            f"{name} must have one row per sample and one column per label, "
            f"got {table.ndim}-d{hint if table.ndim == 1 else ''}."
        )
    if 0 in table.shape:
        raise InputError(
            f"{name} is empty: its shape is {table.shape}; "
            "at least one row and label are needed."
        )


def _is_observed(table: AnyArray) -> BoolArray:
    """Which entries are not NaN, None or NA."""
    if table.dtype.kind != "O":
        return np.asarray(table == table, dtype=bool)
    # Comparing pandas' NA with itself gives NA again, which is neither true nor false.
    observed = [
        cell is not None and str(cell == cell) == "True" for cell in table.ravel()
    ]
    return np.reshape(observed, table.shape)


def check_tensors(Y: Any, scores: Any, *, allow_nan: bool) -> Any:
    """Labels of 0 and 1 as a boolean tensor next to a tensor of scores (…, N, L).

    The labels may have fewer axes than the scores.
    """
    if not is_tensor(Y) or Y.device != scores.device:
        raise InputError(
            f"scores are a tensor on {scores.device}, so Y must be one there too."
        )
    fits = scores.ndim >= 2 and Y.shape[-2:] == scores.shape[-2:]
    if not fits or not bool(((Y == 0) | (Y == 1)).all()):
        shapes = f"scores have shape {tuple(scores.shape)}, Y has {tuple(Y.shape)}"
        raise InputError(f"Y must hold 0 and 1 for every score: {shapes}.")
    if not allow_nan and bool(scores.isnan().any()):
        raise InputError(f"scores hold NaN; {_REPAIR_NAN}")
    return Y == 1


def check_scores(
    scores: ArrayLike, shape: tuple[int, ...], *, allow_nan: bool, batch: bool = False
) -> FloatArray:
    """Scores as float64 of the labels' shape (N, L), or (S, N, L) where ``batch``."""
    table = _numbers(scores, "scores")
    if table.ndim != 2 and not (batch and table.ndim == 3):
        raise InputError(
            "scores must have one row per sample and one column per label, "
            f"got {table.ndim}-d."
        )
    if table.shape[-2:] != shape:
        raise InputError(
            f"scores have shape {table.shape} but Y has shape {shape}; they must match."
        )
    if not allow_nan and np.isnan(table).any():
        first = tuple(np.argwhere(np.isnan(table))[0].tolist())
        raise InputError(f"scores hold NaN (first at {first}); {_REPAIR_NAN}")
    return table


def check_threshold(threshold: ArrayLike, n_labels: int) -> FloatArray:
    """Threshold as a 0-d array (one for all labels) or (L,) (one per label)."""
    cut = _numbers(threshold, "threshold")
    if cut.shape not in ((), (n_labels,)):
        raise InputError(
            f"threshold must be one number or one per label ({n_labels} of them), "
            f"got shape {cut.shape}."
        )
    if np.isnan(cut).any():
        raise InputError(
            "threshold must not be NaN; pass a number, or one number per label."
        )
    return cut


def check_weight(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray:
    """Row weights as float64 (N,), ones when None; not negative, and not all zero."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = _numbers(sample_weight, "sample_weight")
    if weight.shape != (n_rows,):
        raise InputError(
            f"sample_weight must hold one number per row ({n_rows}), "
            f"got shape {weight.shape}."
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


def _array(values: ArrayLike, name: str) -> AnyArray:
    """A table of anything as an array."""
    try:
        return np.asarray(dense(values))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} must be a table whose rows all have the same length."
        ) from error


def _numbers(values: ArrayLike, name: str) -> FloatArray:
    """Numbers as an array of float64."""
    try:
        return np.asarray(dense(values), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} must hold numbers only, in rows of the same length."
        ) from error
