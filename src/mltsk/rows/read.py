"""What a user passes to `fit`, as rows: arrays, data frames, CSR, memory maps, torch tensors or Dask collections."""

from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_array, validate_data

from ..core.backend import asnumpy, is_tensor, namespace
from ..exceptions import InputError
from ..targets import Targets
from .arrays import ArrayRows, is_dask

FLOATS = (np.float64, np.float32)
CHECKS = {"accept_sparse": "csr", "dtype": list(FLOATS)}


def read_rows(estimator, X, y, sample_weight):
    """(rows, `Targets` whose Y is what the rows hold) of a fit; sets ``n_features_in_`` and ``feature_names_in_``."""
    if is_dask(X):
        from .dask import read_dask  # Dask is there where its collections are

        return read_dask(estimator, X, y, sample_weight)
    if is_tensor(X):
        return _tensor_rows(estimator, X, y, sample_weight)
    if is_too_large(X):
        return _large_rows(estimator, X, y, sample_weight)
    if hasattr(y, "columns") or sparse.issparse(y):  # names and sparse labels are read by Targets
        X = validate_data(estimator, X, **CHECKS, ensure_min_samples=2)
    else:
        X, y = validate_data(estimator, X, y, multi_output=True, **CHECKS, ensure_min_samples=2)
    targets = Targets.of(y)
    _same_length(X, targets.Y)
    w, copies = read_weights(sample_weight, targets.Y.shape)
    return ArrayRows(X, targets.Y, w, copies, max(1, X.shape[0]), _as_they_are), targets


def read_samples(estimator, X):
    """Rows to predict, checked; tensors stay tensors."""
    if is_tensor(X):
        return check_tensor(estimator, X, reset=False)
    return validate_data(estimator, X, **CHECKS, reset=False)


def _as_they_are(X, Y):
    return X, Y


def _same_length(X, y):
    if X.shape[0] != y.shape[0]:
        raise InputError(f"X has {X.shape[0]} rows but y has {y.shape[0]}.")


# weights -------------------------------------------------------------------------------------------------------------


MOST_COPIES = 10  # a row that stands for hundreds would speak for itself when one of them is left out


def read_weights(sample_weight, shape):
    """(weights, copies), None each where none are given: (N,) or (N, L), copies only where weights are counts.

    Weights that are all equal change nothing; whole numbers of MOST_COPIES at most on average are counts of copies; any
    others, such as those of a survey, say how important rows are relative to each other, whatever their size.
    """
    if sample_weight is None:
        return None, None
    w = check_weights(sample_weight, shape)
    unit = weight_unit(w)
    if unit is None:
        return w, np.where(w > 0, w, 1.0)
    return w / unit, None


