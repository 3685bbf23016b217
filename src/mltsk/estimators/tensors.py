"""Tensors as scikit-learn's checks read arrays: samples, targets and weights of a fit, and rows to predict.

Nothing is moved: y and sample_weight must lie where X lies. Arrays that a named device is to compute with go there by
`place`, after scikit-learn has checked them.
"""

import numpy as np
from sklearn.utils.validation import _check_feature_names, _check_n_features

from ..core.backend import asnumpy, is_tensor, namespace
from ..exceptions import InputError
from ..scale.torch import moves_arrays, require_device, to_device
from ..targets import Targets


def read_rows(estimator, X, *, reset):
    """X (N, D) as a tensor of single or double precision, checked as scikit-learn checks an array."""
    require_device(estimator.device, X)
    X = X.detach()
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(
            f"X must have rows and columns, at least one of each; it is a tensor of shape {tuple(X.shape)}."
        )
    xp = namespace(X)
    if X.dtype not in (xp.float32, xp.float64):
        X = X.to(xp.float32 if X.dtype.is_floating_point else xp.float64)
    if not bool(xp.isfinite(X).all()):
        raise InputError("Input X contains NaN or infinity: remove or impute them first.")
    _check_feature_names(estimator, X, reset=reset)
    _check_n_features(estimator, X, reset=reset)
    return X


def read_fit(estimator, X, y, sample_weight):
    """(X, `Targets`, weights) of a fit on tensors."""
    X = read_rows(estimator, X, reset=True)
    if len(X) < 2:
        raise InputError("X has 1 row (sample), while a minimum of 2 is required.")
    targets = _targets(_beside(X, y, "y"), X)
    if sample_weight is None:
        return X, targets, namespace(X).ones(len(X), dtype=X.dtype, like=X)
    w = _beside(X, sample_weight, "sample_weight").to(X.dtype)
    if w.shape != (len(X),) or not bool(((w >= 0) & namespace(w).isfinite(w)).all()):
        raise InputError(f"sample_weight must hold {len(X)} finite numbers, none negative.")
    return X, targets, w


def place(device, X, targets, w):
    """Arrays of a fit on the named device, or as they are where none is named."""
    if not moves_arrays(device):
        return X, targets, w
    X, Y, w = to_device(device, X, targets.Y, w)
    return X, targets.take(Y), w


def _beside(X, values, name):
    if not is_tensor(values) or values.device != X.device:
        found = f"on {values.device}" if is_tensor(values) else f"a {type(values).__name__}"
        raise InputError(f"X is a tensor on {X.device}, so {name} must be one there too; it is {found}.")
    if len(values) != len(X):
        raise InputError(f"X has {len(X)} rows but {name} has {len(values)}.")
    return values.detach()


def _targets(y, X):
    if y.ndim == 2:
        if not bool(((y == 0) | (y == 1)).all()):
            raise InputError("y must be an indicator of 0 and 1, or one-dimensional classes.")
        names = tuple(f"label {j}" for j in range(y.shape[1]))
        return Targets(y.to(X.dtype), np.arange(y.shape[1]), names, True)
    if y.ndim != 1 or (y.dtype.is_floating_point and not bool((y == y.round()).all())):
        raise InputError("Unknown label type: y must be a 0/1 indicator matrix, or one-dimensional classes.")
    classes = y.unique()
    columns = classes[1:] if len(classes) == 2 else classes
    names = tuple(str(c) for c in asnumpy(columns))
    return Targets((y[:, None] == columns).to(X.dtype), asnumpy(classes), names, False)
