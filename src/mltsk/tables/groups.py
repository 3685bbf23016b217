"""Rows that belong together: visits of one patient, orders of one customer.

A column of identifiers that repeat says which rows these are. Its name must be one of
identifiers, and its values must be whole numbers or words; then it is no feature, and
rows with the same value are left out together wherever a model is judged.
"""

import re
from collections.abc import Iterable, Set
from itertools import chain

import numpy as np
import pandas
from numpy.typing import NDArray
from pandas.api import types

from mltsk.frames import is_absent
from mltsk.text import plural, typed

from .cells import is_text, texts_of
from .columns import ReadColumn, summary_of_texts
from .kinds import GROUP, IDENTIFIER

Codes = NDArray[np.int64]

# With fewer different values, numbers and words are rather codes than identifiers.
MIN_GROUPS = 10
# Rows per value on average, where the name does not speak of a person: a shop with a
# thousand rows is a category.
MAX_MEAN_GROUP = 20
# With a vague name, there must be so many different values.
MIN_GROUPS_OF_VAGUE_NAME = 100
# Possible rows per row of the table, from which on it is no chance that two coincide.
MIN_POSSIBLE_ROWS = 100
COLUMNS_PER_LOOK = 10  # after which it may be known that no row is a copy
HASH_FACTOR = np.uint64(1_000_003)

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PERSONS = (
    "patient|subject|person|participant|respondent|customer|client|user|member|student"
    "|pupil|employee|donor|volunteer|proband|pat|pt|patienten|paciente|paziente|kunde"
    "|kunden|fall|u?subj|pazienti|pacientes|pacjent|pacjenta|hasta"
)
_NUMBERS = "ids?|no|nr|num|number|code|key|nummer|numero"
# What people call the number of a person: patient, PatientID, id_paciente, SUBJID, mrn.
_PERSON_NAME = re.compile(
    rf"({_PERSONS}) ?({_NUMBERS})?|({_NUMBERS}) ?(de )?({_PERSONS})|pid|mrn|fallnr"
)
_OTHER_NAME = re.compile(r"(.+ )?(ids?|uuid|guid|identifier)")
# Names of things that may be numbers or kinds as well: cases are counted, too.
_VAGUE_NAME = re.compile(
    r"case|record|household|family|encounter|admission|account|order|session|animal"
)


# What is said about an identifier that repeats and is not the group.
REPEATING_ID = "identifier that repeats"


def repeating_identifiers(
    frame: pandas.DataFrame, columns: Iterable[str], missing: Set[str]
) -> list[str]:
    """The ``columns`` whose values identify persons or things, and repeat.

    Persons come first. ``missing`` are further words for a missing cell.
    """
    persons: list[str] = []
    things: list[str] = []
    for name in columns:
        words = " ".join(_WORD.findall(name)).lower()
        is_person = _PERSON_NAME.fullmatch(words) is not None
        at_least = MIN_GROUPS
        if _VAGUE_NAME.fullmatch(words):
            at_least = MIN_GROUPS_OF_VAGUE_NAME
        elif not is_person and not _OTHER_NAME.fullmatch(words):
            continue
        column = frame[name]
        if identifies_groups(column, missing, at_least, of_persons=is_person):
            (persons if is_person else things).append(name)
    return [*persons, *things]


def identifies_groups(
    column: pandas.Series,
    missing: Set[str],
    at_least: int = MIN_GROUPS,
    *,
    of_persons: bool = False,
) -> bool:
    """Whether values are whole numbers or words that differ and repeat.

    ``at_least`` is the smallest number of different values.
    """
    if not _may_identify(column):
        return False
    texts, _ = texts_of(column, missing)
    present = [text for text in texts if text is not None]
    n_groups = len(set(present))
    if not at_least <= n_groups < len(present):
        return False
    if any("." in text and text.replace(".", "").isdigit() for text in present):
        return False  # a measurement
    return of_persons or len(present) <= MAX_MEAN_GROUP * n_groups


def _may_identify(column: pandas.Series) -> bool:
    """Whether the type of a column is one of whole numbers or of text."""
    dtype = column.dtype
    if types.is_bool_dtype(dtype) or hasattr(dtype, "fill_value"):
        return False
    if types.is_float_dtype(dtype):
        return _are_whole(column)
    if types.is_numeric_dtype(dtype) or is_text(column):
        return True
    # a sheet has whole numbers and text in one column
    is_mixed = types.is_object_dtype(dtype)
    return is_mixed and all(map(_is_whole_or_text, column.tolist()))


