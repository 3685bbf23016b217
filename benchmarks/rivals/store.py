"""What was measured, in a folder of plain files that a later run goes on with.

``folds/DATA.csv`` has the fold of every row, ``predictions/METHOD/DATA.fold1.npz`` what
a method says about the rows of a fold (``rows``, counted from 0, and ``probabilities``,
a row for each and a column per label), ``cells/METHOD/DATA.fold1.json`` what that cost.
Predictions of a stranger need no cell. A cell appears whole, after its predictions.
"""

import csv
import json
import os
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from mltsk.exceptions import InputError

from .data import Task, TaskFold
from .fits import METHODS

DONE = "done"
OVER = "over"  # a limit of time or memory
REFUSED = "refused"  # by the method, which does not take such data
FAILED = "failed"


@dataclass(frozen=True)
class Cell:
    """One method on one fold; times are processor seconds."""

    method: str
    data: str
    fold: int
    version: str
    status: str
    why: str = ""
    limit_s: float = 0.0
    fit_s: float = float("nan")
    predict_s: float = float("nan")
    peak_mb: float = float("nan")
    size: float = float("nan")


class Store:
    """The folder, and what is in it."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def cell(self, method: str, fold: TaskFold) -> Cell | None:
        """What is known of a method on a fold, or None."""
        path = self._path("cells", method, fold, "json")
        if not path.is_file():
            return None
        try:
            return Cell(**json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise InputError(
                f"{path} is no cell of this benchmark ({error}): delete it, and the "
                "next run measures it again."
            ) from error

    def is_settled(
        self, method: str, fold: TaskFold, version: str, limit_s: float
    ) -> bool:
        """Whether there is nothing to measure: same version, no larger limit."""
        cell = self.cell(method, fold)
        if cell is None or cell.version != version or cell.status == FAILED:
            return False
        return cell.status != OVER or cell.limit_s >= limit_s

    def add(self, cell: Cell, fold: TaskFold, probabilities: np.ndarray | None) -> None:
        """Keep a cell, and the predictions where there are any."""
        if probabilities is None:
            self._path("predictions", cell.method, fold, "npz").unlink(missing_ok=True)
        else:
            self._write(cell.method, fold, probabilities)
        path = self._path("cells", cell.method, fold, "json")
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(asdict(cell), indent=1), encoding="utf-8")
        os.replace(unfinished, path)

    def write_predictions(
        self, method: str, fold: TaskFold, probabilities: np.ndarray
    ) -> Path:
        """Write what a method of your own says about the rows of a fold; the file.

        Its name is that of a folder, and none of the methods that are measured here.
        """
        if method in METHODS:
            raise InputError(
                f"{method!r} is a method that is measured here: call yours otherwise."
            )
        is_plain = Path(method).name == method and "\\" not in method
        if not is_plain or not method.strip(" ."):
            raise InputError(
                f"A method cannot be called {method!r}: its name is that of a folder."
            )
        return self._write(method, fold, probabilities)

    def _write(self, method: str, fold: TaskFold, probabilities: np.ndarray) -> Path:
        chances = _checked(probabilities, fold, f"Predictions of {method}")
        path = self._path("predictions", method, fold, "npz")
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        with unfinished.open("wb") as file:
            np.savez_compressed(
                file, rows=fold.rows, probabilities=chances.astype(np.float32)
            )
        os.replace(unfinished, path)
        return path

    def predictions(self, method: str, fold: TaskFold) -> np.ndarray | None:
        """Probabilities in the order of the fold's rows, or None; checked."""
        path = self._path("predictions", method, fold, "npz")
        if path.is_file():
            return _read_npz(path, fold)
        path = path.with_suffix(".csv")
        return _read_csv(path, fold) if path.is_file() else None

    def methods(self) -> list[str]:
        """Names of all methods that left something here."""
        folders = [*self.folder.glob("cells/*/"), *self.folder.glob("predictions/*/")]
        return sorted({folder.name for folder in folders})

    def write_folds(self, task: Task) -> None:
        """Write the fold of every row, for those who read no Python."""
        path = self.folder / "folds" / f"{task.name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"{row},{fold}" for row, fold in enumerate(task.fold_numbers)]
        path.write_text("\n".join(["row,fold", *lines]) + "\n", encoding="utf-8")

    def _path(self, part: str, method: str, fold: TaskFold, ending: str) -> Path:
        name = f"{fold.task.name}.fold{fold.number}.{ending}"
        return self.folder / part / method / name


def _read_npz(path: Path, fold: TaskFold) -> np.ndarray:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path} cannot be read as plain arrays of NumPy: write it with "
            "numpy.savez."
        ) from error
    missing = sorted({"rows", "probabilities"} - set(arrays))
    if missing:
        raise InputError(
            f"{path} has no array {missing[0]!r}: it must have 'rows' and "
            "'probabilities'."
        )
    return _ordered(path, fold, arrays["rows"], arrays["probabilities"])


def _read_csv(path: Path, fold: TaskFold) -> np.ndarray:
    """A header, then per line the place of a row and a probability per label."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = list(csv.reader(file))[1:]
        numbers = np.array([[float(cell) for cell in line] for line in lines])
        rows, chances = numbers[:, 0], numbers[:, 1:]
    except (ValueError, IndexError) as error:
        raise InputError(
            f"{path} is no table of numbers under one line of names: a row's place "
            "comes first, then a probability per label."
        ) from error
    return _ordered(path, fold, rows, chances)


def _ordered(
    path: Path, fold: TaskFold, rows: np.ndarray, chances: np.ndarray
) -> np.ndarray:
    order = np.argsort(rows, kind="stable")
    if not np.array_equal(np.asarray(rows)[order], fold.rows):
        raise InputError(
            f"{path} is not about the rows of {fold.name}: folds/{fold.task.name}.csv "
            f"lists the {len(fold.rows)} rows that it has to predict, counted from 0."
        )
    return _checked(chances[order], fold, str(path))


def _checked(chances: np.ndarray, fold: TaskFold, what: str) -> np.ndarray:
    """Probabilities, refused with a sentence where they are none."""
    chances = np.asarray(chances, dtype=float)
    expected = (len(fold.rows), fold.task.Y.shape[1])
    if chances.shape != expected:
        raise InputError(
            f"{what}: {fold.name} wants probabilities of shape {expected}, a row for "
            f"each row and a column per label; these have shape {chances.shape}."
        )
    outside = ~((chances >= 0) & (chances <= 1))
    if outside.any():
        row, label = np.argwhere(outside)[0]
        raise InputError(
            f"{what}: probabilities lie between 0 and 1; that of row "
            f"{fold.rows[row]} and label {label + 1} of {fold.name} is "
            f"{chances[row, label]}."
        )
    return chances
