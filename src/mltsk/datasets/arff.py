"""A defensive reader of ARFF files, dense and sparse, as WEKA, MULAN and MEKA write them.

Read: numeric, real and integer attributes; nominal attributes; quoted names and values with backslash escapes;
comments; missing values (?), which become NaN; keywords in any case; CRLF line ends. Refused, with the number of the
line: string, date and relational attributes, row weights, and anything malformed. A nominal value becomes a number as
`category_values` says.

Every row becomes numbers as it is read, so that no text is held. Sparse rows fill the three arrays of a CSR matrix; an
attribute that a sparse row does not mention has the number 0, or the *first* category when it is nominal, as WEKA
defines it.

Which attributes are labels: MULAN says it in an XML file, MEKA in the relation name.
"""

import re
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO
from xml.parsers import expat

import numpy as np
from scipy import sparse

from mltsk.exceptions import InputError

from .dataset import category_values, repeated, unreadable
from .table import Table

MAX_LINE = 1 << 24  # characters: a dense row of a million numbers
MAX_ATTRIBUTES = 1 << 20
MAX_FILLED = 1 << 24  # entries that omitted non-zero first categories may add to a sparse file
MAX_XML = 1 << 25

# Possessive quantifiers (*+): a hostile line costs one pass, never a search through all ways to match it.
_QUOTED = r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)\""""
_VALUE = re.compile(rf"""\s*+(?:{_QUOTED}|([^,'"{{}}]*+))\s*+(,|$)""")
_ITEM = re.compile(rf"""\s*+(-?\d{{1,9}}+)\s++(?:{_QUOTED}|([^\s,'"{{}}]++))\s*+(,|$)""", re.ASCII)
_ATTRIBUTE = re.compile(rf"""@attribute\s++(?:{_QUOTED}|([^\s{{'"][^\s{{]*+))\s*+(.*+)""", re.IGNORECASE | re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_SPECIAL = re.compile(r"""['"?{}\\_]""")  # a line without these can be split at its commas
_OPTION_C = re.compile(r"-C\s+([-+]?\d{1,7})(?!\d)")


class _Fault(Exception):
    """Something wrong in the line being read."""


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
            return _read(path, "utf-8-sig")
        except UnicodeDecodeError:
            return _read(path, "latin-1")  # older files; every byte is a character in it
    except OSError as error:
        raise unreadable(path, error) from None


def _read(path: Path, encoding: str) -> Table:
    with path.open(encoding=encoding) as file:
        lines = _Lines(file)
        try:
            relation, columns = _header(lines)
            matrix = _matrix(lines, columns)
        except _Fault as fault:
            raise InputError(f"{path}, line {lines.number}: {fault}.") from None
    names = tuple(columns)
    return Table(matrix, names, tuple(columns.values()), path.stem, str(path), _meka_labels(relation, names))


class _Lines:
    """The lines of a file without blank ones and comments; ``number`` is that of the current line."""

    def __init__(self, file: TextIO) -> None:
        self.file, self.number = file, 0

    def __iter__(self) -> Iterator[str]:
        while line := self.file.readline(MAX_LINE):
            self.number += 1
            if len(line) == MAX_LINE:
                raise _Fault(f"the line is longer than {MAX_LINE} characters")
            line = line.strip()
            if line and not line.startswith("%"):
                yield line


def _header(lines: _Lines) -> tuple[str, dict[str, tuple[str, ...]]]:
    """The relation's name and the categories of every attribute, up to the line ``@data``."""
    relation, columns = "", {}
    for line in lines:
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@relation":
            relation = line
        elif keyword == "@attribute":
            _add_attribute(line, columns)
        elif keyword != "@data":
            raise _Fault(f"expected @relation, @attribute or @data, found {_short(line)}")
        elif columns:
            return relation, columns
        else:
            raise _Fault("@data comes before any @attribute")
    raise _Fault("the file ends before @data (is it cut off?)")


def _add_attribute(line: str, columns: dict[str, tuple[str, ...]]) -> None:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise _Fault(f"cannot read the attribute {_short(line)}")
    name, _ = _text(*match.group(1, 2, 3))
    if name in columns:
        raise _Fault(f"the attribute {name!r} is declared twice")
    if len(columns) == MAX_ATTRIBUTES:
        raise _Fault(f"there are more than {MAX_ATTRIBUTES} attributes")
    columns[name] = _categories(match[4], name)


def _categories(kind: str, name: str) -> tuple[str, ...]:
    if kind.startswith("{") and kind.endswith("}") and kind[1:-1].strip():
        categories = tuple(_text(*match.group(1, 2, 3))[0] for match in _matches(_VALUE, kind[1:-1]))
        if repeated(categories) is not None:
            raise _Fault(f"the attribute {name!r} declares a category twice")
        return categories
    word = kind.split(None, 1)[0].lower() if kind else "missing"
    if word not in ("numeric", "real", "integer"):
        raise _Fault(
            f"the type of attribute {name!r} is {_short(word)}; only numeric and {{nominal, types}} can be read"
        )
    return ()


def _matrix(lines: _Lines, columns: dict[str, tuple[str, ...]]) -> Any:
    """The data section: a float64 array, or a CSR array when its rows are sparse."""
    rows = _Rows(columns)
    add = None
    for line in lines:
        add = add or (rows.add_sparse if line.startswith("{") else rows.add_dense)
        add(line)
        rows.starts.append(len(rows.data))
    if add is None:
        raise _Fault("there is no row after @data (is the file cut off?)")
    shape = (len(rows.starts) - 1, len(columns))
    if add == rows.add_dense:
        return np.array(rows.data).reshape(shape)
    X = sparse.csr_array((np.array(rows.data), np.array(rows.positions), np.array(rows.starts)), shape=shape)
    X.sort_indices()
    X = _fill_omitted(X, list(columns.values()))
    X.eliminate_zeros()
    return X


class _Rows:
    """Numbers of the rows read so far, as in a CSR matrix; dense rows have no positions."""

    def __init__(self, columns: dict[str, tuple[str, ...]]) -> None:
        self.names = list(columns)
        self.codes = [dict(zip(c, category_values(c).tolist(), strict=True)) for c in columns.values()]
        self.convert: list[Callable[[str], float]] = [c.__getitem__ if c else float for c in self.codes]
        self.data, self.positions, self.starts = array("d"), array("i"), array("q", [0])

    def add_dense(self, line: str) -> None:
        if not _SPECIAL.search(line):
            try:
                self.data.extend([c(text) for c, text in zip(self.convert, line.split(","), strict=True)])
                return
            except (ValueError, KeyError):
                pass  # the careful way copes with spaces around values, or says what is wrong
        row = [_text(*match.group(1, 2, 3)) for match in _matches(_VALUE, line)]
        if len(row) != len(self.names):
            raise _Fault(f"{len(row)} values for {len(self.names)} attributes (is the file cut off?)")
        self.data.extend([self._number(j, *value) for j, value in enumerate(row)])

    def add_sparse(self, line: str) -> None:
        if not (line.startswith("{") and line.endswith("}")):
            raise _Fault(f"expected a sparse row in braces, found {_short(line)} (is the file cut off?)")
        line = line[1:-1].strip()
        if not line or (not _SPECIAL.search(line) and self._add_plain_items(line)):
            return
        row: dict[int, float] = {}
        for match in _matches(_ITEM, line):
            j = int(match[1])
            if not 0 <= j < len(self.names):
                raise _Fault(f"there is no attribute {j}: the positions are 0 to {len(self.names) - 1}")
            if j in row:
                raise _Fault(f"{self.names[j]!r} is given twice")
            row[j] = self._number(j, *_text(*match.group(2, 3, 4)))
        self.positions.extend(row)
        self.data.extend(row.values())

    def _add_plain_items(self, line: str) -> bool:
        try:
            positions, texts = zip(*map(str.split, line.split(",")), strict=True)
            row = {int(position): text for position, text in zip(positions, texts, strict=True)}
            values = [self.convert[j](text) for j, text in row.items()]
        except (ValueError, KeyError, IndexError):
            return False
        if len(row) != len(positions) or min(row) < 0:
            return False  # the careful way says what is wrong
        self.positions.extend(row)
        self.data.extend(values)
        return True

    def _number(self, j: int, text: str, quoted: bool) -> float:
        if text == "?" and not quoted:
            return np.nan
        if self.codes[j]:
            if text not in self.codes[j]:
                raise _Fault(f"{self.names[j]!r} has no category {_short(text)}")
            return self.codes[j][text]
        try:
            return float(text.replace("_", "x"))  # float() alone reads 1_0 as 10
        except ValueError:
            raise _Fault(f"{self.names[j]!r} is numeric and cannot be {_short(text)}") from None


def _fill_omitted(X: sparse.csr_array, categories: list[tuple[str, ...]]) -> sparse.csr_array:
    """Write the first category where it was omitted, in the rare columns where it is not the number 0."""
    first = {j: value for j, c in enumerate(categories) if c and (value := category_values(c)[0]) != 0}
    if not first:
        return X
    if len(first) * X.shape[0] > MAX_FILLED:
        raise _Fault(f"{len(first)} nominal attributes whose first category is not 0 are too many for a sparse file")
    columns = np.array(list(first))
    given = sparse.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)[:, columns].toarray()
    rows, which = np.nonzero(given == 0)
    filled = np.array(list(first.values()))[which]
    return sparse.csr_array(X + sparse.csr_array((filled, (rows, columns[which])), shape=X.shape))


def _matches(pattern: re.Pattern[str], line: str) -> Iterator[re.Match[str]]:
    """One match after the other, each ended by a comma or by the end of the line, which is the last group."""
    position, end = 0, ","
    while end:
        match = pattern.match(line, position)
        if match is None:
            raise _Fault(f"cannot read {_short(line[position:])}")
        yield match
        position, end = match.end(), match[match.re.groups]


def _text(quoted: str | None, doubly: str | None, bare: str | None) -> tuple[str, bool]:
    """A value, and whether it was quoted."""
    if bare is not None:
        return bare.strip(), False
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), quoted or doubly or ""), True


def _short(text: str, width: int = 40) -> str:
    """A piece of the file for a message: quoted, printable, and not long."""
    return repr(text if len(text) <= width else text[:width] + "…")


def _meka_labels(relation: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """What MEKA's option ``-C n`` in a relation name makes labels: the first n attributes, or the last -n."""
    match = _OPTION_C.search(relation)
    count = int(match[1]) if match else 0
    if abs(count) >= len(names):
        return ()  # not a usable declaration: the caller will be asked
    return names[:count] if count >= 0 else names[count:]


def read_label_xml(path: str | Path) -> tuple[str, ...]:
    """The label names in a MULAN XML file, in its order; nested labels are listed like the others.

    Document types and entities are refused: a label file needs none, and their expansion can exhaust memory.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mltsk.datasets import read_label_xml
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "toy.xml"
    >>> _ = file.write_text('<labels><label name="red"></label><label name="blue"/></labels>')
    >>> read_label_xml(file)
    ('red', 'blue')
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            text = file.read(MAX_XML + 1)
    except OSError as error:
        raise unreadable(path, error) from None
    if len(text) > MAX_XML:
        raise InputError(f"{path} is longer than {MAX_XML >> 20} MiB: it is no list of labels.")
    names = _label_names(text, path)
    if not names:
        raise InputError(f'{path} lists no label: it needs elements like <label name="…"/> inside <labels>.')
    return names


def _label_names(text: bytes, path: Path) -> tuple[str, ...]:
    names: dict[str, None] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(" ")[2] == "label" and "name" in attributes:
            names[attributes["name"]] = None

    def refuse(*_: object) -> None:
        raise InputError(f"{path}, line {parser.CurrentLineNumber}: document types and entities are not read.")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise InputError(f"{path}, line {error.lineno}: {expat.ErrorString(error.code)}.") from None
    return tuple(names)
