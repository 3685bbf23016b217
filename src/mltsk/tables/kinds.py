"""Which kind a column is, by simple rules, and its values as a model takes them.

| kind | the rule |
|---|---|
| constant | at most one distinct value |
| number | every cell is a number; nearly all, and the rest is refused by name |
| yes/no | two words such as yes and no, true and false; a column of booleans |
| date | nearly all cells are dates or times |
| identifier | every value is another one, and they run upwards or the name says so; short text that hardly repeats |
| text | words that hardly repeat, or too many of them for categories |
| nominal | any other text: few words that repeat; a data frame's unordered categories |
| ordinal | only if somebody says so: ``ordinal=``, or a data frame's ordered categories |
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mltsk.exceptions import InputError

from .cells import Numbers, Texts, as_codes, count, listed, numbers_of, short, texts_of

NUMBER, YES_NO, NOMINAL, ORDINAL = "number", "yes/no", "nominal", "ordinal"
DATE, IDENTIFIER, TEXT, CONSTANT = "date", "identifier", "text", "constant"
USED = (NUMBER, YES_NO, NOMINAL, ORDINAL)  # the kinds that a model takes

YES = frozenset({"1", "yes", "true", "y", "t"})
NO = frozenset({"0", "no", "false", "n", "f"})
NEARLY = 0.95  # of the cells: one typo in twenty is a typo, more may be meant
MANY = 20  # distinct numbers: more than anybody has codes for
FEW = 10  # distinct whole numbers that may be codes: worth a note
ENOUGH = 10  # rows from which "every value is another one" or "they run upwards" is no accident
ROWS_PER_WORD = 2, 10  # on average, for up to MANY categories and for more: below, an effect has nothing to stand on
MOST_CATEGORIES = 1000
SENTENCE = 4  # words in a cell, on average: text for people, no name or key

_ID = re.compile(r"(patient|subject|person|case|record|row|sample|study|customer|user|visit|client)?_?ids?", re.I)
_ID_WORDS = re.compile(
    "ids?|uuid|guid|seqn|nr|no|num|code|key|index|idx|patient|subject|participant|person|case|record|row|mrn|identifier"
    "|barcode"
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_TIME = r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?(Z|[AP]M|[-+]\d{2}:?\d{2}))?)?"
_DATE = re.compile(rf"(\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\2(\d{{4}}|\d{{2}})){_TIME}", re.I)


@dataclass(frozen=True, eq=False)
class Read:
    """A column that was read: its kind, its values as a model takes them, and what there is to say about it."""

    kind: str
    values: Any
    distinct: int
    missing: int
    examples: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, eq=False)
class _Cells:
    column: Any
    texts: Texts
    notes: tuple[str, ...]
    numbers: Numbers
    levels: tuple[str, ...]
    known: bool

    @property
    def name(self) -> str:
        return str(self.column.name)

    def series(self, values: Any, dtype: str = "float64") -> Any:
        return _series(self.column, values, dtype)


def read_column(
    column: Any,
    kind: str | None = None,
    levels: Sequence[str] = (),
    missing: frozenset[str] = frozenset(),
    known: bool = False,
) -> Read:
    """Read a pandas Series as the given kind, or as the kind that the rules find.

    ``known`` says that the kind is that of a fitted model: words that it has not seen are no mistake then.

    Examples
    --------
    >>> import pandas as pd
    >>> from mltsk.tables.kinds import read_column
    >>> read_column(pd.Series(["3,5", "12", "NA"], name="size")).values.tolist()
    [3.5, 12.0, nan]
    """
    from pandas.api import types

    dtype = column.dtype
    if types.is_complex_dtype(dtype):
        raise InputError(f"Column {column.name!r} holds complex numbers: give their real and imaginary parts.")
    if hasattr(dtype, "fill_value") and types.is_numeric_dtype(dtype):
        return _sparse(column)
    if isinstance(dtype, types.CategoricalDtype) and kind is None:
        kind, levels = (ORDINAL, list(map(str, dtype.categories))) if dtype.ordered else (NOMINAL, levels)
        known = True  # a category without a cell, or one that all cells have, is as its owner wants it
    if types.is_bool_dtype(dtype) and kind is None:
        kind = YES_NO
    if kind == NUMBER and types.is_bool_dtype(dtype):
        column = column.astype("Float64")
    if types.is_numeric_dtype(column.dtype) and kind in (None, NUMBER) and not types.is_bool_dtype(column.dtype):
        return _typed_numbers(column, kind, missing)
    texts, notes = texts_of(column, missing)
    if kind is None and (types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype)):
        kind = DATE
    numbers = numbers_of(texts) if kind in (None, NUMBER) else Numbers(np.empty(0), [])
    found = kind or _decide(column.name, texts, numbers)
    return _READERS.get(found, _left_out)(_Cells(column, texts, tuple(notes), numbers, tuple(levels), known), found)


def _decide(name: str, texts: Texts, numbers: Numbers) -> str:
    present = [text for text in texts if text is not None]
    words, n = set(present), len(present)
    if len(words) <= 1:
        return CONSTANT
    if not numbers.bad:
        return IDENTIFIER if _counts_rows(name, numbers.values) else NUMBER
    lower = {word.lower() for word in words}
    if lower <= YES | NO and lower & YES and lower & NO:
        return YES_NO
    if sum(_DATE.fullmatch(text) is not None for text in present) >= NEARLY * n:
        return DATE
    values = numbers.values[~np.isnan(numbers.values)]
    measured = len(np.unique(values)) > MANY or bool((values % 1).any())
    if len(values) >= NEARLY * n or (2 * len(values) >= n and measured):
        return NUMBER
    if len(words) >= NEARLY * n and (n >= ENOUGH or _named_id(name)):
        return TEXT if sum(len(text.split()) for text in present) >= SENTENCE * n else IDENTIFIER
    rows = ROWS_PER_WORD[len(words) > MANY]
    return NOMINAL if n < ENOUGH or (n >= rows * len(words) and len(words) <= MOST_CATEGORIES) else TEXT


def _counts_rows(name: str, values: NDArray[np.float64]) -> bool:
    """Whether numbers are an identifier: whole, all distinct, and running upwards or named like one."""
    values = values[~np.isnan(values)]
    if (values % 1).any() or len(np.unique(values)) < len(values):
        return False
    return _named_id(name) or bool(len(values) >= ENOUGH and (np.diff(values) > 0).all())


def _named_id(name: str) -> bool:
    return _ID.fullmatch(name.strip()) is not None or any(
        _ID_WORDS.fullmatch(word.lower()) for word in _WORD.findall(name)
    )


def _typed_numbers(column: Any, kind: str | None, missing: frozenset[str]) -> Read:
    values = column.to_numpy(dtype=np.float64, na_value=np.nan).copy()
    infinite = np.isinf(values)
    taken = np.isin(values, [number for word in missing if (number := _float(word)) is not None])
    values[taken] = np.nan
    distinct = np.unique(values[~np.isnan(values)])
    notes = (f"{count(int(taken.sum()))} counted as missing, as asked",) if taken.any() else ()
    found = kind or (
        CONSTANT if len(distinct) <= 1 else IDENTIFIER if _counts_rows(str(column.name), values) else NUMBER
    )
    problem = ""
    if infinite.any():
        where = f"Column {column.name!r}, row {infinite.argmax() + 1}"
        problem = f"{where}: an infinite value is not a number ({count(int(infinite.sum()))}): leave these cells empty."
    first = dict.fromkeys(values[~np.isnan(values)][:50].tolist())
    return Read(
        found,
        _series(column, values) if found == NUMBER else column,
        len(distinct),
        int(np.isnan(values).sum()),
        tuple(f"{value:.12g}" for value in list(first)[:3]),
        notes=notes + _why(found, values, len(values)),
        problem=problem,
    )


def _sparse(column: Any) -> Read:
    """A sparse column of numbers, kept as it is: what is not stored is zero."""
    stored = np.asarray(column.array.sp_values, dtype=np.float64)
    distinct = {*stored[~np.isnan(stored)][:10_000].tolist(), *([0.0] if len(stored) < len(column) else [])}
    return Read(NUMBER, column, len(distinct), int(np.isnan(stored).sum()), tuple(f"{v:g}" for v in list(distinct)[:3]))


def _float(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _number(cells: _Cells, kind: str) -> Read:
    problem = ""
    if bad := cells.numbers.bad:
        texts = [cells.texts[i] or "" for i in bad]
        words = list(dict.fromkeys(texts))
        such = f"{count(len(bad), 'such cell')}{f': {listed(words)}' if len(words) > 1 else ''}"
        problem = (
            f"Column {cells.name!r}, row {bad[0] + 1}: {short(texts[0])} is not a number ({such}): correct the file, "
            f'count such cells as missing (missing="{",".join(map(_plain, words[:3]))}"), or call the column nominal.'
        )
    values = cells.numbers.values
    notes = (*cells.numbers.notes, *_why(NUMBER, values, len(values)))
    return _read(replace(cells, texts=as_codes(cells.texts)), NUMBER, cells.series(values), notes, problem=problem)


def _plain(text: str) -> str:
    return short(text)[1:-1]


def _yes_no(cells: _Cells, kind: str) -> Read:
    words = [None if text is None else text.lower().removesuffix(".0") for text in cells.texts]
    values = [None if word is None else word in YES for word in words]
    bad = [i for i, word in enumerate(words) if word is not None and word not in YES | NO]
    problem = ""
    if bad:
        cell = short(cells.texts[bad[0]] or "")
        problem = f"Column {cells.name!r}, row {bad[0] + 1}: {cell} is neither yes nor no ({count(len(bad))} such)."
    return _read(cells, YES_NO, cells.series(values, "boolean"), problem=problem)


def _categories(cells: _Cells, kind: str) -> Read:
    texts, ordered = as_codes(cells.texts), kind == ORDINAL
    words = sorted({text for text in texts if text is not None})
    levels = [level or "" for level in as_codes(list(cells.levels))] if ordered else words
    strange = set(words) - set(levels)
    problem, notes = "", list[str]()
    if strange and cells.known:
        n = sum(text in strange for text in texts)
        notes.append(f"{count(n)} with {listed(sorted(strange))}, not among the known levels, counted as missing")
        texts = [None if text in strange else text for text in texts]
    elif strange:
        problem = f"Column {cells.name!r} holds {listed(sorted(strange))}, not among its levels {listed(levels)}."
    elif not cells.known and (unused := [level for level in levels if level not in words]):
        problem = f"Column {cells.name!r} has no cell with the level {listed(unused)}; it holds {listed(words)}."
    import pandas

    values = pandas.Series(pandas.Categorical(texts, levels, ordered=ordered), cells.column.index)
    return _read(replace(cells, texts=texts), kind, values, notes, levels, problem)


def _left_out(cells: _Cells, kind: str) -> Read:
    present = sum(text is not None for text in cells.texts)
    return _read(cells, kind, cells.column, _why(kind, None, present))


def _read(
    cells: _Cells, kind: str, values: Any, notes: Sequence[str] = (), levels: Sequence[str] = (), problem: str = ""
) -> Read:
    words = list(dict.fromkeys(text for text in cells.texts if text is not None))
    n_missing = cells.texts.count(None)
    return Read(kind, values, len(words), n_missing, tuple(words[:3]), tuple(levels), (*cells.notes, *notes), problem)


def _why(kind: str, values: Any, present: int) -> tuple[str, ...]:
    """What a reader may want to overrule, and how."""
    if kind == NUMBER:
        values = values[~np.isnan(values)]
        if 2 < len(np.unique(values)) <= FEW and not (values % 1).any():
            return ("few whole numbers, read as numbers; if they are codes say nominal, if they are ranks say ordinal",)
        return ()
    return (_REASONS[kind],) if kind != CONSTANT or present else ("left out: no value at all",)


_REASONS: Mapping[str, str] = {
    CONSTANT: "left out: the same value in every cell that has one",
    IDENTIFIER: "left out as an identifier, no value twice; to use it say number or nominal",
    DATE: "left out as a date; turn it into a number first, such as days since a first visit",
    TEXT: "left out as text, too many different words; to use them as categories say nominal",
}


def _series(column: Any, values: Any, dtype: str = "float64") -> Any:
    import pandas

    return pandas.Series(values, index=column.index, dtype=dtype)


_READERS = {NUMBER: _number, YES_NO: _yes_no, NOMINAL: _categories, ORDINAL: _categories}
