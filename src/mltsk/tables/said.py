"""What a user says about the columns of a table, read and checked."""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import product
from pathlib import Path

from mltsk.datasets.dataset import pick_labels, split_names, unique_names
from mltsk.exceptions import InputError
from mltsk.text import quoted_list, typed

from .files import RawTable
from .kinds import ORDINAL, USED, Said

MAX_LOOKED_ROWS = 10_000  # for a label that is a cell

Names = str | Iterable[str]
Labels = int | str | Path | Sequence[str] | Mapping[str, object] | None
Ordinal = str | Iterable[str] | Mapping[str, Sequence[str]] | None
Kinds = Mapping[str, Said]
PositiveWords = dict[
    str, Sequence[str] | None
]  # of label columns; None: the usual ones


def label_columns(raw: RawTable, labels: Labels) -> PositiveWords:
    """The label columns, each with the words that mean yes where they were given.

    A number counts columns, the last ones or, if negative, the first ones; names may be
    written ``name=word``, or ``name=word|other`` where several words mean yes.
    """
    # A string for a MATLAB file is a variable, which the reader has taken.
    is_variable = isinstance(labels, str) and raw.source.lower().endswith(".mat")
    if labels is None or str(labels).lower().endswith(".xml") or is_variable:
        return dict.fromkeys(raw.labels)
    columns = list(raw.frame.columns)
    words: PositiveWords = {}
    if isinstance(labels, Mapping):
        words = {str(name): _as_words(word) for name, word in labels.items()}
    elif isinstance(labels, int | Path | Iterable):
        for name in pick_labels(labels, columns, raw.where):
            column, word = _name_and_word(name, columns)
            words[column] = word.split("|") if word else None
    else:
        raise InputError(
            f"Labels are names, a number of columns, or a mapping, not {labels!r}."
        )
    _refuse_names_of_cells(raw, [name for name in words if name not in raw.frame])
    return {name: words[name] for name in unique_names(words, columns, raw.where)}


def _refuse_names_of_cells(raw: RawTable, names: Sequence[str]) -> None:
    """Refuse labels that are no columns but cells, and say what may be meant.

    A table may lie on its side, with the names of rows in its first column, or a column
    may hold the labels.
    """
    for name, (position, column) in product(names, enumerate(raw.frame)):
        cells = raw.frame[column]
        words = {cell for cell in cells[:MAX_LOOKED_ROWS] if isinstance(cell, str)}
        if name not in words:
            continue
        if position == 0 and len(words) == len(cells):
            raise InputError(
                f"{raw.where} has a row {name!r} and no such column: swap rows and "
                "columns in the file, so that each sample is a row."
            )
        raise InputError(
            f"{raw.where} has no column {name!r}, and column {column!r} holds it: "
            f"--labels {typed(f'{column}={name}|')} if all others mean no, or "
            f"--label-column {typed(column)} if each of its words is a label."
        )


def _name_and_word(text: str, columns: Sequence[str]) -> tuple[str, str]:
    """The column in a text such as ``edema=present``, and the word; "" for none.

    Both may hold an equals sign: the column is the longest that is there.
    """
    if text in columns:
        return text, ""
    parts = text.split("=")
    for n_parts in range(len(parts) - 1, 0, -1):
        column = "=".join(parts[:n_parts])
        if column in columns:
            return column, "=".join(parts[n_parts:]).strip()
    column, _, word = text.rpartition("=")
    return (column, word) if column else (text, "")


def _as_words(positive: object) -> list[str] | None:
    """The word or words that mean yes, as text."""
    if positive is None:
        return None
    if isinstance(positive, str) or not isinstance(positive, Iterable):
        return [_as_word(positive)]
    return [*map(_as_word, positive), ""]  # a list has all of them


def _as_word(positive: object) -> str:
    return str(positive).strip().removesuffix(".0")


def levels_of(ordinal: Ordinal) -> list[tuple[list[str], list[str]]]:
    """Pairs of levels in order, and the one column that has them."""
    levels_of_columns: dict[str, list[str]] = {}
    if isinstance(ordinal, Mapping):
        for name, levels in ordinal.items():
            levels_of_columns[str(name)] = [str(level) for level in levels]
    else:
        for text in [ordinal] if isinstance(ordinal, str) else ordinal or ():
            name, levels = _parse_levels(str(text))
            levels_of_columns[name] = levels
    for name, levels in levels_of_columns.items():
        if len(set(levels)) < max(len(levels), 2) or "" in levels:
            raise InputError(
                f"Ordinal column {name!r} needs two or more different levels, not "
                f"{quoted_list(levels)}."
            )
    return [(levels, [name]) for name, levels in levels_of_columns.items()]


def _parse_levels(text: str) -> tuple[str, list[str]]:
    """The name and the levels in a text such as ``education: low < medium < high``."""
    name, colon, levels = text.partition(":")
    if not colon or "<" not in levels:
        raise InputError(
            f'Ordinal {text!r} is not written as "education: low < medium < high".'
        )
    return name.strip(), [level.strip() for level in levels.split("<")]


def said_by_column(
    raw: RawTable, labels: Sequence[str], wishes: Iterable[tuple[Said, Names]]
) -> dict[str, Said]:
    """What the user says about each column; contradictions are refused."""
    said: dict[str, Said] = {}
    for kind, names in wishes:
        kind_name = kind if isinstance(kind, str) else ORDINAL
        for name in unique_names(split_names(names), raw.frame, raw.where):
            if name in labels:
                raise InputError(
                    f"Column {name!r} is a label: it cannot be {kind_name} as well."
                )
            if said.setdefault(name, kind) != kind:
                raise InputError(
                    f"Column {name!r} cannot be both {said[name]} and {kind_name}."
                )
    return said


def check_kinds(raw: RawTable, kinds: Kinds, others: Set[str]) -> None:
    """Refuse features of a model that are not there, or that are something else."""
    for name in unique_names(kinds, raw.frame, raw.where):
        if name in others:
            raise InputError(
                f"Column {name!r} is a feature of the model: nothing else can be said "
                "about it."
            )
        kind = kinds[name]
        if isinstance(kind, str) and kind not in USED:
            raise InputError(
                f"Column {name!r}: {kind!r} is no kind that a model takes: "
                f"{', '.join(USED)}."
            )


def checked_decimal(decimal: str) -> str:
    """The sign before decimals, if it is one."""
    if decimal not in ("", ".", ","):
        raise InputError(
            f"The sign before decimals is a point or a comma, not {decimal!r}."
        )
    return decimal
