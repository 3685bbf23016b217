"""Models and data as commands receive them: what was given by name or path, checked and matched."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..datasets import Table, load_dataset, read_table
from ..datasets.dataset import dense
from ..datasets.load import is_path
from ..exceptions import InputError
from ..io import ModelInfo, load, read_info
from .output import note


def open_model(path: str) -> tuple[Any, ModelInfo]:
    """A classifier and what its file says about it."""
    return load(path), read_info(path)


def with_rules(model: Any, path: str) -> Any:
    """The classifier whose rules a model has: the model itself, or the one inside of it."""
    inner = getattr(model, "estimator_", model)
    if not hasattr(inner, "rules_"):
        raise InputError(f"{path} holds a {type(inner).__name__}, which has no rules that people could read.")
    return inner


def open_table(data: str) -> Table:
    """The table of a file, or of a data set of the catalog."""
    return read_table(data) if is_path(data) else Table.of(load_dataset(data))


def features_of(model: Any, info: ModelInfo, table: Table, where: str) -> Any:
    """The model's features from a table: by name where the model has names, else by position."""
    if not hasattr(model, "feature_names_in_"):
        X = _by_position(model, info, table)
    else:
        X = table.select(info.feature_names, info.categories)
        known = {*info.feature_names, *info.label_names, *table.label_names}
        if extra := [name for name in table.names if name not in known]:
            shown = ", ".join(map(repr, extra[:5])) + (", …" if len(extra) > 5 else "")
            count = "a column" if len(extra) == 1 else f"{len(extra)} columns"
            note(f"{where} has {count} ({shown}) that the model does not know; left out.")
    check_complete(X, info.feature_names, where)
    return X


def _by_position(model: Any, info: ModelInfo, table: Table) -> Any:
    labels = {*info.label_names, *table.label_names}
    rest = [i for i, name in enumerate(table.names) if name not in labels]
    if len(rest) != model.n_features_in_:
        counts = f"{len(rest)} feature columns and the model was fitted on {model.n_features_in_} without names"
        raise InputError(f"{table.name} has {counts}: give a file with the same columns, or fit on named columns.")
    return table.values[:, rest]


def check_complete(X: Any, names: Sequence[str], where: str) -> None:
    """Refuse missing and infinite values, naming the first."""
    if np.isfinite(X.data if sparse.issparse(X) else X).all():
        return
    X = dense(X)
    rows, columns = np.nonzero(~np.isfinite(X))
    what = "no value" if np.isnan(X[rows[0], columns[0]]) else "an infinite value"
    place = f"Column {names[columns[0]]!r} of {where} has {what} in row {rows[0] + 1} ({len(rows)} such in all)"
    raise InputError(f"{place}: fill these in, or leave the rows or columns out.")


def asked(model: Any, X: Any, method: str) -> tuple[np.ndarray, np.ndarray]:
    """What a method of the model answers, and what it predicts."""
    with warnings.catch_warnings():
        # Columns were matched by name in `features_of`; scikit-learn only sees that X is a plain array.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        return getattr(model, method)(X), model.predict(X)


def outputs_of(model: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Scores (n, L) on the scale of the thresholds, and what the model predicts."""
    distances, predictions = asked(model, X, "decision_function")
    thresholds = getattr(model, "thresholds_", np.zeros(len(model.label_names_)))
    return distances.reshape(len(distances), -1) + thresholds, predictions
