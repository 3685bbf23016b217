"""The columns of a user's table as columns of numbers.

A number, an ordered category (by its place in the order) and a feature of two values
take one column. Any other nominal feature takes a column of 0 and 1 per value that is
frequent enough, and one for its rare values together. Then come the columns "not
measured", 0 or 1, of the features that lack a value often enough, and last a column of
0 and 1 per rule that the user gave. A missing cell is NaN. So is a value that was never
seen, without being "not measured": it counts as nothing. A word that differs from one
known word in capitals alone is that word, and a warning says so.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .core.arrays import Array, cast, namespace, put
from .exceptions import InputError, calls_to_user, check_different, check_texts
from .frames import (
    MISSING,
    CodedWords,
    Frame,
    InputColumn,
    columns_of,
    is_absent,
    word,
)
from .text import known_capitals

# A value, or a gap, has a column of its own if this many rows have it: the larger of
# both figures.
RARE_ROWS = 5
RARE_SHARE = 0.01
OTHER = "other"
YES = "yes"
NO = "no"
# What the column of a gap counts in distances: nothing, up to the rounding of its way
# back.
SHARE_OF_MISSING = 1e-12

# What a given rule asks of a feature: (feature, low, high, words), see `Columns.rules`.
Asked = tuple[int, float | None, float | None, tuple[str, ...]]


def least_rows(n_rows: int) -> float:
    """How many of ``n_rows`` must have a value for it to get a column of its own."""
    return max(RARE_ROWS, RARE_SHARE * n_rows)


class NumberColumn(NamedTuple):
    """One column of numbers: the feature that it is of, and the value it stands for.

    ``value`` is None for the feature itself. The column of a given rule has the feature
    -1.
    """

    feature: int
    value: str | None


class ColumnTest(NamedTuple):
    """A test on a column of numbers: ``low`` <= number <= ``high``, NaN fails."""

    column: int
    low: float = -np.inf
    high: float = np.inf


@dataclass(frozen=True)
class Columns:
    """The D features of a table, as plain values that can be written to a file.

    Attributes
    ----------
    names, kinds : D texts
        Kinds are "number", "ordinal" and "nominal".
    values : D tuples of texts
        The levels of an ordinal feature in their order, or the frequent values of a
        nominal one.
    rare : D tuples of texts
        The rare values of a nominal feature.
    gaps : D booleans
        Which features have a column "not measured".
    rules : tuple of tuples of conditions
        The rules that the user gave. All conditions (feature, low, high, words) of a
        rule must hold: the number lies between its ends, which are included, or None
        for no end; levels count by their places; the value of a nominal feature is one
        of the words.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    rare: tuple[tuple[str, ...], ...]
    gaps: tuple[bool, ...]
    rules: tuple[tuple[Asked, ...], ...] = ()

    def __post_init__(self) -> None:
        for name, value in list(vars(self).items()):  # lists, if they are from a file
            object.__setattr__(self, name, _as_tuples(value))

    @classmethod
    def of_numbers(
        cls, names: Sequence[str], missing: Iterable[int], n: int
    ) -> "Columns":
        """Numbers throughout, of ``n`` rows with ``missing`` cells per feature."""
        nothing: tuple[tuple[str, ...], ...] = ((),) * len(names)
        return cls(
            names=tuple(names),
            kinds=("number",) * len(names),
            values=nothing,
            rare=nothing,
            gaps=tuple(_has_gap_column(n_missing, n) for n_missing in missing),
        )

    @property
    def parts(self) -> list[NumberColumn]:
        """The columns of numbers, in order."""
        columns = []
        for d in range(len(self.names)):
            columns += [NumberColumn(d, value) for value in self._shown(d)]
        columns += [NumberColumn(d, MISSING) for d in self._features_with_gaps()]
        for r in range(len(self.rules)):
            columns.append(NumberColumn(-1, f"your rule {r + 1}"))
        return columns

    def check_words(self) -> None:
        """Refuse levels that are the same as text, and text that no file could hold."""
        for d, name in enumerate(self.names):
            check_different(self.values[d], "levels", f" in column {name!r:.80}")
            words = self.values[d] + self.rare[d]
            check_texts(words, f"A value of column {name!r:.80}")

    def _features_with_gaps(self) -> list[int]:
        return [d for d, has_gap in enumerate(self.gaps) if has_gap]

    def _shown(self, d: int) -> tuple[str | None, ...]:
        """The values of a feature that have a column: of two values, the second."""
        if self.kinds[d] != "nominal":
            return (None,)
        named = self.named(d)
        return named[1:] if len(named) == 2 else named

    def named(self, d: int) -> tuple[str, ...]:
        """The values of a feature by name, rare ones together; none for numbers."""
        if not self.rare[d]:
            return self.values[d]
        together = f"{OTHER} values" if OTHER in self.values[d] else OTHER
        return (*self.values[d], together)

    def direction_of(self, d: int) -> int:
        """1 where larger numbers of a feature are more of it, -1 where they are less.

        0 where its values have no order. Yes is more than no.
        """
        if self.kinds[d] != "nominal":
            return 1
        is_answer = {*self.values[d], *self.rare[d]} <= {YES, NO}
        shown = self.rare[d] or self.values[d][-1:]
        if not is_answer or len(shown) != 1:
            return 0
        return 1 if shown[0] == YES else -1

    @property
    def part_names(self) -> tuple[str, ...]:
        """Names of the columns of numbers.

        Such as "age", "smoker = daily", "albumin not measured".
        """
        return tuple(self._name_of(column) for column in self.parts)

    def _name_of(self, column: NumberColumn) -> str:
        if column.feature < 0:
            return str(column.value)
        name = self.names[column.feature]
        if column.value is None:
            return name
        middle = " " if column.value == MISSING else " = "
        return f"{name}{middle}{column.value}"

    @property
    def shares(self) -> Array:
        """How much each column of numbers counts in distances, (D',).

        The columns of a feature together count as much as a number does.
        """
        shares = []
        for d, value in self.parts:
            counts = d >= 0 and value != MISSING
            shares.append(1.0 / len(self._shown(d)) if counts else SHARE_OF_MISSING)
        return np.array(shares)

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """Which columns of numbers hold 0 and 1: all that stand for a value or rule."""
        return np.array([value is not None for _, value in self.parts])

    @property
    def is_gap(self) -> NDArray[np.bool_]:
        """Which columns of numbers say "not measured"."""
        return np.array([d >= 0 and value == MISSING for d, value in self.parts])

    @property
    def monotone(self) -> NDArray[np.bool_]:
        """Which columns of numbers have an order and no distances."""
        return np.array([d >= 0 and self.kinds[d] == "ordinal" for d, _ in self.parts])

    @property
    def tests(self) -> list[list[ColumnTest]]:
        """The tests of each given rule: it holds where all of them do."""
        n_columns = [len(self._shown(d)) for d in range(len(self.names))]
        first_columns = np.cumsum([0, *n_columns]).tolist()
        tests_of_rules = []
        for rule in self.rules:
            tests: list[ColumnTest] = []
            for asked in rule:
                tests += self._tests_of(asked, first_columns[asked[0]])
            tests_of_rules.append(tests)
        return tests_of_rules

    def _tests_of(self, asked: Asked, first: int) -> list[ColumnTest]:
        """The tests of a condition, given the first column of its feature."""
        d, low, high, words = asked
        if self.kinds[d] != "nominal":
            return [
                ColumnTest(
                    first,
                    low=-np.inf if low is None else low,
                    high=np.inf if high is None else high,
                )
            ]
        named = self.named(d)
        if len(named) == 2:  # one column, 1 for the second value
            if named[1] in words:
                return [ColumnTest(first, low=0.5)]
            return [ColumnTest(first, high=0.5)]
        others = [i for i, value in enumerate(named) if value not in words]
        return [ColumnTest(first + i, high=0.5) for i in others]

    @property
    def conditions(self) -> list[int]:
        """How many conditions each column of numbers stands for: 0 but for rules."""
        rules = [len(rule) for rule in self.rules]
        return [0] * (len(self.parts) - len(rules)) + rules

    def held(self, x: Array) -> Array:
        """Which given rules hold, (N, R) of 0 and 1, for columns of numbers (N, D').

        A rule that asks for a missing value does not hold.
        """
        held = []
        for tests in self.tests:
            columns, low, high = zip(*tests, strict=True)
            own = x[:, list(columns)]
            is_above = own >= put(np.array(low), x)
            is_below = own <= put(np.array(high), x)
            held.append((is_above & is_below).all(axis=1))
        return cast(namespace(x).stack(held, axis=1), x.dtype)

    def words(self, X: Frame) -> NDArray[np.object_]:
        """Values as words, (N, D), None for numbers and where there is none."""
        words = np.full(X.shape, None, dtype=object)
        for d, column in enumerate(columns_of(X)):
            if self.kinds[d] != "number":
                known = in_known_capitals(column, self.known_words(d))
                words[:, d] = known.by_row()
        return words

    def known_words(self, d: int) -> tuple[str, ...]:
        """All values of a feature of words that were seen in the fit."""
        return self.values[d] + self.rare[d]

    def expand(self, X: Frame) -> Array:
        """The columns of numbers (N, D') of a frame or array (N, D)."""
        xp = namespace(X)
        if hasattr(X, "columns") or "nominal" in self.kinds:
            X = self._expand_columns(X)
        elif any(self.gaps):
            is_missing = xp.isnan(X[:, self._features_with_gaps()])
            X = xp.concatenate([X, cast(is_missing, X.dtype)], axis=1)
        if not self.rules:
            return X
        return xp.concatenate([X, self.held(X)], axis=1)

    def _expand_columns(self, X: Frame) -> Array:
        """The columns of numbers of all features, without those of rules."""
        blocks = []
        gaps = []
        for d, column in enumerate(columns_of(X)):
            numbers, is_missing = self._expand_column(d, column)
            blocks.append(numbers)
            if self.gaps[d]:
                gaps.append(is_missing[:, None])
        return np.hstack(blocks + gaps).astype(np.float64)

    def _expand_column(self, d: int, column: "InputColumn") -> tuple[Array, Array]:
        """The columns of numbers of a feature, and 1 where it is missing.

        The latter is NaN where the value was never seen.
        """
        if self.kinds[d] == "number":
            numbers = column.as_numbers()
            return numbers[:, None], np.isnan(numbers)
        codes: dict[str | None, float] = dict.fromkeys(
            self.rare[d], float(len(self.values[d]))
        )
        codes |= {value: float(i) for i, value in enumerate(self.values[d])}
        _refuse_numbers(column, list(codes))
        _refuse_written_booleans(column, set(codes))
        _refuse_booleans(column, list(codes))
        _refuse_other_numerals(column, set(codes))
        words = in_known_capitals(column, self.known_words(d), warn=True)
        code = words.each([codes.get(text, np.nan) for text in words.different], float)
        is_missing = column.is_missing()
        gap = np.where(np.isnan(code) & ~is_missing, np.nan, is_missing)
        if self.kinds[d] == "ordinal":
            return code[:, None], gap
        n_values = len(self.named(d))
        is_value = code[:, None] == np.arange(n_values)
        shown = np.where(np.isnan(code)[:, None], np.nan, is_value)
        return shown[:, 1:] if n_values == 2 else shown, gap


