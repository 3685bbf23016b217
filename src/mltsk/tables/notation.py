"""Numbers as people write them: separators, units, currencies, percent, limits.

What a sign means is decided for a column from all of its cells, and a note says so.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mltsk.text import plural, quoted

from .numerals import ASIAN_UNIT, UNIT_LETTERS, UNITS, Written, singular, taken_apart
from .separators import (
    decimal_sign,
    may_be_thousands,
    note_on_points,
    plain_numbers,
    read_numerals,
    usual_sign,
    with_plain_spaces,
)
from .words import NO_NUMBER_WORDS

MAX_LOOKED_CELLS = 200  # of a column, for the sign before decimals that is usual
OVERRULE = "--nominal to overrule"
_TITER = re.compile(r"([<>≤≥]?)\s*1\s*:\s*(\d+)")
_UNIT_LETTER = re.compile(rf"(.*\d)([{UNIT_LETTERS}]|[{ASIAN_UNIT}]{{1,4}})")
_FEET = re.compile(
    r"(\d)\s*(?:['’′]|ft\.?|feet)\s*(?:(\d{1,2}(?:[.,]\d)?)\s*(?:[\"”″]|''|in\.?)?)?",
    re.IGNORECASE,
)
INCHES_PER_FOOT = 12
# Ends of a scale as forms write them: "1 - never", 2, 3, "4 = always".
_END_OF_SCALE = re.compile(r"(\d{1,2})\s*[-–=:.)]\s*[^\W\d].*")
MAX_WORDED_ENDS = 3  # and the middle
MIN_STEPS_OF_SCALE = 3
# Behind a result of a laboratory that is high, low or not normal.
_FLAG = re.compile(
    r"(.*\d[^*↑↓▲▼!()]*?)\s*([*↑↓▲▼!]+|\((?:HH?|LL?|A|N|high|low)\))|(.*\d)\s+(HH?|LL?)"
)
_REMARK = re.compile(r"(.*\d[^()]*?)\s*\([^()\d]+\)")  # 5.1 (repeated)
_ABOUT = re.compile(
    r"(?:[~≈'’]|(?:ca|circa|approx|about|around|etwa|environ|aprox)(?:\.|\b))\s*(?=\d)(.*)",
    re.IGNORECASE,
)
_OUT_OF = re.compile(r"(\d+(?:[.,]\d+)?) ?/ ?(\d{1,3})")
_POWER = re.compile(r"(.*\d)\s*[x×*·]\s*10\^?([0-9⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2})\b(.*)")
# Signs of East Asian keyboards, and between Arabic digits: ７９．５ and ٧٩٫٥ are 79.5.
_WIDE_SIGNS = {0xFF01 + i: 0x21 + i for i in range(94)} | {0x66B: 0x2E, 0x66C: 0x2C}
# Thousands and millions as pages show them: 6.8K, 1.2M.
_SCALED = re.compile(r"([-+]?\d+(?:\.\d+)?)\s?([kKMB]?)")
_SCALES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9}

Texts = list[str | None]


class Numbers(NamedTuple):
    """The numbers of a column.

    ``values`` are NaN where there is no number, ``bad_rows`` are the rows whose cell
    holds something else, and ``notes`` tell of the notation. ``unit`` is the unit, or
    the currency, that was taken off.
    """

    values: NDArray[np.float64]
    bad_rows: list[int]
    notes: list[str]
    unit: str = ""


def numbers_of(
    texts: Texts, decimal: str = "", usual: str = "", *, is_asked: bool = False
) -> Numbers:
    """Read text as numbers, in the notation that the column is written in.

    ``decimal`` is the sign before decimals, "." or ",", or "" to find it: commas are
    decimal points where enough cells can mean nothing else (2,5 or 0,125), and stand
    between thousands where all of them can (1,234.5 or 50,538). Where both can be,
    ``usual`` is the sign of other columns. Units, currencies and percent signs are
    taken off where every cell has the same. A limit such as <0.5 is read as 0.5 where
    most cells have none, or if it is said that these are numbers (``is_asked``).
    """
    values = plain_numbers(texts)
    bad_rows = _rows_without_number(texts, values)
    if not bad_rows and decimal != ",":
        has_thousands = not decimal and usual == "," and may_be_thousands(texts)
        if not has_thousands:
            return Numbers(values, bad_rows, note_on_points(texts))
    notes: list[str] = []
    texts = _without_unknown(texts, notes, is_asked=is_asked)
    out_of = _numbers_out_of(texts, decimal, usual)
    if out_of is not None:
        return out_of._replace(notes=[*notes, *out_of.notes])
    heights = _inches_of(texts)
    if heights is not None:
        return heights._replace(notes=[*notes, *heights.notes])
    scaled = _scaled(texts, is_asked=is_asked)
    if scaled is not None:
        return scaled._replace(notes=[*notes, *scaled.notes])
    texts = _without_dilutions(texts, notes)
    texts = _without_ends_of_scale(texts, notes, is_asked=is_asked)
    texts = _without_remarks(_without_flags(texts, notes), notes)
    bare = _without_about(texts, notes)
    _note_powers(bare, notes)
    cells = [_cell(text) for text in _with_unit_apart(bare)]
    numerals = _bare_numerals(texts, cells, notes, is_asked=is_asked)
    sign = decimal or decimal_sign(numerals, usual)
    values, separator_notes = read_numerals(numerals, sign, is_asked=bool(decimal))
    return Numbers(
        values=values,
        bad_rows=_rows_without_number(texts, values),
        notes=[*notes, *separator_notes],
        unit=_common_unit(cells),
    )


def usual_decimal_sign(columns: Iterable[Texts]) -> str:
    """The sign before decimals of most columns that leave no doubt; "" if none does.

    Columns that hold something else than numbers say nothing.

    >>> usual_decimal_sign([["3,5 kg", "4,25 kg"], ["1.234"], ["2.5 or 3"]])
    ','
    """
    numerals = []
    for texts in columns:
        present = [text for text in texts if text is not None][:MAX_LOOKED_CELLS]
        cells = [_cell(text) for text in present]
        written = [cell.numeral for cell in cells if cell is not None]
        if 2 * len(written) > len(present):
            numerals.append(written)
    return usual_sign(numerals)


def units_that_differ(texts: Iterable[str]) -> list[str]:
    """Units of numbers with several of them, the most frequent first; else none.

    Some numbers may have none, if the units are known ones.

    >>> units_that_differ(["70 kg", "154 lbs", "81 kg"]), units_that_differ(["7 kg"])
    (['kg', 'lbs'], [])
    >>> units_that_differ(["70 %", "0.54", "81 %"])
    ['%', 'none']
    """
    counts: Counter[str] = Counter()
    for text in texts:
        cell = _cell(text)
        if cell is None:
            return []
        counts[cell.unit or cell.currency] += 1
    units = [unit for unit, _ in counts.most_common()]
    has_bare_numbers = "" in units
    if has_bare_numbers and not set(units) <= {"", *UNITS}:
        return []
    if len(set(map(singular, units))) < 2:
        return []
    return [unit or "none" for unit in units]


def _cell(text: str | None) -> Written | None:
    """A cell taken apart, with powers of ten and wide digits as a program has them."""
    if text is None:
        return None
    if not text.isascii():
        text = text.translate(_WIDE_SIGNS)
    match = _POWER.fullmatch(text)
    if match is not None:
        exponent = "".join(str(int(digit)) for digit in map(_plain_digit, match[2]))
        text = f"{match[1]}e{exponent} {match[3].strip()}".strip()
    return taken_apart(text)


def _plain_digit(digit: str) -> str:
    """A digit that may stand above the line: ³ is 3."""
    raised = "⁰¹²³⁴⁵⁶⁷⁸⁹"
    return str(raised.index(digit)) if digit in raised else digit


def _common_unit(cells: Sequence[Written | None]) -> str:
    """The unit or currency that all numbers have; "" where they have none or several.

    >>> _common_unit([taken_apart("3 kg"), None]), _common_unit([taken_apart("3")])
    ('kg', '')
    """
    around = Counter(cell.unit or cell.currency for cell in cells if cell is not None)
    if len({singular(unit) for unit in around}) != 1:
        return ""
    return around.most_common(1)[0][0]


def _rows_without_number(
    texts: Sequence[str | None], values: NDArray[np.float64]
) -> list[int]:
    """Rows with a text that is no number."""
    rows = np.flatnonzero(np.isnan(values)).tolist()
    return [row for row in rows if texts[row] is not None]


# what stands around numbers


def _without_unknown(texts: Texts, notes: list[str], *, is_asked: bool) -> Texts:
    """Texts without words such as unknown, if these are numbers: some have digits."""
    if not is_asked and not any(map(_holds_digit, texts)):
        return texts
    words = [t for t in texts if t is not None and t.lower() in NO_NUMBER_WORDS]
    for word, count in Counter(words).items():
        notes.append(f"{plural(count, 'cell')} with {quoted(word)} counted as missing")
    unknown = set(words)
    return [None if text in unknown else text for text in texts]


def _numbers_out_of(texts: Texts, decimal: str, usual: str) -> Numbers | None:
    """Numbers such as 7/10, if all are out of the same one and none is above; or None.

    What they are out of is their unit.
    """
    numerals: Texts = []
    wholes = set()
    for text in texts:
        match = None if text is None else _OUT_OF.fullmatch(text)
        if match is None and text is not None:
            return None
        numerals.append(match and match[1])
        wholes.add(match and match[2])
    wholes.discard(None)
    if len(wholes) != 1:
        return None
    whole = wholes.pop()
    read = numbers_of(numerals, decimal, usual)
    if np.nanmax(read.values) > float(whole or 0):  # as in 120/80
        return None
    row = next(row for row, text in enumerate(texts) if text is not None)
    note = f"numbers out of {whole} ({texts[row]} is {numerals[row]}); {OVERRULE}"
    return read._replace(notes=[note, *read.notes], unit=f"/{whole}")


def _inches_of(texts: Texts) -> Numbers | None:
    """Heights such as 6'2" in inches, if all texts are such; or None."""
    values = np.full(len(texts), np.nan)
    example = ""
    for row, text in enumerate(texts):
        if text is None:
            continue
        match = _FEET.fullmatch(text)
        inches = 0.0 if match is None else float((match[2] or "0").replace(",", "."))
        if match is None or inches >= INCHES_PER_FOOT:
            return None
        values[row] = INCHES_PER_FOOT * int(match[1]) + inches
        example = example or f"{text} is {values[row]:g}"
    if not example:
        return None
    note = f"feet and inches read as inches ({example}); {OVERRULE}"
    return Numbers(values, bad_rows=[], notes=[note], unit="in")


