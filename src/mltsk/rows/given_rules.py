"""Rules that a user writes, checked against the columns of X: data, never code.

A rule maps features to what it asks of them: of a number (from, to), either end None,
both ends included, or one number; of levels in an order the same in words; of a nominal
feature a word, or a list of words any of which will do. A rule holds where all of that
holds, and never where something that it asks for is missing.
"""

import reprlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from numbers import Real
from typing import Any

from scipy import sparse

from ..columns import Asked, Columns
from ..core.terms import PERCENTILE_TERMS
from ..exceptions import InputError
from ..frames import word
from ..text import did_you_mean

EXAMPLE_RULE = '{"age": (60, None), "sex": "f"}'
MAX_LISTED_NAMES = 5
MAX_FLOAT = sys.float_info.max


def with_rules(columns: Columns, rules: Any) -> Columns:
    """Columns with the rules of a user; a wrong rule is refused by its number."""
    if not isinstance(rules, list | tuple):
        raise InputError(
            f"rules must be a list of rules such as {EXAMPLE_RULE}, "
            f"not a {type(rules).__name__}."
        )
    checked = [_rule(rule, r + 1, columns) for r, rule in enumerate(rules)]
    return replace(columns, rules=tuple(checked))


def check_rules_apply(scale: str | None, X: Any) -> None:
    """Refuse rules where they cannot have columns of their own."""
    if sparse.issparse(X) or scale not in ("auto", *PERCENTILE_TERMS):
        reason = "X is sparse" if sparse.issparse(X) else f"scale is {scale!r}"
        raise InputError(
            "Rules of your own need dense X on its percentile scale "
            f"(scale='quantile'), but {reason}."
        )


def _rule(rule: Any, number: int, columns: Columns) -> tuple[Asked, ...]:
    """What one rule asks of the features."""
    if not isinstance(rule, Mapping) or not rule:
        raise InputError(
            f"Rule {number} must map features to what it asks of them, "
            f"as {EXAMPLE_RULE} does; got {reprlib.repr(rule)}."
        )
    conditions = []
    for name, asked in rule.items():
        if not isinstance(name, str) or name not in columns.names:
            raise _unknown_feature(name, number, columns.names)
        where = f"Rule {number} asks for {name!r}"
        conditions.append(_asked(columns.names.index(name), asked, where, columns))
    return tuple(conditions)


def _unknown_feature(name: object, number: int, names: Sequence[str]) -> InputError:
    """The sentence about a feature that X does not have."""
    hint = did_you_mean(name, names)
    if not hint:
        listed = ", ".join(repr(known) for known in names[:MAX_LISTED_NAMES])
        more = ", …" if len(names) > MAX_LISTED_NAMES else ""
        hint = f"X has {listed}{more}."
    shown = reprlib.repr(name)
    return InputError(f"Rule {number} asks for {shown}, which X does not have: {hint}")


def _asked(d: int, asked: Any, where: str, columns: Columns) -> Asked:
    """What one rule asks of one feature, the d-th."""
    if columns.kinds[d] == "nominal":
        words = _words(where, asked, columns.named(d), columns.rare[d])
        return d, None, None, words
    ends = tuple(asked) if isinstance(asked, list | tuple) else (asked, asked)
    if len(ends) != 2 or all(end is None for end in ends):
        raise InputError(
            f"{where}, which takes (from, to) with None for no end, as in (60, None); "
            f"got {reprlib.repr(asked)}."
        )
    levels = None if columns.kinds[d] == "number" else columns.values[d]
    low, high = (_end(where, end, levels) for end in ends)
    if low is not None and high is not None and low > high:
        raise InputError(
            f"{where} from {ends[0]!r} to {ends[1]!r}, which is no range: "
            "give the smaller end first."
        )
    return d, low, high, ()


def _end(where: str, end: Any, levels: Sequence[str] | None) -> float | None:
    """A number, the position of a level, or None for no end."""
    if end is None:
        return None
    if levels is not None:
        if _word(end) not in levels:
            raise InputError(
                f"{where}, whose levels are {', '.join(levels)}: "
                f"{reprlib.repr(end)} is none of them."
            )
        return float(levels.index(_word(end)))
    is_number = isinstance(end, Real) and not isinstance(end, bool)
    if is_number and not isinstance(end, int) and not isfinite(end):
        is_number = False
    if not is_number:
        shown = reprlib.repr(end)
        raise InputError(f"{where}, which is a number, but {shown} is not.")
    if abs(end) > MAX_FLOAT:
        raise InputError(
            f"{where}, and no number of X is as large as an end of it: "
            "write None for no end."
        )
    return float(end)


def _words(
    where: str, asked: Any, values: Sequence[str], rare: Sequence[str]
) -> tuple[str, ...]:
    """Words of a nominal feature that will do: some values with a column, not all."""
    asked = asked if isinstance(asked, list | tuple) else [asked]
    words = tuple(dict.fromkeys(_word(value) for value in asked))
    for value in words:
        if value not in values:
            why = "too rare to be told apart" if value in rare else "none of them"
            raise InputError(
                f"{where}, whose values are {', '.join(values)}: "
                f"{reprlib.repr(value)} is {why}."
            )
    if not words or {*words} == {*values}:
        which = "any" if words else "no"
        feature = where.split()[-1]
        raise InputError(f"{where}, but {which} value would do: leave {feature} out.")
    return words


def _word(value: Any) -> str:
    """A value as a word; lists in lists, however deep, as the beginning of them."""
    if isinstance(value, list | tuple | Mapping):
        return reprlib.repr(value)
    return word(value)
