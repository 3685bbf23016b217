"""What a store of results may hold: it may come from a stranger.

A store is looked at in this order, and nothing is read before its turn: its files, its
tables (`check_schema`), how large they are (`check_sizes`), its pieces of work
(`check_cell`), its numbers (`check_scores`), and its JSON (`plain_data`), of which the
description of the run must have a known form (`checked_description`). So no view or
trigger is ever run, no row is read that would not fit into memory, and no name gets
into a file's name or onto a terminal that is not one of ours.
"""

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import pandas as pd

from ...exceptions import InputError, printable
from ...limits import READER_SECONDS, check_size
from ...text import quoted
from .names import (
    MAX_TITLE_LENGTH,
    DatasetName,
    MethodKey,
    is_dataset_name,
    is_method_key,
)
from .published import METRICS, PlainData, read_text

try:
    from pydantic import BaseModel, ConfigDict, Field, ValidationError
except ImportError as error:  # pragma: no cover
    raise ImportError('pip install "mltsk[data,report]"') from error

# Pairs of data set and method that a report compares; Section IV has 120.
MAX_REPORT_PAIRS = 10_000
MAX_JSON_DEPTH = 40
MAX_COUNT = 10**12  # of samples, settings and the like
MAX_SCORE = 10**6  # coverage may be as large as the number of labels
MAX_SECONDS = 10**12
# Bytes of a row while it is read; 880 were measured with 400,000 scores.
STORED_ROW_BYTES = 1000
# Bytes that a character of JSON becomes: "[]," are 64 bytes of an empty list.
JSON_CHARACTER_BYTES = 24
PROGRESS_STEPS = 10_000  # of SQLite between two looks at the clock
# Bytes that the texts of each table become. JSON of a piece of work is forgotten before
# that of the next one is read; a letter of other text has up to four bytes.
_TEXT_BYTES = {
    "run": f"{JSON_CHARACTER_BYTES} * total(length(description))",
    "cell": (
        "4 * (total(length(dataset)) + total(length(method)) + total(length(part)) "
        "+ total(length(error))) "
        f"+ {JSON_CHARACTER_BYTES} * ifnull(max(length(details)), 0) "
        f"+ {JSON_CHARACTER_BYTES} * ifnull(max(length(versions)), 0)"
    ),
    "setting": (
        "4 * total(length(text)) "
        f"+ {JSON_CHARACTER_BYTES} * ifnull(max(length(text)), 0)"
    ),
    "score": "0",
    "study": f"{JSON_CHARACTER_BYTES} * total(length(content))",
}
_KEY = re.compile(r"[0-9a-f]{32}")
_DEVICE = re.compile(r"[\w:.-]{1,60}", re.ASCII)
_TIME = re.compile(r"[0-9TZ:.+-]{1,40}")


class WrongContentError(sqlite3.DatabaseError):
    """Something in a store that no store of ours holds."""


# tables -------------------------------------------------------------------------------


def check_schema(connection: sqlite3.Connection, *, complete: bool) -> None:
    """Refuse every table, view, trigger and index that is not one of ours.

    Without ``complete`` some of ours may not have been made yet.
    """
    ours = dict(_own_schema())
    for place, text in _schema(connection):
        kind, name, _ = place
        if place not in ours:
            raise WrongContentError(f"it has a {kind} {quoted(str(name))}")
        if text != ours.pop(place):
            raise WrongContentError(f"its {kind} {name} is none of ours")
    if complete and ours:
        kind, name, _ = next(iter(ours))
        raise WrongContentError(f"it has no {kind} {name}")


@cache
def _own_schema() -> tuple[tuple[tuple[str, str, str], str], ...]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(read_text("schema.sql"))
        return tuple(_schema(connection))


def _schema(
    connection: sqlite3.Connection,
) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Kind, name and table of everything that a file declares, and its SQL."""
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master"
    for *place, text in connection.execute(query):
        yield tuple(place), " ".join(str(text).split())


def check_sizes(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse tables whose rows would take more memory than they may."""
    size = 0
    for table, text_bytes in _TEXT_BYTES.items():
        query = f"SELECT count(*), {text_bytes} FROM {table}"
        n_rows, n_bytes = connection.execute(query).fetchone()
        size += STORED_ROW_BYTES * n_rows + int(n_bytes)
    check_size(size, path)


@contextmanager
def time_limit(
    connection: sqlite3.Connection, path: Path, seconds: float = READER_SECONDS
) -> Iterator[None]:
    """Let SQLite work for so long, and a second more per MiB of the file."""
    seconds += path.stat().st_size / 2**20
    end = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > end, PROGRESS_STEPS)
    try:
        yield
    except (sqlite3.OperationalError, pd.errors.DatabaseError):
        if time.monotonic() <= end:
            raise
        fault = "it is damaged, or too large"
        sentence = f"{path} was not read in {seconds:.0f} seconds: {fault}."
        raise InputError(sentence) from None
    finally:
        connection.set_progress_handler(None, 0)


# rows ---------------------------------------------------------------------------------


def _is_device(text: str | None) -> bool:
    return text is None or _DEVICE.fullmatch(text) is not None


def _is_protocol(text: str) -> bool:
    return text in ("paper", "strict", "nested", "")  # a study has none


