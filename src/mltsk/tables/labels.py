"""Which columns are labels, and their cells as 1, 0, or NaN where nobody looked.

A label column holds 0 and 1, yes and no, true and false, y and n, t and f, in any mixture of capitals. Any other two
values are refused until somebody says which of them means yes: −1 and +1 could be read as numbers, too.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from mltsk.datasets.dataset import NO, YES, pick_labels, short, unique_names
from mltsk.exceptions import InputError

from .cells import MISSING, as_codes, count, listed, texts_of
from .columns import Read
from .files import Raw
from .report import Column

Labels = int | str | Path | Sequence[str] | Mapping[str, Any] | None
LABEL, LABEL_LISTS = "label", "label lists"  # kinds, in the report
Positive = tuple[str, ...] | None  # the words that mean yes, where they were given


def label_columns(raw: Raw, labels: Labels) -> dict[str, Positive]:
    """The label columns, each with the words that mean yes where they were given.

    A number counts columns, the last ones or, if negative, the first ones; names may be written ``name=word``.
    """
    columns = list(raw.frame.columns)
    if labels is None or str(labels).lower().endswith(".xml"):
        return dict.fromkeys(raw.labels)
    if isinstance(labels, Mapping):
        words = {str(name): None if word is None else _words(word) for name, word in labels.items()}
        return {name: words[name] for name in unique_names(words, columns, raw.name)}
    if isinstance(labels, str) and raw.source.lower().endswith(".mat"):
        return dict.fromkeys(raw.labels)  # the name of a variable, which the reader has taken
    if not isinstance(labels, int | Path | Iterable):
        raise InputError(f"Labels are names, a number of columns, or a mapping, not {labels!r}.")
    given: dict[str, Positive] = {}
    for name in pick_labels(labels, columns, raw.name):
        column, equals, word = name.rpartition("=")
        given |= {column: (word,)} if equals and name not in columns else {name: None}
    return {name: given[name] for name in unique_names(given, columns, raw.name)}


def _words(word: Any) -> tuple[str, ...]:
    many = isinstance(word, Iterable) and not isinstance(word, str)
    return tuple(str(one).strip().removesuffix(".0") for one in (word if many else (word,)))


def read_label(column: Any, positive: Positive, missing: frozenset[str]) -> Read:
    """A label column as 1, 0 and NaN; ``positive`` are the words that mean yes, where it has others."""
    texts, notes = texts_of(column, missing)
    texts = as_codes(texts)
    words = list(dict.fromkeys(text for text in texts if text is not None))
    problem = _doubt(str(column.name), sorted(words), positive)
    yes = {word for word in words if word.lower() in YES} if positive is None else set(positive)
    values = np.array([np.nan if text is None else float(text in yes) for text in texts])
    n_missing = texts.count(None)
    model = f"label: {int(np.nansum(values)):,} of {len(texts) - n_missing:,} yes"
    counts = len(texts), len(words), n_missing
    told = Column(str(column.name), LABEL, *counts, tuple(words[:3]), notes=tuple(notes), model=model)
    return Read(told, pandas.Series(values, column.index, name=column.name), problem)


def _doubt(name: str, words: Sequence[str], positive: Positive) -> str:
    """What is wrong with the words of a label column, if anything."""
    where = f"Label {name!r}"
    if positive is not None:
        if absent := [word for word in positive if word not in words]:
            return f"{where} has no cell with {listed(absent)}; it holds {listed(words)}."
        many = len(positive) == 1 and len(words) > 2
        return f"{where} holds {listed(words)}: give all words that mean yes in a list." if many else ""
    strange = [word for word in words if word.lower() not in YES | NO]
    if not strange:
        return ""
    one = short(([word for word in words if word.lower() in YES] or strange)[-1])
    hint = f"say which one means yes, labels={{{name!r}: {one}}} or --labels {name}={one[1:-1]}"
    if len(words) > 2:
        hint = f"count words as missing (missing), or list those that mean yes, labels={{{name!r}: [{one}, …]}}"
    return f"{where} holds {listed(words)}, not 0 and 1 or yes and no: {hint}."


def read_lists(column: Any, separator: str, missing: frozenset[str]) -> Read:
    """A column of label lists as a frame of 1, 0 and NaN: a label per distinct entry, the most frequent first.

    ``none``, or an empty list in a data frame, means no label; an empty cell means that nobody looked.
    """
    if not separator:
        raise InputError('The separator of label lists is empty: give the sign between two labels, such as ";".')
    rows = [_entries(cell, separator, missing) for cell in column.tolist()]
    counts = Counter(entry for row in rows for entry in row or ())
    names = sorted(counts, key=lambda name: (-counts[name], name))
    where = {name: j for j, name in enumerate(names)}
    Y = np.zeros((len(rows), len(names)))
    for i, row in enumerate(rows):
        Y[i, [where[entry] for entry in row or ()]] = 1
        Y[i] = np.nan if row is None else Y[i]
    empty = rows.count(None)
    note = f"{count(empty, 'empty cell')}, not observed; write none where there is no label"
    shown, notes, model = tuple(names[:3]), (note,) if empty else (), count(len(names), "label")
    told = Column(str(column.name), LABEL_LISTS, len(rows), len(names), empty, shown, notes=notes, model=model)
    problem = "" if names else f"Label column {column.name!r} names no label in any row."
    return Read(told, pandas.DataFrame(Y, index=column.index, columns=names), problem)


def _entries(cell: Any, separator: str, missing: frozenset[str]) -> set[str] | None:
    """The labels of one cell, None where nobody looked."""
    if isinstance(cell, list | tuple | set | frozenset | np.ndarray):
        return {str(entry).strip() for entry in cell}
    if cell is None or type(cell).__name__ == "NAType" or cell != cell:
        return None
    text = str(cell).strip()
    if text.lower() in MISSING or text.lower() in missing:
        return None
    entries = {entry.strip() for entry in text.split(separator)} - {""}
    return set() if {entry.lower() for entry in entries} == {"none"} else entries
