"""Text files with delimiters, read cell by cell.

The delimiter is the one of comma, semicolon, tab and bar that makes names of the first
line that it can, or a space where there is none of them. The encoding is UTF-8 or
UTF-16; `mltsk.tables.encodings` tells others apart.
"""

import codecs
import csv
import gzip
import io
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from math import isnan
from pathlib import Path
from typing import IO, TextIO, cast

from mltsk.datasets.dataset import as_number, unreadable
from mltsk.exceptions import InputError
from mltsk.limits import OBJECT_CELL_BYTES, check_size, memory_limit, too_large
from mltsk.text import quoted

from .encodings import (
    ENCODING_NAMES,
    FALLBACK_ENCODING,
    foreign_words,
    likely_encoding,
    readings,
    readings_of_bytes,
)
from .layout import HEAD_ROWS, Row

MAX_LINE_LENGTH = 1 << 24  # characters: a row of a million numbers
FRAME_COLUMN_BYTES = 10_000  # of a column of a data frame, whatever it holds
DELIMITERS = ",;\t|"
SPACE = " "
# How files start that are no table in text, and what to do about them.
OTHER_FILES = {
    b"pk\x03\x04": "is an Excel file or another archive: call an Excel file .xlsx",
    b"\xd0\xcf\x11\xe0": "is a file of an old Excel: save it there as .csv or .xlsx",
    b"%pdf": "is a PDF: export the table as .csv or .xlsx",
    b"<!doctype": "is a web page: save its table as .csv or .xlsx",
    b"<html": "is a web page: save its table as .csv or .xlsx",
    b"<table": "is a web page: save its table as .csv or .xlsx",
    b"<?xml": "is XML: save its table as .csv or .xlsx",
    b'[{"': "is JSON: save its table as .csv or .xlsx",
    b'{"': "is JSON: save its table as .csv or .xlsx",
}
MIN_LINES_WITH_SPACES = 3
# How Python's reader says that quotation marks do not enclose cells.
QUOTE_ERRORS = ("unexpected end of data", "expected after")
MAX_EXAMPLE_LENGTH = 12  # an even number: a sign may be two bytes
MARK_BYTES = 4096  # at the start of a file that tell its encoding
# In Western text hardly a word has two letters and none of ASCII; in Chinese, Korean,
# Russian or Greek that was read as Western nearly all are such.
MAX_SHARE_OF_STRANGE_WORDS = 0.25
RARE_SIGNS = frozenset("¤¦¬¯¸")
_QUOTED = re.compile(r'"[^"]*"')
# A cell in quotes that may go over lines; a mark within a cell encloses nothing.
_QUOTED_CELL = re.compile(
    r'(?:(?<=[,;\t|])|^)"[^"]*(?:""[^"]*)*"(?=[,;\t|]|$)', re.MULTILINE
)
_DECLARED = re.compile(r'\ufeff?"?sep=(.)"?\s*', re.IGNORECASE)
_WORD = re.compile(r"(?:[^\W\d_]|[^\x00-\x7f])+")
_FOREIGN_WORD = re.compile(r"\w*[^\W\x00-\x7f]\w*")
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # which starts as UTF-16 does
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass
class TextRows:
    """The rows of a text file, the numbers of their last lines, and notes."""

    rows: list[Row] = field(default_factory=list)
    line_numbers: "array[int]" = field(default_factory=lambda: array("q"))
    notes: list[str] = field(default_factory=list)


def read_text_rows(path: Path, encoding: str | None = None) -> TextRows:
    """The rows of a text file, also of a compressed one.

    ``encoding`` is the name of one, None to find it.
    """
    _refuse_other_files(path)
    if encoding is not None:
        return _decoded_rows(path, _checked_encoding(encoding))
    found = _marked_encoding(path)
    if found is not None:
        return _decoded_rows(path, found)
    try:
        return _decoded_rows(path, "utf-8")
    except UnicodeDecodeError:
        pass
    with _opened(path) as file:
        words = foreign_words(file)
    encoding = likely_encoding(words)
    try:
        rows = _decoded_rows(path, encoding)
    except InputError as error:
        if isinstance(error.__cause__, UnicodeError):
            raise _no_known_encoding(path, words) from None
        raise
    if encoding == FALLBACK_ENCODING:
        _refuse_other_scripts(rows.rows, path)
    example = _foreign_word(rows.rows)
    name = ENCODING_NAMES[encoding]
    rows.notes.append(f"not UTF-8: read as {name} ({example}); --encoding to overrule")
    return rows


def _no_known_encoding(path: Path, words: Sequence[bytes]) -> InputError:
    """The sentence about a text file in neither UTF-8 nor an encoding of the West."""
    which = readings_of_bytes(words)
    return InputError(
        f"{path} is not in UTF-8: say with --encoding which encoding it has{which}, or "
        "save it in UTF-8."
    )


