"""Label columns, and columns that list the labels of each row.

A label column holds 0 and 1, yes and no, true and false, y and n, t and f, in any
mixture of capitals, and no value where the label was not observed. Any other two values
are refused until the user says which of them means yes: −1 and +1 could be read as
numbers, too.
"""

from collections import Counter
from collections.abc import Sequence, Set

import numpy as np
import pandas

from mltsk.datasets.dataset import NO, YES
from mltsk.exceptions import InputError
from mltsk.frames import is_absent
from mltsk.text import plural, quoted, quoted_list

from .cells import MISSING_WORDS, as_codes, texts_of
from .columns import ReadColumn, distinct_words, summarize, summary_of_texts
from .kinds import LABEL, LABEL_LISTS


def read_label(
    column: pandas.Series, positive: Sequence[str] | None, missing: Set[str]
) -> ReadColumn:
    """A label column as 1, 0 and NaN.

    ``positive`` are the words that mean yes; None stands for the usual ones.
    """
    texts, notes = texts_of(column, missing)
    texts = as_codes(texts)
    words = distinct_words(texts)
    if positive is None:
        positive = [word for word in words if word.lower() in YES]
        problem = _problem_of_words(str(column.name), words, positive)
    else:
        problem = _problem_of_positive(words, positive)
    marks = [np.nan if text is None else float(text in positive) for text in texts]
    values = pandas.Series(marks, column.index, name=column.name)
    model = f"label: {int(values.sum()):,} of {values.count():,} yes"
    if problem:
        problem = f"Label {str(column.name)!r} {problem}"
    summary = summary_of_texts(column, LABEL, texts, notes=notes, model=model)
    return ReadColumn(summary, values, problem)


def _problem_of_positive(words: Sequence[str], positive: Sequence[str]) -> str:
    """What is wrong with the words that a user says mean yes."""
    absent = [word for word in positive if word not in words]
    if absent:
        return f"has no cell with {quoted_list(absent)}; it holds {quoted_list(words)}."
    if len(positive) == 1 and len(words) > 2:
        return f"holds {quoted_list(words)}: give all words that mean yes in a list."
    return ""


def _problem_of_words(name: str, words: Sequence[str], positive: Sequence[str]) -> str:
    """What is wrong with words of which nobody says what they mean."""
    strange = [word for word in words if word.lower() not in YES | NO]
    if not strange:
        return ""
    example = quoted((positive or strange)[-1])
    hint = (
        f"say which one means yes, labels={{{name!r}: {example}}} or "
        f"--labels {name}={example[1:-1]}"
    )
    if len(words) > 2:
        hint = (
            "count words as missing (missing), or list those that mean yes, "
            f"labels={{{name!r}: [{example}, …]}}"
        )
    return f"holds {quoted_list(words)}, not 0 and 1 or yes and no: {hint}."


def read_lists(column: pandas.Series, separator: str, missing: Set[str]) -> ReadColumn:
    """A column of label lists as a frame of 1, 0 and NaN with a column per label.

    The most frequent label is the first. ``none``, or an empty list in a data frame,
    means no label; an empty cell means that nothing was observed.
    """
    if not separator:
        raise InputError(
            "The separator of label lists is empty: give the sign between two labels, "
            'such as ";".'
        )
    from sklearn.preprocessing import MultiLabelBinarizer

    rows = [_entries(cell, separator, missing) for cell in column.tolist()]
    observed = [row or set() for row in rows]
    counts = Counter(entry for row in observed for entry in row)
    names = sorted(counts, key=lambda name: (-counts[name], name))
    Y = MultiLabelBinarizer(classes=names).fit_transform(observed).astype(float)
    Y[[row is None for row in rows]] = np.nan
    n_empty = rows.count(None)
    notes = []
    if n_empty:
        cells = plural(n_empty, "empty cell")
        notes.append(f"{cells}, not observed; write none where there is no label")
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
    frame = pandas.DataFrame(Y, index=column.index, columns=names)
    return ReadColumn(summary, frame, problem)


def _entries(cell: object, separator: str, missing: Set[str]) -> set[str] | None:
    """The labels of one cell, None where nothing was observed."""
    if isinstance(cell, list | tuple | set | frozenset | np.ndarray):
        return {str(entry).strip() for entry in cell}
    text = "" if is_absent(cell) else str(cell).strip()
    if text.lower() in MISSING_WORDS | missing:
        return None
    entries = {entry.strip() for entry in text.split(separator)} - {""}
    has_no_label = {entry.lower() for entry in entries} == {"none"}
    return set() if has_no_label else entries
