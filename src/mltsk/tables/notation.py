"""Numbers as people write them: separators, units, currencies, percent, limits.

What a sign means is decided for a column from all of its cells, and a note says so.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mltsk.datasets.dataset import as_number
from mltsk.text import plural, quoted

from .words import NO_NUMBER_WORDS

# Decimal commas are a notation if at least this share of the cells with commas can
# mean nothing else: a single 2,5 among a hundred 1,234 is a typo.
MIN_DECIMAL_COMMAS = 0.05
MAX_UNIT_LENGTH = 12  # characters
MAX_NUMERAL_LENGTH = 400  # characters: the largest number has 309 digits
CURRENCIES = "$€£¥₹₽₺₩"
CURRENCY_CODES = ("usd", "eur", "gbp", "chf", "jpy", "cny", "inr", "brl", "us$", "r$")
# Units that may follow a number without a space. Single letters are not among them:
# 101A is a code.
UNITS = frozenset(
    [
        "%",
        "kg",
        "mg",
        "µg",
        "μg",
        "ug",
        "ng",
        "pg",
        "lb",
        "lbs",
        "oz",
        "cm",
        "mm",
        "km",
        "in",
        "ft",
        "ml",
        "dl",
        "mmhg",
        "bpm",
        "hr",
        "hrs",
        "min",
        "sec",
        "ms",
        "days",
        "yr",
        "yrs",
        "years",
        "°c",
        "°f",
        "mmol/l",
        "µmol/l",
        "mg/dl",
        "g/dl",
        "g/l",
        "u/l",
        "iu/l",
        "iu",
        "kcal",
        "kg/m2",
        "kg/m²",
    ]
)
_LIMITS = "<>≤≥="
OPEN_END = "+"  # behind a number, as in 10+
_UNIT = re.compile(r"[^\W\d_]\S*|[%°µ‰]\S*")
_NUMERAL = re.compile(
    r"[-+−]?(?:\d[\d.,'’ \u00a0\u2009\u202f]*|[.,]\d+)(?:[eE][-+]?\d+)?"
)
_SPACES = "[ \u00a0\u2009\u202f'’]"
_WHOLE = re.compile(r"[-+]?\d+")
_COMMA_GROUPS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_POINT_GROUPS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?")
_SPACE_GROUPS = re.compile(rf"[-+]?[1-9]\d{{0,2}}({_SPACES}\d{{3}})+([.,]\d+)?")
_DECIMAL_COMMA = re.compile(
    r"[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+(e[-+]?\d+)?", re.IGNORECASE
)
_THREE_DECIMALS = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}")
_TITER = re.compile(r"([<>≤≥]?)\s*1\s*:\s*(\d+)")
_LONG_WHOLE = re.compile(r"[-+]?\d{4,}(\.\d*)?")

Texts = list[str | None]


class Numbers(NamedTuple):
    """The numbers of a column.

    ``values`` are NaN where there is no number, ``bad_rows`` are the rows whose cell
    holds something else, and ``notes`` tell of the notation. ``unit`` is the unit, or
    the currency, that was taken off.
    """

    values: NDArray[np.float64]
    bad_rows: list[int]
    notes: list[str]
    unit: str = ""


class Written(NamedTuple):
    """A cell taken apart: "< $ 1,234.5 kg" has a limit, a currency and a unit.

    ``unit`` is in small letters; "" stands for what is not there. ``in_brackets`` is a
    number such as (5.20), which accountants write for -5.20.
    """

    numeral: str
    limit: str = ""
    currency: str = ""
    unit: str = ""
    in_brackets: bool = False


def numbers_of(texts: Texts, decimal: str = "") -> Numbers:
    """Read text as numbers, in the notation that the column is written in.

    ``decimal`` is the sign before decimals, "." or ",", or "" to find it: commas are
    decimal points where enough cells can mean nothing else (2,5 or 0,125), and stand
    between thousands where all of them can (1,234.5 or 50,538). Units, currencies and
    percent signs are taken off where every cell has the same. A limit such as <0.5 is
    read as 0.5 where most cells have none.
    """
    values = _plain_numbers(texts)
    bad_rows = _rows_without_number(texts, values)
    if not bad_rows and decimal != ",":
        return Numbers(values, bad_rows, _note_on_points(texts))
    notes: list[str] = []
    texts = _without_unknown(texts, notes)
    texts = _without_dilutions(texts, notes)
    cells = [None if text is None else taken_apart(text) for text in texts]
    numerals = _bare_numerals(texts, cells, notes)
    sign = decimal or _decimal_sign(numerals)
    values, separator_notes = _read_numerals(numerals, sign, is_asked=bool(decimal))
    return Numbers(
        values=values,
        bad_rows=_rows_without_number(texts, values),
        notes=[*notes, *separator_notes],
        unit=_common_unit(cells),
    )


def _common_unit(cells: Sequence["Written | None"]) -> str:
    """The unit or currency that all numbers have; "" where they have none or several.

    >>> _common_unit([taken_apart("3 kg"), None]), _common_unit([taken_apart("3")])
    ('kg', '')
    """
    around = {cell.unit or cell.currency for cell in cells if cell is not None}
    return around.pop() if len(around) == 1 else ""


def _plain_numbers(texts: Sequence[str | None]) -> NDArray[np.float64]:
    """Texts as finite numbers, NaN for all others."""
    values = np.array([np.nan if text is None else as_number(text) for text in texts])
    values[np.isinf(values)] = np.nan
    return values


def _rows_without_number(
    texts: Sequence[str | None], values: NDArray[np.float64]
) -> list[int]:
    """Rows with a text that is no number."""
    rows = np.flatnonzero(np.isnan(values)).tolist()
    return [row for row in rows if texts[row] is not None]


def _note_on_points(texts: Texts) -> list[str]:
    """The note on plain numbers that could have points between thousands: 50.538."""
    with_point = [text for text in texts if text is not None and "." in text]
    if len(with_point) < 3 or not all(map(_THREE_DECIMALS.fullmatch, with_point)):
        return []
    example = with_point[0]
    thousands = example.replace(".", "")
    return [
        f"points read as decimal points ({example} is not {thousands}); --decimal , to "
        "overrule"
    ]


def _without_unknown(texts: Texts, notes: list[str]) -> Texts:
    """Texts without words such as unknown, if there are digits anywhere."""
    if not any(map(_holds_digit, texts)):
        return texts
    words = [t for t in texts if t is not None and t.lower() in NO_NUMBER_WORDS]
    for word, count in Counter(words).items():
        notes.append(f"{plural(count, 'cell')} with {quoted(word)} counted as missing")
    unknown = set(words)
    return [None if text in unknown else text for text in texts]


def _without_dilutions(texts: Texts, notes: list[str]) -> Texts:
    """Titers such as 1:64 as 64, and <1:8 as <8, if all texts are titers."""
    present = {text for text in texts if text is not None}
    titers = {text: _TITER.fullmatch(text) for text in present}
    if not titers or not all(titers.values()):
        return texts
    numbers = {text: match[1] + match[2] for text, match in titers.items() if match}
    example = min(numbers)
    notes.append(
        f"titers read as their second number ({example} is {numbers[example]}); "
        "--nominal to overrule"
    )
    return [None if text is None else numbers[text] for text in texts]


def _holds_digit(text: str | None) -> bool:
    return text is not None and any(character.isdigit() for character in text)


def taken_apart(text: str) -> Written | None:
    """The numeral of a cell and what stands around it; None if there is no numeral.

    >>> taken_apart("<0.5 mg")
    Written(numeral='0.5', limit='<', currency='', unit='mg', in_brackets=False)
    >>> taken_apart("-$1,234").currency, taken_apart("12A"), taken_apart("18-25")
    ('$', None, None)
    """
    if len(text) > MAX_NUMERAL_LENGTH:
        return None
    if text[:1] == "(" and text[-1:] == ")":
        return _in_brackets(taken_apart(text[1:-1].strip()))
    if text[-1:] == "-" and text[:1].isdigit():
        text = f"-{text[:-1].rstrip()}"  # as some programs write a minus
    rest = text.lstrip(_LIMITS)
    limit = text[: len(text) - len(rest)]
    currency, rest = _without_currency(rest.lstrip())
    match = _NUMERAL.match(rest)
    if match is None:
        return None
    return _with_ending(
        Written(match.group().strip().replace("−", "-"), limit, currency),
        ending=rest[match.end() :].lower(),
        has_space=match.group()[-1].isspace(),
    )


def _with_ending(number: Written, ending: str, *, has_space: bool) -> Written | None:
    """A number with what stands behind it; None if that says something else.

    It may be a plus ("90+"), a currency or a unit; ``has_space`` says whether a space
    stands before it.
    """
    if ending == "+" and not number.limit:
        return number._replace(limit=OPEN_END)
    if not number.currency and ending in CURRENCY_CODES:
        return number._replace(currency=ending.upper())
    if ending and ending in CURRENCIES and not number.currency:
        return number._replace(currency=ending)
    if not _is_unit(ending, has_space=has_space):
        return None
    return number._replace(unit=ending)


def _in_brackets(inside: Written | None) -> Written | None:
    """What stands in brackets, which mean a minus; None if it has a sign of its own."""
    if inside is None or not inside.numeral[0].isdigit():
        return None
    return inside._replace(in_brackets=True)


def _is_unit(word: str, *, has_space: bool) -> bool:
    """Whether a word after a numeral is a unit: a known one, or any after a space."""
    if not word or word in UNITS:
        return True
    is_short = len(word) <= MAX_UNIT_LENGTH
    return has_space and is_short and _UNIT.fullmatch(word) is not None


def _without_currency(text: str) -> tuple[str, str]:
    """The sign of a currency at the start, and the text without it: -$5 is -5."""
    sign = text[:1] if text[:1] in ("-", "+", "−") else ""
    rest = text[len(sign) :].lstrip()
    if rest[:1] and rest[0] in CURRENCIES:
        return rest[0], sign + rest[1:].lstrip()
    if rest[:3].lower() in CURRENCY_CODES and rest[3:4] in (" ", "\u00a0"):
        return rest[:3].upper(), sign + rest[3:].lstrip()
    return "", text


def _bare_numerals(
    texts: Texts, cells: Sequence[Written | None], notes: list[str]
) -> Texts:
    """The numerals of cells; None where something else stands around them.

    Currency and unit must be the same in all cells; limits must be in fewer than half.
    """
    written = [cell for cell in cells if cell is not None]
    around = {(cell.currency, cell.unit) for cell in written}
    cells = _with_minus_in_brackets(cells, notes)
    if len(around) == 1:
        ((currency, unit),) = around
        notes += _notes_on_unit(texts, cells, currency, unit)
    else:
        around = {("", "")}
    limits = {""}
    n_limits = sum(cell.limit != "" for cell in written)
    if 2 * n_limits < len(written):
        limits = {cell.limit for cell in written}
        if n_limits:
            notes.append(_note_on_limits(texts, cells, n_limits))
    return [_numeral_if(cell, around, limits) for cell in cells]


def _with_minus_in_brackets(
    cells: Sequence[Written | None], notes: list[str]
) -> Sequence[Written | None]:
    """Cells in which brackets mean a minus, or without those that are in brackets.

    If all are in brackets, these say something else.
    """
    written = [cell for cell in cells if cell is not None]
    in_brackets = [cell for cell in written if cell.in_brackets]
    if in_brackets and len(in_brackets) < len(written):
        example = in_brackets[0].numeral
        notes.append(f"brackets read as a minus: ({example}) is -{example}")
        return cells
    return [None if cell and cell.in_brackets else cell for cell in cells]


def _numeral_if(
    cell: Written | None, around: Set[tuple[str, str]], limits: Set[str]
) -> str | None:
    """The numeral of a cell, if what stands around it is among what is taken off."""
    if cell is None or (cell.currency, cell.unit) not in around:
        return None
    if cell.limit not in limits:
        return None
    return f"-{cell.numeral}" if cell.in_brackets else cell.numeral


def _notes_on_unit(
    texts: Texts, cells: Sequence[Written | None], currency: str, unit: str
) -> list[str]:
    """The note on what every cell has next to its number."""
    if unit == "%":
        return ["percent signs taken off: 5 % is 5"]
    if not currency and not unit:
        return []
    row = next(row for row, cell in enumerate(cells) if cell is not None)
    noun = "currency" if currency else "unit"
    example = _with_plain_spaces(texts[row] or "")
    return [f"{noun} {currency or unit} taken off ({example} is a number)"]


def _with_plain_spaces(text: str) -> str:
    """Text whose thin spaces are those that a terminal shows."""
    return " ".join(text.split())


def _note_on_limits(
    texts: Texts, cells: Sequence[Written | None], n_limits: int
) -> str:
    row = next(row for row, cell in enumerate(cells) if cell is not None and cell.limit)
    example = quoted(texts[row] or "")
    return (
        f"{plural(n_limits, 'limit')} such as {example} read as the number alone; "
        f'--missing "{example[1:-1]}" to overrule'
    )


def _decimal_sign(numerals: Texts) -> str:
    """The sign before decimals, "." or ","; "" where commas could mean either."""
    present = [numeral for numeral in numerals if numeral is not None]
    may_be_decimal = _matches(_DECIMAL_COMMA, present)
    may_be_thousands = _matches(_COMMA_GROUPS, present)
    n_decimal = int((may_be_decimal & ~may_be_thousands).sum())
    n_decimal += sum(_has_comma_after_groups(numeral) for numeral in present)
    n_thousands = int((may_be_thousands & ~may_be_decimal).sum())
    n_with_comma = int((may_be_decimal | may_be_thousands).sum())
    n_with_point = sum("." in numeral and "," not in numeral for numeral in present)
    n_with_point -= int(_matches(_POINT_GROUPS, present).sum())
    enough = n_decimal >= MIN_DECIMAL_COMMAS * n_with_comma
    if n_decimal and enough and n_decimal > n_thousands + n_with_point:
        return ","
    if n_thousands > n_decimal or not n_with_comma:
        return "."
    # 50,538 alone: between thousands, unless other numbers do without.
    if n_decimal or _matches(_LONG_WHOLE, present).any():
        return ""
    return "."


def _has_comma_after_groups(numeral: str) -> bool:
    """Whether points or spaces stand between thousands: 1.234.567 or 1 234,5."""
    if _SPACE_GROUPS.fullmatch(numeral):
        return "," in numeral
    return numeral.count(".") > 1 and _POINT_GROUPS.fullmatch(numeral) is not None


def _matches(pattern: re.Pattern[str], texts: Sequence[str]) -> NDArray[np.bool_]:
    """Which texts are of a pattern, from end to end."""
    return np.array([pattern.fullmatch(text) is not None for text in texts], dtype=bool)


def _read_numerals(
    numerals: Texts, sign: str, *, is_asked: bool
) -> tuple[NDArray[np.float64], list[str]]:
    """The numbers of numerals with a sign before decimals, and notes on separators."""
    reader = _READERS[sign]
    plain = [None if numeral is None else reader(numeral) for numeral in numerals]
    values = _plain_numbers(plain)
    changed: dict[str, float] = {}
    for numeral, text, value in zip(numerals, plain, values.tolist(), strict=True):
        if numeral is not None and text not in (None, numeral):
            changed[numeral] = value
    if is_asked or not changed:
        return values, []
    if sign == ",":
        return values, ["decimal commas read as points; --decimal . to overrule"]
    return values, _notes_on_thousands(changed)


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
        first = _with_plain_spaces(with_space[0])
        example = f"{first} is {changed[with_space[0]]:.12g}"
        signs = "apostrophes" if re.search("['’]", first) else "spaces"
        notes.append(f"{signs} between thousands taken out ({example})")
    return notes


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
