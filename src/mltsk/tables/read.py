"""`read_table`: features, labels and identifiers of a file or a data frame, with a report on every column."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas

from mltsk.datasets.dataset import Dataset, split_names, unique_names
from mltsk.exceptions import InputError

from . import kinds as k
from .cells import count, listed
from .columns import Read, read_column
from .files import Raw, read_raw
from .labels import Labels, Positive, label_columns, read_label, read_lists
from .report import Column, ColumnReport, TableError

Names = str | Iterable[str]
Ordinal = str | Iterable[str] | Mapping[str, Sequence[str]] | None
Kinds = Mapping[str, str | Sequence[str]]

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
        told = {column.name: column for column in self.columns}
        used = [told[name] for name in self.feature_names]
        return {column.name: column.levels if column.kind == k.ORDINAL else column.kind for column in used}

    def select(self, names: Sequence[str]) -> Any:
        """The named features in that order; an `InputError` names those that are not among them.

        Examples
        --------
        >>> import pandas as pd
        >>> from mltsk import read_table
        >>> read_table(pd.DataFrame({"a": [1, 3], "b": [0.5, 2]})).select(["b", "a"])
             b    a
        0  0.5  1.0
        1  2.0  3.0
        """
        others = {column.name: column for column in self.columns if column.kind not in k.USED}
        if absent := [others[name] for name in names if name in others]:
            raise InputError(f"Column {absent[0].name!r} of {self.name} is no feature here: {absent[0].model}.")
        return self.X[unique_names(names, self.X, self.name)]

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
        if words := [name for name, kind in self.kinds.items() if kind not in (k.NUMBER, k.YES_NO)]:
            kind = self.kinds[words[0]]
            what = f"is {kind if isinstance(kind, str) else k.ORDINAL}, and {need}: drop it"
            raise InputError(f"Column {words[0]!r} of {self.name} {what}, or use MLTSKClassifier, which takes it.")
        for frame, what in ((self.X, "column"), (self.Y, "label")):
            if gaps := {name: n for name, n in frame.isna().sum().items() if n}:
                name, n = next(iter(gaps.items()))
                others = f" (and {count(len(gaps) - 1, f'other {what}')} like it)" if len(gaps) > 1 else ""
                where = f"{what.capitalize()} {name!r} of {self.name} has no value in {count(n, 'row')}{others}"
                raise InputError(f"{where}, and {need}: leave it or these rows out, or use MLTSKClassifier.")
        X = sparse_rows(self.X)
        names = {"feature_names": self.feature_names, "label_names": self.label_names}
        X = self.X.to_numpy(dtype=np.float64) if X is None else X
        return Dataset(X, self.Y.to_numpy(), **names, name=self.name, source=self.source)


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
        raise InputError("Labels are given as columns (labels) or as one column of lists (label_column), not both.")
    raw = read_raw(source, labels)
    unique_names([] if label_column is None else [label_column], raw.frame, raw.name)
    chosen = label_columns(raw, labels if label_column is None else 0)
    plan = _Plan(raw, chosen, label_column, separator, frozenset(word.lower() for word in split_names(missing)))
    for kind, names in ((DROPPED, drop), (k.IDENTIFIER, id), (k.NOMINAL, nominal), (k.NUMBER, number)):
        plan.say(kind, names)
    plan.say_levels(_levels(ordinal))
    return plan.known(kinds).table() if kinds is not None else plan.table()


def _levels(ordinal: Ordinal) -> dict[str, list[str]]:
    if isinstance(ordinal, Mapping):
        return {str(name): [str(level) for level in levels] for name, levels in ordinal.items()}
    found = {}
    for text in [ordinal] if isinstance(ordinal, str) else ordinal or ():
        name, colon, levels = str(text).partition(":")
        if not colon or "<" not in levels:
            raise InputError(f'Ordinal {text!r} is not written as "education: low < medium < high".')
        found[name.strip()] = [level.strip() for level in levels.split("<")]
    return found


@dataclass
class _Plan:
    """What the caller says about the columns of a file, and the table that follows from it."""

    raw: Raw
    labels: Mapping[str, Positive]
    label_column: str | None
    separator: str
    missing: frozenset[str]
    said: dict[str, str] = field(default_factory=dict)
    levels: dict[str, Sequence[str]] = field(default_factory=dict)
    features: list[str] | None = None  # those of a fitted model, in its order

    def say(self, kind: str, names: Names) -> None:
        for name in unique_names(split_names(names), self.raw.frame, self.raw.name):
            if name in self.labels or name == self.label_column:
                raise InputError(f"Column {name!r} is a label: it cannot be {kind} as well.")
            if self.said.setdefault(name, kind) != kind:
                raise InputError(f"Column {name!r} cannot be both {self.said[name]} and {kind}.")

    def say_levels(self, levels: Mapping[str, Sequence[str]]) -> None:
        for name, names in levels.items():
            if len(set(names)) < max(len(names), 2) or "" in names:
                raise InputError(f"Ordinal column {name!r} needs two or more different levels, not {listed(names)}.")
            self.say(k.ORDINAL, [name])
            self.levels[name] = names

    def known(self, kinds: Kinds) -> "_Plan":
        """The same with what a model knows: its columns and their kinds, and no others."""
        self.features = unique_names(kinds, self.raw.frame, self.raw.name)
        if taken := [name for name in self.features if name in self.labels or name in self.said]:
            raise InputError(f"Column {taken[0]!r} is a feature of the model: nothing else can be said about it.")
        for name, kind in kinds.items():
            self.said[name] = kind if isinstance(kind, str) else k.ORDINAL
            if not isinstance(kind, str):
                self.levels[name] = kind
            if self.said[name] not in k.USED:
                raise InputError(f"Column {name!r}: {kind!r} is no kind that a model takes: {', '.join(k.USED)}.")
        return self

    def read(self, name: str) -> Read:
        column, said = self.raw.frame[name], self.said.get(name)
        if name in self.labels:
            return read_label(column, self.labels[name], self.missing)
        if name == self.label_column:
            return read_lists(column, self.separator, self.missing)
        if said == DROPPED or (self.features is not None and said is None):
            return Read(Column(name, DROPPED, len(column)), None)
        found = read_column(column, said, self.levels.get(name, ()), self.missing, self.features is not None)
        return replace(found, column=replace(found.column, notes=())) if said == k.IDENTIFIER else found

    def table(self) -> Table:
        frame, name = self.raw.frame, self.raw.name
        read = {column: self.read(column) for column in frame.columns}
        kinds = {column: one.column.kind for column, one in read.items()}
        features = self.features or [column for column, kind in kinds.items() if kind in k.USED]
        lists = [column for column in (*self.labels, self.label_column) if column is not None]
        Y = pandas.concat([pandas.DataFrame(index=frame.index), *(read[column].values for column in lists)], axis=1)
        title = [count(len(frame), "row"), count(len(features), "feature"), count(Y.shape[1], "label")]
        if left := sum(one.column.model.startswith("left out") for one in read.values()):
            title.append(f"{count(left, 'column')} left out")
        report = ColumnReport((one.column for one in read.values()), f"{name}: {', '.join(title)}", self.raw.notes)
        problems = {column: one.problem for column, one in read.items() if one.problem}
        if not features and not problems:
            problems[""] = f"{name} has no column that a model could use: name some in number or nominal."
        if problems:
            first, *rest = problems  # the first one in full, the columns of the others by name
            others = f" There is something to correct in {listed(rest)}, too." if rest else ""
            raise TableError(problems[first] + others, report)
        X = pandas.DataFrame({column: read[column].values for column in features}, index=frame.index)
        ids = [column for column, kind in kinds.items() if kind == k.IDENTIFIER]
        return Table(X, Y, frame[ids].copy(), report, name, self.raw.source)
