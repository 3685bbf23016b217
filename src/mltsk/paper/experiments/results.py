"""What an experiment left behind, and which setting of a grid is reported.

All tables and pages are made from it.

Tables III and IV choose settings by AP and by HL, Table V "each" metric by itself.
Under the protocols `paper` and `strict` the best mean over the reported folds wins,
which is optimistic; under `nested` inner folds have chosen already, once per fold.

With several seeds the mean is that of the seeds' fold means, and the standard deviation
(n - 1) is over all folds of all seeds. Only settings that have finished as many folds
as any other setting of the same method may win; one whose mean is not a number never
does. Means closer than 1e-12 are equal, and then the first setting in the order of the
grid wins, so that a rerun chooses the same.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import pandas as pd

from ...tables.report import cut
from .published import METRICS, PAPER_METHODS, PlainData, table_i

SCORE_COLUMNS = (
    "protocol",
    "dataset",
    "method",
    "seed",
    "fold",
    "chosen_by",
    "setting",
    *METRICS,
    "tied",
)
CELL_COLUMNS = (
    *SCORE_COLUMNS[:5],
    "part",
    "status",
    "error",
    "seconds",
    "cpu_seconds",
    "when",
    "device",
)
PROTOCOLS = ("paper", "strict", "nested")  # the most lenient first
CHOICES = ("AP", "HL", "each")
# What a step from a lenient protocol to a stricter one takes away, see `worths`.
WORTH = {
    ("paper", "strict"): "leak",
    ("strict", "nested"): "selection",
    ("paper", "nested"): "both",
}
ERROR_WIDTH = 300  # characters of an error that are shown
_PAIR = ["dataset", "method"]
# Statistics of a data set and method for which no setting is chosen.
_NOTHING: PlainData = {"setting": "", "n_settings": 0, "tied": np.nan, "folds": 0}

Statistics = dict[tuple[str, str], PlainData]  # by data set and method


@dataclass(frozen=True, eq=False)
class Results:
    """Everything that a run has finished so far; `Store.results` reads it.

    ``run`` describes it, as plain data::

        {"command": str, "created": str, "machine": str,
         "versions": {"mltsk": …, "numpy": …},
         "grid": "paper" | "fast" | "authors", "convention": "paper" | "standard",
         "n_folds": 5, "protocols": ["paper", …], "seeds": [0, …],
         "datasets": {name: {"title": str, "samples": int, "features": int,
                             "labels": int, "cardinality": float, "density": float,
                             "empty": int, "full": int}},
         "missing": {name: reason},
         "methods": {key: {"title": str,
                           "paper": name in the paper's tables or None,
                           "class": import path, "params": {…},
                           "grid": {parameter: [values]}, "settings": int}}}

    ``scores`` has the columns `SCORE_COLUMNS`, and a row per setting, fold and seed:
    ``setting`` is canonical JSON of the parameters, ``tied`` the share of test rows
    whose scores are all the same, which some metrics reward, ``chosen_by`` under
    `nested` the metric by which inner folds chose the setting, and empty where settings
    are yet to be chosen. ``cells`` has the columns `CELL_COLUMNS`, and a row per piece
    of work: ``status`` is "done" or "failed", ``error`` says why. ``studies`` are plain
    data by (name of the study, data set), see `mltsk.paper.experiments.studies`.
    """

    run: PlainData
    scores: pd.DataFrame
    cells: pd.DataFrame
    studies: Mapping[tuple[str, str], PlainData]

    @cached_property
    def datasets(self) -> list[str]:
        """Data sets of the run: those of the paper in its order, then the others."""
        order = [*table_i(), *self.run["datasets"]]
        return sorted(self.run["datasets"], key=order.index)

    @cached_property
    def methods(self) -> list[str]:
        """Methods of the run: the paper's in the order of its columns, then others.

        Each stands before its variants.
        """
        order = [*PAPER_METHODS, ""]

        def place(key: str) -> tuple[int, bool]:
            return order.index(self.column(key)), bool(self.variant_of(key))

        return sorted(self.run["methods"], key=place)

    @property
    def protocols(self) -> list[str]:
        """Protocols of the run, the most lenient first."""
        return [name for name in PROTOCOLS if name in self.run["protocols"]]

    @property
    def protocol_pairs(self) -> list[tuple[str, str]]:
        """Pairs of a lenient protocol and a stricter one; neighbours first."""
        return [pair for pair in WORTH if set(pair) <= set(self.protocols)]

    @property
    def main_protocol(self) -> str:
        """The protocol that is compared with the paper: its own where it was run."""
        if "paper" in self.run["protocols"]:
            return "paper"
        return str(self.run["protocols"][0])

    def paper_name(self, method: str) -> str:
        """A method's name in the paper's tables; empty if they do not have it."""
        name = self.run["methods"][method].get("paper")
        return name if name in PAPER_METHODS else ""

    def variant_of(self, method: str) -> str:
        """The method of which this one is another reading; empty for an original."""
        return self.run["methods"][method].get("variant_of") or ""

    def column(self, method: str) -> str:
        """The column of the paper's tables with which a method is compared.

        A variant is compared with the column of its original.
        """
        original = self.variant_of(method)
        return self.paper_name(original if original in self.run["methods"] else method)

    def title(self, method: str) -> str:
        """What a method is called in print."""
        return self.run["methods"][method].get("title") or method

    def dataset_title(self, dataset: str) -> str:
        """What a data set is called in print."""
        return self.run["datasets"].get(dataset, {}).get("title") or dataset

    @cached_property
    def choices(self) -> dict[tuple[str, str], pd.DataFrame]:
        """Mean and spread of the five metrics for the chosen settings.

        Frames are found by (protocol, one of `CHOICES`). A frame has one row per data
        set, method and metric, in the order of `datasets` and `methods`. ``setting`` is
        canonical JSON (under `nested` the one chosen most often), ``n_settings`` how
        many it was chosen among (under `nested`: how many different ones were chosen),
        ``means`` all five metrics of it, ``tied`` the share of test rows with equal
        scores, ``folds`` and ``expected`` count folds of all seeds, ``failed`` those
        with an error. ``status`` is "done", "partial" (folds or work are missing),
        "failed" (nothing but errors), "missing", or "left out" of a pair of data set
        and method that the run was never to have under this protocol.
        """
        frames = {}
        for protocol in self.run["protocols"]:
            chosen = _chosen(self, protocol)
            for by in CHOICES:
                frames[protocol, by] = _choice_frame(self, protocol, by, chosen)
        return frames

    def of_metric(self, protocol: str, by: str, metric: str) -> pd.DataFrame:
        """The rows of `choices` that are about one metric."""
        frame = self.choices[protocol, by]
        return frame[frame["metric"] == metric]

    def finished(self, protocol: str, by: str, metric: str) -> pd.DataFrame:
        """Means of one metric, data sets by methods; NaN where folds are missing."""
        frame = self.of_metric(protocol, by, metric)
        complete = frame[frame["folds"] >= frame["expected"]]
        means = complete.pivot(index="dataset", columns="method", values="mean")
        return means.reindex(index=self.datasets, columns=self.methods)


def worths(results: Results, pair: tuple[str, str], by: str = "each") -> pd.DataFrame:
    """How much better the first protocol looks than the second.

    ``gain`` is given by data set, method and metric. `paper` against `strict` is the
    leak (scaling and clustering saw the test rows) together with the fold slicing;
    `strict` against `nested` is the choice of settings on the reported folds. A
    positive gain means that the more lenient protocol looks better, whatever the
    direction of the metric.
    """
    keys = [*_PAIR, "metric"]
    lenient, strict = (results.choices[protocol, by] for protocol in pair)
    both = lenient[lenient["status"] == "done"].merge(
        strict[strict["status"] == "done"], on=keys, suffixes=("", "_strict")
    )
    direction = np.where(both["metric"] == "AP", 1, -1)
    gain = (both["mean"] - both["mean_strict"]) * direction
    return both[keys].assign(gain=gain).dropna()


def _chosen(results: Results, protocol: str) -> dict[str, Statistics]:
    """Statistics of the chosen setting's rows, by the metric that chooses."""
    scores = results.scores[(results.scores["protocol"] == protocol).to_numpy()].copy()
    for metric in METRICS:
        # infinite where it is not a number, which pandas would leave out of a mean
        scores[metric] = scores[metric].astype(float).fillna(np.inf)
    if protocol == "nested":
        return _chosen_by_inner_folds(scores)
    return _chosen_on_reported_folds(scores, results)


