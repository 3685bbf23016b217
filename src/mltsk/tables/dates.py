"""Dates as numbers: the year with decimals, such as 2024.16 for the first of March.

Such a number means the same in every file, as days since the first visit would not. A
time of day is a number of hours.
"""

import re
from collections.abc import Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from .notation import Numbers, Texts

FIRST_YEAR_OF_CENTURY = 69  # two digits from here on are of the twentieth century
FIRST_PLAUSIBLE_YEAR, LAST_PLAUSIBLE_YEAR = 1850, 2150  # of a date without signs
YEARS, HOURS = "years of dates", "hours of times"  # their units
DATE_UNITS = {YEARS: "dates", HOURS: "times of day"}
TIME_OF_DAY = re.compile(
    r"([01]?\d|2[0-3])[:h]([0-5]\d)(?::([0-5]\d)(?:\.\d+)?)?(?: ?([AP])\.?M\.?)?",
    re.IGNORECASE,
)
HOURS_OF_HALF_DAY = 12
# Months in English, German, French, Spanish, Portuguese, Italian, Dutch and Polish,
# Turkish and Russian; any start of three letters or more is known.
MONTHS = (
    "january januar janvier enero janeiro gennaio januari styczeń stycznia jänner"
    " ocak январь января",
    "february februar février fevrier febrero fevereiro febbraio februari luty lutego"
    " şubat февраль февраля",
    "march märz maerz mrz mars marzo março marco maart mrt marzec marca"
    " mart март марта",
    "april avril abril aprile kwiecień kwietnia nisan апрель апреля",
    "may mai mayo maio maggio mei maj maja mayıs май мая",
    "june juni juin junio junho giugno czerwiec czerwca haziran июнь июня",
    "july juli juillet julio julho luglio lipiec lipca temmuz июль июля",
    "august août aout agosto augustus sierpień sierpnia ağustos август августа",
    "september septembre septiembre setembro settembre wrzesień września"
    " eylül сентябрь сентября",
    "october oktober octobre octubre outubro ottobre październik października"
    " ekim октябрь октября",
    "november novembre noviembre novembro listopad listopada kasım ноябрь ноября",
    "december dezember décembre decembre diciembre dezembro dicembre grudzień grudnia"
    " aralık декабрь декабря",
)
_YEAR = r"(?P<year>\d{4}|\d{2})"
_NAME = r"(?P<name>[^\W\d_]{3,10})"
_DAY = r"(?P<day>\d{1,2})"
_MONTH = r"(?P<month>\d{1,2})"
_FORMS = (
    re.compile(rf"(?P<year>\d{{4}})(?P<sign>[-/.]){_MONTH}(?P=sign){_DAY}"),
    re.compile(rf"(?P<one>\d{{1,2}})(?P<sign>[-/.])(?P<two>\d{{1,2}})(?P=sign){_YEAR}"),
    re.compile(rf"{_DAY}(?:st|nd|rd|th|\.)?[-/ ]?{_NAME}\.?,?[-/ ]?{_YEAR}"),
    re.compile(rf"{_NAME}\.? {_DAY}(?:st|nd|rd|th)?,? {_YEAR}"),
    re.compile(rf"{_NAME}\.?[-/ ]{_YEAR}"),
    re.compile(rf"{_MONTH}[-/.](?P<year>\d{{4}})"),
    re.compile(r"(?P<year>\d{4})[-/.](?P<month>\d{2})"),  # 2000-1 is a semester
)
_PLAIN_FORM = re.compile(
    r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})"
)  # 20240301: only where it is known to be a date
_ZONE = r"(Z|[A-Z]{2,4}|(GMT|UTC)?[-+]\d{1,2}(:?\d{2})?)"  # 10:12:00 AM GMT+1
_TIME = re.compile(
    rf"[T ]\d{{1,2}}:\d{{2}}(:\d{{2}}([.,]\d+)?)?( ?[AP]\.?M\.?)?( ?{_ZONE})?$",
    re.IGNORECASE,
)
_WORD_OF_YEAR = re.compile(r"(?<=\d) ?(?:г|r)\.?$")  # behind it, in Russian and Polish
_OF = re.compile(r" del? ")  # between day, month and year, in Spanish and Portuguese


def is_date(text: str) -> bool:
    """Whether a text is a date, with or without a time: 01.03.2024 or 1 Mar 2024.

    >>> is_date("2024-03-01 10:12"), is_date("27-NOV-56"), is_date("3/4")
    (True, True, False)
    """
    return _parts(text) is not None


def are_plain_dates(texts: Sequence[str]) -> bool:
    """Whether all texts are dates without signs, such as 20240301."""
    return bool(texts) and all(map(_is_plain_date, texts))


def are_dates_as_numbers(values: NDArray[np.float64]) -> bool:
    """Whether all numbers are dates without signs: 20240301 is one."""
    first, last = 10_000 * FIRST_PLAUSIBLE_YEAR, 10_000 * (LAST_PLAUSIBLE_YEAR + 1)
    if not len(values) or values.min() < first or values.max() > last:
        return False
    return are_plain_dates([f"{value:.12g}" for value in np.unique(values).tolist()])


