"""Rows of another table that the model has seen: they are no validation."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame, Series
from pandas.util import hash_pandas_object

from ..classifier import MLTSKClassifier
from ..exceptions import InputError
from ..tables.table import DataTable, sparse_rows
from ..text import plural

# Rows of few columns are like others by chance: as many more than that are told.
MIN_SHARED = 0.05
MAX_ALIKE = 0.5  # share of like rows in the fit; beyond, it says nothing that all are


class SharedRows(NamedTuple):
    """How many rows of another table are in that of the fit, and how many by chance.

    ``by_chance`` is the share of rows of the fit that are like another row of it.
    """

    n_shared: int
    n_rows: int
    by_chance: float

    @property
    def are_all(self) -> bool:
        """Whether the other table has no row of its own."""
        return self.n_shared == self.n_rows and self.by_chance < MAX_ALIKE

    @property
    def line(self) -> str:
        """A sentence for the first screen, if more rows are shared than by chance."""
        if self.n_shared <= (self.by_chance + MIN_SHARED) * self.n_rows:
            return ""
        return (
            f"{self.n_shared:,} of {plural(self.n_rows, 'row')} are also in the table "
            "of the fit: figures look better than they are on other rows."
        )


def shared_rows(table: DataTable, training: DataTable) -> SharedRows:
    """Which rows of a table, with their labels, are in that of the fit.

    Both have the same columns in the same order, as `matching_table` makes them.
    """
    if sparse_rows(training.X) is not None:
        return SharedRows(0, len(table), 0.0)
    known = _digests(training)
    digests = _digests(table)
    _, first, counts = np.unique(known, return_index=True, return_counts=True)
    by_chance = float(counts[counts > 1].sum() / max(len(known), 1))
    n_shared = int(np.isin(digests, known[first]).sum())
    return SharedRows(n_shared, len(digests), by_chance)


def refuse_rows_of_fit(table: DataTable, training: DataTable) -> None:
    """Refuse another table all of whose rows are in that of the fit."""
    if shared_rows(table, training).are_all:
        raise InputError(
            f"All rows of {table.name} are also in {training.name}, which the model is "
            "fitted on: that says nothing of other people. Name another table, or "
            "review the first one alone, where each row is judged without itself."
        )


def refuse_own_rows(model: MLTSKClassifier, table: DataTable) -> None:
    """Refuse the table that a model was fitted on, as far as it remembers."""
    record = model.fit_record_
    if record is None or record.loo_rows is not None:
        return
    Y = table.Y.to_numpy(dtype=float)
    if np.array_equal(Y, record.labels, equal_nan=True):
        raise InputError(own_rows_refused(table.name))


def own_rows_refused(name: str) -> str:
    """Say why a finished model is not judged on the rows of its fit."""
    return (
        f"The model was fitted on the rows of {name}: that says nothing of other "
        "people. Name another table, or review this one without the model, where each "
        "row is judged without itself."
    )


def _digests(table: DataTable) -> NDArray[np.uint64]:
    """A number per row that tells its cells and labels from those of others."""
    columns = [*table.X.items(), *table.Y.items()]
    cells = {
        str(place): _plain(column).to_numpy()
        for place, (_, column) in enumerate(columns)
    }
    return hash_pandas_object(DataFrame(cells), index=False).to_numpy()


def _plain(column: Series) -> Series:
    """A column as numbers, or as words whatever their type is."""
    if column.dtype.kind in "iuf":
        return column.astype(float)
    words = column.astype(object)
    return words.where(words.notna(), "").astype(str)
