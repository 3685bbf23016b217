"""`read_table`: features, labels and identifiers of a file or a data frame, with a report on every column."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mltsk.exceptions import InputError

from . import kinds as k
from .cells import count, listed
from .files import Raw, read_raw, unique_names
from .kinds import Read, read_column
from .labels import Labels, Positive, label_columns, read_label, read_lists, split_names
from .report import Column, ColumnReport, TableError

Names = str | Iterable[str]
Ordinal = str | Iterable[str] | Mapping[str, Sequence[str]]
Kinds = Mapping[str, str | Sequence[str]]

_DROPPED = "dropped"


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
        features = [column for column in self.columns if column.use == "feature"]
        return {column.name: column.levels if column.kind == k.ORDINAL else column.kind for column in features}

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
        left_out = {column.name: column for column in self.columns if column.use != "feature"}
        if absent := [name for name in names if name in left_out]:
            column = left_out[absent[0]]
            raise InputError(
                f"Column {column.name!r} of {self.name} is no feature here: {column.kind}, {column.model}."
            )
        return self.X[unique_names(names, Raw(self.X, self.name, self.source))]


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
    """Read a table of one's own and decide what each column is; ``table.columns`` says what was decided.

    Identifiers, dates, free text and constant columns are left out of the model. Cells that are no number in a column
    of numbers are refused by name. Whatever was decided can be said otherwise with the options.

    Parameters
    ----------
    source : path or data frame
        A CSV file (also with semicolons, tabs or bars, also ``.gz``), an Excel, Parquet, ARFF, NPZ or MATLAB file, or a
        pandas or polars data frame.
    labels : int, str, sequence of str, mapping, path, or None
        Names of label columns, as a list or with commas between; a number of columns (the last ones; the first ones if
        negative); ``{"edema": "present"}`` where a column has other words than yes and no; a MULAN XML file. None uses
        what the file declares, and there may be no labels.
    drop, id, nominal, number : str or sequence of str
        Columns to leave out; to keep as identifiers; to read as categories; to read as numbers.
    ordinal : str, sequence of str, or mapping
        Ordered categories: ``"education: low < medium < high"`` or ``{"education": ["low", "medium", "high"]}``.
    missing : str or sequence of str
        Words that stand for a missing cell, such as ``"<4.0"`` or ``"-999"``, besides empty cells, NA, N/A, NaN, null
        and ?.
    label_column : str, optional
        A column that lists the labels of its row, with ``separator`` between them.
    separator : str
        The sign between two labels in ``label_column``.
    kinds : mapping, optional
        What a fitted model knows: the kind of each feature, or its levels in order. X then has exactly these columns,
        read by these kinds, whatever they look like in this file.

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
    chosen = label_columns(raw, labels if label_column is None else 0)
    plan = _Plan(raw, chosen, label_column, separator, frozenset(word.lower() for word in split_names(missing)))
    plan.say(_DROPPED, drop)
    plan.say(k.IDENTIFIER, id)
    plan.say(k.NOMINAL, nominal)
    plan.say(k.NUMBER, number)
    plan.say_levels(_levels(ordinal))
    return plan.known(kinds).table() if kinds is not None else plan.table()


