"""Changes to files: blind ones to their bytes, and knowing ones that keep checksums right."""

import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

NUMBERS = (
    0,
    1,
    2,
    7,
    127,
    255,
    256,
    32767,
    65535,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
)
TEXTS = (
    *(
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
    ),
    *(
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
    ),
)
VALUES: tuple[Any, ...] = (
    *(
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
    ),
    *({"dict": {}}, {"pairs": [[1, 2]]}, {"model": {}}, "MLTSKClassifier", [1, "a"]),
)


def blind(content: bytes, rng: Random, others: tuple[bytes, ...] = ()) -> bytes:
    """Bytes flipped, set, cut out, doubled, moved, or taken from another file: one to four changes."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at, size = (
            rng.randrange(len(data) + 1),
            min(rng.choice((1, 2, 4, 8, 64, 512)), len(data)),
        )
        change = rng.randrange(8)
        if change == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif change == 1:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif change == 2:
            width = rng.choice((1, 2, 4, 8))
            number = rng.choice(NUMBERS) % (1 << 8 * width)
            data[at : at + width] = number.to_bytes(
                width, rng.choice(("little", "big"))
            )
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
    found = list(re.finditer(rb"[-+\w.]+", content)) or [re.match(rb"", content)]
    match = rng.choice(found)
    return content[: match.start()] + rng.choice(TEXTS) + content[match.end() :]


def array(content: bytes, rng: Random) -> bytes:
    """An array in NumPy's format with other values, another shape or another type."""
    out = io.BytesIO()
    try:
        np.save(out, _other(np.load(io.BytesIO(content)), rng))
    except (IndexError, TypeError, ValueError):
        return blind(content, rng)
    return out.getvalue() if rng.random() < 0.8 else _declared(content, rng)


def _other(values: Any, rng: Random) -> Any:
    change = rng.randrange(4)
    if change == 0:
        values = values.copy()
        hostile = (
            (np.nan, np.inf, -1e308, 1e308, 1e30)
            if values.dtype.kind == "f"
            else (0, 1, 120)
        )
        values.flat[rng.randrange(values.size)] = rng.choice(hostile)
        return values
    if change == 1:
        return values[..., : rng.randrange(values.shape[-1] + 1)]
    if change == 2:
        return values.astype(
            rng.choice(["f4", "i8", "c16", "U3", "?", "M8[s]", "f2", "u1"]),
            casting="unsafe",
        )
    return values.T[..., None] if rng.random() < 0.5 else values.reshape(-1)


def _declared(content: bytes, rng: Random) -> bytes:
    """Another size in the header, as long as the one that was there."""

    def other(match: re.Match[bytes]) -> bytes:
        return (
            b"("
            + str(rng.choice(NUMBERS)).encode().ljust(len(match[1]))[: len(match[1])]
        )

    return re.sub(rb"\((\d+)", other, content, count=1)


def tree(content: bytes, rng: Random) -> bytes:
    """JSON with a value replaced, a key lost, or a list shortened."""
    data = json.loads(content)
    places: list[tuple[Any, Any]] = []
    waiting = [data]
    while waiting:
        item = waiting.pop()
        keys = list(item) if isinstance(item, dict) else range(len(item))
        places += [(item, key) for key in keys]
        waiting += [item[key] for key in keys if isinstance(item[key], dict | list)]
    for _ in range(rng.choice((1, 1, 2))):
        item, key = rng.choice(places)
        try:
            if rng.random() < 0.3:
                del item[key]
            else:
                item[key] = rng.choice(VALUES)
        except (IndexError, KeyError):
            pass
    return json.dumps(data).encode()


def archive(content: bytes, rng: Random) -> bytes:
    """A zip file with one member changed and every checksum right."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    name = rng.choice(list(parts))
    change: Callable[[bytes, Random], bytes] = (
        array
        if name.endswith(".npy")
        else tree
        if name.endswith(".json")
        else rng.choice((words, blind))
    )
    parts[name] = change(parts[name], rng)
    if rng.random() < 0.1:
        del parts[rng.choice(list(parts))]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, part in parts.items():
            packed.writestr(name, part)
    return out.getvalue()


KNOWING: dict[str, Callable[[bytes, Random], bytes]] = {
    **dict.fromkeys(("csv", "arff", "xml", "toml"), words),
    **dict.fromkeys(("npz", "xlsx", "skops"), archive),
    "csv.gz": lambda content, rng: gzip.compress(
        words(gzip.decompress(content), rng), mtime=0
    ),
    "json": tree,
}


def mutated(
    kind: str, files: tuple[bytes, ...], rng: Random
) -> tuple[bytes, int, bool]:
    """(a changed file, which of the files it was, whether the change was blind to checksums)."""
    which = rng.randrange(len(files))
    if kind == "json" or (kind in KNOWING and rng.random() < 0.5):
        return KNOWING[kind](files[which], rng), which, False
    return blind(files[which], rng, files), which, True
