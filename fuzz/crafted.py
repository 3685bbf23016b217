"""Files that somebody thought about: sizes, names, numbers, encodings and structures that readers stumble over."""

import base64
import gzip
import io
import json
import pickle
import zipfile
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import savemat

from .originals import TOML, originals

NAMES = (
    "",
    " ",
    "a",
    "a\0b",
    "=1+1",
    "@x",
    "ü" * 300,
    "\u202e",
    "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    "<b>",
    "__proto__",
    "nan",
    "'",
    "1",
    "x\ty",
)
CELLS = (
    "",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e400",
    "1_0",
    "0x1f",
    "１",
    "1,5",
    "1.234,5",
    "2020-01-01",
    "=1+1",
    "9" * 400,
    '"',
    "yes",
    "[1]",
    "\u0000",
    "-0",
    "1e-400",
    "٣",
)
CODINGS = ("utf-16", "utf-32", "latin-1", "utf-8-sig", "cp1252", "utf-7")
SIZES = (0, 1, -1, 3, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1)
DTYPES = (
    "<f8",
    ">f8",
    "<f2",
    "<i8",
    "|u1",
    "|b1",
    "<c16",
    "<U9",
    "|S5",
    "<M8[s]",
    "|V8",
    "|O",
)
CLASSES = (
    "os:system",
    "subprocess:Popen",
    "builtins:eval",
    "sklearn.datasets:load_iris",
    "mltsk.cli:main",
    "no.such:Thing",
    "sklearn.svm:SVC",
)
CODE = base64.b64decode(
    b"gASVGQAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOUjAR0cnVllIWUUpQu"
)  # a pickle that calls the shell


