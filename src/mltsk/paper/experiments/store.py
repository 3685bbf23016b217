"""Pieces of work, and where their results live: one SQLite file in the run's folder.

A `Cell` is one method on one fold of one data set with (part of) its grid, or one
study. It says everything that its numbers depend on, so its key, a digest of that, is
what the store is asked for: what is there is not computed again, and what changed is.

One process writes. A cell and all its rows are written in one transaction, so a process
that is killed at any moment leaves whole cells and nothing else; starting again
computes what is missing. Keys are unique: nothing is there twice. While a run has the
folder a second one is refused; the lock is a transaction of a second file and so ends
with the process that holds it.
"""

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

import pandas as pd

from ...exceptions import InputError
from .published import METRICS, PlainData, read_text
from .results import CELL_COLUMNS, SCORE_COLUMNS, Results

Kind = Literal["grid", "inner", "final", "study"]
FILE = "results.sqlite"
LOCK = "lock.sqlite"
VALUES = (*METRICS, "tied")
_FORMAT = 1  # of schema.sql
_MAX_PROBLEM = 200  # characters of SQLite's words about a damaged file
_DAMAGE = (
    sqlite3.DatabaseError,
    pd.errors.DatabaseError,
    json.JSONDecodeError,
    UnicodeDecodeError,
)
# What a key is made of, besides the details.
_IDENTITY = ("kind", "protocol", "dataset", "method", "seed", "fold", "inner", "part")
_ABSORB = (
    "CREATE TEMP TABLE fresh AS SELECT key FROM other.cell WHERE status = 'done' "
    "AND key NOT IN (SELECT key FROM cell WHERE status = 'done')",
    "DELETE FROM cell WHERE key IN (SELECT key FROM fresh)",
    "INSERT INTO cell SELECT * FROM other.cell WHERE key IN (SELECT key FROM fresh)",
    "INSERT OR IGNORE INTO setting (text) SELECT text FROM other.setting",
    "INSERT INTO score "
    "SELECT cell, mine.id, chosen_by, AP, HL, OE, RL, CV, tied FROM other.score "
    "JOIN other.setting AS theirs ON theirs.id = score.setting "
    "JOIN setting AS mine ON mine.text = theirs.text "
    "WHERE cell IN (SELECT key FROM fresh)",
    "INSERT INTO study SELECT * FROM other.study WHERE cell IN (SELECT key FROM fresh)",
    "DROP TABLE fresh",
)


@dataclass(frozen=True)
class Cell:
    """One piece of work.

    ``kind`` is "grid" for a grid on a reported fold, "inner" for a grid on an inner
    fold of ``fold``, "final" for the settings that the inner folds of ``fold`` chose,
    "study" for a figure's numbers, ``method`` then names the study. ``part`` tells the
    pieces of one grid apart. ``details`` holds the rest of what the numbers depend on,
    and ``needs`` the keys of the inner cells of a final one. ``size`` is rough flops,
    for the order of the work and the time left: longest first keeps all processes busy
    to the end.
    """

    kind: Kind
    protocol: str
    dataset: str
    method: str
    seed: int
    fold: int
    inner: int = -1
    part: str = ""
    details: PlainData = field(default_factory=dict, hash=False)
    needs: tuple[str, ...] = ()
    size: float = 1.0

    @property
    def key(self) -> str:
        """Digest of everything that the numbers depend on."""
        content = {name: getattr(self, name) for name in (*_IDENTITY, "details")}
        return hashlib.sha256(canonical(content).encode()).hexdigest()[:32]

    def __str__(self) -> str:
        if self.kind == "study":
            return f"{self.method} on {self.dataset}"
        text = f"{self.method} on {self.dataset}, {self.protocol} fold {self.fold + 1}"
        if self.inner >= 0:
            text += f".{self.inner + 1}"
        if self.part:
            text += f" ({self.part})"
        return text


def canonical(value: object) -> str:
    """JSON with sorted keys: equal values have equal text.

    Arrays and numbers of NumPy are written as plain ones.
    """
    return json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        default=lambda array: array.tolist(),
    )


class Row(NamedTuple):
    """Metrics of one setting: AP, HL, OE, RL, CV and the share of tied rows.

    ``chosen_by`` is the metric that chose it under nested folds.
    """

    setting: PlainData
    metrics: tuple[float, ...]
    chosen_by: str = ""


