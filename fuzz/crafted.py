"""Files that somebody thought about, over which readers stumble.

They have odd sizes, names, numbers, encodings and structures.
"""

import base64
import copy
import gzip
import io
import json
import pickle
import sqlite3
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import savemat

from mltsk.paper.experiments.published import read_text
from mltsk.paper.experiments.store import Cell, Outcome, Row, Store

from .mutate import zipped
from .originals import DESCRIPTION, TOML, originals

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
ENCODINGS = (
    *("utf-16", "utf-32", "latin-1", "utf-8-sig", "cp1252", "utf-7"),
    *("gbk", "shift_jis", "euc_kr", "cp1251"),
)
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
ODD_ENCODINGS = ("gbk", "big5", "idna", "hex", "punycode", "zlib", "rot13", "x" * 99)
# A pickle that calls the shell.
EVIL_PICKLE = base64.b64decode(
    b"gASVGQAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOUjAR0cnVllIWUUpQu"
)
ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
STORE_SCRIPTS = (
    f"DROP TABLE run; CREATE VIEW run AS {ENDLESS} SELECT n AS description FROM r",
    f"DROP TABLE study; CREATE VIEW study AS {ENDLESS} SELECT n AS cell FROM r",
    f"CREATE VIEW v AS {ENDLESS} SELECT * FROM r",
    "CREATE TRIGGER t AFTER INSERT ON cell BEGIN DELETE FROM cell; END",
    "CREATE TRIGGER t BEFORE DELETE ON cell BEGIN SELECT raise(IGNORE); END",
    "CREATE TABLE other (a); CREATE INDEX i ON other (a)",
    "ALTER TABLE setting ADD COLUMN c TEXT AS (hex(zeroblob(400000000)))",
    "ALTER TABLE cell ADD COLUMN c TEXT CHECK (length(randomblob(100000000)) > 0)",
    "ALTER TABLE cell DROP COLUMN error",
    "DROP TABLE score",
    "UPDATE score SET AP = 9e999",
    'UPDATE cell SET versions = \'{"device": "\x1b[2J"}\'',
    "UPDATE cell SET details = printf('%.*c', 100000, '[')",
    "UPDATE setting SET text = printf('%.*c', 100000 + id, '[')",
    "UPDATE run SET description = printf('%.*c', 100000, '[')",
    "UPDATE cell SET error = printf('%.*c', 5000000, 'x')",
    "UPDATE run SET description = '[' || replace(printf('%.*c', 500000, 'x'), 'x', "
    "'[],') || '0]'",
)
SOUND_X = np.eye(3)
SOUND_Y = np.eye(3, 2)

CraftedFile = tuple[str, bytes]  # format and content


def _npy(shape: tuple[int, ...], dtype: str, data: bytes = bytes(64)) -> bytes:
    """An array in NumPy's format, whose header need not fit its data."""
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def _saved(values: np.ndarray) -> bytes:
    """A sound array in NumPy's format."""
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def _csv_files() -> Iterator[CraftedFile]:
    for name, cell in product(NAMES, CELLS):
        text = f"{name},b,c\n{cell},1,x\n2,0,y\n3,1,x\n"
        yield "csv", text.encode(errors="replace")
    for name, encoding in product(NAMES, ENCODINGS):
        yield "csv", f"{name},b\n1,2\n3,4\n".encode(encoding, errors="replace")


def _cell_files() -> Iterator[CraftedFile]:
    """Each cell in the data of an ARFF file, in its header, and in a compressed CSV."""
    for cell in CELLS:
        in_data = f"@attribute a real\n@attribute b {{0,1}}\n@data\n{cell},1\n2,0\n"
        in_head = (
            f"@attribute a {{{cell}}}\n@attribute b {{0,1}}\n@data\n{{0 {cell}}}\n"
        )
        csv = f"a,b\n{cell},1\n" * 3
        yield "arff", f"@relation t\n{in_data}".encode(errors="replace")
        yield "arff", f"@relation t\n{in_head}".encode(errors="replace")
        yield "csv.gz", gzip.compress(csv.encode(errors="replace"))


