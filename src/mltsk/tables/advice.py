"""What in a table will hurt a model of it, and what to do about it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas

from mltsk.core.arrays import FloatArray
from mltsk.text import listing, plural, typed

from .kinds import CODE_SIGN, CONSTANT
from .table import DataTable, sparse_rows

# Rows of the rarer answer: with fewer, nothing is learned; with fewer, little is.
MIN_CASES = 10
FEW_CASES = 20
CASES_PER_STATEMENT = 10  # of the rarer answer, for what a statement says to hold again
# AUC of one feature from which on it tells a label almost alone.
LEAK_AUC = 0.98
MAX_MISSING_SHARE = 0.8
MAX_UNOBSERVED_SHARE = 0.5
FEATURES_PER_BLOCK = 200  # whose ranks are in memory at once
MAX_NAMED_COLUMNS = 5


class Leak(NamedTuple):
    """A feature that tells a label almost alone, and its AUC."""

    feature: str
    label: str
    AUC: float


def advice(table: DataTable) -> list[str]:
    """Sentences on what will hurt, the worst first; none where nothing will.

    Examples
    --------
    >>> import pandas as pd
    >>> from mltsk import read_table
    >>> frame = pd.DataFrame({"x": range(40), "gout": [0] * 35 + [1] * 5})
    >>> for sentence in advice(read_table(frame, "gout", number="x")):
    ...     print(sentence)
    x tells gout almost alone (AUC 1.00): if it is known only afterwards, --drop x.
    gout: fewer than 10 rows of the rarer answer: find more, or leave the label out.
    """
    return [
        *_on_leaks(table),
        *_on_copies(table),
        *_on_labels(table),
        *_on_size(table),
        *_on_columns(table),
    ]


def _names(names: Sequence[str]) -> str:
    return listing(names, at_most=MAX_NAMED_COLUMNS)


def _n_cases(table: DataTable) -> pandas.Series:
    """How many rows have the rarer answer of each label."""
    n_yes = table.Y.sum()
    return np.minimum(n_yes, table.Y.count() - n_yes).astype(int)


# rows and labels


def _on_copies(table: DataTable) -> Iterator[str]:
    """Rows that are there twice, and rows that belong together."""
    for note in table.columns.notes:
        if "the same as an earlier one" in note:
            n_copies = note.partition(" the same")[0]
            yield (
                f"{n_copies} the same as an earlier one, labels included: a model that "
                "has seen one knows the other; leave copies out."
            )
        elif "identifier that repeats" in note:
            name = note.partition(":")[0]
            yield (
                f"{name} repeats: if its rows belong together, --group {typed(name)}, "
                "or the model will look better than it is."
            )


def _on_labels(table: DataTable) -> Iterator[str]:
    """Labels that are constant, rare, hardly observed, or there twice."""
    cases = _n_cases(table)
    constant = [name for name in table.Y if cases[name] == 0]
    if constant:
        yield f"{_names(constant)}: the same in all rows; leave the label out."
    rare = [name for name in table.Y if 0 < cases[name] < MIN_CASES]
    if rare:
        yield (
            f"{_names(rare)}: fewer than {MIN_CASES} rows of the rarer answer: find "
            "more, or leave the label out."
        )
    few = [name for name in table.Y if MIN_CASES <= cases[name] < FEW_CASES]
    if few:
        yield (
            f"{_names(few)}: fewer than {FEW_CASES} rows of the rarer answer: expect "
            "wide intervals."
        )
    unobserved = table.Y.isna().mean()
    hardly = [name for name in table.Y if unobserved[name] > MAX_UNOBSERVED_SHARE]
    if hardly:
        yield f"{_names(hardly)}: not observed in most rows: who was, and why?"
    twins = [name for name, is_twin in table.Y.T.duplicated().items() if is_twin]
    if twins:
        yield f"{_names(twins)}: the same as another label in every row; leave it out."


def _on_size(table: DataTable) -> Iterator[str]:
    """How many statements the rows of each label carry."""
    cases = _n_cases(table)
    cases = cases[cases >= MIN_CASES]
    if not len(cases):
        return
    rarest = cases.idxmin()
    n_statements = int(cases[rarest]) // CASES_PER_STATEMENT
    if n_statements < len(table.feature_names):
        yield (
            f"{rarest} has {plural(int(cases[rarest]), 'row')} of the rarer answer, "
            f"enough for about {plural(n_statements, 'statement')} "
            f"({CASES_PER_STATEMENT} rows each): do not trust a longer model of it "
            f"(--statements {n_statements})."
        )


# columns


def _on_columns(table: DataTable) -> Iterator[str]:
    """Columns with numbers for no value or lost values, and those nearly empty."""
    for note in table.columns.notes:
        if CODE_SIGN in note or "no value in the file" in note:
            yield f"{note}."
    empty = _nearly_empty_features(table)
    if empty:
        percent = f"{MAX_MISSING_SHARE:.0%}"
        yield f"{_names(empty)}: missing in more than {percent} of rows; --drop."
    constant = [column for column in table.columns if column.kind == CONSTANT]
    blank = [column.name for column in constant if not column.distinct]
    if blank:
        yield f"{_names(blank)}: no value in any row; left out."
    same = [column.name for column in constant if column.distinct]
    if same:
        yield f"{_names(same)}: the same in every row that has a value; left out."


def _nearly_empty_features(table: DataTable) -> list[str]:
    """Features that are missing in nearly all rows."""
    features = set(table.feature_names)
    empty = []
    for column in table.columns:
        share = (column.missing or 0) / max(column.rows, 1)
        if column.name in features and share > MAX_MISSING_SHARE:
            empty.append(column.name)
    return empty


def _on_leaks(table: DataTable) -> Iterator[str]:
    """Features that tell a label almost alone, the first ones of each label by name."""
    leaks_of_labels: dict[str, list[Leak]] = {}
    for leak in leaks(table, table.label_names):
        leaks_of_labels.setdefault(leak.label, []).append(leak)
    for label, found in leaks_of_labels.items():
        for leak in found[:MAX_NAMED_COLUMNS]:
            yield (
                f"{leak.feature} tells {label} almost alone (AUC {leak.AUC:.2f}): if "
                f"it is known only afterwards, --drop {typed(leak.feature)}."
            )
        n_more = len(found) - MAX_NAMED_COLUMNS
        if n_more > 0:
            verb = "tells" if n_more == 1 else "tell"
            yield f"{plural(n_more, 'more feature')} {verb} {label} almost alone."


def leaks(table: DataTable, labels: Sequence[str]) -> list[Leak]:
    """Features of a table that tell one of these labels almost alone."""
    if sparse_rows(table.X) is not None:
        return []
    found = []
    for label in labels:
        is_observed = table.Y[label].notna().to_numpy()
        y = table.Y[label].to_numpy()[is_observed]
        X = table.X.loc[is_observed]
        for feature, AUC in _single_aucs(X, y):
            if AUC >= LEAK_AUC:
                found.append(Leak(feature, label, AUC))
    return found


def _single_aucs(X: pandas.DataFrame, y: FloatArray) -> Iterable[tuple[str, float]]:
    """The AUC of each feature for a label, upwards or downwards, whichever is more.

    Rows without a value are left out. Labels with too few rows of either answer have
    none.
    """
    if min(y.sum(), len(y) - y.sum()) < FEW_CASES / 4:
        return
    for start in range(0, X.shape[1], FEATURES_PER_BLOCK):
        block = X.iloc[:, start : start + FEATURES_PER_BLOCK]
        ranks = _as_numbers(block, y).rank()
        is_present = ranks.notna().to_numpy()
        n_yes = (is_present * y[:, None]).sum(axis=0)
        n_no = is_present.sum(axis=0) - n_yes
        rank_sums = (ranks.fillna(0.0).to_numpy() * y[:, None]).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            aucs = (rank_sums - n_yes * (n_yes + 1) / 2) / (n_yes * n_no)
        has_both = np.minimum(n_yes, n_no) >= FEW_CASES / 4
        for name, auc, is_known in zip(block, aucs.tolist(), has_both, strict=True):
            if is_known:
                yield name, max(auc, 1 - auc)


def _as_numbers(X: pandas.DataFrame, y: FloatArray) -> pandas.DataFrame:
    """Features as numbers: a category by the share of rows that have the label."""
    numbers = {}
    for name, column in X.items():
        if column.dtype == "category":
            shares = pandas.Series(y).groupby(column.cat.codes.to_numpy()).mean()
            column = column.cat.codes.map(shares).where(column.notna())
        numbers[name] = column.astype("float64")
    return pandas.DataFrame(numbers, index=X.index)
