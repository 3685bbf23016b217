"""Numbers in named columns, before anyone has said which of them are labels: what an ARFF file is read into.

`split_labels` turns them into a `Dataset`. What counts as a label column: 0 and 1, or the words yes/no, true/false,
y/n, t/f in any mixture of capitals. Tables of one's own are read by `mltsk.read_table`, which knows kinds of columns.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mltsk.exceptions import InputError

from .dataset import Categories, Dataset, as_number, category_values, dense

YES = frozenset({"1", "yes", "true", "y", "t"})
NO = frozenset({"0", "no", "false", "n", "f"})

Labels = int | str | Path | Sequence[str] | None


@dataclass(frozen=True, eq=False, repr=False)
class NumericTable:
    """Numbers in named columns; text columns are coded by category, as in `Dataset`.

    Attributes
    ----------
    values : array or CSR array of shape (n_rows, n_columns)
        NaN where a value is missing.
    names : tuple of str
        The columns, in the order of the file.
    categories : tuple of tuples of str
        The categories of each column, ``()`` for a column of numbers.
    label_names : tuple of str
        The columns that the file itself declares to be labels; empty when it does not say.
    """

    values: Any
    names: tuple[str, ...]
    categories: Categories
    name: str = "data"
    source: str = ""
    label_names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def __repr__(self) -> str:
        return f"NumericTable({self.name!r}: {len(self)} rows, {len(self.names)} columns)"

    def positions(self, names: Sequence[str]) -> list[int]:
        """Where the named columns are; an `InputError` names those that are not there."""
        where = {name: i for i, name in enumerate(self.names)}
        if missing := [name for name in names if name not in where]:
            close = get_close_matches(missing[0], self.names, n=1)
            shown = ", ".join(map(repr, missing[:5])) + (", …" if len(missing) > 5 else "")
            hint = f"; did you mean {close[0]!r}?" if close else "."
            raise InputError(f"{self.name} has no column {shown} (it has {len(self.names)} columns){hint}")
        return [where[name] for name in names]


def split_labels(table: NumericTable, labels: Labels = None) -> Dataset:
    """The data set in which the given columns are labels and all others are features.

    Parameters
    ----------
    table : NumericTable
        From `read_arff`.
    labels : int, str, sequence of str, or None
        A number counts columns: the last ones, or the first ones when it is negative; 0 means that there are none.
        Names (a list, or one string with commas) are taken in the given order. None uses what the file declares.

    Examples
    --------
    >>> import numpy as np
    >>> from mltsk.datasets import NumericTable, split_labels
    >>> split_labels(NumericTable(np.array([[2.5, 1.0, 0.0]]), ("a", "p", "q"), ((), (), ())), "p,q").Y
    array([[1, 0]], dtype=int8)
    """
    chosen = table.positions(label_columns(table, labels))
    rest = sorted(set(range(len(table.names))) - set(chosen))
    X = table.values[:, rest]  # of a dense table column by column in memory: rows are what everyone reads
    return Dataset(
        X=X if sparse.issparse(X) else np.ascontiguousarray(X),
        Y=_binary(table, chosen),
        feature_names=[table.names[i] for i in rest],
        label_names=[table.names[i] for i in chosen],
        name=table.name,
        categories=[table.categories[i] for i in rest],
        source=table.source,
    )


def label_columns(table: NumericTable, labels: Labels) -> tuple[str, ...]:
    """The names of the label columns that ``labels`` stands for in ``table``."""
    if labels is None and not table.label_names:
        raise InputError(
            f"{table.name} does not say which of its {len(table.names)} columns are labels: give their "
            "number (the last ones; negative for the first ones; 0 for none) or their names."
        )
    if isinstance(labels, str | Path):
        labels = _parse(str(labels))
    if not isinstance(labels, int):
        return tuple(dict.fromkeys(map(str, table.label_names if labels is None else labels)))
    if abs(labels) >= len(table.names):
        raise InputError(f"{table.name} has {len(table.names)} columns: {abs(labels)} labels would leave no feature.")
    return table.names[:-labels] if labels < 0 else table.names[len(table.names) - labels :]


def _parse(labels: str) -> int | list[str]:
    try:
        return int(labels)
    except ValueError:
        # The csv reader, so that a name with a comma in it can be quoted.
        return [name.strip() for name in next(csv.reader([labels], skipinitialspace=True)) if name.strip()]


def _binary(table: NumericTable, chosen: Sequence[int]) -> NDArray[np.float64]:
    Y = dense(table.values[:, list(chosen)])
    for column, position in zip(Y.T, chosen, strict=True):
        where = f"Label {table.names[position]!r} of {table.name}"
        if np.isnan(column).any():
            raise InputError(f"{where} has no value in row {np.isnan(column).argmax() + 1}.")
        words = {value: text.strip().lower() for value, text in _written(column, table.categories[position]).items()}
        found = set(words.values())
        if not found <= YES | NO:
            shown = ", ".join(repr(word) for word in sorted(found)[:5])
            raise InputError(f"{where} holds {shown}: labels are 0 and 1, yes and no, or true and false.")
        column[:] = np.isin(column, [value for value, word in words.items() if word in YES])
    return Y


def is_numeric(categories: Sequence[str]) -> bool:
    """Whether a column with these categories (or none) holds the numbers that were written in the file."""
    return [as_number(text) for text in categories] == category_values(categories).tolist()


def _written(column: NDArray[np.float64], categories: Sequence[str]) -> dict[float, str]:
    """The numbers in a column, each with what was written in the file."""
    texts = {} if is_numeric(categories) else dict(enumerate(categories))
    return {value: texts.get(value, f"{value:g}") for value in np.unique(column[~np.isnan(column)]).tolist()}
