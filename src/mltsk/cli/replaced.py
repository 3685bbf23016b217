"""What an output may replace: anything but another thing of value of the user.

``mltsk fit patients.csv --out other.csv`` would otherwise write a model over another
table of the user, and ``mltsk predict`` predictions over a model. Files that are empty
or hold unknown text are replaced: scripts make them as places for an output.
"""

import codecs
import csv
import io
import re
import zipfile
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ..exceptions import InputError
from .output import STANDARD_OUTPUT, check_files

# How names of tables end, whether or not we read them.
TABLE_ENDINGS = (
    *(".csv", ".tsv", ".tab", ".xls", ".xlsx", ".xlsm", ".xlsb", ".ods", ".numbers"),
    *(".parquet", ".feather", ".arrow", ".arff", ".npz", ".npy", ".mat"),
    *(".sav", ".por", ".dta", ".sas7bdat", ".xpt", ".rds", ".rda", ".rdata"),
    *(".sqlite", ".db", ".mdb", ".accdb"),
)
COMPRESSED_ENDINGS = (".gz", ".bz2", ".xz", ".zip", ".zst")
START_BYTES = 1 << 20  # that say what a file is; the header of a table may be long
SEPARATORS = ",;\t"  # of the cells of a table as text
OTHER_TABLE = "a table that mltsk did not write"
# What files begin with that nobody writes by hand, and what they are.
SIGNATURES = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"SQLite format 3\0": "a database",
    b"\x89HDF": "an HDF5 file",
    b"MATLAB 5.0": "a MAT file",
    b"\x93NUMPY": "an array of NumPy",
    b"$FL2": "an SPSS file",
    b"<stata_dta>": "a Stata file",
    b"\xd0\xcf\x11\xe0": "an Office file",
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "an archive or an Office file",
    b"\x1f\x8b": "a compressed file",
    b"\x80\x04\x95": "a pickle",
    b"\x80\x05\x95": "a pickle",
}
FORMAT = re.compile(r'\{\s*"format":\s*"(?P<name>[^"]*)"')  # JSON of ours begins so
JSON_FORMATS = {
    "mltsk model": "JSON of a model",
    "mltsk summary": "a summary",
    "mltsk plan": "a plan",
}


class OutputKind(NamedTuple):
    """A kind of file that commands write.

    Attributes
    ----------
    what : what it is called in a sentence
    example : the name of such a file
    is_table : whether its name may end in .csv
    """

    what: str
    example: str
    is_table: bool = False


MODEL = OutputKind("a model", "model.skops")
SUMMARY = OutputKind("a summary", "site.summary")
SUMS = OutputKind("a file of sums", "site.sums")
PLAN = OutputKind("a plan", "plan.json")
JSON_MODEL = OutputKind("JSON of a model", "model.json")
JSON_RULES = OutputKind("JSON of rules", "rules.json")
GRAPH = OutputKind("an ONNX graph", "model.onnx")
PAGE = OutputKind("a page", "page.html")
TEXT = OutputKind("a text", "rules.md")
DOCUMENT = OutputKind("a document of mltsk", "methods.docx")
PREDICTIONS = OutputKind("a table of predictions", "predictions.csv", is_table=True)
SECOND_LOOK = OutputKind("a list of mltsk second-look", "look.csv", is_table=True)
POINTS = OutputKind("a sheet of points", "points.csv", is_table=True)
KINDS_BY_ENDING = {".html": PAGE, ".md": TEXT, ".docx": DOCUMENT, ".csv": POINTS}


def kind_by_ending(out: str) -> OutputKind:
    """The kind of a sheet or document, whose name says how it is written."""
    return KINDS_BY_ENDING[Path(out).suffix.lower()]


def check_output(
    out: str | None, kind: OutputKind, inputs: Iterable[str | Path | None] = ()
) -> None:
    """Refuse an output that cannot be written, is an input, or is another thing.

    An option that was not given is None; standard output, ``-``, replaces nothing.
    """
    check_files([out], inputs)
    if out is None or out == STANDARD_OUTPUT:
        return
    path = Path(out)
    ending = _ending(path)
    if ending in TABLE_ENDINGS and not (kind.is_table and ending == ".csv"):
        other = "another table" if kind.is_table else "a table"
        raise InputError(
            f"{out} is the name of {other}, and {kind.what} would be written to it: "
            f"call it {kind.example}, for instance."
        )
    # devices and pipes hold nothing
    there = what_it_is(path) if path.is_file() else None
    if there not in (None, kind.what):
        raise InputError(
            f"{out} is {there}, and {kind.what} would replace it: write to another "
            "file, or move that one away."
        )


def _ending(path: Path) -> str:
    """The end of a file's name in small letters, without that of its compression."""
    name = path.name.lower()
    for ending in COMPRESSED_ENDINGS:
        name = name.removesuffix(ending)
    return Path(name).suffix


# what files are -----------------------------------------------------------------------


def what_it_is(path: Path) -> str | None:
    """What a file of value is in words, None if it is empty or nothing that we know."""
    with path.open("rb") as file:
        start = file.read(START_BYTES)
    signature = next((sign for sign in SIGNATURES if start.startswith(sign)), None)
    if signature is not None:
        return _what_archive(path) or SIGNATURES[signature]
    is_utf16 = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = start.decode("utf-16" if is_utf16 else "utf-8-sig", "replace").lstrip()
    if text.startswith("{"):
        first = FORMAT.match(text)
        return JSON_FORMATS.get(first["name"]) if first else None
    return _what_table(path, text)


def _what_archive(path: Path) -> str | None:
    """Which of our archives this is, None for any other."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = set(archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return None
    if "mltsk.json" in members:
        return MODEL.what
    if "sums.json" in members:
        return SUMS.what
    # a document that somebody opened and saved has more parts than ours
    if members == {"[Content_Types].xml", "_rels/.rels", "word/document.xml"}:
        return DOCUMENT.what
    return None


def _what_table(path: Path, text: str) -> str | None:
    """Which table a text is, None if it is none.

    A table has as many cells in its first row as in its header; one of a single column
    is known by the name of its file.
    """
    tops = [_first_rows(text, separator) for separator in SEPARATORS]
    even = [rows for rows in tops if len(rows[0]) == len(rows[-1]) > 1 < len(rows)]
    if not even:
        is_named_so = _ending(path) in TABLE_ENDINGS and len(tops[0]) > 1
        return OTHER_TABLE if is_named_so else None
    header = even[0][0]
    has_scores = any(cell.startswith(("probability:", "score:")) for cell in header)
    if has_scores or "prediction" in header:
        return PREDICTIONS.what
    if {"row", "recorded", "by_chance"} <= set(header):
        return SECOND_LOOK.what
    if header[:3] == ["label", "part", "feature"]:
        return POINTS.what
    return OTHER_TABLE


def _first_rows(text: str, separator: str) -> list[list[str]]:
    """The first two rows of a text that are not empty, as cells."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        return list(islice(filter(None, rows), 2)) or [[]]
    except csv.Error:  # no text that anybody wrote
        return [[]]
