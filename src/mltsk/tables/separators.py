"""Signs between thousands and before decimals: what a comma and a point mean.

It is decided for a column from all of its cells; where these leave both readings, by
the other columns of the table.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mltsk.datasets.dataset import as_number

# Decimal commas are a notation if at least this share of the cells with commas can
# mean nothing else: a single 2,5 among a hundred 1,234 is a typo.
MIN_DECIMAL_COMMAS = 0.05
_SPACES = "[ \u00a0\u2009\u202f'’]"
_WHOLE = re.compile(r"[-+]?\d+")
_COMMA_GROUPS = re.compile(  # 1,234,567.5, or as in India 12,34,567.5
    r"[-+]?([1-9]\d{0,2}(,\d{3})+|[1-9]\d?(,\d{2})+,\d{3})(\.\d+)?"
)
_POINT_GROUPS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?")
_SPACE_GROUPS = re.compile(rf"[-+]?[1-9]\d{{0,2}}({_SPACES}\d{{3}})+([.,]\d+)?")
_DECIMAL_COMMA = re.compile(
    r"[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+(e[-+]?\d+)?", re.IGNORECASE
)
_DECIMAL_POINT = re.compile(r"[-+]?\d+\.\d+")
_THREE_DECIMALS = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}")
_THREE_BEHIND_COMMA = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
_LONG_WHOLE = re.compile(r"[-+]?\d{4,}(\.\d*)?")

Numerals = Sequence[str | None]


class _SignCounts(NamedTuple):
    """How many numerals can be read in which way.

    ``decimal`` have a comma that can only stand before decimals, ``thousands`` one that
    can only stand between thousands, ``with_comma`` one that can stand in either place;
    ``with_point`` have a point before decimals.
    """

    decimal: int
    thousands: int
    with_comma: int
    with_point: int

    @classmethod
    def of(cls, numerals: Sequence[str]) -> "_SignCounts":
        """The counts of numerals."""
        may_be_decimal = _matches(_DECIMAL_COMMA, numerals)
        may_be_thousands = _matches(_COMMA_GROUPS, numerals)
        decimal = int((may_be_decimal & ~may_be_thousands).sum())
        with_point = sum("." in numeral and "," not in numeral for numeral in numerals)
        return cls(
            decimal=decimal + sum(map(_has_comma_after_groups, numerals)),
            thousands=int((may_be_thousands & ~may_be_decimal).sum()),
            with_comma=int((may_be_decimal | may_be_thousands).sum()),
            with_point=with_point - int(_matches(_POINT_GROUPS, numerals).sum()),
        )

    @property
    def are_decimal(self) -> bool:
        """Whether commas stand before decimals: enough can, and more than do not."""
        is_enough = self.decimal >= MIN_DECIMAL_COMMAS * self.with_comma
        are_most = self.decimal > self.thousands + self.with_point
        return self.decimal > 0 and is_enough and are_most


def decimal_sign(numerals: Numerals, usual: str = "") -> str:
    """The sign before decimals, "." or ","; "" where commas could mean either.

    ``usual`` is the sign of other columns, which decides where these numerals do not:
    1.234 and 1,234 can be read in two ways.
    """
    present = [numeral for numeral in numerals if numeral is not None]
    if usual == "," and _leave_both_readings(present):
        return ","
    signs = _SignCounts.of(present)
    if signs.are_decimal:
        return ","
    if signs.thousands > signs.decimal or not signs.with_comma:
        return "."
    if usual == "," and not signs.thousands and not signs.with_point:
        return ","  # 10,090 beside a few 0,523
    # 50,538 alone: between thousands, unless other numbers do without.
    if signs.decimal or _matches(_LONG_WHOLE, present).any():
        return ""
    return "."


def _leave_both_readings(present: Sequence[str]) -> bool:
    """Whether three digits stand behind every sign: 1.234 or 1,234.

    Points are not between thousands where other numbers have none: 12345 and 1.234.
    """
    with_sign = [numeral for numeral in present if "." in numeral or "," in numeral]
    with_point = [numeral for numeral in with_sign if "." in numeral]
    has_long = _matches(_LONG_WHOLE, present).any()
    if not with_sign or (with_point and has_long):
        return False
    are_points = _matches(_THREE_DECIMALS, with_sign)
    are_commas = _matches(_THREE_BEHIND_COMMA, with_sign)
    return bool((are_points | are_commas).all())


def may_be_thousands(numerals: Numerals) -> bool:
    """Whether points could stand between thousands in every numeral with a point."""
    present = [numeral for numeral in numerals if numeral is not None]
    return _leave_both_readings(present)


def usual_sign(columns: Iterable[Numerals]) -> str:
    """The sign before decimals of most columns that leave no doubt; "" if none does.

    >>> usual_sign([["79,5", "52,2"], ["1.234"], ["3"]]), usual_sign([["1,234"]])
    (',', '')
    """
    n_commas = 0
    n_points = 0
    for numerals in columns:
        present = [numeral for numeral in numerals if numeral is not None]
        if _leave_both_readings(present):
            continue
        if decimal_sign(present) == ",":
            n_commas += 1
        else:
            n_points += bool(_matches(_DECIMAL_POINT, present).any())
    if n_commas == n_points:
        return ""
    return "," if n_commas > n_points else "."


def _has_comma_after_groups(numeral: str) -> bool:
    """Whether points or spaces stand between thousands: 1.234.567 or 1 234,5."""
    if _SPACE_GROUPS.fullmatch(numeral):
        return "," in numeral
    return numeral.count(".") > 1 and _POINT_GROUPS.fullmatch(numeral) is not None


def _matches(pattern: re.Pattern[str], texts: Sequence[str]) -> NDArray[np.bool_]:
    """Which texts are of a pattern, from end to end."""
    return np.array([pattern.fullmatch(text) is not None for text in texts], dtype=bool)


# reading


def plain_numbers(texts: Numerals) -> NDArray[np.float64]:
    """Texts as finite numbers, NaN for all others."""
    values = np.array([np.nan if text is None else as_number(text) for text in texts])
    values[np.isinf(values)] = np.nan
    return values


def read_numerals(
    numerals: Numerals, sign: str, *, is_asked: bool
) -> tuple[NDArray[np.float64], list[str]]:
    """The numbers of numerals with a sign before decimals, and notes on separators."""
    reader = _READERS[sign]
    plain = [None if numeral is None else reader(numeral) for numeral in numerals]
    values = plain_numbers(plain)
    changed: dict[str, float] = {}
    for numeral, text, value in zip(numerals, plain, values.tolist(), strict=True):
        if numeral is not None and text not in (None, numeral):
            changed[numeral] = value
    if is_asked or not changed:
        return values, []
    if sign == ",":
        return values, [_note_on_commas(changed)]
    return values, _notes_on_thousands(changed)


def note_on_points(numerals: Numerals) -> list[str]:
    """The note on plain numbers that could have points between thousands: 50.538."""
    with_point = [text for text in numerals if text is not None and "." in text]
    if len(with_point) < 3 or not all(map(_THREE_DECIMALS.fullmatch, with_point)):
        return []
    example = with_point[0]
    thousands = example.replace(".", "")
    return [
        f"points read as decimal points ({example} is not {thousands}); --decimal , to "
        "overrule"
    ]


def _note_on_commas(changed: Mapping[str, float]) -> str:
    """The note on decimal commas, or on points between thousands where none is."""
    if any("," in numeral for numeral in changed):
        return "decimal commas read as points; --decimal . to overrule"
    numeral, value = next(iter(changed.items()))
    return (
        f"points between thousands taken out ({numeral} is {value:.12g}); --decimal . "
        "to overrule"
    )


def _notes_on_thousands(changed: Mapping[str, float]) -> list[str]:
    """Notes on numerals with signs between thousands, and the numbers that they are."""
    with_comma = [numeral for numeral in changed if "," in numeral]
    with_space = [numeral for numeral in changed if "," not in numeral]
    notes = []
    if with_comma:
        example = f"{with_comma[0]} is {changed[with_comma[0]]:.12g}"
        notes.append(
            f"commas between thousands taken out ({example}); --decimal , to overrule"
        )
    if with_space:
        first = with_plain_spaces(with_space[0])
        example = f"{first} is {changed[with_space[0]]:.12g}"
        signs = "apostrophes" if re.search("['’]", first) else "spaces"
        notes.append(
            f"{signs} between thousands taken out ({example}); --nominal to overrule"
        )
    return notes


def with_plain_spaces(text: str) -> str:
    """Text whose thin spaces are those that a terminal shows."""
    return " ".join(text.split())


def _after_comma(numeral: str) -> str | None:
    """1.234,5 as 1234.5; None where points could mean something else."""
    if _SPACE_GROUPS.fullmatch(numeral):
        numeral = re.sub(_SPACES, "", numeral)
    patterns = (_DECIMAL_COMMA, _WHOLE, _POINT_GROUPS)
    if any(pattern.fullmatch(numeral) for pattern in patterns):
        return numeral.replace(".", "").replace(",", ".")
    return None


def _after_point(numeral: str) -> str | None:
    """1,234.5 as 1234.5; None where commas could mean something else."""
    if _SPACE_GROUPS.fullmatch(numeral):
        numeral = re.sub(_SPACES, "", numeral)
    if _COMMA_GROUPS.fullmatch(numeral):
        return numeral.replace(",", "")
    return None if "," in numeral else numeral


def _without_commas(numeral: str) -> str | None:
    """A numeral whose spaces stand between thousands; None if it has a comma."""
    return None if "," in numeral else _after_point(numeral)


_READERS: dict[str, Callable[[str], str | None]] = {
    ",": _after_comma,
    ".": _after_point,
    "": _without_commas,
}
