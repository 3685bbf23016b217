"""A cell taken apart: a numeral, and the limit, the currency and the unit around it."""

import re
from typing import NamedTuple

MAX_UNIT_LENGTH = 12  # characters
MAX_NUMERAL_LENGTH = 400  # characters: the largest number has 309 digits
CURRENCIES = "$€£¥₹₽₺₩₴₪₫฿₦"
# Before or behind a number; those with a sign may stand right before it.
CURRENCY_CODES = (
    *("usd", "eur", "gbp", "chf", "jpy", "cny", "inr", "brl", "cad", "aud", "mxn"),
    *("pln", "czk", "huf", "sek", "nok", "dkk", "ron", "try", "rub", "zar", "krw"),
    *("us$", "r$", "a$", "c$", "hk$", "nz$", "s$"),
    *("zł", "kč", "kr", "rs"),
)
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
        *("/µl", "/nl", "/l", "/min"),
        *('"', "″", "”", "''", "#"),  # inches and pounds
    ]
)
# Letters that are a unit if they stand behind every number of a column.
UNIT_LETTERS = "ymglhdswjk"
# Characters of East Asia that are a unit behind every number: 81歳, 3個.
ASIAN_UNIT = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
# Words for one unit, by the shortest of them.
SAME_UNITS = {
    word: words[0]
    for words in (
        ("y", "yr", "yrs", "year", "years", "yo"),
        ("mo", "mos", "month", "months"),
        ("wk", "wks", "week", "weeks"),
        ("d", "day", "days"),
        ("h", "hr", "hrs", "hour", "hours"),
        ("min", "mins", "minute", "minutes"),
        ("s", "sec", "secs", "second", "seconds"),
        ("kg", "kgs", "kilo", "kilos", "kilogram", "kilograms"),
        ("g", "gr", "gram", "grams"),
        ("lb", "lbs", "pound", "pounds", "#"),
        ("in", "inch", "inches", '"', "″", "”", "''"),
        ("ft", "foot", "feet"),
        ("%", "percent", "pct"),
        ("iu/l", "u/l"),
        ("µg", "μg", "ug", "mcg"),
    )
    for word in words
}
MIN_LETTERS_OF_SINGULAR = 3
OPEN_END = "+"  # behind a number, as in 10+
_LIMITS = "<>≤≥="
# Words for a limit before a number, and their signs.
_LIMIT_WORDS = {
    "<": "below|under|(?:less|lower|fewer) than|unter|kleiner(?: als)?|weniger als"
    "|moins de|inférieur à|menos de|menor (?:que|de)|abaixo de|inferior a|meno di"
    "|poniżej|mniej niż|minder dan|onder|менее|меньше|未満",
    ">": "above|over|(?:more|greater|higher) than|über|größer(?: als)?|mehr als"
    "|plus de|supérieur à|más de|mayor (?:que|de)|mais de|acima de|maior que"
    "|superior a|più di|powyżej|więcej niż|meer dan|boven|более|больше",
}
_LIMIT_WORD = re.compile(
    rf"(?:(?P<below>{_LIMIT_WORDS['<']})|(?:{_LIMIT_WORDS['>']}))\s+(?=[\d$€£])",
    re.IGNORECASE,
)
_LIMIT_BEHIND = re.compile(
    r"(\d[\d.,]*) (?:or|and) "
    r"(?:(less|under|fewer|younger|below)|more|over|older|above)\b",
    re.IGNORECASE,
)
_UNIT = re.compile(r"/?[^\W\d_]\S*|[%°µ‰]\S*")
_NUMERAL = re.compile(
    r"[-+−]?(?:\d[\d.,'’ \u00a0\u2009\u202f]*|[.,]\d+)(?:[eE][-+]?\d+)?"
)


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
    text = _with_limit_in_front(_with_signs_in_place(text))
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


def _with_signs_in_place(text: str) -> str:
    """A minus behind a number in front of it, as most programs write it; % behind it.

    >>> _with_signs_in_place("12-"), _with_signs_in_place("%12")
    ('-12', '12%')
    """
    if text[-1:] == "-" and text[:1].isdigit():
        text = f"-{text[:-1].rstrip()}"
    if text[:1] == "%" and text[-1:].isdigit():
        text = f"{text[1:].lstrip()}%"  # as in Turkish
    return text


def _with_limit_in_front(text: str) -> str:
    """A limit in words, or behind its number, as a sign in front: "10 or more" is >10.

    >>> _with_limit_in_front("10 or more")
    '>10'
    """
    worded = _LIMIT_WORD.match(text)
    if worded is not None:
        text = f"{'<' if worded['below'] else '>'}{text[worded.end() :]}"
    behind = _LIMIT_BEHIND.match(text)
    if behind is not None:
        text = f"{'<' if behind[2] else '>'}{behind[1]}{text[behind.end() :]}"
    return text


def _with_ending(number: Written, ending: str, *, has_space: bool) -> Written | None:
    """A number with what stands behind it; None if that says something else.

    It may be a plus ("90+"), a currency or a unit; ``has_space`` says whether a space
    stands before it.
    """
    if ending == "+" and not number.limit:
        return number._replace(limit=OPEN_END)
    if not number.currency and ending in CURRENCY_CODES:
        return number._replace(currency=_shown_currency(ending))
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
    if rest[:1].isdigit():
        return "", text
    if rest[:1] and rest[0] in CURRENCIES:
        return rest[0], sign + rest[1:].lstrip()
    for code in CURRENCY_CODES:
        behind = rest[len(code) :]
        is_apart = behind[:1].isspace() or (code[-1] == "$" and behind[:1].isdigit())
        if is_apart and rest.lower().startswith(code):
            return _shown_currency(code), sign + behind.lstrip()
    return "", text


def _shown_currency(code: str) -> str:
    """The code of a currency as people write it: EUR and R$, but kr."""
    return code.upper() if len(code) == 3 or code[-1] == "$" else code


def same_unit(one: str, other: str) -> bool:
    """Whether two units are one, in the singular or the plural.

    >>> same_unit("week", "weeks"), same_unit("lb", "lbs"), same_unit("m", "ms")
    (True, True, False)
    """
    return singular(one) == singular(other)


def singular(unit: str) -> str:
    """A unit as its shortest word; without the ending of a plural where none is known.

    The endings are those of English, German and Spanish.

    >>> singular("jahren"), singular("mg"), singular("hours"), singular("yrs")
    ('jahr', 'mg', 'h', 'y')
    """
    if unit in SAME_UNITS:
        return SAME_UNITS[unit]
    for ending in ("en", "es", "s", "e", "n"):
        stem = unit.removesuffix(ending)
        if stem != unit and stem.isalpha() and len(stem) >= MIN_LETTERS_OF_SINGULAR:
            return stem
    return unit
