"""Feature columns: their values as a model takes them, and what is wrong with them."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas
from numpy.typing import NDArray
from pandas.api import types

from mltsk.columns import OTHER, least_rows
from mltsk.datasets.dataset import as_number
from mltsk.exceptions import InputError
from mltsk.text import listing, plural, quoted, quoted_list

from .cells import CellRules, as_codes, blank_rows, is_text, texts_of
from .dates import are_dates_as_numbers, hours_of, years_of
from .kinds import (
    CONSTANT,
    DATE,
    IDENTIFIER,
    MAYBE_LISTS,
    NOMINAL,
    NUMBER,
    ORDINAL,
    TEXT,
    TICK,
    TICKS_UNSAID,
    USED,
    YES_NO,
    Said,
    are_dates,
    are_times,
    counts_rows,
    decide,
    is_sole_yes,
    looks_like_lists,
    note_on_serial_dates,
    notes_on_categories,
    reasons,
)
from .notation import Numbers, Texts, numbers_of
from .numerals import taken_apart
from .report import ColumnSummary
from .spelling import note_on_ranks, one_spelling, without_remarks, without_unknown
from .words import NO_WORDS, TICKS, YES_WORDS

MAX_EXAMPLES = 3
_IN_MODEL = {
    NUMBER: "number",
    YES_NO: "yes or no",
    TICK: "yes or no",
    IDENTIFIER: "left out (in ids)",
}
_KINDS_OF_TYPES = {"b": YES_NO, "M": DATE}  # by NumPy's letter of a type


class ReadColumn(NamedTuple):
    """A column that was read: its summary, its values, and what is wrong, if anything.

    ``values`` is a series, or a frame of labels; None for a column that is dropped.
    """

    summary: ColumnSummary
    values: pandas.Series | pandas.DataFrame | None
    problem: str = ""


def read_column(
    column: pandas.Series, said: Said | None, rules: CellRules, *, of_model: bool
) -> ReadColumn:
    """Read a column as the user says, or as its type or its cells say.

    ``of_model`` means that the kind is known from a fitted model: words that the model
    has not seen are no mistake then.
    """
    dtype = column.dtype
    if types.is_complex_dtype(dtype):
        raise InputError(
            f"Column {column.name!r} holds complex numbers: give their real and "
            "imaginary parts."
        )
    is_numeric = types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype)
    if is_numeric and said in (None, NUMBER):
        return _typed_numbers(column, rules.missing, is_decided=said is not None)
    texts, notes = texts_of(column, rules.missing)
    if said is None:
        return _read_undecided(column, texts, notes, rules, of_model=of_model)
    if said == NUMBER:
        numbers = _numbers_as_said(column, texts, rules)
        return _numbers_of_text(column, texts, numbers, notes, of_model=of_model)
    if said == TICK:
        return _tick_boxes(column, texts, notes)
    if said == IDENTIFIER:
        notes = []
    return _read_words(column, texts, notes, said, of_model=of_model)


def _numbers_as_said(column: pandas.Series, texts: Texts, rules: CellRules) -> Numbers:
    """The numbers of a column of which it is said that it holds some: also of dates."""
    present = [text for text in texts if text is not None]
    if present and are_times(present):
        return hours_of(texts)
    if present and are_dates(present):
        return years_of(texts)
    bare = _without_booleans(column.dtype, texts)
    return _numbers_in(column, bare, rules, is_asked=True)


def _numbers_in(
    column: pandas.Series, texts: Texts, rules: CellRules, *, is_asked: bool = False
) -> Numbers:
    """The numbers of a column; what is known of signs is about nothing but text."""
    if not (rules.decimal or rules.usual_decimal) or not is_text(column):
        return numbers_of(texts, is_asked=is_asked)
    decimal = rules.decimal
    return numbers_of(texts, decimal, rules.usual_decimal, is_asked=is_asked)


def _read_undecided(
    column: pandas.Series,
    texts: Texts,
    notes: list[str],
    rules: CellRules,
    *,
    of_model: bool,
) -> ReadColumn:
    """A column of which neither the user nor a model says what it is."""
    said = _said_by_type(column.dtype, texts)
    if said is not None:  # the categories of a type are meant as they are
        notes = [*notes, *_notes_on_words(said, texts)]
        return _read_words(column, texts, notes, said, of_model=True)
    if without_remarks(texts, []) is not texts:
        return _yes_no(column, texts, notes)
    numbers = _numbers_in(column, texts, rules)
    kind = decide(str(column.name), texts, numbers)
    if kind == NUMBER:
        return _numbers_of_text(column, texts, numbers, notes, of_model=of_model)
    if kind == CONSTANT and is_sole_yes(distinct_words(texts), texts.count(None)):
        return _ticks(column, texts, notes, rules)
    if kind == NOMINAL:
        texts = one_spelling(texts, notes)
        ranks = note_on_ranks(str(column.name), distinct_words(texts))
        if ranks:
            return _read_words(column, texts, [*notes, ranks], kind, of_model=of_model)
    notes = [*notes, *_notes_on_words(kind, texts)]
    return _read_words(column, texts, notes, kind, of_model=of_model)


def _notes_on_words(said: Said, texts: Texts) -> list[str]:
    """What a user may want to overrule about a column of words."""
    present = [text for text in texts if text]
    notes = []
    if isinstance(said, str) and said not in USED:
        notes += reasons(said, present)
    if said in (NOMINAL, TEXT) and looks_like_lists(present):
        notes.append(MAYBE_LISTS)
    if said == NOMINAL:
        notes += notes_on_categories(present)
    return notes


def _ticks(
    column: pandas.Series, texts: Texts, notes: list[str], rules: CellRules
) -> ReadColumn:
    """A column of tick boxes: left out unless it is said that blank means no."""
    if rules.blank_means_no:
        return _tick_boxes(column, texts, notes)
    summary = summary_of_texts(column, CONSTANT, texts, notes=[TICKS_UNSAID])
    return ReadColumn(summary, column)


def _read_words(
    column: pandas.Series, texts: Texts, notes: list[str], said: Said, *, of_model: bool
) -> ReadColumn:
    """A column of words of a kind that is decided."""
    if said == YES_NO:
        return _yes_no(column, texts, notes)
    if said == NOMINAL:
        return _nominal(column, texts, notes, of_model=of_model)
    if said == ORDINAL or not isinstance(said, str):
        return _ordinal(column, texts, notes, said, of_model=of_model)
    return ReadColumn(summary_of_texts(column, said, texts, notes=notes), column)


def _said_by_type(dtype: pandas.CategoricalDtype, texts: Texts) -> Said | None:
    """What the type of a column says about it: nothing in most cases."""
    said: Said | None = _KINDS_OF_TYPES.get(dtype.kind)
    if isinstance(dtype, types.CategoricalDtype):
        said = list(map(str, dtype.categories)) if dtype.ordered else NOMINAL
    is_constant = len(distinct_words(texts)) <= 1
    return CONSTANT if said and is_constant else said


def _without_booleans(dtype: object, texts: Texts) -> Texts:
    """The texts of a column, in which True is 1 and False is 0."""
    if not types.is_bool_dtype(dtype):
        return texts
    return [text and str(int(text == "True")) for text in texts]


# numbers


def _typed_numbers(
    column: pandas.Series, missing: Set[str], *, is_decided: bool
) -> ReadColumn:
    """A column of numbers: a feature if that is decided, else perhaps an identifier."""
    if hasattr(column.dtype, "fill_value"):
        return _sparse_numbers(column)
    values = column.to_numpy(dtype=np.float64, na_value=np.nan).copy()
    is_word = np.isin(values, [as_number(word) for word in missing])
    values[is_word] = np.nan
    notes = []
    if is_word.any():
        cells = plural(int(is_word.sum()), "cell")
        notes.append(f"{cells} counted as missing, as asked")
    problem = ""
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        where = f"Column {column.name!r}, row {infinite[0] + 1}"
        problem = (
            f"{where}: an infinite value is not a number "
            f"({plural(len(infinite), 'cell')}): leave these cells empty."
        )
    kind = NUMBER if is_decided else _kind_of_numbers(str(column.name), values)
    summary = _summary_of_numbers(column, kind, values, notes)
    if kind != NUMBER:
        return ReadColumn(summary, column, problem)
    return ReadColumn(summary, pandas.Series(values, column.index), problem)


def _kind_of_numbers(name: str, values: NDArray[np.float64]) -> str:
    """Number, identifier or constant."""
    present = values[~np.isnan(values)]
    n_distinct = len(np.unique(present))
    if n_distinct <= 1:
        return CONSTANT
    if are_dates_as_numbers(present):
        return DATE
    return IDENTIFIER if counts_rows(name, present, n_distinct) else NUMBER


def _sparse_numbers(column: pandas.Series) -> ReadColumn:
    """A sparse column of numbers, kept as it is: what is not stored is zero."""
    stored = np.asarray(column.array.sp_values, dtype=np.float64)
    is_missing = np.isnan(stored)
    distinct = set(stored[~is_missing].tolist())
    if len(stored) < len(column):
        distinct.add(0.0)
    summary = summarize(
        column,
        NUMBER,
        n_distinct=len(distinct),
        n_missing=int(is_missing.sum()),
        examples=[f"{value:g}" for value in sorted(distinct)[:MAX_EXAMPLES]],
    )
    return ReadColumn(summary, column)


def _numbers_of_text(
    column: pandas.Series,
    texts: Texts,
    numbers: Numbers,
    notes: Sequence[str],
    *,
    of_model: bool,
) -> ReadColumn:
    """A column of text that is read as numbers."""
    summary = _summary_of_numbers(
        column,
        NUMBER,
        numbers.values,
        [*notes, *numbers.notes],
        n_bad=len(numbers.bad_rows),
    )
    summary = replace(summary, unit=numbers.unit)
    problem = ""
    if numbers.bad_rows:
        where = f"Column {column.name!r}, row {numbers.bad_rows[0] + 1}"
        bad_texts = [texts[row] or "" for row in numbers.bad_rows]
        last = [row for row, text in enumerate(texts) if text is not None]
        is_end = len(bad_texts) > 1 and last[-len(bad_texts) :] == numbers.bad_rows
        is_end &= len(bad_texts) < len(last)
        sentence = _not_a_number(bad_texts, of_model=of_model, is_end=is_end)
        problem = f"{where}: {sentence}."
    return ReadColumn(summary, pandas.Series(numbers.values, column.index), problem)


def _not_a_number(bad_texts: Sequence[str], *, of_model: bool, is_end: bool) -> str:
    """The sentence about cells that are no numbers, and what to do about them.

    ``is_end`` says that they are the last ones of the column.
    """
    words = list(dict.fromkeys(bad_texts))
    cells = plural(len(bad_texts), "such cell")
    if len(words) > 1:
        cells = f"{cells}: {quoted_list(words)}"
    units = {cell.unit for cell in map(taken_apart, words) if cell and cell.unit}
    if units:
        shown = listing(sorted(units), at_most=3, last="or")
        return (
            f"{quoted(bad_texts[0])} is in another unit than other cells, or they "
            f"have none ({cells}): write all in {shown}, or leave the column out "
            "(--drop)"
        )
    if is_end:
        return (
            f"{quoted(bad_texts[0])} is not a number ({cells}), nor is there one below "
            "it: leave rows at the end that are no data out (--skip-end), or correct "
            "the file"
        )
    option = ",".join(quoted(word)[1:-1] for word in words[:3] if "," not in word)
    ignoring = f'count such cells as missing (--missing "{option}")'
    if not option:
        ignoring = "say what commas mean (--decimal , or --decimal .)"
    ways = f"correct the file, {ignoring}, or call the column nominal (--nominal)"
    if of_model:
        ways = f"correct the file or {ignoring}"
    return f"{quoted(bad_texts[0])} is not a number ({cells}): {ways}"


def _summary_of_numbers(
    column: pandas.Series,
    kind: str,
    values: NDArray[np.float64],
    notes: Sequence[str],
    n_bad: int = 0,
) -> ColumnSummary:
    """The summary of a column, given its numbers and how many cells are none."""
    present = values[~np.isnan(values)]
    return summarize(
        column,
        kind,
        n_distinct=len(np.unique(present)),
        n_missing=len(values) - len(present) - n_bad,
        examples=[f"{value:.12g}" for value in dict.fromkeys(present[:50].tolist())],
        notes=[*notes, *reasons(kind, present), *_notes_on_days(column, kind, values)],
    )


def _notes_on_days(
    column: pandas.Series, kind: str, values: NDArray[np.float64]
) -> list[str]:
    """The note on numbers that may be dates, if there is one."""
    note = note_on_serial_dates(str(column.name), values) if kind == NUMBER else ""
    return [note] if note else []


# words


def _yes_no(column: pandas.Series, texts: Texts, notes: list[str]) -> ReadColumn:
    """Words such as yes and no as booleans; a third word makes them categories."""
    notes = list(notes)
    called = "missing; --nominal to keep the word"
    texts = without_unknown(without_remarks(texts, notes), notes, called=called)
    answers = [_answer(text) for text in texts]
    strange = {text for text in answers if isinstance(text, str)}
    if strange:
        notes = [*notes, _unseen(strange, texts)]
        names: dict[object, str] = {True: "yes", False: "no"}
        words = [names.get(answer, answer) for answer in answers]
        values = pandas.Series(words, column.index, dtype="category")
    else:
        values = pandas.Series(answers, column.index, dtype="boolean")
    return ReadColumn(summary_of_texts(column, YES_NO, texts, notes=notes), values)


def _answer(text: str | None) -> bool | str | None:
    """True for yes, False for no, and any other text as it is."""
    if text is None:
        return None
    word = text.lower().removesuffix(".0")
    if word in YES_WORDS:
        return True
    return False if word in NO_WORDS else text


def _tick_boxes(column: pandas.Series, texts: Texts, notes: list[str]) -> ReadColumn:
    """Signs such as x as yes, blank cells as no, and other words as for yes and no.

    A word that stands alone next to blank cells means yes, too.
    """
    words = distinct_words(texts)
    is_word = is_sole_yes(words, texts.count(None)) and words[0].lower() not in TICKS
    if is_word and words[0].lower() not in YES_WORDS:
        notes = [*notes, f"{quoted(words[0])} read as yes; --drop to overrule"]
    with_words: Texts = []
    for text, is_blank in zip(texts, blank_rows(column), strict=True):
        is_tick = text is not None and (is_word or text.lower() in TICKS)
        word = "yes" if is_tick else text
        with_words.append("no" if is_blank else word)
    n_blank = texts.count(None)
    notes = [*notes, f"{plural(n_blank, 'blank cell')} read as no"]
    read = _yes_no(column, with_words, notes)
    examples = tuple(distinct_words(texts)[:MAX_EXAMPLES])
    summary = replace(read.summary, kind=TICK, examples=examples)
    return ReadColumn(summary, read.values)


def _nominal(
    column: pandas.Series, texts: Texts, notes: list[str], *, of_model: bool
) -> ReadColumn:
    """Words as unordered categories."""
    texts = as_codes(texts)
    words = distinct_words(texts)
    if not of_model:
        least = least_rows(len(texts))
        counts = Counter(texts)
        rare = [word for word in words if counts[word] < least]
        if rare:
            shares = f"in fewer than {least:.0f} rows, {OTHER!r}"
            if len(rare) > 1:
                shares = f"in fewer than {least:.0f} rows each, together {OTHER!r}"
            notes = [*notes, f"{quoted_list(rare)}: {shares} in the model"]
    dtype = pandas.CategoricalDtype(words, ordered=False)
    summary = summary_of_texts(
        column,
        NOMINAL,
        texts,
        notes=notes,
        levels=words,
        model=plural(len(words), "category", "categories"),
    )
    return ReadColumn(summary, pandas.Series(texts, column.index, dtype=dtype))


def _ordinal(
    column: pandas.Series,
    texts: Texts,
    notes: list[str],
    said: Said,
    *,
    of_model: bool,
) -> ReadColumn:
    """Words as ordered categories, given the levels in their order."""
    texts = as_codes(texts)
    words = distinct_words(texts)
    # A model that does not know the levels says no more than the kind.
    said = [] if isinstance(said, str) else list(said)
    levels = list(dict.fromkeys(level or "" for level in as_codes(said)))
    strange = set(words) - set(levels)
    problem = ""
    if not of_model:
        problem = _problem_of_levels(column.name, words, levels)
        texts = [None if text in strange else text for text in texts]
    elif strange:
        notes = [*notes, _unseen(strange, texts)]
        levels += sorted(strange)
    dtype = pandas.CategoricalDtype(levels, ordered=True)
    summary = summary_of_texts(
        column,
        ORDINAL,
        texts,
        notes=notes,
        levels=levels,
        model=plural(len(levels), "ordered level"),
    )
    return ReadColumn(summary, pandas.Series(texts, column.index, dtype=dtype), problem)


def _problem_of_levels(name: str, words: Sequence[str], levels: Sequence[str]) -> str:
    """What is wrong with the levels that a user gives, if anything."""
    strange = [word for word in words if word not in levels]
    if strange:
        return (
            f"Column {name!r} holds {quoted_list(strange)}, not among its levels "
            f"{quoted_list(levels)}."
        )
    unused = [level for level in levels if level not in words]
    if unused:
        return (
            f"Column {name!r} has no cell with the level {quoted_list(unused)}; "
            f"it holds {quoted_list(words)}."
        )
    return ""


def distinct_words(texts: Texts) -> list[str]:
    """The different words among texts, in the order of the alphabet."""
    return sorted({text for text in texts if text is not None})


def _unseen(words: Set[str], texts: Texts) -> str:
    """The note on words that a model has not seen."""
    cells = plural(sum(text in words for text in texts), "cell")
    return f"{cells} with {quoted_list(sorted(words))}, which the model has not seen"


# summaries


def summary_of_texts(
    column: pandas.Series,
    kind: str,
    texts: Texts,
    *,
    notes: Iterable[str],
    levels: Iterable[str] = (),
    model: str = "",
) -> ColumnSummary:
    """The summary of a column, given its cells as text."""
    words: Texts = [text for text in dict.fromkeys(texts) if text is not None]
    return summarize(
        column,
        kind,
        n_distinct=len(words),
        n_missing=texts.count(None),
        examples=as_codes(words[:MAX_EXAMPLES]),
        notes=notes,
        levels=levels,
        model=model,
    )


def summarize(
    column: pandas.Series,
    kind: str,
    *,
    n_distinct: int,
    n_missing: int,
    examples: Sequence[str | None],
    notes: Iterable[str] = (),
    levels: Iterable[str] = (),
    model: str = "",
) -> ColumnSummary:
    """What the report says about a column; ``model`` as the kind says unless given."""
    return ColumnSummary(
        name=str(column.name),
        kind=kind,
        rows=len(column),
        distinct=n_distinct,
        missing=n_missing,
        examples=tuple(str(example) for example in examples[:MAX_EXAMPLES]),
        levels=tuple(levels),
        notes=tuple(notes),
        model=model or _IN_MODEL.get(kind, "left out"),
    )