def in_known_capitals(
    column: InputColumn, known: Sequence[str], *, warn: bool = False
) -> CodedWords:
    """The words of a column, those that are known with other capitals as known."""
    words = column.words
    spelling = known_capitals((text for text in words.different if text), known)
    if not spelling:
        return words
    if warn:
        written, usual = min(spelling.items())
        warnings.warn(
            f"Column {column.name!r} holds {written!r:.80}, which is read as "
            f"{usual!r:.80}: the model knows the word in this spelling only.",
            UserWarning,
            stacklevel=calls_to_user(),
        )
    return words.spelled(spelling)


def _refuse_numbers(column: "InputColumn", words: Sequence[str | None]) -> None:
    """Refuse numbers where a model knows words that no number is written as.

    Such a column held text in the fit, "1.0" say, which is not the number 1 to a model:
    all of its values would count as never seen.
    """
    if column.numbers is None or all(map(_is_written_number, words)):
        return
    unseen = set(column.words.different) - {None, *words}
    if unseen:
        raise InputError(
            f"Column {column.name!r} holds numbers ({min(map(str, unseen))}); it held "
            f"words ({words[-1]!r}) when the model was fitted."
        )


def _refuse_written_booleans(column: "InputColumn", words: set[str | None]) -> None:
    """Refuse "True" and "False" where a model knows yes and no, as booleans are read.

    To the model they would be values that it has never seen.
    """
    if column.numbers is not None or not words <= {"yes", "no", None}:
        return
    written = {"true", "false"}
    for text in column.words.different:
        if text is not None and text.lower() in written:
            raise InputError(
                f"Column {column.name!r} holds the text {text!r}; it held True and "
                "False, or yes and no, when the model was fitted: turn it into these."
            )