def _is_whole_or_text(cell: object) -> bool:
    """Whether a cell of a sheet is a whole number, text, or blank."""
    if isinstance(cell, float):
        return np.isnan(cell) or cell.is_integer()
    is_number = isinstance(cell, int) and not isinstance(cell, bool)
    return is_number or isinstance(cell, str) or is_absent(cell)


def _are_whole(column: pandas.Series) -> bool:
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    values = values[np.isfinite(values)]
    return bool((values == np.floor(values)).all())


def read_group(
    column: pandas.Series, missing: Set[str], *, is_asked: bool
) -> ReadColumn:
    """The column of groups, as it is.

    Unless the user asked for it, the report says how to overrule.
    """
    texts, notes = texts_of(column, missing)
    sizes = pandas.Series(texts).value_counts()
    name = str(column.name)
    if len(sizes):
        each = (
            f"{plural(len(sizes), 'group')} of up to {plural(int(sizes.max()), 'row')}"
        )
        notes.append(f"rows of one {name} are kept together ({each})")
    n_alone = texts.count(None)
    if n_alone:
        notes.append(
            f"{plural(n_alone, 'row')} without a value: each a group of its own"
        )
    if not is_asked:
        notes[-1] += f"; --group none, or --number {typed(name)}, to overrule"
    problem = ""
    if not len(sizes):
        problem = f"Column {name!r} has no value: it cannot say what belongs together."
    model = "keeps rows together"
    summary = summary_of_texts(column, GROUP, texts, notes=notes, model=model)
    return ReadColumn(summary, column, problem)


def read_repeating_id(column: pandas.Series, missing: Set[str]) -> ReadColumn:
    """An identifier that repeats and is not the group, as it is."""
    texts, notes = texts_of(column, missing)
    name = typed(str(column.name))
    notes.append(
        f"left out as an identifier that repeats; --group {name} keeps rows together, "
        f"--number {name} or --nominal {name} uses it"
    )
    summary = summary_of_texts(column, IDENTIFIER, texts, notes=notes)
    return ReadColumn(summary, column)


def group_codes(column: pandas.Series, missing: Set[str]) -> Codes:
    """A whole number per row, the same for rows of one group; missing cells differ."""
    texts, _ = texts_of(column, missing)
    codes, groups = pandas.factorize(np.array(texts, dtype=object))
    alone = codes < 0
    codes[alone] = len(groups) + np.arange(alone.sum())
    return codes.astype(np.int64)


def note_on_copies(
    X: pandas.DataFrame, Y: pandas.DataFrame, ids: pandas.DataFrame | None = None
) -> str:
    """The note on rows that are the same as earlier ones, labels included.

    There is none where chance makes rows the same, as there are few possible ones, nor
    on sparse tables, which are not searched. Rows that have their identifiers in
    common, too, are hardly the same by chance.
    """
    if not Y.shape[1] or any(hasattr(dtype, "fill_value") for dtype in X.dtypes):
        return ""
    n_copies = _count_copies([X, Y]) if _are_many_rows_possible(X) else 0
    if not n_copies and ids is not None and ids.shape[1]:
        named = pandas.concat([ids, X], axis=1)
        n_copies = _count_copies([named, Y]) if _are_many_rows_possible(named) else 0
    if not n_copies:
        return ""
    copies = "1 row is" if n_copies == 1 else f"{n_copies:,} rows are"
    return f"{copies} the same as an earlier one, labels included: copies by mistake?"


def _count_copies(frames: Iterable[pandas.DataFrame]) -> int:
    """How many rows are the same as an earlier one in all columns of all frames.

    Rows are compared by 64 bits, a column at a time, so that it takes little memory.
    """
    total = np.uint64(0)
    for number, (_, column) in enumerate(chain(*(frame.items() for frame in frames))):
        hashed = pandas.util.hash_pandas_object(column, index=False).to_numpy()
        total = total * HASH_FACTOR + hashed
        if number % COLUMNS_PER_LOOK == 0 and len(np.unique(total)) == total.size:
            return 0
    return total.size - len(np.unique(total))


def _are_many_rows_possible(X: pandas.DataFrame) -> bool:
    """Whether far more different rows could be there than there are rows."""
    n_values = 1
    for position in range(X.shape[1]):
        n_values *= max(1, X.iloc[:, position].nunique())
        if n_values > MIN_POSSIBLE_ROWS * len(X):
            return True
    return False
