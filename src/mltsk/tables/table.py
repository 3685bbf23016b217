"""`DataTable`: what was read of a user's table, with a report on every column."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas
from scipy.sparse import csr_array

from mltsk.datasets.dataset import Dataset
from mltsk.exceptions import InputError
from mltsk.text import plural

from .groups import Codes
from .kinds import GROUP, NUMBER, ORDINAL, TICK, YES_NO
from .report import ColumnReport

# Columns that a refusal names, so that they can be copied; of more it gives the number.
MAX_NAMED_COLUMNS = 20


@dataclass(frozen=True, eq=False, repr=False)
class DataTable:
    """A table that a model can be fitted on: see `read_table`.

    Attributes
    ----------
    X : pandas.DataFrame
        The features: numbers as float64, yes/no as nullable booleans, nominal columns
        as unordered and ordinal ones as ordered categories of text. Missing cells are
        NaN or NA.
    Y : pandas.DataFrame
        The labels as 1.0, 0.0, and NaN where a label was not observed; no columns where
        there are none.
    ids : pandas.DataFrame
        Identifier columns as they were read, and the column of groups.
    columns : ColumnReport
        What each column of the file was taken for.
    groups : array of int of shape (n,), or None
        The same number for rows that belong together, such as visits of a patient.
    name, source : str
        What to call the table, and where it came from.
    """

    X: pandas.DataFrame
    Y: pandas.DataFrame
    ids: pandas.DataFrame
    columns: ColumnReport
    groups: Codes | None = None
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
    def group_name(self) -> str:
        """The column that says which rows belong together; "" if there is none."""
        names = [column.name for column in self.columns if column.kind == GROUP]
        return names[0] if names else ""

    @property
    def kinds(self) -> dict[str, str | tuple[str, ...]]:
        """The kind of every feature, as ``read_table(kinds=)`` takes it.

        An ordinal feature has its levels in order instead.
        """
        kinds = {column.name: column.kind_or_levels for column in self.columns}
        return {name: kinds[name] for name in self.feature_names}

    @property
    def units(self) -> dict[str, str]:
        """Units that were taken off the numbers of features, by name."""
        units = {column.name: column.unit for column in self.columns if column.unit}
        return {name: units[name] for name in self.feature_names if name in units}

    def dataset(self) -> Dataset:
        """The table as complete numbers, for methods that take nothing else.

        Yes is 1, no is 0. Nominal and ordinal columns, missing cells and labels that
        were not observed are refused by name.

        Examples
        --------
        >>> import pandas as pd
        >>> from mltsk import read_table
        >>> frame = pd.DataFrame({"a": [1, 3], "b": ["yes", "no"], "gout": [0, 1]})
        >>> read_table(frame, "gout").dataset().X
        array([[1., 1.],
               [3., 0.]])
        """
        self._refuse_categories()
        self._refuse_gaps(self.X, "column")
        self._refuse_gaps(self.Y, "label")
        X = sparse_rows(self.X)
        if X is None:
            X = self.X.to_numpy(dtype=np.float64)
        return Dataset(
            X,
            self.Y,
            feature_names=self.feature_names,
            label_names=self.label_names,
            name=self.name,
            source=self.source,
        )

    def _refuse_categories(self) -> None:
        """Refuse features that are neither a number nor yes and no."""
        refused = {}
        for name, kind in self.kinds.items():
            if kind not in (NUMBER, YES_NO, TICK):
                refused[name] = kind if isinstance(kind, str) else ORDINAL
        if not refused:
            return
        first, kind_name = next(iter(refused.items()))
        they = "it" if len(refused) == 1 else "them"
        others = ""
        if len(refused) > 1:
            others = f" (and {plural(len(refused) - 1, 'other column')} like it)"
        # what would be refused next, so that one look is enough
        incomplete = [name for name in self._incomplete(self.X) if name not in refused]
        besides = ""
        if incomplete:
            besides = f" and {plural(len(incomplete), 'column')} with missing cells"
        option = drop_option([*refused, *incomplete])
        raise InputError(
            f"Column {first!r} of {self.name} is {kind_name}{others}, and this method "
            f"needs complete numbers: drop {they}{besides}{option}, or use "
            f"MLTSKClassifier, which takes {'them' if besides else they}."
        )

    def _incomplete(self, frame: pandas.DataFrame) -> dict[str, int]:
        """Columns of a frame with missing cells, and how many rows have none."""
        n_missing = frame.isna().sum()
        return {str(name): int(n) for name, n in n_missing.items() if n > 0}

    def _refuse_gaps(self, frame: pandas.DataFrame, noun: str) -> None:
        """Refuse a frame with missing cells; ``noun`` says what its columns are."""
        incomplete = self._incomplete(frame)
        if not incomplete:
            return
        first, n_rows = next(iter(incomplete.items()))
        rows = plural(n_rows, "row")
        others = ""
        if len(incomplete) > 1:
            others = f" (and {plural(len(incomplete) - 1, f'other {noun}')} like it)"
        option = drop_option(list(incomplete)) if noun == "column" else ""
        raise InputError(
            f"{noun.capitalize()} {first!r} of {self.name} has no value in {rows}"
            f"{others}, and this method needs complete numbers: leave it or these rows "
            f"out{option}, or use MLTSKClassifier."
        )


def drop_option(names: Sequence[str]) -> str:
    """The option that leaves columns out, in brackets; nothing for very many."""
    if len(names) > MAX_NAMED_COLUMNS:
        return ""
    return f' (--drop "{",".join(names)}")'


def sparse_rows(X: pandas.DataFrame) -> csr_array | None:
    """A frame of sparse columns as a CSR matrix; None for any other."""
    if not all(hasattr(dtype, "fill_value") for dtype in X.dtypes):
        return None
    return X.sparse.to_coo().tocsr()
