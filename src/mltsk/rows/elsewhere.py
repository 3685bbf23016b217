"""Rows of another site, in the columns and labels of a model that is there already.

Features and labels are matched by name. What a model does not know, and what the rows
do not have, is named and not guessed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray, Matrix, is_tensor, weights_per_label
from ..exceptions import InputError
from ..fit.left_out import Groups
from ..frames import has_columns
from ..targets import Targets, are_label_lists, plain_lists
from ..text import quoted_list
from .read import (
    Estimator,
    GroupsLike,
    TableLike,
    TargetsLike,
    check_lengths,
    is_dask,
    read_groups,
    read_samples,
    read_weights,
)
from .weights import WeightsLike

MIN_OBSERVED = 2  # rows that say something about a label


@dataclass(frozen=True)
class RowsElsewhere:
    """Rows of another site.

    Parameters
    ----------
    table : the samples with the features of the model, as they came
    X : (n, D) in columns of numbers
    Y : (n, L) labels, 0 where not observed
    w : (n, L) weights, 0 where not observed
    groups : (n,) codes of rows that belong together, or None
    label_names : L texts
    gone_labels, gone_features : labels and features that these rows do not have
    unused_features : features that the model does not have
    """

    table: TableLike
    X: Matrix
    Y: FloatArray
    w: FloatArray
    groups: Groups
    label_names: tuple[str, ...]
    gone_labels: tuple[str, ...]
    gone_features: tuple[str, ...]
    unused_features: tuple[str, ...]

    @property
    def labels(self) -> FloatArray:
        """Labels (n, L), NaN where not observed."""
        return np.where(self.w > 0, self.Y, np.nan)

    @property
    def is_told(self) -> NDArray[np.bool_]:
        """Which labels (L,) enough rows say something about."""
        return (self.w > 0).sum(axis=0) >= MIN_OBSERVED

    @classmethod
    def read(
        cls,
        model: Estimator,
        X: TableLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        groups: GroupsLike,
    ) -> "RowsElsewhere":
        """Read what a user passed, for a model."""
        if is_dask(X) or is_tensor(X):
            raise InputError(
                f"adapted takes arrays, data frames and CSR: X is a {type(X).__name__}."
            )
        table, gone, unused = _with_features_of(model, X)
        numbers = read_samples(model, table, model.system_.columns, model.system_.used)
        Y, observed, names = _labels_for(model, y)
        check_lengths(numbers.shape[0], len(Y))
        if len(Y) < MIN_OBSERVED:
            raise InputError("adapted needs two rows at least, got 1.")
        w = read_weights(sample_weight, Y.shape, names)
        weights = observed * weights_per_label(
            np.ones(len(Y)) if w is None else w, Y.shape
        )
        old = model.label_names_
        return cls(
            table=table,
            X=numbers,
            Y=Y,
            w=weights,
            groups=read_groups(groups, len(Y)),
            label_names=names,
            gone_labels=tuple(name for name in old if name not in names),
            gone_features=gone,
            unused_features=unused,
        )


def _with_features_of(
    model: Estimator, X: TableLike
) -> tuple[TableLike, tuple[str, ...], tuple[str, ...]]:
    """X with the features of a model in their order, those it lacks, those it has more.

    A feature that X lacks is empty there.
    """
    wanted = getattr(model, "feature_names_in_", None)
    if wanted is None or isinstance(X, np.ndarray) or not has_columns(X):
        return X, (), ()
    names = [str(name) for name in wanted]
    given = [str(name) for name in X.columns]
    gone = tuple(name for name in names if name not in given)
    unused = tuple(name for name in given if name not in names)
    if len(gone) == len(names):
        raise InputError(
            f"X has none of the features of the model ({quoted_list(names)}): give "
            "them the same names."
        )
    if not gone:
        return X[names], gone, unused
    if not hasattr(X, "reindex"):
        raise InputError(
            f"X has no column {gone[0]!r}: add it, empty where it was not measured."
        )
    return X.reindex(columns=names), gone, unused


def _labels_for(
    model: Estimator, y: TargetsLike
) -> tuple[FloatArray, NDArray[np.bool_], tuple[str, ...]]:
    """Labels (n, L) of y, which of them were observed, and their names."""
    if not model.multilabel_:
        return _classes_for(model, y)
    targets = Targets.of(y, may_miss=True)
    if not targets.multilabel:
        raise InputError(
            "y holds one class per row, but the model knows labels: pass 0 and 1 for "
            "each label, or lists of labels."
        )
    names = targets.names
    y = plain_lists(y)
    if not hasattr(y, "columns") and not are_label_lists(y):
        names = model.label_names_
        if len(names) != targets.Y.shape[1]:
            raise InputError(
                f"y has {targets.Y.shape[1]} columns without names, but the model "
                f"knows {len(names)} labels: pass a data frame that names them."
            )
    observed = targets.observed
    if observed is None:
        observed = np.ones(targets.Y.shape, dtype=bool)
    return targets.Y, observed, tuple(names)


def _classes_for(
    model: Estimator, y: Any
) -> tuple[FloatArray, NDArray[np.bool_], tuple[str, ...]]:
    """One-dimensional classes in the columns of a model."""
    values = np.asarray(y).ravel()
    classes = model.classes_.tolist()
    for value in dict.fromkeys(values.tolist()):
        if value not in classes:
            raise InputError(
                f"y holds {value!r:.80}, which is none of the classes of the model "
                f"({quoted_list([str(name) for name in classes])}): fit a new model."
            )
    like_old = Targets(
        Y=np.zeros((0, len(model.label_names_))),
        classes=model.classes_,
        names=model.label_names_,
        multilabel=False,
    )
    Y = like_old.indicator(values)
    return Y, np.ones(Y.shape, dtype=bool), model.label_names_