def _refuse_booleans(column: "InputColumn", words: Sequence[str | None]) -> None:
    """Refuse True and False where a model knows words, but neither yes nor no."""
    if not words or {"yes", "no"}.intersection(words) or column.numbers is not None:
        return
    cells = (cell for cell in column.cells if not is_absent(cell))
    if isinstance(next(cells, None), bool | np.bool_):
        raise InputError(
            f"Column {column.name!r} holds True and False; it held words "
            f"({words[-1]!r}) when the model was fitted."
        )


def _refuse_other_numerals(column: "InputColumn", words: set[str | None]) -> None:
    """Refuse the text "3.0" where a model knows "3", and counts other words as new."""
    if column.numbers is not None:
        return
    for text in column.words.different:  # the first in the rows is named
        if text is None or text in words:
            continue
        try:
            usual = word(float(text))
        except ValueError:
            continue
        if usual in words:
            raise InputError(
                f"Column {column.name!r} holds the text {text!r}, which was {usual!r} "
                "when the model was fitted: write it as it was."
            )


def _is_written_number(text: str | None) -> bool:
    """Whether a word is a number as `mltsk.frames.word` writes it."""
    try:
        return text is None or word(float(text)) == text
    except ValueError:
        return False


def _as_tuples(value: Any) -> Any:
    """Lists, and lists in them, as tuples; anything else as it is."""
    if isinstance(value, list | tuple):
        return tuple(_as_tuples(item) for item in value)
    return value