def _refuse_other_files(path: Path) -> None:
    """Refuse what is no table in text, by its first bytes."""
    try:
        with _opened(path) as file:
            start = file.read(MARK_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None
    start = start.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    for sign, sentence in OTHER_FILES.items():
        if start.startswith(sign):
            raise InputError(f"{path} {sentence}.")


def _checked_encoding(name: str) -> str:
    """An encoding of text that Python knows."""
    try:
        "a".encode(name)
        known = codecs.lookup(name).name
    except (LookupError, ValueError, TypeError, UnicodeError):
        raise InputError(
            f"Encoding {quoted(name)} is not known: give one such as utf-8, utf-16, "
            "cp1252 or mac-roman."
        ) from None
    return "utf-8-sig" if known == "utf-8" else known


def _opened(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked."""
    if path.suffix.lower() == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")


def _marked_encoding(path: Path) -> str | None:
    """The encoding that the first bytes of a file tell, if they do."""
    try:
        with _opened(path) as file:
            start = file.read(MARK_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding
    # Without a mark, every second byte of Western text in UTF-16 is zero.
    n_even = start[::2].count(0)
    n_odd = start[1::2].count(0)
    if max(n_even, n_odd) * 4 > len(start) and min(n_even, n_odd) == 0:
        return "utf-16-le" if n_odd else "utf-16-be"
    return None


def _decoded_rows(path: Path, encoding: str) -> TextRows:
    """The rows of a file in an encoding.

    Text that is not UTF-8 is a `UnicodeDecodeError`, for another attempt; in any other
    encoding it is refused.
    """
    try:
        with (
            _opened(path) as binary,
            io.TextIOWrapper(binary, encoding=encoding, newline="") as file,
        ):
            return _parsed_rows(file, path)
    except UnicodeError as error:
        if encoding == "utf-8" and isinstance(error, UnicodeDecodeError):
            raise
        raise InputError(
            f"{path} is not a text file in {encoding}: say with --encoding which it "
            "is, or save it in UTF-8."
        ) from error
    except (OSError, EOFError, csv.Error, zlib.error) as error:
        raise unreadable(path, error) from None


def _refuse_other_scripts(rows: Sequence[Row], path: Path) -> None:
    """Refuse text of another script, which makes no words as Windows-1252.

    Each word counts once: one that repeats in all rows may look like a sign.
    """
    foreign: dict[str, None] = {}
    for row in rows:
        for cell in row:
            if not cell.isascii():
                words = _WORD.findall(cell)
                foreign.update((word, None) for word in words if not word.isascii())
    strange = list(filter(_is_strange, foreign))
    if len(strange) <= MAX_SHARE_OF_STRANGE_WORDS * len(foreign):
        return
    example = strange[0][:MAX_EXAMPLE_LENGTH]
    raise InputError(
        f"{path} is not in UTF-8, and as Windows-1252 it would have words such as "
        f"{quoted(example)}: say with --encoding which it has{readings(example)}."
    )


def _is_strange(word: str) -> bool:
    """Whether a word has signs that none has, or letters and none of ASCII."""
    if RARE_SIGNS.intersection(word):
        return True
    has_letter = any(map(str.isalpha, word))
    return min(word) > "\x7f" and has_letter and len(set(word)) > 1


def _foreign_word(rows: Sequence[Row]) -> str:
    """The first word with a letter beyond those of English, for a user to look at."""
    for row in rows:
        for cell in row:
            match = _FOREIGN_WORD.search(cell)
            if match is not None:
                return quoted(match.group())
    return "signs alone"


# parsing


def _parsed_rows(file: TextIO, path: Path) -> TextRows:
    """The rows of an open text file."""
    lines = _CheckedLines(file, path)
    head = list(islice(lines, HEAD_ROWS))
    declared = _declared_delimiter(head)
    n_before = 0
    if declared is not None:
        del head[0]
        n_before = 1
    n_cells = sum(max(map(line.count, DELIMITERS)) for line in head)
    check_size(OBJECT_CELL_BYTES * n_cells, path)  # before a line is cut into cells
    lines.delimiter = declared or find_delimiter(head)
    lines.unparsed = sum(map(lines.cost, head))
    most = max((line.count(lines.delimiter) for line in head), default=0)
    check_size(FRAME_COLUMN_BYTES * most, path)
    reader = csv.reader(
        _without_outer_spaces(chain(head, lines), lines.delimiter),
        delimiter=lines.delimiter,
        skipinitialspace=lines.delimiter == SPACE,
        strict=True,
    )
    text_rows = TextRows()
    if lines.delimiter == SPACE:
        text_rows.notes.append("cells are divided by spaces")
    try:
        for row in filter(None, reader):
            lines.size += OBJECT_CELL_BYTES * len(row) + sum(map(len, row))
            lines.unparsed = 0
            text_rows.rows.append(row)
            text_rows.line_numbers.append(n_before + reader.line_num)
    except csv.Error as error:
        if any(sign in str(error) for sign in QUOTE_ERRORS):
            last = text_rows.line_numbers[-1] if text_rows.line_numbers else n_before
            raise _open_quote(path, last + 1) from None
        raise
    return text_rows


def _open_quote(path: Path, line: int) -> InputError:
    """The sentence about a row whose quotation marks do not enclose cells."""
    return InputError(
        f"{path}, line {line}: a quotation mark opens a cell and is not closed at the "
        'end of the cell; write marks within a cell twice ("").'
    )


def _without_outer_spaces(lines: Iterator[str], delimiter: str) -> Iterator[str]:
    """Lines as they are; where a space is a delimiter, without spaces at both ends."""
    if delimiter != SPACE:
        return lines
    return (line.strip(" \t\r\n") + "\n" for line in lines)


def _declared_delimiter(lines: Sequence[str]) -> str | None:
    """What Excel writes for itself in the first line: ``sep=;``."""
    match = _DECLARED.fullmatch(lines[0]) if lines else None
    return match[1] if match is not None and match[1] in DELIMITERS else None


def find_delimiter(lines: Sequence[str]) -> str:
    """The delimiter of a text, given its first lines.

    >>> find_delimiter(["a;b", "1,5;2,5"]), find_delimiter(["Export", "a,b", "1,2"])
    (';', ',')

    A cell in quotes may go over lines.

    >>> find_delimiter(["said;age", '"well,', 'yes, no, well";3', '"no,', 'no";4'])
    ';'
    """
    text = "\n".join(line.rstrip("\r\n") for line in lines)
    bare = [_QUOTED.sub("x", line) for line in _QUOTED_CELL.sub("x", text).split("\n")]
    candidates = []
    for delimiter in DELIMITERS:
        number = _line_of_names(bare, delimiter)
        if number is not None:
            candidates.append((number, -bare[number].count(delimiter), delimiter))
    if candidates:
        return min(candidates)[2]
    if _are_divided_by_spaces(bare):
        return SPACE
    return max(DELIMITERS, key=bare[0].count) if bare else DELIMITERS[0]


def _are_divided_by_spaces(lines: Sequence[str]) -> bool:
    """Whether all lines have as many words, with a number in most; names may lack one.

    So write programs that put names of rows first, or columns below each other.
    """
    counts = [len(line.split()) for line in lines if line.strip()]
    if len(counts) < MIN_LINES_WITH_SPACES or min(counts[1:]) != max(counts):
        return False
    is_divided = counts[0] > 1 and counts[0] in (counts[1], counts[1] - 1)
    has_number = [any(map(_is_number, line.split())) for line in lines[1:]]
    has_names = not any(map(_is_number, lines[0].split()))
    return is_divided and has_names and 2 * sum(has_number) > len(has_number)


def _is_number(word: str) -> bool:
    return not isnan(as_number(word.replace(",", ".")))


def _line_of_names(lines: Sequence[str], delimiter: str) -> int | None:
    """The first line that a delimiter divides into names, as often as most lines."""
    counts = Counter(line.count(delimiter) for line in lines)
    del counts[0]
    if not counts:
        return None
    usual = max(counts, key=lambda count: (counts[count], count))
    for number, line in enumerate(lines):
        cells = line.split(delimiter)
        n_numbers = sum(not isnan(as_number(cell)) for cell in cells)
        if len(cells) - 1 == usual and 2 * n_numbers < len(cells):
            return number
    return None


class _CheckedLines(Iterator[str]):
    """The lines of a file, as long as they look like those of a table.

    A row can go over many lines, and has cells before it is complete.

    Attributes
    ----------
    delimiter : what separates cells
    limit : bytes that the table may take
    size : bytes that the rows take so far
    unparsed : bytes that the row that is not complete yet may take, at most
    """

    def __init__(self, file: TextIO, path: Path) -> None:
        self.file = file
        self.path = path
        self.number = 0
        self.delimiter = "\n"
        self.limit = memory_limit()
        self.size = 0
        self.unparsed = 0

    def __next__(self) -> str:
        line = self.file.readline(MAX_LINE_LENGTH)
        if not line:
            raise StopIteration
        self.number += 1
        if len(line) == MAX_LINE_LENGTH:
            raise InputError(
                f"{self.path}, line {self.number} is longer than "
                f"{MAX_LINE_LENGTH:,} characters: it is no table."
            )
        if "\0" in line:
            raise InputError(
                f"{self.path}, line {self.number}: there is a NUL byte; the file is "
                "damaged or no text."
            )
        self.unparsed += self.cost(line)
        if self.size + self.unparsed > self.limit:
            raise too_large(self.path)
        return line

    def cost(self, line: str) -> int:
        """Bytes that the cells of a line may take, at most."""
        return OBJECT_CELL_BYTES * (1 + line.count(self.delimiter)) + len(line)
