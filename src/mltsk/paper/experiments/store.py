"""Pieces of work, and where their results live: one SQLite file in the run's folder, written by one process.

A `Cell` is one method on one fold of one data set with (part of) its grid, or one study. It says everything that its
numbers depend on, so its key, a digest of that, is what the store is asked for: what is there is not computed again,
and what changed is.

A cell and all its rows are written in one transaction, so a process that is killed at any moment leaves whole cells
and nothing else; starting again computes what is missing. Keys are unique: nothing is there twice. While a run has the
folder a second one is refused; the lock is a transaction of a second file and so ends with the process that holds it.
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
from typing import Any, Literal, NamedTuple

import pandas as pd

from ...exceptions import InputError
from .published import METRICS, read_text
from .results import CELLS, SCORES, Results

Kind = Literal["grid", "inner", "final", "study"]
FILE, LOCK = "results.sqlite", "lock.sqlite"
VALUES = (*METRICS, "tied")
_FORMAT = 1  # of schema.sql
_IDENTITY = 'key, details, kind, protocol, dataset, method, seed, fold, "inner", part'
_ABSORB = (
    "CREATE TEMP TABLE fresh AS SELECT key FROM other.cell WHERE status = 'done' "
    "AND key NOT IN (SELECT key FROM cell WHERE status = 'done')",
    "DELETE FROM cell WHERE key IN (SELECT key FROM fresh)",
    "INSERT INTO cell SELECT * FROM other.cell WHERE key IN (SELECT key FROM fresh)",
    "INSERT OR IGNORE INTO setting (text) SELECT text FROM other.setting",
    "INSERT INTO score SELECT cell, mine.id, chosen_by, AP, HL, OE, RL, CV, tied FROM other.score "
    "JOIN other.setting AS theirs ON theirs.id = score.setting JOIN setting AS mine ON mine.text = theirs.text "
    "WHERE cell IN (SELECT key FROM fresh)",
    "INSERT INTO study SELECT * FROM other.study WHERE cell IN (SELECT key FROM fresh)",
    "DROP TABLE fresh",
)


@dataclass(frozen=True)
class Cell:
    """One piece of work.

    ``kind`` is "grid" for a grid on a reported fold, "inner" for a grid on an inner fold of ``fold``, "final" for the
    settings that the inner folds of ``fold`` chose, "study" for a figure's numbers, ``method`` then names the study.
    ``part`` tells the pieces of one grid apart. ``details`` holds the rest of what the numbers depend on, and
    ``needs`` the keys of the inner cells of a final one. ``size`` is rough flops, for the order of the work and the
    time left: longest first keeps all processes busy to the end.
    """

    kind: Kind
    protocol: str
    dataset: str
    method: str
    seed: int
    fold: int
    inner: int = -1
    part: str = ""
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)
    needs: tuple[str, ...] = ()
    size: float = 1.0

    @property
    def key(self) -> str:
        """Digest of everything that the numbers depend on."""
        names = (
            "kind",
            "protocol",
            "dataset",
            "method",
            "seed",
            "fold",
            "inner",
            "part",
            "details",
        )
        return hashlib.sha256(
            canonical({name: getattr(self, name) for name in names}).encode()
        ).hexdigest()[:32]

    def __str__(self) -> str:
        if self.kind == "study":
            return f"{self.method} on {self.dataset}"
        inner = f".{self.inner + 1}" if self.inner >= 0 else ""
        part = f" ({self.part})" if self.part else ""
        return f"{self.method} on {self.dataset}, {self.protocol} fold {self.fold + 1}{inner}{part}"


def canonical(value: Any) -> str:
    """JSON with sorted keys: equal values have equal text. Arrays and numbers of NumPy are written as plain ones."""
    return json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        default=lambda array: array.tolist(),
    )


class Row(NamedTuple):
    """Metrics of one setting: AP, HL, OE, RL, CV and the share of tied rows; ``chosen_by`` under nested folds."""

    setting: Mapping[str, Any]
    metrics: tuple[float, ...]
    chosen_by: str = ""


class Outcome(NamedTuple):
    """What became of a cell: rows or a study's content, or the error; and what it took, and where it was computed."""

    rows: tuple[Row, ...] = ()
    study: Mapping[str, Any] | None = None
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
        self._connection, self._file = connection, file

    @classmethod
    @contextmanager
    def open(cls, folder: str | Path, *, create: bool = False) -> Iterator["Store"]:
        """The store of a folder, to read; with ``create`` to write, which one process at a time may do."""
        folder = Path(folder)
        path = folder / FILE
        none = InputError(
            f"{folder} holds no results: run `mltsk reproduce --out {folder}` first."
        )
        if not create and not path.is_file():
            raise none
        with (
            _locked(folder) if create else _readable(path) as file,
            _connected(file, path) as connection,
        ):
            if create:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(read_text("schema.sql"))
                connection.execute(f"PRAGMA user_version = {_FORMAT}")
            elif connection.execute("PRAGMA user_version").fetchone() == (
                0,
            ):  # its tables were not made yet
                raise none
            yield cls(connection, file)

    def describe(self, description: Mapping[str, Any]) -> None:
        """Keep the description of the run, see `Results`."""
        with self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO run VALUES (1, ?)", (canonical(description),)
            )

    def description(self) -> dict[str, Any]:
        """The description of the run; empty before there is one."""
        found = self._connection.execute("SELECT description FROM run").fetchone()
        return json.loads(found[0]) if found else {}

    def done(self) -> set[str]:
        """Keys of the cells that are finished."""
        return {
            key
            for (key,) in self._connection.execute(
                "SELECT key FROM cell WHERE status = 'done'"
            )
        }

    def add(self, cell: Cell, outcome: Outcome, versions: Mapping[str, str]) -> None:
        """Keep what became of a cell, all of it or nothing; takes the place of an earlier failure."""
        values = (
            cell.key, cell.kind, cell.protocol, cell.dataset, cell.method, cell.seed, cell.fold, cell.inner, cell.part,
            "failed" if outcome.error else "done", outcome.error, outcome.seconds, outcome.cpu_seconds,
            datetime.now(UTC).isoformat(timespec="seconds"), canonical(cell.details), canonical(versions),
        )  # fmt: skip
        texts = [(canonical(row.setting), row) for row in outcome.rows]
        with self._connection as connection:
            connection.execute("DELETE FROM cell WHERE key = ?", (cell.key,))
            connection.execute(
                f"INSERT INTO cell VALUES ({', '.join('?' * len(values))})", values
            )
            connection.executemany(
                "INSERT OR IGNORE INTO setting (text) VALUES (?)",
                [(text,) for text, _ in texts],
            )
            connection.executemany(
                "INSERT INTO score SELECT ?, id, ?, ?, ?, ?, ?, ?, ? FROM setting WHERE text = ?",
                [(cell.key, row.chosen_by, *row.metrics, text) for text, row in texts],
            )
            if outcome.study is not None:
                connection.execute(
                    "INSERT INTO study VALUES (?, ?)",
                    (cell.key, canonical(outcome.study)),
                )

    def absorb(self, other: "Store") -> int:
        """Take over what another store has finished and this one has not; returns how many cells that were."""
        before = len(self.done())
        self._connection.execute("ATTACH ? AS other", (str(other._file),))
        try:
            with self._connection as connection:
                for statement in _ABSORB:
                    connection.execute(statement)
        finally:
            self._connection.execute("DETACH other")
        return len(self.done()) - before

    def best_settings(self, keys: Sequence[str]) -> dict[str, Any]:
        """For each metric the setting of the best mean over inner cells; the first in canonical order among equals."""
        query = (
            f"SELECT text FROM score JOIN setting ON setting.id = score.setting WHERE cell IN "
            f"({', '.join('?' * len(keys))}) GROUP BY text ORDER BY avg({{}}) {{}} NULLS LAST, text LIMIT 1"
        )
        orders = {metric: "DESC" if metric == "AP" else "ASC" for metric in METRICS}
        found = {
            m: self._connection.execute(query.format(m, order), keys).fetchone()
            for m, order in orders.items()
        }
        return {metric: json.loads(text) for metric, (text,) in found.items()}

    def results(self) -> Results:
        """Everything that is finished, as tables."""
        columns = ", ".join(f'"{name}"' for name in (*SCORES[:6], *VALUES))
        scores = pd.read_sql_query(
            f"SELECT {columns}, text AS setting FROM score JOIN cell ON cell.key = cell "
            "JOIN setting ON setting.id = score.setting WHERE kind IN ('grid', 'final') AND status = 'done'",
            self._connection,
        )
        if lost := {*SCORES} - {
            *scores
        }:  # SQLite takes the name of a column that is not there for a text
            raise sqlite3.DatabaseError(f"there is no column {min(lost)}")
        for key, details, *parts in self._connection.execute(
            f"SELECT {_IDENTITY} FROM cell"
        ):
            named = dict(
                zip(_IDENTITY.replace('"', "").split(", ")[2:], parts, strict=True)
            )
            if Cell(**named, details=json.loads(details)).key != key:
                raise sqlite3.DatabaseError(
                    f"the piece of work {key} is not what its key says"
                )
        names = (
            ", ".join(f'"{name}"' for name in CELLS[:-1])
            + ", json_extract(versions, '$.device') AS device"
        )
        cells = pd.read_sql_query(
            f'SELECT {names} FROM cell ORDER BY "when", key', self._connection
        )
        query = "SELECT method, dataset, content FROM study JOIN cell ON cell.key = study.cell WHERE status = 'done'"
        studies = {
            (study, data): json.loads(content)
            for study, data, content in self._connection.execute(query)
        }
        # text as categories: half a million rows then take seconds less to group
        scores = scores.astype(
            dict.fromkeys(
                ("protocol", "dataset", "method", "chosen_by", "setting"), "category"
            )
        )
        return Results(self.description(), scores[list(SCORES)], cells, studies)


