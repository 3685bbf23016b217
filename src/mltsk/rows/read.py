"""What a user passes to `fit`, as rows.

Arrays, data frames and CSR are read here. Three forms have modules of their own, which
are loaded where such an X comes in and use the functions here: arrays above working
memory (`large`), torch tensors (`tensors`) and Dask collections (`dask`). Nothing is
written to the estimator that is fitted: scikit-learn's checks, which note names and
number of features, get a copy of it.
"""

import sys
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ..columns import Columns, read_columns, refuse_words
from ..core.arrays import (
    Array,
    FloatArray,
    Matrix,
    check_plain,
    is_tensor,
    weights_per_label,
)
from ..core.used import UsedFeatures
from ..exceptions import InputError, check_texts
from ..fit.left_out import group_codes, take_groups
from ..fit.memory import FitSize
from ..fit.rows import ArrayRows, Rows
from ..frames import (
    check_column_names,
    default_names,
    has_columns,
    is_absent,
    is_polars,
)
from ..targets import Targets
from .given_rules import check_rules_apply, with_rules
from .weights import WeightsLike, check_weights, in_units

# What users pass, in the forms that scikit-learn's users know; only this room and the
# estimators meet it before it is checked.
Estimator: TypeAlias = Any  # a classifier or transformer of scikit-learn's form
TableLike: TypeAlias = Any  # a frame, array, CSR, tensor, Dask collection or list
TargetsLike: TypeAlias = Any  # an indicator, frame, tensor, or lists of labels; classes
RulesLike: TypeAlias = Any  # a list of dicts
GroupsLike: TypeAlias = Any  # names or numbers of groups, one per row
FeaturesLike: TypeAlias = Any  # "from_dtype", None, or an array of bool, int or str

PRECISIONS = (np.float64, np.float32)


@dataclass(frozen=True)
class Features:
    """Features of X: their number, their names if X has some, and their columns.

    ``columns`` is None where X is numbers throughout, without gaps; ``used`` is None
    where all features have a column of their own.
    """

    count: int
    names: NDArray[np.object_] | None
    columns: Columns | None = None
    used: UsedFeatures | None = None

    @classmethod
    def of(
        cls,
        reader: BaseEstimator,
        columns: Columns | None,
        used: UsedFeatures | None = None,
    ) -> "Features":
        """What scikit-learn's checks noted on an estimator."""
        names = getattr(reader, "feature_names_in_", None)
        if names is not None:
            check_texts((str(name) for name in names), "A column of X")
        if columns is not None:
            columns.check_words()
        return cls(reader.n_features_in_, names, columns, used)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns of numbers; x0, x1, … where X has no names."""
        if self.columns is not None:
            return self.columns.part_names
        names = default_names(self.count)
        if self.names is not None:
            names = tuple(str(name) for name in self.names)
        return names if self.used is None else self.used.names(names)


class FitInput(NamedTuple):
    """What a fit learns from: rows, what y means, and the features of X."""

    rows: Rows
    targets: Targets
    features: Features


def is_dask(x: object) -> bool:
    """Whether x is a Dask collection; Dask is not imported to find out."""
    return "dask" in sys.modules and type(x).__module__.partition(".")[0] == "dask"


def feature_names(estimator: Estimator) -> tuple[str, ...]:
    """Names of the features that an estimator was fitted on."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return default_names(estimator.n_features_in_)
    return tuple(str(name) for name in names)


def read_rows(
    estimator: Estimator,
    X: TableLike,
    y: TargetsLike,
    sample_weight: WeightsLike,
    rules: RulesLike = (),
    groups: GroupsLike = None,
) -> FitInput:
    """Read what a user passed to `fit`.

    ``rules`` are the user's own rules, which become columns of their own; ``groups``
    name rows that belong together.
    """
    reader = copy(estimator)
    if not _is_frame(X):
        check_plain(X, "X")  # columns of frames are judged by name
    if is_dask(X):
        from .dask import read_dask  # Dask is there where its collections are

        return read_dask(reader, X, y, sample_weight, rules, groups)
    if is_tensor(X):
        from .tensors import read_tensors

        return read_tensors(reader, X, y, sample_weight, rules, groups)
    if rows_at_once(X) is not None:
        from .large import read_large

        return read_large(reader, X, y, sample_weight, rules, groups)
    if y is None:
        validate_data(reader, X, y)  # scikit-learn's sentence
    X = first_look(reader, X)
    targets = Targets.of(y, may_miss=True)
    check_lengths(X.shape[0], len(targets.Y))
    w = read_weights(sample_weight, targets.Y.shape, targets.names)
    w = of_observed(w, targets)
    codes = read_groups(groups, X.shape[0])
    X, columns = numbers_of(reader, X, rules, counted_rows(w))
    used = UsedFeatures.of(X)
    if used is not None:
        X = used.columns(X)
    rows = ArrayRows(
        X=X,
        Y=targets.Y,
        w=w,
        groups=codes,
        shape=targets.Y.shape,
        limit=max(1, X.shape[0]),
    )
    return FitInput(rows, targets, Features.of(reader, columns, used))


