"""The small language of an ARFF line: quotes, escapes, comma-separated values, sparse items."""

import re
from collections.abc import Iterator

# Possessive quantifiers (*+): a hostile line costs one pass, never a search through all ways to match it.
_QUOTED = r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)\""""
_VALUE = re.compile(rf"""\s*+(?:{_QUOTED}|([^,'"{{}}]*+))\s*+(,|$)""")
_ITEM = re.compile(rf"""\s*+(\d{{1,9}}+)\s++(?:{_QUOTED}|([^\s,'"{{}}]++))\s*+(,|$)""", re.ASCII)
_ATTRIBUTE = re.compile(rf"""@attribute\s++(?:{_QUOTED}|([^\s{{'"][^\s{{]*+))\s*+(.*+)""", re.IGNORECASE | re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


class Fault(Exception):
    """Something wrong in the line being read, or in the line whose number is the second argument."""


def values(line: str) -> Iterator[tuple[str, bool]]:
    """The comma-separated values of a line, each with whether it was quoted.

    >>> list(values("3, 'a b', ?"))
    [('3', False), ('a b', True), ('?', False)]
    """
    for match in _matches(_VALUE, line):
        yield _text(*match.group(1, 2, 3))


def items(line: str) -> Iterator[tuple[int, str, bool]]:
    """The items of a sparse row: position, value, and whether the value was quoted.

    >>> list(items("0 1.5, 7 'a b'"))
    [(0, '1.5', False), (7, 'a b', True)]
    """
    for match in _matches(_ITEM, line):
        yield int(match[1]), *_text(*match.group(2, 3, 4))


def attribute(line: str) -> tuple[str, str]:
    """Name and type of an ``@attribute`` line.

    >>> attribute("@ATTRIBUTE 'it\\\\'s red' {0, 1}")
    ("it's red", '{0, 1}')
    """
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise Fault(f"cannot read the attribute {short(line)}")
    name, _ = _text(*match.group(1, 2, 3))
    return name, match[4]


def short(text: str, width: int = 40) -> str:
    """A piece of the file for a message: quoted, printable, and not long."""
    return repr(text if len(text) <= width else text[:width] + "…")


def _matches(pattern: re.Pattern[str], line: str) -> Iterator[re.Match[str]]:
    position, end = 0, ","
    while end:
        match = pattern.match(line, position)
        if match is None:
            raise Fault(f"cannot read {short(line[position:])}")
        yield match
        position, end = match.end(), match[match.re.groups]


def _text(quoted: str | None, doubly: str | None, bare: str | None) -> tuple[str, bool]:
    if bare is not None:
        return bare.strip(), False
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), quoted or doubly or ""), True
