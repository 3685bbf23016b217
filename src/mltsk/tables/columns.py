"""One column: its kind, its values as a model takes them, what the report says about it, and what is wrong with it.

| kind | the rule |
|---|---|
| constant | at most one distinct value |
| number | every cell is a number (not 007); nearly all, and the rest is refused by name |
| yes/no | two words such as yes and no, true and false; a column of booleans |
| date | nearly all cells are dates or times |
| identifier | every value is another one, and they run upwards or the name says so; short text that hardly repeats |
| text | words that hardly repeat, or too many of them for categories |
| nominal | any other text: few words that repeat; a data frame's unordered categories |
| ordinal | only if somebody says so: ``ordinal=``, or a data frame's ordered categories |

A label column holds 0 and 1, yes and no, true and false, y and n, t and f, in any mixture of capitals, and NaN where
nobody looked. Any other two values are refused until somebody says which of them means yes: −1 and +1 could be read as
numbers, too.
"""

import re
from collections import Counter
from collections.abc import Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import pandas
from numpy.typing import NDArray
from pandas.api import types

from mltsk.columns import OTHER, RARE_ROWS, RARE_SHARE
from mltsk.datasets.dataset import NO, YES, as_number, short
from mltsk.exceptions import InputError

from .cells import (
    MISSING,
    Numbers,
    Texts,
    as_codes,
    count,
    listed,
    numbers_of,
    texts_of,
)
from .report import Column

NUMBER, YES_NO, NOMINAL, ORDINAL = "number", "yes/no", "nominal", "ordinal"
DATE, IDENTIFIER, TEXT, CONSTANT = "date", "identifier", "text", "constant"
USED = (NUMBER, YES_NO, NOMINAL, ORDINAL)  # the kinds that a model takes

NEARLY = 0.95  # of the cells: one typo in twenty is a typo, more may be meant
MANY = 20  # distinct numbers: more than anybody has codes for
FEW = 10  # distinct whole numbers that may be codes: worth a note
ENOUGH = 10  # rows from which "every value is another one" or "they run upwards" is no accident
ROWS_PER_WORD = (
    2,
    10,
)  # on average, for up to MANY categories and for more: below, an effect has nothing to stand on
MOST_CATEGORIES = 1000
SENTENCE = 4  # words in a cell, on average: text for people, no name or key

_ID = re.compile(
    r"(patient|subject|person|case|record|row|sample|study|customer|user|visit|client)?_?ids?",
    re.I,
)
_ID_WORDS = re.compile(
    "ids?|uuid|guid|seqn|nr|no|num|code|key|index|idx|patient|subject|participant|person|case|record|row|mrn|identifier"
    "|barcode"
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_TIME = r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?(Z|[AP]M|[-+]\d{2}:?\d{2}))?)?"
_DATE = re.compile(
    rf"(\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\2(\d{{4}}|\d{{2}})){_TIME}",
    re.I,
)
Said = (
    str | Sequence[str]
)  # the kind of a column, or the levels of an ordinal one in order
LABEL, LABEL_LISTS = "label", "label lists"  # kinds, in the report
IN_MODEL = {NUMBER: "number", YES_NO: "yes or no", IDENTIFIER: "left out (in ids)"}
_REASONS = {
    CONSTANT: "left out: the same value in every cell that has one",
    IDENTIFIER: "left out as an identifier, hardly a value twice; to use it say number or nominal",
    DATE: "left out as a date; turn it into a number first, such as days since a first visit",
    TEXT: "left out as text, too many different words; to use them as categories say nominal",
}


class Read(NamedTuple):
    """A column that was read: what the report says, its values, and what is wrong with it, if anything."""

    column: Column
    values: Any
    problem: str = ""


