"""The cells of one column as text and as numbers.

Here it is decided which cells are missing, which are numbers, and in which notation
these are written.
"""

import re
from collections.abc import Sequence, Set
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import NamedTuple

import numpy as np
import pandas
from numpy.typing import NDArray

from mltsk.datasets.dataset import as_number
from mltsk.exceptions import InputError
from mltsk.text import plural, quoted

# Words for a missing cell, in any mixture of capitals. "none" and "-" are not among
# them: both can be an answer.
MISSING_WORDS = frozenset(
    {"", "?", "na", "n/a", "#n/a", "nan", "-nan", "null", "<na>", "nat"}
)
# Decimal commas are a notation if at least this share of the cells with commas can
# mean nothing else: a single 2,5 among a hundred 1,234 is a typo.
MIN_DECIMAL_COMMAS = 0.05
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_DECIMAL_COMMA = re.compile(
    r"[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+(e[-+]?\d+)?", re.IGNORECASE
)
_WHOLE = re.compile(r"[-+]?\d+")
_FLOAT_CODE = re.compile(r"-?\d+\.0+")
_COMMA_TO_POINT = str.maketrans(",", ".", ".")

Texts = list[str | None]


def texts_of(column: pandas.Series, missing: Set[str]) -> tuple[Texts, list[str]]:
    """Cells as stripped text, None where there is no value, and notes on what was done.

    ``missing`` are further words for a missing cell, in small letters.
    """
    try:  # columns repeat themselves: each distinct cell is read once
        codes, distinct = pandas.factorize(column, use_na_sentinel=False)
    except TypeError:  # lists have no hash
        codes = np.arange(len(column))
        distinct = column
    counts = np.bincount(codes, minlength=len(distinct)).tolist()
    texts: Texts = []
    notes: list[str] = []
    n_padded = 0
    for cell, count in zip(distinct.tolist(), counts, strict=True):
        written = _written(cell, column.name)
        bare = written.strip()
        if not _is_missing_word(bare.lower(), missing):
            texts.append(bare)
            n_padded += count if len(bare) < len(written) else 0
            continue
        texts.append(None)
        if bare:
            cells = plural(count, "cell")
            notes.append(f"{cells} with {quoted(bare)} counted as missing")
    if n_padded:
        notes.append(f"spaces at the ends of {plural(n_padded, 'cell')} taken off")
    return [texts[code] for code in codes.tolist()], notes


def _is_missing_word(word: str, missing: Set[str]) -> bool:
    return (
        word in MISSING_WORDS or word in missing or word.removesuffix(".0") in missing
    )


def _written(cell: object, name: object) -> str:
    """A cell as it would stand in a file; an empty text where there is no value."""
    if isinstance(cell, str):
        return cell
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(cell, float | np.floating):
        return "" if np.isnan(cell) else repr(float(cell)).removesuffix(".0")
    if isinstance(cell, Real | Decimal | date | np.generic):
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


class Numbers(NamedTuple):
    """The numbers of a column.

    ``values`` are NaN where there is no number, ``bad_rows`` are the rows whose cell
    holds something else, and ``notes`` tell of the notation.
    """

    values: NDArray[np.float64]
    bad_rows: list[int]
    notes: list[str]


def numbers_of(texts: Texts) -> Numbers:
    """Read text as numbers, in the notation that the column is written in.

    Commas are read as decimal points, or as signs between thousands, only where enough
    cells can mean nothing else: 2,5 or 0,125 for the one, 1,234.5 or 1,234,567 for the
    other. Percent signs are taken off where every cell has one.
    """
    notes: list[str] = []
    present = [text for text in texts if text is not None]
    if present and all(text.endswith("%") for text in present):
        texts = [None if text is None else text[:-1].strip() for text in texts]
        notes.append("percent signs taken off: 5 % is 5")
    values = _plain_numbers(texts)
    bad_rows = _rows_without_number(texts, values)
    if not bad_rows:
        return Numbers(values, bad_rows, notes)
    commas = _meaning_of_commas(texts, values)
    if commas == "decimal":
        values = _plain_numbers([_with_decimal_point(text) for text in texts])
        notes.append("decimal commas read as points")
    elif commas == "thousands":
        values = _plain_numbers([_without_thousands(text) for text in texts])
        notes.append("commas between thousands taken out")
    return Numbers(values, _rows_without_number(texts, values), notes)


def _plain_numbers(texts: Texts) -> NDArray[np.float64]:
    """Texts as finite numbers, NaN for all others."""
    values = np.array([np.nan if text is None else as_number(text) for text in texts])
    values[np.isinf(values)] = np.nan
    return values


def _rows_without_number(texts: Texts, values: NDArray[np.float64]) -> list[int]:
    """Rows with a text that is no number."""
    rows = np.flatnonzero(np.isnan(values)).tolist()
    return [row for row in rows if texts[row] is not None]


def _meaning_of_commas(texts: Texts, values: NDArray[np.float64]) -> str:
    """What commas stand for: "decimal", "thousands", or "" where that is not clear."""
    present = [text for text in texts if text is not None]
    may_be_decimal = _matches(_DECIMAL_COMMA, present)
    may_be_thousands = _matches(_THOUSANDS, present)
    n_decimal = int((may_be_decimal & ~may_be_thousands).sum())
    n_thousands = int((may_be_thousands & ~may_be_decimal).sum())
    n_with_comma = int((may_be_decimal | may_be_thousands).sum())
    plain = [text for text, x in zip(texts, values, strict=True) if x == x]
    n_with_point = sum("." in str(text) for text in plain)
    enough = n_decimal >= MIN_DECIMAL_COMMAS * n_with_comma
    if enough and n_decimal > n_thousands + n_with_point:
        return "decimal"
    return "thousands" if n_thousands > n_decimal else ""


def _matches(pattern: re.Pattern[str], texts: list[str]) -> NDArray[np.bool_]:
    """Which texts are of a pattern, from end to end."""
    return np.array([pattern.fullmatch(text) is not None for text in texts])


def _with_decimal_point(text: str | None) -> str | None:
    """1.234,5 as 1234.5; None where points or signs could mean something else."""
    if text and (_DECIMAL_COMMA.fullmatch(text) or _WHOLE.fullmatch(text)):
        return text.translate(_COMMA_TO_POINT)
    return None


def _without_thousands(text: str | None) -> str | None:
    """1,234.5 as 1234.5, and any other text as it is."""
    if text and _THOUSANDS.fullmatch(text):
        return text.replace(",", "")
    return text


def as_codes(texts: Sequence[str | None]) -> Texts:
    """Text as categories: 3.0, as pandas writes 3 next to missing cells, is 3."""
    codes: dict[str | None, str] = {}
    for text in set(texts):
        if text is not None and _FLOAT_CODE.fullmatch(text):
            codes[text] = text.partition(".")[0]
    return [codes.get(text, text) for text in texts]
