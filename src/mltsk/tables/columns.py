"""One column: its values as a model takes them, what the report says about it, and what is wrong with it."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas
from pandas.api import types

from mltsk.columns import OTHER, RARE_ROWS, RARE_SHARE
from mltsk.datasets.dataset import NO, YES, as_number, short
from mltsk.exceptions import InputError

from .cells import Numbers, Texts, as_codes, count, listed, numbers_of, texts_of
from .kinds import CONSTANT, DATE, IDENTIFIER, NOMINAL, NUMBER, ORDINAL, YES_NO, counts_rows, decide, why
from .report import Column


@dataclass(frozen=True, eq=False)
class Read:
    """A column that was read: what the report says, its values, and what is wrong with it, if anything."""

    column: Column
    values: Any
    problem: str = ""


@dataclass(frozen=True, eq=False)
class _Cells:
    column: Any
    texts: Texts
    notes: tuple[str, ...]
    numbers: Numbers
    levels: Sequence[str]
    known: bool

    @property
    def where(self) -> str:
        return f"Column {self.column.name!r}"


def read_column(column: Any, kind: str | None, levels: Sequence[str], missing: Set[str], known: bool) -> Read:
    """Read a pandas Series as the given kind, or as the kind that its type or the rules say.

    ``known`` says that the kind is that of a fitted model: words that it has not seen are no mistake then.
    """
    dtype = column.dtype
    if types.is_complex_dtype(dtype):
        raise InputError(f"Column {column.name!r} holds complex numbers: give their real and imaginary parts.")
    is_bool = types.is_bool_dtype(dtype)
    if kind in (None, NUMBER) and types.is_numeric_dtype(dtype) and not is_bool:
        return _sparse(column) if hasattr(dtype, "fill_value") else _typed_numbers(column, kind, missing)
    texts, notes = texts_of(column, missing)
    if kind == NUMBER and is_bool:
        texts = [text and str(int(text == "True")) for text in texts]
    declared = None
    if isinstance(dtype, types.CategoricalDtype):
        declared = ORDINAL if dtype.ordered else NOMINAL
    elif is_bool or types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        declared = YES_NO if is_bool else DATE
    if kind is None and declared is not None:
        levels = list(map(str, dtype.categories)) if declared == ORDINAL else levels
        known, kind = True, declared if len(set(texts) - {None}) > 1 else CONSTANT
    numbers = numbers_of(texts) if kind in (None, NUMBER) else Numbers(np.empty(0), [])
    found = kind or decide(str(column.name), texts, numbers)
    return _READERS.get(found, _left_out)(_Cells(column, texts, tuple(notes), numbers, levels, known), found)


def _typed_numbers(column: Any, kind: str | None, missing: Set[str]) -> Read:
    values = column.to_numpy(dtype=np.float64, na_value=np.nan).copy()
    taken = np.isin(values, [as_number(word) for word in missing])
    values[taken] = np.nan
    present = values[~np.isnan(values)]
    distinct = len(np.unique(present))
    rows = distinct > 1 and counts_rows(str(column.name), present, distinct)
    found = kind or (CONSTANT if distinct <= 1 else IDENTIFIER if rows else NUMBER)
    notes = (f"{count(int(taken.sum()))} counted as missing, as asked",) if taken.any() else ()
    problem, infinite = "", np.flatnonzero(np.isinf(values))
    if len(infinite):
        where = f"Column {column.name!r}, row {infinite[0] + 1}"
        problem = f"{where}: an infinite value is not a number ({count(len(infinite))}): leave these cells empty."
    return _of_numbers(column, found, values, notes, problem)


def _of_numbers(column: Any, kind: str, values: Any, notes: Sequence[str], problem: str, bad: int = 0) -> Read:
    present = values[~np.isnan(values)]
    some = [f"{value:.12g}" for value in dict.fromkeys(present[:50].tolist())]
    counts = len(values), len(np.unique(present)), len(values) - len(present) - bad
    told = _report(column, kind, counts, some, notes=(*notes, *why(kind, present)))
    return Read(told, _series(column, values, "float64") if kind == NUMBER else column, problem)


def _sparse(column: Any) -> Read:
    """A sparse column of numbers, kept as it is: what is not stored is zero."""
    stored = np.asarray(column.array.sp_values, dtype=np.float64)
    distinct = {*stored[~np.isnan(stored)].tolist(), *([0.0] if len(stored) < len(column) else [])}
    counts = len(column), len(distinct), int(np.isnan(stored).sum())
    return Read(_report(column, NUMBER, counts, [f"{value:g}" for value in sorted(distinct)[:3]]), column)


def _number(cells: _Cells, kind: str) -> Read:
    problem = ""
    if bad := cells.numbers.bad:
        texts = [cells.texts[i] or "" for i in bad]
        words = list(dict.fromkeys(texts))
        such = f"{count(len(bad), 'such cell')}{f': {listed(words)}' if len(words) > 1 else ''}"
        words = [short(word)[1:-1] for word in words[:3]]
        ways = ["correct the file", f'count such cells as missing (missing="{",".join(words)}")']
        ways = [" or ".join(ways)] if cells.known else [*ways, "or call the column nominal"]
        where = f"{cells.where}, row {bad[0] + 1}"
        problem = f"{where}: {short(texts[0])} is not a number ({such}): {', '.join(ways)}."
    notes = (*cells.notes, *cells.numbers.notes)
    return _of_numbers(cells.column, NUMBER, cells.numbers.values, notes, problem, len(bad))


def _yes_no(cells: _Cells, kind: str) -> Read:
    words = [None if text is None else text.lower().removesuffix(".0") for text in cells.texts]
    bad = [i for i, word in enumerate(words) if word is not None and word not in YES | NO]
    problem = ""
    if bad and cells.known:  # a third word, which a model has not seen
        told = ["yes" if w in YES else "no" if w in NO else text for w, text in zip(words, cells.texts, strict=True)]
        unseen = _unseen({cells.texts[i] or "" for i in bad}, len(bad))
        return _read(cells, YES_NO, _series(cells.column, told, "category"), [unseen])
    if bad:
        cell = short(cells.texts[bad[0]] or "")
        problem = f"{cells.where}, row {bad[0] + 1}: {cell} is neither yes nor no ({count(len(bad))} such)."
    values = [None if word is None else word in YES for word in words]
    return _read(cells, YES_NO, _series(cells.column, values, "boolean"), problem=problem)


def _unseen(words: Iterable[str], n: int) -> str:
    return f"{count(n)} with {listed(sorted(words))}, which the model has not seen"


def _categories(cells: _Cells, kind: str) -> Read:
    texts, ordered = as_codes(cells.texts), kind == ORDINAL
    words = sorted({text for text in texts if text is not None})
    levels = list(dict.fromkeys(level or "" for level in as_codes(list(cells.levels)))) if ordered else words
    strange = set(words) - set(levels)
    problem, notes = "", list[str]()
    if strange and cells.known:
        notes.append(_unseen(strange, sum(text in strange for text in texts)))
        levels += sorted(strange)
    elif strange:
        problem = f"{cells.where} holds {listed(sorted(strange))}, not among its levels {listed(levels)}."
    elif not cells.known and (unused := [level for level in levels if level not in words]):
        problem = f"{cells.where} has no cell with the level {listed(unused)}; it holds {listed(words)}."
    texts = [None if problem and text in strange else text for text in texts]
    least, often = max(RARE_ROWS, RARE_SHARE * len(texts)), Counter(texts)
    if not ordered and not cells.known and (rare := [word for word in words if often[word] < least]):
        notes.append(f"{listed(rare)}: in fewer than {least:.0f} rows each, together {OTHER!r} in the model")
    values = _series(cells.column, texts, pandas.CategoricalDtype(levels, ordered))
    return _read(replace(cells, texts=texts), kind, values, notes, levels, problem)


def _left_out(cells: _Cells, kind: str) -> Read:
    return _read(cells, kind, cells.column, why(kind, [text for text in cells.texts if text is not None]))


def _read(
    cells: _Cells, kind: str, values: Any, notes: Sequence[str] = (), levels: Sequence[str] = (), problem: str = ""
) -> Read:
    words: Texts = list(dict.fromkeys(text for text in cells.texts if text is not None))
    counts = len(cells.texts), len(words), cells.texts.count(None)
    told = _report(cells.column, kind, counts, as_codes(words[:3]), levels, (*cells.notes, *notes))
    return Read(told, values, problem)


def _report(
    column: Any, kind: str, counts: tuple[int, int, int], some: Sequence[Any], levels: Any = (), notes: Any = ()
) -> Column:
    model = {
        NUMBER: "number",
        YES_NO: "yes or no",
        NOMINAL: count(len(levels), "category").replace("ys", "ies"),
        ORDINAL: count(len(levels), "ordered level"),
        IDENTIFIER: "left out (in ids)",
    }.get(kind, "left out")
    return Column(str(column.name), kind, *counts, tuple(some[:3]), tuple(levels), tuple(notes), model)


def _series(column: Any, values: Any, dtype: Any) -> Any:
    return pandas.Series(values, index=column.index, dtype=dtype)


_READERS = {NUMBER: _number, YES_NO: _yes_no, NOMINAL: _categories, ORDINAL: _categories}