def _is_plain_date(text: str) -> bool:
    match = _PLAIN_FORM.fullmatch(text)
    if match is None:
        return False
    year, month, day = (int(part) for part in match.groups())
    is_plausible = FIRST_PLAUSIBLE_YEAR <= year <= LAST_PLAUSIBLE_YEAR
    return is_plausible and _decimal_year(year, month, day) is not None


def years_of(texts: Texts) -> Numbers:
    """The years of dates, with decimals; NaN, and a bad row, where there is no date.

    Where the day and the month could be told only by their places, and no cell says
    which is first, every such cell is a bad row.
    """
    day_is_first = _day_is_first([text for text in texts if text is not None])
    values = np.full(len(texts), np.nan)
    bad_rows = []
    for row, text in enumerate(texts):
        if text is None:
            continue
        year = _year_of(text, day_is_first)
        if year is None:
            bad_rows.append(row)
        else:
            values[row] = year
    notes = []
    rows = np.flatnonzero(~np.isnan(values))
    if len(rows):
        example = f"{texts[rows[0]]} is {values[rows[0]]:.2f}"
        notes.append(f"dates read as years ({example}); --drop to overrule")
    return Numbers(values, bad_rows, notes, YEARS)


def has_short_year(text: str) -> bool:
    """Whether a date has a year of two digits, whose century is a guess."""
    parts = _parts(text)
    return parts is not None and len(parts["year"]) == 2


def hours_of(texts: Texts) -> Numbers:
    """The hours of times of day, with decimals."""
    values = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        match = TIME_OF_DAY.fullmatch(text or "")
        if match is not None:
            values[row] = _hours(match)
    bad_rows = np.flatnonzero(np.isnan(values)).tolist()
    bad_rows = [row for row in bad_rows if texts[row] is not None]
    note = "times read as hours; --drop to overrule"
    return Numbers(values, bad_rows, [note], HOURS)


def _hours(match: re.Match[str]) -> float:
    """The hours of a time of day: 12:30 AM is 0.5, and 1:45 PM is 13.75."""
    hours, minutes, seconds = (int(part or 0) for part in match.groups()[:3])
    half = (match[4] or "").lower()
    if half and hours <= HOURS_OF_HALF_DAY:
        hours = hours % HOURS_OF_HALF_DAY + HOURS_OF_HALF_DAY * (half == "p")
    return hours + minutes / 60 + seconds / 3600


def _parts(text: str) -> dict[str, str] | None:
    """The year, month and day of a date as written; None if the text is none.

    ``one`` and ``two`` are a day and a month whose places must tell them apart.
    """
    text = _WORD_OF_YEAR.sub("", _OF.sub(" ", _TIME.sub("", text)))
    for form in _FORMS:
        match = form.fullmatch(text)
        if match is None:
            continue
        parts = {key: part for key, part in match.groupdict().items() if part}
        if "name" in parts and not _month_named(parts["name"]):
            return None
        if "day" not in parts and "one" not in parts and not _is_month(parts):
            return None
        return parts
    return None


def _is_month(parts: dict[str, str]) -> bool:
    """Whether a month and a year without a day are plausible: 120/1500 is none."""
    month = int(parts.get("month", 1))
    year = parts["year"]
    is_near = len(year) == 2 or (
        FIRST_PLAUSIBLE_YEAR <= int(year) <= LAST_PLAUSIBLE_YEAR
    )
    return 1 <= month <= 12 and is_near


def _month_named(name: str) -> int:
    """The number of a month by its name or the start of it; 0 for other words."""
    for number, names in enumerate(MONTHS, 1):
        if any(month.startswith(name.lower()) for month in names.split()):
            return number
    return 0


def _day_is_first(texts: Sequence[str]) -> bool | None:
    """Whether days come before months, as in 31.12.2024; None if no cell says it."""
    for text in texts:
        parts = _parts(text)
        if parts is None or "one" not in parts:
            continue
        if parts["sign"] == "." or int(parts["one"]) > 12:
            return True
        if int(parts["two"]) > 12:
            return False
    return None


def _year_of(text: str, day_is_first: bool | None) -> float | None:
    """The year of a date with decimals; None if the text says no date."""
    plain = _PLAIN_FORM.fullmatch(text)
    parts = _parts(text) if plain is None else plain.groupdict()
    if parts is None:
        return None
    year = _full_year(parts["year"])
    if "one" not in parts:
        month = _month_named(parts["name"]) if "name" in parts else int(parts["month"])
        return _decimal_year(year, month, int(parts.get("day", 1)))
    if day_is_first is None:
        return None
    one, two = int(parts["one"]), int(parts["two"])
    if day_is_first:
        return _decimal_year(year, two, one)
    return _decimal_year(year, one, two)


def _full_year(year: str) -> int:
    """A year of four digits, also of one that is written with two."""
    if len(year) == 4:
        return int(year)
    return int(year) + (1900 if int(year) >= FIRST_YEAR_OF_CENTURY else 2000)


def _decimal_year(year: int, month: int, day: int) -> float | None:
    """A year with decimals; None if there is no such day."""
    try:
        days = date(year, month, day) - date(year, 1, 1)
        n_days = date(year, 12, 31) - date(year, 1, 1)
    except ValueError:
        return None
    return year + days.days / (n_days.days + 1)
