"""The inputs of an ONNX graph: numbers from the columns of a caller's table.

Symbols: N samples, D columns of numbers.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..columns import Columns, ColumnTest
from ..core.used import UsedFeatures
from ..system import FuzzySystem
from .graph import Graph
from .graph_scores import unit_rows

# Where the operator that looks words up is from.
WORDS_DOMAIN = "ai.onnx.ml"
# Rounding of numbers that are values of a column, relative to them.
ROUNDING_OF_15_DIGITS = 6e-15
ROUNDING_OF_SINGLE_PRECISION = 6e-8


def samples(g: Graph, system: FuzzySystem, kind: int) -> str:
    """The columns of numbers (N, D) that a system is about, from those of the caller.

    They are as `Columns.expand` has them.
    """
    columns = system.columns
    if system.used is not None:
        return _used_columns(g, system.used, kind)
    if columns is None:
        return g.input("X", kind, len(system.feature_names))
    if set(columns.kinds) == {"number"}:
        blocks = _number_columns(g, columns, kind)
    else:
        blocks = _mixed_columns(g, columns, kind)
    x = g.add("Concat", *blocks, axis=1) if len(blocks) > 1 else blocks[0]
    rules = [_given_rule(g, x, tests) for tests in columns.tests]
    return g.add("Concat", x, *rules, axis=1) if rules else x


def _used_columns(g: Graph, used: UsedFeatures, kind: int) -> str:
    """Features that have a column, and the length of a sample in all others."""
    x = g.input("X", kind, used.n_features)
    others = np.delete(np.arange(used.n_features), used.positions)
    own = g.add("Gather", x, g.integers(used.positions), axis=1)
    rest = g.add("Gather", x, g.integers(others), axis=1)
    # a sum of squares may be larger than all numbers where the length is not
    shares = g.add("Mul", rest, unit_rows(g, rest))
    length = g.add("ReduceSum", shares, g.integers([1]))
    return g.add("Concat", own, length, axis=1)


def _number_columns(g: Graph, columns: Columns, kind: int) -> list[str]:
    """A table of numbers: its columns, then which of them are missing."""
    x = g.input("X", kind, len(columns.names))
    if not any(columns.gaps):
        return [x]
    with_gaps = g.integers(np.flatnonzero(columns.gaps))
    missing = g.add("IsNaN", g.add("Gather", x, with_gaps, axis=1))
    return [x, g.number(missing)]


def _mixed_columns(g: Graph, columns: Columns, kind: int) -> list[str]:
    """A table with words: the numbers of every column, then which are missing."""
    shown = []
    missing = []
    for d, has_gap in enumerate(columns.gaps):
        numbers, is_missing = _column(g, columns, d, kind)
        shown.append(numbers)
        if has_gap:
            missing.append(is_missing)
    return shown + missing


def _given_rule(g: Graph, x: str, tests: Sequence[ColumnTest]) -> str:
    """Whether a rule of the user holds: 0 or 1, (N, 1).

    All numbers that it asks for must lie between their ends; a missing one does not.
    """
    asked = g.integers([test.column for test in tests])
    numbers = g.add("Gather", x, asked, axis=1)
    is_above = g.add("GreaterOrEqual", numbers, [test.low for test in tests])
    is_below = g.add("LessOrEqual", numbers, [test.high for test in tests])
    is_within = g.add("And", is_above, is_below)
    return g.add("ReduceMin", g.number(is_within), axes=[1])


def _column(g: Graph, columns: Columns, d: int, kind: int) -> tuple[str, str]:
    """The columns of numbers of a feature from an input of its own.

    Also whether the feature is missing, (N, 1).
    """
    values = columns.values[d] + columns.rare[d]
    if columns.kinds[d] == "number":
        x = g.input(columns.names[d], kind, 1)
        return x, g.number(g.add("IsNaN", x))
    if _are_numbers(values):
        is_value, missing = _coded_column(g, columns.names[d], values, kind)
    else:
        is_value, missing = _word_column(g, columns.names[d], values)
    is_value = g.number(is_value)
    shown = g.add("MatMul", is_value, _numbers_of_values(columns, d))
    n_values = g.add("ReduceSum", is_value, g.integers([1]))
    is_known = g.add("Greater", n_values, 0.0)
    # a word that was never seen is neither measured nor missing
    is_known_or_missing = g.add("Or", is_known, missing)
    numbers = g.add("Where", is_known, shown, np.nan)
    gap = g.add("Where", is_known_or_missing, g.number(missing), np.nan)
    return numbers, gap


def _coded_column(
    g: Graph, name: str, values: tuple[str, ...], kind: int
) -> tuple[str, str]:
    """Which value a number is, (N, values), and whether it is missing, (N, 1)."""
    x = g.input(name, kind, 1)
    missing = g.add("IsNaN", x)
    codes = np.array(values, dtype=np.float64)
    rounding = ROUNDING_OF_SINGLE_PRECISION
    if kind == g.onnx.TensorProto.DOUBLE:
        rounding = ROUNDING_OF_15_DIGITS
    distance = g.add("Abs", g.add("Sub", x, codes))
    return g.add("LessOrEqual", distance, rounding * np.abs(codes)), missing


def _word_column(g: Graph, name: str, values: tuple[str, ...]) -> tuple[str, str]:
    """Which value a word is, (N, values), and whether it is missing, (N, 1)."""
    words = values if "" in values else (*values, "")
    place = g.add(
        "LabelEncoder",
        g.input(name, g.onnx.TensorProto.STRING, 1),
        domain=WORDS_DOMAIN,
        keys_strings=words,
        values_int64s=range(len(words)),
        default_int64=-1,
    )
    is_value = g.add("Equal", place, g.integers(np.arange(len(values))))
    missing = g.add("Equal", place, g.integers(len(values)))
    return is_value, missing


def _numbers_of_values(columns: Columns, d: int) -> NDArray[np.generic]:
    """The columns of numbers that each value of words has, (values, columns)."""
    n_frequent = len(columns.values[d])
    n_rare = len(columns.rare[d])
    if columns.kinds[d] == "ordinal":  # the place of each value in its order
        return np.arange(n_frequent)[:, None]
    # a column per frequent value, and one for the rare ones
    own_column = np.minimum(np.arange(n_frequent + n_rare), n_frequent)
    n_columns = n_frequent + (n_rare > 0)
    numbers = own_column[:, None] == np.arange(n_columns)
    return numbers[:, 1:] if n_columns == 2 else numbers


def _are_numbers(values: tuple[str, ...]) -> bool:
    """Whether all words are what `Columns` makes of numbers."""
    return bool(values) and all(_is_number(word) for word in values)


def _is_number(word: str) -> bool:
    """Whether a word is a finite number as `Columns` writes it."""
    try:
        number = float(word)
    except ValueError:
        return False
    return f"{number:.15g}" == word and bool(np.isfinite(number))
