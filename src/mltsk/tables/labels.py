"""Label columns, and columns that list the labels of each row.

A label column holds 0 and 1, yes and no, true and false, in any mixture of capitals and
in many languages, and no value where the label was not observed. Any other two values
are refused until the user says which of them means yes: −1 and +1 could be read as
numbers, too. A sign such as x next to blank cells is refused until the user says that a
blank cell means no.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from math import isnan
from typing import NamedTuple

import numpy as np
import pandas

from mltsk.datasets.dataset import as_number
from mltsk.exceptions import InputError
from mltsk.frames import is_absent
from mltsk.text import plural, quoted, quoted_list, typed

from .cells import CellRules, as_codes, blank_rows, texts_of
from .columns import ReadColumn, distinct_words, summarize, summary_of_texts
from .kinds import LABEL, LABEL_LISTS, is_sole_yes
from .notation import Texts
from .spelling import one_spelling, without_remarks, without_unknown
from .words import (
    DASHES,
    NO_LABEL_WORDS,
    NO_NUMBER_WORDS,
    NO_WORDS,
    TICKS,
    UNKNOWN_WORDS,
    YES_WORDS,
    is_missing_word,
)

# What may stand between two labels, the most likely first.
SEPARATORS = (";", "|", ",", "\n")
# What may stand between two labels that are there alone, too.
OTHER_SEPARATORS = (*SEPARATORS, "/", "+", "&", " ")
BRACKETS = ("[]", "{}")
# Words that are more likely to mean yes than their opposites, in a hint.
MAX_STRANGE_WORDS = 3  # that an option names
LIKELY_YES = frozenset(
    [
        "positive",
        "pos",
        *("positivo", "positif", "positiv", "dodatni", "pozitif", "var"),
        *("detected", "reactive", "deceased", "checked", "selected"),
        "+",
        "present",
        "abnormal",
        "ill",
        "sick",
        "case",
        "dead",
        "died",
        "event",
        "high",
        "pass",
    ]
)

# Words that are more likely to mean that nobody knows.
LIKELY_UNKNOWN = frozenset(
    [
        *("u", "9", "99", "999", "-9", "-99", "."),
        *("indeterminate", "inconclusive", "equivocal", "borderline", "invalid"),
        *("unclear", "pending", "maybe", "other"),
    ]
)


def read_label(
    column: pandas.Series,
    positive: Sequence[str] | None,
    rules: CellRules,
    *,
    of_model: bool = False,
) -> ReadColumn:
    """A label column as 1, 0 and NaN.

    ``positive`` are the words that mean yes; None stands for the usual ones.
    ``of_model`` means that labels are read for a fitted model: all may be yes then.
    """
    texts, notes = _answers(column, positive, rules)
    words = distinct_words(texts)
    n_blank = sum(blank_rows(column))
    if positive is None:
        is_sole = rules.blank_means_no and is_sole_yes(words, n_blank)
        positive = _sole_yes(words, notes) if is_sole else _usual_yes(words)
        problem = _problem_of_words(str(column.name), words, positive)
    else:
        are_all = "" in positive  # as in "status=1|": nothing else means yes
        positive = [word for word in positive if word]
        name = str(column.name)
        problem = _problem_of_positive(name, words, positive, are_all=are_all)
    marks = [np.nan if text is None else float(text in positive) for text in texts]
    values = pandas.Series(marks, column.index, name=column.name)
    if rules.blank_means_no:
        values = _with_blanks_as_no(column, values, notes)
    elif not problem and not of_model:
        problem = _problem_without_no(words, positive, n_blank)
    if problem:
        problem = f"Label {str(column.name)!r} {problem}"
    model = f"{int(values.sum()):,} of {values.count():,} yes"
    summary = summary_of_texts(column, LABEL, texts, notes=notes, model=model)
    return ReadColumn(summary, values, problem)


def _answers(
    column: pandas.Series, positive: Sequence[str] | None, rules: CellRules
) -> tuple[Texts, list[str]]:
    """The answers of a label column without remarks and unknowns, and notes on them."""
    texts, notes = texts_of(column, rules.missing)
    texts = as_codes(texts)
    if positive is None:
        overrule = f'--labels "{column.name}=…"'
        texts = without_remarks(texts, notes, overrule)
    texts = without_unknown(texts, notes, keep=positive or (), called="not observed")
    return texts, notes


def _sole_yes(words: Sequence[str], notes: list[str]) -> Sequence[str]:
    """The only word of a label, which means yes; a note says so if it is unusual."""
    if words != _usual_yes(words):
        notes.append(f"{quoted(words[0])} read as yes")
    return words


def _usual_yes(words: Sequence[str]) -> Sequence[str]:
    """The words that usually mean yes, or the sign of a tick if it is alone."""
    if len(words) == 1 and words[0].lower() in TICKS:
        return words
    return [word for word in words if word.lower() in YES_WORDS]


def _with_blanks_as_no(
    column: pandas.Series, values: pandas.Series, notes: list[str]
) -> pandas.Series:
    """Values of a label with 0 for blank cells, as the user asked."""
    is_blank = np.array(blank_rows(column))
    if is_blank.any():
        notes.append(f"{plural(int(is_blank.sum()), 'blank cell')} read as no")
    return values.mask(is_blank, 0.0)


def _problem_without_no(
    words: Sequence[str], positive: Sequence[str], n_blank: int
) -> str:
    """What is wrong with a label that is yes or nothing."""
    if not n_blank or not words or any(word not in positive for word in words):
        return ""
    return (
        f"holds {quoted_list(words)} or no value, and never a no: say "
        "blank_means_no=True or --blank-means-no if a blank cell means no."
    )


def _problem_of_positive(
    name: str, words: Sequence[str], positive: Sequence[str], *, are_all: bool
) -> str:
    """What is wrong with the words that a user says mean yes.

    One of three might not be all: the third could be unknown. ``are_all`` says that
    they are.
    """
    absent = [word for word in positive if word not in words]
    if absent:
        return f"has no cell with {quoted_list(absent)}; it holds {quoted_list(words)}."
    if len(positive) == 1 and len(words) > 2 and not are_all:
        word = positive[0]
        unknown = ",".join(_likely_unknown(words)[:MAX_STRANGE_WORDS])
        missing = f'--missing "{unknown}"' if unknown else "--missing"
        return (
            f"holds {quoted_list(words)}: give all words that mean yes in a list "
            f'(--labels "{name}={word}|…"), say that it is {quoted(word)} alone '
            f'(--labels "{name}={word}|"), or count others as missing ({missing}).'
        )
    return ""


def _problem_of_words(name: str, words: Sequence[str], positive: Sequence[str]) -> str:
    """What is wrong with words of which nobody says what they mean."""
    usual = YES_WORDS | NO_WORDS | {word.lower() for word in positive}
    strange = [word for word in words if word.lower() not in usual]
    if not strange:
        return ""
    word = list(positive)[-1] if positive else _likely_yes(strange)
    example = quoted(word)
    hint = (
        f"say which one means yes, labels={{{name!r}: {example}}} or --labels "
        f"{typed(f'{name}={word}')}"
    )
    counts = _counts_above_none(words)
    if counts:
        hint = (
            "if they are counts, say that those above 0 mean yes, --labels "
            f'"{name}={"|".join(counts)}"'
        )
    elif len(words) > 2:
        missing = strange
        if len(strange) == len(words):
            missing = _likely_unknown(words)
        ways = []
        if missing:
            words_to_type = ",".join(missing[:MAX_STRANGE_WORDS])
            ways.append(f'count words as missing (--missing "{words_to_type}"), or ')
        hint = (
            f"{''.join(ways)}list those that mean yes, labels={{{name!r}: [{example}, "
            f'…]}} or --labels "{name}={word}|…"'
        )
    return f"holds {quoted_list(words)}, not 0 and 1 or yes and no: {hint}."


def _counts_above_none(words: Sequence[str]) -> list[str]:
    """Whole numbers but 0, if all words are such, three or more, and 0 is there.

    >>> _counts_above_none(["2", "0", "1"]), _counts_above_none(["0", "1", "9"])
    (['1', '2'], [])
    """
    if "0" not in words or not all(map(str.isdecimal, words)):
        return []
    above = sorted({int(word) for word in words} - {0})
    follow = above == list(range(1, len(above) + 1)) or len(above) > MAX_STRANGE_WORDS
    return list(map(str, above)) if len(above) > 1 and follow else []


def _likely_unknown(words: Sequence[str]) -> list[str]:
    """The words that rather mean that nobody knows, for a hint.

    >>> _likely_unknown(["POS", "NEG", "ND", "-"]), _likely_unknown(["+", "-"])
    (['ND', '-'], [])
    """
    may_be_dashes = len(words) > 2
    unknown = LIKELY_UNKNOWN | NO_NUMBER_WORDS if may_be_dashes else LIKELY_UNKNOWN
    return [word for word in words if word.lower() in unknown]


def _likely_yes(words: Sequence[str]) -> str:
    """The word that is most likely to mean yes, for a hint.

    >>> _likely_yes(["Detected", "Not detected"]), _likely_yes(["neg", "pos"])
    ('Detected', 'pos')
    """
    for word in words:
        if word.lower().rstrip(".") in LIKELY_YES:
            return word
    numbers = [as_number(word.rstrip("%").replace(",", ".")) for word in words]
    if not any(map(isnan, numbers)):
        return words[numbers.index(max(numbers))]
    for word in words:
        if any(
            other != word and other.lower().endswith(word.lower()) for other in words
        ):
            return word
    return words[-1]


# lists


class ListRules(NamedTuple):
    """How labels are listed in one column.

    ``separator`` stands between two labels; None to find it. ``prefix`` is the number
    of characters of a code that count, 0 for all.
    """

    separator: str | None = None
    prefix: int = 0


def read_lists(
    column: pandas.Series, list_rules: ListRules, rules: CellRules
) -> ReadColumn:
    """A column of label lists as a frame of 1, 0 and NaN with a column per label.

    The most frequent label is the first. ``none``, or an empty list in a data frame,
    means no label; an empty cell means that nothing was observed.
    """
    if list_rules.separator == "":
        raise InputError(
            "The separator of label lists is empty: give the sign between two labels, "
            'such as ";".'
        )
    cells = column.tolist()
    notes: list[str] = []
    separator = list_rules.separator or _separator_of(cells, notes)
    rows = [_entries(cell, separator, rules) for cell in cells]
    if list_rules.separator is None:
        rows = _divided(rows, notes)
    _note_on_dashes(cells, rules, notes)
    if list_rules.prefix:
        rows = _cut_codes(rows, list_rules.prefix, notes)
    rows = _in_one_spelling(rows, notes)
    labels = _labels_in_columns(rows, column.index)
    n_empty = rows.count(None)
    if n_empty:
        empty = plural(n_empty, "empty cell")
        notes.append(
            f"{empty}, not observed; write none where there is no label, or "
            "--blank-means-no"
        )
    names = list(labels.columns)
    summary = summarize(
        column,
        LABEL_LISTS,
        n_distinct=len(names),
        n_missing=n_empty,
        examples=names,
        notes=notes,
        model=plural(len(names), "label"),
    )
    problem = ""
    if not names:
        problem = f"Label column {column.name!r} names no label in any row."
    return ReadColumn(summary, labels, problem)


def _labels_in_columns(
    rows: Sequence[Set[str] | None], index: pandas.Index
) -> pandas.DataFrame:
    """Lists of labels as a column of 1, 0 and NaN per label, the most frequent first.

    None is a row in which nothing was observed.
    """
    from sklearn.preprocessing import MultiLabelBinarizer

    observed = [row or set() for row in rows]
    counts = Counter(entry for row in observed for entry in row)
    names = sorted(counts, key=lambda name: (-counts[name], name))
    Y = MultiLabelBinarizer(classes=names).fit_transform(observed).astype(float)
    Y[[row is None for row in rows]] = np.nan
    return pandas.DataFrame(Y, index=index, columns=names)


def _separator_of(cells: Sequence[object], notes: list[str]) -> str:
    """The sign between labels: the first that is in any cell, else the usual one."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    for separator in SEPARATORS:
        if any(separator in text for text in texts):
            if separator != SEPARATORS[0]:
                notes.append(
                    f"{separator!r} between two labels; --separator to overrule"
                )
            return separator
    return SEPARATORS[0]


