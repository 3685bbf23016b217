"""Parts of the review: what each is made of, and what it puts into the page.

A part is a function from a `Review`, all that is known when the page is written, to a
`Section`: plain data, and the template that places them. `review.SECTIONS` lists the
parts in the order in which people ask.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from ..classifier import MLTSKClassifier
from ..tables.table import DataTable, sparse_rows
from .baselines import BaselineComparison, Samples
from .judged import JudgedLabel
from .packing import PageData


class Section(NamedTuple):
    """A part of a page that can be folded.

    Attributes
    ----------
    key : str
        Its name in the address of the page, after "#".
    title : str
        Its heading.
    bar_title : str
        Its name in the bar of contents.
    template : str
        A file of ``templates/``; what it places is there as ``facts``.
    facts : dict
        Plain data. Texts are escaped; pictures of `svg` are marked as safe there.
    is_open : bool
        Whether it is unfolded at first.
    is_filed : bool
        Whether it is printed for the file, on two pages, and not only when everything
        is printed.
    styles, scripts : tuples of str
        Style sheets and scripts that it needs beyond those of the page.
    """

    key: str
    title: str
    bar_title: str
    template: str
    facts: PageData
    is_open: bool = False
    is_filed: bool = False
    styles: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()


class Compared(NamedTuple):
    """How long the model in words is, and what was compared to choose its length."""

    n_statements: int
    size_path: DataFrame | None = None
    comparison: BaselineComparison | None = None

    @property
    def takes_short(self) -> bool:
        """Whether the model in words is taken, as it is as good as the whole one."""
        comparison = self.comparison
        return comparison is not None and comparison.best == comparison.ours[1]


class Review(NamedTuple):
    """What is known when the page is written.

    Attributes
    ----------
    table : DataTable
        The rows that the model is judged on.
    asked : MLTSKClassifier
        The model with the options that were asked for, unfitted.
    whole, short : MLTSKClassifier
        The fitted model, and the same in a few statements per label.
    compared : Compared
    labels : list of JudgedLabel
        How well each label is found by the model that was taken.
    is_off : array of bool
        Of which labels the probabilities are off, as `judged.miscalibrated` found.
    shown : array of int
        The labels that are shown one by one.
    seed : int
    command : str
        What a user types to repeat the review, if it is known.
    max_labels : int
    by : tuple of str
        Columns that subgroups are made by; empty for the usual ones.
    training : DataTable or None
        The rows of the fit, where the model is judged on another table.
    training_labels : list of JudgedLabel
        How well each label is found in left-out rows of that table.
    fitted_on : str
        What the file of a finished model calls the data of its fit.
    """

    table: DataTable
    asked: MLTSKClassifier
    whole: MLTSKClassifier
    short: MLTSKClassifier
    compared: Compared
    labels: list[JudgedLabel]
    is_off: NDArray[np.bool_]
    shown: NDArray[np.intp]
    seed: int
    command: str
    max_labels: int
    by: tuple[str, ...] = ()
    training: DataTable | None = None
    training_labels: Sequence[JudgedLabel] = ()
    fitted_on: str = ""

    @property
    def takes_short(self) -> bool:
        """Whether the page is about the short model."""
        return self.compared.takes_short

    @property
    def taken(self) -> MLTSKClassifier:
        """The model that the page is about."""
        return self.short if self.takes_short else self.whole

    @property
    def is_finished(self) -> bool:
        """Whether the model was fitted before: nothing is known of its rows."""
        return self.whole.fit_record_ is None

    @property
    def is_external(self) -> bool:
        """Whether the model is judged on another table than that of its fit."""
        return self.is_finished or self.training is not None

    @property
    def own_labels(self) -> Sequence[JudgedLabel]:
        """How well labels are found in left-out rows of the fit, if these are known."""
        return self.training_labels or self.labels

    @property
    def comparison(self) -> BaselineComparison | None:
        """The model next to other methods, if they were compared."""
        return self.compared.comparison

    @property
    def shown_labels(self) -> list[JudgedLabel]:
        """The labels that are shown one by one."""
        return [self.labels[j] for j in self.shown]


SectionMaker: TypeAlias = Callable[[Review], Section | None]


def samples_of(table: DataTable) -> Samples:
    """The features of a table, as sparse rows where it has such."""
    rows = sparse_rows(table.X)
    return table.X if rows is None else rows


def how_many_rows(shown: int, total: int) -> str:
    """How many of all rows are shown, or nothing if all are."""
    return "" if shown == total else f"{shown:,} of {total:,} rows, evenly spread"
