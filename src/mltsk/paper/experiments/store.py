"""Pieces of work, and where their results live: one SQLite file in the run's folder.

A `Cell` is one method on one fold of one data set with (part of) its grid, or one
study. It says everything that its numbers depend on, so its key, a digest of that, is
what the store is asked for: what is there is not computed again, and what changed is.

One process writes. A cell and all its rows are written in one transaction, so a process
that is killed at any moment leaves whole cells and nothing else; starting again
computes what is missing. Keys are unique: nothing is there twice. While a run has the
folder a second one is refused; the lock is a transaction of a second file and so ends
with the process that holds it.

A store may come from a stranger. It is opened to be read only, and `store_checks` looks
at it before anything of it is used, or taken over into another store.
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

from ...exceptions import InputError, printable
from ...files import check_no_link
from ...limits import check_size
from .published import METRICS, PlainData, read_text
from .results import CELL_COLUMNS, SCORE_COLUMNS, Results
from .store_checks import (
    WrongContentError,
    check_cell,
    check_schema,
    check_scores,
    check_sizes,
    checked_description,
    plain_data,
    time_limit,
)

Kind = Literal["grid", "inner", "final", "study"]
FILE = "results.sqlite"
LOCK = "lock.sqlite"
JOURNALS = ("-wal", "-shm", "-journal")  # names of SQLite's own files end so
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

    def __init__(self, connection: sqlite3.Connection, path: Path, uri: str) -> None:
        self._connection = connection
        self._path = path
        self._uri = uri

    @classmethod
    @contextmanager
    def open(cls, folder: str | Path, *, create: bool = False) -> Iterator["Store"]:
        """The store of a folder, to read it.

        With ``create`` it is there to write, which one process at a time may do.
        """
        folder = Path(folder)
        path = folder / FILE
        if create:
            uri = f"{path.absolute().as_uri()}?mode=rwc"
            with _locked(folder), _connected(uri, path) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(read_text("schema.sql"))
                connection.execute(f"PRAGMA user_version = {_FORMAT}")
                yield cls(connection, path, uri)
            return
        way = f"run `mltsk reproduce --out {folder}` first"
        nothing = InputError(f"{folder} holds no results: {way}.")
        if not path.is_file():
            raise nothing
        _check_file_sizes(path)
        with _readable(path) as uri, _connected(uri, path) as connection:
            version = connection.execute("PRAGMA user_version").fetchone()
            check_schema(connection, complete=version != (0,))
            if version == (0,):
                raise nothing  # its tables were not made yet
            yield cls(connection, path, uri)

    def describe(self, description: Mapping[str, object]) -> None:
        """Keep the description of the run, see `Results`."""
        query = "INSERT OR REPLACE INTO run VALUES (1, ?)"
        with self._connection:
            self._connection.execute(query, (canonical(description),))

    def description(self) -> PlainData:
        """The description of the run; empty before there is one."""
        row = self._connection.execute("SELECT description FROM run").fetchone()
        return checked_description(row[0]) if row else {}

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

        Returns the number of cells. Nothing is taken over from a store that holds
        anything that no store of ours does.
        """
        other.results()
        before = len(self.done())
        self._connection.execute("ATTACH ? AS other", (other._uri,))
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
        with time_limit(self._connection, self._path):
            check_sizes(self._connection, self._path)
            cells = self._cells()
            check_scores(self._connection)
            scores = self._scores()
            return Results(self.description(), scores, cells, self._studies())

    def _cells(self) -> pd.DataFrame:
        """All pieces of work, each of which must be what its key says."""
        names = ("key", "kind", "inner", "details", *CELL_COLUMNS[:-1])
        query = (
            f"SELECT {_quoted(names)}, json_extract(versions, '$.device') AS device "
            'FROM cell ORDER BY "when", key'
        )
        rows = []
        for values in self._connection.execute(query):
            row = dict(zip((*names, "device"), values, strict=True))
            check_cell(row)
            _check_key(row)
            row["error"] = printable(" ".join(row["error"].split()))
            row["part"] = printable(row["part"])
            rows.append([row[name] for name in CELL_COLUMNS])
        return pd.DataFrame(rows, columns=list(CELL_COLUMNS))

    def _scores(self) -> pd.DataFrame:
        """Scores of all finished cells on reported folds."""
        query = (
            f"SELECT {_quoted((*SCORE_COLUMNS[:6], *VALUES))}, setting "
            "FROM score JOIN cell ON cell.key = cell "
            "WHERE kind IN ('grid', 'final') AND status = 'done' "
            "ORDER BY cell, chosen_by, setting"  # so that means are rounded alike
        )
        scores = pd.read_sql_query(query, self._connection)
        # Each text is read once: there are many scores of a setting.
        scores["setting"] = scores["setting"].map(self._settings())
        if scores["setting"].isna().any():
            raise WrongContentError("a score has no setting")
        # Text as categories: half a million rows then take seconds less to group.
        texts = ("protocol", "dataset", "method", "chosen_by", "setting")
        scores = scores.astype(dict.fromkeys(texts, "category"))
        return scores[list(SCORE_COLUMNS)]

    def _settings(self) -> dict[int, str]:
        """Settings by number; each is an object of JSON in canonical form."""
        settings = {}
        for number, text in self._connection.execute("SELECT id, text FROM setting"):
            setting = plain_data(text)
            if not isinstance(setting, dict) or canonical(setting) != text:
                raise WrongContentError(f"the setting {number} is none of ours")
            settings[number] = text
        return settings

    def _studies(self) -> dict[tuple[str, str], PlainData]:
        """What the finished studies hold, by study and data set."""
        query = (
            "SELECT method, dataset, content FROM study "
            "JOIN cell ON cell.key = study.cell WHERE status = 'done'"
        )
        studies = {}
        for study, dataset, content in self._connection.execute(query):
            studies[study, dataset] = plain_data(content)
        return studies