def check_weights(sample_weight, shape):
    """Weights (N,) or (N, L) in double precision, 0 or more, some of each label above 0."""
    w = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if w.shape not in ((shape[0],), tuple(shape)):
        per_label = f", or {tuple(shape)} for a weight per label" if len(shape) > 1 else ""
        raise ValueError(f"sample_weight.shape == {w.shape}, expected {(shape[0],)}{per_label}!")
    if (w < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`.")
    counted = (w > 0).any(axis=0)
    if not counted.all():
        which = "" if w.ndim == 1 else f" of label {int(np.argmin(counted))}"
        raise InputError(f"sample_weight is zero for every row{which}: nothing is left to fit.")
    return w


def weight_unit(w):
    """What weights are divided by: their value where they are all equal, their mean; None for counts."""
    values = w[w > 0]
    if (values == values[0]).all():
        return float(values[0])
    mean = float(values.mean())
    return None if (values == np.round(values)).all() and mean <= MOST_COPIES else mean


# arrays larger than the memory ---------------------------------------------------------------------------------------


def is_too_large(X) -> bool:
    """Whether X is an array or CSR, perhaps mapped from a file, that would take more than scikit-learn's
    ``working_memory`` (1 GB by default, `sklearn.set_config`) in double precision."""
    plain = isinstance(X, np.ndarray) or (sparse.issparse(X) and X.format == "csr")
    return plain and X.ndim == 2 and X.dtype.kind in "fiub" and X.shape[0] > 1 and rows_at_once(X) < X.shape[0]


def rows_at_once(X) -> int:
    """How many rows of X the working memory holds."""
    width = X.shape[1] if isinstance(X, np.ndarray) else 2 * max(1, X.nnz // max(1, X.shape[0]))
    return max(1, int(get_config()["working_memory"] * 2**20 / (8 * max(1, width))))


def _large_rows(estimator, X, y, sample_weight):
    validate_data(estimator, X, skip_check_array=True)
    names = y.columns if hasattr(y, "columns") else None
    y = y.tocsr() if sparse.issparse(y) else np.asarray(y)
    _same_length(X, y)
    y = y.ravel() if y.shape[1:] == (1,) else y
    targets = Targets.of(y[:1] if y.ndim == 2 else np.unique(y))
    targets = targets if names is None else replace(targets, names=tuple(map(str, names)))
    w, copies = read_weights(sample_weight, (X.shape[0], targets.Y.shape[1]))

    def read(Xb, Yb):
        block = Targets.of(Yb).Y if targets.multilabel else targets.indicator(Yb)
        return validate_data(estimator, Xb, **CHECKS, reset=False), block

    return ArrayRows(X, y, w, copies, max(1, rows_at_once(X) // 8), read, len(targets.names)), targets


# tensors -------------------------------------------------------------------------------------------------------------


def check_tensor(estimator, X, *, reset):
    """X (N, D) as a tensor of single or double precision, checked as scikit-learn checks an array."""
    xp = namespace(X)
    if X.layout != xp.strided:
        raise InputError("X is a sparse tensor, which is not computed with: pass X.to_dense(), or a SciPy CSR matrix.")
    X = X.detach()
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(
            f"X must have rows and columns, one of each at least; it is a tensor of shape {tuple(X.shape)}."
        )
    if X.dtype not in (xp.float32, xp.float64):
        X = X.to(xp.float32 if X.dtype.is_floating_point else xp.float64)
    if not bool(xp.isfinite(X).all()):
        raise InputError("Input X contains NaN or infinity: remove or impute them first.")
    _check_feature_names(estimator, X, reset=reset)
    _check_n_features(estimator, X, reset=reset)
    return X


def _tensor_rows(estimator, X, y, sample_weight):
    X = check_tensor(estimator, X, reset=True)
    if len(X) < 2:
        raise InputError("X has 1 row (sample), while a minimum of 2 is required.")
    for values, name in ((y, "y"), (sample_weight, "sample_weight")):
        if values is not None and (not is_tensor(values) or values.device != X.device):
            found = f"on {values.device}" if is_tensor(values) else f"a {type(values).__name__}"
            raise InputError(f"X is a tensor on {X.device}, so {name} must be one there too; it is {found}.")
        if values is not None and len(values) != len(X):
            raise InputError(f"X has {len(X)} rows but {name} has {len(values)}.")
    xp = namespace(X)
    if y.ndim == 2 and y.shape[1] > 1 and bool(((y == 0) | (y == 1)).all()):  # labels stay where they are
        names = tuple(f"label {j}" for j in range(y.shape[1]))
        targets = Targets(y.to(xp.float64), np.arange(y.shape[1]), names, True)
    else:
        targets = Targets.of(asnumpy(y))
    w, copies = read_weights(None if sample_weight is None else asnumpy(sample_weight), targets.Y.shape)
    Y, w, copies = (None if a is None else xp.asarray(a, dtype=xp.float64, like=X) for a in (targets.Y, w, copies))
    return ArrayRows(X, Y, w, copies, len(X), _as_they_are), targets