class Outcome(NamedTuple):
    """What became of a cell: rows or a study's content, or the error.

    Also what it took, and where it was computed.
    """

    rows: tuple[Row, ...] = ()
    study: PlainData | None = None
    error: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    device: str = "cpu"


class Store:
    """Results in a folder.

    Examples
    --------
    >>> import tempfile
    >>> with Store.open(tempfile.mkdtemp(), create=True) as store:
    ...     store.done()
    set()
    """

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file

    @classmethod
    @contextmanager
    def open(cls, folder: str | Path, *, create: bool = False) -> Iterator["Store"]:
        """The store of a folder, to read it.

        With ``create`` it is there to write, which one process at a time may do.
        """
        folder = Path(folder)
        path = folder / FILE
        if create:
            with _locked(folder), _connected(path, path) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(read_text("schema.sql"))
                connection.execute(f"PRAGMA user_version = {_FORMAT}")
                yield cls(connection, path)
            return
        way = f"run `mltsk reproduce --out {folder}` first"
        nothing = InputError(f"{folder} holds no results: {way}.")
        if not path.is_file():
            raise nothing
        with _readable(path) as file, _connected(file, path) as connection:
            if connection.execute("PRAGMA user_version").fetchone() == (0,):
                raise nothing  # its tables were not made yet
            yield cls(connection, file)

    def describe(self, description: Mapping[str, object]) -> None:
        """Keep the description of the run, see `Results`."""
        query = "INSERT OR REPLACE INTO run VALUES (1, ?)"
        with self._connection:
            self._connection.execute(query, (canonical(description),))

    def description(self) -> PlainData:
        """The description of the run; empty before there is one."""
        row = self._connection.execute("SELECT description FROM run").fetchone()
        return json.loads(row[0]) if row else {}

    def done(self) -> set[str]:
        """Keys of the cells that are finished."""
        query = "SELECT key FROM cell WHERE status = 'done'"
        return {key for (key,) in self._connection.execute(query)}

    def add(self, cell: Cell, outcome: Outcome, versions: Mapping[str, str]) -> None:
        """Keep what became of a cell, all of it or nothing.

        It takes the place of an earlier failure.
        """
        key = cell.key
        values = (
            key,
            *(getattr(cell, name) for name in _IDENTITY),
            "failed" if outcome.error else "done",
            outcome.error,
            outcome.seconds,
            outcome.cpu_seconds,
            datetime.now(UTC).isoformat(timespec="seconds"),
            canonical(cell.details),
            canonical(versions),
        )
        texts = [canonical(row.setting) for row in outcome.rows]
        scores = []
        for row, text in zip(outcome.rows, texts, strict=True):
            scores.append((key, row.chosen_by, *row.metrics, text))
        with self._connection as connection:
            connection.execute("DELETE FROM cell WHERE key = ?", (key,))
            connection.execute(
                f"INSERT INTO cell VALUES ({_placeholders(values)})", values
            )
            connection.executemany(
                "INSERT OR IGNORE INTO setting (text) VALUES (?)",
                [(text,) for text in texts],
            )
            connection.executemany(
                "INSERT INTO score SELECT ?, id, ?, ?, ?, ?, ?, ?, ? "
                "FROM setting WHERE text = ?",
                scores,
            )
            if outcome.study is not None:
                content = (key, canonical(outcome.study))
                connection.execute("INSERT INTO study VALUES (?, ?)", content)

    def absorb(self, other: "Store") -> int:
        """Take over what another store has finished and this one has not.

        Returns the number of cells.
        """
        before = len(self.done())
        self._connection.execute("ATTACH ? AS other", (str(other._file),))
        try:
            with self._connection as connection:
                for statement in _ABSORB:
                    connection.execute(statement)
        finally:
            self._connection.execute("DETACH other")
        return len(self.done()) - before

    def best_settings(self, keys: Sequence[str]) -> dict[str, PlainData]:
        """For each metric the setting of the best mean over inner cells.

        Of equal ones it is the first in canonical order.
        """
        best = {}
        for metric in METRICS:
            direction = "DESC" if metric == "AP" else "ASC"
            query = (
                "SELECT text FROM score JOIN setting ON setting.id = score.setting "
                f"WHERE cell IN ({_placeholders(keys)}) GROUP BY text "
                f"ORDER BY avg({metric}) {direction} NULLS LAST, text LIMIT 1"
            )
            (text,) = self._connection.execute(query, keys).fetchone()
            best[metric] = json.loads(text)
        return best

    def results(self) -> Results:
        """Everything that is finished, as tables."""
        scores = self._scores()
        self._check_keys()
        columns = _quoted(CELL_COLUMNS[:-1])
        query = (
            f"SELECT {columns}, json_extract(versions, '$.device') AS device "
            'FROM cell ORDER BY "when", key'
        )
        cells = pd.read_sql_query(query, self._connection)
        query = (
            "SELECT method, dataset, content FROM study "
            "JOIN cell ON cell.key = study.cell WHERE status = 'done'"
        )
        studies = {}
        for study, dataset, content in self._connection.execute(query):
            studies[study, dataset] = json.loads(content)
        return Results(self.description(), scores, cells, studies)

    def _scores(self) -> pd.DataFrame:
        """Scores of all finished cells on reported folds."""
        query = (
            f"SELECT {_quoted((*SCORE_COLUMNS[:6], *VALUES))}, text AS setting "
            "FROM score JOIN cell ON cell.key = cell "
            "JOIN setting ON setting.id = score.setting "
            "WHERE kind IN ('grid', 'final') AND status = 'done'"
        )
        scores = pd.read_sql_query(query, self._connection)
        # SQLite takes the name of a column that is not there for a text.
        lost = set(SCORE_COLUMNS) - set(scores)
        if lost:
            raise sqlite3.DatabaseError(f"there is no column {min(lost)}")
        # Text as categories: half a million rows then take seconds less to group.
        texts = ("protocol", "dataset", "method", "chosen_by", "setting")
        scores = scores.astype(dict.fromkeys(texts, "category"))
        return scores[list(SCORE_COLUMNS)]

    def _check_keys(self) -> None:
        """Refuse a file whose cells are not what their keys say."""
        query = f"SELECT key, details, {_quoted(_IDENTITY)} FROM cell"
        for key, details, *identity in self._connection.execute(query):
            named = dict(zip(_IDENTITY, identity, strict=True))
            if Cell(**named, details=json.loads(details)).key != key:
                raise sqlite3.DatabaseError(
                    f"the piece of work {key} is not what its key says"
                )


