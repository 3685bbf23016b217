"""Dates of birth as ages: years from one date to another, as the user asks."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas
from numpy.typing import NDArray

from mltsk.datasets.dataset import split_names, unique_names
from mltsk.exceptions import InputError
from mltsk.text import quoted

from .cells import texts_of
from .dates import has_short_year, years_of
from .files import RawTable

AGE_DECIMALS = 2  # four days
YEARS_OF_CENTURY = 100

Ages = str | Mapping[str, str]


def age_columns(ages: Ages) -> dict[str, str]:
    """Columns of dates, each with the column or the day up to which years count.

    >>> age_columns("born:visit, operated:2024-12-31")
    {'born': 'visit', 'operated': '2024-12-31'}
    """
    if isinstance(ages, Mapping):
        return {str(name): str(until) for name, until in ages.items()}
    columns = {}
    for text in split_names(ages):
        name, colon, until = text.rpartition(":")
        if not colon or not name.strip() or not until.strip():
            raise InputError(
                f"Age {text!r} is not written as born:visit or born:2024-12-31, the "
                "column of a date and the column or the day up to which years count."
            )
        columns[name.strip()] = until.strip()
    return columns


def with_ages(raw: RawTable, ages: Ages, missing: frozenset[str]) -> RawTable:
    """The table with ages in the place of dates: ``age (born)`` for ``born``."""
    frame = raw.frame
    notes = list(raw.notes)
    for name, until in age_columns(ages).items():
        unique_names([name], frame, raw.where)
        born = _years(frame[name], missing)
        if until in frame:
            end = _years(frame[until], missing)
        else:
            end = _years(pandas.Series([until] * len(frame), name=until), missing)
        new_name = f"age ({name})"
        if new_name in frame:
            raise InputError(f"{raw.name} has a column {new_name!r} already.")
        notes.append(f"{new_name}: years from {name} to {until}")
        born = _in_the_past(born, end, frame[name], missing, notes)
        place = list(frame).index(name)
        frame = frame.drop(columns=name)
        frame.insert(place, new_name, (end - born).round(AGE_DECIMALS))
    return replace(raw, frame=frame, notes=tuple(notes))


def _in_the_past(
    born: NDArray[np.float64],
    end: NDArray[np.float64],
    column: pandas.Series,
    missing: frozenset[str],
    notes: list[str],
) -> NDArray[np.float64]:
    """Years of birth a century earlier where two digits made them later than the end.

    A patient who was born in 56 and came in 2024 was not born in 2056.
    """
    texts, _ = texts_of(column, missing)
    is_short = [text is not None and has_short_year(text) for text in texts]
    is_later = np.array(is_short) & (born > end)
    if is_later.any():
        text = texts[int(np.flatnonzero(is_later)[0])] or ""
        notes.append(f"{column.name}: {text} is of the last century")
    return np.where(is_later, born - YEARS_OF_CENTURY, born)


def _years(column: pandas.Series, missing: frozenset[str]) -> NDArray[np.float64]:
    """The years of a column of dates, with decimals; NaN where there is none."""
    texts, _ = texts_of(column, missing)
    years = years_of(texts)
    if years.bad_rows:
        row = years.bad_rows[0]
        raise InputError(
            f"Column {column.name!r}, row {row + 1}: {quoted(texts[row] or '')} is no "
            "date whose day and month can be told: write dates as 2024-12-31."
        )
    return years.values
