"""Torch tensors that users pass: checked, and read where they lie.

`mltsk.rows.read` comes here where X is a tensor, so torch is there.
"""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ..core.arrays import Array, asnumpy, is_tensor, namespace
from ..core.tensors import Tensor
from ..exceptions import InputError
from ..fit.rows import ArrayRows
from ..targets import Targets, default_label_names
from .read import (
    Estimator,
    Features,
    FitInput,
    GroupsLike,
    RulesLike,
    TargetsLike,
    columns_with_gaps,
    of_observed,
    read_groups,
    read_weights,
)
from .weights import WeightsLike


def read_tensors(
    reader: Estimator,
    X: Tensor,
    y: TargetsLike,
    sample_weight: WeightsLike,
    rules: RulesLike,
    groups: GroupsLike,
) -> FitInput:
    """Rows of tensors, which stay where they lie."""
    X = check_tensor(reader, X, reset=True)
    xp = namespace(X)
    missing = asnumpy(xp.isnan(X).sum(0))
    columns = columns_with_gaps(reader, missing, len(X), rules)
    if columns is not None:
        X = columns.expand(X)
    if len(X) < 2:
        raise InputError("X has 1 row (sample), while a minimum of 2 is required.")
    _check_beside(X, y, "y")
    if sample_weight is not None:
        _check_beside(X, sample_weight, "sample_weight")
        sample_weight = asnumpy(sample_weight)
    targets = _tensor_targets(y)
    w = read_weights(sample_weight, targets.Y.shape, targets.names)
    w = of_observed(w, targets)

    def beside(values: Array | None) -> Tensor:
        return None if values is None else xp.asarray(values, dtype=xp.float64, like=X)

    rows = ArrayRows(
        X=X,
        Y=beside(targets.Y),
        w=beside(w),
        groups=read_groups(groups, len(X)),
        shape=targets.Y.shape,
        limit=len(X),
    )
    return FitInput(rows, targets, Features.of(reader, columns))


def check_tensor(reader: BaseEstimator, X: Tensor, *, reset: bool) -> Tensor:
    """X (N, D) as a tensor of single or double precision, checked as arrays are."""
    xp = namespace(X)
    if X.layout != xp.strided:
        raise InputError(
            "X is a sparse tensor, which is not supported: "
            "pass X.to_dense(), or a SciPy CSR matrix."
        )
    if X.dtype.is_complex:
        raise InputError(
            "Complex data not supported: give the parts of X as columns of their own."
        )
    X = X.detach()
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(
            "X must have rows and columns, one of each at least; "
            f"it is a tensor of shape {tuple(X.shape)}."
        )
    if X.dtype not in (xp.float32, xp.float64):
        X = X.to(xp.float32 if X.dtype.is_floating_point else xp.float64)
    if bool(xp.isinf(X).any()):
        raise InputError(
            "Input X contains infinity: leave such rows out, or write NaN."
        )
    validate_data(reader, X, skip_check_array=True, reset=reset)
    return X


def _check_beside(X: Tensor, values: Tensor, name: str) -> None:
    """Refuse labels or weights that are no tensor beside X, or of another length."""
    if values is None:
        return
    if not is_tensor(values) or values.device != X.device:
        kind = (
            f"on {values.device}" if is_tensor(values) else f"a {type(values).__name__}"
        )
        raise InputError(
            f"X is a tensor on {X.device}, so {name} must be one there too; "
            f"it is {kind}."
        )
    if len(values) != len(X):
        raise InputError(f"X has {len(X)} rows but {name} has {len(values)}.")


def _tensor_targets(y: TargetsLike) -> Targets:
    """Targets of a tensor; an indicator stays where it lies."""
    is_indicator = y.ndim == 2 and y.shape[1] > 1
    if is_indicator and bool(((y == 0) | (y == 1)).all()):
        n_labels = y.shape[1]
        return Targets(
            Y=y.to(namespace(y).float64),
            classes=np.arange(n_labels),
            names=default_label_names(n_labels),
            multilabel=True,
        )
    return Targets.of(asnumpy(y), may_miss=True)