def _divided(rows: list[Set[str] | None], notes: list[str]) -> list[Set[str] | None]:
    """Entries such as "gout / asthma" as two, where gout and asthma are entries, too.

    People divide labels by more than one sign.
    """
    known = {entry for row in rows for entry in row or ()}
    parts_of: dict[str, Set[str]] = {}
    for entry in known:
        parts = parts_among(entry, known)
        if parts:
            parts_of[entry] = parts
    if not parts_of:
        return rows
    example = min(parts_of)
    parts_shown = quoted_list(sorted(parts_of[example]))
    notes.append(
        f"entries of several labels divided ({quoted(example)} is {parts_shown}); "
        "--separator to overrule"
    )
    return [_with_parts(row, parts_of) for row in rows]


def parts_among(entry: str, known: Collection[str]) -> Set[str]:
    """The labels that a sign in an entry divides, if all of them are known; else none.

    >>> sorted(parts_among("gout / asthma", ["asthma", "gout", "flu"]))
    ['asthma', 'gout']
    """
    for separator in OTHER_SEPARATORS:
        parts = {part.strip() for part in entry.split(separator)} - {""}
        if len(parts) > 1 and parts <= set(known):
            return parts
    return set()


def _with_parts(
    row: Set[str] | None, parts_of: Mapping[str, Set[str]]
) -> Set[str] | None:
    """The labels of a row, with those that are divided in parts."""
    if row is None:
        return None
    divided: set[str] = set()
    for entry in row:
        divided |= parts_of.get(entry, {entry})
    return divided


