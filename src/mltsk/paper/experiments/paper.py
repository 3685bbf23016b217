"""What the paper prints, as data: Tables I to VI.

Data sets go by their names in the catalog (``yeast``), methods by the paper's spelling (``ML-TSK FS``), metrics by
its abbreviations. Tables III, IV and V hold mean and standard deviation over five folds, rounded to two decimals: in
III settings were chosen by AP, in IV by HL, and in V once for each metric. They were chosen on the folds that are
reported, so the paper's values are somewhat optimistic.
"""

import csv
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

from ...exceptions import InputError

METRICS = ("AP", "HL", "OE", "RL", "CV")
METHODS = ("ML-kNN", "HNOML", "MLSF", "CC", "BR", "C2AE", "BP-MLL", "JBNN", "ML-TSK FS")
TABLES = ("III", "IV", "V")

# The paper's symbols and the names of the same things in `PaperMLTSK`.
_PUBLIC_NAMES = {
    "K": "n_rules",
    "h": "width_scale",
    "alpha": "correlation_weight",
    "beta": "l1_weight",
    "gamma": "init_ridge",
}

_CELL = re.compile(r"(\d\.\d\d)\((\d\.\d\d)\)(\*?)")


class Cell(NamedTuple):
    """One printed value: mean, standard deviation, and whether the paper sets it in bold as the best."""

    mean: float
    sd: float
    bold: bool


class FriedmanTable(NamedTuple):
    """Table VI: F of each metric, and the constants of the two tests."""

    F: Mapping[str, float]
    critical_value: float
    n_methods: int
    n_datasets: int
    q_alpha: float
    critical_difference: float


def published(table: str, dataset: str, method: str = "ML-TSK FS") -> dict[str, Cell]:
    """The five printed values of one method on one data set.

    Parameters
    ----------
    table : {"III", "IV", "V"}
    dataset : str
        Name in the catalog.
    method : str
        One of `METHODS`.

    Examples
    --------
    >>> published("III", "yeast")["AP"]
    Cell(mean=0.76, sd=0.01, bold=True)
    """
    cells = published_table(table)
    if (dataset, "AP", method) not in cells:
        raise InputError(f"Table {table} has no data set {dataset!r} with a method {method!r}.")
    return {metric: cells[dataset, metric, method] for metric in METRICS}


@cache
def published_table(table: str) -> Mapping[tuple[str, str, str], Cell]:
    """All cells of Table III, IV or V by (data set, metric, method).

    Examples
    --------
    >>> len(published_table("V")) == 12 * 5 * 9
    True
    """
    if table not in TABLES:
        raise InputError(f"The tables of results are {', '.join(TABLES)}, not {table!r}.")
    rows = csv.DictReader(_text("paper_tables.csv").splitlines())
    cells = {
        (row["dataset"], row["metric"], method): _cell(row[method])
        for row in rows
        if row["table"] == table
        for method in METHODS
    }
    return MappingProxyType(cells)


@cache
def table_i() -> Mapping[str, tuple[int, int, int]]:
    """Table I: numbers of samples, features and labels of each data set.

    Examples
    --------
    >>> table_i()["yeast"]
    (2417, 103, 14)
    """
    return MappingProxyType({name: (n, d, k) for name, (n, d, k) in _toml()["table_i"].items()})


def grid(method: str = "ML-TSK FS") -> dict[str, list[Any]]:
    """Table II: the ranges of a method's grid search, in the paper's symbols.

    Examples
    --------
    >>> grid()["h"]
    [0.1, 1.0, 10.0, 100.0]
    """
    grids = _toml()["table_ii"]
    if method not in grids:
        raise InputError(f"Table II has no method {method!r}; it has {', '.join(grids)}.")
    return {symbol: list(values) for symbol, values in grids[method].items()}


def estimator_grid() -> dict[str, list[Any]]:
    """Table II of ML-TSK FS by the parameters of `PaperMLTSK`, as `GridSearchCV` takes it.

    Examples
    --------
    >>> list(estimator_grid())
    ['n_rules', 'width_scale', 'correlation_weight', 'l1_weight', 'init_ridge']
    """
    return {_PUBLIC_NAMES[symbol]: values for symbol, values in grid().items()}


@cache
def table_vi() -> FriedmanTable:
    """Table VI and the critical difference that the paper derives after it.

    Examples
    --------
    >>> table_vi().F["AP"]
    15.01
    """
    values = dict(_toml()["table_vi"])
    return FriedmanTable(F=MappingProxyType(values.pop("F")), **values)


def _cell(text: str) -> Cell:
    match = _CELL.fullmatch(text)
    assert match is not None, text
    return Cell(float(match[1]), float(match[2]), match[3] == "*")


@cache
def _toml() -> dict[str, Any]:
    return tomllib.loads(_text("paper.toml"))


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
