"""What the paper prints, as data: Tables I to VI, and known faults of single values.

Data sets go by their names in the catalog (``yeast``), methods by the paper's spelling
(``ML-TSK FS``), metrics by its abbreviations. Tables III, IV and V hold mean and
standard deviation over five folds, rounded to two decimals: in III settings were chosen
by AP, in IV by HL, and in V once for each metric. They were chosen on the folds that
are reported, so the paper's values are somewhat optimistic.

``artefacts.toml`` lists the cells that cannot be compared; each entry says whether that
was shown or is inferred.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from io import StringIO
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import pandas as pd

from ...exceptions import InputError

PlainData = dict[str, Any]  # what JSON and TOML can hold

METRICS = ("AP", "HL", "OE", "RL", "CV")
CONTROL = "ML-TSK FS"
PAPER_METHODS = (
    "ML-kNN",
    "HNOML",
    "MLSF",
    "CC",
    "BR",
    "C2AE",
    "BP-MLL",
    "JBNN",
    CONTROL,
)
RESULT_TABLES = ("III", "IV", "V")
# From this share of tied rows on, a result of ours is called degenerate: then only the
# rule for ties has ranked half of the rows.
DEGENERATE_TIES = 0.5
# Metrics closer than this to those of all-zero scores are taken for the same.
ZERO_MODEL_DISTANCE = 0.005


class PrintedValue(NamedTuple):
    """One printed value: mean, standard deviation, and whether it is bold as best."""

    mean: float
    sd: float
    bold: bool


class Artefact(NamedTuple):
    """Cells of the paper's tables that cannot be compared, and why.

    ``standing`` is "shown" or "inferred".
    """

    tables: frozenset[str]
    datasets: frozenset[str]
    metrics: frozenset[str]
    methods: frozenset[str]
    standing: str
    short: str
    reason: str

    @property
    def note(self) -> str:
        """The footnote."""
        return f"Not comparable ({self.short}, {self.standing}). {self.reason}"

    def covers(self, table: str, dataset: str, metric: str, method: str) -> bool:
        """Whether this is one of the cells."""
        return (
            table in self.tables
            and dataset in self.datasets
            and metric in self.metrics
            and method in self.methods
        )


@cache
def published_table(table: str) -> Mapping[tuple[str, str, str], PrintedValue]:
    """All cells of Table III, IV or V by (data set, metric, method).

    Examples
    --------
    >>> published_table("III")["yeast", "AP", "ML-TSK FS"]
    PrintedValue(mean=0.76, sd=0.01, bold=True)
    >>> len(published_table("V")) == 12 * 5 * 9
    True
    """
    if table not in RESULT_TABLES:
        names = ", ".join(RESULT_TABLES)
        raise InputError(f"The tables of results are {names}, not {table!r}.")
    file = StringIO(read_text("paper_tables.csv"))
    printed = pd.read_csv(file, index_col=["table", "dataset", "metric"])
    texts = printed.loc[table][list(PAPER_METHODS)].stack()
    numbers = texts.str.extract(r"^(\d\.\d\d)\((\d\.\d\d)\)(\*?)$")
    values = {}
    for place, mean, sd, star in numbers.itertuples():
        values[place] = PrintedValue(float(mean), float(sd), bold=star == "*")
    return MappingProxyType(values)


def printed_means(table: str, metric: str) -> pd.DataFrame:
    """Printed means of one metric, data sets by methods."""
    cells = published_table(table)
    means = {}
    for method in PAPER_METHODS:
        means[method] = {name: cells[name, metric, method].mean for name in table_i()}
    return pd.DataFrame(means)


@cache
def table_i() -> Mapping[str, tuple[int, int, int]]:
    """Table I: numbers of samples, features and labels of each data set.

    Examples
    --------
    >>> table_i()["yeast"]
    (2417, 103, 14)
    """
    shapes = {}
    for name, (n, d, k) in read_toml("paper.toml")["table_i"].items():
        shapes[name] = (n, d, k)
    return MappingProxyType(shapes)


def grid(method: str = CONTROL) -> dict[str, list[Any]]:
    """Table II: the ranges of a method's grid search, in the paper's symbols.

    Examples
    --------
    >>> grid()["h"]
    [0.1, 1.0, 10.0, 100.0]
    """
    grids = read_toml("paper.toml")["table_ii"]
    if method not in grids:
        names = ", ".join(grids)
        raise InputError(f"Table II has no method {method!r}; it has {names}.")
    return {symbol: list(values) for symbol, values in grids[method].items()}


@cache
def table_vi() -> SimpleNamespace:
    """Table VI: ``F`` by metric, its ``critical_value`` and ``critical_difference``.

    Examples
    --------
    >>> table_vi().F["AP"]
    15.01
    """
    return SimpleNamespace(**read_toml("paper.toml")["table_vi"])


@cache
def artefacts() -> tuple[Artefact, ...]:
    """Everything that is known to be wrong with printed cells."""
    every = {
        "tables": RESULT_TABLES,
        "datasets": table_i(),
        "metrics": METRICS,
        "methods": PAPER_METHODS,
    }
    entries = []
    for entry in read_toml("artefacts.toml")["artefact"]:
        fields = dict(entry)
        for name, all_names in every.items():
            names = all_names if entry[name] == "*" else entry[name]
            fields[name] = frozenset(names)
        entries.append(Artefact(**fields))
    return tuple(entries)


def artefacts_of(
    table: str, dataset: str, metric: str, method: str
) -> tuple[Artefact, ...]:
    """What is wrong with one printed cell; empty when nothing is known to be."""
    place = (table, dataset, metric, method)
    return tuple(artefact for artefact in artefacts() if artefact.covers(*place))


def explanation(method: str, dataset: str) -> tuple[str, str] | None:
    """Why a method's results differ from Table III, and the page of the docs about it.

    None where no reason is known.
    """
    for entry in read_toml("artefacts.toml")["explanation"]:
        if method in entry["methods"] and dataset in entry["datasets"]:
            return entry["text"], entry["page"]
    return None


def zero_model(dataset: str) -> dict[str, float]:
    """The five metrics of all-zero scores on a data set, in the authors' convention.

    Empty where they are not known.
    """
    values = read_toml("artefacts.toml")["zero_model"].get(dataset)
    if values is None:
        return {}
    return dict(zip(METRICS, values, strict=True))


def degenerate(dataset: str, means: Mapping[str, float], tied: float) -> str | None:
    """Why a chosen setting of our own is not a model worth the name; None when it is.

    ``means`` are its metrics in the authors' convention, as far as they are known;
    ``tied`` is the share of test rows whose scores are all the same.
    """
    if tied >= DEGENERATE_TIES:
        return f"Degenerate: {100 * tied:.0f} % of test rows have nothing but ties."
    zero = zero_model(dataset)
    for metric in ("AP", "RL"):
        if metric not in zero or metric not in means:
            return None
        if not abs(means[metric] - zero[metric]) < ZERO_MODEL_DISTANCE:
            return None
    values = f"{zero['AP']:.3f} and {zero['RL']:.3f}"
    return f"Degenerate: AP and RL are those of all-zero scores ({values})."


@cache
def read_toml(name: str) -> PlainData:
    """A TOML file of this folder."""
    return tomllib.loads(read_text(name))


def read_text(name: str) -> str:
    """A file of this folder as text."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