def _zip(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return out.getvalue()


def _npy(shape: Any, dtype: str, data: bytes = bytes(64)) -> bytes:
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def _saved(values: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def _texts():
    for name, cell in product(NAMES, CELLS):
        row = f"{name},b,c\n{cell},1,x\n2,0,y\n3,1,x\n"
        yield "csv", row.encode(errors="replace")
    for name, coding in product(NAMES, CODINGS):
        yield "csv", f"{name},b\n1,2\n3,4\n".encode(coding, errors="replace")
    for cell in CELLS:
        yield (
            "arff",
            f"@relation t\n@attribute a real\n@attribute b {{0,1}}\n@data\n{cell},1\n2,0\n".encode(
                errors="replace"
            ),
        )
        yield (
            "arff",
            f"@relation t\n@attribute a {{{cell}}}\n@attribute b {{0,1}}\n@data\n{{0 {cell}}}\n".encode(
                errors="replace"
            ),
        )
        yield "csv.gz", gzip.compress((f"a,b\n{cell},1\n" * 3).encode(errors="replace"))
    for size in (10**6, 10**7, 10**8):
        yield "csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * (size // 4))
        yield "csv.gz", gzip.compress(b"a" * size)
        yield "csv.gz", gzip.compress(b"a," * (size // 20) + b"b\n")
    for coding in (
        *CODINGS,
        "gbk",
        "big5",
        "idna",
        "hex",
        "punycode",
        "zlib",
        "rot13",
        "x" * 99,
    ):
        yield (
            "xml",
            f'<?xml version="1.0" encoding="{coding}"?><labels><label name="ü"/></labels>'.encode(),
        )
    bomb = "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">'
        for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    yield (
        "xml",
        f'<!DOCTYPE x [<!ENTITY a "aaaa">{bomb}]><labels><label name="&i;"/></labels>'.encode(),
    )
    yield "xml", b"<labels>" * 100_000


def _arrays():
    one, two = _saved(np.eye(3)), _saved(np.eye(3, 2))
    for shape, dtype in product(
        [(a, b) for a, b in product(SIZES, repeat=2) if abs(a) + abs(b) > 6], DTYPES
    ):
        if (shape[0] < 4 or shape[1] < 4) and dtype in ("<f8", "|u1", "<U9", "|O"):
            yield "npz", _zip({"X.npy": _npy(shape, dtype), "Y.npy": two})
    parts = {
        "X_data": np.ones(3),
        "X_indices": np.arange(3),
        "X_indptr": np.arange(4),
        "X_shape": np.array([3, 3]),
    }
    for name, value in product(
        parts,
        (
            np.array([2**31 - 2] * 3),
            -np.ones(3, int),
            np.ones((2, 2)),
            np.array(["x"]),
            np.array([1e300, np.nan, 1]),
            np.zeros(0),
        ),
    ):
        yield (
            "npz",
            _zip(
                {
                    f"{n}.npy": _saved(value if n == name else v)
                    for n, v in parts.items()
                }
                | {"Y.npy": two}
            ),
        )
    for dtype in DTYPES[:-1]:
        yield "npz", _zip({"X.npy": _npy((3, 2), dtype, bytes(999)), "Y.npy": two})
        yield (
            "npz",
            _zip(
                {
                    "X.npy": one,
                    "Y.npy": _npy((3, 2), dtype, bytes(6 * np.dtype(dtype).itemsize)),
                }
            ),
        )
    for odd in (CODE, b"", b"no array", one[:40], one + one, one.replace(b"}", b" ")):
        yield "npz", _zip({"X.npy": odd, "Y.npy": two})
    for name in ("../X.npy", "/X.npy", "X", "x.npy", "X.npy/"):
        yield "npz", _zip({name: one, "Y.npy": two})
    for name, values in product(
        ("feature_names", "label_names", "nominal_categories", "split", "source"),
        (["a"] * 3, ["a", "b"], [1, 2, 3], ['["a"', "", ""], ["{}", "", ""], [""] * 3),
    ):
        yield (
            "npz",
            _zip({"X.npy": one, "Y.npy": two, f"{name}.npy": _saved(np.array(values))}),
        )


def _matlab():
    for at, index in product(range(3), (-1, 9, 2**30, 2**31 - 1, -(2**31))):
        X = sparse.csc_matrix(np.eye(4))
        X.indices[at] = index
        yield _mat(X, np.ones((1, 4)))
        Y = sparse.csc_matrix(np.eye(4))
        Y.indices[at] = index
        yield _mat(np.eye(4), Y)
    odd = (
        np.ones((2, 2, 2)),
        "text",
        np.array([["a", 1]], dtype=object),
        np.eye(4) * 1j,
        np.zeros((0, 4)),
        {"a": 1},
        np.full((4, 4), np.nan),
        sparse.csc_matrix((2**30, 2)),
        1e308 * np.eye(4),
    )
    for X, Y in product(
        odd,
        (
            np.ones((1, 4)),
            np.full((1, 4), -1),
            np.full((1, 4), 7),
            np.zeros((0, 0)),
            "labels",
        ),
    ):
        yield _mat(X, Y)
    yield _mat(np.zeros((4, 20_000_00)), np.ones((1, 4)), do_compression=True)


def _mat(X: Any, Y: Any, **options: Any) -> tuple[str, bytes]:
    out = io.BytesIO()
    savemat(out, {"data": X, "target": Y}, **options)
    return "mat", out.getvalue()


def _models():
    evil = (
        np.full((1, 1), np.nan),
        np.array(["x"]),
        np.zeros((2, 2), complex),
        np.full(3, 1e308),
        np.zeros(0),
        np.zeros((3, 3, 3, 3)),
    )
    for model in originals("skops"):
        with zipfile.ZipFile(io.BytesIO(model)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        for name in [name for name in parts if name.endswith(".npy")][:8]:
            yield from (
                ("skops", _zip(parts | {name: _saved(value)})) for value in evil[:3]
            )
        yield "skops", _zip(parts | {"schema.json": b"[" * 100_000})
        yield (
            "skops",
            _zip(parts | {next(n for n in parts if n.endswith(".npy")): CODE}),
        )
        for number in (0, 1, 2, 3, 5, 99, -1, "4", None, 1e9):
            manifest = json.loads(parts["mltsk.json"]) | {"format": number}
            yield "skops", _zip(parts | {"mltsk.json": json.dumps(manifest).encode()})
    for content in originals("json"):
        data = json.loads(content)
        for part, value in product(
            data["attributes"],
            (
                None,
                "x",
                {"array": [1e308], "type": "float32", "shape": [1]},
                {"float": "nan"},
                [[]],
            ),
        ):
            yield (
                "json",
                json.dumps(
                    data | {"attributes": data["attributes"] | {part: value}}
                ).encode(),
            )
    yield "skops", pickle.dumps({"a": 1})
    yield "skops", CODE


def _definitions():
    for name in CLASSES:
        yield (
            "toml",
            TOML.replace(b"sklearn.tree:DecisionTreeClassifier", name.encode()),
        )
    for line, value in product(
        TOML.decode().splitlines(),
        (
            "[]",
            "{}",
            "3",
            '""',
            "1" * 5000,
            "[" * 3000 + "]" * 3000,
            '"\\u0000"',
            "1e999",
            "true",
        ),
    ):
        key, equals, _ = line.partition(" = ")
        if equals:
            yield "toml", TOML.replace(line.encode(), f"{key} = {value}".encode())


@cache
def files() -> list[tuple[str, bytes]]:
    """(format, content) of every crafted file."""
    return [*_texts(), *_arrays(), *_matlab(), *_models(), *_definitions()]