@contextmanager
def _connected(file: Path, path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a store, after a look at it; what goes wrong with the file meanwhile becomes a sentence."""
    try:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA foreign_keys = ON")
            if connection.execute("PRAGMA user_version").fetchone()[0] > _FORMAT:
                raise InputError(
                    f"{path} was written by a newer mltsk: update mltsk, or choose another folder."
                )
            if (
                found := connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            ) != "ok":
                raise sqlite3.DatabaseError(found)
            yield connection
    except sqlite3.IntegrityError:
        raise
    except (
        sqlite3.DatabaseError,
        pd.errors.DatabaseError,
        json.JSONDecodeError,
        UnicodeDecodeError,
    ) as error:
        cause = error.__cause__ or error
        code = getattr(cause, "sqlite_errorcode", 0)
        if code == sqlite3.SQLITE_NOTADB:
            raise InputError(
                f"{path} is no store of results: move it away, or choose another folder."
            ) from None
        if code & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            ways = "what was finished before is kept, and the same command goes on once there is room"
            raise OSError(
                f"{path} cannot be written, the disk may be full ({cause}): {ways}."
            ) from None
        what = " ".join(str(cause).split())[:200]
        raise InputError(
            f"{path} is damaged ({what}): take a copy of it, or choose another folder."
        ) from None


@contextmanager
def _readable(path: Path) -> Iterator[Path]:
    """The file, or a copy where its folder cannot be written: SQLite writes next to a file even to read it."""
    if os.access(path.parent, os.W_OK) and os.access(path, os.W_OK):
        yield path
        return
    with TemporaryDirectory() as place:
        for file in path.parent.glob(f"{FILE}*"):
            shutil.copyfile(file, Path(place) / file.name)
        yield Path(place) / FILE


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """The file of a folder, which is made if it is not there, for this process alone."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {folder} cannot be made ({error.strerror}): --out takes a folder."
        ) from None
    with closing(
        sqlite3.connect(folder / LOCK, timeout=0, isolation_level=None)
    ) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            raise InputError(
                f"Another run is writing to {folder}: wait for it, or choose another folder."
            ) from None
        except sqlite3.DatabaseError:
            raise InputError(
                f"{folder / LOCK} is no lock of ours: move it away, or choose another folder."
            ) from None
        yield folder / FILE
