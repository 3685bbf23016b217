"""Rows among the data that are none: names again, totals, and other tables below.

Such rows would be read as rows of data, or would make a column of numbers one of words.
What is left out is said in a note, with the option that overrules it if there is one.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import NamedTuple

from mltsk.datasets.dataset import as_number
from mltsk.exceptions import InputError
from mltsk.text import plural, quoted_list, visible

from .layout import (
    HEAD_ROWS,
    THIN_PARTS,
    Layout,
    Row,
    are_numbers,
    is_below_names,
    is_blank,
    is_line,
    is_number,
    n_filled,
)
from .words import is_missing_word, is_no_number

MIN_NUMBER_COLUMNS = 2  # that tell names from data
MAX_LOOKED_ROWS = 1000
# Sums of some rows, as the first cell says: "Subtotal", "North Total", "Summe Nord".
SUM_WORDS = frozenset(
    [
        *("total", "totals", "subtotal", "subtotals", "sub-total", "sum"),
        *("summe", "zwischensumme", "teilsumme", "gesamt", "ergebnis"),
        *("gesamtergebnis", "sous-total", "somme", "subtotale", "totale", "suma"),
        *("soma", "razem", "tussentotaal", "totaal", "итого", "всего", "итог"),
        *("小計", "合計", "小计", "合计"),
    ]
)


class Columns(NamedTuple):
    """Which columns hold numbers, and which words, as the rows at the top tell."""

    of_numbers: list[int]
    of_words: list[int]


def _columns_of(rows: Sequence[Row], width: int) -> Columns:
    """The columns of some rows, sorted by what they hold; those of both are neither."""
    of_numbers = []
    of_words = []
    for j in range(width):
        cells = [row[j] for row in rows if j < len(row) and not is_blank(row[j])]
        if are_numbers(rows, j):
            of_numbers.append(j)
        elif cells and not any(map(is_number, cells)):
            of_words.append(j)
    return Columns(of_numbers, of_words)


# names that are data


def refuse_data_as_names(
    names: Sequence[str], rows: Sequence[Row], layout: Layout, where: object
) -> None:
    """Refuse a table whose names look like a row of its data: 61, f, 70.5.

    Above numbers there are numbers then, among those below; above words that repeat
    there is one of them.
    """
    if layout.header_rows is not None:
        return
    columns = _columns_of(rows[:HEAD_ROWS], len(names))
    if len(columns.of_numbers) < MIN_NUMBER_COLUMNS:
        return
    looked = rows[:MAX_LOOKED_ROWS]
    if not all(_is_among_numbers(names[j], looked, j) for j in columns.of_numbers):
        return
    for j in columns.of_words:
        words = [str(row[j]).strip() for row in looked if j < len(row)]
        if len(set(words)) < len(words) and names[j] not in words:
            return
    shown = quoted_list(names, at_most=3)
    raise InputError(
        f"{where} starts with a row of data ({shown}): write a line with the names of "
        "its columns above it, or say that these are names (--header-rows 1)."
    )


def _is_among_numbers(name: str, rows: Sequence[Row], j: int) -> bool:
    """Whether a name is a number between the smallest and the largest of a column."""
    number = as_number(name)
    if isnan(number):
        return False
    cells = [as_number(str(row[j])) for row in rows if j < len(row)]
    numbers = [cell for cell in cells if not isnan(cell)]
    return bool(numbers) and min(numbers) <= number <= max(numbers)


# other tables


def without_other_tables(
    names: Sequence[str], rows: list[Row], layout: Layout, notes: list[str]
) -> list[Row]:
    """Rows up to where another table begins, with names of its own.

    It begins with words where all rows below hold numbers.
    """
    if layout.skip_end is not None:
        return rows
    start = _start_of_other_table(names, rows)
    if start is None:
        return rows
    first = start
    while first > 0 and n_filled(rows[first - 1]) < 2:
        first -= 1
    titles = [text for row in rows[first:] if (text := _first_text(row))]
    shown = quoted_list(titles[:1])
    count = plural(len(rows) - first, "row")
    notes.append(
        f"{count} below left out as another table ({shown}); --skip-end 0 to overrule"
    )
    return rows[:first]


def _start_of_other_table(names: Sequence[str], rows: Sequence[Row]) -> int | None:
    """The row with the names of another table, if there is one."""
    of_numbers = _columns_of(rows[:HEAD_ROWS], len(names)).of_numbers
    if len(of_numbers) < MIN_NUMBER_COLUMNS:
        return None
    first = of_numbers[0]
    for number, row in enumerate(rows):
        if first < len(row) and not isnan(as_number(str(row[first]))):
            continue
        if not _may_be_names(row, names):
            continue
        if is_below_names(rows, number):
            return number
    return None


def _may_be_names(row: Row, names: Sequence[str]) -> bool:
    """Whether cells are words that differ, and are not the names of this table."""
    texts = [_plain(cell) for cell in row if not is_blank(cell)]
    if len(texts) < MIN_NUMBER_COLUMNS or len(set(texts)) < len(texts):
        return False
    if any(map(is_number, texts)) or any(is_missing_word(t.lower()) for t in texts):
        return False
    return not set(texts) <= set(names)


# short rows


def fill_up(n_names: int, rows: Sequence[Row], notes: list[str]) -> None:
    """Give rows the blank cells at their end that some programs do not write.

    Rows stay as they are where they do not fit the columns, or where the last row alone
    is short: the file may be cut off.
    """
    short = [row for row in rows if 0 < n_filled(row) and len(row) < n_names]
    if not short or (len(short) == 1 and short[0] is rows[-1]):
        return
    full = [row for row in rows[:MAX_LOOKED_ROWS] if len(row) == n_names]
    columns = _columns_of(full, n_names)
    if not full or not all(_fits(row, columns) for row in short):
        return
    for row in short:
        row.extend([""] * (n_names - len(row)))
    count = "1 row has" if len(short) == 1 else f"{len(short):,} rows have"
    notes.append(f"{count} fewer cells than there are names: blank at the end")


def _fits(row: Row, columns: Columns) -> bool:
    """Whether numbers stand where numbers are, and words where words are."""
    if len(row) < MIN_NUMBER_COLUMNS:
        return False
    numbers = [row[j] for j in columns.of_numbers if j < len(row)]
    words = [row[j] for j in columns.of_words if j < len(row)]
    are_right = all(is_blank(c) or is_number(c) or _is_no_value(c) for c in numbers)
    return are_right and not any(map(is_number, words))


def _is_no_value(cell: object) -> bool:
    return is_no_number(_plain(cell).lower())


# rows


@dataclass
class _StrayRows:
    """Rows among the data that are none: how many, and what they say."""

    n_empty: int = 0
    n_lines: int = 0
    n_names: int = 0
    titles: list[str] = field(default_factory=list)
    totals: list[str] = field(default_factory=list)

    def notes(self) -> list[str]:
        """A note for each kind that there is."""
        notes = []
        if self.n_empty:
            notes.append(f"{plural(self.n_empty, 'empty row')} among the data left out")
        if self.n_lines:
            notes.append(f"{plural(self.n_lines, 'row')} of dashes left out")
        if self.n_names:
            rows = plural(self.n_names, "row")
            above = ""
            if self.titles:
                above = f" and titles above them ({quoted_list(self.titles)})"
            notes.append(f"{rows} with the names again{above} left out")
        if self.totals:
            shown = quoted_list(list(dict.fromkeys(self.totals)), at_most=2)
            notes.append(
                f"{plural(len(self.totals), 'row')} with totals among the data left "
                f"out ({shown}); --skip-end 0 to overrule"
            )
        return notes


def data_rows(
    names: Sequence[str],
    rows: Sequence[Row],
    notes: list[str],
    *,
    keep_totals: bool = False,
) -> list[Row]:
    """Rows without those that are empty, draw lines, hold totals, or say names again.

    Programs that print pages write the names at the top of each, below a title.
    """
    kept: list[Row] = []
    stray = _StrayRows()
    usual = _usual_count(rows)
    for row in rows:
        first = _first_text(row)
        if not first:
            stray.n_empty += 1
        elif is_line(row):
            stray.n_lines += 1
        elif _are_names(row, names):
            stray.n_names += 1
            if kept and usual >= THIN_PARTS and n_filled(kept[-1]) == 1:
                stray.titles.append(_first_text(kept.pop()))
        elif not keep_totals and _says_total(first) and n_filled(row) < usual:
            stray.totals.append(first)
        else:
            kept.append(row)
    notes += stray.notes()
    return kept


def _plain(cell: object) -> str:
    """A cell as text with single spaces, without signs that nobody sees."""
    return " ".join(visible(str(cell)).split())


def _first_text(row: Row) -> str:
    return next((_plain(cell) for cell in row if not is_blank(cell)), "")


def _usual_count(rows: Sequence[Row]) -> int:
    """How many cells hold something in most rows at the top."""
    counts = Counter(n_filled(row) for row in rows[:HEAD_ROWS])
    return max(counts, key=lambda count: (counts[count], count), default=0)


def _are_names(row: Row, names: Sequence[str]) -> bool:
    """Whether all cells that are not blank, two at least, are the names above them."""
    n_names = 0
    for cell, name in zip(row, names, strict=True):
        text = _plain(cell)
        if text and text != name:
            return False
        n_names += bool(text)
    return n_names > 1


def _says_total(text: str) -> bool:
    """Whether a cell begins or ends with a word for a sum: "North Total"."""
    words = text.lower().rstrip(":").split()
    return words[0] in SUM_WORDS or words[-1] in SUM_WORDS