def check_lengths(n_samples: int, n_labelled: int) -> None:
    """Refuse X and y of different lengths."""
    if n_samples != n_labelled:
        raise InputError(f"X has {n_samples} rows but y has {n_labelled}.")


def counted_rows(w: Array | None) -> NDArray[np.bool_] | None:
    """Which rows have a weight above 0 for some label; None for all."""
    if w is None:
        return None
    is_counted = w > 0
    return is_counted if w.ndim == 1 else np.any(is_counted, axis=1)


def first_look(reader: BaseEstimator, X: TableLike) -> TableLike:
    """X with its names and shape checked: a frame with words or gaps, or an array."""
    if _is_frame(X):
        check_column_names(X)
    if needs_columns(X, reader.categorical_features):
        validate_data(reader, X, skip_check_array=True)
        if X.shape[0] < 2:
            raise InputError(
                f"X has {X.shape[0]} row (sample), while a minimum of 2 is required."
            )
        return X
    X = _checked_array(reader, X, reset=True, ensure_min_samples=2)
    refuse_sparse_gaps(X)
    return X


def _is_frame(X: TableLike) -> bool:
    """Whether X is a data frame; no array is one."""
    return not isinstance(X, np.ndarray) and has_columns(X)


def refuse_sparse_gaps(X: Matrix) -> None:
    """Refuse NaN in CSR."""
    if sparse.issparse(X) and np.isnan(X.data).any():
        raise InputError(
            "Input X contains NaN: sparse data have none, "
            "a cell that is not stored is 0."
        )


def _checked_array(reader: BaseEstimator, X: TableLike, **options: Any) -> Matrix:
    """X as scikit-learn reads it: floats, perhaps CSR, perhaps with NaN."""
    # scikit-learn sums all cells up to see whether they are finite
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return validate_data(
            reader,
            X,
            accept_sparse="csr",
            dtype=list(PRECISIONS),
            ensure_all_finite="allow-nan",
            **options,
        )


def needs_columns(X: TableLike, categorical_features: FeaturesLike) -> bool:
    """Whether X is more than numbers, or has features that are named nominal."""
    names_some = not isinstance(categorical_features, str | None)
    if not _is_frame(X):
        is_table = hasattr(X, "shape") and np.ndim(X) == 2 and not sparse.issparse(X)
        return names_some and is_table
    if names_some:
        return True
    if is_polars(X):
        are_numbers = all(dtype.is_numeric() for dtype in X.dtypes)
        return not are_numbers or categorical_features not in ("from_dtype", None)
    return not all(getattr(dtype, "kind", "O") in "iuf" for dtype in X.dtypes)


def numbers_of(
    reader: Estimator,
    X: TableLike,
    rules: RulesLike,
    counted: NDArray[np.bool_] | None = None,
) -> tuple[Matrix, Columns | None]:
    """X in columns of numbers, and these columns where they are not those of X itself.

    ``counted`` (N,) says which rows count; None for all.
    """
    if rules:
        check_rules_apply(reader.scale, X)
    if sparse.issparse(X):
        return X, None
    is_frame = needs_columns(X, reader.categorical_features)
    if not is_frame and not rules and not np.isnan(X).any():
        return X, None
    names = feature_names(reader)
    if counted is None:
        counted = np.ones(X.shape[0], dtype=bool)
    is_nominal = _nominal(reader.categorical_features, names)
    columns = with_rules(read_columns(X, names, is_nominal, counted), rules)
    return _finite_numbers(columns, X), columns


def _finite_numbers(columns: Columns, X: TableLike) -> FloatArray:
    """X in its columns of numbers; infinity is refused with the name of its feature."""
    FitSize(X.shape[0], len(columns.parts), n_labels=0).check()
    numbers = columns.expand(X)
    is_infinite = np.isinf(numbers).any(axis=0)
    if is_infinite.any():
        feature = columns.parts[int(is_infinite.argmax())].feature
        raise InputError(
            f"Input X contains infinity in column {columns.names[feature]!r}: "
            "leave such rows out, or write NaN."
        )
    return numbers


def columns_with_gaps(
    reader: Estimator, missing: NDArray[np.intp], n_rows: int, rules: RulesLike
) -> Columns | None:
    """Columns of features that are numbers throughout, or None without need.

    ``missing`` (D,) counts the missing cells of each feature among ``n_rows``.
    """
    if not np.any(missing) and not rules:
        return None
    if rules:
        check_rules_apply(reader.scale, None)
    columns = Columns.of_numbers(feature_names(reader), missing, n_rows)
    return with_rules(columns, rules)


