"""A defensive reader of ARFF files as WEKA, MULAN and MEKA write them.

Read: numeric and nominal attributes, quoted names and values with backslash escapes,
missing values (?), comments. Refused, with the number of the line: string, date and
relational attributes, row weights, and anything malformed. A nominal value becomes a
number as `category_values` says. An attribute that a sparse row does not mention has
the number 0, or the *first* category when it is nominal, as WEKA defines it. Every row
becomes numbers as it is read, so that no text is held.
"""

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mltsk.core.arrays import CSR, Matrix, dense
from mltsk.exceptions import InputError
from mltsk.limits import check_size, memory_limit, read_bounded, too_large

from .dataset import (
    NAME_BYTES,
    NO,
    YES,
    Dataset,
    Labels,
    as_number,
    category_values,
    pick_labels,
    short,
    unique_names,
    unreadable,
)

MAX_ARFF_LINE = 1 << 24  # characters: a dense row of a million numbers
# Entries that omitted first categories, where they are not 0, may add to a sparse file.
MAX_FILLED_ENTRIES = 1 << 24
# Bytes in memory: of a number, of a category in the header, of an omitted first
# category, and per byte of an XML file of nothing but tags. At most twice as much was
# seen while the rest of the work is done.
ARFF_CELL_BYTES = 16
CATEGORY_BYTES = 160
FILLED_ENTRY_BYTES = 32
XML_TAG_EXPANSION = 32

