"""Labels in long form: a row per patient and diagnosis becomes a row per patient."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

import numpy as np
import pandas

from mltsk.datasets.dataset import split_names, unique_names
from mltsk.exceptions import InputError
from mltsk.text import plural, quoted_list

from .cells import texts_of
from .files import RawTable
from .groups import Codes
from .kinds import NOMINAL, TEXT, answers_yes_and_no
from .labels import says_no_label

Long = str | tuple[str, str] | list[str]


def key_and_code(raw: RawTable, long: Long) -> tuple[str, str]:
    """The column that tells rows of one sample, and the one with a label per row."""
    names = split_names(long)
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(
            "A table in long form has two columns, one of samples and one of labels: "
            'write them as "patient,diagnosis".'
        )
    key, code = unique_names(names, raw.frame, raw.where)
    return key, code


def row_per_key(
    raw: RawTable, key: str, code: str, missing: Set[str], drop: str | Iterable[str]
) -> RawTable:
    """The table with a row per value of ``key`` and a list of all its ``code``s.

    A column that differs between rows of one key has no place in it, nor have those of
    ``drop``. Rows without a key are left out.
    """
    dropped = unique_names(split_names(drop), raw.frame, raw.where)
    keys, _ = texts_of(raw.frame[key], missing)
    groups, names = pandas.factorize(np.array(keys, dtype=object))
    if not len(names):
        raise InputError(f"Column {key!r} of {raw.name} has no value in any row.")
    columns: dict[str, object] = {}
    differing = []
    for name, column in raw.frame.drop(columns=dropped).items():
        texts, _ = texts_of(column, missing)
        if name == code:
            columns[name] = _lists(texts, groups, len(names))
        elif _differs(texts, groups):
            differing.append(name)
        else:
            columns[name] = _first_values(column, texts, groups, len(names))
    notes = [
        *raw.notes,
        f"{plural(len(keys), 'row')} put together to {len(names):,}, one per {key}",
    ]
    n_without = int((groups < 0).sum())
    if n_without:
        notes.append(f"{plural(n_without, 'row')} without {key} left out")
    for name in differing:
        texts, _ = texts_of(raw.frame[name], missing)
        if answers_yes_and_no(texts):
            notes.append(
                f"a row counts as {code} whatever {name} says; to overrule, leave rows "
                f"with a no in {name} out of the file"
            )
    if differing:
        notes.append(
            f"columns that differ between rows of one {key} left out: "
            f"{quoted_list(differing)}"
        )
    frame = pandas.DataFrame(columns)
    return replace(raw, frame=frame, notes=tuple(notes), labels=())


def note_on_long_form(raw: RawTable, key: str, columns: Mapping[str, str]) -> str:
    """The note on rows of one key that differ in a column of words alone, if they do.

    ``columns`` are those to look at, with their kinds.
    """
    texts, _ = texts_of(raw.frame[key], frozenset())
    groups, _ = pandas.factorize(np.array(texts, dtype=object))
    differing: list[str] = []
    for name in columns:
        texts, _ = texts_of(raw.frame[name], frozenset())
        if _differs(texts, groups):
            differing.append(name)
        if len(differing) > 1:
            return ""
    if not differing or columns[differing[0]] not in (NOMINAL, TEXT):
        return ""
    name = differing[0]
    return (
        f"rows of one {key} differ in {name} alone; --long {key},{name} if that is a "
        "label"
    )


def _differs(texts: list[str | None], groups: Codes) -> bool:
    """Whether a column has two values in one group."""
    pairs = {
        (g, t) for g, t in zip(groups.tolist(), texts, strict=True) if t is not None
    }
    present = {group for group, _ in pairs}
    return len(pairs) > len(present)


def _first_values(
    column: pandas.Series, texts: list[str | None], groups: Codes, n_groups: int
) -> pandas.Series:
    """The value of each group, of the type of the column."""
    rows = np.full(n_groups, -1)
    for row in range(len(texts) - 1, -1, -1):
        group = groups[row]
        if group >= 0 and (texts[row] is not None or rows[group] < 0):
            rows[group] = row
    return column.iloc[rows].reset_index(drop=True)


def _lists(
    texts: list[str | None], groups: Codes, n_groups: int
) -> list[list[str] | None]:
    """The different labels of each group; None where no row says anything.

    The word none, and others like it, say that there is no label.
    """
    lists: list[list[str] | None] = [None] * n_groups
    for text, group in zip(texts, groups.tolist(), strict=True):
        if text is None or group < 0:
            continue
        entries = lists[group]
        if entries is None:
            entries = lists[group] = []
        if not says_no_label(text) and text not in entries:
            entries.append(text)
    return lists