def _nominal(
    features: FeaturesLike, names: tuple[str, ...]
) -> NDArray[np.bool_] | None:
    """Which features are nominal, as a mask; None leaves that to their types."""
    if isinstance(features, str):
        if features != "from_dtype":
            raise InputError(
                "categorical_features must be 'from_dtype', None or a list, "
                f"got {features!r}."
            )
        return None
    mask = np.zeros(len(names), dtype=bool)
    if features is None:
        return mask
    features = np.asarray(features)
    if features.dtype.kind == "b":
        if features.shape != mask.shape:
            raise InputError(
                f"categorical_features is a mask of {features.shape}, "
                f"but X has {len(names)} features."
            )
        return features
    for feature in features.tolist():
        mask[_feature_position(feature, names)] = True
    return mask


def _feature_position(feature: object, names: tuple[str, ...]) -> int:
    """Position of a feature that is given by name or position."""
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if isinstance(feature, int) and -len(names) <= feature < len(names):
        return feature
    raise InputError(f"categorical_features names {feature!r}, which X does not have.")


def of_observed(w: FloatArray | None, targets: Targets) -> FloatArray | None:
    """Weights in which cells that were not observed have none; None for ones."""
    observed = targets.observed
    if observed is None:
        return w
    is_never_observed = ~observed.any(axis=0)
    if is_never_observed.any():
        label = targets.names[int(is_never_observed.argmax())]
        raise InputError(f"Label {label!r} was observed in no row: leave it out.")
    if w is None:
        return observed * 1.0
    return observed * weights_per_label(w, observed.shape)


def read_samples(
    estimator: Estimator,
    X: TableLike,
    columns: Columns | None,
    used: UsedFeatures | None = None,
) -> Matrix:
    """Samples to predict in columns of numbers, checked; tensors stay tensors."""
    if is_tensor(X):
        from .tensors import check_tensor

        X = check_tensor(estimator, X, reset=False)
    elif columns is not None and needs_columns(X, estimator.categorical_features):
        validate_data(estimator, X, skip_check_array=True, reset=False)
    else:
        check_plain(X, "X")
        X = _numbers_to_predict(estimator, X)
    if used is not None:
        return used.columns(X)
    if columns is None:
        return X
    X = columns.expand(X.toarray() if sparse.issparse(X) else X)
    if not is_tensor(X) and np.isinf(X).any():
        raise InputError("Input X contains infinity: write NaN for what is not known.")
    return X


def _numbers_to_predict(estimator: Estimator, X: TableLike) -> Matrix:
    """X in numbers; words in a data frame are refused with the name of their column."""
    try:
        return _checked_array(estimator, X, reset=False)
    except (TypeError, ValueError):
        if has_columns(X):
            refuse_words(X)
        raise


def read_weights(
    sample_weight: WeightsLike, shape: tuple[int, ...], label_names: Sequence[str] = ()
) -> FloatArray | None:
    """Weights of rows of labels of a shape (N, L); None for ones.

    Weights that are all equal change nothing. Whole numbers of MAX_MEAN_COPIES at most
    on average are counts of rows. Any others, such as those of a survey, say how
    important rows are relative to each other, whatever their size.
    """
    if sample_weight is None:
        return None
    return in_units(check_weights(sample_weight, shape, label_names))


def read_groups(groups: GroupsLike, n_rows: int) -> NDArray[np.intp] | None:
    """Codes (N,) of rows that belong together; None where every row is alone."""
    if groups is None:
        return None
    names = np.array(group_names(groups, n_rows))
    return take_groups(group_codes(names), slice(None))


def group_names(groups: GroupsLike, n_rows: int) -> list[str]:
    """The name of each row's group, checked."""
    values = np.asarray(groups, dtype=object)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (n_rows,):
        raise InputError(
            f"groups has the shape {values.shape}, but X has {n_rows} rows: pass the "
            "name or number of each row's group, such as its patient."
        )
    missing = [is_absent(value) for value in values.tolist()]
    if any(missing):
        raise InputError(
            f"groups holds nothing (NaN) in row {missing.index(True)}: say to which "
            "group each row belongs; a row of its own has a name of its own."
        )
    return [_group_name(value) for value in values.tolist()]


def _group_name(value: object) -> str:
    """The name of a group: a whole number is the same with and without a point."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def rows_at_once(X: TableLike) -> int | None:
    """How many rows of X fit in scikit-learn's working memory; None if all do.

    Rows are in double precision; `sklearn.set_config` sets ``working_memory``, which is
    1 GB by default. X is an array or CSR, perhaps mapped from a file.
    """
    is_array = isinstance(X, np.ndarray)
    if not is_array and not (sparse.issparse(X) and X.format == "csr"):
        return None
    if X.ndim != 2 or X.dtype.kind not in "fiub" or X.shape[0] < 2:
        return None
    numbers_per_row = X.shape[1]
    if not is_array:
        numbers_per_row = 2 * max(1, X.nnz // X.shape[0])
    room = get_config()["working_memory"] * 2**20
    n_rows = max(1, int(room / (8 * max(1, numbers_per_row))))
    return n_rows if n_rows < X.shape[0] else None
