"""Which attributes of an ARFF file are labels: MULAN says it in an XML file, MEKA in the relation name."""

import re
from pathlib import Path
from xml.parsers import expat

from mltsk.exceptions import InputError

MAX_XML = 1 << 25

_OPTION_C = re.compile(r"-C\s+([-+]?\d{1,7})(?!\d)")


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
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
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


def meka_labels(relation: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The attributes that MEKA's option ``-C n`` in a relation name makes labels: the first n, or the last
    -n.

    >>> meka_labels("'toy: -C 2 -split-number 10'", ("a", "b", "c"))
    ('a', 'b')
    >>> meka_labels("toy", ("a", "b", "c"))
    ()
    """
    match = _OPTION_C.search(relation)
    count = int(match[1]) if match else 0
    if abs(count) >= len(names):
        return ()  # not a usable declaration: the caller will be asked
    return names[:count] if count >= 0 else names[count:]
