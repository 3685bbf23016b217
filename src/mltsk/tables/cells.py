"""The cells of one column as text, and which of them are missing."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real

import numpy as np
import pandas
from numpy.typing import NDArray
from pandas.api import types

from mltsk.exceptions import InputError
from mltsk.frames import is_absent
from mltsk.text import plural, quoted, visible

from .notation import MAX_LOOKED_CELLS, Texts, usual_decimal_sign
from .words import is_missing_word

MIDNIGHT = time()
SECONDS_PER_HOUR = 3600
MAX_LOOKED_COLUMNS = 200  # for the sign before decimals
_TEXT_FORMULA = re.compile(r'="([^"]*)"')  # so that Excel leaves it as it is
_IN_QUOTES = re.compile(r"'[^']+'|\"[^\"]+\"|“[^”]+”|«[^»]+»")
_FLOAT_CODE = re.compile(r"(-?\d+)(?:\.0+|,0{1,2})")


@dataclass(frozen=True)
class CellRules:
    """What a user says about the cells of a table.

    Attributes
    ----------
    missing : further words for a missing cell, in small letters
    decimal : the sign before decimals, "." or ","; "" to find it
    blank_means_no : whether a blank cell of a label, or of tick boxes, is a no
    usual_decimal : the sign before decimals in most columns that leave no doubt; "" if
        none does
    """

    missing: frozenset[str] = frozenset()
    decimal: str = ""
    blank_means_no: bool = False
    usual_decimal: str = ""


def texts_of(column: pandas.Series, missing: Set[str]) -> tuple[Texts, list[str]]:
    """Cells as stripped text, None where there is no value, and notes on what was done.

    ``missing`` are further words for a missing cell, in small letters.
    """
    codes, distinct = _distinct_cells(column)
    counts = np.bincount(codes, minlength=len(distinct)).tolist()
    texts: Texts = []
    notes: list[str] = []
    n_padded = 0
    n_formulas = 0
    for cell, count in zip(distinct, counts, strict=True):
        written = _written(cell, column.name)
        bare = visible(written).strip()
        formula = _TEXT_FORMULA.fullmatch(bare)
        if formula is not None:
            n_formulas += count
            bare = formula[1].strip()
        if not _is_missing_word(bare.lower(), missing):
            texts.append(bare)
            is_padded = formula is None and len(bare) < len(written)
            n_padded += count * is_padded
            continue
        texts.append(None)
        if bare:
            cells = plural(count, "cell")
            notes.append(f"{cells} with {quoted(bare)} counted as missing")
    if _are_in_quotes(texts):
        texts = [text and text[1:-1].strip() for text in texts]
        notes.append("quotation marks around all cells taken off")
    if n_formulas:
        cells = plural(n_formulas, "cell")
        notes.append(f'{cells} written as formulas of text (="07") read as the text')
    if n_padded:
        notes.append(f"spaces at the ends of {plural(n_padded, 'cell')} taken off")
    return [texts[code] for code in codes.tolist()], notes


def _distinct_cells(column: pandas.Series) -> tuple[NDArray[np.intp], list[object]]:
    """The position (n,) of each cell among the different ones, and these."""
    try:  # columns repeat themselves: each different cell is read once
        codes, distinct = pandas.factorize(column, use_na_sentinel=False)
    except TypeError:  # lists have no hash
        return np.arange(len(column)), column.tolist()
    return codes, distinct.tolist()


def _are_in_quotes(texts: Texts) -> bool:
    """Whether all texts stand in quotation marks, which a program wrote twice."""
    present = [text for text in texts if text is not None]
    return bool(present) and all(map(_IN_QUOTES.fullmatch, present))


def is_text(column: pandas.Series) -> bool:
    """Whether a column holds nothing but text, beside blank cells."""
    return bool(types.infer_dtype(column, skipna=True) == "string")


def usual_decimal_of(frame: pandas.DataFrame) -> str:
    """The sign before decimals in most columns of text that leave no doubt."""
    columns = []
    for position in range(min(frame.shape[1], MAX_LOOKED_COLUMNS)):
        column = frame.iloc[:, position]
        if is_text(column):
            texts, _ = texts_of(_spread(column), frozenset())
            columns.append(texts)
    return usual_decimal_sign(columns)


def _spread(column: pandas.Series) -> pandas.Series:
    """At most so many cells as are looked at, from all of a column."""
    return column.iloc[:: max(1, len(column) // MAX_LOOKED_CELLS)]


def blank_rows(column: pandas.Series) -> list[bool]:
    """Which cells are blank: those with a word for "missing" are not."""
    return [
        not cell.strip() if isinstance(cell, str) else is_absent(cell)
        for cell in column.tolist()
    ]


def _is_missing_word(word: str, missing: Set[str]) -> bool:
    return (
        is_missing_word(word) or word in missing or word.removesuffix(".0") in missing
    )


def _written(cell: object, name: object) -> str:
    """A cell as it would stand in a file; an empty text where there is no value."""
    if isinstance(cell, str):
        return cell
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(cell, float | np.floating):
        return "" if np.isnan(cell) else repr(float(cell)).removesuffix(".0")
    if isinstance(cell, datetime) and cell.time() == MIDNIGHT:
        return str(cell.date())
    if isinstance(cell, timedelta):
        return f"{cell.total_seconds() / SECONDS_PER_HOUR:.12g} h"
    if isinstance(cell, Real | Decimal | date | time | np.generic):
        return str(cell)
    content = f"cells of type {type(cell).__name__}"
    hint = "leave it out with drop, or make it text"
    if isinstance(cell, list | tuple | set | np.ndarray):
        content = "lists"
        hint = "lists of labels are read with label_column"
    raise InputError(
        f"Column {name!r} holds {content}; numbers, text, dates and yes/no can be "
        f"read: {hint}."
    )


def as_codes(texts: Sequence[str | None]) -> Texts:
    """Text as categories: 3.0, as pandas writes 3 next to missing cells, is 3.

    So is 3,00 in other countries; 3,000 is a number.
    """
    codes: dict[str | None, str] = {}
    for text in set(texts):
        match = None if text is None else _FLOAT_CODE.fullmatch(text)
        if match is not None:
            codes[text] = match[1]
    return [codes.get(text, text) for text in texts]
