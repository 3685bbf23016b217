"""What a user passes to `fit`, as rows: arrays, data frames, CSR, memory maps, torch tensors or Dask collections."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    check_array,
    validate_data,
)

from ..columns import Columns, has_columns, is_polars, read_columns
from ..core.arrays import asnumpy, check_plain, is_tensor, namespace, spread_rows
from ..exceptions import InputError
from ..targets import Targets
from .arrays import ArrayRows, is_dask
from .given_rules import check_rules_apply, with_rules

FLOATS = (np.float64, np.float32)
MOST_COPIES = 10  # a row that stands for hundreds would speak for itself when one of them is left out
CHECKS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": list(FLOATS),
    "ensure_all_finite": "allow-nan",
}


def read_rows(estimator, X, y, sample_weight):
    """(rows, `Targets` whose Y is what the rows hold) of a fit.

    Sets ``n_features_in_``, ``feature_names_in_`` and ``columns_``, which is None where X is numbers throughout.
    """
    estimator.columns_ = None
    if isinstance(X, np.ndarray) or not has_columns(
        X
    ):  # whose columns are judged by name
        check_plain(X, "X")
    if not isinstance(X, np.ndarray) and is_dask(X):
        from .dask import read_dask  # Dask is there where its collections are

        return read_dask(estimator, X, y, sample_weight)
    if is_tensor(X):
        return _tensor_rows(estimator, X, y, sample_weight)
    if rows_at_once(X) is not None:
        return _large_rows(estimator, X, y, sample_weight)
    if y is None:
        validate_data(estimator, X, y)  # scikit-learn's sentence
    X = first_look(estimator, X)
    targets = Targets.of(y, may_miss=True)
    if X.shape[0] != len(targets.Y):
        raise InputError(f"X has {X.shape[0]} rows but y has {len(targets.Y)}.")
    w, copies = read_weights(sample_weight, targets.Y.shape)
    if targets.observed is not None:
        w, copies = _observed(w, copies, targets)
    X = read_columns_of(
        estimator,
        X,
        None if w is None else (w > 0 if w.ndim == 1 else (w > 0).any(axis=1)),
    )
    return ArrayRows(
        X, targets.Y, w, copies, targets.Y.shape, max(1, X.shape[0])
    ), targets


def first_look(estimator, X):
    """X with its names and shape checked: a frame with words or gaps, or an array."""
    if needs_columns(X, estimator.categorical_features):
        _check_feature_names(estimator, X, reset=True)
        _check_n_features(estimator, X, reset=True)
        if X.shape[0] < 2:
            raise InputError(
                f"X has {X.shape[0]} row (sample), while a minimum of 2 is required."
            )
        return X
    X = validate_data(estimator, X, **CHECKS, ensure_min_samples=2)
    if sparse.issparse(X) and np.isnan(X.data).any():
        raise InputError(
            "Input X contains NaN: sparse data have none, a cell that is not stored is 0."
        )
    return X


def needs_columns(X, categorical_features):
    """Whether X is a frame that is more than numbers, or has columns that are named nominal."""
    if isinstance(X, np.ndarray) or not has_columns(X):
        is_given = categorical_features is not None and not isinstance(
            categorical_features, str
        )
        return (
            is_given
            and hasattr(X, "shape")
            and np.ndim(X) == 2
            and not sparse.issparse(X)
        )
    if is_polars(X):
        return not all(
            dtype.is_numeric() for dtype in X.dtypes
        ) or categorical_features not in ("from_dtype", None)
    are_numbers = all(getattr(dtype, "kind", "O") in "iuf" for dtype in X.dtypes)
    return not are_numbers or not isinstance(categorical_features, str | None)


def read_columns_of(estimator, X, counted):
    """X in columns of numbers, with ``columns_`` set where those are not the columns of X itself."""
    is_frame = needs_columns(X, estimator.categorical_features)
    if estimator.given_rules_:
        check_rules_apply(estimator, X)
    if sparse.issparse(X) or not (
        is_frame or estimator.given_rules_ or np.isnan(X).any()
    ):
        return X
    names = feature_names(estimator)
    counted = np.ones(X.shape[0], dtype=bool) if counted is None else counted
    columns = read_columns(
        X, names, _nominal(estimator.categorical_features, names), counted
    )
    columns = with_rules(columns, estimator.given_rules_)
    estimator.columns_ = dict(vars(columns))
    expanded = columns.expand(X)
    if np.isinf(expanded).any():
        where = columns.names[
            columns.parts[int(np.isinf(expanded).any(axis=0).argmax())].feature
        ]
        raise InputError(
            f"Input X contains infinity in column {where!r}: leave such rows out, or write NaN."
        )
    return expanded


def note_gaps(estimator, missing, n):
    """The columns of numbers throughout, of n cells each, of which so many (D,) are ``missing``; None without need."""
    if not np.any(missing) and not estimator.given_rules_:
        return None
    if estimator.given_rules_:
        check_rules_apply(estimator, None)
    columns = with_rules(
        Columns.of_numbers(feature_names(estimator), missing, n), estimator.given_rules_
    )
    estimator.columns_ = dict(vars(columns))
    return columns


def feature_names(estimator) -> list[str]:
    """Names of the features of an estimator; x0, x1, … where X had none."""
    names = getattr(
        estimator,
        "feature_names_in_",
        [f"x{d}" for d in range(estimator.n_features_in_)],
    )
    return [str(name) for name in names]


def _nominal(features, names):
    """Which features are nominal, as a mask; None leaves that to their types."""
    if isinstance(features, str):
        if features != "from_dtype":
            raise InputError(
                f"categorical_features must be 'from_dtype', None or a list, got {features!r}."
            )
        return None
    mask = np.zeros(len(names), dtype=bool)
    if features is None:
        return mask
    features = np.asarray(features)
    if features.dtype.kind == "b":
        if features.shape != mask.shape:
            raise InputError(
                f"categorical_features is a mask of {features.shape}, but X has {len(names)} features."
            )
        return features
    for feature in features.tolist():
        at = (
            names.index(feature)
            if isinstance(feature, str) and feature in names
            else feature
        )
        if not isinstance(at, int) or not -len(names) <= at < len(names):
            raise InputError(
                f"categorical_features names {feature!r}, which X does not have."
            )
        mask[at] = True
    return mask


def _observed(w, copies, targets):
    """Weights in which cells that were not observed have none."""
    never = ~targets.observed.any(axis=0)
    if never.any():
        raise InputError(
            f"Label {targets.names[int(never.argmax())]!r} was observed in no row: leave it out."
        )
    shape = targets.observed.shape
    w = targets.observed * (
        1.0 if w is None else np.broadcast_to(w if w.ndim == 2 else w[:, None], shape)
    )
    if copies is not None:
        copies = np.where(
            w > 0,
            np.broadcast_to(copies if copies.ndim == 2 else copies[:, None], shape),
            1.0,
        )
    return w, copies


def read_samples(estimator, X):
    """Rows to predict in columns of numbers, checked; tensors stay tensors."""
    columns = None if estimator.columns_ is None else Columns(**estimator.columns_)
    if is_tensor(X):
        X = check_tensor(estimator, X, reset=False)
    elif columns is not None and needs_columns(X, estimator.categorical_features):
        _check_feature_names(estimator, X, reset=False)
        _check_n_features(estimator, X, reset=False)
    else:
        check_plain(X, "X")
        X = validate_data(estimator, X, **CHECKS, reset=False)
    if columns is None:
        return X
    X = columns.expand(X.toarray() if sparse.issparse(X) else X)
    if not is_tensor(X) and np.isinf(X).any():
        raise InputError("Input X contains infinity: write NaN for what is not known.")
    return X


def read_weights(sample_weight, shape) -> tuple[Any, Any]:
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
    check_plain(sample_weight, "sample_weight")
    w = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if w.shape not in ((shape[0],), tuple(shape)):
        per_label = (
            f", or {tuple(shape)} for a weight per label" if len(shape) > 1 else ""
        )
        raise ValueError(
            f"sample_weight.shape == {w.shape}, expected {(shape[0],)}{per_label}!"
        )
    if (w < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`.")
    counted = (w > 0).any(axis=0)
    if not counted.all():
        which = "" if w.ndim == 1 else f" of label {int(np.argmin(counted))}"
        raise InputError(
            f"sample_weight is zero for every row{which}: nothing is left to fit."
        )
    return w


def weight_unit(w):
    """What weights are divided by: their value where they are all equal, their mean; None for counts."""
    values = w[w > 0]
    if (values == values[0]).all():
        return float(values[0])
    mean = float(values.mean())
    return None if (values == np.round(values)).all() and mean <= MOST_COPIES else mean


def rows_at_once(X) -> int | None:
    """How many rows of X scikit-learn's ``working_memory`` (1 GB by default, `sklearn.set_config`) holds in double
    precision, where that is not all of them: X is an array or CSR, perhaps mapped from a file."""
    is_array = isinstance(X, np.ndarray)
    if not is_array and not (sparse.issparse(X) and X.format == "csr"):
        return None
    if X.ndim != 2 or X.dtype.kind not in "fiub" or X.shape[0] < 2:
        return None
    width = X.shape[1] if is_array else 2 * max(1, X.nnz // X.shape[0])
    rows = max(1, int(get_config()["working_memory"] * 2**20 / (8 * max(1, width))))
    return rows if rows < X.shape[0] else None


def _large_rows(estimator, X, y, sample_weight):
    validate_data(estimator, X, skip_check_array=True)
    if estimator.given_rules_:
        check_rules_apply(estimator, X)
    names = y.columns if hasattr(y, "columns") else None
    y = y.tocsr() if sparse.issparse(y) else np.asarray(y)
    if X.shape[0] != y.shape[0]:
        raise InputError(f"X has {X.shape[0]} rows but y has {y.shape[0]}.")
    y = y.ravel() if y.shape[1:] == (1,) else y
    if isinstance(X, np.ndarray):  # gaps are looked for in a sample
        some = np.asarray(X[spread_rows(len(X), 20_000)], dtype=np.float64)
        read_columns_of(estimator, some, None)
    targets = Targets.of(y[:1] if y.ndim == 2 else np.unique(y))
    targets = (
        targets if names is None else replace(targets, names=tuple(map(str, names)))
    )
    w, copies = read_weights(sample_weight, (X.shape[0], targets.Y.shape[1]))

    def read(Xb, Yb):
        block = Targets.of(Yb).Y if targets.multilabel else targets.indicator(Yb)
        return read_samples(estimator, Xb), block

    shape, limit = (X.shape[0], len(targets.names)), max(1, (rows_at_once(X) or 1) // 8)
    return ArrayRows(X, y, w, copies, shape, limit, read), targets


def check_tensor(estimator, X, *, reset):
    """X (N, D) as a tensor of single or double precision, checked as scikit-learn checks an array."""
    xp = namespace(X)
    if X.layout != xp.strided:
        raise InputError(
            "X is a sparse tensor, which is not supported: pass X.to_dense(), or a SciPy CSR matrix."
        )
    if X.dtype.is_complex:
        raise InputError(
            "Complex data not supported: give the parts of X as columns of their own."
        )
    X = X.detach()
    if X.ndim != 2 or 0 in X.shape:
        found = f"it is a tensor of shape {tuple(X.shape)}"
        raise InputError(
            f"X must have rows and columns, one of each at least; {found}."
        )
    if X.dtype not in (xp.float32, xp.float64):
        X = X.to(xp.float32 if X.dtype.is_floating_point else xp.float64)
    if bool(xp.isinf(X).any()):
        raise InputError(
            "Input X contains infinity: leave such rows out, or write NaN."
        )
    _check_feature_names(estimator, X, reset=reset)
    _check_n_features(estimator, X, reset=reset)
    return X


def _tensor_rows(estimator, X, y, sample_weight):
    X = check_tensor(estimator, X, reset=True)
    columns = note_gaps(estimator, asnumpy(namespace(X).isnan(X).sum(0)), len(X))
    X = X if columns is None else columns.expand(X)
    if len(X) < 2:
        raise InputError("X has 1 row (sample), while a minimum of 2 is required.")
    for values, name in ((y, "y"), (sample_weight, "sample_weight")):
        if values is not None and (not is_tensor(values) or values.device != X.device):
            found = (
                f"on {values.device}"
                if is_tensor(values)
                else f"a {type(values).__name__}"
            )
            raise InputError(
                f"X is a tensor on {X.device}, so {name} must be one there too; it is {found}."
            )
        if values is not None and len(values) != len(X):
            raise InputError(f"X has {len(X)} rows but {name} has {len(values)}.")
    xp = namespace(X)
    if (
        y.ndim == 2 and y.shape[1] > 1 and bool(((y == 0) | (y == 1)).all())
    ):  # labels stay where they are
        names = tuple(f"label {j}" for j in range(y.shape[1]))
        targets = Targets(y.to(xp.float64), np.arange(y.shape[1]), names, True)
    else:
        targets = Targets.of(asnumpy(y), may_miss=True)
    given = None if sample_weight is None else asnumpy(sample_weight)
    w, copies = read_weights(given, targets.Y.shape)
    if targets.observed is not None:
        w, copies = _observed(w, copies, targets)
    Y, w, copies = (
        None if a is None else xp.asarray(a, dtype=xp.float64, like=X)
        for a in (targets.Y, w, copies)
    )
    return ArrayRows(X, Y, w, copies, targets.Y.shape, len(X)), targets
