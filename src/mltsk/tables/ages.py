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
from .dates import years_of
from .files import RawTable

AGE_DECIMALS = 2  # four days

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
        unique_names([name], frame, raw.name)
        born = _years(frame[name], missing)
        if until in frame:
            end = _years(frame[until], missing)
        else:
            end = _years(pandas.Series([until] * len(frame), name=until), missing)
        new_name = f"age ({name})"
        if new_name in frame:
            raise InputError(f"{raw.name} has a column {new_name!r} already.")
        notes.append(f"{new_name}: years from {name} to {until}")
        place = list(frame).index(name)
        frame = frame.drop(columns=name)
        frame.insert(place, new_name, (end - born).round(AGE_DECIMALS))
    return replace(raw, frame=frame, notes=tuple(notes))


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
