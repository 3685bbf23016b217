"""Changes to files: blind ones to bytes, and knowing ones with right checksums."""

import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

NUMBERS = (0, 1, 2, 7, 127, 255, 256, 32767, 65535)
NUMBERS += (2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1)
TEXTS = (
    b"nan",
    b"inf",
    b"-1",
    b"1e308",
    b"1e400",
    b"1_0",
    b"0x1f",
    b"9" * 400,
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b"'",
    b",",
    b"{",
    b"}",
    b"[" * 50,
    b"\r",
    b"\n\n",
    b"%",
    b"?",
    b"=1+1",
    b"<",
    b"&",
    b"../../x",
    b"\xf0\x9f\x92\xa9",
    b"\xe2\x80\xae",
    b"@data\n",
)
VALUES: tuple[object, ...] = (
    None,
    True,
    "",
    "x",
    [],
    {},
    -1,
    0,
    1.5,
    10**30,
    1e308,
    "nan",
    [[]],
    {"float": "inf"},
    {"array": [], "type": "float64"},
    {"dict": {}},
    {"pairs": [[1, 2]]},
    {"model": {}},
    "MLTSKClassifier",
    [1, "a"],
)
# Numbers at the ends of what a float holds, and whose squares lie beyond them.
EXTREMES = (0.0, 5e-324, 1e-309, 1e-200, 1e-12, -1e-12, 1e12, 1e99, 1e200, 1e308)
EXTREMES += (-1e99, -1e200, -1e308)
DTYPES = ["f4", "i8", "c16", "U3", "?", "M8[s]", "f2", "u1"]


def blind(content: bytes, rng: Random, others: tuple[bytes, ...] = ()) -> bytes:
    """One to four changes to bytes.

    They are flipped, set, cut out, doubled, moved, or taken from another file.
    """
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(data) + 1)
        size = min(rng.choice((1, 2, 4, 8, 64, 512)), len(data))
        change = rng.randrange(8)
        if change == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif change == 1:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif change == 2:
            width = rng.choice((1, 2, 4, 8))
            number = rng.choice(NUMBERS) % (1 << 8 * width)
            order = rng.choice(("little", "big"))
            data[at : at + width] = number.to_bytes(width, order)
        elif change == 3:
            del data[at : at + size]
        elif change == 4:
            data[at:at] = data[at : at + size]
        elif change == 5:
            data[at:at] = rng.choice(TEXTS)
        elif change == 6:
            del data[at:]
        else:
            other = rng.choice(others or (content,))
            start = rng.randrange(len(other) + 1)
            data[at : at + size] = other[start : start + size]
    return bytes(data)


def words(content: bytes, rng: Random) -> bytes:
    """A number or word of a text replaced by a hostile one."""
    matches = list(re.finditer(rb"[-+\w.]+", content)) or [re.match(rb"", content)]
    match = rng.choice(matches)
    return content[: match.start()] + rng.choice(TEXTS) + content[match.end() :]


def compressed_words(content: bytes, rng: Random) -> bytes:
    """A compressed text with a word replaced."""
    return gzip.compress(words(gzip.decompress(content), rng), mtime=0)


def array(content: bytes, rng: Random) -> bytes:
    """An array in NumPy's format with other values, another shape or another type."""
    out = io.BytesIO()
    try:
        np.save(out, _other_array(np.load(io.BytesIO(content)), rng))
    except (IndexError, TypeError, ValueError):
        return blind(content, rng)
    if rng.random() < 0.8:
        return out.getvalue()
    return _other_header(content, rng)


def _other_array(values: np.ndarray, rng: Random) -> np.ndarray:
    """An array that differs in one value, in length, in type or in shape."""
    change = rng.randrange(4)
    if change == 0:
        values = values.copy()
        hostile = (0, 1, 120)
        if values.dtype.kind == "f":
            hostile = (np.nan, np.inf, 1e30, *EXTREMES)
        values.flat[rng.randrange(values.size)] = rng.choice(hostile)
        return values
    if change == 1:
        return values[..., : rng.randrange(values.shape[-1] + 1)]
    if change == 2:
        return values.astype(rng.choice(DTYPES), casting="unsafe")
    if rng.random() < 0.5:
        return values.T[..., None]
    return values.reshape(-1)


def _other_header(content: bytes, rng: Random) -> bytes:
    """Another size in the header, as long as the one that was there."""

    def other_size(match: re.Match[bytes]) -> bytes:
        width = len(match[1])
        return b"(" + str(rng.choice(NUMBERS)).encode().ljust(width)[:width]

    return re.sub(rb"\((\d+)", other_size, content, count=1)


def tree(content: bytes, rng: Random) -> bytes:
    """JSON with a value replaced, a key lost, or a list shortened."""
    data = json.loads(content)
    places = _places(data)
    for _ in range(rng.choice((1, 1, 2))):
        parent, key = rng.choice(places)
        try:
            if rng.random() < 0.3:
                del parent[key]
            else:
                parent[key] = _other_value(parent[key], rng)
        except (IndexError, KeyError):
            pass
    return json.dumps(data).encode()


def _other_value(value: object, rng: Random) -> object:
    """A hostile value; for a number, half of the time one of any size."""
    if not isinstance(value, float) or rng.random() < 0.5:
        return rng.choice(VALUES)
    if rng.random() < 0.5:
        return rng.choice(EXTREMES)
    return -value * 10.0 ** rng.randrange(-30, 30)


def _places(data: Any) -> list[tuple[Any, Any]]:
    """Every dict or list inside of data, with each of its keys."""
    places = []
    waiting = [data]
    while waiting:
        parent = waiting.pop()
        keys = list(parent) if isinstance(parent, dict) else range(len(parent))
        for key in keys:
            places.append((parent, key))
            if isinstance(parent[key], dict | list):
                waiting.append(parent[key])
    return places


def archive(content: bytes, rng: Random) -> bytes:
    """A zip file with one member changed and every checksum right."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    name = rng.choice(list(members))
    if name.endswith(".npy"):
        change = array
    elif name.endswith(".json"):
        change = tree
    else:
        change = rng.choice((words, blind))
    members[name] = change(members[name], rng)
    if rng.random() < 0.1:
        del members[rng.choice(list(members))]
    return zipped(members)


def zipped(members: dict[str, bytes]) -> bytes:
    """A zip file with these members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return out.getvalue()


KNOWING: dict[str, Callable[[bytes, Random], bytes]] = {
    "csv": words,
    "arff": words,
    "xml": words,
    "toml": words,
    "npz": archive,
    "xlsx": archive,
    "skops": archive,
    "csv.gz": compressed_words,
    "json": tree,
    "rules": tree,
    "edits": tree,
    "curves": tree,
    "summary": tree,
    "plan": tree,
    "sums": archive,
}


def mutated(
    kind: str, files: tuple[bytes, ...], rng: Random
) -> tuple[bytes, int, bool]:
    """A changed file, its position, and whether the change was blind to checksums."""
    which = rng.randrange(len(files))
    if kind == "json" or (kind in KNOWING and rng.random() < 0.5):
        return KNOWING[kind](files[which], rng), which, False
    return blind(files[which], rng, files), which, True
