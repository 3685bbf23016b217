"""`read_table`: features, labels and identifiers of a file or a data frame, with a report on every column."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from mltsk.datasets.dataset import Dataset, pick_labels, split_names, unique_names
from mltsk.exceptions import InputError

from .cells import count, listed
from .columns import (
    IDENTIFIER,
    NOMINAL,
    NUMBER,
    ORDINAL,
    USED,
    YES_NO,
    Read,
    Said,
    read_column,
    read_label,
    read_lists,
)
from .files import Raw, read_raw
from .report import Column, ColumnReport, TableError

Names = str | Iterable[str]
Labels = int | str | Path | Sequence[str] | Mapping[str, Any] | None
Ordinal = str | Iterable[str] | Mapping[str, Sequence[str]] | None
Kinds = Mapping[str, Said]

DROPPED = "dropped"


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A table that a model can be fitted on: see `read_table`.

    Attributes
    ----------
    X : pandas.DataFrame
        The features: numbers as float64, yes/no as nullable booleans, nominal columns as unordered and ordinal ones as
        ordered categories of text. Missing cells are NaN or NA.
    Y : pandas.DataFrame
        The labels as 1.0, 0.0, and NaN where a label was not observed; no columns where there are none.
    ids : pandas.DataFrame
        Identifier columns as they were read.
    columns : ColumnReport
        What each column of the file was taken for.
    name, source : str
        What to call the table, and where it came from.
    """

    X: Any
    Y: Any
    ids: Any
    columns: ColumnReport
    name: str = "data"
    source: str = ""

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"Table({self.columns.title})"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns of X."""
        return tuple(self.X.columns)

    @property
    def label_names(self) -> tuple[str, ...]:
        """The columns of Y."""
        return tuple(self.Y.columns)

    @property
    def kinds(self) -> dict[str, str | tuple[str, ...]]:
        """The kind of every feature, for an ordinal one its levels in order: what ``read_table(kinds=)`` takes."""
        told = {
            one.name: one.levels if one.kind == ORDINAL else one.kind
            for one in self.columns
        }
        return {name: told[name] for name in self.feature_names}

    def dataset(self) -> Dataset:
        """The table as complete numbers, for methods that take nothing else: yes is 1, no is 0.

        Nominal and ordinal columns, missing cells and labels that were not observed are refused by name.

        Examples
        --------
        >>> import pandas as pd
        >>> from mltsk import read_table
        >>> read_table(pd.DataFrame({"a": [1, 3], "b": ["yes", "no"], "gout": [0, 1]}), "gout").dataset().X
        array([[1., 1.],
               [3., 0.]])
        """
        need = "this method needs complete numbers"
        if words := [
            name for name, kind in self.kinds.items() if kind not in (NUMBER, YES_NO)
        ]:
            kind = self.kinds[words[0]]
            what = (
                f"is {kind if isinstance(kind, str) else ORDINAL}, and {need}: drop it"
            )
            raise InputError(
                f"Column {words[0]!r} of {self.name} {what}, or use MLTSKClassifier, which takes it."
            )
        for frame, what in ((self.X, "column"), (self.Y, "label")):
            if gaps := {name: n for name, n in frame.isna().sum().items() if n}:
                name, n = next(iter(gaps.items()))
                others = (
                    f" (and {count(len(gaps) - 1, f'other {what}')} like it)"
                    if len(gaps) > 1
                    else ""
                )
                where = f"{what.capitalize()} {name!r} of {self.name} has no value in {count(n, 'row')}{others}"
                raise InputError(
                    f"{where}, and {need}: leave it or these rows out, or use MLTSKClassifier."
                )
        X = sparse_rows(self.X)
        X = self.X.to_numpy(dtype=np.float64) if X is None else X
        return Dataset(
            X,
            self.Y,
            self.feature_names,
            self.label_names,
            self.name,
            source=self.source,
        )


def sparse_rows(X: Any) -> Any:
    """A frame of sparse columns as a CSR matrix; None for any other."""
    if not all(hasattr(dtype, "fill_value") for dtype in X.dtypes):
        return None
    return X.sparse.to_coo().tocsr()


def read_table(
    source: Any,
    labels: Labels = None,
    *,
    drop: Names = (),
    id: Names = (),
    nominal: Names = (),
    ordinal: Ordinal = (),
    number: Names = (),
    missing: Names = (),
    label_column: str | None = None,
    separator: str = ";",
    kinds: Kinds | None = None,
) -> Table:
    """Read a table and decide what each column is; ``table.columns`` says what was decided.

    Identifiers, dates, free text and constant columns are left out of the model. A cell that is not a number, in a
    column of numbers, is refused by name. The options overrule what was decided.

    Parameters
    ----------
    source : path, data frame or Dataset
        A CSV file (also with semicolons, tabs or bars, also ``.gz``), an Excel, Parquet, ARFF, NPZ or MATLAB file, a
        pandas or polars data frame, or what `load_dataset` returns; ``"pbc"`` is a table that comes with the package.
    labels : int, str, sequence of str, mapping, path, or None
        Names of label columns, as a list or separated by commas; a number of columns (the last ones; the first ones if
        negative); ``{"edema": "present"}`` if a column has other words than yes and no; a MULAN XML file. None uses
        what the file declares, and there may be no labels.
    drop, id, nominal, number : str or sequence of str
        Columns to leave out; to keep as identifiers; to read as categories; to read as numbers.
    ordinal : str, sequence of str, or mapping
        Ordered categories: ``"education: low < medium < high"`` or ``{"education": ["low", "medium", "high"]}``.
    missing : str or sequence of str
        Words that stand for a missing cell, such as ``"<4.0"`` or ``"-999"``, besides empty cells, NA, N/A, NaN, null
        and ?.
    label_column : str, optional
        A column that lists the labels of each sample, with ``separator`` between them.
    separator : str
        What separates two labels in ``label_column``.
    kinds : mapping, optional
        The kind of each feature, or its levels in order, as a fitted model knows them. X then has exactly these
        columns, read by these kinds, whatever they look like in this file.

    Returns
    -------
    Table
        With ``X``, ``Y``, ``ids`` and ``columns``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mltsk import read_table
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "visits.csv"
    >>> _ = file.write_text("patient,age,smoker,asthma\\n17,61,no,1\\n12,NA,yes,\\n31,48,no,0\\n")
    >>> table = read_table(file, labels="asthma")
    >>> table
    Table(visits: 3 rows, 2 features, 1 label, 1 column left out)
    >>> table.X
        age  smoker
    0  61.0   False
    1   NaN    True
    2  48.0   False
    >>> table.Y["asthma"].tolist()
    [1.0, nan, 0.0]
    """
    if labels is not None and label_column is not None:
        raise InputError(
            "Labels are given as columns (labels) or as one column of lists (label_column), not both."
        )
    raw = read_raw(source, labels)
    unique_names([] if label_column is None else [label_column], raw.frame, raw.name)
    chosen = label_columns(raw, labels if label_column is None else 0)
    wishes = [
        (DROPPED, drop),
        (IDENTIFIER, id),
        (NOMINAL, nominal),
        (NUMBER, number),
        *_levels(ordinal),
    ]
    said = _said(raw, {*chosen, label_column}, wishes, kinds or {})
    words, read = (
        frozenset(word.lower() for word in split_names(missing)),
        dict[str, Read](),
    )
    for name, column in raw.frame.items():
        kind = said.get(name, None if kinds is None else DROPPED)
        if name in chosen:
            read[name] = read_label(column, chosen[name], words)
        elif name == label_column:
            read[name] = read_lists(column, separator, words)
        elif kind == DROPPED:
            read[name] = Read(Column(name, DROPPED, len(column)), None)
        else:
            read[name] = read_column(column, kind, words, kinds is not None)
    return _table(
        raw,
        read,
        list(chosen) if label_column is None else [label_column],
        list(kinds or ()),
    )


def label_columns(raw: Raw, labels: Labels) -> dict[str, Sequence[str] | None]:
    """The label columns, each with the words that mean yes where they were given.

    A number counts columns, the last ones or, if negative, the first ones; names may be written ``name=word``.
    """
    columns, given = list(raw.frame.columns), dict[str, Sequence[str] | None]()
    is_variable = isinstance(labels, str) and raw.source.lower().endswith(
        ".mat"
    )  # which the reader has taken
    if labels is None or str(labels).lower().endswith(".xml") or is_variable:
        return dict.fromkeys(raw.labels)
    if isinstance(labels, Mapping):
        for name, word in labels.items():
            many = (
                word
                if isinstance(word, Iterable) and not isinstance(word, str)
                else [word]
            )
            given[str(name)] = (
                None
                if word is None
                else [str(one).strip().removesuffix(".0") for one in many]
            )
    elif isinstance(labels, int | Path | Iterable):
        for name in pick_labels(labels, columns, raw.name):
            column, equals, word = name.rpartition("=")
            given |= (
                {column: [word]} if equals and name not in columns else {name: None}
            )
    else:
        raise InputError(
            f"Labels are names, a number of columns, or a mapping, not {labels!r}."
        )
    return {name: given[name] for name in unique_names(given, columns, raw.name)}


def _levels(ordinal: Ordinal) -> list[tuple[list[str], list[str]]]:
    """Levels in order, and the column that has them."""
    if isinstance(ordinal, Mapping):
        found = {
            str(name): [str(level) for level in levels]
            for name, levels in ordinal.items()
        }
    else:
        found = {}
        for text in [ordinal] if isinstance(ordinal, str) else ordinal or ():
            name, colon, levels = str(text).partition(":")
            if not colon or "<" not in levels:
                raise InputError(
                    f'Ordinal {text!r} is not written as "education: low < medium < high".'
                )
            found[name.strip()] = [level.strip() for level in levels.split("<")]
    for name, names in found.items():
        if len(set(names)) < max(len(names), 2) or "" in names:
            raise InputError(
                f"Ordinal column {name!r} needs two or more different levels, not {listed(names)}."
            )
    return [(levels, [name]) for name, levels in found.items()]


def _said(
    raw: Raw,
    labels: Set[str | None],
    wishes: Iterable[tuple[Said, Names]],
    kinds: Kinds,
) -> dict[str, Said]:
    """What somebody says about each column, or a fitted model knows."""
    said: dict[str, Said] = {}
    for kind, names in wishes:
        word = kind if isinstance(kind, str) else ORDINAL
        for name in unique_names(split_names(names), raw.frame, raw.name):
            if name in labels:
                raise InputError(
                    f"Column {name!r} is a label: it cannot be {word} as well."
                )
            if said.setdefault(name, kind) != kind:
                raise InputError(
                    f"Column {name!r} cannot be both {said[name]} and {word}."
                )
    for name in unique_names(kinds, raw.frame, raw.name):
        if name in labels or name in said:
            raise InputError(
                f"Column {name!r} is a feature of the model: nothing else can be said about it."
            )
        if isinstance(kind := kinds[name], str) and kind not in USED:
            raise InputError(
                f"Column {name!r}: {kind!r} is no kind that a model takes: {', '.join(USED)}."
            )
    return said | dict(kinds)


def _table(
    raw: Raw, read: Mapping[str, Read], labels: Sequence[str], features: Sequence[str]
) -> Table:
    """The table of columns that were read, or a `TableError` that says what is wrong with them."""
    kinds = {name: one.column.kind for name, one in read.items()}
    features = features or [name for name, kind in kinds.items() if kind in USED]
    index = raw.frame.index
    Y = pandas.concat(
        [pandas.DataFrame(index=index), *(read[name].values for name in labels)], axis=1
    )
    title = [
        count(len(index), "row"),
        count(len(features), "feature"),
        count(Y.shape[1], "label"),
    ]
    if left := sum(one.column.model.startswith("left out") for one in read.values()):
        title.append(f"{count(left, 'column')} left out")
    report = ColumnReport(
        (one.column for one in read.values()),
        f"{raw.name}: {', '.join(title)}",
        raw.notes,
    )
    problems = {name: one.problem for name, one in read.items() if one.problem}
    if not features and not problems:
        problems[""] = (
            f"{raw.name} has no column that a model could use: name some in number or nominal."
        )
    if problems:
        first, *rest = (
            problems  # the first one in full, the columns of the others by name
        )
        others = (
            f" There is something to correct in {listed(rest)}, too." if rest else ""
        )
        raise TableError(problems[first] + others, report)
    X = pandas.DataFrame({name: read[name].values for name in features}, index=index)
    ids = raw.frame[[name for name, kind in kinds.items() if kind == IDENTIFIER]].copy()
    return Table(X, Y, ids, report, raw.name, raw.source)