def _chosen_by_inner_folds(scores: pd.DataFrame) -> dict[str, Statistics]:
    """Each metric takes the rows that it chose, or all where there was no choice."""
    by = scores["chosen_by"].astype(object).fillna("")
    pairs = [scores[key] for key in _PAIR]
    had_choice = (by != "").groupby(pairs, observed=True).transform("any")
    chosen = {}
    for metric in METRICS:
        chosen[metric] = _statistics(scores[(by == metric) | ~had_choice])
    return chosen


def _chosen_on_reported_folds(
    scores: pd.DataFrame, results: Results
) -> dict[str, Statistics]:
    """Each metric takes the rows of the setting with its best mean."""
    keys = [*_PAIR, "setting"]
    folds = scores.groupby(keys, observed=True, sort=False).size()
    complete = folds == folds.groupby(level=_PAIR, observed=True).transform("max")
    means = _seed_means(scores, keys).loc[complete[complete].index]
    n_settings = means.groupby(level=_PAIR, observed=True).size()
    settings_of_rows = pd.MultiIndex.from_frame(scores[keys])
    chosen = {}
    for metric in METRICS:
        winners = _best_settings(means[metric], metric, results)
        statistics = _statistics(scores[settings_of_rows.isin(winners)])
        for pair, row in statistics.items():
            row["n_settings"] = int(n_settings[pair])
        chosen[metric] = statistics
    return chosen


