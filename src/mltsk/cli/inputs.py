"""Data that commands are given by name or path.

Features of new data are read by the kinds of columns that the model was fitted on.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pandas import DataFrame
from scipy import sparse

from ..core.arrays import FloatArray, Matrix, dense
from ..datasets import category_values, load_dataset
from ..datasets.dataset import split_names, unique_names
from ..exceptions import InputError
from ..tables import DataTable, read_table
from ..tables.ages import age_columns
from ..tables.digest import table_digest
from ..tables.files import RawTable, is_table, read_raw
from ..tables.kinds import NOMINAL, NUMBER, USED
from ..tables.labels import parts_among
from ..tables.said import label_columns
from ..tables.table import sparse_rows
from ..text import known_capitals, quoted_list
from .changed import check_units, gaps_sentence, in_known_words, note_far_numbers
from .options import FileOptions, TableOptions
from .output import note

if TYPE_CHECKING:  # they import scikit-learn, which tables alone do not need
    from ..io import ModelInfo
    from .opened import Estimator

MAX_LABELS_OF_MESSAGE = 5
# What is in a note on something that was decided, in a file for a model too.
OVERRULE_SIGN = "to overrule"
FIT_SIGN = "--nominal to overrule"  # the kinds of a model are those of its fit
ROWS_SIGN = re.compile(r"[\d,]+ (empty )?rows? (.*left out|put together)")

# data with labels, to fit on ----------------------------------------------------------


def open_data(data: str, options: TableOptions) -> DataTable:
    """A table with labels: a file, or a data set of the catalog as it is."""
    if is_table(data):
        table = options.read(data)
        if not table.label_names:
            raise InputError(
                f"{table.name} has no labels: name or count its label columns with "
                "--labels, or name a column of lists with --label-column."
            )
        return table
    option = options.first_about_features()
    if option is not None:
        raise InputError(
            f"The catalog knows the columns of {data}: {option} is for files of your "
            "own."
        )
    dataset = load_dataset(data, labels=options.labels)
    kinds = dict.fromkeys(dataset.feature_names, NUMBER)
    if not dataset.is_sparse:
        for name, categories in zip(
            dataset.feature_names, dataset.categories, strict=True
        ):
            if categories:
                kinds[name] = NOMINAL
    return read_table(dataset, kinds=kinds)


# new data for a model -----------------------------------------------------------------


@dataclass(frozen=True)
class LabelOptions:
    """How labels are found in a file, as `mltsk.read_table` takes it."""

    labels: str | int | Mapping[str, None] | None = None
    label_column: str | None = None
    separator: str | None = None
    long: str | None = None
    prefix: int = 0

    @property
    def list_columns(self) -> set[str]:
        """The columns that labels are listed in, with the one that tells the rows."""
        columns = set(split_names(self.long or ""))
        if self.label_column is not None:
            columns.add(self.label_column)
        return columns


NO_LABELS = LabelOptions(labels=0)


def fitted_label_options(info: "ModelInfo") -> LabelOptions:
    """How the labels of a model are found in other files: as when it was fitted."""
    reading = info.reading
    if not reading.keys() & {"labels", "label_column", "long"}:
        return LabelOptions(labels=dict.fromkeys(info.label_names))
    return LabelOptions(
        labels=reading.get("labels"),
        label_column=reading.get("label_column"),
        separator=reading.get("separator"),
        long=reading.get("long"),
        prefix=int(reading.get("prefix", 0)),
    )


def samples(
    model: "Estimator",
    info: "ModelInfo",
    data: str,
    *,
    label_options: LabelOptions = NO_LABELS,
    id: str = "",
    group: str | None = None,
    missing: str = "",
    labels_needed: bool = True,
    file_options: FileOptions | None = None,
) -> DataTable:
    """The samples of a file: X as a model takes it, Y in the order of its labels.

    Columns are found by name and read by the kinds that the model knows, or by position
    where it has no names. ``label_options`` say how labels are found; unless they are
    needed, they may be missing. ``group`` is the column that keeps rows together, by
    default the one of the fit if it is there. Notes tell of columns that the model does
    not use, of missing cells, and of values that it has not seen.
    """
    from .opened import has_steps

    file_options = file_options or FileOptions()
    label_options = _labels_that_a_file_names(data, label_options)
    raw = _raw_samples(data, label_options, file_options)
    with _notes_if_refused(data, raw):
        if not labels_needed and not _holds_labels(raw, info):
            label_options = NO_LABELS
        group_column = _group_column(raw, info, group)
        ids = split_names(id) or _fitted_ids(raw, info)
        ids += [group_column] * bool(group_column)
        features = _feature_columns(raw, info, ids, label_options)
        ages = age_columns(info.reading.get("age", ""))
        has_names = hasattr(model, "feature_names_in_")
        kinds = info.kinds if has_names else _kinds_by_position(raw, features, info)
        table = read_table(
            raw,
            labels=label_options.labels,
            age=ages,
            # the steps of a pipeline take what the file has
            kinds=None if has_steps(model) else kinds,
            id=ids,
            group=group_column or False,
            **reading_of_fit(info, label_options, file_options, missing),
        )
    fitted_lists = fitted_label_options(info).list_columns
    lists = {*fitted_lists, *label_options.list_columns}
    note_unused(data, features, {*kinds, *ages, *ages.values(), *lists})
    _note_decisions(data, table.columns.notes)
    check_units(data, info.units, table)
    X = _features(model, info, table, data)
    if label_options == NO_LABELS:
        return replace(table, X=X)
    return replace(table, X=X, Y=_true_labels(info, table, label_options))


def reading_of_fit(
    info: "ModelInfo",
    label_options: LabelOptions,
    file_options: FileOptions,
    missing: str,
) -> dict[str, Any]:
    """How cells of a file are read for a model: as at its fit, unless options differ.

    ``missing`` are further words for a missing cell.
    """
    words = [*split_names(missing), *split_names(info.reading.get("missing", ""))]
    return {
        "label_column": label_options.label_column,
        "separator": label_options.separator,
        "long": label_options.long,
        "prefix": label_options.prefix,
        "decimal": file_options.decimal or info.reading.get("decimal", ""),
        "blank_means_no": "blank_means_no" in info.reading,
        "missing": words,
    }


def _labels_that_a_file_names(data: str, label_options: LabelOptions) -> LabelOptions:
    """How labels are found; those of a MAT file are a variable, and have no names."""
    if data.lower().endswith(".mat") and isinstance(label_options.labels, Mapping):
        return LabelOptions()
    return label_options


def _raw_samples(
    data: str, label_options: LabelOptions, file_options: FileOptions
) -> RawTable:
    """The columns of a file, or of a data set of the catalog."""
    if not is_table(data):
        return read_raw(load_dataset(data))
    return read_raw(data, label_options.labels, file_options.rules())


@contextmanager
def _notes_if_refused(data: str, raw: RawTable) -> Iterator[None]:
    """Tell how a file was read where its columns are refused: it may be the reason."""
    try:
        yield
    except InputError:
        _note_decisions(data, raw.notes)
        raise


def _note_decisions(data: str, notes: Iterable[str]) -> None:
    """Tell what was decided about a file that the user may want to overrule.

    Rows that are left out have no prediction of their own, nor have those that are put
    together: that is told, too.
    """
    for text in notes:
        can_overrule = OVERRULE_SIGN in text and not text.endswith(FIT_SIGN)
        if can_overrule or ROWS_SIGN.match(text):
            note(f"{data}: {text}")


def _holds_labels(raw: RawTable, info: "ModelInfo") -> bool:
    """Whether a table has the labels of a model: a column each, or one of lists."""
    list_columns = fitted_label_options(info).list_columns
    if list_columns:
        return all(name in raw.frame for name in list_columns)
    return all(name in raw.frame for name in info.label_names)


def _fitted_ids(raw: RawTable, info: "ModelInfo") -> list[str]:
    """The columns of a table that identified samples when the model was fitted."""
    return [name for name in info.ids if name in raw.frame and name not in info.kinds]


def _group_column(raw: RawTable, info: "ModelInfo", group: str | None) -> str:
    """The column that keeps rows together, "" for none: as asked, or as in the fit."""
    if group is not None:
        return "" if group == "none" else group
    fitted = info.reading.get("group", "")
    return fitted if fitted in raw.frame else ""


def _feature_columns(
    raw: RawTable, info: "ModelInfo", ids: Sequence[str], label_options: LabelOptions
) -> list[str]:
    """The columns of a table that are neither identifiers nor labels."""
    others = {*ids, *info.label_names, *raw.labels}
    others.update(label_columns(raw, label_options.labels))
    return [name for name in raw.frame if name not in others]


def _kinds_by_position(
    raw: RawTable, features: Sequence[str], info: "ModelInfo"
) -> dict[str, str | tuple[str, ...]]:
    """The kinds of columns for a model that has no names of features."""
    if len(features) != len(info.kinds):
        raise InputError(
            f"{raw.name} has {len(features)} feature columns and the model was fitted "
            f"on {len(info.kinds)} without names: give a file with the same columns, "
            "or fit on named columns."
        )
    return dict(zip(features, info.kinds.values(), strict=True))


def note_unused(
    data: str, features: Sequence[str], used: Collection[str | None]
) -> None:
    """Tell which columns of a file a model does not use."""
    unused = [name for name in features if name not in used]
    if not unused:
        return
    count = "a column" if len(unused) == 1 else f"{len(unused)} columns"
    names = quoted_list(unused)
    note(f"{data} has {count} ({names}) that the model does not use; left out.")


# labels of new data -------------------------------------------------------------------


def _true_labels(
    info: "ModelInfo", table: DataTable, label_options: LabelOptions
) -> DataFrame:
    """The labels of a table by the names and in the order of a model."""
    names = list(info.label_names)
    Y = table.Y
    if label_options.list_columns:
        return _listed_labels(names, table)
    if len(Y.columns) != len(names):
        needed = ", ".join(names[:MAX_LABELS_OF_MESSAGE])
        if len(names) > MAX_LABELS_OF_MESSAGE:
            needed += ", …"
        raise InputError(
            f"{table.name} has {len(Y.columns)} label columns and the model "
            f"{len(names)}: it needs {needed}."
        )
    return Y.set_axis(names, axis=1)


def _listed_labels(names: Sequence[str], table: DataTable) -> DataFrame:
    """The labels of a model from a column of lists, where a rare one may be missing."""
    spelling = known_capitals(table.Y.columns, names)
    for name, usual in spelling.items():
        note(f"{table.name}: label {name!r} read as {usual!r}, which the model knows.")
    Y = _divided_labels(names, table.Y.rename(columns=spelling), table.name)
    unknown = [name for name in Y if name not in names]
    if unknown:
        note(
            f"{table.name} has labels ({quoted_list(unknown)}) that the model does not "
            "know; left out."
        )
    Y = Y.reindex(columns=names)
    # A label that is in no list has no column; it is absent where there is a list.
    has_list = table.Y.notna().all(axis=1)
    Y.loc[has_list] = Y.loc[has_list].fillna(0.0)
    return Y


def _divided_labels(names: Sequence[str], Y: DataFrame, where: str) -> DataFrame:
    """Labels of which an entry such as "gout / asthma" gives two that a model knows."""
    for name in [name for name in Y if name not in names]:
        parts = sorted(parts_among(name, names))
        for part in parts:
            both = [column for column in (part, name) if column in Y]
            Y = Y.assign(**{part: Y[both].max(axis=1)})
        if parts:
            note(f"{where}: label {name!r} read as {quoted_list(parts)}.")
            Y = Y.drop(columns=name)
    return Y


# features of new data -----------------------------------------------------------------


def _features(
    model: "Estimator", info: "ModelInfo", table: DataTable, data: str
) -> DataFrame | Matrix:
    """The features of a table as a model takes them."""
    from .opened import has_steps

    if has_steps(model):
        return _features_by_name(info, table)
    X = sparse_rows(table.X)
    if X is not None:
        return X
    if not hasattr(model, "categorical_features"):
        return plain_numbers(table.X, info.categories, data)
    frame = table.X
    if model.columns_ is not None:
        frame = in_known_words(model.columns_, frame, data)
        note_far_numbers(model.columns_, model.system_.quantiles, frame, data)
    sentence = gaps_sentence(model.columns_, frame)
    if sentence:
        note(f"{data}: {sentence}")
    return frame if hasattr(model, "feature_names_in_") else frame.to_numpy()


def _features_by_name(info: "ModelInfo", table: DataTable) -> DataFrame:
    """The columns that the steps of a pipeline were fitted on."""
    for column in table.columns:
        if column.name in info.feature_names and column.kind not in USED:
            raise InputError(
                f"Column {column.name!r} of {table.name} is no feature here: "
                f"{column.model}."
            )
    return table.X[unique_names(info.feature_names, table.X, table.name)]


# complete numbers ---------------------------------------------------------------------


def plain_numbers(
    X: DataFrame, categories: Mapping[str, Sequence[str]], data: str
) -> FloatArray:
    """A frame as complete numbers, for models that take nothing else.

    Words of the ``categories`` become their values; ``data`` names the frame in errors.
    """
    for name, words in categories.items():
        if name in X and X[name].dtype == "category":
            X = X.assign(**{name: _category_numbers(X, name, words, data)})
    numbers: FloatArray = X.to_numpy(dtype=np.float64, na_value=np.nan)
    check_complete(numbers, list(X), data)
    return numbers


def _category_numbers(
    X: DataFrame, name: str, words: Sequence[str], data: str
) -> object:
    """A column of words as the numbers that a model has for them."""
    values = dict(zip(words, category_values(words).tolist(), strict=True))
    unknown = [word for word in X[name].dropna().unique() if word not in values]
    if unknown:
        raise InputError(
            f"Column {name!r} of {data} holds {quoted_list(unknown)}; the model knows "
            f"{quoted_list(words)}."
        )
    return X[name].astype(object).map(values)


def check_complete(X: Matrix, names: Sequence[str], data: str) -> None:
    """Refuse missing and infinite values, and name the first."""
    if np.isfinite(X.data if sparse.issparse(X) else X).all():
        return
    X = dense(X)
    rows, columns = np.nonzero(~np.isfinite(X))
    first = X[rows[0], columns[0]]
    value = "no value" if np.isnan(first) else "an infinite value"
    raise InputError(
        f"Column {names[columns[0]]!r} of {data} has {value} in row {rows[0] + 1} "
        f"({len(rows)} such in all): fill these in, or leave the rows or columns out."
    )


def why_no_refit(info: "ModelInfo") -> str:
    """Why a fit to a table would not give the model of a file, "" where it would."""
    if "adapted to" in info.fitted:
        return f"was adapted to {info.fitted['adapted to']}"
    if "sites" in info.fitted:
        return "was joined from sums of sites"
    return ""


def check_table_of_fit(
    model: str, info: "ModelInfo", data: str, rows: DataTable
) -> None:
    """Refuse a table that cannot be the one that a model was fitted on.

    What is then told is about a fit to these rows, which would be another model.
    """
    why = why_no_refit(info)
    if why:
        raise InputError(
            f"{model} {why}, and this needs a fit to a table, which would be another "
            "model: take a model that `mltsk fit` wrote."
        )
    n_fitted = info.fitted.get("samples")
    if isinstance(n_fitted, int) and n_fitted != len(rows):
        raise InputError(
            f"{model} was fitted on {n_fitted:,} rows of {info.data}, and {data} has "
            f"{len(rows):,}: name the table of the fit."
        )
    if not _has_digest_of_fit(info, rows):
        raise InputError(
            f"{model} was fitted on another table of {len(rows):,} rows than {data}: "
            "name the table of the fit, and read it with the options of the fit."
        )


def is_table_of_fit(info: "ModelInfo", rows: DataTable) -> bool:
    """Whether a fit to a table gives the model of a file."""
    if why_no_refit(info) or not rows.label_names:
        return False
    has_size = info.fitted.get("samples") == len(rows)
    has_name = info.data == rows.name
    return has_size and has_name and _has_digest_of_fit(info, rows)


def are_rows_of_fit(info: "ModelInfo", rows: DataTable) -> bool:
    """Whether a table holds the rows of a fit, by its cells; else by name and size."""
    if "table" in info.fitted:
        return _has_digest_of_fit(info, rows)
    has_size = info.fitted.get("samples") == len(rows)
    return has_size and info.data == rows.name


def _has_digest_of_fit(info: "ModelInfo", rows: DataTable) -> bool:
    """Whether the cells of a table are those of a fit, as far as the file knows."""
    fitted = info.fitted.get("table")
    return fitted is None or fitted == table_digest(rows.X, rows.Y)