def _scaled(texts: Texts, *, is_asked: bool) -> Numbers | None:
    """Numbers such as 6.8K and 1.2M, if all texts are such or plain; or None.

    Unless it is said that these are numbers, there must be thousands beside another
    scale, and decimals: 12B and 14K are codes.
    """
    values = np.full(len(texts), np.nan)
    text_of_scale: dict[str, str] = {}
    has_decimals = False
    for row, text in enumerate(texts):
        if text is None:
            continue
        match = _SCALED.fullmatch(text)
        if match is None:
            return None
        scale = match[2]
        values[row] = float(match[1]) * _SCALES[scale]
        text_of_scale[scale] = text
        if scale and "." in match[1]:
            has_decimals = True
    scales = text_of_scale.keys()
    are_scales = len(scales) > 1 and scales & {"k", "K"} and has_decimals
    if not are_scales and not (is_asked and scales & {"K", "M", "B"}):
        return None
    example = next(text for scale, text in text_of_scale.items() if scale)
    value = values[texts.index(example)]
    note = f"K, M and B read as thousands and more ({example} is {value:.12g})"
    return Numbers(values, bad_rows=[], notes=[f"{note}; {OVERRULE}"])


def _without_ends_of_scale(texts: Texts, notes: list[str], *, is_asked: bool) -> Texts:
    """Steps of a scale without the words at its ends: "5 - always" is 5.

    All texts are whole numbers then, and each stands in one way. Unless it is said that
    these are numbers, there are steps without a word, and not many with one.
    """
    numbers: dict[str, str] = {}
    n_worded = 0
    for text in {text for text in texts if text is not None}:
        match = _END_OF_SCALE.fullmatch(text)
        numbers[text] = text if match is None else match[1]
        n_worded += match is not None
        if not numbers[text].isdecimal():
            return texts
    if len(set(numbers.values())) < len(numbers):
        return texts
    are_ends = n_worded <= min(MAX_WORDED_ENDS, len(numbers) - 1)
    is_scale = are_ends and len(numbers) >= MIN_STEPS_OF_SCALE
    if not is_asked and not is_scale:
        return texts
    return _rewritten(texts, numbers, notes, "words behind numbers left out")