def _check_key(row: PlainData) -> None:
    """Refuse a piece of work that is not what its key says."""
    identity = {name: row[name] for name in _IDENTITY}
    try:
        details = json.loads(row["details"])
        key = Cell(**identity, details=details).key
    except (ValueError, RecursionError):
        key = ""
    if key != row["key"]:
        raise WrongContentError(
            f"the piece of work {row['key']} is not what its key says"
        )


def _quoted(names: Sequence[str]) -> str:
    """Names of columns for a query: some are words of SQL."""
    return ", ".join(f'"{name}"' for name in names)


def _placeholders(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


@contextmanager
def _connected(uri: str, path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a store, after a look at it.

    What goes wrong with the file meanwhile becomes a sentence about ``path``.
    """
    _check_journals(path)
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            # Functions with side effects are not for what a file declares.
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA foreign_keys = ON")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version > _FORMAT:
                way = "update mltsk, or choose another folder"
                raise InputError(f"{path} was written by a newer mltsk: {way}.")
            # before the next check, which works out expressions of the file
            check_schema(connection, complete=False)
            with time_limit(connection, path):
                (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise sqlite3.DatabaseError(verdict)
            yield connection
    except sqlite3.IntegrityError:
        raise
    except _DAMAGE as error:
        raise _explained(error, path) from None


def _check_file_sizes(path: Path) -> None:
    """Refuse a store that is itself larger than what is read may become."""
    log = path.with_name(f"{path.name}-wal")
    size = path.stat().st_size
    if log.exists():
        size += log.stat().st_size
    check_size(size, path)


def _check_journals(path: Path) -> None:
    """Refuse files next to a store that would make SQLite write somewhere else.

    A rollback journal may name a file that SQLite then deletes. Stores of ours have
    none: their journal is a write-ahead log.
    """
    for ending in JOURNALS:
        journal = path.with_name(path.name + ending)
        is_strange = journal.is_symlink()
        if ending == "-journal" and path.exists():
            is_strange = journal.exists() and path.stat().st_size > 0
        if is_strange:
            way = "move it away"
            raise InputError(f"{journal} is no file of ours: {way}.")


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
    if isinstance(cause, WrongContentError):
        way = "take one that `mltsk reproduce` wrote, or choose another folder"
        return InputError(f"{path} is damaged, or none of ours ({problem}): {way}.")
    way = "take a copy of it, or choose another folder"
    return InputError(f"{path} is damaged ({problem}): {way}.")


@contextmanager
def _readable(path: Path) -> Iterator[str]:
    """The address of a store to read, without writing to it.

    Only where a log of somebody who writes lies next to it does SQLite need a file of
    its own there; if the folder cannot be written, a copy is read.
    """
    log = path.with_name(f"{path.name}-wal")
    if not log.exists():
        yield f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        return
    if os.access(path.parent, os.W_OK) and os.access(path, os.W_OK):
        yield f"{path.absolute().as_uri()}?mode=ro"
        return
    with TemporaryDirectory() as place:
        for file in (path, log):
            shutil.copyfile(file, Path(place) / file.name)
        yield f"{(Path(place) / FILE).as_uri()}?mode=ro"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """A folder for this process alone; it is made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be made ({error.strerror}): --out takes a folder"
        raise InputError(f"The folder {folder} {problem}.") from None
    for name in (LOCK, FILE):  # SQLite would follow it
        check_no_link(folder / name)
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
