"""Results for subgroups: whether a model does as well for some rows as for others.

Subgroups are the values of nominal columns, and quarters of numbers. Differences are
tested figure by figure, and called more than chance only where they would be so after
all looks are accounted for.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame, Series

from ..exceptions import InputError
from ..explain.wording import name, number
from ..frames import MISSING
from ..metrics import (
    decision_intervals,
    heterogeneity_p_value,
    holm,
    miscalibration_p_value,
    roc_auc_interval,
)
from ..metrics.intervals import UNDEFINED
from ..metrics.proportions import IntervalEstimate, share_interval
from ..tables.kinds import NOMINAL
from ..tables.table import DataTable, sparse_rows
from ..text import did_you_mean, listing, plural
from .judged import JudgedLabel
from .packing import PageData
from .sections import Review, Section

USUAL_NUMBERS = ("age",)  # in quarters, without being asked for
MAX_COLUMNS = 8  # without being asked for
MAX_VALUES = 6  # of a column; the others are one subgroup
MAX_SUBGROUP_LABELS = 12
MIN_FIGURE_ROWS = 5  # rows with a label, and rows without it, of a figure
MIN_TESTED_ROWS = 10  # of a figure that is tested
MORE_THAN_CHANCE = 0.05
FIGURES = ("AUC", "sensitivity", "specificity", "calibration")


class Subgroup(NamedTuple):
    """Figures of one label in rows of one subgroup."""

    name: str
    observed: int
    cases: int
    AUC: IntervalEstimate
    sensitivity: IntervalEstimate
    specificity: IntervalEstimate
    predicted: float
    share: IntervalEstimate

    def tested(self, figure: str) -> IntervalEstimate:
        """A figure as it is tested: UNDEFINED where too few rows say it."""
        n_others = self.observed - self.cases
        is_enough = {
            "AUC": min(self.cases, n_others) >= MIN_TESTED_ROWS,
            "sensitivity": self.cases >= MIN_TESTED_ROWS,
            "specificity": n_others >= MIN_TESTED_ROWS,
        }
        estimate: IntervalEstimate = getattr(self, figure)
        return estimate if is_enough[figure] else UNDEFINED


class Split(NamedTuple):
    """The rows of a table in subgroups: a column's name, codes (n,), names of codes."""

    column: str
    codes: NDArray[np.intp]
    names: list[str]


# the section --------------------------------------------------------------------------


def subgroup_section(review: Review) -> Section | None:
    """Figures per subgroup, label by label, and which differ more than by chance."""
    splits = splits_of(review.table, review.by)
    labels = _shown_labels(review)
    if not splits or not labels:
        return None
    tables = [[figures_of(label, split) for split in splits] for label in labels]
    p = np.zeros((len(labels), len(splits), len(FIGURES)))
    for i, label in enumerate(labels):
        for k, split in enumerate(splits):
            p[i, k] = p_values(label, split, tables[i][k])
    is_real = holm(p) < MORE_THAN_CHANCE
    facts = []
    for i, label in enumerate(labels):
        columns = [
            _column_facts(split, tables[i][k], is_real[i, k])
            for k, split in enumerate(splits)
            if len(tables[i][k]) > 1
        ]
        facts.append({"name": label.name, "columns": columns})
    return Section(
        key="subgroups",
        title="For whom it works: subgroups",
        bar_title="Subgroups",
        template="review/subgroups.html",
        facts={
            "lines": _lines(labels, splits, is_real, int(np.isfinite(p).sum())),
            "labels": facts,
            "n_more": len(review.labels) - len(labels),
        },
    )


def _shown_labels(review: Review) -> list[JudgedLabel]:
    """Labels that are better than guessing, those with most cases if there are many."""
    labels = [label for label in review.shown_labels if label.is_better_than_guessing]
    labels.sort(key=lambda label: -label.cases)
    return labels[:MAX_SUBGROUP_LABELS]


def _lines(
    labels: list[JudgedLabel],
    splits: list[Split],
    is_real: NDArray[np.bool_],
    n_looks: int,
) -> list[str]:
    """Which differences are more than chance, of how many that were looked at."""
    found = []
    for i, k in np.argwhere(is_real.any(axis=2)):
        figures = [figure for f, figure in enumerate(FIGURES) if is_real[i, k, f]]
        found.append(f"{labels[i].name} by {splits[k].column}: {listing(figures)}")
    looks = plural(n_looks, "comparison")
    if not found:
        return [
            f"In {looks}, no difference between subgroups is more than chance, all "
            "looks accounted for. With few rows, a real difference may not be seen."
        ]
    n_real = int(is_real.sum())
    verb = "is" if n_real == 1 else "are"
    return [
        f"In {looks}, {plural(n_real, 'difference')} {verb} more than chance, all "
        "looks accounted for (Holm):",
        *(f"{line}." for line in found),
    ]


def _column_facts(
    split: Split, subgroups: list[Subgroup], is_real: NDArray[np.bool_]
) -> PageData:
    """The subgroups of a column, and a word where they differ more than by chance."""
    differing = [figure for figure, real in zip(FIGURES, is_real, strict=True) if real]
    words = ""
    if differing:
        words = f"more than chance: {', '.join(differing)}"
    return {"name": split.column, "subgroups": subgroups, "words": words}


# figures and tests --------------------------------------------------------------------


