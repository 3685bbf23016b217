"""The cells of one column as text and as numbers: what is missing, what is a number, and in which notation."""

import re
from collections.abc import Sequence, Set
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas
from numpy.typing import NDArray

from mltsk.datasets.dataset import as_number, short
from mltsk.exceptions import InputError

# Words for a missing cell, in any mixture of capitals. "none" and "-" are not among them: both can be an answer.
MISSING = frozenset(
    {"", "?", "na", "n/a", "#n/a", "nan", "-nan", "null", "<na>", "nat"}
)
ENOUGH_COMMAS = 0.05  # of the cells with commas: a single 2,5 among a hundred 1,234 is a typo, no notation
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_COMMA = re.compile(r"[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+(e[-+]?\d+)?", re.IGNORECASE)
_WHOLE = re.compile(r"[-+]?\d+")
_FLOAT_CODE = re.compile(r"-?\d+\.0+")

Texts = list[str | None]


def texts_of(column: Any, missing: Set[str]) -> tuple[Texts, list[str]]:
    """The cells as stripped text, None where there is no value, and notes on what was done to them."""
    try:  # columns repeat themselves: each cell is read once
        which, distinct = pandas.factorize(column, use_na_sentinel=False)
    except TypeError:  # lists have no hash
        which, distinct = np.arange(len(column)), column
    times = np.bincount(which, minlength=len(distinct)).tolist()
    texts: Texts = []
    notes, padded = [], 0
    for cell, n in zip(distinct.tolist(), times, strict=True):
        text = cell if isinstance(cell, str) else _written(cell, column.name)
        bare = "" if text is None else text.strip()
        word = bare.lower()
        absent = (
            word in MISSING or word in missing or word.removesuffix(".0") in missing
        )
        if absent and bare:
            notes.append(f"{count(n)} with {short(bare)} counted as missing")
        padded += 0 if absent or len(bare) == len(text or "") else n
        texts.append(None if absent else bare)
    notes += [f"spaces at the ends of {count(padded)} taken off"] if padded else []
    return [texts[i] for i in which.tolist()], notes


def _written(cell: Any, name: Any) -> str | None:
    """A cell that is no text as it would stand in a file."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, float | np.floating):
        return None if np.isnan(cell) else repr(float(cell)).removesuffix(".0")
    if isinstance(cell, Real | Decimal | date | np.generic):
        return str(cell)
    what, hint = (
        f"cells of type {type(cell).__name__}",
        "leave it out with drop, or make it text",
    )
    if isinstance(cell, list | tuple | set | np.ndarray):
        what, hint = "lists", "lists of labels are read with label_column"
    raise InputError(
        f"Column {name!r} holds {what}; numbers, text, dates and yes/no can be read: {hint}."
    )


class Numbers(NamedTuple):
    """The numbers of a column, NaN where there is none; rows whose cell is no number; notes on their notation."""

    values: NDArray[np.float64]
    bad: list[int]
    notes: list[str]


def numbers_of(texts: Texts) -> Numbers:
    """Read text as numbers, in the notation that the column is written in.

    Commas are read as decimal points, or as signs between thousands, only where enough cells can mean nothing else:
    2,5 or 0,125 for the one, 1,234.5 or 1,234,567 for the other. Percent signs go where every cell has one.
    """
    notes: list[str] = []
    present = [text for text in texts if text is not None]
    if present and all(text.endswith("%") for text in present):
        texts = [text if text is None else text[:-1].strip() for text in texts]
        notes.append("percent signs taken off: 5 % is 5")
    values = _plain(texts)
    if odd := {
        i: text
        for i in np.flatnonzero(np.isnan(values)).tolist()
        if (text := texts[i]) is not None
    }:
        commas = {i for i, text in odd.items() if _COMMA.fullmatch(text)}
        thousands = {i for i, text in odd.items() if _THOUSANDS.fullmatch(text)}
        pointed = sum(
            "." in text
            for i, text in enumerate(texts)
            if text is not None and i not in odd
        )
        n_commas, n_thousands = len(commas - thousands), len(thousands - commas)
        if n_commas > n_thousands + pointed and n_commas >= ENOUGH_COMMAS * len(
            commas | thousands
        ):
            swapped = str.maketrans(",", ".", ".")
            meant = [
                text and (_COMMA.fullmatch(text) or _WHOLE.fullmatch(text))
                for text in texts
            ]
            values = _plain(
                [match[0].translate(swapped) if match else None for match in meant]
            )
            notes.append("decimal commas read as points")
        elif n_thousands > n_commas:
            for i in thousands:
                values[i] = as_number(odd[i].replace(",", ""))
            notes.append("commas between thousands taken out")
    bad = [i for i in np.flatnonzero(np.isnan(values)).tolist() if texts[i] is not None]
    return Numbers(values, bad, notes)


def _plain(texts: Texts) -> NDArray[np.float64]:
    values = np.array([np.nan if text is None else as_number(text) for text in texts])
    values[np.isinf(values)] = np.nan
    return values


def as_codes(texts: Texts) -> Texts:
    """Text as categories: 3.0, which is how a whole number looks next to missing cells, is the category 3."""
    codes = {
        text: text.partition(".")[0]
        for text in {*texts}
        if text is not None and _FLOAT_CODE.fullmatch(text)
    }
    return [text if text is None else codes.get(text, text) for text in texts]


def count(n: int, what: str = "cell") -> str:
    """A number of things: ``1 cell``, ``1,200 cells``."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def listed(texts: Sequence[str], most: int = 5) -> str:
    """The first few of some texts, quoted."""
    return ", ".join(map(short, texts[:most])) + (", …" if len(texts) > most else "")