def _without_dilutions(texts: Texts, notes: list[str]) -> Texts:
    """Titers such as 1:64 as 64, and <1:8 as <8, if all texts are titers."""
    numbers: dict[str, str] = {}
    for text in {text for text in texts if text is not None}:
        match = _TITER.fullmatch(text)
        if match is None:
            return texts
        numbers[text] = match[1] + match[2]
    return _rewritten(texts, numbers, notes, "titers read as their second number")


def _without_flags(texts: Texts, notes: list[str]) -> Texts:
    """Numbers without the signs of a laboratory behind them: "6.8 H" is 6.8.

    All texts must be numbers then, and not all may end in the same letter, which would
    rather be a unit.
    """
    bare: dict[str, str] = {}
    flags = set()
    for text in {text for text in texts if text is not None}:
        bare[text], flag = _number_and_flag(text)
        flags.add(flag)
        if _cell(bare[text]) is None:
            return texts
    if len(flags) == 1 and min(flags).isalpha():
        return texts
    return _rewritten(texts, bare, notes, "signs behind numbers left out")


def _number_and_flag(text: str) -> tuple[str, str]:
    """A number, and the sign behind it; "" if there is none.

    >>> _number_and_flag("6.8 H"), _number_and_flag("5.1*"), _number_and_flag("4")
    (('6.8', 'H'), ('5.1', '*'), ('4', ''))
    """
    match = _FLAG.fullmatch(text)
    if match is None:
        return text, ""
    return match[1] or match[3], match[2] or match[4]


