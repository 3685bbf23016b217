"""What an output may replace: an earlier output of the same kind, and nothing else.

``mltsk fit patients.csv --out other.csv`` would otherwise write a model over another
table of the user, and ``mltsk predict`` a table of predictions.
"""

import csv
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from ..exceptions import InputError
from .output import STANDARD_OUTPUT, check_files

# How names of tables end, whether or not we read them.
TABLE_ENDINGS = (
    *(".csv", ".tsv", ".tab", ".xls", ".xlsx", ".xlsm", ".xlsb", ".ods", ".numbers"),
    *(".parquet", ".feather", ".arrow", ".arff", ".npz", ".npy", ".mat", ".json.gz"),
    *(".sav", ".por", ".dta", ".sas7bdat", ".xpt", ".rds", ".rda", ".rdata"),
    *(".sqlite", ".db", ".mdb", ".accdb"),
)
COMPRESSED_ENDINGS = (".gz", ".bz2", ".xz", ".zip", ".zst")
START_BYTES = 4096  # of a file that say what it is; a header may be longer
HEADER_BYTES = 1 << 20


class OutputKind(NamedTuple):
    """A kind of file that commands write.

    Attributes
    ----------
    what : what it is called in a sentence
    example : the name of such a file
    is_such : whether the file at a path is of this kind
    is_table : whether its name may end in .csv
    """

    what: str
    example: str
    is_such: Callable[[Path], bool]
    is_table: bool = False


def check_output(
    out: str | None, kind: OutputKind, inputs: Iterable[str | Path | None] = ()
) -> None:
    """Refuse an output that cannot be written, is an input, or is something else.

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
    # devices and pipes hold nothing, and neither does a file that is empty
    if path.is_file() and path.stat().st_size and not kind.is_such(path):
        raise InputError(
            f"{out} is there and does not look like {kind.what}: "
            "write to another file, or move that one away."
        )


def _ending(path: Path) -> str:
    """The end of a file's name in small letters, without that of its compression."""
    name = path.name.lower()
    for ending in COMPRESSED_ENDINGS:
        name = name.removesuffix(ending)
    return Path(name).suffix


# what files look like -----------------------------------------------------------------


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(START_BYTES)


def _members(path: Path) -> set[str]:
    """Names of the parts of an archive, none if it is no archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            return set(archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return set()


def _is_model(path: Path) -> bool:
    return "mltsk.json" in _members(path)


def _is_sums(path: Path) -> bool:
    return "sums.json" in _members(path)


def _is_document(path: Path) -> bool:
    """Whether a document has our parts alone: one that somebody saved has more."""
    return _members(path) == {
        "[Content_Types].xml",
        "_rels/.rels",
        "word/document.xml",
    }


def _is_page(path: Path) -> bool:
    return _start(path).lstrip().lower().startswith(b"<!doctype html>")


def _is_json(path: Path) -> bool:
    start = _start(path)
    return start.lstrip().startswith(b"{") and b'"mltsk ' in start


def _is_graph(path: Path) -> bool:
    return b"mltsk" in _start(path)[:64]


def _is_text(path: Path) -> bool:
    """Whether this is text in UTF-8 that begins with no line of a table."""
    try:
        first = _start(path).decode("utf-8", "strict").partition("\n")[0]
    except UnicodeDecodeError as error:
        if error.start < START_BYTES - 4:  # a letter may be cut at the end
            return False
        first = ""
    is_archive = first.startswith("PK")
    return not is_archive and "\0" not in first and "\t" not in first


def _header(path: Path) -> list[str]:
    """The first line of a CSV file as its cells."""
    with path.open("rb") as file:
        line = file.readline(HEADER_BYTES).decode("utf-8", "replace")
    return next(csv.reader([line]), [])


def _are_predictions(path: Path) -> bool:
    header = _header(path)
    has_numbers = any(cell.startswith(("probability:", "score:")) for cell in header)
    return has_numbers or header[-1:] == ["prediction"]


def _is_second_look(path: Path) -> bool:
    return {"row", "recorded", "by_chance"} <= set(_header(path))


def _are_points(path: Path) -> bool:
    return _header(path)[:3] == ["label", "part", "feature"]


MODEL = OutputKind("a model", "model.skops", _is_model)
SUMMARY = OutputKind("a summary", "site.summary", _is_json)
SUMS = OutputKind("a file of sums", "site.sums", _is_sums)
PLAN = OutputKind("a plan", "plan.json", _is_json)
JSON = OutputKind("JSON of mltsk", "model.json", _is_json)
GRAPH = OutputKind("an ONNX graph of mltsk", "model.onnx", _is_graph)
PAGE = OutputKind("a page", "page.html", _is_page)
TEXT = OutputKind("a text", "rules.md", _is_text)
DOCUMENT = OutputKind("a document of mltsk", "methods.docx", _is_document)
PREDICTIONS = OutputKind(
    "a table of predictions", "predictions.csv", _are_predictions, is_table=True
)
SECOND_LOOK = OutputKind(
    "a list of mltsk second-look", "look.csv", _is_second_look, is_table=True
)
POINTS = OutputKind("a sheet of points", "points.csv", _are_points, is_table=True)
KINDS_BY_ENDING = {".html": PAGE, ".md": TEXT, ".docx": DOCUMENT, ".csv": POINTS}


def kind_by_ending(out: str) -> OutputKind:
    """The kind of a sheet or document, whose name says how it is written."""
    return KINDS_BY_ENDING[Path(out).suffix.lower()]
