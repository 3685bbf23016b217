"""Where the table lies in a sheet or a text file: titles, names, data, totals.

Rows above the names that hold hardly anything are titles. Names may stand in two rows:
groups of columns above their parts, or units below the names. Rows below the data may
be totals or remarks. Every such decision is a note that names the option to overrule
it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, isfinite, isnan
from typing import Any, NamedTuple

from mltsk.datasets.dataset import as_number
from mltsk.exceptions import InputError
from mltsk.text import plural, quoted_list, visible

from .numerals import taken_apart
from .words import is_no_number

HEAD_ROWS = 50  # rows at the top that tell what the table looks like
MAX_TITLE_ROWS = 20
MAX_END_ROWS = 5
THIN_PARTS = 3  # a row with one of so many parts of the cells of others is a title
MIN_ROWS_BELOW_NAMES = 2  # that tell which columns hold numbers
MOSTLY_NUMBERS = 0.8  # of the cells of a column of numbers
MIN_WORDS_OF_REMARK = 3
MAX_SURVEY_ROWS = 2  # below the names: questions, and keys of the program
SURVEY_KEY = '{"ImportId"'
TOTAL_WORDS = frozenset(
    [
        "total",
        "totals",
        "subtotal",
        "grandtotal",
        *("std", "stdev"),  # not Min and Max: people are called so
        "sum",
        "mean",
        "average",
        "median",
        "sd",
        "summe",
        *("gesamt", "gesamtsumme", "durchschnitt"),
        "promedio",
        "mittelwert",
        "somme",
        "moyenne",
        "suma",
        "media",
        "totale",
        "média",
        "soma",
        "всего",
        "итого",
        "合计",
        "合計",
    ]
)

# How a remark begins that stands alone below the data.
SOURCE_WORDS = frozenset(
    [
        *("source", "sources", "note", "notes", "remark", "remarks", "legend"),
        *("quelle", "quellen", "anmerkung", "hinweis", "legende", "stand"),
        *("fuente", "fonte", "nota", "notas", "légende", "remarque", "źródło"),
    ]
)
_LINE = re.compile(r":?(?:-{3,}|={3,}|_{3,}):?")
FOOTNOTE_SIGNS = ("*", "†", "‡", "¹", "²", "#", "1)", "(1)")

Row = list[Any]  # cells of a file: text, or numbers and dates of a spreadsheet


@dataclass(frozen=True)
class Layout:
    """What a user says about the place of a table in its file; None is to be found.

    Attributes
    ----------
    skip_rows : rows above the names of the columns
    header_rows : rows that hold names, their groups and their units, 1 to 3
    skip_end : rows below the data that hold something
    """

    skip_rows: int | None = None
    header_rows: int | None = None
    skip_end: int | None = None


class LaidOut(NamedTuple):
    """A table in its file: names, the rows of data from ``first`` on, and notes."""

    names: list[str]
    rows: list[Row]
    first: int
    notes: list[str]


def lay_out(rows: list[Row], layout: Layout, where: object) -> LaidOut:
    """Find names and data among the rows of a file that is called ``where``."""
    _check(layout, len(rows), where)
    notes: list[str] = []
    widest = max((n_filled(row) for row in rows[:HEAD_ROWS]), default=0)
    start = layout.skip_rows
    if start is None:
        start = _n_titles(rows, widest)
    _cut_blank_sides(rows[start:])
    n_names = layout.header_rows
    n_survey = 0
    if n_names is None:
        n_survey = _n_survey_rows(rows, start + 1)
        start, n_names = _place_of_names(rows, start, layout)
    if n_survey:
        n_names = 1
    if start and layout.skip_rows is None:
        texts = [text for row in rows[:start] if (text := _first_text(row))]
        shown = f" ({quoted_list(texts, at_most=2)})" if texts else ""
        count = plural(start, "row" if texts else "blank row")
        notes.append(
            f"{count} above the names skipped{shown}; --skip-rows 0 to overrule"
        )
    first = start + n_names
    _refuse_numbers(rows[start:first], where)
    lines = _with_name_of_row_names(rows, start, first, notes)
    names = _names(lines, notes, is_asked=layout.header_rows is not None)
    if n_survey:
        notes.append(_note_on_survey(rows[first : first + n_survey]))
        first += n_survey
    end = _end_of_data(rows, first, widest, layout, notes)
    return LaidOut(names, rows[first:end], first, notes)


def _check(layout: Layout, n_rows: int, where: object) -> None:
    """Refuse numbers of rows that cannot be."""
    if layout.header_rows not in (None, 1, 2, 3):
        raise InputError(
            f"Names of columns stand in 1 to 3 rows, not in {layout.header_rows}."
        )
    n_skipped = 0
    for count in (layout.skip_rows, layout.skip_end):
        if count is not None and count < 0:
            raise InputError(f"The number of rows to skip cannot be {count}.")
        n_skipped += count or 0
    if n_skipped and n_skipped >= n_rows:
        raise InputError(
            f"{where} has {plural(n_rows, 'row')}: none is left after skipping "
            f"{n_skipped:,}."
        )


def _refuse_numbers(rows: Sequence[Row], where: object) -> None:
    """Refuse a table without names: where they should be, there are numbers alone."""
    names = [str(cell).strip() for row in rows for cell in row]
    filled = [name for name in names if name]
    if filled and not any(isnan(as_number(name)) for name in filled):
        raise InputError(
            f"{where} starts with numbers: it needs a first line with the names of its "
            "columns."
        )


def is_blank(cell: object) -> bool:
    """Whether a cell holds nothing."""
    return not str(cell).strip()


def n_filled(row: Row) -> int:
    """How many cells of a row hold something."""
    return sum(not is_blank(cell) for cell in row)


def _first_text(row: Row) -> str:
    """The first cell of a row that holds something, as text."""
    return next((str(cell).strip() for cell in row if not is_blank(cell)), "")


def _cut_blank_sides(rows: Sequence[Row]) -> None:
    """Delete the cells of columns on the left and on the right that hold nothing.

    A title may stand above them, or each line of a text may end with a delimiter.
    """
    width = max(map(len, rows), default=0)
    left = width
    right = 0
    for row in rows:
        filled = (j for j in range(min(left, len(row))) if not is_blank(row[j]))
        left = next(filled, left)
        filled = (j for j in range(len(row), right, -1) if not is_blank(row[j - 1]))
        right = next(filled, right)
        if left == 0 and right == width:
            return
    for row in rows:
        del row[right:]
        del row[:left]


# names


def _n_titles(rows: Sequence[Row], widest: int) -> int:
    """How many rows at the top hold hardly anything, or fewer cells than the others.

    Below rows with fewer cells, as text files have them, there must be names.
    """
    thin = max(widest // THIN_PARTS, int(widest >= THIN_PARTS))
    lengths = Counter(len(row) for row in rows[:HEAD_ROWS])
    usual = max(lengths, key=lambda length: (lengths[length], length), default=0)
    is_cut = False
    for number, row in enumerate(rows[:MAX_TITLE_ROWS]):
        if n_filled(row) > thin and len(row) >= usual:
            return 0 if is_cut and any(map(is_number, row)) else number
        is_cut = is_cut or n_filled(row) > thin
    return 0


def _place_of_names(rows: Sequence[Row], start: int, layout: Layout) -> tuple[int, int]:
    """The first row with names, and how many such rows there are."""
    if is_below_names(rows, start + 1):
        has_groups = _names_are_incomplete(rows[start])
        has_units = has_groups and is_below_names(rows, start + 2)
        return start, 3 if has_units else 2
    below = rows[start + 1] if start + 1 < len(rows) else []
    if below and _fills_gaps(rows[start], below) and _has_numbers(rows[start + 2 :]):
        return start, 2
    has_row_above = layout.skip_rows is None and start > 0
    has_names_above = has_row_above and n_filled(rows[start - 1]) > 1
    if has_names_above and _names_are_incomplete(rows[start]):
        return start - 1, 2
    return start, 1


def _fills_gaps(names: Row, below: Row) -> bool:
    """Whether words below the names stand where names are blank, and no number at all.

    Programs for surveys write a question once, and its answers below it.
    """
    gaps = [j for j, name in enumerate(names) if is_blank(name)]
    if not gaps or is_blank(names[0]) or any(map(is_number, below)):
        return False
    return all(j < len(below) and not is_blank(below[j]) for j in gaps)


def _n_survey_rows(rows: Sequence[Row], first: int) -> int:
    """How many rows below the names are those of a survey, with questions and keys."""
    for number, row in enumerate(rows[first : first + MAX_SURVEY_ROWS], 1):
        texts = [str(cell).strip() for cell in row if not is_blank(cell)]
        if texts and all(text.startswith(SURVEY_KEY) for text in texts):
            return number
    return 0


def _note_on_survey(rows: Sequence[Row]) -> str:
    shown = quoted_list([_first_text(row) for row in rows])
    return (
        f"{plural(len(rows), 'row')} below the names left out as questions and keys of "
        f"a survey ({shown}); --header-rows 1 to overrule"
    )


def _with_name_of_row_names(
    rows: Sequence[Row], start: int, first: int, notes: list[str]
) -> list[Row]:
    """The rows of names, with a blank one in front if all data have a cell more.

    The program R writes names of rows so. They differ, and are words or count upwards:
    if not, commas in numbers may have cut cells in two.
    """
    lines = list(rows[start:first])
    data = [row for row in rows[first:] if n_filled(row)]
    widest = max(map(len, lines), default=0)
    if len(data) < MIN_ROWS_BELOW_NAMES or len(lines) != 1:
        return lines
    if any(len(row) != widest + 1 for row in data) or is_blank(data[0][-1]):
        return lines
    row_names = [str(row[0]).strip() for row in data]
    if len(set(row_names)) < len(data):
        return lines
    numbers = [as_number(name) for name in row_names]
    are_words = all(map(isnan, numbers))
    if not are_words and not _count_upwards(numbers):
        return lines
    notes.append("rows have a cell more than there are names: the first names the row")
    return [["", *lines[0]]]


def _count_upwards(numbers: Sequence[float]) -> bool:
    """Whether numbers are whole and rise."""
    are_whole = all(number == floor(number) for number in numbers if not isnan(number))
    if not are_whole or any(map(isnan, numbers)):
        return False
    return all(one < two for one, two in pairwise(numbers))


def _names_are_incomplete(row: Row) -> bool:
    """Whether a name is blank or there twice."""
    names = [str(cell).strip() for cell in row]
    return len({*names, ""}) <= len(names)


def is_below_names(rows: Sequence[Row], number: int) -> bool:
    """Whether a row holds words where all rows below it hold numbers."""
    if number >= len(rows):
        return False
    row = rows[number]
    if is_line(row):
        return False
    below = rows[number + 1 : number + 1 + HEAD_ROWS]
    if len(below) < MIN_ROWS_BELOW_NAMES:
        return False
    if any(is_number(cell) for cell in row):
        return False
    n_words = 0
    columns = [j for j in range(len(row)) if are_numbers(below, j)]
    for j in columns:
        word = str(row[j]).strip().lower()
        if word and is_no_number(word):
            return False
        n_words += bool(word)
    return len(columns) > 1 and 2 * n_words >= len(columns)


def is_line(row: Row) -> bool:
    """Whether a row draws a line, as between names and data: ---, :---: or =====."""
    n_lines = 0
    for cell in row:
        text = str(cell).strip()
        if text and not _LINE.fullmatch(text):
            return False
        n_lines += bool(text)
    return n_lines > 1


def _has_numbers(rows: Sequence[Row]) -> bool:
    """Whether there is a number in most rows at the top."""
    head = rows[:HEAD_ROWS]
    n_with_number = sum(any(map(is_number, row)) for row in head)
    return len(head) >= MIN_ROWS_BELOW_NAMES and 2 * n_with_number > len(head)


def are_numbers(rows: Sequence[Row], j: int) -> bool:
    """Whether most cells of a column that hold something are numbers."""
    cells = [row[j] for row in rows if j < len(row) and not is_blank(row[j])]
    n_numbers = sum(is_number(cell) for cell in cells)
    return bool(cells) and n_numbers >= MOSTLY_NUMBERS * len(cells)


def is_number(cell: object) -> bool:
    """Whether a cell holds a number, perhaps with a unit or a limit."""
    if isinstance(cell, int | float):
        return True
    text = str(cell).strip()
    return isfinite(as_number(text)) or taken_apart(text) is not None


def _names(rows: Sequence[Row], notes: list[str], *, is_asked: bool) -> list[str]:
    """The names of columns, each once."""
    lines = [[" ".join(visible(str(cell)).split()) for cell in row] for row in rows]
    if not lines:
        return []
    overrule = "" if is_asked else "; --header-rows 1 to overrule"
    has_units = not _names_are_incomplete(lines[0]) or _are_in_brackets(lines[-1])
    has_units |= len(lines) == 3
    units = lines.pop() if len(lines) > 1 and has_units else []
    if len(lines) == 1:
        names = lines[0]
    else:
        names = _joined_names(*lines)
        above = quoted_list([cell for cell in lines[0] if cell], at_most=3)
        notes.append(f"names are in two rows ({above} above others){overrule}")
    if units:
        shown = quoted_list([cell for cell in units if cell], at_most=3)
        notes.append(f"the row below the names left out as units ({shown}){overrule}")
    return _unique(names, notes)


def _are_in_brackets(cells: Sequence[str]) -> bool:
    """Whether all cells that hold something are in brackets, as units are: (kg)."""
    return all(cell[0] + cell[-1] in ("()", "[]") for cell in cells if cell)


def _joined_names(upper: Sequence[str], lower: Sequence[str]) -> list[str]:
    """Names from two rows: the lower one, with the upper one where that is needed.

    A blank cell of the upper row belongs to the name on its left, as in merged cells.
    """
    width = max(len(upper), len(lower))
    upper = [*upper, *[""] * (width - len(upper))]
    lower = [*lower, *[""] * (width - len(lower))]
    names = []
    above = ""
    counts = Counter(lower)
    for group, name in zip(upper, lower, strict=True):
        above = group or above
        if not name:
            names.append(group)
        elif counts[name] > 1 and above:
            names.append(f"{above} {name}")
        else:
            names.append(name)
    return names


def _unique(names: Sequence[str], notes: list[str]) -> list[str]:
    """Names, numbered where a name is blank or there twice."""
    in_file = set(names)
    n_copies: Counter[str] = Counter()
    unique: list[str] = []
    changed = []
    for position, name in enumerate(names):
        wanted = name or f"column {position + 1}"
        n_copies[wanted] += 1
        new = wanted
        if n_copies[wanted] > 1 or (not name and new in in_file):
            while new in in_file or new == wanted:
                new = f"{wanted} ({max(2, n_copies[wanted])})"
                n_copies[wanted] += new in in_file
        in_file.add(new)
        unique.append(new)
        if new != name:
            changed.append(new)
    if changed:
        notes.append(
            f"names that were blank or there twice: now {quoted_list(changed)}"
        )
    return unique


# the end


def _end_of_data(
    rows: Sequence[Row], first: int, widest: int, layout: Layout, notes: list[str]
) -> int:
    """The row after the last one with data."""
    end = len(rows)
    while end > first and all(map(is_blank, rows[end - 1])):
        end -= 1
    n_blank = len(rows) - end
    if layout.skip_end is not None:
        return _end_without(rows[:end], first, layout.skip_end)
    if n_blank:
        notes.append(f"empty rows at the end left out: {n_blank:,}")
    last = end
    while end > first + 1 and last - end < MAX_END_ROWS:
        if not _is_remark(rows, end - 1, widest):
            break
        end -= 1
    if end < last:
        texts = [_first_text(row) for row in rows[end:last]]
        shown = quoted_list([text for text in texts if text], at_most=2)
        notes.append(
            f"{plural(last - end, 'row')} at the end left out as totals or remarks "
            f"({shown}); --skip-end 0 to overrule"
        )
    return end


def _end_without(rows: Sequence[Row], first: int, n_rows: int) -> int:
    """The row after the last one with data, of which the user says how many follow it.

    Those that hold nothing do not count: not all formats of files have them.
    """
    end = len(rows)
    while end > first and (n_rows or all(map(is_blank, rows[end - 1]))):
        n_rows -= not all(map(is_blank, rows[end - 1]))
        end -= 1
    return end


def _is_remark(rows: Sequence[Row], number: int, widest: int) -> bool:
    """Whether a row at the end holds totals, a sentence, or nothing."""
    row = rows[number]
    text = _first_text(row)
    if not text:
        return True
    words = text.lower().rstrip(":").removeprefix("grand ").split()
    if words[0] in TOTAL_WORDS and len(words) < MIN_WORDS_OF_REMARK:
        return True
    if n_filled(row) > 1 or widest < THIN_PARTS:
        return False
    if words[0].rstrip(":") in SOURCE_WORDS or text.startswith(FOOTNOTE_SIGNS):
        return True
    is_apart = all(map(is_blank, rows[number - 1]))
    return is_apart or len(words) >= MIN_WORDS_OF_REMARK
