"""Models and data as commands receive them: what was given by name or path, read by the kinds that a model knows."""

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..columns import Columns
from ..core.arrays import dense
from ..datasets import category_values, load_dataset
from ..datasets.dataset import split_names, unique_names
from ..exceptions import InputError
from ..io import ModelInfo, load, read_info
from ..pipelines import pipeline_classifier, taken_apart
from ..tables import DataTable, read_table
from ..tables.files import is_table, read_raw
from ..tables.kinds import NOMINAL, NUMBER, USED
from ..tables.read import label_columns, sparse_rows
from ..text import plural, quoted_list
from .output import note

NO_LABELS = {"labels": 0}


def open_model(path: str) -> tuple[Any, ModelInfo]:
    """A classifier and what its file says about it."""
    model, info = load(path), read_info(path)
    return model, info if info.kinds else replace(info, kinds=ModelInfo.of(model).kinds)


def with_rules(model: Any, path: str) -> Any:
    """The classifier whose rules a model has: the model itself, or the one at the end of a pipeline."""
    inner = pipeline_classifier(model)
    if not hasattr(inner, "rules_"):
        raise InputError(
            f"{path} holds a {type(inner).__name__}, which has no rules that people could read."
        )
    return inner


def open_data(data: str, said: Mapping[str, Any]) -> DataTable:
    """A table with labels: a file with what was said about its columns, or a data set of the catalog as it is."""
    if is_table(data):
        table = read_table(data, **said)
        if not table.label_names:
            how = "name or count its label columns with --labels, or name a column of lists with --label-column"
            raise InputError(f"{table.name} has no labels: {how}.")
        return table
    if given := [
        option
        for option, value in said.items()
        if option != "labels" and value and value != ";"
    ]:
        option = given[0].replace("_", "-")
        raise InputError(
            f"The catalog knows the columns of {data}: --{option} is for files of your own."
        )
    dataset = load_dataset(data, labels=said["labels"])
    nominal = [
        not dataset.is_sparse and is_nominal for is_nominal in dataset.categories
    ]
    kinds = {
        n: NOMINAL if words else NUMBER
        for n, words in zip(dataset.feature_names, nominal, strict=True)
    }
    return read_table(dataset, kinds=kinds)


def reading(
    info: ModelInfo,
    labels: str | None = None,
    label_column: str | None = None,
    separator: str = ";",
) -> Any:
    """How labels are found in a file: as the caller says, else as they were when the model was fitted."""
    if labels is not None or label_column is not None:
        return {"labels": labels, "label_column": label_column, "separator": separator}
    kept = {
        key: info.reading[key]
        for key in ("labels", "label_column", "separator")
        if key in info.reading
    }
    return kept or {"labels": dict.fromkeys(info.label_names)}


def rows_of(
    model: Any,
    info: ModelInfo,
    data: str,
    how: Any = NO_LABELS,
    id: str = "",
    missing: str = "",
    needed: bool = True,
) -> DataTable:
    """The samples of a file: X as a model takes it, Y in the order of its labels.

    Columns are found by name and read by the kinds that the model knows, or by position where it has no names. ``how``
    says how labels are found; they are ``needed`` or may be missing. Notes tell of columns that nobody asks for, of
    missing cells, and of values that the model has not seen.
    """
    if data.lower().endswith(".mat") and isinstance(how.get("labels"), Mapping):
        how = {}  # its labels are a variable, and have no names
    raw = (
        read_raw(data, how.get("labels"))
        if is_table(data)
        else read_raw(load_dataset(data))
    )
    lists = info.reading.get("label_column")
    if not needed and not (
        {*info.label_names} <= {*raw.frame} if lists is None else lists in raw.frame
    ):
        how = NO_LABELS
    ids = split_names(id) or [
        name for name in info.ids if name in raw.frame and name not in info.kinds
    ]
    others = {
        *ids,
        *info.label_names,
        *raw.labels,
        *label_columns(raw, how.get("labels")),
    }
    rest, kinds = [name for name in raw.frame if name not in others], info.kinds
    if not hasattr(model, "feature_names_in_"):
        if len(rest) != len(kinds):
            counts = f"{len(rest)} feature columns and the model was fitted on {len(kinds)} without names"
            raise InputError(
                f"{raw.name} has {counts}: give a file with the same columns, or fit on named columns."
            )
        kinds = dict(zip(rest, kinds.values(), strict=True))
    words = [*split_names(missing), *split_names(info.reading.get("missing", ""))]
    read_by = (
        None if taken_apart(model)[0] else kinds
    )  # steps of a pipeline take what the file has
    table = read_table(raw, **how, kinds=read_by, id=ids, missing=words)
    if unused := [
        name for name in rest if name not in {*kinds, how.get("label_column"), lists}
    ]:
        what = "a column" if len(unused) == 1 else f"{len(unused)} columns"
        note(
            f"{data} has {what} ({quoted_list(unused)}) that the model does not use; left out."
        )
    X = _features(model, info, table, data)
    return replace(
        table, X=X, Y=table.Y if how == NO_LABELS else _true_labels(info, table, how)
    )