def _large_files() -> Iterator[CraftedFile]:
    for size in (10**6, 10**7, 10**8):
        yield "csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * (size // 4))
        yield "csv.gz", gzip.compress(b"a" * size)
        yield "csv.gz", gzip.compress(b"a," * (size // 20) + b"b\n")


def _xml_files() -> Iterator[CraftedFile]:
    for encoding in (*ENCODINGS, *ODD_ENCODINGS):
        declaration = f'<?xml version="1.0" encoding="{encoding}"?>'
        yield "xml", f'{declaration}<labels><label name="ü"/></labels>'.encode()
    entities = '<!ENTITY a "aaaa">'
    for inner, outer in pairwise("abcdefghi"):
        entities += f'<!ENTITY {outer} "{f"&{inner};" * 10}">'
    labels = '<labels><label name="&i;"/></labels>'
    yield "xml", f"<!DOCTYPE x [{entities}]>{labels}".encode()
    yield "xml", b"<labels>" * 100_000


def _npz(**arrays: bytes) -> CraftedFile:
    """A data set of these members, X and Y sound where they are not among them."""
    return "npz", zipped({f"{name}.npy": content for name, content in arrays.items()})


def _header_files() -> Iterator[CraftedFile]:
    """Arrays whose header promises too much."""
    Y = _saved(SOUND_Y)
    for rows, columns in product(SIZES, repeat=2):
        if abs(rows) + abs(columns) > 6 and min(rows, columns) < 4:
            for dtype in ("<f8", "|u1", "<U9", "|O"):
                yield _npz(X=_npy((rows, columns), dtype), Y=Y)


def _sparse_files() -> Iterator[CraftedFile]:
    """Sparse matrices with one member that does not fit the others."""
    members = {
        "X_data": _saved(np.ones(3)),
        "X_indices": _saved(np.arange(3)),
        "X_indptr": _saved(np.arange(4)),
        "X_shape": _saved(np.array([3, 3])),
        "Y": _saved(SOUND_Y),
    }
    hostile = (
        np.array([2**31 - 2] * 3),
        -np.ones(3, int),
        np.ones((2, 2)),
        np.array(["x"]),
        np.array([1e300, np.nan, 1]),
        np.zeros(0),
    )
    for name, value in product(list(members)[:4], hostile):
        yield _npz(**(members | {name: _saved(value)}))


def _array_files() -> Iterator[CraftedFile]:
    """Arrays of every type, arrays that are none, odd names, and odd descriptions."""
    X = _saved(SOUND_X)
    Y = _saved(SOUND_Y)
    for dtype in DTYPES[:-1]:
        as_labels = _npy((3, 2), dtype, bytes(6 * np.dtype(dtype).itemsize))
        yield _npz(X=_npy((3, 2), dtype, bytes(999)), Y=Y)
        yield _npz(X=X, Y=as_labels)
    for odd in (EVIL_PICKLE, b"", b"no array", X[:40], X + X, X.replace(b"}", b" ")):
        yield _npz(X=odd, Y=Y)
    for name in ("../X.npy", "/X.npy", "X", "x.npy", "X.npy/"):
        yield "npz", zipped({name: X, "Y.npy": Y})
    names = ("feature_names", "label_names", "nominal_categories", "split", "source")
    odd_values = (
        ["a"] * 3,
        ["a", "b"],
        [1, 2, 3],
        ['["a"', "", ""],
        ["{}", "", ""],
        [""] * 3,
    )
    for name, values in product(names, odd_values):
        yield _npz(X=X, Y=Y, **{name: _saved(np.array(values))})


def _matlab_files() -> Iterator[CraftedFile]:
    labels = np.ones((1, 4))
    for at, index in product(range(3), (-1, 9, 2**30, 2**31 - 1, -(2**31))):
        broken = sparse.csc_matrix(np.eye(4))
        broken.indices[at] = index
        yield _mat(broken, labels)
        yield _mat(np.eye(4), broken)
    odd_X = (
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
    odd_Y = (
        labels,
        np.full((1, 4), -1),
        np.full((1, 4), 7),
        np.zeros((0, 0)),
        "labels",
    )
    for X, Y in product(odd_X, odd_Y):
        yield _mat(X, Y)
    yield _mat(np.zeros((4, 2_000_000)), labels, do_compression=True)


def _mat(X: object, Y: object, do_compression: bool = False) -> CraftedFile:
    out = io.BytesIO()
    savemat(out, {"data": X, "target": Y}, do_compression=do_compression)
    return "mat", out.getvalue()


def _model_files() -> Iterator[CraftedFile]:
    """Models with arrays, manifests and attributes that nobody wrote."""
    hostile = (np.full((1, 1), np.nan), np.array(["x"]), np.zeros((2, 2), complex))
    for model in originals("skops"):
        with zipfile.ZipFile(io.BytesIO(model)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        arrays = [name for name in members if name.endswith(".npy")]
        for name, values in product(arrays[:8], hostile):
            yield "skops", zipped(members | {name: _saved(values)})
        yield "skops", zipped(members | {"schema.json": b"[" * 100_000})
        yield "skops", zipped(members | {arrays[0]: EVIL_PICKLE})
        for number in (0, 1, 2, 3, 4, 6, 99, -1, "5", None, 1e9):
            manifest = json.loads(members["mltsk.json"]) | {"format": number}
            changed = {"mltsk.json": json.dumps(manifest).encode()}
            yield "skops", zipped(members | changed)
    yield from _json_files()
    yield "skops", pickle.dumps({"a": 1})
    yield "skops", EVIL_PICKLE


def _json_files() -> Iterator[CraftedFile]:
    hostile = (
        None,
        "x",
        {"array": [1e308], "type": "float32", "shape": [1]},
        {"float": "nan"},
        [[]],
    )
    for content in originals("json"):
        data = json.loads(content)
        for name, value in product(data["attributes"], hostile):
            attributes = data["attributes"] | {name: value}
            yield "json", json.dumps(data | {"attributes": attributes}).encode()
        for name, value in product(("terms_", "pairs_", "scaling_"), hostile):
            yield from _records_with(data, name, value)


def _records_with(
    data: dict[str, Any], name: str, value: object
) -> Iterator[CraftedFile]:
    """Models with a value in the place of each field of a record, however deep."""
    record = data["attributes"][name]
    if record is None:
        return
    waiting = [((), record["dict"])]
    while waiting:
        path, fields = waiting.pop()
        for key, item in fields.items():
            changed = copy.deepcopy(data)
            place = changed["attributes"][name]["dict"]
            for step in path:
                place = place[step]["dict"]
            place[key] = value
            yield "json", json.dumps(changed).encode()
            if isinstance(item, dict) and "dict" in item:
                waiting.append(((*path, key), item["dict"]))


def _definition_files() -> Iterator[CraftedFile]:
    for name in CLASSES:
        changed = TOML.replace(b"sklearn.tree:DecisionTreeClassifier", name.encode())
        yield "toml", changed
    hostile = (
        "[]",
        "{}",
        "3",
        '""',
        "1" * 5000,
        "[" * 3000 + "]" * 3000,
        '"\\u0000"',
        "1e999",
        "true",
    )
    for line, value in product(TOML.decode().splitlines(), hostile):
        key, equals, _ = line.partition(" = ")
        if equals:
            yield "toml", TOML.replace(line.encode(), f"{key} = {value}".encode())


def _store_files() -> Iterator[CraftedFile]:
    """Stores of results that run things, lead elsewhere, or take all memory."""
    sound = Cell("grid", "paper", "toy", "br", seed=0, fold=0)
    for script in STORE_SCRIPTS:
        yield _store(sound, script=script)
    for path in ("x/../../../notes", "..", "/etc/x", "C:\\x", "\x1b[2J", ""):
        for name in ("protocol", "dataset", "method"):
            yield _store(replace(sound, **{name: path}))
        strange = replace(sound, protocol=path, dataset=path, method=path)
        named = {"protocols": [path], "datasets": {path: {}}, "methods": {path: {}}}
        yield _store(strange, named)


def _description_files() -> Iterator[CraftedFile]:
    """Stores of results whose description of the run is another one."""
    sound = Cell("grid", "paper", "toy", "br", seed=0, fold=0)
    hostile = (None, [], {}, "x", -1, 10**40, [[]] * 9, {"x/../y": []}, {"a": "b"})
    for name, value in product(DESCRIPTION, hostile):
        yield _store(sound, {name: value})


def _store(
    cell: Cell, described: Mapping[str, object] | None = None, script: str = ""
) -> CraftedFile:
    """A store with one piece of work, whose key is right, after statements of SQL."""
    row = Row({"C": 1.0}, (0.5, 0.1, 0.2, 0.3, 0.4, 0.0))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(read_text("schema.sql"))
        connection.execute("PRAGMA user_version = 1")
        store = Store(connection, Path(), "")
        store.describe({**DESCRIPTION, **(described or {})})
        store.add(cell, Outcome((row,)), {"device": "cpu"})
        connection.executescript(script)
        return "sqlite", connection.serialize()


def _workbook_files() -> Iterator[CraftedFile]:
    """Workbooks with a part of which there is far too much, or with odd positions."""
    with zipfile.ZipFile(io.BytesIO(originals("xlsx")[0])) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    for name, end, piece in (
        ("xl/styles.xml", b"</cellXfs>", b"<xf/>"),
        ("xl/styles.xml", b"</fonts>", b"<font/>"),
        ("xl/workbook.xml", b"</sheets>", b'<sheet name="x" sheetId="9"/>'),
        ("[Content_Types].xml", b"</Types>", b"<Default/>"),
        ("xl/worksheets/sheet1.xml", b"</sheetData>", b"<row/>"),
        ("xl/worksheets/sheet1.xml", b"</sheetData>", b"<row><c/></row>"),
        ("xl/worksheets/sheet1.xml", b"</row></sheetData>", b"<c/>"),
    ):
        for count in (1, 1000, 100_000):
            changed = members[name].replace(end, count * piece + end)
            yield "xlsx", zipped(members | {name: changed})
    sheet = members["xl/worksheets/sheet1.xml"]
    for position in (b"XFD1", b"A0", b"A1048577", b"AAAAAAAA1", b"1", b"A", b"A-1"):
        changed = sheet.replace(b'r="A1"', b'r="' + position + b'"')
        yield "xlsx", zipped(members | {"xl/worksheets/sheet1.xml": changed})
    for row in (b"0", b"-1", b"1048577", b"x"):
        changed = sheet.replace(b'<row r="2"', b'<row r="' + row + b'"')
        yield "xlsx", zipped(members | {"xl/worksheets/sheet1.xml": changed})


def _rule_files() -> Iterator[CraftedFile]:
    """Rules of people that are nested deeply, long, or none."""
    for depth in (10, 900, 980, 100_000):
        deep = b"[" * depth + b"]" * depth
        yield "rules", deep
        for feature in (b"age", b"smoker"):
            yield "rules", b'[{"' + feature + b'":' + deep + b"}]"
    yield "rules", b"[" + b"{}," * 100_000 + b"{}]"
    yield "rules", b'[{"age":' + b"9" * 5000 + b"}]"
    for content in (b"", b"{}", b"null", b"[1]", b"[NaN]", b"\xff\xfe", b"[{}]"):
        yield "rules", content


@cache
def files() -> list[CraftedFile]:
    """Format and content of every crafted file."""
    return [
        *_store_files(),
        *_workbook_files(),
        *_rule_files(),
        *_csv_files(),
        *_cell_files(),
        *_large_files(),
        *_xml_files(),
        *_header_files(),
        *_sparse_files(),
        *_array_files(),
        *_matlab_files(),
        *_model_files(),
        *_definition_files(),
        *_description_files(),
    ]