def figures_of(label: JudgedLabel, split: Split) -> list[Subgroup]:
    """Figures of a label in each subgroup that has rows."""
    codes = split.codes[label.rows]
    subgroups = []
    for code, subgroup in enumerate(split.names):
        rows = codes == code
        if rows.any():
            subgroups.append(_figures_of_rows(label, rows, subgroup))
    return subgroups


def _figures_of_rows(
    label: JudgedLabel, rows: NDArray[np.bool_], subgroup: str
) -> Subgroup:
    """Figures of a label in some of its rows."""
    y = label.y[rows]
    groups = None if label.groups is None else label.groups[rows]
    decisions = decision_intervals(y, label.is_given[rows], groups=groups)
    n_cases = int(y.sum())
    n_others = len(y) - n_cases
    AUC = UNDEFINED
    if min(n_cases, n_others) >= MIN_FIGURE_ROWS:
        AUC = roc_auc_interval(y, label.scores[rows], groups=groups)
    has_cases = n_cases >= MIN_FIGURE_ROWS
    has_others = n_others >= MIN_FIGURE_ROWS
    return Subgroup(
        name=subgroup,
        observed=len(y),
        cases=n_cases,
        AUC=AUC,
        sensitivity=decisions.sensitivity if has_cases else UNDEFINED,
        specificity=decisions.specificity if has_others else UNDEFINED,
        predicted=float(label.chances[rows].mean()),
        share=share_interval(y, groups),
    )


def p_values(
    label: JudgedLabel, split: Split, subgroups: list[Subgroup]
) -> list[float]:
    """P-values that the figures of subgroups are the same, in the order of FIGURES."""
    values = []
    for figure in FIGURES[:3]:
        tested = [subgroup.tested(figure) for subgroup in subgroups]
        values.append(heterogeneity_p_value(tested))
    codes = split.codes[label.rows]
    is_large = np.bincount(codes, minlength=len(split.names)) >= MIN_TESTED_ROWS
    rows = is_large[codes]
    values.append(float("nan"))
    if is_large.sum() >= 2:
        values[-1] = miscalibration_p_value(
            label.y[rows],
            label.chances[rows],
            codes[rows],
            groups=None if label.groups is None else label.groups[rows],
        )
    return values


# subgroups of a table -----------------------------------------------------------------


def check_by(table: DataTable, by: Sequence[str]) -> None:
    """Refuse columns to look at that are no features of a table."""
    for column in by:
        if column not in table.feature_names:
            hint = did_you_mean(column, table.feature_names)
            raise InputError(
                f"{table.name} has no feature {column!r} to make subgroups by"
                f"{'; ' + hint if hint else '.'}"
            )


def splits_of(table: DataTable, by: Sequence[str] = ()) -> list[Split]:
    """Subgroups by columns that were asked for, or by nominal columns and age."""
    if sparse_rows(table.X) is not None:
        return []
    columns = list(by) or _usual_columns(table)
    splits = [_split(table.X, column) for column in columns]
    return [split for split in splits if len(split.names) > 1]


def _usual_columns(table: DataTable) -> list[str]:
    """Nominal columns, and numbers by which people usually look at results."""
    usual = []
    for column, kind in table.kinds.items():
        is_usual_number = column.lower() in USUAL_NUMBERS
        if kind == NOMINAL or is_usual_number:
            usual.append(column)
    return usual[:MAX_COLUMNS]


def _split(X: DataFrame, column: str) -> Split:
    """The rows of a table by the values of a column, or by its quarters."""
    values = X[column]
    is_number = values.dtype.kind in "iuf" and values.nunique() > MAX_VALUES
    codes, names = _quarters(values) if is_number else _values(values)
    is_missing = values.isna().to_numpy()
    if is_missing.any():
        codes = np.where(is_missing, len(names), codes)
        names = [*names, MISSING]
    return Split(name(column), codes.astype(np.intp), names)


def _quarters(values: Series) -> tuple[NDArray[np.intp], list[str]]:
    """Codes of rows by quarters of a number, and words for the quarters."""
    x = values.to_numpy(dtype=np.float64)
    least, *cuts, largest = np.nanquantile(x, [0, 0.25, 0.5, 0.75, 1])
    edges = np.unique(cuts)
    codes = np.searchsorted(edges, x, side="left")
    size = max(abs(least), abs(largest))
    ends = [number(float(edge), size) for edge in edges]
    names = [f"up to {ends[0]}"]
    names += [f"above {low}, up to {high}" for low, high in pairwise(ends)]
    names.append(f"above {ends[-1]}")
    return codes, names


def _values(values: Series) -> tuple[NDArray[np.intp], list[str]]:
    """Codes of rows by the most frequent values of a column, the others together."""
    counts = values.value_counts()
    counts = counts[counts > 0]
    frequent = list(counts.index[:MAX_VALUES])
    if len(counts) > MAX_VALUES:
        frequent = frequent[: MAX_VALUES - 1]
    if values.dtype != "category" or values.cat.ordered:
        frequent = [value for value in counts.sort_index().index if value in frequent]
    place = {value: code for code, value in enumerate(frequent)}
    others = len(frequent)
    codes = np.array([place.get(value, others) for value in values.astype(object)])
    names = [_words(value) for value in frequent]
    if len(counts) > len(frequent):
        names.append("other values")
    return codes, names


def _words(value: object) -> str:
    """A value of a column in words."""
    if isinstance(value, float):
        return number(value, abs(value))
    return name(str(value))