def _quoted(names: Sequence[str]) -> str:
    """Names of columns for a query: some are words of SQL."""
    return ", ".join(f'"{name}"' for name in names)


def _placeholders(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


@contextmanager
def _connected(file: Path, path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a store, after a look at it.

    What goes wrong with the file meanwhile becomes a sentence about ``path``.
    """
    try:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA foreign_keys = ON")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version > _FORMAT:
                way = "update mltsk, or choose another folder"
                raise InputError(f"{path} was written by a newer mltsk: {way}.")
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise sqlite3.DatabaseError(verdict)
            yield connection
    except sqlite3.IntegrityError:
        raise
    except _DAMAGE as error:
        raise _explained(error, path) from None


def _explained(error: Exception, path: Path) -> Exception:
    """An error of SQLite as a sentence that says what to do."""
    cause = error.__cause__ or error
    code = getattr(cause, "sqlite_errorcode", 0)
    if code == sqlite3.SQLITE_NOTADB:
        way = "move it away, or choose another folder"
        return InputError(f"{path} is no store of results: {way}.")
    if code & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return OSError(
            f"{path} cannot be written, the disk may be full ({cause}): what was "
            "finished before is kept, and the same command goes on once there is room."
        )
    problem = " ".join(str(cause).split())[:_MAX_PROBLEM]
    way = "take a copy of it, or choose another folder"
    return InputError(f"{path} is damaged ({problem}): {way}.")


@contextmanager
def _readable(path: Path) -> Iterator[Path]:
    """The file, or a copy where its folder cannot be written.

    SQLite writes next to a file even to read it.
    """
    if os.access(path.parent, os.W_OK) and os.access(path, os.W_OK):
        yield path
        return
    with TemporaryDirectory() as place:
        for file in path.parent.glob(f"{FILE}*"):
            shutil.copyfile(file, Path(place) / file.name)
        yield Path(place) / FILE


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """A folder for this process alone; it is made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be made ({error.strerror}): --out takes a folder"
        raise InputError(f"The folder {folder} {problem}.") from None
    file = folder / LOCK
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            way = "wait for it, or choose another folder"
            raise InputError(f"Another run is writing to {folder}: {way}.") from None
        except sqlite3.DatabaseError:
            way = "move it away, or choose another folder"
            raise InputError(f"{file} is no lock of ours: {way}.") from None
        yield