def _levels(ordinal: Ordinal) -> dict[str, list[str]]:
    if isinstance(ordinal, Mapping):
        return {str(name): [str(level) for level in levels] for name, levels in ordinal.items()}
    found = {}
    for text in [ordinal] if isinstance(ordinal, str) else ordinal:
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

    def __post_init__(self) -> None:
        if self.label_column is not None:
            unique_names([self.label_column], self.raw)

    def say(self, kind: str, names: Names) -> None:
        for name in unique_names(split_names(names), self.raw):
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
        self.features = unique_names(kinds, self.raw)
        if taken := [name for name in self.features if name in self.labels or name in self.said]:
            raise InputError(f"Column {taken[0]!r} is a feature of the model: nothing else can be said about it.")
        for name, kind in kinds.items():
            self.said[name] = kind if isinstance(kind, str) else k.ORDINAL
            if not isinstance(kind, str):
                self.levels[name] = kind
            if self.said[name] not in k.USED:
                raise InputError(f"Column {name!r}: {kind!r} is no kind that a model takes: {', '.join(k.USED)}.")
        return self

    def table(self) -> Table:
        import pandas

        frame, columns, read, Y = self.raw.frame, [], {}, {}
        problems: dict[str, str] = {}
        for name in frame.columns:
            if name in self.labels:
                Y[name], column = self._label(name)
            elif name == self.label_column:
                Y, column = self._label_lists(name)
            elif self.said.get(name) == _DROPPED or (self.features is not None and name not in self.said):
                reason = "left out" if self.features is None else "unknown to the model"
                column = Column(name, _DROPPED if self.features is None else "", "left out", reason, len(frame))
            else:
                read[name] = self._read(name)
                column = _column(name, read[name], len(frame))
                problems |= {name: read[name].problem} if read[name].problem else {}
            columns.append(column)
        names = [name for name, one in read.items() if one.kind in k.USED]
        names = names if self.features is None else self.features
        if not names and not problems:
            problems[""] = f"{self.raw.name} has no column that a model could use: name some in number or nominal."
        labels = list(self.labels) or list(Y)
        left = sum(column.use == "left out" for column in columns)
        title = _title(self.raw.name, len(frame), len(names), len(labels), left)
        report = ColumnReport(columns, title, self.raw.notes)
        if problems:
            raise TableError(_sentence(problems), report)
        ids = [name for name, one in read.items() if one.kind == k.IDENTIFIER]
        X = pandas.DataFrame({name: read[name].values for name in names}, index=frame.index)
        Y = pandas.DataFrame({name: Y[name] for name in labels}, index=frame.index, dtype=np.float64)
        return Table(X, Y, frame[ids].copy(), report, self.raw.name, self.raw.source)

    def _read(self, name: str) -> Read:
        column, said = self.raw.frame[name], self.said.get(name)
        model = self.features is not None and name in self.features
        found = read_column(column, said, self.levels.get(name, ()), self.missing, model)
        return replace(found, notes=()) if said == k.IDENTIFIER else found

    def _label(self, name: str) -> tuple[Any, Column]:
        values = read_label(self.raw.frame[name], self.labels[name], self.missing)
        return values, self._label_report(name, "label", values, self._ones(values))

    def _ones(self, values: Any) -> str:
        return f"label: {int(np.nansum(values)):,} of {int((~np.isnan(values)).sum()):,} yes"

    def _label_lists(self, name: str) -> tuple[Any, Column]:
        Y = read_lists(self.raw.frame[name], self.separator, self.missing)
        unseen = np.isnan(Y.iloc[:, 0].to_numpy())
        empty = f"{count(int(unseen.sum()), 'empty cell')}, not observed; write none where there is no label"
        column = self._label_report(name, "label lists", Y.iloc[:, 0].to_numpy(), count(Y.shape[1], "label"))
        return Y, replace(
            column, examples=tuple(Y.columns[:3]), distinct=Y.shape[1], notes=(empty,) if unseen.any() else ()
        )

    def _label_report(self, name: str, kind: str, values: Any, model: str) -> Column:
        cells = self.raw.frame[name]
        try:
            some = [str(cell).strip() for cell in cells[~np.isnan(values)].unique()]
        except TypeError:  # lists have no hash
            some = []
        missing = int(np.isnan(values).sum())
        return Column(name, kind, "label", model, len(cells), len(some), missing, tuple(some[:3]))


def _column(name: str, read: Read, rows: int) -> Column:
    n = len(read.levels)
    models = {
        k.NUMBER: "number",
        k.YES_NO: "yes or no",
        k.NOMINAL: f"{n:,} categories",
        k.ORDINAL: f"{n:,} ordered levels",
        k.IDENTIFIER: "left out (in ids)",
    }
    use = "feature" if read.kind in k.USED else "left out"
    counts = rows, read.distinct, read.missing
    return Column(name, read.kind, use, models.get(read.kind, use), *counts, read.examples, read.levels, read.notes)


def _sentence(problems: Mapping[str, str]) -> str:
    """The first problem in full, the columns of the others by name."""
    first, *rest = problems
    return problems[first] + (f" There are such cells in {listed(rest)}, too." if rest else "")


def _title(name: str, rows: int, features: int, labels: int, left: int | None = None) -> str:
    parts = [count(rows, "row"), count(features, "feature"), count(labels, "label")]
    parts += [f"{count(left, 'column')} left out"] if left else []
    return f"{name}: {', '.join(parts)}"
