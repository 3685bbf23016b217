"""What the paper prints, as data: Tables I to VI; and what is known to be wrong with single printed values.

Data sets go by their names in the catalog (``yeast``), methods by the paper's spelling (``ML-TSK FS``), metrics by
its abbreviations. Tables III, IV and V hold mean and standard deviation over five folds, rounded to two decimals: in
III settings were chosen by AP, in IV by HL, and in V once for each metric. They were chosen on the folds that are
reported, so the paper's values are somewhat optimistic.

``artefacts.toml`` lists the cells that cannot be compared; each entry says whether that was shown or is inferred.
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

METRICS = ("AP", "HL", "OE", "RL", "CV")
METHODS = ("ML-kNN", "HNOML", "MLSF", "CC", "BR", "C2AE", "BP-MLL", "JBNN", "ML-TSK FS")
TABLES = ("III", "IV", "V")
CONTROL = "ML-TSK FS"

# A result of ours is called degenerate from here on: half of the rows were ranked by nothing but the rule for ties.
DEGENERATE_TIES = 0.5


class Cell(NamedTuple):
    """One printed value: mean, standard deviation, and whether the paper sets it in bold as the best."""

    mean: float
    sd: float
    bold: bool


class Artefact(NamedTuple):
    """Cells of the paper's tables that cannot be compared, and why: ``standing`` is "shown" or "inferred"."""

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


def published(table: str, dataset: str, method: str = CONTROL) -> dict[str, Cell]:
    """The five printed values of one of `METHODS` on one data set of the catalog, from Table "III", "IV" or "V".

    Examples
    --------
    >>> published("III", "yeast")["AP"]
    Cell(mean=0.76, sd=0.01, bold=True)
    """
    cells = published_table(table)
    if (dataset, "AP", method) not in cells:
        raise InputError(
            f"Table {table} has no data set {dataset!r} with a method {method!r}."
        )
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
        raise InputError(
            f"The tables of results are {', '.join(TABLES)}, not {table!r}."
        )
    rows = pd.read_csv(
        StringIO(read_text("paper_tables.csv")),
        index_col=["table", "dataset", "metric"],
    ).loc[table]
    parts = (
        rows[list(METHODS)]
        .stack()
        .str.extract(r"^(\d\.\d\d)\((\d\.\d\d)\)(\*?)$")
        .itertuples()
    )
    return MappingProxyType(
        {
            place: Cell(float(mean), float(sd), star == "*")
            for place, mean, sd, star in parts
        }
    )


def printed_means(table: str, metric: str) -> pd.DataFrame:
    """Means by one metric, data sets by methods."""
    cells = published_table(table)
    return pd.DataFrame(
        {m: {d: cells[d, metric, m].mean for d in table_i()} for m in METHODS}
    )


@cache
def table_i() -> Mapping[str, tuple[int, int, int]]:
    """Table I: numbers of samples, features and labels of each data set.

    Examples
    --------
    >>> table_i()["yeast"]
    (2417, 103, 14)
    """
    return MappingProxyType(
        {
            name: (n, d, k)
            for name, (n, d, k) in read_toml("paper.toml")["table_i"].items()
        }
    )


def grid(method: str = CONTROL) -> dict[str, list[Any]]:
    """Table II: the ranges of a method's grid search, in the paper's symbols.

    Examples
    --------
    >>> grid()["h"]
    [0.1, 1.0, 10.0, 100.0]
    """
    grids = read_toml("paper.toml")["table_ii"]
    if method not in grids:
        raise InputError(
            f"Table II has no method {method!r}; it has {', '.join(grids)}."
        )
    return {symbol: list(values) for symbol, values in grids[method].items()}


@cache
def table_vi() -> SimpleNamespace:
    """Table VI: ``F`` by metric, its ``critical_value``, and the ``critical_difference`` that the paper derives.

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
        "tables": TABLES,
        "datasets": table_i(),
        "metrics": METRICS,
        "methods": METHODS,
    }
    found = []
    for entry in read_toml("artefacts.toml")["artefact"]:
        which = {
            name: frozenset(names if entry[name] == "*" else entry[name])
            for name, names in every.items()
        }
        found.append(Artefact(**{**entry, **which}))
    return tuple(found)


def artefacts_of(
    table: str, dataset: str, metric: str, method: str
) -> tuple[Artefact, ...]:
    """What is wrong with one printed cell; empty when nothing is known to be."""
    place = (table, dataset, metric, method)
    return tuple(
        a
        for a in artefacts()
        if all(name in names for name, names in zip(place, a[:4], strict=True))
    )


def explanation(method: str, dataset: str) -> tuple[str, str] | None:
    """Why a method's results differ from Table III, and the page of the docs that shows it; None where unknown."""
    for entry in read_toml("artefacts.toml")["explanation"]:
        if method in entry["methods"] and dataset in entry["datasets"]:
            return entry["text"], entry["page"]
    return None


def zero_model(dataset: str) -> dict[str, float]:
    """The five metrics of all-zero scores on a data set, in the authors' convention; empty where not known."""
    return dict(
        zip(
            METRICS,
            read_toml("artefacts.toml")["zero_model"].get(dataset, ()),
            strict=False,
        )
    )


def degenerate(dataset: str, means: Mapping[str, float], tied: float) -> str | None:
    """Why a chosen setting of our own is not a model worth the name; None when it is.

    ``means`` are its metrics, as far as known, in the authors' convention; ``tied`` is the share of test rows whose
    scores are all the same.
    """
    if tied >= DEGENERATE_TIES:
        return f"Degenerate: {100 * tied:.0f} % of test rows have nothing but ties."
    zero = zero_model(dataset)
    if (
        zero
        and {"AP", "RL"} <= set(means)
        and all(abs(means[m] - zero[m]) < 0.005 for m in ("AP", "RL"))
    ):
        return f"Degenerate: AP and RL are those of all-zero scores ({zero['AP']:.3f} and {zero['RL']:.3f})."
    return None


@cache
def read_toml(name: str) -> dict[str, Any]:
    """A TOML file of this folder."""
    return tomllib.loads(read_text(name))


def read_text(name: str) -> str:
    """A file of this folder as text."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