# Possessive quantifiers (*+): a hostile line costs one pass, never a search through all
# ways to match it. The groups are a position, a text in single, in double or in no
# quotes, and what follows.
_QUOTED = r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)\""""
_VALUE = re.compile(rf"""\s*+()(?:{_QUOTED}|([^,'"{{}}]*+))\s*+(,|$)""")
_SPARSE_VALUE = re.compile(
    rf"""\s*+(-?\d{{1,9}}+)\s++(?:{_QUOTED}|([^\s,'"{{}}]++))\s*+(,|$)""", re.ASCII
)
_ATTRIBUTE = re.compile(
    rf"""@attribute\s++()(?:{_QUOTED}|([^\s{{'"][^\s{{]*+))\s*+(.*+)""",
    re.IGNORECASE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_SPECIAL = re.compile(r"""['"?{}\\_]""")  # a line without them can be split at commas
_OPTION_C = re.compile(r"-C\s+([-+]?\d{1,7})(?!\d)")


class _Fault(Exception):
    """Something wrong in the line being read."""


def read_arff(path: str | Path, labels: Labels = None) -> Dataset:
    """Read an ARFF file into a data set.

    Parameters
    ----------
    path : str or Path
    labels : int, str, sequence of str, Path, or None
        Which columns are labels: a number of columns (the last ones; the first ones
        when negative; 0 for none), names (a list, or one string with commas) in the
        order that they shall have, or a MULAN XML file. None uses MULAN's file next to
        this one, or else what MEKA's option ``-C`` in the relation name declares. A
        label is 0 or 1, or one of the words yes/no, true/false, y/n, t/f in any mixture
        of capitals.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mltsk.datasets import read_arff
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "toy.arff"
    >>> header = "@relation 't: -C -1'\\n@attribute cm real\\n@attribute red {0,1}\\n"
    >>> _ = file.write_text(header + "@data\\n2.5,1\\n")
    >>> data = read_arff(file)
    >>> data.feature_names, data.label_names, data.X, data.Y
    (('cm',), ('red',), array([[2.5]]), array([[1]], dtype=int8))
    """
    path = Path(path)
    data, declared = read_columns(path)
    names = data.feature_names
    label_names = _choose_labels(path, labels, data, declared)
    position = {name: j for j, name in enumerate(names)}
    label_columns = [position[name] for name in label_names]
    feature_columns = sorted(set(range(len(names))) - set(label_columns))
    X = data.X[:, feature_columns]
    if not data.is_sparse:
        X = np.ascontiguousarray(X)  # rows are what everyone reads
    Y = dense(data.X[:, label_columns])
    for cells, j in zip(Y.T, label_columns, strict=True):
        label = f"Label {names[j]!r} of {data.name}"
        cells[:] = _is_yes(cells, data.categories[j], label)
    return Dataset(
        X=X,
        Y=Y,
        feature_names=[names[j] for j in feature_columns],
        label_names=label_names,
        name=data.name,
        categories=[data.categories[j] for j in feature_columns],
        source=data.source,
    )


def _choose_labels(
    path: Path, labels: Labels, data: Dataset, declared: Sequence[str]
) -> list[str]:
    """The names of the label columns, as the caller or a file declares them."""
    names = data.feature_names
    xml = label_file(path, labels)
    if xml is not None:
        listed = unique_names(read_label_xml(xml), names, data.name)
        return [name for name in names if name in listed]
    if labels is not None:
        return unique_names(pick_labels(labels, names, data.name), names, data.name)
    if declared:
        return list(declared)
    raise InputError(
        f"{data.name} does not say which of its {len(names)} columns are labels: "
        "give their number (the last ones; negative for the first ones; 0 for none) "
        "or their names."
    )


def _is_yes(
    cells: NDArray[np.float64], categories: Sequence[str], label: str
) -> NDArray[np.bool_]:
    """Whether each cell of a label column says yes."""
    is_missing = np.isnan(cells)
    if is_missing.any():
        raise InputError(f"{label} has no value in row {is_missing.argmax() + 1}.")
    numbers = [as_number(text) for text in categories]
    are_numbers = numbers == category_values(categories).tolist()
    words = {}
    for value in np.unique(cells).tolist():
        text = f"{value:g}" if are_numbers else categories[int(value)]
        words[value] = text.strip().lower()
    different = set(words.values())
    if different - YES - NO:
        shown = ", ".join(map(repr, sorted(different)[:5]))
        raise InputError(
            f"{label} holds {shown}: labels are 0 and 1, yes and no, or true and false."
        )
    return np.isin(cells, [value for value, word in words.items() if word in YES])


def label_file(path: Path, labels: object) -> Path | None:
    """The XML file that says which columns are labels, if there is one."""
    if isinstance(labels, str | Path) and str(labels).lower().endswith(".xml"):
        xml = Path(labels)
        return xml if xml.is_file() or xml.is_absolute() else path.parent / xml
    if labels is not None or path.suffix.lower() != ".arff":
        return None
    # MULAN puts scene.xml next to scene.arff, scene-train.arff and scene-test.arff.
    for stem in (path.stem, path.stem.removesuffix("-train").removesuffix("-test")):
        xml = path.with_name(f"{stem}.xml")
        if xml.is_file():
            return xml
    return None


def read_columns(
    path: Path, encoding: str = "utf-8-sig"
) -> tuple[Dataset, tuple[str, ...]]:
    """All columns of an ARFF file as features, and the names of declared labels.

    Labels are declared by the relation of the file.
    """
    parser = _Parser(path)
    try:
        parser.read(encoding)
        X = parser.matrix()
    except UnicodeDecodeError:
        # Older files; every byte is a character in this encoding.
        return read_columns(path, "latin-1")
    except _Fault as fault:
        raise InputError(f"{path}, line {parser.line_number}: {fault}.") from None
    except OSError as error:
        raise unreadable(path, error) from None
    data = Dataset(
        X=X,
        Y=np.empty((X.shape[0], 0)),
        feature_names=list(parser.categories),
        name=path.stem,
        categories=list(parser.categories.values()),
        source=str(path),
    )
    return data, _declared_labels(parser.relation, tuple(parser.categories))


def _declared_labels(relation: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The attributes that MEKA's option ``-C n`` makes labels.

    These are the first n, or the last -n; none where no feature would be left, and then
    the caller will be asked.
    """
    option = _OPTION_C.search(relation)
    count = int(option[1]) if option else 0
    if abs(count) >= len(names):
        return ()
    return names[:count] if count >= 0 else names[count:]


class _Parser:
    """Takes in the lines of a file: attributes, then rows that become numbers.

    Attributes
    ----------
    path : what messages call the file
    line_number : the line being read
    header_bytes : what the attributes take
    relation : the line that names the relation
    categories : of each attribute, by its name; empty for a numeric one
    names, codes, convert : of each attribute, once all are declared: its name, the
        number of each category, and what makes a number of a text
    values, positions, starts : the rows as in a CSR matrix; dense ones have only values
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line_number = 0
        self.header_bytes = 0
        self.relation = ""
        self.categories: dict[str, tuple[str, ...]] = {}
        self.names: tuple[str, ...] = ()
        self.codes: list[dict[str, float]] = []
        self.convert: list[Callable[[str], float]] = []
        self.values = array("d")
        self.positions = array("i")
        self.starts = array("q", [0])
        self.take_line = self._take_header_line

    def read(self, encoding: str) -> None:
        """Take in all lines of a file but empty ones and comments."""
        limit = memory_limit()
        with self.path.open(encoding=encoding) as file:
            while line := file.readline(MAX_ARFF_LINE):
                self.line_number += 1
                if len(line) == MAX_ARFF_LINE:
                    raise _Fault(f"the line is longer than {MAX_ARFF_LINE} characters")
                line = line.strip()
                if line and not line.startswith("%"):
                    self.take_line(line)
                if self._size() > limit:
                    raise too_large(self.path)

    def _size(self) -> int:
        """Bytes that what was taken in so far becomes."""
        n_numbers = len(self.values) + len(self.starts)
        return self.header_bytes + ARFF_CELL_BYTES * n_numbers

    def _take_header_line(self, line: str) -> None:
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@relation":
            self.relation = line
        elif keyword == "@attribute":
            self._take_attribute(line)
        elif keyword == "@data":
            self._begin_rows()
        else:
            raise _Fault(
                f"expected @relation, @attribute or @data, found {short(line)}"
            )

    def _take_attribute(self, line: str) -> None:
        match = _ATTRIBUTE.fullmatch(line)
        if match is None:
            raise _Fault(f"cannot read the attribute {short(line)}")
        name, _ = _unquoted(match)
        if name in self.categories:
            raise _Fault(f"the attribute {name!r} is declared twice")
        kind = match[5]
        categories: tuple[str, ...] = ()
        n_categories = kind.count(",")
        self.header_bytes += NAME_BYTES + CATEGORY_BYTES * n_categories
        check_size(self.header_bytes, self.path)
        if kind.startswith("{") and kind.endswith("}") and kind[1:-1].strip():
            categories = tuple(text for _, text, _ in _values(_VALUE, kind[1:-1]))
        else:
            _check_numeric(name, kind)
        if len(set(categories)) < len(categories):
            raise _Fault(f"the attribute {name!r} declares a category twice")
        self.categories[name] = categories

    def _begin_rows(self) -> None:
        if not self.categories:
            raise _Fault("@data comes before any @attribute")
        self.names = tuple(self.categories)
        for categories in self.categories.values():
            numbers = category_values(categories).tolist()
            codes = dict(zip(categories, numbers, strict=True))
            self.codes.append(codes)
            self.convert.append(codes.__getitem__ if codes else float)
        self.take_line = self._take_first_row

    def _take_first_row(self, line: str) -> None:
        is_sparse = line.startswith("{")
        self.take_line = self._take_sparse_row if is_sparse else self._take_dense_row
        self.take_line(line)

    def _take_dense_row(self, line: str) -> None:
        row = self._plain_row(line) or self._careful_row(line)
        self.values.extend(row)

    def _plain_row(self, line: str) -> list[float] | None:
        """The numbers of a dense row without quotes, gaps and the like, else None."""
        if _SPECIAL.search(line):
            return None
        cells = zip(self.convert, line.split(","), strict=True)
        try:
            return [convert(text) for convert, text in cells]
        except (ValueError, KeyError):
            return None

    def _careful_row(self, line: str) -> list[float]:
        """The numbers of any dense row, or what is wrong with it."""
        row = list(_values(_VALUE, line))
        if len(row) != len(self.names):
            raise _Fault(
                f"{len(row)} values for {len(self.names)} attributes "
                "(is the file cut off?)"
            )
        return [
            self._number(j, text, quoted) for j, (_, text, quoted) in enumerate(row)
        ]

    def _take_sparse_row(self, line: str) -> None:
        if not (line.startswith("{") and line.endswith("}")):
            raise _Fault(
                f"expected a sparse row in braces, found {short(line)} "
                "(is the file cut off?)"
            )
        line = line[1:-1].strip()
        row = self._plain_sparse_row(line)
        if row is None:
            row = self._careful_sparse_row(line)
        self.positions.extend(row)
        self.values.extend(row.values())
        self.starts.append(len(self.values))

    def _plain_sparse_row(self, line: str) -> dict[int, float] | None:
        """The numbers of a sparse row by position, or None where it needs care."""
        if _SPECIAL.search(line):
            return None
        items = line.split(",") if line else []
        row = {}
        try:
            for item in items:
                position, text = item.split()
                j = int(position)
                row[j] = self.convert[j](text)
        except (ValueError, KeyError, IndexError):
            return None
        if len(row) < len(items) or min(row, default=0) < 0:
            return None
        return row

    def _careful_sparse_row(self, line: str) -> dict[int, float]:
        """The numbers of any sparse row by position, or what is wrong with it."""
        row: dict[int, float] = {}
        for position, text, quoted in _values(_SPARSE_VALUE, line):
            j = int(position)
            if not 0 <= j < len(self.names):
                raise _Fault(
                    f"there is no attribute {j}: "
                    f"the positions are 0 to {len(self.names) - 1}"
                )
            if j in row:
                raise _Fault(f"{self.names[j]!r} is given twice")
            row[j] = self._number(j, text, quoted)
        return row

    def _number(self, j: int, text: str, quoted: bool) -> float:
        """The number that stands for a text in column j."""
        if text == "?" and not quoted:
            return np.nan
        try:
            if self.codes[j]:
                return self.codes[j][text]
            return float(text.replace("_", "x"))  # float() alone reads 1_0 as 10
        except (KeyError, ValueError):
            what = "has no category" if self.codes[j] else "is numeric and cannot be"
            raise _Fault(f"{self.names[j]!r} {what} {short(text)}") from None

    def matrix(self) -> Matrix:
        """A float64 array, or a CSR array when the rows are sparse."""
        if self.take_line == self._take_header_line:
            raise _Fault("the file ends before @data (is it cut off?)")
        if self.take_line == self._take_first_row:
            raise _Fault("there is no row after @data (is the file cut off?)")
        values = np.frombuffer(self.values)
        if self.take_line == self._take_dense_row:
            return values.reshape(-1, len(self.names))
        X = sparse.csr_array(
            (values, np.array(self.positions), np.array(self.starts)),
            shape=(len(self.starts) - 1, len(self.names)),
        )
        X.sort_indices()
        X = self._with_first_categories(X)
        X.eliminate_zeros()
        return X

    def _with_first_categories(self, X: CSR) -> CSR:
        """X with first categories where they were omitted and are not the number 0.

        Few columns have such a first category.
        """
        first = np.array([next(iter(codes.values()), 0.0) for codes in self.codes])
        columns = np.flatnonzero(first)
        if len(columns) == 0:
            return X
        if len(columns) * X.shape[0] > MAX_FILLED_ENTRIES:
            raise _Fault(
                f"{len(columns)} nominal attributes whose first category is not 0 are "
                "too many for a sparse file"
            )
        check_size(FILLED_ENTRY_BYTES * len(columns) * X.shape[0], self.path)
        written = sparse.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
        rows, which = np.nonzero(written[:, columns].toarray() == 0)
        omitted = columns[which]
        return X + sparse.csr_array((first[omitted], (rows, omitted)), shape=X.shape)


def _check_numeric(name: str, kind: str) -> None:
    """Refuse the type of an attribute that has no categories unless it is numeric."""
    words = kind.lower().split() or ["missing"]
    if words[0] not in ("numeric", "real", "integer"):
        raise _Fault(
            f"the type of attribute {name!r} is {short(words[0])}; "
            "only numeric and {nominal, types} can be read"
        )


def _values(pattern: re.Pattern[str], line: str) -> Iterator[tuple[str, str, bool]]:
    """Position, text and whether it was quoted, of each value up to the line's end."""
    start = 0
    end = ","
    while end:
        match = pattern.match(line, start)
        if match is None:
            raise _Fault(f"cannot read {short(line[start:])}")
        yield match[1], *_unquoted(match)
        start = match.end()
        end = match[5]


def _unquoted(match: re.Match[str]) -> tuple[str, bool]:
    """A value, and whether it was quoted."""
    if match[4] is not None:
        return match[4].strip(), False
    text = match[2] or match[3] or ""
    return _ESCAPE.sub(_unescaped, text), True


def _unescaped(match: re.Match[str]) -> str:
    """The character that an escape stands for."""
    return _ESCAPED.get(match[1], match[1])


def read_label_xml(path: str | Path) -> tuple[str, ...]:
    """The label names in a MULAN XML file, in its order.

    Nested labels are listed like the others. Document types and entities are refused: a
    label file needs none, and their expansion can exhaust memory.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mltsk.datasets import read_label_xml
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "toy.xml"
    >>> _ = file.write_text('<labels><label name="a"/><label name="b"/></labels>')
    >>> read_label_xml(file)
    ('a', 'b')
    """
    names: dict[str, None] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(" ")[2] == "label" and "name" in attributes:
            names[attributes["name"]] = None

    def refuse(*_: object) -> None:
        raise InputError(
            f"{path}, line {parser.CurrentLineNumber}: "
            "document types and entities are not read."
        )

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(read_bounded(path, XML_TAG_EXPANSION), True)
    except InputError:
        raise
    except expat.ExpatError as error:
        raise InputError(
            f"{path}, line {error.lineno}: {expat.ErrorString(error.code)}."
        ) from None
    except (OSError, LookupError, ValueError) as error:
        # Lookups and values: the encodings that a file may name are Python's.
        raise unreadable(path, error) from None
    if not names:
        raise InputError(
            f"{path} lists no label: "
            'it needs elements like <label name="…"/> inside <labels>.'
        )
    return tuple(names)