def _entries(cell: object, separator: str, rules: CellRules) -> Set[str] | None:
    """The labels of one cell, None where nothing was observed."""
    if isinstance(cell, list | tuple | set | frozenset | np.ndarray):
        return {str(entry).strip() for entry in cell}
    text = "" if is_absent(cell) else str(cell).strip()
    if not text and rules.blank_means_no:
        return set()
    word = text.lower()
    if is_missing_word(word) or word in UNKNOWN_WORDS | rules.missing:
        return None
    entries = _split(text, separator) - {""}
    has_no_label = len(entries) == 1 and says_no_label(min(entries))
    return set() if has_no_label else entries


def says_no_label(text: str) -> bool:
    """Whether a word or a dash, where labels are listed, says that there is none."""
    return text.lower() in NO_LABEL_WORDS or text in DASHES


def _note_on_dashes(
    cells: Iterable[object], rules: CellRules, notes: list[str]
) -> None:
    """Note how many cells of a column of lists hold nothing but a dash."""
    for dash in DASHES:
        count = sum(isinstance(cell, str) and cell.strip() == dash for cell in cells)
        if count and dash not in rules.missing:
            notes.append(
                f"{plural(count, 'cell')} with {quoted(dash)} read as no label; "
                f"--missing={dash} to overrule"
            )


