"""What is known to be wrong with single printed values, and how degenerate results of our own are told.

The list itself is data, ``artefacts.toml``; each entry says whether it was shown or is inferred.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from .paper import METHODS, METRICS, TABLES, table_i

# A result of ours is called degenerate from here on: half of the rows were ranked by nothing but the rule for ties.
DEGENERATE_TIES = 0.5
# From here on ties are named beside a one-error, which they improve: a share x lowers an error e by about x·e.
NOTED_TIES = 0.01


@dataclass(frozen=True)
class Artefact:
    """Cells of the paper's tables that cannot be compared.

    Attributes
    ----------
    tables, methods, metrics, datasets : frozenset of str
    standing : {"shown", "inferred"}
    short : str
        A few words.
    reason : str
        One or two sentences.
    """

    tables: frozenset[str]
    methods: frozenset[str]
    metrics: frozenset[str]
    datasets: frozenset[str]
    standing: str
    short: str
    reason: str

    def concerns(self, table: str, dataset: str, metric: str, method: str) -> bool:
        """Whether a printed cell is among these."""
        return table in self.tables and dataset in self.datasets and metric in self.metrics and method in self.methods

    @property
    def note(self) -> str:
        """The footnote."""
        return f"Not comparable ({self.short}, {self.standing}). {self.reason}"


@cache
def artefacts() -> tuple[Artefact, ...]:
    """The whole list.

    Examples
    --------
    >>> {artefact.standing for artefact in artefacts()} == {"shown", "inferred"}
    True
    """
    return tuple(_artefact(entry) for entry in _toml()["artefact"])


def artefacts_of(table: str, dataset: str, metric: str, method: str) -> tuple[Artefact, ...]:
    """What is wrong with one printed cell; empty when nothing is known to be.

    Examples
    --------
    >>> [a.short for a in artefacts_of("V", "scene", "OE", "ML-TSK FS")]
    ['tied scores']
    >>> artefacts_of("III", "scene", "OE", "ML-TSK FS")
    ()
    """
    return tuple(artefact for artefact in artefacts() if artefact.concerns(table, dataset, metric, method))


def explanation(method: str, dataset: str) -> tuple[str, str] | None:
    """Why a method's results differ from Table III, and the page of the docs that shows it; None where unknown."""
    for entry in _toml()["explanation"]:
        if method in entry["methods"] and dataset in entry["datasets"]:
            return entry["text"], entry["page"]
    return None


@cache
def zero_model(dataset: str) -> Mapping[str, float] | None:
    """The five metrics of all-zero scores on a data set, in the authors' convention; None where not known.

    Examples
    --------
    >>> zero_model("yeast")["AP"]
    0.4132
    """
    values = _toml()["zero_model"].get(dataset)
    return None if values is None else MappingProxyType(dict(zip(METRICS, values, strict=True)))


def degenerate(dataset: str, means: Mapping[str, float], tied: float) -> str | None:
    """Why a chosen setting of our own is not a model worth the name; None when it is.

    Parameters
    ----------
    dataset : str
    means : mapping
        The five metrics of the setting, as far as known, in the authors' convention.
    tied : float
        Share of test rows whose scores are all the same.

    Examples
    --------
    >>> degenerate("yeast", {"AP": 0.7}, tied=0.0) is None
    True
    >>> degenerate("yeast", {"AP": 0.7}, tied=0.75)
    'Degenerate: 75 % of test rows have nothing but ties.'
    """
    if tied >= DEGENERATE_TIES:
        return f"Degenerate: {100 * tied:.0f} % of test rows have nothing but ties."
    zero = zero_model(dataset)
    if zero and {"AP", "RL"} <= set(means) and all(abs(means[m] - zero[m]) < 0.005 for m in ("AP", "RL")):
        return f"Degenerate: AP and RL are those of all-zero scores ({zero['AP']:.3f} and {zero['RL']:.3f})."
    return None


def _artefact(entry: Mapping[str, Any]) -> Artefact:
    every: dict[str, Sequence[str]] = {
        "tables": TABLES,
        "methods": METHODS,
        "metrics": METRICS,
        "datasets": tuple(table_i()),
    }
    sets = {key: frozenset(known if entry[key] == "*" else entry[key]) for key, known in every.items()}
    return Artefact(**sets, standing=entry["standing"], short=entry["short"], reason=entry["reason"])


@cache
def _toml() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("artefacts.toml").read_text(encoding="utf-8"))
