"""A defensive reader of ARFF files, dense and sparse, as WEKA, MULAN and MEKA write them.

Read: numeric, real and integer attributes; nominal attributes; quoted names and values with backslash
escapes; comments; missing values (?), which become NaN; keywords in any case; CRLF line ends. A sparse file
goes straight into CSR. Refused, with the number of the line: string, date and relational attributes, row
weights, and anything malformed. A nominal value becomes a number as `category_values` says.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from mltsk.exceptions import InputError

from .arff_rows import Rows
from .arff_text import Fault, attribute, short, values
from .mulan import meka_labels
from .table import Table

MAX_LINE = 1 << 24  # characters: a dense row of a million numbers
MAX_ATTRIBUTES = 1 << 20


@dataclass
class _Header:
    relation: str = ""
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)


def read_arff(path: str | Path) -> Table:
    """Read an ARFF file into a table; `split_labels` says which columns are labels.

    The columns that MEKA's option ``-C`` in the relation name declares to be labels are in ``label_names``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mltsk.datasets import read_arff
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "toy.arff"
    >>> header = "@relation 'toy: -C -1'\\n@attribute size real\\n@attribute 'is red' {0,1}\\n"
    >>> _ = file.write_text(header + "@data\\n2.5,1\\n")
    >>> table = read_arff(file)
    >>> table.names, table.label_names, table.values
    (('size', 'is red'), ('is red',), array([[2.5, 1. ]]))
    """
    path = Path(path)
    try:
        try:
            return _open(path, "utf-8-sig")
        except UnicodeDecodeError:
            return _open(path, "latin-1")  # older files; every byte is a character in it
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None


def _open(path: Path, encoding: str) -> Table:
    with path.open(encoding=encoding) as file:
        return _read(file, path)


def _read(file: TextIO, path: Path) -> Table:
    lines = _Lines(file)
    try:
        header = _header(lines)
        rows = Rows(tuple(header.categories), tuple(header.categories.values()))
        for line in lines:
            rows.add(line, lines.number)
        matrix = rows.finish()
    except Fault as fault:
        what, at = (*fault.args, lines.number)[:2]
        raise InputError(f"{path}, line {at}: {what}.") from None
    labels = meka_labels(header.relation, rows.names)
    return Table(matrix, rows.names, rows.categories, path.stem, str(path), labels)


class _Lines:
    """The lines of a file without blank ones and comments; ``number`` is that of the current line."""

    def __init__(self, file: TextIO) -> None:
        self.file, self.number = file, 0

    def __iter__(self) -> Iterator[str]:
        while line := self.file.readline(MAX_LINE):
            self.number += 1
            if len(line) == MAX_LINE:
                raise Fault(f"the line is longer than {MAX_LINE} characters")
            line = line.strip()
            if line and not line.startswith("%"):
                yield line


def _header(lines: _Lines) -> _Header:
    header = _Header()
    for line in lines:
        if _header_line(line, header):
            return header
    raise Fault("the file ends before @data (is it cut off?)")


def _header_line(line: str, header: _Header) -> bool:
    """Take in one line of the header; True when the data begin after it."""
    keyword = line.split(None, 1)[0].lower()
    if keyword == "@data":
        if not header.categories:
            raise Fault("@data comes before any @attribute")
        return True
    if keyword == "@relation":
        header.relation = line[len("@relation") :].strip()
    elif keyword == "@attribute":
        _add_attribute(line, header)
    else:
        raise Fault(f"expected @relation, @attribute or @data, found {short(line)}")
    return False


def _add_attribute(line: str, header: _Header) -> None:
    name, kind = attribute(line)
    if name in header.categories:
        raise Fault(f"the attribute {name!r} is declared twice")
    if len(header.categories) == MAX_ATTRIBUTES:
        raise Fault(f"there are more than {MAX_ATTRIBUTES} attributes")
    header.categories[name] = _categories(kind, name)


def _categories(kind: str, name: str) -> tuple[str, ...]:
    if kind.startswith("{") and kind.endswith("}") and kind[1:-1].strip():
        categories = tuple(text for text, _ in values(kind[1:-1]))
        if len(set(categories)) != len(categories):
            raise Fault(f"the attribute {name!r} declares a category twice")
        return categories
    word = kind.split(None, 1)[0].lower() if kind else "missing"
    if word in ("numeric", "real", "integer"):
        return ()
    raise Fault(f"the type of attribute {name!r} is {short(word)}; only numeric and {{nominal, types}} can be read")