def _split(text: str, separator: str) -> set[str]:
    """What separators stand between, also in a list such as ['gout', 'asthma'].

    That is how Python and some databases write one.
    """
    if text[0] + text[-1] in BRACKETS:
        return {entry.strip().strip("'\"") for entry in text[1:-1].split(",")}
    return {entry.strip() for entry in text.split(separator)}


def _in_one_spelling(
    rows: Sequence[Set[str] | None], notes: list[str]
) -> list[Set[str] | None]:
    """Labels that differ in capitals alone as the most frequent one of them."""
    entries: Texts = [entry for row in rows for entry in sorted(row or ())]
    overrule = "give them different words to overrule"
    respelled = one_spelling(entries, notes, overrule)
    usual = {old: new for old, new in zip(entries, respelled, strict=True) if new}
    return [None if row is None else {usual[entry] for entry in row} for row in rows]


def _cut_codes(
    rows: Sequence[Set[str] | None], prefix: int, notes: list[str]
) -> list[Set[str] | None]:
    """Codes cut to their first characters: E11.9 and E11.0 are E11."""
    codes = {code for row in rows for code in row or ()}
    groups = {code[:prefix] for code in codes}
    characters = plural(prefix, "character")
    labels = plural(len(groups), "label")
    notes.append(
        f"{plural(len(codes), 'code')} cut to {characters}: {labels}; --prefix to "
        "overrule"
    )
    return [None if row is None else {code[:prefix] for code in row} for row in rows]