def _best_settings(
    means: pd.Series, metric: str, results: Results
) -> list[tuple[str, str, str]]:
    """The best (data set, method, setting) of each data set and method."""

    def place(candidate: tuple[str, str, str]) -> tuple[list[int], str]:
        _, method, setting = candidate
        return _place_in_grid(setting, results.run["methods"].get(method, {}))

    loss = metric_loss(means, metric, decimals=12)
    loss = loss[np.isfinite(loss)]
    best = loss[loss == loss.groupby(level=_PAIR, observed=True).transform("min")]
    groups = best.groupby(level=_PAIR, observed=True)
    return [min(equal.index, key=place) for _, equal in groups]


def _place_in_grid(setting: str, method: PlainData) -> tuple[list[int], str]:
    """Where a setting stands in its method's grid, for sorting.

    The first parameter counts most; unknown values come last.
    """
    values = json.loads(setting)
    places = []
    for parameter, choices in (method.get("grid") or {}).items():
        value = values.get(parameter)
        places.append(choices.index(value) if value in choices else len(choices))
    return places, setting


def metric_loss(means: pd.Series, metric: str, *, decimals: int) -> pd.Series:
    """Rounded means of a metric, with a sign that makes the least the best."""
    return means.round(decimals) * (-1 if metric == "AP" else 1)


def _seed_means(scores: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Means over seeds of the means over folds."""
    groups = scores.groupby([*keys, "seed"], observed=True, sort=False)
    by_seed = groups[list(METRICS)].mean()
    return by_seed.groupby(level=keys, observed=True, sort=False).mean()


def _statistics(rows: pd.DataFrame) -> Statistics:
    """Means, spreads, setting, number of settings, share of ties, number of folds."""
    groups = rows.groupby(_PAIR, observed=True, sort=False)
    table = _seed_means(rows, _PAIR).replace(np.inf, np.nan)
    table = table.join(groups[list(METRICS)].std().add_suffix(" sd"))
    table["setting"] = groups["setting"].agg(_most_common)
    table["n_settings"] = groups["setting"].agg(lambda settings: len(set(settings)))
    table["tied"] = groups["tied"].mean()
    table["folds"] = groups.size()
    return table.to_dict("index")


def _most_common(settings: pd.Series) -> str:
    return Counter(settings).most_common(1)[0][0]


def _choice_frame(
    results: Results, protocol: str, by: str, chosen: Mapping[str, Statistics]
) -> pd.DataFrame:
    """One frame of `Results.choices`."""
    cells = results.cells
    bad = cells[(cells["protocol"] == protocol) & (cells["status"] == "failed")]
    errors = bad.groupby(_PAIR)["error"].first().to_dict()
    failed_folds = bad.drop_duplicates([*_PAIR, "seed", "fold"])
    failures = failed_folds.groupby(_PAIR).size().to_dict()
    expected = int(results.run["n_folds"]) * len(results.run["seeds"])
    planned = _planned_pairs(results.run, protocol)
    rows = []
    for dataset, method, metric in product(results.datasets, results.methods, METRICS):
        pair = (dataset, method)
        chooser = metric if by == "each" else by
        statistics = chosen[chooser].get(pair, _NOTHING)
        failed = failures.get(pair, 0)
        row = {
            "dataset": dataset,
            "method": method,
            "metric": metric,
            "by": chooser,
            "mean": statistics.get(metric, np.nan),
            "sd": statistics.get(f"{metric} sd", np.nan),
        }
        row |= {name: statistics[name] for name in _NOTHING}
        row["means"] = {
            name: statistics[name] for name in METRICS if name in statistics
        }
        row["expected"] = expected
        row["failed"] = failed
        row["error"] = cut(" ".join(str(errors.get(pair, "")).split()), ERROR_WIDTH)
        is_planned = not planned or pair in planned
        row["status"] = _status(row["folds"], expected, failed, is_planned)
        rows.append(row)
    return pd.DataFrame(rows)


def _planned_pairs(run: PlainData, protocol: str) -> set[tuple[str, str]]:
    """Pairs of data set and method that a run was to have; empty where unknown."""
    places = run.get("planned", ())
    return {(dataset, method) for name, dataset, method in places if name == protocol}


def _status(folds: int, expected: int, failed: int, is_planned: bool) -> str:
    """How far a pair of data set and method is, see `Results.choices`."""
    if folds:
        return "done" if folds >= expected and not failed else "partial"
    if failed:
        return "failed"
    return "missing" if is_planned else "left out"
