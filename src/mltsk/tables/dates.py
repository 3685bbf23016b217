"""Dates as numbers: the year with decimals, such as 2024.16 for the first of March.

Such a number means the same in every file, as days since the first visit would not. A
time of day is a number of hours.
"""

import re
from collections.abc import Sequence
from datetime import date

import numpy as np

from .notation import Numbers, Texts

FIRST_YEAR_OF_CENTURY = 69  # two digits from here on are of the twentieth century
TIME_OF_DAY = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d+)?)?")
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")


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
    return Numbers(values, bad_rows, notes)


def hours_of(texts: Texts) -> Numbers:
    """The hours of times of day, with decimals."""
    values = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        match = TIME_OF_DAY.fullmatch(text or "")
        if match is not None:
            hours, minutes, seconds = (int(part or 0) for part in match.groups())
            values[row] = hours + minutes / 60 + seconds / 3600
    bad_rows = np.flatnonzero(np.isnan(values)).tolist()
    bad_rows = [row for row in bad_rows if texts[row] is not None]
    return Numbers(values, bad_rows, ["times read as hours; --drop to overrule"])


def _day_is_first(texts: Sequence[str]) -> bool | None:
    """Whether days come before months, as in 31.12.2024; None if no cell says it."""
    for text in texts:
        match = _YEAR_LAST.match(text)
        if match is None:
            continue
        if match[2] == "." or int(match[1]) > 12:
            return True
        if int(match[3]) > 12:
            return False
    return None


def _year_of(text: str, day_is_first: bool | None) -> float | None:
    """The year of a date with decimals; None if the text says no date."""
    match = _YEAR_FIRST.match(text)
    if match is not None:
        return _decimal_year(*map(int, match.groups()))
    match = _YEAR_LAST.match(text)
    if match is None or day_is_first is None:
        return None
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    if len(match[4]) == 2:
        year += 1900 if year >= FIRST_YEAR_OF_CENTURY else 2000
    if day_is_first:
        return _decimal_year(year, second, first)
    return _decimal_year(year, first, second)


def _decimal_year(year: int, month: int, day: int) -> float | None:
    """A year with decimals; None if there is no such day."""
    try:
        days = date(year, month, day) - date(year, 1, 1)
        n_days = date(year, 12, 31) - date(year, 1, 1)
    except ValueError:
        return None
    return year + days.days / (n_days.days + 1)
