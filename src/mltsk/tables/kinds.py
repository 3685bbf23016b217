"""Kinds of columns, and the rules that decide which kind a column is.

constant
    At most one distinct value.
number
    Every cell is a number (not 007). If nearly all are, the others are refused by name.
yes/no
    Two words such as yes and no, true and false, beside words such as unknown; a column
    of booleans.
tick box
    A sign such as x in some cells, if the user says that blank cells mean no.
date
    Nearly all cells are dates, or nearly all are times of day.
identifier
    Whole numbers, all different, that have a name that says it, or that rise under a
    name that is none of a measurement; short text that hardly repeats.
text
    Words that hardly repeat, or too many of them for categories.
nominal
    Any other text: few words that repeat; unordered categories of a data frame.
ordinal
    Only if the user says so (``ordinal=``); ordered categories of a data frame.
group
    Whole numbers or words that repeat, under the name of an identifier such as patient:
    see `mltsk.tables.groups`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from datetime import date, timedelta
from math import isnan

import numpy as np
from numpy.typing import NDArray

from mltsk.datasets.dataset import as_number
from mltsk.text import listing, plural, quoted, quoted_list, typed

from .dates import TIME_OF_DAY, are_plain_dates, is_date
from .notation import Numbers, Texts, units_that_differ
from .numerals import taken_apart
from .words import (
    DASHES,
    NO_LABEL_WORDS,
    NO_WORDS,
    NOT_OBSERVED_WORDS,
    TICKS,
    UNKNOWN_WORDS,
    YES_WORDS,
)

NUMBER = "number"
YES_NO = "yes/no"
TICK = "tick box"
NOMINAL = "nominal"
ORDINAL = "ordinal"
DATE = "date"
IDENTIFIER = "identifier"
GROUP = "group"
TEXT = "text"
CONSTANT = "constant"
DROPPED = "dropped"
LABEL = "label"
LABEL_LISTS = "label lists"
USED = (NUMBER, YES_NO, TICK, NOMINAL, ORDINAL)  # the kinds that a model takes

# What is said about a column: its kind, or the levels of an ordinal one in order.
Said = str | Sequence[str]

NEARLY_ALL = 0.95  # of the cells: one typo in twenty is a typo, more may be meant
MANY_VALUES = 20  # distinct numbers that nobody has codes for, or many categories
MAX_NOTED_CODES = 10  # distinct whole numbers that may be codes: worth a note
# From this many rows on, "all values differ" or "they rise" is no accident.
MIN_ROWS_OF_PATTERN = 10
# Rows per category on average: with fewer, an effect has nothing to stand on.
MIN_ROWS_PER_CATEGORY = 2
MIN_ROWS_PER_CATEGORY_OF_MANY = 10  # where there are more than MANY_VALUES categories
MAX_CATEGORIES = 1000
LIST_SEPARATORS = ";|,"
MIN_SHARE_OF_LISTS = 0.05  # of the cells hold a sign between entries
MIN_WORDS_OF_SENTENCE = 4  # in a cell, on average: text for people, no name or key

_ID_NAME = re.compile(
    r"(patient|u?subj|subject|person|case|record|row|sample|study|customer|user|visit"
    r"|client|pt|pat)?"
    r"_?ids?",
    re.IGNORECASE,
)
# As programs call the column of row names; "column 1" has no name in the file.
_ROW_NAMES = re.compile(
    r"column 1|unnamed: \d+|row[._ ]?names?|_?index_?", re.IGNORECASE
)
_ID_WORD = re.compile(
    r"ids?|uuid|guid|seqn|nr|no|num|code|key|index|idx|patient|subject|participant"
    r"|person|case|record|row|mrn|identifier|barcode"
)
_DATE_WORD = re.compile(
    r"dates?|dob|birth|born|died|death|admi\w+|discharged?|seen|datum|geb|geburt\w*"
    r"|aufnahme|entlassung|fecha|nacimiento|data|nascimento|nascita|naissance"
)
SERIAL_DAYS = (10_000, 70_000)  # from 1927 to 2091
_MEASURE_WORD = re.compile(
    r"age|years?|weight|height|length|width|temp(?:erature)?|dose|dist(?:ance)?|bmi"
    r"|income|salary|wage|price|cost|pop(?:ulation)?|score|speed|pressure"
    r"|alter|jahr|gewicht|größe|dosis|einkommen|gehalt|preis|temperatur"
    r"|edad|año|peso|altura|talla|ingreso|salario|precio|idade|ano|renda|preço"
    r"|âge|année|poids|taille|revenu|salaire|prix|età|anno|altezza|prezzo"
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_TWO_NUMBERS = re.compile(r"\d+(?:\.\d+)? ?/ ?\d+(?:\.\d+)?")
# Numbers that people write where there is none.
MISSING_CODES = (-1, -8, -9, -77, -88, -99, -777, -888, -999, -9999)
MISSING_NINES = (99, 999, 9999, 99999)
MIN_CODE_CELLS = 2
CODE_SIGN = "far from the others"
MAX_WORDS_OF_OPTION = 3
MIN_CODE_RATIO = 3  # of a code of nines and the largest other value

_REASONS = {
    CONSTANT: "left out: the same value in every cell that has one",
    IDENTIFIER: "left out as an identifier, hardly a value twice; --number or "
    "--nominal to use it",
    DATE: "left out as a date; --number reads it as a year such as 2024.16, --age as "
    "an age",
    TEXT: "left out as text, too many different words; --nominal to use them as "
    "categories",
}
_MAYBE_CODES = (
    "few whole numbers, read as numbers; --nominal for codes, --ordinal for ranks"
)
_TIMES = "left out as a time of day; --number reads it as hours such as 13.75"
_PLAIN_DATES = (
    "left out as a date without signs; --age as an age, --number reads it as the "
    "number that it looks like"
)
_PAIRS_OF_NUMBERS = (
    "left out: two numbers in a cell; make two columns of them in the file"
)
MAYBE_LISTS = "entries with a sign between them; --label-column if these are labels"
TICKS_UNSAID = (
    "left out: one sign or word, or a blank; --blank-means-no if a blank cell is a no"
)
NO_STARTS = ("not ", "non-", "un")


def decide(name: str, texts: Texts, numbers: Numbers) -> str:
    """The kind of a column of text, given its cells as text and as numbers."""
    present = [text for text in texts if text is not None]
    words = set(present)
    if len(words) <= 1:
        return CONSTANT
    if are_plain_dates(present):
        return DATE
    values = numbers.values[~np.isnan(numbers.values)]
    may_be_numbers = not _has_padded_codes(values, words)
    if may_be_numbers and not numbers.bad_rows:
        return IDENTIFIER if _are_ids(name, values, words) else NUMBER
    if answers_yes_and_no(words):
        return YES_NO
    if are_dates(present):
        return DATE
    if may_be_numbers and _are_mostly_numbers(values, len(present)):
        return NUMBER
    return _kind_of_words(name, present, words)


def _are_ids(name: str, values: NDArray[np.float64], words: Set[str]) -> bool:
    """Whether numbers identify rows: 60 kg is measured, whatever 60 looks like."""
    is_plain = not any(isnan(as_number(word)) for word in words)
    return is_plain and counts_rows(name, values, len(words))


def looks_like_lists(present: Sequence[str]) -> bool:
    """Whether cells may list labels: short entries between signs, which repeat."""
    for separator in LIST_SEPARATORS:
        with_sign = [text for text in present if separator in text]
        if len(with_sign) < MIN_SHARE_OF_LISTS * len(present):
            continue
        entries = [entry.strip() for text in present for entry in text.split(separator)]
        n_words = sum(len(entry.split()) for entry in entries)
        are_short = n_words < MIN_WORDS_OF_SENTENCE * len(entries)
        has_words = not any(entry.isdigit() for entry in entries)
        if are_short and has_words and 2 * len(set(entries)) <= len(entries):
            return True
    return False


def are_dates(present: Sequence[str]) -> bool:
    """Whether nearly all texts are dates, or all are times of day."""
    n_dates = sum(map(is_date, present))
    return n_dates >= NEARLY_ALL * len(present) or are_times(present)


def are_times(present: Sequence[str]) -> bool:
    """Whether all texts are times of day, such as 13:45."""
    return bool(present) and all(map(TIME_OF_DAY.fullmatch, present))


def _are_pairs_of_numbers(present: Sequence[str]) -> bool:
    """Whether nearly all texts are two numbers, as of blood pressure: 120/80."""
    n_pairs = sum(_TWO_NUMBERS.fullmatch(text) is not None for text in present)
    return n_pairs >= NEARLY_ALL * len(present)


def _has_padded_codes(values: NDArray[np.float64], words: Set[str]) -> bool:
    """Whether there are codes such as 007, which as numbers would lose their zeros."""
    return _are_whole(values) and any(
        word[0] == "0" and len(word) > 1 and word.isdigit() for word in words
    )


def _are_yes_and_no(words: Set[str]) -> bool:
    """Whether all words mean yes or no, and both are there."""
    lower = {word.lower() for word in words}
    both = YES_WORDS | NO_WORDS
    return lower <= both and bool(lower & YES_WORDS) and bool(lower & NO_WORDS)


def answers_yes_and_no(texts: Iterable[str | None]) -> bool:
    """Whether all texts mean yes, no or unknown, and yes and no are there.

    So are 1 and 0.
    """
    present = {text for text in texts if text is not None}
    return _are_yes_and_no({t for t in present if t.lower() not in NOT_OBSERVED_WORDS})


def is_sole_yes(words: Sequence[str], n_blank: int) -> bool:
    """Whether a column holds one sign or word next to blank cells: x, Yes or Gout.

    Programs for surveys write a choice where it was made, and nothing where not.
    """
    if len(words) != 1 or not n_blank:
        return False
    word = words[0].lower()
    if word in YES_WORDS | TICKS:
        return True
    is_no = word in NO_WORDS | NO_LABEL_WORDS or word.startswith(NO_STARTS)
    return not is_no and isnan(as_number(word))


def _are_mostly_numbers(values: NDArray[np.float64], n_cells: int) -> bool:
    """Whether cells that are no numbers are mistakes: few, or among measurements."""
    if len(values) >= NEARLY_ALL * n_cells:
        return True
    are_measured = not _are_whole(values) or len(np.unique(values)) > MANY_VALUES
    return are_measured and 2 * len(values) >= n_cells


def _kind_of_words(name: str, present: Sequence[str], words: Set[str]) -> str:
    """The kind of a column of words: categories, an identifier, or text."""
    if _are_pairs_of_numbers(present):
        return TEXT
    n_cells = len(present)
    n_distinct = len(words)
    may_be_id = n_cells >= MIN_ROWS_OF_PATTERN or _is_id_name(name)
    if may_be_id and n_distinct >= NEARLY_ALL * n_cells:
        return TEXT if _are_prose(present) or units_that_differ(words) else IDENTIFIER
    if n_cells < MIN_ROWS_OF_PATTERN:
        return NOMINAL
    rows_per_category = MIN_ROWS_PER_CATEGORY
    if n_distinct > MANY_VALUES:
        rows_per_category = MIN_ROWS_PER_CATEGORY_OF_MANY
    has_rows = n_cells >= rows_per_category * n_distinct
    return NOMINAL if has_rows and n_distinct <= MAX_CATEGORIES else TEXT


def _are_prose(present: Sequence[str]) -> bool:
    """Whether cells hold sentences on average, which are no names or keys."""
    n_words = sum(len(text.split()) for text in present)
    return n_words >= MIN_WORDS_OF_SENTENCE * len(present)


def counts_rows(name: str, present: NDArray[np.float64], n_distinct: int) -> bool:
    """Whether numbers are an identifier: whole, all different, rising or named so."""
    if not _are_whole(present) or n_distinct < len(present):
        return False
    if _is_id_name(name):
        return True
    is_long = len(present) >= MIN_ROWS_OF_PATTERN
    rises = bool((np.diff(present) >= 0).all())
    return is_long and rises and not _is_measure_name(name)


def _is_measure_name(name: str) -> bool:
    """Whether a name says that something was measured: rows may be sorted by age."""
    words = re.split(r"[\W\d_]+", name.lower())
    return any(map(_MEASURE_WORD.fullmatch, words))


def _are_whole(values: NDArray[np.float64]) -> bool:
    return bool((values == np.floor(values)).all())


def _is_id_name(name: str) -> bool:
    """Whether the name of a column is one of identifiers, such as patientId."""
    if _ID_NAME.fullmatch(name.strip()) or _ROW_NAMES.fullmatch(name.strip()):
        return True
    words = _WORD.findall(name)
    return any(_ID_WORD.fullmatch(word.lower()) for word in words)


def reasons(kind: str, present: Sequence[str] | NDArray[np.float64]) -> list[str]:
    """What was decided that a user may want to overrule, and how.

    ``present`` are the cells that have a value: numbers if the kind is NUMBER.
    """
    if kind == NUMBER:
        return _notes_on_numbers(np.asarray(present, dtype=np.float64))
    if kind == CONSTANT and not len(present):
        return ["left out: no value at all"]
    texts = [text for text in present if isinstance(text, str)]
    if kind == DATE:
        return [_reason_of_date(texts)]
    if kind == TEXT and texts:
        return [_reason_of_text(texts)]
    return [_REASONS[kind]]


def _reason_of_date(texts: Sequence[str]) -> str:
    """Why a column of dates or times is left out, and how to use it."""
    if are_times(texts):
        return _TIMES
    if not texts or are_plain_dates(texts):
        return _PLAIN_DATES
    return _REASONS[DATE]


def note_on_serial_dates(name: str, values: NDArray[np.float64]) -> str:
    """The note on numbers under the name of a date that may count days as Excel does.

    >>> note_on_serial_dates("date of birth", np.array([18264.0, 45000.0]))[:38]
    'may be dates as Excel counts days (182'
    >>> note_on_serial_dates("salary", np.array([18264.0, 45000.0]))
    ''
    """
    present = values[~np.isnan(values)]
    first, last = SERIAL_DAYS
    if not len(present) or present.min() < first or present.max() > last:
        return ""
    words = {word.lower() for word in _WORD.findall(name)}
    if not any(map(_DATE_WORD.fullmatch, words)):
        return ""
    day = date(1899, 12, 30) + timedelta(days=int(present[0]))
    return (
        f"may be dates as Excel counts days ({present[0]:.0f} is {day}); format the "
        "column as dates there, or --drop"
    )


def _reason_of_text(texts: Sequence[str]) -> str:
    """Why a column of words is left out."""
    if _are_pairs_of_numbers(texts):
        return _PAIRS_OF_NUMBERS
    units = units_that_differ(texts)
    if units:
        return (
            f"left out: numbers in different units ({listing(units, at_most=3)}); "
            "write all in one"
        )
    return _REASONS[TEXT]


def _notes_on_numbers(values: NDArray[np.float64]) -> list[str]:
    """Notes on numbers that may be codes: of no value, or of categories."""
    notes = _notes_on_missing_codes(values)
    most = min(MAX_NOTED_CODES, len(values) / 2)
    if _are_whole(values) and 2 < len(np.unique(values)) <= most:
        notes.append(_MAYBE_CODES)
    return notes


def notes_on_categories(present: Sequence[str]) -> list[str]:
    """Notes on words that may be no category: among numbers, or words for nothing."""
    counts = Counter(present)
    words = [word for word in counts if _is_no_number(word)]
    n_numbers = sum(counts.values()) - sum(counts[word] for word in words)
    n_distinct_numbers = len(counts) - len(words)
    if words and 2 * n_numbers >= len(present) and n_distinct_numbers > 2:
        return [_note_on_words_among_numbers(words)]
    are_steps = any("+" in word for word in words) or len(words) <= 2
    notes = []
    for word in words:
        is_dash = word in DASHES and not are_steps
        if is_dash or word.lower() in UNKNOWN_WORDS:
            cells = plural(counts[word], "cell")
            notes.append(
                f"{cells} with {quoted(word)} a category; --missing={typed(word)} if "
                "it is none"
            )
    return notes


def _note_on_words_among_numbers(words: Sequence[str]) -> str:
    """The note on words that make categories of numbers."""
    option = ",".join(words[:MAX_WORDS_OF_OPTION])
    if len(words) > MAX_WORDS_OF_OPTION:
        option += ",…"
    return (
        f"numbers and {quoted_list(words)}, read as categories; for numbers, "
        f'--number with --missing "{option}"'
    )


def _is_no_number(word: str) -> bool:
    """Whether a word is neither a number nor the limit of one, as <1 and 5+ are."""
    cell = taken_apart(word)
    is_limit = cell is not None and bool(cell.limit)
    return isnan(as_number(word)) and not is_limit


def _notes_on_missing_codes(values: NDArray[np.float64]) -> list[str]:
    """Notes on numbers such as -99 that may mean that there is no value."""
    notes: list[str] = []
    codes = np.intersect1d(values, [*MISSING_CODES, *MISSING_NINES])
    others = values[~np.isin(values, codes)]
    if len(np.unique(others)) < 2:
        return notes  # -1 and 1 are two answers
    for code in codes.tolist():
        count = int((values == code).sum())
        is_apart = others.min() >= 0 and not (code == -1 and others.max() <= 1)
        if code > 0:
            is_apart = MIN_CODE_RATIO * np.abs(others).max() <= code
        if is_apart and count >= MIN_CODE_CELLS:
            notes.append(
                f"{count:,} cells with {code:g}, {CODE_SIGN}: --missing={code:g} if "
                "that means no value"
            )
    return notes
