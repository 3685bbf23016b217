"""How much memory the arrays of a model file take, by their headers, before reading.

skops reads a part of the archive as often as the schema names it, and arrays in NPZ
files within the archive are compressed once more.
"""

import io
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..limits import array_bytes, check_size

# skops holds the bytes of an array next to the array: with the checks that follow, 2.1
# times its size at the peak was seen, and twice what is counted here may be taken.
ARRAY_COPIES = 1.25


def check_array_sizes(
    archive: zipfile.ZipFile, schema: Mapping[str, Any], path: str | Path
) -> None:
    """Refuse a model file whose arrays would take more memory than they may."""
    bytes_of_member: dict[str, int] = {}
    bytes_of_object: dict[int, int] = {}
    total = 0
    for number, member in _references(schema):
        if member not in bytes_of_member:
            bytes_of_member[member] = _member_bytes(archive, member)
        # An object that is there twice has one number and is read once.
        counted = bytes_of_object.get(number, 0)
        if number:
            bytes_of_object[number] = max(counted, bytes_of_member[member])
        total += max(0, bytes_of_member[member] - counted)
        check_size(ARRAY_COPIES * total, path)


def _references(schema: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Numbers of objects, 0 for none, and the parts of the archive that hold them."""
    waiting: list[Any] = [schema]  # no recursion: hostile schemas are nested deeply
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, dict):
            waiting.extend(item.values())
            member = item.get("file")
            number = item.get("__id__")
            if isinstance(member, str):
                yield number if isinstance(number, int) else 0, member


def _member_bytes(archive: zipfile.ZipFile, member: str) -> int:
    """Bytes that an array, or the arrays of an NPZ file, in an archive become."""
    if not member.endswith(".npz"):
        return array_bytes(archive, member)
    content = io.BytesIO(archive.read(member))
    with zipfile.ZipFile(content) as inner:
        return sum(array_bytes(inner, name) for name in inner.namelist())