def _true_labels(info: ModelInfo, table: DataTable, how: Mapping[str, Any]) -> Any:
    names, Y = list(info.label_names), table.Y
    if how.get("label_column") is not None:  # a label that no row has is in no list
        if extra := [name for name in Y if name not in names]:
            note(
                f"{table.name} has labels ({quoted_list(extra)}) that the model does not know; left out."
            )
        looked = Y.notna().all(axis=1)
        return Y.reindex(columns=names).where(
            lambda Y: Y.notna() | ~looked.to_numpy()[:, None], 0.0
        )
    if (n := len(Y.columns)) != len(names):
        needed = f"{', '.join(names[:5])}{', …' if len(names) > 5 else ''}"
        raise InputError(
            f"{table.name} has {n} label columns and the model {len(names)}: it needs {needed}."
        )
    return Y.set_axis(names, axis=1)


def _features(model: Any, info: ModelInfo, table: DataTable, where: str) -> Any:
    if taken_apart(model)[0]:
        left = {
            column.name: column.model
            for column in table.columns
            if column.kind not in USED
        }
        if absent := [name for name in info.feature_names if name in left]:
            raise InputError(
                f"Column {absent[0]!r} of {table.name} is no feature here: {left[absent[0]]}."
            )
        return table.X[unique_names(info.feature_names, table.X, table.name)]
    if (X := sparse_rows(table.X)) is not None:
        return X
    if not hasattr(model, "categorical_features"):
        return plain_numbers(table.X, info.categories, where)
    if said := _gaps(model.columns_, table.X):
        note(f"{where}: {said}")
    return table.X if hasattr(model, "feature_names_in_") else table.X.to_numpy()


def _gaps(columns: Columns | None, X: Any) -> str:
    """How many cells of a frame are missing or new to a model, and what becomes of them; "" if there are none."""
    missing, unseen = X.isna().sum().to_numpy(), dict[str, Counter[str]]()
    for d, words in enumerate(columns.words(X).T if columns else ()):
        known = {None, *columns.values[d], *columns.rare[d]} if columns else ()
        if strange := Counter(word for word in words if word not in known):
            unseen[X.columns[d]] = strange
    told, n = [], (int(missing.sum()), sum(words.total() for words in unseen.values()))
    if n[0]:
        told.append(f"{plural(n[0], 'cell')} {'is' if n[0] == 1 else 'are'} missing")
    if n[1]:
        which = "; ".join(
            f"{name}: {quoted_list(list(words))}"
            for name, words in list(unseen.items())[:3]
        )
        more = "; …" if len(unseen) > 3 else ""
        told.append(
            f"{plural(n[1], 'value')} {'was' if n[1] == 1 else 'were'} never seen ({which}{more})"
        )
    ending = "it counts as nothing" if sum(n) == 1 else "they count as nothing"
    if columns and (missing > 0)[list(columns.gaps)].any():
        ending += ", except where the model has a number for 'not measured'"
    return f"{' and '.join(told)}; {ending}." if told else ""


def plain_numbers(X: Any, categories: Mapping[str, Sequence[str]], where: str) -> Any:
    """A frame as complete numbers, for models that take nothing else; categories become their values."""
    for name, known in categories.items():
        if name in X and X[name].dtype == "category":
            codes = dict(zip(known, category_values(known).tolist(), strict=True))
            if strange := [
                word for word in X[name].dropna().unique() if word not in codes
            ]:
                what = f"holds {quoted_list(strange)}; the model knows {quoted_list(known)}"
                raise InputError(f"Column {name!r} of {where} {what}.")
            X = X.assign(**{name: X[name].astype(object).map(codes)})
    numbers = X.to_numpy(dtype=np.float64, na_value=np.nan)
    check_complete(numbers, list(X), where)
    return numbers


def check_complete(X: Any, names: Sequence[str], where: str) -> None:
    """Refuse missing and infinite values, naming the first."""
    if np.isfinite(X.data if sparse.issparse(X) else X).all():
        return
    X = dense(X)
    rows, columns = np.nonzero(~np.isfinite(X))
    what = "no value" if np.isnan(X[rows[0], columns[0]]) else "an infinite value"
    place = f"Column {names[columns[0]]!r} of {where} has {what} in row {rows[0] + 1} ({len(rows)} such in all)"
    raise InputError(f"{place}: fill these in, or leave the rows or columns out.")


def answers(model: Any, X: Any, *methods: str) -> list[np.ndarray]:
    """What methods of a model answer."""
    with warnings.catch_warnings():
        # Columns were matched by name in `rows_of`; scikit-learn only sees that X is a plain array.
        warnings.filterwarnings(
            "ignore", "X does not have valid feature names", UserWarning
        )
        return [getattr(model, method)(X) for method in methods]


def outputs_of(model: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Scores (n, L) on the scale of the thresholds, and what the model predicts."""
    distances, predictions = answers(model, X, "decision_function", "predict")
    thresholds = getattr(taken_apart(model)[1], "thresholds_", 0.0)
    return distances.reshape(len(distances), -1) + thresholds, predictions