def read_column(column: Any, said: Said | None, missing: Set[str], known: bool) -> Read:
    """Read a pandas Series as somebody said, or as its type or the rules say.

    ``known`` says that the kind is that of a fitted model: words that it has not seen are no mistake then.
    """
    kind, levels = (
        (said, ()) if said is None or isinstance(said, str) else (ORDINAL, said)
    )
    dtype, is_bool = column.dtype, types.is_bool_dtype(column.dtype)
    if types.is_complex_dtype(dtype):
        raise InputError(
            f"Column {column.name!r} holds complex numbers: give their real and imaginary parts."
        )
    if kind in (None, NUMBER) and types.is_numeric_dtype(dtype) and not is_bool:
        return (
            _sparse(column)
            if hasattr(dtype, "fill_value")
            else _typed_numbers(column, kind, missing)
        )
    texts, notes = texts_of(column, missing)
    declared = {"b": YES_NO, "M": DATE, "m": DATE}.get(dtype.kind)
    if isinstance(dtype, types.CategoricalDtype):
        declared = ORDINAL if dtype.ordered else NOMINAL
    if kind is None and declared is not None:
        levels = list(map(str, dtype.categories)) if declared == ORDINAL else levels
        known, kind = True, declared if len(set(texts) - {None}) > 1 else CONSTANT
    if kind in (None, NUMBER):
        numbers = numbers_of(
            [text and str(int(text == "True")) for text in texts] if is_bool else texts
        )
        kind = kind or decide(str(column.name), texts, numbers)
    if kind == NUMBER:
        return _number(column, texts, numbers, notes, known)
    if kind == YES_NO:
        return _yes_no(column, texts, notes)
    if kind in (NOMINAL, ORDINAL):
        return _categories(
            column, texts, notes, levels if kind == ORDINAL else None, known
        )
    notes = (
        []
        if said
        else [*notes, *why(kind, [text for text in texts if text is not None])]
    )
    return _of_texts(column, kind, texts, column, notes)


def _typed_numbers(column: Any, kind: str | None, missing: Set[str]) -> Read:
    values = column.to_numpy(dtype=np.float64, na_value=np.nan).copy()
    taken = np.isin(values, [as_number(word) for word in missing])
    values[taken] = np.nan
    present = values[~np.isnan(values)]
    if kind is None:
        distinct = len(np.unique(present))
        is_id = distinct > 1 and counts_rows(str(column.name), present, distinct)
        kind = IDENTIFIER if is_id else NUMBER if distinct > 1 else CONSTANT
    notes = (
        [f"{count(int(taken.sum()))} counted as missing, as asked"]
        if taken.any()
        else []
    )
    problem, infinite = "", np.flatnonzero(np.isinf(values))
    if len(infinite):
        where = f"Column {column.name!r}, row {infinite[0] + 1}"
        problem = f"{where}: an infinite value is not a number ({count(len(infinite))}): leave these cells empty."
    return _of_numbers(column, kind, values, notes, problem)


def _sparse(column: Any) -> Read:
    """A sparse column of numbers, kept as it is: what is not stored is zero."""
    stored = np.asarray(column.array.sp_values, dtype=np.float64)
    distinct = {
        *stored[~np.isnan(stored)].tolist(),
        *([0.0] if len(stored) < len(column) else []),
    }
    some = [f"{value:g}" for value in sorted(distinct)[:3]]
    return Read(
        _told(column, NUMBER, len(distinct), int(np.isnan(stored).sum()), some), column
    )


def _number(
    column: Any, texts: Texts, numbers: Numbers, notes: Sequence[str], known: bool
) -> Read:
    problem = ""
    if bad := [texts[i] or "" for i in numbers.bad]:
        words = list(dict.fromkeys(bad))
        such = f"{count(len(bad), 'such cell')}{f': {listed(words)}' if len(words) > 1 else ''}"
        words = [short(word)[1:-1] for word in words[:3]]
        ways = [
            "correct the file",
            f'count such cells as missing (missing="{",".join(words)}")',
        ]
        ways = [" or ".join(ways)] if known else [*ways, "or call the column nominal"]
        where = f"Column {column.name!r}, row {numbers.bad[0] + 1}"
        problem = (
            f"{where}: {short(bad[0])} is not a number ({such}): {', '.join(ways)}."
        )
    return _of_numbers(
        column, NUMBER, numbers.values, [*notes, *numbers.notes], problem, len(bad)
    )


def _of_numbers(
    column: Any,
    kind: str,
    values: Any,
    notes: Sequence[str],
    problem: str,
    bad: int = 0,
) -> Read:
    present = values[~np.isnan(values)]
    some = [f"{value:.12g}" for value in dict.fromkeys(present[:50].tolist())]
    missing = len(values) - len(present) - bad
    told = _told(
        column,
        kind,
        len(np.unique(present)),
        missing,
        some,
        [*notes, *why(kind, present)],
    )
    return Read(
        told, pandas.Series(values, column.index) if kind == NUMBER else column, problem
    )


def _yes_no(column: Any, texts: Texts, notes: Sequence[str]) -> Read:
    words = [text and text.lower().removesuffix(".0") for text in texts]
    values: list[Any] = [None if word is None else word in YES for word in words]
    if strange := {
        text
        for text, word in zip(texts, words, strict=True)
        if text and word not in YES | NO
    }:
        notes = [
            *notes,
            _unseen(strange, texts),
        ]  # a third word, which a model has not seen
        values = [
            "yes" if w in YES else "no" if w in NO else text
            for w, text in zip(words, texts, strict=True)
        ]
    series = pandas.Series(
        values, column.index, dtype="category" if strange else "boolean"
    )
    return _of_texts(column, YES_NO, texts, series, notes)