def _has_gap_column(n_missing: int, n_rows: int) -> bool:
    """Whether enough rows lack a value, and enough have one."""
    least = least_rows(n_rows)
    return bool(least <= n_missing <= n_rows - least)


def read_columns(
    X: Frame,
    names: Sequence[str],
    nominal: NDArray[np.bool_] | None,
    counted: NDArray[np.bool_],
) -> Columns:
    """What the D columns of a frame or array are, from the rows that are ``counted``.

    ``nominal`` (D,) says which are nominal; None takes that from their types.
    """
    n_rows = int(counted.sum())
    kinds, values, rare, gaps = [], [], [], []
    for d, column in enumerate(columns_of(X)):
        is_nominal = column.is_nominal if nominal is None else bool(nominal[d])
        kinds.append(_kind_of(column, is_nominal))
        frequent: tuple[str, ...] = column.levels or ()
        infrequent: tuple[str, ...] = ()
        if is_nominal:
            frequent, infrequent = _by_frequency(column, counted, least_rows(n_rows))
        values.append(frequent)
        rare.append(infrequent)
        gaps.append(_has_gap_column(int(column.is_missing()[counted].sum()), n_rows))
    return Columns(
        names=tuple(names),
        kinds=tuple(kinds),
        values=tuple(values),
        rare=tuple(rare),
        gaps=tuple(gaps),
    )


def refuse_words(X: Frame) -> None:
    """Refuse a frame that holds words, for a model that has seen numbers alone."""
    for column in columns_of(X):
        if any(isinstance(cell, str) for cell in column.cells):
            column.as_numbers()


def _kind_of(column: InputColumn, is_nominal: bool) -> str:
    """The kind of a column, if it can be used."""
    if is_nominal:
        return "nominal"
    if column.levels is not None:
        return "ordinal"
    if column.numbers is not None:
        return "number"
    raise InputError(
        f"Column {column.name!r} holds words ({column.example!r}): name it in "
        "categorical_features."
    )


def _by_frequency(
    column: InputColumn, counted: NDArray[np.bool_], least: float
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(values in ``least`` rows or more, the most frequent first; rare values)."""
    words = column.words
    n_rows = np.bincount(words.codes[counted], minlength=len(words.different)).tolist()
    counts = {
        text: count
        for text, count in zip(words.different, n_rows, strict=True)
        if count and text is not None
    }
    order = sorted(counts, key=lambda text: (-counts[text], text))
    frequent = tuple(text for text in order if counts[text] >= least)
    if not frequent and len(order) > 1:
        warnings.warn(
            f"Column {column.name!r} holds {len(order)} different words, none of them "
            f"in {least:.0f} rows or more: the model learns nothing from it.",
            UserWarning,
            stacklevel=6,
        )
    return frequent, tuple(order[len(frequent) :])
