"""Reading a file takes twice the memory that it may become, at most, in every format.

Files are small, and become large. Each is read in a process whose memory is measured.
"""

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from mltsk import MLTSKClassifier, save
from mltsk.datasets import make_multilabel_rules
from mltsk.limits import PEAK_FACTOR
from mltsk.paper import METHODS

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="peaks are measured as Linux does"
)

MEASURE = Path(__file__).with_name("measure_memory.py")
MEMORY = 64 << 20
# Pages that an allocator keeps, and threads that start.
NOISE = 8 << 20
SHEET = (
    b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    b"<sheetData>"
)
STRINGS = "xl/sharedStrings.xml"
TOO_LARGE = "would take more than 64 MiB of memory"

Maker = Callable[[Path], None]


def measured(reader: str, sound: Path, other: Path) -> dict[str, object]:
    """The peak in bytes of reading a file, and what came out."""
    done = subprocess.run(
        [sys.executable, str(MEASURE), reader, str(sound), str(other)],
        env=os.environ | {"MLTSK_MEMORY": str(MEMORY), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def gzipped(*pieces: bytes) -> Maker:
    """A file of pieces of text, compressed."""

    def make(path: Path) -> None:
        with gzip.open(path, "wb", compresslevel=1) as file:
            file.writelines(pieces)

    return make


def text(content: str) -> Maker:
    """A file of text."""
    return lambda path: path.write_text(content)


def npz(**arrays: object) -> Maker:
    """Compressed arrays."""
    return lambda path: np.savez_compressed(path, **arrays)


def mat(X: object, Y: object) -> Maker:
    """A compressed MATLAB file."""
    return lambda path: savemat(path, {"data": X, "target": Y}, do_compression=True)


def parquet(make_columns: Callable[[], dict[str, object]]) -> Maker:
    """A compressed Parquet file."""

    def make(path: Path) -> None:
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow.parquet import write_table

        write_table(pyarrow.table(make_columns()), path, compression="zstd")

    return make


def flat(**columns: object) -> Maker:
    """A Parquet file of NumPy arrays."""
    return parquet(lambda: columns)


def structs() -> dict[str, object]:
    """Cells that become dicts of a hundred entries."""
    import pyarrow

    no = pyarrow.array(np.zeros(60_000, bool))
    names = [f"field {i}" for i in range(100)]
    return {"s": pyarrow.StructArray.from_arrays([no] * 100, names=names)}


def words() -> dict[str, object]:
    """As many different words as may be read."""
    return {"w": [f"word {i}" for i in range(230_000)]}


def workbook(path: Path) -> None:
    """A sound workbook."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1, "x"], [2, "y"]):
        book.active.append(row)
    book.save(path)


def changed_archive(
    sound: Maker, change: Callable[[dict[str, bytes]], dict[str, bytes]]
) -> Maker:
    """An archive some of whose parts are replaced."""

    def make(path: Path) -> None:
        sound(path)
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in (parts | change(parts)).items():
                archive.writestr(name, content)

    return make


def many_styles(parts: dict[str, bytes]) -> dict[str, bytes]:
    """Three million empty styles: 27 kB that became 2 GB."""
    styles = parts["xl/styles.xml"]
    end = b"</cellXfs>"
    return {"xl/styles.xml": styles.replace(end, b"<xf/>" * 3_000_000 + end)}


def many_types(parts: dict[str, bytes]) -> dict[str, bytes]:
    """A list of contents with a million entries."""
    types = parts["[Content_Types].xml"]
    end = b"</Types>"
    return {"[Content_Types].xml": types.replace(end, b"<Default/>" * 1_000_000 + end)}


def many_texts(parts: dict[str, bytes]) -> dict[str, bytes]:
    """A million texts that no cell uses."""
    types = parts["[Content_Types].xml"]
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    entry = f'<Override PartName="/{STRINGS}" ContentType="{kind}.sharedStrings+xml"/>'
    opening = b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    strings = opening + b"<si><t>xy</t></si>" * 1_100_000 + b"</sst>"
    end = b"</Types>"
    return {
        STRINGS: strings,
        "[Content_Types].xml": types.replace(end, entry.encode() + end),
    }


def sheet(*rows: bytes) -> Maker:
    """A workbook whose first sheet has these rows."""
    content = SHEET + b"".join(rows) + b"</sheetData></worksheet>"
    return changed_archive(workbook, lambda _: {"xl/worksheets/sheet1.xml": content})


def numbered_rows(count: int) -> Iterator[bytes]:
    """Rows of a sheet with a number and a word each, below two names."""
    row = b"<row><c t='inlineStr'><is><t>%s</t></is></c><c><v>%d</v></c></row>"
    yield row.replace(b"<c><v>%d</v></c>", b"<c t='b'><v>1</v></c>") % b"a"
    for i in range(count):
        yield row % (b"w%d" % i, i)


DATA = make_multilabel_rules(n_samples=60, random_state=0)


def model(path: Path) -> None:
    """A sound model."""
    save(MLTSKClassifier(n_rules=1).fit(DATA.X, DATA.Y), path)


def neighbours(path: Path) -> None:
    """A sound model that keeps its sparse rows."""
    save(METHODS["ml-knn"]().fit(sparse.csr_array(DATA.X), DATA.Y), path)


def saved(array: object) -> bytes:
    """An array in NumPy's format."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def many_classes(parts: dict[str, bytes]) -> dict[str, bytes]:
    """Five million classes: not too many for an array, too many for a list."""
    schema = json.loads(parts["schema.json"])
    classes = schema["content"]["content"]["classes_"]["file"]
    return {classes: saved(np.zeros(5_000_000))}


def one_array_often(parts: dict[str, bytes]) -> dict[str, bytes]:
    """A hundred attributes that are made of the same part of the archive."""
    schema = json.loads(parts["schema.json"])
    attributes = schema["content"]["content"]
    for i in range(100):
        again = attributes["classes_"] | {"file": "large.npy", "__id__": -1 - i}
        attributes[f"more{i}_"] = again
    return {
        "schema.json": json.dumps(schema).encode(),
        "large.npy": saved(np.zeros(1_000_000)),
    }


def packed_twice(parts: dict[str, bytes]) -> dict[str, bytes]:
    """Sparse rows are an archive in the archive, which holds ten million zeros."""
    n = 10_000_000
    starts = np.r_[np.zeros(60, int), n]
    X = sparse.csr_array((np.zeros(n), np.zeros(n, np.int32), starts), shape=(60, 5))
    file = io.BytesIO()
    sparse.save_npz(file, X)
    rows = next(name for name in parts if name.endswith(".npz"))
    return {rows: file.getvalue()}


def long_schema(parts: dict[str, bytes]) -> dict[str, bytes]:
    """A description of a model that consists of empty lists."""
    return {"schema.json": b'{"a":[' + b"[]," * 10_000_000 + b"[]]}"}


SOUND: dict[str, tuple[str, Maker]] = {
    "csv.gz": ("table", gzipped(b"a,b\n1,x\n2,y\n")),
    "arff": ("table", text("@relation r\n@attribute a real\n@data\n1\n2\n")),
    "npz": ("table", npz(X=np.eye(4), Y=np.eye(4))),
    "mat": ("table", mat(np.eye(4), np.eye(4))),
    "parquet": ("table", flat(a=np.arange(4.0))),
    "xlsx": ("table", workbook),
    "skops": ("model", model),
    "xml": ("labels", text('<labels><label name="a"/></labels>')),
    "toml": ("definition", text("")),
    "json": ("rules", text('[{"a": 1}]')),
    "txt": ("download", text("1")),
}
ZEROS = np.zeros((70_000, 100), bool)
COLUMNS = ",".join(f"{i:x}" for i in range(2_000_000)).encode()
ATTRIBUTES = "@relation r\n" + "".join(f"@attribute a{i} real\n" for i in range(100))
KINDS = "@relation r\n" + "".join(f"@attribute a{i} {{7,8}}\n" for i in range(16))

# What a file is, its ending, how it is made, and what comes out.
FILES = [
    ("one line", "csv.gz", gzipped(b"a\n", *[b"x" * (1 << 20)] * 99), "is longer than"),
    ("many columns", "csv.gz", gzipped(COLUMNS), TOO_LARGE),
    ("many cells", "csv.gz", gzipped(b"a,b\n", b"11," * 5_500_000), TOO_LARGE),
    (
        "cells of one row in many lines",
        "csv.gz",
        gzipped(b"a,b\n", *[b'"\n",' + b"11," * 1_000_000] * 30),
        TOO_LARGE,
    ),
    ("many rows", "csv.gz", gzipped(b"a,b\n", *[b"1,1\n" * 9999] * 99), TOO_LARGE),
    (
        "as many words as may be",
        "csv.gz",
        gzipped(b"a,b\n", *[b"w%d,%d\n" % (i, i % 9) for i in range(240_000)]),
        "read",
    ),
    (
        "many attributes",
        "arff",
        text("".join(f"@attribute {i:x} real\n" for i in range(400_000))),
        TOO_LARGE,
    ),
    (
        "many categories",
        "arff",
        text("@attribute a {" + ",".join(map(str, range(1_000_000))) + "}\n"),
        TOO_LARGE,
    ),
    ("omitted cells", "arff", text(KINDS + "@data\n" + "{}\n" * 300_000), TOO_LARGE),
    (
        "as many numbers as may be",
        "arff",
        text(ATTRIBUTES + "@data\n" + ("0," * 99 + "0\n") * 39_000),
        "has no column that a model could use",
    ),
    ("many bytes", "npz", npz(X=np.zeros((10**8, 1), np.uint8)), TOO_LARGE),
    ("many names", "npz", npz(X=np.eye(2), label_names=["ab"] * 7_000_000), TOO_LARGE),
    (
        "many categories",
        "npz",
        npz(X=np.eye(1), nominal_categories=["[" + "[]," * 3_000_000 + "[]]"]),
        TOO_LARGE,
    ),
    (
        "as many zeros as may be",
        "npz",
        npz(X=ZEROS, Y=np.zeros((70_000, 1), bool)),
        "has no column that a model could use",
    ),
    ("many zeros", "mat", mat(np.zeros((10**5, 1000), np.uint8), ZEROS), TOO_LARGE),
    (
        "as many zeros as may be",
        "mat",
        mat(np.zeros((70_000, 30)), np.zeros((70_000, 1))),
        "has no column that a model could use",
    ),
    ("many zeros", "parquet", flat(a=np.zeros(10**8, np.int8)), TOO_LARGE),
    ("many entries", "parquet", parquet(structs), TOO_LARGE),
    (
        "many columns",
        "parquet",
        flat(**{f"c{i}": np.zeros(1) for i in range(20_000)}),
        TOO_LARGE,
    ),
    (
        "as many words as may be",
        "parquet",
        parquet(words),
        "has no column that a model could use",
    ),
    ("many styles", "xlsx", changed_archive(workbook, many_styles), TOO_LARGE),
    ("many types", "xlsx", changed_archive(workbook, many_types), TOO_LARGE),
    ("many texts", "xlsx", changed_archive(workbook, many_texts), TOO_LARGE),
    ("many cells", "xlsx", sheet(b"<row>" + b"<c/>" * 5_000_000), TOO_LARGE),
    ("far cells", "xlsx", sheet(*[b'<row><c r="XFD1"/></row>'] * 9999), TOO_LARGE),
    (
        "as many cells as may be",
        "xlsx",
        sheet(*numbered_rows(100_000)),
        "has no column that a model could use",
    ),
    ("many classes", "skops", changed_archive(model, many_classes), "'classes_' must"),
    ("one array often", "skops", changed_archive(model, one_array_often), TOO_LARGE),
    ("packed twice", "skops", changed_archive(neighbours, packed_twice), TOO_LARGE),
    ("long schema", "skops", changed_archive(model, long_schema), TOO_LARGE),
    ("deep tags", "xml", text("<a>" * 8_000_000), TOO_LARGE),
    ("as many tags as may be", "xml", text("<a>" * 600_000), "no element found"),
    ("many fields", "toml", text("a=1\n" * 9_000_000), TOO_LARGE),
    (
        "as many fields as may be",
        "toml",
        text("".join(f"a{i}=1\n" for i in range(80_000))),
        "is not known",
    ),
    ("many lists", "json", text("[" + "[]," * 9_000_000 + "[]]"), TOO_LARGE),
    ("deep lists", "json", text("[" * 1_000_000), "it is nested too deeply"),
    (
        "as many dicts as may be",
        "json",
        text("[" + '{"":{"":{"":0}}},' * 120_000 + "[]]"),
        "read",
    ),
    ("200 MiB", "txt", text("200"), "read"),
]


@pytest.mark.parametrize(
    ("ending", "make", "outcome"),
    [case[1:] for case in FILES],
    ids=[f"{case[1]}: {case[0]}" for case in FILES],
)
def test_reading_takes_at_most_twice_the_memory_that_a_file_may_become(
    ending, make, outcome, tmp_path
):
    reader, make_sound = SOUND[ending]
    sound = tmp_path / f"sound.{ending}"
    other = tmp_path / f"other.{ending}"
    make_sound(sound)
    make(other)
    result = measured(reader, sound, other)
    assert outcome in result["outcome"]
    assert result["peak"] < PEAK_FACTOR * MEMORY + NOISE