def _without_remarks(texts: Texts, notes: list[str]) -> Texts:
    """Numbers without a remark in brackets, which fewer than half may have.

    All texts must be numbers then: where most have one, it rather says what a code
    means.
    """
    bare: dict[str, str] = {}
    n_remarks = 0
    for text, count in Counter(text for text in texts if text is not None).items():
        match = _REMARK.fullmatch(text)
        bare[text] = text
        if match is not None:
            bare[text] = match[1]
            n_remarks += count
        if _cell(bare[text]) is None:
            return texts
    if 2 * n_remarks >= len(texts) - texts.count(None):
        return texts
    return _rewritten(texts, bare, notes, "remarks behind numbers left out")


def _without_about(texts: Texts, notes: list[str]) -> Texts:
    """Numbers without "about" before them: "ca. 5" and "~5" are 5."""
    bare: dict[str, str] = {}
    for text in {text for text in texts if text is not None}:
        match = _ABOUT.fullmatch(text)
        if match is not None and _cell(match[1]) is not None:
            bare[text] = match[1]
    return _rewritten(texts, bare, notes, "words before numbers left out")


def _rewritten(
    texts: Texts, numbers: Mapping[str, str], notes: list[str], what: str
) -> Texts:
    """Texts as the numbers that they stand for; a note says what, with an example."""
    changed = {text: number for text, number in numbers.items() if text != number}
    if not changed:
        return texts
    example = min(changed)
    notes.append(f"{what} ({example} is {changed[example]}); {OVERRULE}")
    return [None if text is None else changed.get(text, text) for text in texts]


