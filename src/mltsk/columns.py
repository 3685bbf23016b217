"""Columns as a user has them, as columns of numbers: nominal values one by one, what is missing as NaN.

A number, an ordered category (by its place in the order) and a feature of two values take one column; any other nominal
feature takes one per value that is there often enough, 0 or 1, and one for the rare values together. Behind them come
the columns "not measured", 0 or 1, of the features that lack a value often enough, and last a column of 0 and 1 per
rule that the user gave. A value that was never seen is NaN, without being "not measured": it counts as nothing.
"""

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .core.arrays import Array, cast, namespace, put
from .exceptions import InputError

RARE_ROWS, RARE_SHARE = (
    5,
    0.01,
)  # a value, or a gap, has a column of its own from so many rows on: the larger of both
OTHER, MISSING = "other", "not measured"
SHARE_OF_MISSING = 1e-12  # what such a column counts in distances: nothing, up to the rounding of its way back


class Part(NamedTuple):
    """One column of numbers: its ``feature``, and the ``value`` that it stands for, None for the feature itself.

    The column of a given rule has the feature -1.
    """

    feature: int
    value: str | None


Asked = tuple[int, float | None, float | None, tuple[str, ...]]


@dataclass(frozen=True)
class Columns:
    """The features of a table: ``names``, ``kinds`` ("number", "ordinal" or "nominal"), ``values`` and ``gaps`` (D,).

    ``values`` are the levels of an ordinal feature in their order, or the values of a nominal one, rare ones left out;
    ``rare`` are those. ``gaps`` says which features have a column "not measured". ``rules`` are those that the user
    gave: of each its conditions (feature, low, high, words), all of which must hold; ends count, None is no end, levels
    are told by their places, and of a nominal feature the value must be one of the words.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    rare: tuple[tuple[str, ...], ...]
    gaps: tuple[bool, ...]
    rules: tuple[tuple[Asked, ...], ...] = ()

    def __post_init__(self) -> None:
        for name, parts in list(
            vars(self).items()
        ):  # lists, where they come from a file
            object.__setattr__(self, name, _tuples(parts))

    @classmethod
    def of_numbers(cls, names: Sequence[str], missing: Any, n: int) -> "Columns":
        """Of numbers throughout, of which so many of n cells per feature are ``missing``."""
        D, least = len(names), max(RARE_ROWS, RARE_SHARE * n)
        gaps = tuple(bool(least <= count <= n - least) for count in missing)
        return cls(tuple(names), ("number",) * D, ((),) * D, ((),) * D, gaps)

    @property
    def parts(self) -> list[Part]:
        """The columns of numbers, in order."""
        found = [
            Part(d, value) for d in range(len(self.names)) for value in self._shown(d)
        ]
        found += [Part(d, MISSING) for d, gap in enumerate(self.gaps) if gap]
        return found + [Part(-1, f"your rule {r + 1}") for r in range(len(self.rules))]

    def _shown(self, d: int) -> tuple[str | None, ...]:
        """The values of a feature that have a column: one of two is enough."""
        if self.kinds[d] != "nominal":
            return (None,)
        named = self.named(d)
        return named[1:] if len(named) == 2 else named

    def named(self, d: int) -> tuple[str, ...]:
        """The values of a feature by name, rare ones together; those of numbers have none."""
        together = f"{OTHER} values" if OTHER in self.values[d] else OTHER
        return self.values[d] + ((together,) if self.rare[d] else ())

    @property
    def part_names(self) -> tuple[str, ...]:
        """What to call the columns of numbers: "age", "smoker = daily", "albumin not measured"."""
        names = []
        for d, value in self.parts:
            middle = " " if value == MISSING else " = "
            whole = (
                self.names[d] if value is None else f"{self.names[d]}{middle}{value}"
            )
            names.append(whole if d >= 0 else str(value))
        return tuple(names)

    @property
    def shares(self) -> Array:
        """How much each column of numbers counts in distances: those of a feature as much as a number does."""
        width = [len(self._shown(d)) for d in range(len(self.names))]
        apart = [d < 0 or value == MISSING for d, value in self.parts]
        return np.where(
            apart, SHARE_OF_MISSING, [1.0 / max(1, width[d]) for d, _ in self.parts]
        )

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """Which columns of numbers stand for a value, or for none, 0 or 1."""
        return np.array([value is not None for _, value in self.parts])

    @property
    def monotone(self) -> NDArray[np.bool_]:
        """Which columns of numbers have an order and no distances."""
        return np.array([d >= 0 and self.kinds[d] == "ordinal" for d, _ in self.parts])

    @property
    def tests(self) -> list[list[tuple[int, float, float]]]:
        """Of each given rule, the (column, least, largest) numbers between which it holds."""
        starts = np.cumsum(
            [0, *(len(self._shown(d)) for d in range(len(self.names)))]
        ).tolist()
        found: list[list[tuple[int, float, float]]] = [[] for _ in self.rules]
        for tests, (d, low, high, words) in (
            (found[r], asked) for r, rule in enumerate(self.rules) for asked in rule
        ):
            named, at = self.named(d), starts[d]
            if self.kinds[d] != "nominal":
                tests.append(
                    (
                        at,
                        -np.inf if low is None else low,
                        np.inf if high is None else high,
                    )
                )
            elif len(named) == 2:  # one column, 1 for the second value
                tests.append(
                    (at, 0.5, np.inf) if named[1] in words else (at, -np.inf, 0.5)
                )
            else:
                tests += [
                    (at + i, -np.inf, 0.5)
                    for i, value in enumerate(named)
                    if value not in words
                ]
        return found

    @property
    def conditions(self) -> list[int]:
        """How many conditions each column of numbers stands for: those of a given rule, none for others."""
        rules = [len(rule) for rule in self.rules]
        return [0] * (len(self.parts) - len(rules)) + rules

    def held(self, x: Array) -> Array:
        """Which given rules hold, (N, R) of 0 and 1, of columns of numbers: none that asks for what is missing."""
        xp, found = namespace(x), []
        for tests in self.tests:
            at, low, high = (np.array(part) for part in zip(*tests, strict=True))
            own = x[:, at.tolist()]
            found.append(((own >= put(low, x)) & (own <= put(high, x))).all(axis=1))
        return cast(xp.stack(found, axis=1), x.dtype)

    def words(self, X: Any) -> NDArray[np.object_]:
        """Values as words, (N, D), None for numbers and where there is none."""
        found = np.full(X.shape, None, dtype=object)
        for d, column in enumerate(_columns_of(X)):
            if self.kinds[d] != "number":
                found[:, d] = column.words()
        return found

    def expand(self, X: Any) -> Array:
        """The columns of numbers (N, D') of a frame or array with these columns in this order."""
        xp = namespace(X)
        if hasattr(X, "columns") or "nominal" in self.kinds:
            found = [
                self._expanded(d, column) for d, column in enumerate(_columns_of(X))
            ]
            missing = [
                gap[:, None]
                for (_, gap), own in zip(found, self.gaps, strict=True)
                if own
            ]
            X = np.hstack([values for values, _ in found] + missing).astype(np.float64)
        elif gaps := [d for d, gap in enumerate(self.gaps) if gap]:
            X = xp.concatenate([X, cast(xp.isnan(X[:, gaps]), X.dtype)], axis=1)
        return xp.concatenate([X, self.held(X)], axis=1) if self.rules else X

    def _expanded(self, d: int, column: "Column") -> tuple[Array, Array]:
        """(columns of numbers of a feature, 1 where it is missing and NaN where its value was never seen)."""
        if self.kinds[d] == "number":
            if column.numbers is None and column.example is not None:
                held = f"Column {column.name!r} holds {column.example!r}"
                raise InputError(f"{held}; it held numbers when the model was fitted.")
            numbers = (
                np.full(len(column.words()), np.nan)
                if column.numbers is None
                else column.numbers
            )
            return numbers[:, None], np.isnan(numbers)
        words, codes = (
            column.words(),
            {value: float(i) for i, value in enumerate(self.values[d])},
        )
        codes |= dict.fromkeys(self.rare[d], float(len(self.values[d])))
        code = np.array(
            [codes.get(word, np.nan) if word is not None else np.nan for word in words]
        )
        missing = np.array([word is None for word in words])
        gap = np.where(np.isnan(code) & ~missing, np.nan, missing)
        if self.kinds[d] == "ordinal":
            return code[:, None], gap
        count = len(self.values[d]) + bool(self.rare[d])
        shown = np.where(
            np.isnan(code)[:, None], np.nan, code[:, None] == np.arange(count)
        )
        return shown[:, 1:] if count == 2 else shown, gap


def _tuples(parts: Any) -> Any:
    return tuple(map(_tuples, parts)) if isinstance(parts, list | tuple) else parts


@dataclass(frozen=True)
class Column:
    """One column as it came: ``numbers`` with NaN, or ``cells`` with None; ``levels`` are those of an ordered one."""

    name: str
    numbers: Array | None
    cells: Sequence[Any] | None = None
    levels: tuple[str, ...] | None = None
    is_nominal: bool = False

    @property
    def example(self) -> Any:
        """A value that is there."""
        return next((key for key in self.words() if key is not None), None)

    def words(self) -> list[str | None]:
        """Values as words, None where there is none."""
        if self.cells is not None:
            return [None if _is_missing(cell) else word(cell) for cell in self.cells]
        assert self.numbers is not None
        return [None if x != x else word(x) for x in self.numbers.tolist()]


def read_columns(
    X: Any, names: Sequence[str], nominal: NDArray[np.bool_] | None, counted: Any
) -> Columns:
    """What the columns of a frame or array are, on the rows that are ``counted``.

    ``nominal`` says which are nominal; None takes that from their types.
    """
    n = int(counted.sum())
    least = max(RARE_ROWS, RARE_SHARE * n)
    found = []
    for d, column in enumerate(_columns_of(X)):
        if column.numbers is None:
            missing = np.array([word is None for word in column.words()])
        else:
            missing = np.isnan(column.numbers)
        often: tuple[tuple[str, ...], tuple[str, ...]] = (), ()
        if column.is_nominal if nominal is None else nominal[d]:
            kind, often = "nominal", _often(column, counted, least)
        elif column.levels is not None:
            kind, often = "ordinal", (column.levels, ())
        elif column.numbers is not None:
            kind = "number"
        else:
            words = f"Column {column.name!r} holds words ({column.example!r})"
            raise InputError(f"{words}: name it in categorical_features.")
        found.append((kind, *often, least <= int(missing[counted].sum()) <= n - least))
    return Columns(tuple(names), *zip(*found, strict=True))


def _often(
    column: Column, counted: Any, least: float
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(values that are there often enough, the most frequent first; rare ones)."""
    count = Counter(
        word
        for word, here in zip(column.words(), counted, strict=True)
        if here and word is not None
    )
    order = sorted(count, key=lambda word: (-count[word], word))
    often = tuple(word for word in order if count[word] >= least)
    if not often and len(order) > 1:
        warnings.warn(
            f"Column {column.name!r} holds {len(order)} different words, none of them in {least:.0f} rows or more: the "
            "model makes nothing of it.",
            UserWarning,
            stacklevel=6,
        )
    return often, tuple(order[len(often) :])


def word(cell: Any) -> str:
    """A value as a word: True is "yes", 2.0 is "2"."""
    if isinstance(cell, bool | np.bool_):
        return "yes" if cell else "no"
    if isinstance(cell, float | np.floating):
        return f"{cell:.15g}"
    return str(cell)


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell == MISSING
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell != cell


def has_columns(X: Any) -> bool:
    """Whether X is a data frame of pandas or polars."""
    return (
        hasattr(X, "shape")
        and hasattr(X, "columns")
        and (is_polars(X) or type(X).__module__.startswith("pandas"))
    )


def is_polars(X: Any) -> bool:
    """Whether X is something of polars."""
    return type(X).__module__.partition(".")[0] == "polars"


def _columns_of(X: Any) -> list[Column]:
    if has_columns(X):
        of = _polars_column if is_polars(X) else _pandas_column
        return [
            of(str(name), X[name] if X.columns[d] == name else X.iloc[:, d])
            for d, name in enumerate(X.columns)
        ]
    if X.dtype == object:
        return [_cells(f"x{d}", X[:, d].tolist()) for d in range(X.shape[1])]
    if X.dtype.kind in "US":
        return [
            Column(f"x{d}", None, X[:, d].tolist(), is_nominal=True)
            for d in range(X.shape[1])
        ]
    return [Column(f"x{d}", X[:, d].astype(np.float64)) for d in range(X.shape[1])]


def _pandas_column(name: str, series: Any) -> Column:
    dtype, kind = series.dtype, getattr(series.dtype, "kind", "O")
    if dtype.name == "category":
        levels = tuple(map(word, dtype.categories)) if dtype.ordered else None
        return Column(
            name,
            None,
            series.astype(object).tolist(),
            levels,
            is_nominal=levels is None,
        )
    if kind in "mM" or dtype.name.startswith("period"):
        _refuse_date(name)
    if kind == "c":
        raise InputError(
            f"Column {name!r} holds complex numbers: give their parts as columns of their own."
        )
    if kind in "iuf":
        return Column(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    return _cells(name, series.astype(object).tolist())


def _polars_column(name: str, series: Any) -> Column:
    kind = (
        type(series.dtype).__name__
        if not isinstance(series.dtype, type)
        else series.dtype.__name__
    )
    if kind in ("Date", "Datetime", "Duration", "Time"):
        _refuse_date(name)
    if kind == "Enum":  # polars' categories with an order
        return Column(
            name,
            None,
            series.to_list(),
            tuple(map(str, series.dtype.categories.to_list())),
        )
    if series.dtype.is_numeric():
        return Column(name, series.cast(float).to_numpy())
    return _cells(name, series.to_list())


def _cells(name: str, cells: Sequence[Any]) -> Column:
    """A column of objects: numbers if nothing else is there."""
    import datetime

    there = [cell for cell in cells if not _is_missing(cell)]
    if any(
        isinstance(cell, datetime.date | datetime.time | np.datetime64)
        for cell in there
    ):
        _refuse_date(name)
    if any(
        isinstance(cell, list | tuple | set | dict | np.ndarray | complex)
        for cell in there
    ):
        raise InputError(
            f"Column {name!r} holds a {type(there[0]).__name__} per cell: numbers and words can be used."
        )
    if there and all(isinstance(x, Number) and not isinstance(x, bool) for x in there):
        return Column(
            name,
            np.array(
                [np.nan if _is_missing(cell) else cell for cell in cells],
                dtype=np.float64,
            ),
        )
    return Column(name, None, cells, is_nominal=True)


def _refuse_date(name: str) -> None:
    hint = "turn it into a number, such as days since some event, or leave it out"
    raise InputError(f"Column {name!r} holds dates or times: {hint}.")