# What must hold for the columns of a piece of work.
_CELL_RULES: Mapping[str, Callable[[Any], bool]] = {
    "key": lambda text: _KEY.fullmatch(text) is not None,
    "kind": lambda text: text in ("grid", "inner", "final", "study"),
    "protocol": _is_protocol,
    "dataset": is_dataset_name,
    "method": is_method_key,
    "seed": lambda number: number >= 0,
    "fold": lambda number: -1 <= number <= MAX_COUNT,
    "inner": lambda number: -1 <= number <= MAX_COUNT,
    "status": lambda text: text in ("done", "failed"),
    "seconds": lambda number: 0 <= number <= MAX_SECONDS,
    "cpu_seconds": lambda number: 0 <= number <= MAX_SECONDS,
    "when": lambda text: _TIME.fullmatch(text) is not None,
    "device": _is_device,
}


def check_cell(cell: Mapping[str, Any]) -> None:
    """Refuse a piece of work with a name or number that no run of ours writes."""
    for column, is_right in _CELL_RULES.items():
        value = cell[column]
        if not is_right(value):
            raise WrongContentError(f"{quoted(str(value))} is no {column} of ours")
    if (cell["protocol"] == "") != (cell["kind"] == "study"):
        raise WrongContentError("a study has a protocol, or a fold has none")


def check_scores(connection: sqlite3.Connection) -> None:
    """Refuse scores beyond those of any metric; what is no number is NULL.

    The authors' coverage may be negative.
    """
    limits = f"BETWEEN {-MAX_SCORE} AND {MAX_SCORE}"
    wrong = [f"{name} NOT {limits}" for name in (*METRICS, "tied")]
    choosers = ", ".join(f"'{name}'" for name in ("", *METRICS))
    wrong.append(f"chosen_by NOT IN ({choosers})")
    query = f"SELECT cell FROM score WHERE {' OR '.join(wrong)} LIMIT 1"
    row = connection.execute(query).fetchone()
    if row is not None:
        raise WrongContentError(f"a score of {quoted(row[0])} is impossible")


# JSON ---------------------------------------------------------------------------------


def plain_data(text: str) -> Any:
    """What a text of JSON holds, with nothing in it that a terminal would obey."""
    try:
        return _plain(json.loads(text), MAX_JSON_DEPTH)
    except (ValueError, RecursionError):  # also of numbers with thousands of digits
        raise WrongContentError(f"{quoted(text)} is no JSON of ours") from None


def _plain(value: Any, depth: int) -> Any:
    """Lists, objects and scalars, nested at most so deeply, with printable texts."""
    if depth == 0:
        raise ValueError("nested too deeply")
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_plain(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {printable(key): _plain(value[key], depth - 1) for key in value}
    return value


# the description of a run -------------------------------------------------------------


Title = Annotated[str, Field(max_length=MAX_TITLE_LENGTH)]
RunProtocol = Annotated[str, Field(pattern="^(paper|strict|nested)$")]
Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]
Share = Annotated[float, Field(ge=0, le=MAX_COUNT)]


class _Described(BaseModel):
    """A part of a description; what later versions add is let through."""

    model_config = ConfigDict(extra="allow", strict=True)


class _DescribedData(_Described):
    """A data set of the run."""

    title: Title = ""
    grid: Title = ""
    samples: Count | None = None
    features: Count | None = None
    labels: Count | None = None
    empty: Count | None = None
    full: Count | None = None
    cardinality: Share | None = None
    density: Share | None = None


class _DescribedMethod(_Described):
    """A method of the run."""

    title: Title = ""
    paper: Title | None = None
    variant_of: Title | None = None
    params: PlainData = {}
    grid: dict[str, list[Any]] = {}
    settings: Count = 1


class _DescribedRun(_Described):
    """What `Results.run` holds, as far as anything is done with it."""

    protocols: list[RunProtocol] = Field(min_length=1, max_length=3)
    seeds: list[Count] = Field(min_length=1)
    n_folds: int = Field(ge=1, le=MAX_COUNT)
    folds: Count
    inner_folds: Count
    convention: str = Field(pattern="^(paper|standard)$")
    datasets: dict[DatasetName, _DescribedData] = Field(min_length=1)
    methods: dict[MethodKey, _DescribedMethod] = Field(min_length=1)
    missing: dict[DatasetName, str]
    versions: dict[str, str]
    grid: Title
    command: str
    created: Title
    machine: Title
    planned: list[list[str]] = []


def checked_description(text: str) -> PlainData:
    """The description of a run, or an error that says what is wrong with it."""
    description: PlainData = plain_data(text)
    try:
        run = _DescribedRun.model_validate(description)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        problem = f"the field {quoted(place)} of its description is wrong"
        raise WrongContentError(f"{problem}: {first['msg']}") from None
    if len(set(run.protocols)) < len(run.protocols):
        raise WrongContentError("its description has a protocol twice")
    if any(len(place) != 3 for place in run.planned):
        raise WrongContentError("its description plans something unknown")
    if len(run.datasets) * len(run.methods) > MAX_REPORT_PAIRS:
        most = f"more than {MAX_REPORT_PAIRS:,} pairs of data set and method"
        raise WrongContentError(f"its description has {most}")
    return description
