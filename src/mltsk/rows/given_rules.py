"""Rules that a user writes, checked against the columns of X: data, never code.

A rule maps features to what it asks of them: of a number (from, to), either end None, both ends included, or one
number; of levels in an order the same in words; of a nominal feature a word, or a list of words any of which will do.
It holds where all of that holds, and never where something it asks for is missing.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from numbers import Real
from typing import Any

from scipy import sparse

from ..columns import Asked, Columns, word
from ..core.terms import PERCENTILE_TERMS
from ..exceptions import InputError

EXAMPLE = '{"age": (60, None), "sex": "f"}'


def with_rules(columns: Columns, rules: Any) -> Columns:
    """Columns with the rules of a user; what is wrong with one is a sentence that names it."""
    if not isinstance(rules, list | tuple):
        raise InputError(
            f"rules must be a list of rules such as {EXAMPLE}, not a {type(rules).__name__}."
        )
    return replace(
        columns,
        rules=tuple(_rule(rule, r + 1, columns) for r, rule in enumerate(rules)),
    )


def check_rules_apply(estimator: Any, X: Any) -> None:
    """Refuse rules where there are no columns of their own for them."""
    if sparse.issparse(X) or estimator.scale not in ("auto", *PERCENTILE_TERMS):
        found = "X is sparse" if sparse.issparse(X) else f"scale is {estimator.scale!r}"
        raise InputError(
            f"Rules of your own need dense X on its percentile scale (scale='quantile'), but {found}."
        )


def _rule(rule: Any, number: int, columns: Columns) -> tuple[Asked, ...]:
    if not isinstance(rule, Mapping) or not rule:
        raise InputError(
            f"Rule {number} must map features to what it asks of them, as {EXAMPLE} does; got {rule!r}."
        )
    names, found = columns.names, []
    for name, asked in rule.items():
        if not isinstance(name, str) or name not in names:
            close = difflib.get_close_matches(str(name), names, n=1)
            known = f"{', '.join(map(repr, names[:5]))}{', …' * (len(names) > 5)}"
            hint = f"did you mean {close[0]!r}?" if close else f"X has {known}."
            raise InputError(
                f"Rule {number} asks for {name!r}, which X does not have: {hint}"
            )
        found.append(
            _asked(
                names.index(name), asked, f"Rule {number} asks for {name!r}", columns
            )
        )
    return tuple(found)


def _asked(d: int, asked: Any, where: str, columns: Columns) -> Asked:
    """What one rule asks of one feature."""
    if columns.kinds[d] == "nominal":
        return d, None, None, _words(where, asked, columns.named(d), columns.rare[d])
    ends = tuple(asked) if isinstance(asked, list | tuple) else (asked, asked)
    if len(ends) != 2 or all(end is None for end in ends):
        raise InputError(
            f"{where}, which takes (from, to) with None for no end, as in (60, None); got {asked!r}."
        )
    levels = None if columns.kinds[d] == "number" else columns.values[d]
    low, high = (None if end is None else _end(where, end, levels) for end in ends)
    if low is not None and high is not None and low > high:
        raise InputError(
            f"{where} from {ends[0]!r} to {ends[1]!r}, which is no range: give the smaller end first."
        )
    return d, low, high, ()


def _end(where: str, end: Any, levels: Sequence[str] | None) -> float:
    """A number, or the place of a level."""
    if levels is not None:
        if word(end) not in levels:
            raise InputError(
                f"{where}, whose levels are {', '.join(levels)}: {end!r} is none of them."
            )
        return float(levels.index(word(end)))
    if isinstance(end, bool) or not isinstance(end, Real) or not isfinite(end):
        raise InputError(f"{where}, which is a number, but {end!r} is not.")
    return float(end)


def _words(
    where: str, asked: Any, named: Sequence[str], rare: Sequence[str]
) -> tuple[str, ...]:
    """Words of a nominal feature that will do: some of those that have a column, not all of them."""
    words = (
        tuple(map(word, asked)) if isinstance(asked, list | tuple) else (word(asked),)
    )
    for one in words:
        if one not in named:
            why = "too rare to be told apart" if one in rare else "none of them"
            raise InputError(
                f"{where}, whose values are {', '.join(named)}: {one!r} is {why}."
            )
    if not words or {*words} == {*named}:
        raise InputError(
            f"{where}, but {'any' if words else 'no'} value would do: leave {where.split()[-1]} out."
        )
    return words
