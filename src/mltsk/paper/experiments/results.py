"""What an experiment left behind, and which setting of a grid is reported: all that tables and pages are made from.

Tables III and IV choose settings by AP and by HL, Table V "each" metric by itself. Under the protocols `paper` and
`strict` the best mean over the reported folds wins, which is optimistic; under `nested` inner folds have chosen
already, once per fold.

With several seeds the mean is that of the seeds' fold means, and the standard deviation (n - 1) is over all folds of
all seeds. Only settings that have finished as many folds as any other setting of the same method may win; one whose
mean is not a number never does. Means closer than 1e-12 are equal, and then the first setting in the order of the grid
wins, so that a rerun chooses the same.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from .published import METHODS, METRICS, table_i

SCORES = ("protocol", "dataset", "method", "seed", "fold", "chosen_by", "setting", "AP", "HL", "OE", "RL", "CV", "tied")
CELLS = ("protocol", "dataset", "method", "seed", "fold", "part", "status", "error", "seconds", "cpu_seconds", "when")
CHOICES = ("AP", "HL", "each")
_FOUND = ("mean", "sd", "setting", "n_settings", "tied", "folds", "means", "expected", "failed", "error", "status")
_COLUMNS = ("dataset", "method", "metric", "by", *_FOUND)
_PAIR = ["dataset", "method"]


@dataclass(frozen=True, eq=False)
class Results:
    """Everything that a run has finished so far; `Store.results` reads it from a run's folder.

    Attributes
    ----------
    run : mapping
        Description of the run, plain data::

            {"command": str, "created": str, "versions": {"mltsk": …, "numpy": …}, "machine": str,
             "grid": "paper" | "fast" | "authors", "convention": "paper" | "standard", "n_folds": 5,
             "protocols": ["paper", …], "seeds": [0, …],
             "datasets": {name: {"title": str, "samples": int, "features": int, "labels": int,
                                 "cardinality": float, "density": float, "empty": int, "full": int}},
             "missing": {name: reason},
             "methods": {key: {"title": str, "paper": name in the paper's tables or None,
                               "class": import path, "params": {…}, "grid": {parameter: [values]}, "settings": int}}}

    scores : data frame with the columns `SCORES`
        One row per setting, fold and seed. ``setting`` is canonical JSON of the parameters; ``tied`` is the share of
        test rows whose scores are all the same, which some metrics reward. ``chosen_by`` is empty where settings are
        yet to be chosen; under `nested` it names the metric by which inner folds chose the row's setting.
    cells : data frame with the columns `CELLS`
        One row per piece of work: ``status`` is "done" or "failed", then ``error`` says why.
    studies : mapping
        (name of the study, data set) to plain data, see `mltsk.paper.experiments.studies`.
    """

    run: Mapping[str, Any]
    scores: pd.DataFrame
    cells: pd.DataFrame
    studies: Mapping[tuple[str, str], Mapping[str, Any]]

    @cached_property
    def datasets(self) -> list[str]:
        """Data sets of the run: those of the paper in its order, then the others."""
        order = [*table_i(), *self.run["datasets"]]
        return sorted(self.run["datasets"], key=order.index)

    @cached_property
    def methods(self) -> list[str]:
        """Methods of the run: those of the paper in the order of its columns, then the others."""
        order = [*METHODS, ""]
        return sorted(self.run["methods"], key=lambda key: order.index(self.paper_name(key)))

    @property
    def main_protocol(self) -> str:
        """The protocol that is compared with the paper: its own where it was run."""
        protocols = self.run["protocols"]
        return "paper" if "paper" in protocols else str(protocols[0])

    def paper_name(self, method: str) -> str:
        """A method's name in the paper's tables; empty for one that it does not have."""
        name = self.run["methods"][method].get("paper")
        return str(name) if name in METHODS else ""

    def title(self, method: str) -> str:
        """What a method is called in print."""
        return str(self.run["methods"][method].get("title") or method)

    def dataset_title(self, dataset: str) -> str:
        """What a data set is called in print."""
        return str(self.run["datasets"].get(dataset, {}).get("title") or dataset)

    @cached_property
    def choices(self) -> dict[tuple[str, str], pd.DataFrame]:
        """Mean and spread of the five metrics for the chosen settings, by (protocol, one of `CHOICES`).

        A frame has one row per data set, method and metric, in the order of `datasets` and `methods`. ``setting`` is
        canonical JSON (under `nested` the one chosen most often), ``n_settings`` how many it was chosen among (under
        `nested`: how many different ones were chosen), ``means`` all five metrics of it, ``tied`` the share of test
        rows with equal scores, ``folds`` and ``expected`` count folds of all seeds, ``failed`` those with an error.
        ``status`` is "done", "partial" (folds or work are missing), "failed" (nothing but errors) or "missing".
        """
        found = {}
        for protocol in self.run["protocols"]:
            chosen = _chosen(self, protocol)
            for by in CHOICES:
                choosers = [metric if by == "each" else by for metric in METRICS]
                found[protocol, by] = _frame(self, protocol, choosers, chosen)
        return found

    def of_metric(self, protocol: str, by: str, metric: str) -> pd.DataFrame:
        """Of `choices` the rows of one metric."""
        frame = self.choices[protocol, by]
        return frame[frame["metric"] == metric]

    def finished(self, protocol: str, by: str, metric: str) -> pd.DataFrame:
        """Of these the rows that have all their folds."""
        frame = self.of_metric(protocol, by, metric)
        return frame[frame["folds"] >= frame["expected"]]


def _chosen(results: Results, protocol: str) -> dict[str, dict[Any, dict[str, Any]]]:
    """By the metric that chooses and (data set, method): statistics of the rows of the setting that it chooses."""
    scores = results.scores[(results.scores["protocol"] == protocol).to_numpy()]
    # infinite where it is not a number, which pandas would leave out of a mean
    scores = scores.assign(**{metric: scores[metric].astype(float).fillna(np.inf) for metric in METRICS})
    if protocol == "nested":
        by = scores["chosen_by"].astype(object).fillna("")
        any_choice = pd.MultiIndex.from_frame(scores[_PAIR]).isin(pd.MultiIndex.from_frame(scores[by != ""][_PAIR]))
        return {metric: _statistics(scores[(by == metric) | ~any_choice]) for metric in METRICS}
    every = scores.groupby([*_PAIR, "setting"], observed=True, sort=False)
    means, folds = _seed_means(scores, [*_PAIR, "setting"]), every.size()
    complete = folds == folds.groupby(level=_PAIR, observed=True).transform("max")
    means = means.loc[complete[complete].index]
    among = means.groupby(level=_PAIR, observed=True).size().to_dict()
    found = {}
    for metric in METRICS:
        won = _winners(means[metric] * (-1 if metric == "AP" else 1), results)
        kept = pd.MultiIndex.from_frame(scores[[*_PAIR, "setting"]]).isin(won)
        found[metric] = _statistics(scores[kept])
        for pair, about in found[metric].items():
            about["n_settings"] = among[pair]
    return found


def _seed_means(scores: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    by_seed = scores.groupby([*keys, "seed"], observed=True, sort=False)[list(METRICS)].mean()
    return by_seed.groupby(level=keys, observed=True, sort=False).mean()


def _winners(loss: pd.Series, results: Results) -> list[tuple[str, str, str]]:
    """(data set, method, setting) of least loss, the first in the order of the grid among equals; none if no number."""
    loss = loss[np.isfinite(loss)].round(12)
    best: dict[tuple[str, str], list[str]] = {}
    for dataset, method, setting in loss.index[loss == loss.groupby(level=_PAIR, observed=True).transform("min")]:
        best.setdefault((dataset, method), []).append(setting)
    grids = {method: about.get("grid") or {} for method, about in results.run["methods"].items()}
    return [(d, m, min(equal, key=lambda s: canonical_key(s, grids.get(m, {})))) for (d, m), equal in best.items()]


def canonical_key(setting: str, grid: Mapping[str, Sequence[Any]]) -> tuple[Any, ...]:
    """Where a setting stands in its grid, for sorting: the first parameter counts most; unknown values come last."""
    values = json.loads(setting)
    return (*(list(v).index(values[k]) if values.get(k) in v else len(v) for k, v in grid.items()), setting)


def _statistics(rows: pd.DataFrame) -> dict[Any, dict[str, Any]]:
    """Means, spreads, setting, number of settings, share of ties and number of folds, by (data set, method)."""
    groups = rows.groupby(_PAIR, observed=True, sort=False)
    found = _seed_means(rows, _PAIR).replace(np.inf, np.nan)
    found = found.join(groups[list(METRICS)].std().add_suffix(" sd"))
    found["setting"] = groups["setting"].agg(lambda settings: Counter(settings).most_common(1)[0][0])
    found["n_settings"] = groups["setting"].agg(lambda settings: len(set(settings)))
    return found.assign(tied=groups["tied"].mean(), folds=groups.size()).to_dict("index")


def _frame(results: Results, protocol: str, choosers: Sequence[str], chosen: Mapping[str, Any]) -> pd.DataFrame:
    trouble, rows = _failures(results, protocol), []
    expected = int(results.run["n_folds"]) * len(results.run["seeds"])
    for pair in [(dataset, method) for dataset in results.datasets for method in results.methods]:
        failed, error = trouble.get(pair, (0, ""))
        for metric, chooser in zip(METRICS, choosers, strict=True):
            found = chosen[chooser].get(pair)
            values: tuple[Any, ...] = (np.nan, np.nan, "", 0, np.nan, 0, {})
            status = "failed" if failed else "missing"
            if found is not None:
                names = (metric, f"{metric} sd", "setting", "n_settings", "tied", "folds")
                values = (*(found[name] for name in names), {m: found[m] for m in METRICS})
                status = "done" if found["folds"] >= expected and not failed else "partial"
            rows.append((*pair, metric, chooser, *values, expected, failed, error, status))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _failures(results: Results, protocol: str) -> dict[Any, tuple[int, str]]:
    """How many folds of a method on a data set had an error, and the first error."""
    cells = results.cells
    cells = cells[(cells["protocol"] == protocol) & (cells["status"] == "failed")]
    return {
        pair: (len(rows[["seed", "fold"]].drop_duplicates()), _one_line(rows["error"].iloc[0]))
        for pair, rows in cells.groupby(_PAIR, observed=True, sort=False)
    }


def _one_line(error: Any, length: int = 300) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= length else f"{text[: length - 1]}…"