def _categories(
    column: Any, texts: Texts, notes: list[str], said: Sequence[str] | None, known: bool
) -> Read:
    """Categories, in the order of the levels that were said, if any."""
    texts, where, problem = as_codes(texts), f"Column {column.name!r}", ""
    words = sorted({text for text in texts if text is not None})
    levels = (
        words
        if said is None
        else list(dict.fromkeys(level or "" for level in as_codes(list(said))))
    )
    strange = set(words) - set(levels)
    if strange and known:
        notes.append(_unseen(strange, texts))
        levels += sorted(strange)
    elif strange:
        problem = f"{where} holds {listed(sorted(strange))}, not among its levels {listed(levels)}."
        texts = [None if text in strange else text for text in texts]
    elif not known and (unused := [level for level in levels if level not in words]):
        problem = f"{where} has no cell with the level {listed(unused)}; it holds {listed(words)}."
    least, often = max(RARE_ROWS, RARE_SHARE * len(texts)), Counter(texts)
    if (
        said is None
        and not known
        and (rare := [word for word in words if often[word] < least])
    ):
        notes.append(
            f"{listed(rare)}: in fewer than {least:.0f} rows each, together {OTHER!r} in the model"
        )
    values = pandas.Series(
        texts, column.index, dtype=pandas.CategoricalDtype(levels, said is not None)
    )
    kind, model = ORDINAL, count(len(levels), "ordered level")
    if said is None:
        kind, model = NOMINAL, count(len(levels), "category").replace("ys", "ies")
    return _of_texts(column, kind, texts, values, notes, levels, problem, model)


def _unseen(words: Set[str], texts: Texts) -> str:
    n = sum(text in words for text in texts)
    return f"{count(n)} with {listed(sorted(words))}, which the model has not seen"


def read_label(column: Any, positive: Sequence[str] | None, missing: Set[str]) -> Read:
    """A label column as 1, 0 and NaN; ``positive`` are the words that mean yes, where it has others."""
    texts, notes = texts_of(column, missing)
    texts, name, problem = as_codes(texts), str(column.name), ""
    words = sorted({text for text in texts if text is not None})
    yes = (
        [word for word in words if word.lower() in YES]
        if positive is None
        else positive
    )
    if absent := [word for word in yes if word not in words]:
        problem = f"has no cell with {listed(absent)}; it holds {listed(words)}."
    elif positive is not None and len(positive) == 1 and len(words) > 2:
        problem = f"holds {listed(words)}: give all words that mean yes in a list."
    elif positive is None and (
        strange := [word for word in words if word.lower() not in YES | NO]
    ):
        one = short((yes or strange)[-1])
        hint = f"say which one means yes, labels={{{name!r}: {one}}} or --labels {name}={one[1:-1]}"
        if len(words) > 2:
            hint = f"count words as missing (missing), or list those that mean yes, labels={{{name!r}: [{one}, …]}}"
        problem = f"holds {listed(words)}, not 0 and 1 or yes and no: {hint}."
    values = pandas.Series(
        [np.nan if text is None else float(text in yes) for text in texts], column.index
    )
    model = f"label: {int(values.sum()):,} of {values.count():,} yes"
    problem = problem and f"Label {name!r} {problem}"
    return _of_texts(
        column,
        LABEL,
        texts,
        values.rename(column.name),
        notes,
        problem=problem,
        model=model,
    )


def read_lists(column: Any, separator: str, missing: Set[str]) -> Read:
    """A column of label lists as a frame of 1, 0 and NaN: a label per distinct entry, the most frequent first.

    ``none``, or an empty list in a data frame, means no label; an empty cell means that nobody looked.
    """
    if not separator:
        raise InputError(
            'The separator of label lists is empty: give the sign between two labels, such as ";".'
        )
    from sklearn.preprocessing import MultiLabelBinarizer

    rows = [_entries(cell, separator, missing) for cell in column.tolist()]
    often = Counter(entry for row in rows for entry in row or ())
    names = sorted(often, key=lambda name: (-often[name], name))
    Y = (
        MultiLabelBinarizer(classes=names)
        .fit_transform([row or () for row in rows])
        .astype(float)
    )
    Y[[row is None for row in rows]] = np.nan
    empty = rows.count(None)
    notes = (
        [
            f"{count(empty, 'empty cell')}, not observed; write none where there is no label"
        ]
        if empty
        else []
    )
    told = _told(
        column,
        LABEL_LISTS,
        len(names),
        empty,
        names,
        notes,
        model=count(len(names), "label"),
    )
    problem = (
        "" if names else f"Label column {column.name!r} names no label in any row."
    )
    return Read(told, pandas.DataFrame(Y, index=column.index, columns=names), problem)


