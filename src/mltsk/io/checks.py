"""Whether plain attributes that were read make a classifier that works.

Files and plain data are judged here, before a classifier is made of them. A check
raises ValueError with a sentence that names the part and what it should be.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..core.arrays import Array, is_csr, is_sound
from ..exceptions import is_unicode
from ..limits import check_size
from .requirements import OTHER_UNITS, is_bounded, is_count, require
from .system_checks import check_system
from .system_state import SYSTEM_FIELDS, Attributes

# What every fitted classifier has.
FITTED = ("label_names_", "classes_", "multilabel_", "n_features_in_")
MAX_FEATURES = 10**8
SCORED_FEATURE_BYTES = 100  # of a feature while three rows are scored, in four arrays


def check_parts_of_system(attributes: Attributes, *, is_calibrated: bool) -> None:
    """Refuse plain attributes of a classifier with a system that could not predict.

    ``is_calibrated`` asks for probabilities.
    """
    _check_names((*SYSTEM_FIELDS, *FITTED), attributes)
    _check_targets(attributes)
    check_system(attributes, is_calibrated=is_calibrated)


def check_parts_without_system(attributes: Attributes) -> None:
    """Refuse plain attributes of one of the compared methods that could not predict."""
    _check_names(FITTED, attributes)
    _check_targets(attributes)
    _check_arrays(attributes)


def _check_names(needed: Iterable[str], attributes: Attributes) -> None:
    for name in needed:
        require(
            name in attributes,
            f"it has no {name}, which mltsk {__version__} needs: fit the model again",
        )


def check_values(attributes: Attributes) -> None:
    """Refuse text that is no Unicode, and sparse matrices that are damaged."""
    for name, value in attributes.items():
        require(
            is_written(value),
            f"{name!r} holds text that is no valid Unicode",
            "rename it, or read the data with the right encoding",
        )
    broken = []
    for name, value in attributes.items():
        if is_csr(value) and not is_sound(value):
            broken.append(repr(name))
    require(not broken, f"the parts of {', '.join(broken)} do not fit each other")


def _check_targets(attributes: Attributes) -> None:
    """Classes are different finite values, and there is a number of features."""
    classes = attributes["classes_"]
    is_array = isinstance(classes, np.ndarray) and classes.ndim == 1
    # Yes and no of a single label are two. No list is made of millions of classes.
    is_short = is_array and len(classes) <= 1 + len(attributes["label_names_"])
    require(
        is_short and len(set(classes.tolist())) == len(classes),
        "'classes_' must be different values",
    )
    require(
        isinstance(attributes["multilabel_"], bool) and is_bounded(classes),
        "'multilabel_' must be true or false, and 'classes_' finite",
    )
    n_features = attributes["n_features_in_"]
    require(
        is_count(n_features) and n_features < MAX_FEATURES,
        f"'n_features_in_' must be a number of features, not {str(n_features)[:40]}",
    )


def _check_arrays(attributes: Attributes) -> None:
    """The arrays of a classifier without a system hold finite numbers, above all."""
    for name in ("coef_", "intercept_"):  # one of a single label would serve all
        if name in attributes:
            n_labels = len(attributes["label_names_"])
            require(
                np.shape(attributes[name])[-1:] == (n_labels,),
                f"{name!r} must have as many columns as there are labels",
            )
    if "X_" in attributes:
        labels = attributes["Y_"]
        is_one_each = len(labels) == attributes["X_"].shape[0]
        require(
            is_one_each and np.isin(labels, (0, 1)).all(),
            "'Y_' must hold 0 and 1 for every row of 'X_'",
        )
    for name, value in attributes.items():
        if name.endswith("_"):
            require(_is_finite(value), f"{name!r} must hold finite numbers")


def _is_finite(value: object) -> bool:
    """Whether all arrays in lists of lists hold finite numbers or texts."""
    if isinstance(value, list | tuple):
        return all(_is_finite(item) for item in value)
    if not isinstance(value, np.ndarray):
        return True
    return value.dtype.kind in "biufUO" and is_bounded(value)


def is_written(value: object) -> bool:
    """Whether all texts of a value, and of what it holds, can be written to a file."""
    if isinstance(value, str):
        return is_unicode(value)
    if isinstance(value, Mapping):
        return all(map(is_written, value)) and all(map(is_written, value.values()))
    if isinstance(value, np.ndarray) and value.dtype.kind in "UO":
        return all(map(is_written, value.ravel().tolist()))
    if isinstance(value, list | tuple):
        return all(map(is_written, value))
    return True


def check_scores(
    scores_of: Callable[[NDArray[np.float64]], Array], n_features: int, n_labels: int
) -> None:
    """Refuse a model that gives no finite score per label to rows of zeros."""
    check_size(SCORED_FEATURE_BYTES * n_features, "A row for this model")
    for n_rows in (2, 3):  # what fits one of them by chance does not fit both
        rows = np.zeros((n_rows, n_features))
        with warnings.catch_warnings(action="ignore"):
            scores = np.asarray(scores_of(rows))
        is_score = scores.shape in ((n_rows, n_labels), (n_rows,))
        is_number = scores.dtype.kind == "f" and np.isfinite(scores).all()
        require(
            is_score and is_number,
            "its parts give no finite score per label",
            OTHER_UNITS,
        )
