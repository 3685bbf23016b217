"""Data sets and tables, and their fixed folds.

A row's fold (1 to 5) is its place, modulo 5, in a permutation of the rows that NumPy
promises never to change; rows that belong together have one place. No choice of ours
has seen these folds.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.tables import encoding
from mltsk import load_dataset
from mltsk.exceptions import InputError

from .fits.fold import Fold

SEED = 2026
N_FOLDS = 5
DENSE = ("flags", "emotions", "cal500", "birds", "image", "yeast", "scene")
SPARSE = ("rcv1s1", "bibtex", "corel16k1", "20ng")
# Labels, columns that are left out, and the column of rows that belong together.
TABLES: dict[str, tuple[list[str], list[str], str | None]] = {
    "pbc": (["ascites", "hepatomegaly", "spiders", "edema"], ["patient"], None),
    "nhefs": ([], ["seqn"], None),  # from asthma on, see labels_of
    "pbcseq": (["ascites", "hepatomegaly", "spiders", "edema"], ["patient"], "patient"),
    "visits": (
        ["out of work", "self employed", "doctor", "many visits", "hospital"],
        ["person"],
        "person",
    ),
    "stops": (
        ["person searched", "vehicle searched", "citation"],
        ["stop", "date"],
        None,
    ),
    "crashes": (["dead", "belted", "deployed"], ["case"], "case"),
}
FIRST_OF_NHEFS = "asthma"
YES_AND_NO = {"yes": 1, "YES": 1, "no": 0, "NO": 0}
NAMES = (*DENSE, *SPARSE, *TABLES)
# Rows from which on one fold is measured by default, where smaller sets have two.
LARGE_ROWS = 2_000


@dataclass(frozen=True)
class Task:
    """A data set: rows, labels with NaN where they were not observed, and folds."""

    name: str
    X: Any
    Y: np.ndarray
    groups: np.ndarray | None = None

    @property
    def kind(self) -> str:
        if self.name in TABLES:
            return "table"
        return "sparse" if self.name in SPARSE else "dense"

    @property
    def default_folds(self) -> int:
        return 1 if len(self.Y) > LARGE_ROWS else 2

    @cached_property
    def fold_numbers(self) -> np.ndarray:
        """Of each row, the fold (1 to 5) in which it is predicted."""
        if self.groups is None:
            return fold_numbers(len(self.Y))
        _, codes = np.unique(self.groups, return_inverse=True)
        return fold_numbers(codes.max() + 1)[codes]

    def fold(self, number: int) -> "TaskFold":
        return TaskFold(self, number)


def fold_numbers(n: int) -> np.ndarray:
    """The fold of each of n things."""
    numbers = np.empty(n, dtype=int)
    numbers[np.random.RandomState(SEED).permutation(n)] = np.arange(n) % N_FOLDS + 1
    return numbers


@dataclass(frozen=True)
class TaskFold:
    """Rows to learn from (X, Y, groups) and to predict (X_test, Y_test, rows)."""

    task: Task
    number: int

    @property
    def name(self) -> str:
        return f"{self.task.name}, fold {self.number}"

    @cached_property
    def rows(self) -> np.ndarray:
        """Places of the rows to predict, counted from 0."""
        return np.flatnonzero(self.task.fold_numbers == self.number)

    @cached_property
    def learned_rows(self) -> np.ndarray:
        return np.flatnonzero(self.task.fold_numbers != self.number)

    @property
    def X(self) -> Any:
        return _rows_of(self.task.X, self.learned_rows)

    @property
    def Y(self) -> np.ndarray:
        return self.task.Y[self.learned_rows]

    @property
    def groups(self) -> np.ndarray | None:
        groups = self.task.groups
        return None if groups is None else groups[self.learned_rows]

    @property
    def X_test(self) -> Any:
        return _rows_of(self.task.X, self.rows)

    @property
    def Y_test(self) -> np.ndarray:
        return self.task.Y[self.rows]

    def as_arrays(self) -> Fold:
        """The fold as every environment can read it."""
        X = self.X
        X_test = self.X_test
        groups = self.groups
        if groups is not None:
            groups = np.unique(groups, return_inverse=True)[1]
        if not isinstance(X, pd.DataFrame):
            return Fold(numbers=X, numbers_test=X_test, Y=self.Y, groups=groups)
        encoder = encoding().fit(X)
        return Fold(
            numbers=encoder.transform(X),
            numbers_test=encoder.transform(X_test),
            Y=self.Y,
            groups=groups,
            cells=X,
            cells_test=X_test,
        )


def fixed_folds(*names: str) -> Iterator[TaskFold]:
    """The folds that are measured by default, of these data sets or of all."""
    for name in names or NAMES:
        task = read_task(name)
        for number in range(1, task.default_folds + 1):
            yield task.fold(number)


def read_task(name: str) -> Task:
    """A data set by its name."""
    if name not in NAMES:
        raise InputError(
            f"There is no data set {name!r} here; there are {', '.join(NAMES)}."
        )
    if name in TABLES:
        return _read_table(name)
    path = data_folder() / f"{name}.npz"
    if not path.is_file():
        path = data_folder() / "large" / f"{name}.npz"
    data = load_dataset(path)
    X = data.X.astype(float) if name in SPARSE else np.asarray(data.X, dtype=float)
    return Task(name=name, X=X, Y=np.asarray(data.Y, dtype=float))


def _read_table(name: str) -> Task:
    labels, left_out, group = TABLES[name]
    folder = data_folder() / "tables"
    path = next(folder.glob(f"{name}.csv*"), folder / f"{name}.csv")
    frame = pd.read_csv(path)
    if not labels:
        labels = list(frame.columns[frame.columns.get_loc(FIRST_OF_NHEFS) :])
    Y = frame[labels].replace(YES_AND_NO).to_numpy(dtype=float)
    groups = None if group is None else frame[group].to_numpy().astype(str)
    X = frame.drop(columns=labels + left_out)
    return Task(name=name, X=X, Y=Y, groups=groups)


def data_folder() -> Path:
    folder = os.environ.get("MLTSK_DATA")
    if not folder:
        raise InputError(
            "MLTSK_DATA names no folder with the data sets: set it to one."
        )
    return Path(folder)


def _rows_of(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]