def _entries(cell: Any, separator: str, missing: Set[str]) -> set[str] | None:
    """The labels of one cell, None where nobody looked."""
    if isinstance(cell, list | tuple | set | frozenset | np.ndarray):
        return {str(entry).strip() for entry in cell}
    text = (
        ""
        if cell is None or type(cell).__name__ == "NAType" or cell != cell
        else str(cell).strip()
    )
    if text.lower() in MISSING | missing:
        return None
    entries = {entry.strip() for entry in text.split(separator)} - {""}
    return set() if {entry.lower() for entry in entries} == {"none"} else entries


def _of_texts(
    column: Any,
    kind: str,
    texts: Texts,
    values: Any,
    notes: Any,
    levels: Any = (),
    problem: str = "",
    model: str = "",
) -> Read:
    words: Texts = list(dict.fromkeys(text for text in texts if text is not None))
    told = _told(
        column,
        kind,
        len(words),
        texts.count(None),
        as_codes(words[:3]),
        notes,
        levels,
        model,
    )
    return Read(told, values, problem)


def _told(
    column: Any,
    kind: str,
    distinct: int,
    missing: int,
    some: Any,
    notes: Any = (),
    levels: Any = (),
    model: str = "",
) -> Column:
    counts, model = (
        (len(column), distinct, missing),
        model or IN_MODEL.get(kind, "left out"),
    )
    return Column(
        str(column.name),
        kind,
        *counts,
        tuple(some[:3]),
        tuple(levels),
        tuple(notes),
        model,
    )


def decide(name: str, texts: Texts, numbers: Numbers) -> str:
    """The kind of a column of text, given its cells as text and as numbers."""
    present = [text for text in texts if text is not None]
    words, n = set(present), len(present)
    if len(words) <= 1:
        return CONSTANT
    values = numbers.values[~np.isnan(numbers.values)]
    measured = bool((values != np.floor(values)).any())
    padded = not measured and any(
        text[0] == "0" and len(text) > 1 and text.isdigit() for text in words
    )  # such as 007
    if not numbers.bad and not padded:
        return IDENTIFIER if counts_rows(name, values, len(words)) else NUMBER
    lower = {word.lower() for word in words}
    if lower <= YES | NO and lower & YES and lower & NO:
        return YES_NO
    if sum(_DATE.fullmatch(text) is not None for text in present) >= NEARLY * n:
        return DATE
    measured = measured or len(np.unique(values)) > MANY
    if not padded and (
        len(values) >= NEARLY * n or (2 * len(values) >= n and measured)
    ):
        return NUMBER
    if len(words) >= NEARLY * n and (n >= ENOUGH or _named_id(name)):
        return (
            TEXT
            if sum(len(text.split()) for text in present) >= SENTENCE * n
            else IDENTIFIER
        )
    rows = ROWS_PER_WORD[len(words) > MANY]
    return (
        NOMINAL
        if n < ENOUGH or (n >= rows * len(words) and len(words) <= MOST_CATEGORIES)
        else TEXT
    )


def counts_rows(name: str, present: NDArray[np.float64], distinct: int) -> bool:
    """Whether numbers are an identifier: whole, all distinct, and running upwards or named like one."""
    if (present != np.floor(present)).any() or distinct < len(present):
        return False
    return _named_id(name) or bool(
        len(present) >= ENOUGH and (np.diff(present) >= 0).all()
    )


def _named_id(name: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    return _ID.fullmatch(name.strip()) is not None or any(
        map(_ID_WORDS.fullmatch, words)
    )


def why(kind: str, present: Any) -> tuple[str, ...]:
    """What a reader may want to overrule, and how, given the kind of a column and its cells that have a value."""
    if kind == NUMBER:
        distinct = len(np.unique(present))
        codes = (
            2 < distinct <= min(FEW, len(present) / 2)
            and not (present != np.floor(present)).any()
        )
        return (
            (
                "few whole numbers, read as numbers; say nominal for codes, ordinal for ranks",
            )
            if codes
            else ()
        )
    return (
        (_REASONS[kind],)
        if kind != CONSTANT or len(present)
        else ("left out: no value at all",)
    )