def _note_powers(texts: Texts, notes: list[str]) -> None:
    """Note how powers of ten are read, if there are any."""
    for text in texts:
        if text is not None and _POWER.fullmatch(text):
            cell = _cell(text)
            number = "" if cell is None else cell.numeral
            notes.append(
                f"powers of ten read as numbers ({text} is {number}); {OVERRULE}"
            )
            return


def _with_unit_apart(texts: Texts) -> Texts:
    """Numbers with the same letter behind all of them, apart: "79y" is "79 y".

    Where some have none, the letter is part of a code.
    """
    apart: Texts = []
    letters = set()
    for text in texts:
        match = None if text is None else _UNIT_LETTER.fullmatch(text)
        if match is None and text is not None:
            return texts
        letters.add(match and match[2])
        apart.append(match and f"{match[1]} {match[2]}")
    return apart if len(letters - {None}) == 1 else texts


def _holds_digit(text: str | None) -> bool:
    return text is not None and any(character.isdigit() for character in text)


def _bare_numerals(
    texts: Texts,
    cells: Sequence[Written | None],
    notes: list[str],
    *,
    is_asked: bool,
) -> Texts:
    """The numerals of cells; None where something else stands around them.

    Currency and unit must be the same in all cells; limits must be in fewer than half,
    unless it is said that these are numbers.
    """
    written = [cell for cell in cells if cell is not None]
    around = {(cell.currency, singular(cell.unit)) for cell in written}
    cells = _with_minus_in_brackets(cells, notes, is_asked=is_asked)
    if len(around) == 1:
        ((currency, _),) = around
        notes += _notes_on_unit(texts, cells, currency, _common_unit(cells))
    else:
        around = {("", "")}
    limits = {""}
    n_limits = sum(cell.limit != "" for cell in written)
    if is_asked or 2 * n_limits < len(written):
        limits = {cell.limit for cell in written}
        if n_limits:
            notes.append(_note_on_limits(texts, cells, n_limits))
    return [_numeral_if(cell, around, limits) for cell in cells]


def _with_minus_in_brackets(
    cells: Sequence[Written | None], notes: list[str], *, is_asked: bool
) -> Sequence[Written | None]:
    """Cells in which brackets mean a minus, or without those that are in brackets.

    If all are in brackets, these say something else, unless it is said that these are
    numbers.
    """
    written = [cell for cell in cells if cell is not None]
    in_brackets = [cell for cell in written if cell.in_brackets]
    if in_brackets and (is_asked or len(in_brackets) < len(written)):
        example = in_brackets[0].numeral
        notes.append(f"brackets read as a minus: ({example}) is -{example}; {OVERRULE}")
        return cells
    return [None if cell and cell.in_brackets else cell for cell in cells]


def _numeral_if(
    cell: Written | None, around: Set[tuple[str, str]], limits: Set[str]
) -> str | None:
    """The numeral of a cell, if what stands around it is among what is taken off."""
    if cell is None or (cell.currency, singular(cell.unit)) not in around:
        return None
    if cell.limit not in limits:
        return None
    return f"-{cell.numeral}" if cell.in_brackets else cell.numeral


def _notes_on_unit(
    texts: Texts, cells: Sequence[Written | None], currency: str, unit: str
) -> list[str]:
    """The note on what every cell has next to its number."""
    if unit == "%":
        return [f"percent signs taken off: 5 % is 5; {OVERRULE}"]
    if not currency and not unit:
        return []
    row = next(row for row, cell in enumerate(cells) if cell is not None)
    noun = "currency" if currency else "unit"
    example = with_plain_spaces(texts[row] or "")
    name = unit or currency
    place = example.lower().rfind(name.lower())
    if place >= 0:
        name = example[place : place + len(name)]  # in the capitals of the file
    return [f"{noun} {name} taken off ({example} is a number); {OVERRULE}"]


def _note_on_limits(
    texts: Texts, cells: Sequence[Written | None], n_limits: int
) -> str:
    row = next(row for row, cell in enumerate(cells) if cell is not None and cell.limit)
    example = quoted(texts[row] or "")
    return (
        f"{plural(n_limits, 'limit')} such as {example} read as the number alone; "
        f'--missing "{example[1:-1]}" to overrule'
    )
