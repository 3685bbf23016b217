"""How the features of another table differ from those of the fit.

Whatever is known of the rows of the fit is read from the model itself, so that a model
from a file, which holds no rows, is compared in the same way: percentiles of numbers,
shares of values and of missing cells.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas import Series

from ..columns import Columns
from ..core.arrays import FloatArray
from ..explain.wording import name, number, percent
from ..frames import MISSING
from ..system import FuzzySystem
from ..tables.table import DataTable, sparse_rows
from ..text import plural, quoted_list
from . import worth

MAX_SHOWN_VALUES = 3  # of a nominal feature
# A change is told from a tenth of the rows on, and only where chance alone does as much
# for one of all features in one of twenty tables.
MIN_DRIFT = 0.1
CHANCE_OF_DRIFT = 0.05
MIN_MORE_MISSING = 0.2  # of the rows; chance does not reach it from 50 rows on
MIN_ROWS_OF_MISSING = 50
NEVER_MEASURED = "never measured"


class Drift(NamedTuple):
    """How one feature differs from that of the fit.

    ``shift`` is the share of measured rows that lie elsewhere than in the fit, NaN if
    there are none; ``then`` and ``now`` are words; shares of missing cells are NaN
    where not known. By chance alone, the shift of n rows from m of the fit is
    ``noise * sqrt(1 / n + 1 / m)`` on average.
    """

    name: str
    shift: float
    then: str
    now: str
    missing_then: float
    missing_now: float
    unseen: str
    noise: float = 0.0


class Drifts(NamedTuple):
    """All features, those that changed most first, and how many rows there are.

    ``n_rows`` of this table, each group of rows counted once, and ``n_fitted`` of the
    fit.
    """

    features: list[Drift]
    n_rows: int
    n_fitted: int

    @property
    def moved(self) -> list[str]:
        """The features that differ from the fit by more than chance does."""
        return [drift.name for drift in self.features if self._has_moved(drift)]

    def _has_moved(self, drift: Drift) -> bool:
        """Whether a shift is large, and beyond that of chance, all looks counted.

        Of numbers by Kolmogorov and Smirnov's test, of words by McDiarmid's inequality:
        both fall off in the same way.
        """
        missing_then = np.nan_to_num(drift.missing_then)
        n_measured = max(self.n_rows * (1 - drift.missing_now), 1.0)
        n_then = max(self.n_fitted * (1 - missing_then), 1.0)
        spread = np.sqrt(1 / n_measured + 1 / n_then)
        beyond = np.sqrt(np.log(2 * len(self.features) / CHANCE_OF_DRIFT) / 2)
        by_chance = spread * (drift.noise + beyond)
        return bool(drift.shift > max(by_chance, MIN_DRIFT))

    @property
    def unseen(self) -> list[Drift]:
        """The features with values that were never seen in the fit."""
        return [drift for drift in self.features if drift.unseen]

    @property
    def line_on_moved(self) -> str:
        """Which features lie elsewhere than in the fit."""
        moved = self.moved
        if not moved:
            return (
                "No feature differs from the fit in a tenth of the rows beyond chance."
            )
        return f"Features that differ from the fit: {worth.first_names(moved)}."

    @property
    def line_on_missing(self) -> str:
        """Which features are measured in far fewer rows than in the fit, if any are."""
        never = []
        seldom = []
        for drift in self.features:
            if drift.missing_now == 1 and drift.missing_then != 1:
                never.append(drift.name)
            elif self._is_seldom(drift):
                seldom.append(
                    f"{drift.name} (missing in {percent(drift.missing_now)}, in the "
                    f"fit in {percent(drift.missing_then)})"
                )
        lines = []
        if never:
            lines.append(f"Never measured in this table: {worth.first_names(never)}.")
        if seldom:
            lines.append(f"Seldom measured: {worth.first_names(seldom)}.")
        return " ".join(lines)

    def _is_seldom(self, drift: Drift) -> bool:
        """Whether a feature is missing in far more rows than in the fit."""
        is_enough = min(self.n_rows, self.n_fitted) >= MIN_ROWS_OF_MISSING
        return is_enough and drift.missing_now - drift.missing_then > MIN_MORE_MISSING


def drifts_of(system: FuzzySystem, table: DataTable) -> Drifts:
    """How the features of a table differ from those of the fit of a system."""
    drifts = feature_drifts(system, table)
    drifts.sort(key=lambda drift: -np.nan_to_num(drift.shift, nan=1.0))
    n_rows = len(table)
    if table.groups is not None:
        n_rows = len(np.unique(table.groups))
    n_fitted = n_rows if system.members is None else int(system.members.count[-1])
    return Drifts(drifts, n_rows, n_fitted)


def feature_drifts(system: FuzzySystem, table: DataTable) -> list[Drift]:
    """How each feature of a table differs from that of the fit of a system.

    Empty where the model has no percentiles of its features.
    """
    if sparse_rows(table.X) is not None or system.quantiles is None:
        return []
    columns = system.columns
    if columns is None:
        return [
            _drift_of_numbers(name(str(column)), _numbers(table.X[column]), quantiles)
            for column, quantiles in zip(table.X, system.quantiles, strict=True)
        ]
    words = columns.words(table.X)
    drifts = []
    for d, column in enumerate(table.X):
        places = _places(columns, d)
        quantiles = system.quantiles[places[0]]
        if columns.kinds[d] == "nominal":
            drift = _drift_of_words(system, columns, d, words[:, d])
        elif columns.kinds[d] == "ordinal":
            levels = columns.values[d]
            codes = _level_codes(words[:, d], levels)
            drift = _drift_of_numbers(name(column), codes, quantiles, levels)
        else:
            x = _numbers(table.X[column])
            drift = _drift_of_numbers(name(column), x, quantiles)
        drifts.append(drift._replace(missing_then=_missing_then(system, columns, d)))
    return drifts


def _numbers(values: Series) -> FloatArray:
    """A column of numbers, NaN where it was not measured."""
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _level_codes(words: NDArray[np.object_], levels: Sequence[str]) -> FloatArray:
    """Places of words among ordered levels, NaN where there is none."""
    places = {level: float(place) for place, level in enumerate(levels)}
    return np.array([places.get(word, np.nan) for word in words])


def _places(columns: Columns, d: int) -> list[int]:
    """The columns of numbers that a feature has, without that of missing cells."""
    return [
        place
        for place, part in enumerate(columns.parts)
        if part.feature == d and part.value != MISSING
    ]


def _missing_then(system: FuzzySystem, columns: Columns, d: int) -> float:
    """Share of missing cells of a feature in the fit; NaN where it is not known."""
    for place, part in enumerate(columns.parts):
        if part.feature == d and part.value == MISSING:
            return _share(system, place)
    return float("nan")


def _share(system: FuzzySystem, place: int) -> float:
    """Share of the rows of the fit in which a column of 0 and 1 was 1."""
    members = system.members
    if members is None or members.regions is None:
        return float("nan")
    n_with, n_rows = members.regions[-1, place]
    return float(n_with / max(n_rows, 1))


def _drift_of_numbers(
    column: str, x: FloatArray, quantiles: FloatArray, levels: Sequence[str] = ()
) -> Drift:
    """The largest difference between shares of rows up to a value, then and now.

    ``quantiles`` are percentiles of the fit, evenly spread; ``levels`` the words of an
    ordinal feature, whose numbers are places among them.
    """
    known = np.sort(x[~np.isnan(x)])
    drift = Drift(
        name=column,
        shift=float("nan"),
        then=_range_in_words(quantiles, levels),
        now=NEVER_MEASURED,
        missing_then=float("nan"),
        missing_now=float(np.isnan(x).mean()),
        unseen="",
    )
    if not len(known):
        return drift
    return drift._replace(
        shift=largest_shift(known, quantiles),
        now=_range_in_words(np.quantile(known, [0, 0.5, 1]), levels),
    )


def largest_shift(known: FloatArray, quantiles: FloatArray) -> float:
    """How far sorted numbers are from evenly spread percentiles, from 0 to 1.

    >>> round(largest_shift(np.arange(100.0), np.linspace(0, 99, 21)), 2)
    0.0
    >>> round(largest_shift(np.arange(100.0) + 50, np.linspace(0, 99, 21)), 2)
    0.5
    """
    shares = np.linspace(0, 1, len(quantiles))
    n = len(known)
    up_to = np.searchsorted(known, quantiles, side="right") / n
    below = np.searchsorted(known, quantiles, side="left") / n
    # of equal percentiles, the share up to a value is the last, that below the first
    last = np.searchsorted(quantiles, quantiles, side="right") - 1
    first = np.searchsorted(quantiles, quantiles, side="left")
    too_few = shares[last] - up_to
    too_many = below - shares[first]
    beyond = 1 - up_to[-1]
    return max(float(too_few.max()), float(too_many.max()), float(beyond), 0.0)


def _range_in_words(quantiles: FloatArray, levels: Sequence[str] = ()) -> str:
    """The middle of some percentiles, and their ends."""
    ends = (quantiles[0], quantiles[len(quantiles) // 2], quantiles[-1])
    size = float(np.abs(quantiles).max())
    words = [number(float(value), size) for value in ends]
    if levels:
        words = [name(levels[round(float(value))]) for value in ends]
    low, median, high = words
    return f"{median} ({low} to {high})"


def _drift_of_words(
    system: FuzzySystem, columns: Columns, d: int, words: NDArray[np.object_]
) -> Drift:
    """How many rows have another value than they would have had in the fit."""
    counts = Counter(word for word in words if word is not None)
    n_known = max(counts.total(), 1)
    unseen = set(counts) - set(columns.values[d]) - set(columns.rare[d])
    n_unseen = sum(counts[word] for word in unseen)
    then = _shares_then(system, columns, d)
    now = {}
    for value in then:
        alike = [value] if value in columns.values[d] else columns.rare[d]
        now[value] = sum(counts[word] for word in alike) / n_known
    differences = sum(abs(now[value] - share) for value, share in then.items())
    shift = float(np.nan_to_num((differences + n_unseen / n_known) / 2))
    listed = quoted_list(sorted(unseen))
    return Drift(
        name=name(columns.names[d]),
        shift=shift if counts else float("nan"),
        then=_shares_in_words(then),
        now=_shares_in_words(now) if counts else NEVER_MEASURED,
        missing_then=float("nan"),
        missing_now=1 - counts.total() / max(len(words), 1),
        unseen=f"{listed}: {plural(n_unseen, 'row')}" if unseen else "",
        noise=_noise_of_shares(then),
    )


def _shares_then(system: FuzzySystem, columns: Columns, d: int) -> dict[str, float]:
    """Shares of the values of a nominal feature in the fit, rare ones together."""
    values = columns.named(d)
    shares = [_share(system, place) for place in _places(columns, d)]
    if len(values) == 2:  # the second alone has a column
        shares = [1 - shares[0], shares[0]]
    return dict(zip(values, shares, strict=True))


def _noise_of_shares(shares: dict[str, float]) -> float:
    """What chance moves of rows with words, over the root of 1 / n + 1 / m."""
    p = np.nan_to_num(np.array(list(shares.values()))).clip(0, 1)
    return float(np.sqrt(p * (1 - p) / (2 * np.pi)).sum())


def _shares_in_words(shares: dict[str, float]) -> str:
    """The most frequent values with their shares."""
    known = {value: share for value, share in shares.items() if not np.isnan(share)}
    frequent = sorted(known, key=lambda value: -known[value])[:MAX_SHOWN_VALUES]
    return ", ".join(f"{name(value)} {percent(known[value])}" for value in frequent)
