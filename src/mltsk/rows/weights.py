"""Weights that users pass: checked, and the unit that they are counted in.

Symbols: N samples, L labels. Weights are (N,), or (N, L) for a weight per label.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..core.arrays import Array, FloatArray, check_plain
from ..exceptions import InputError
from ..frames import is_absent
from ..targets import default_label_names
from ..text import listing

WeightsLike: TypeAlias = Any  # an array, tensor, Dask collection or list of numbers

MAX_MEAN_COPIES = 10  # whole numbers up to here, on average, are counts of rows


def check_weights(
    sample_weight: WeightsLike, shape: tuple[int, ...], label_names: Sequence[str] = ()
) -> FloatArray:
    """Weights (N,) or (N, L) in double precision, 0 or more, some above 0.

    The columns of a data frame are matched with ``label_names``, L names.
    """
    check_plain(sample_weight, "sample_weight")
    if hasattr(sample_weight, "columns") and len(shape) > 1:
        order = _weight_columns(sample_weight.columns, label_names)
        values = np.asarray(sample_weight)[:, order]
    else:
        values = _weight_cells(sample_weight)
    if values.shape not in ((shape[0],), tuple(shape)):
        or_per_label = ""
        if len(shape) > 1:
            or_per_label = f", or {tuple(shape)} for a weight per label"
        raise InputError(
            f"sample_weight has the shape {values.shape}, but X has {shape[0]} rows: "
            f"pass weights of the shape {(shape[0],)}{or_per_label}."
        )
    w = _weight_numbers(values, label_names)
    counted = (w > 0).any(axis=0)
    if not counted.all():
        of_label = ""
        if w.ndim == 2:
            of_label = f" of label {_label_at(int(np.argmin(counted)), label_names)}"
        raise InputError(
            f"sample_weight is zero for every row{of_label}: nothing is left to fit."
        )
    return w


def _weight_columns(columns: Iterable[object], labels: Sequence[str]) -> list[int]:
    """Positions of the columns of a frame of weights, in the order of the labels."""
    names = [str(name) for name in columns]
    positions = list(range(len(names)))
    are_named = tuple(labels) != default_label_names(len(labels))
    if not are_named or len(names) == 1 or names == list(labels):
        return positions
    if sorted(names) != sorted(labels) or len(set(names)) < len(names):
        raise InputError(
            f"sample_weight has the columns {listing(names, at_most=10)}, but the "
            f"labels are {listing(labels, at_most=10)}: name its columns like them."
        )
    return [names.index(label) for label in labels]


def _weight_cells(sample_weight: WeightsLike) -> NDArray[Any]:
    """Weights as an array, whatever its cells are."""
    if sparse.issparse(sample_weight):
        raise InputError("sample_weight is sparse: pass sample_weight.toarray().")
    try:
        values = np.asarray(sample_weight)
        if values.dtype.kind in "USc":  # cells as they were, to show the wrong one
            values = np.asarray(sample_weight, dtype=object)
        return values
    except ValueError:
        raise InputError(
            "sample_weight has rows of different lengths: pass a number per row."
        ) from None


def _weight_numbers(values: NDArray[Any], label_names: Sequence[str]) -> FloatArray:
    """Weights in double precision; what is no weight is refused with its row."""
    if values.dtype.kind in "biuf":
        w = values.astype(np.float64)
    else:
        numbers = [_weight_of(cell) for cell in values.ravel().tolist()]
        w = np.array(numbers).reshape(values.shape)
    is_wrong = ~(np.isfinite(w) & (w >= 0))
    if not is_wrong.any():
        return w
    position = tuple(np.argwhere(is_wrong)[0].tolist())
    cell = values[position]
    if isinstance(cell, np.generic):
        cell = cell.item()
    where = f"row {position[0]}"
    if w.ndim == 2:
        where += f" for label {_label_at(position[1], label_names)}"
    holds = "nothing (NaN)" if is_absent(cell) else repr(cell)
    raise InputError(
        f"sample_weight holds {holds} in {where}: weights are finite numbers, 0 or "
        "more; 0 leaves a row out."
    )


def _weight_of(cell: object) -> float:
    """A cell as a number, NaN where it is none."""
    if isinstance(cell, Real | Decimal) and not is_absent(cell):
        return float(cell)
    return np.nan


def _label_at(position: int, label_names: Sequence[str]) -> str:
    """What a message calls a label: its name, or its position where it has none."""
    return repr(label_names[position]) if label_names else str(position)


def in_units(w: FloatArray) -> FloatArray:
    """Weights (N,) or (N, L) in their unit, that of `weight_unit`.

    A label whose weights are all equal has a unit of its own: they change nothing.

    >>> in_units(np.array([[5.0, 1.0], [5.0, 2.0]])).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """
    if w.ndim == 1:
        return w / weight_unit(w)
    largest = w.max(axis=0)
    is_equal = ((w == largest) | (w == 0)).all(axis=0)
    units = np.where(is_equal, largest, 1.0)
    if not is_equal.all():
        units[~is_equal] = weight_unit(w[:, ~is_equal])
    return np.asarray(w / units)


def weight_unit(w: Array) -> float:
    """What weights are divided by: their value if all are equal, else their mean.

    Counts stay as they are: a row of weight 2 weighs as much as two rows.
    """
    values = w[w > 0]
    if (values == values[0]).all():
        return float(values[0])
    mean = mean_weight(values)
    are_whole = (values == np.round(values)).all()
    return 1.0 if are_whole and mean <= MAX_MEAN_COPIES else mean


def mean_weight(values: Array) -> float:
    """The mean of weights, also where their sum is too large for a number.

    >>> mean_weight(np.array([1.0, 2.0])), mean_weight(np.array([1e308, 1e308]))
    (1.5, 1e+308)
    """
    with np.errstate(over="ignore"):
        mean = float(values.mean())
    if np.isfinite(mean):
        return mean
    largest = values.max()
    return float((values / largest).mean() * largest)
