"""A defensive reader of ARFF files, dense and sparse, as WEKA, MULAN and MEKA write them.

Read: numeric and nominal attributes, quoted names and values with backslash escapes, missing values (?), comments.
Refused, with the number of the line: string, date and relational attributes, row weights, and anything malformed.
A nominal value becomes a number as `category_values` says. An attribute that a sparse row does not mention has the
number 0, or the *first* category when it is nominal, as WEKA defines it. Every row becomes numbers as it is read, so
that no text is held.
"""

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from scipy import sparse

from mltsk.core.arrays import dense
from mltsk.exceptions import InputError
from mltsk.limits import check_size

from .dataset import (
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

MAX_LINE = 1 << 24  # characters: a dense row of a million numbers
MAX_FILLED = (
    1 << 24
)  # entries that omitted non-zero first categories may add to a sparse file

# Possessive quantifiers (*+): a hostile line costs one pass, never a search through all ways to match it. The groups
# are a position, a text in single, in double or in no quotes, and what follows.
_QUOTED = r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)\""""
_VALUE = re.compile(rf"""\s*+()(?:{_QUOTED}|([^,'"{{}}]*+))\s*+(,|$)""")
_ITEM = re.compile(
    rf"""\s*+(-?\d{{1,9}}+)\s++(?:{_QUOTED}|([^\s,'"{{}}]++))\s*+(,|$)""", re.ASCII
)
_ATTRIBUTE = re.compile(
    rf"""@attribute\s++()(?:{_QUOTED}|([^\s{{'"][^\s{{]*+))\s*+(.*+)""",
    re.IGNORECASE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_SPECIAL = re.compile(
    r"""['"?{}\\_]"""
)  # a line without these can be split at its commas
_OPTION_C = re.compile(r"-C\s+([-+]?\d{1,7})(?!\d)")


class _Fault(Exception):
    """Something wrong in the line being read."""


def read_arff(path: str | Path, labels: Labels = None) -> Dataset:
    """Read an ARFF file into a data set.

    Parameters
    ----------
    path : str or Path
    labels : int, str, sequence of str, Path, or None
        Which columns are labels: a number of columns (the last ones; the first ones when negative; 0 for none), names
        (a list, or one string with commas) in the order that they shall have, or a MULAN XML file. None uses MULAN's
        file next to this one, or else what MEKA's option ``-C`` in the relation name declares. A label is 0 or 1, or
        one of the words yes/no, true/false, y/n, t/f in any mixture of capitals.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mltsk.datasets import read_arff
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "toy.arff"
    >>> header = "@relation 'toy: -C -1'\\n@attribute size real\\n@attribute 'is red' {0,1}\\n"
    >>> _ = file.write_text(header + "@data\\n2.5,1\\n")
    >>> data = read_arff(file)
    >>> data.feature_names, data.label_names, data.X, data.Y
    (('size',), ('is red',), array([[2.5]]), array([[1]], dtype=int8))
    """
    path = Path(path)
    data, declared = read_columns(path)
    names = list(data.feature_names)
    if (xml := label_file(path, labels)) is not None:
        listed = unique_names(read_label_xml(xml), names, data.name)
        chosen = [name for name in names if name in listed]
    elif labels is None and not declared:
        how = "give their number (the last ones; negative for the first ones; 0 for none) or their names"
        raise InputError(
            f"{data.name} does not say which of its {len(names)} columns are labels: {how}."
        )
    else:
        chosen = unique_names(
            declared if labels is None else pick_labels(labels, names, data.name),
            names,
            data.name,
        )
    place = {name: j for j, name in enumerate(names)}
    at = [place[name] for name in chosen]
    rest = sorted(set(range(len(names))) - set(at))
    X, Y = data.X[:, rest], dense(data.X[:, at])
    for column, j in zip(Y.T, at, strict=True):
        column[:] = _indicator(
            column, data.categories[j], f"Label {names[j]!r} of {data.name}"
        )
    X = X if data.is_sparse else np.ascontiguousarray(X)  # rows are what everyone reads
    features, categories = [names[j] for j in rest], [data.categories[j] for j in rest]
    return Dataset(X, Y, features, chosen, data.name, categories, source=data.source)


def _indicator(column: Any, categories: Sequence[str], where: str) -> Any:
    if np.isnan(column).any():
        raise InputError(
            f"{where} has no value in row {np.isnan(column).argmax() + 1}."
        )
    are_numbers = [as_number(text) for text in categories] == category_values(
        categories
    ).tolist()
    texts = {} if are_numbers else dict(enumerate(categories))
    words = {
        value: texts.get(value, f"{value:g}").strip().lower()
        for value in np.unique(column).tolist()
    }
    if not YES | NO >= (found := set(words.values())):
        shown = ", ".join(map(repr, sorted(found)[:5]))
        raise InputError(
            f"{where} holds {shown}: labels are 0 and 1, yes and no, or true and false."
        )
    return np.isin(column, [value for value, word in words.items() if word in YES])


def label_file(path: Path, labels: Any) -> Path | None:
    """The XML file that says which columns are labels, if there is one."""
    if isinstance(labels, str | Path) and str(labels).lower().endswith(".xml"):
        xml = Path(labels)
        return xml if xml.is_file() or xml.is_absolute() else path.parent / xml
    if labels is not None or path.suffix.lower() != ".arff":
        return None
    # MULAN puts scene.xml next to scene.arff, scene-train.arff and scene-test.arff.
    stems = (path.stem, path.stem.removesuffix("-train").removesuffix("-test"))
    return next(
        (xml for stem in stems if (xml := path.with_name(f"{stem}.xml")).is_file()),
        None,
    )


def read_columns(
    path: Path, encoding: str = "utf-8-sig"
) -> tuple[Dataset, tuple[str, ...]]:
    """All columns of an ARFF file as features, and the names of those that its relation declares to be labels."""
    parser, number = _Parser(), 0
    try:
        check_size(4 * path.stat().st_size, path)  # "1,1" is two numbers
        with path.open(encoding=encoding) as file:
            while line := file.readline(MAX_LINE):
                number += 1
                if len(line) == MAX_LINE:
                    raise _Fault(f"the line is longer than {MAX_LINE} characters")
                if (line := line.strip()) and not line.startswith("%"):
                    parser.handle(line)
        X = parser.matrix()
    except UnicodeDecodeError:
        return read_columns(
            path, "latin-1"
        )  # older files; every byte is a character in it
    except _Fault as fault:
        raise InputError(f"{path}, line {number}: {fault}.") from None
    except OSError as error:
        raise unreadable(path, error) from None
    names, categories = zip(*parser.columns.items(), strict=True)
    option = _OPTION_C.search(
        parser.relation
    )  # MEKA's -C n makes the first n attributes labels, or the last -n
    count = (
        int(option[1]) if option and abs(int(option[1])) < len(names) else 0
    )  # else the caller will be asked
    data = Dataset(
        X, np.empty((X.shape[0], 0)), names, (), path.stem, categories, source=str(path)
    )
    return data, names[:count] if count >= 0 else names[count:]


class _Parser:
    """The attributes with their categories, and the rows as in a CSR matrix (dense ones have no positions)."""

    def __init__(self) -> None:
        self.relation = ""
        self.columns: dict[str, tuple[str, ...]] = {}
        self.data, self.positions, self.starts = array("d"), array("i"), array("q", [0])
        self.handle = self._header_line

    def _header_line(self, line: str) -> None:
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@relation":
            self.relation = line
        elif keyword == "@attribute":
            self._attribute(line)
        elif keyword != "@data":
            raise _Fault(
                f"expected @relation, @attribute or @data, found {short(line)}"
            )
        elif not self.columns:
            raise _Fault("@data comes before any @attribute")
        else:
            self.names = tuple(self.columns)
            self.codes = [
                dict(zip(c, category_values(c).tolist(), strict=True))
                for c in self.columns.values()
            ]
            self.convert: list[Callable[[str], float]] = [
                c.__getitem__ if c else float for c in self.codes
            ]
            self.handle = self._first_row

    def _attribute(self, line: str) -> None:
        if (match := _ATTRIBUTE.fullmatch(line)) is None:
            raise _Fault(f"cannot read the attribute {short(line)}")
        (name, _), kind = _text(match), match[5]
        categories: tuple[str, ...] = ()
        if name in self.columns:
            raise _Fault(f"the attribute {name!r} is declared twice")
        if kind.startswith("{") and kind.endswith("}") and kind[1:-1].strip():
            categories = tuple(text for _, text, _ in _items(_VALUE, kind[1:-1]))
        elif (word := (kind.lower().split() or ["missing"])[0]) not in (
            "numeric",
            "real",
            "integer",
        ):
            what = f"the type of attribute {name!r} is {short(word)}"
            raise _Fault(what + "; only numeric and {nominal, types} can be read")
        if len(set(categories)) < len(categories):
            raise _Fault(f"the attribute {name!r} declares a category twice")
        self.columns[name] = categories

    def _first_row(self, line: str) -> None:
        self.handle = self._sparse_row if line.startswith("{") else self._dense_row
        self.handle(line)

    def _dense_row(self, line: str) -> None:
        if not _SPECIAL.search(line):
            try:
                self.data.extend(
                    [
                        c(text)
                        for c, text in zip(self.convert, line.split(","), strict=True)
                    ]
                )
                return
            except (ValueError, KeyError):
                pass  # the careful way copes with spaces around values, or says what is wrong
        row = list(_items(_VALUE, line))
        if len(row) != len(self.names):
            raise _Fault(
                f"{len(row)} values for {len(self.names)} attributes (is the file cut off?)"
            )
        self.data.extend(
            [self._number(j, text, quoted) for j, (_, text, quoted) in enumerate(row)]
        )

    def _sparse_row(self, line: str) -> None:
        if not (line.startswith("{") and line.endswith("}")):
            raise _Fault(
                f"expected a sparse row in braces, found {short(line)} (is the file cut off?)"
            )
        line, row = line[1:-1].strip(), {}
        try:
            items = [item.split() for item in line.split(",")] if line else []
            row = {
                (j := int(position)): self.convert[j](text) for position, text in items
            }
            plain = (
                len(row) == len(items)
                and min(row, default=0) >= 0
                and not _SPECIAL.search(line)
            )
        except (ValueError, KeyError, IndexError):
            plain = False
        if not plain:
            row.clear()
            for position, text, quoted in _items(_ITEM, line):
                if not 0 <= (j := int(position)) < len(self.names):
                    raise _Fault(
                        f"there is no attribute {j}: the positions are 0 to {len(self.names) - 1}"
                    )
                if j in row:
                    raise _Fault(f"{self.names[j]!r} is given twice")
                row[j] = self._number(j, text, quoted)
        self.positions.extend(row)
        self.data.extend(row.values())
        self.starts.append(len(self.data))

    def _number(self, j: int, text: str, quoted: bool) -> float:
        if text == "?" and not quoted:
            return np.nan
        try:
            return self.convert[j](
                text if self.codes[j] else text.replace("_", "x")
            )  # float() alone reads 1_0 as 10
        except (KeyError, ValueError):
            what = "has no category" if self.codes[j] else "is numeric and cannot be"
            raise _Fault(f"{self.names[j]!r} {what} {short(text)}") from None

    def matrix(self) -> Any:
        """A float64 array, or a CSR array when the rows are sparse."""
        if self.handle == self._header_line:
            raise _Fault("the file ends before @data (is it cut off?)")
        if self.handle == self._first_row:
            raise _Fault("there is no row after @data (is the file cut off?)")
        if self.handle == self._dense_row:
            return np.array(self.data).reshape(-1, len(self.columns))
        shape = n, _ = len(self.starts) - 1, len(self.columns)
        X = sparse.csr_array(
            (np.array(self.data), np.array(self.positions), np.array(self.starts)),
            shape=shape,
        )
        X.sort_indices()
        # The first category is written where it was omitted, in the rare columns where it is not the number 0.
        first = np.array([next(iter(codes.values()), 0.0) for codes in self.codes])
        odd = np.flatnonzero(first)
        if len(odd) * n > MAX_FILLED:
            raise _Fault(
                f"{len(odd)} nominal attributes whose first category is not 0 are too many for a sparse file"
            )
        if len(odd):
            given = sparse.csr_array(
                (np.ones(X.nnz), X.indices, X.indptr), shape=shape
            )[:, odd].toarray()
            rows, which = np.nonzero(given == 0)
            X = X + sparse.csr_array(
                (first[odd[which]], (rows, odd[which])), shape=shape
            )
        X.eliminate_zeros()
        return X


def _items(pattern: re.Pattern[str], line: str) -> Iterator[tuple[str, str, bool]]:
    """Position, text and whether it was quoted, of one match after the other, each ended by a comma or by the end."""
    start, end = 0, ","
    while end:
        if (match := pattern.match(line, start)) is None:
            raise _Fault(f"cannot read {short(line[start:])}")
        yield match[1], *_text(match)
        start, end = match.end(), match[5]


def _text(match: re.Match[str]) -> tuple[str, bool]:
    """A value, and whether it was quoted."""
    if match[4] is not None:
        return match[4].strip(), False
    return _ESCAPE.sub(
        lambda escape: _ESCAPED.get(escape[1], escape[1]), match[2] or match[3] or ""
    ), True


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
    names: dict[str, None] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(" ")[2] == "label" and "name" in attributes:
            names[attributes["name"]] = None

    def refuse(*_: object) -> None:
        raise InputError(
            f"{path}, line {parser.CurrentLineNumber}: document types and entities are not read."
        )

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(Path(path).read_bytes(), True)
    except InputError:
        raise
    except expat.ExpatError as error:
        raise InputError(
            f"{path}, line {error.lineno}: {expat.ErrorString(error.code)}."
        ) from None
    except (
        OSError,
        LookupError,
        ValueError,
    ) as error:  # the encodings that it may name are Python's
        raise unreadable(path, error) from None
    if not names:
        raise InputError(
            f'{path} lists no label: it needs elements like <label name="…"/> inside <labels>.'
        )
    return tuple(names)
