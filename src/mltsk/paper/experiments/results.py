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
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from ...tables.report import cut
from .published import METHODS, METRICS, table_i

SCORES = (
    "protocol",
    "dataset",
    "method",
    "seed",
    "fold",
    "chosen_by",
    "setting",
    "AP",
    "HL",
    "OE",
    "RL",
    "CV",
    "tied",
)
CELLS = (
    *SCORES[:5],
    "part",
    "status",
    "error",
    "seconds",
    "cpu_seconds",
    "when",
    "device",
)
CHOICES = ("AP", "HL", "each")
# What a step from a lenient protocol to a stricter one takes away, see `worths`.
WORTH = {
    ("paper", "strict"): "leak",
    ("strict", "nested"): "selection",
    ("paper", "nested"): "both",
}
_PAIR = ["dataset", "method"]
_NOTHING = {
    "setting": "",
    "n_settings": 0,
    "tied": np.nan,
    "folds": 0,
}  # where no setting is chosen


@dataclass(frozen=True, eq=False)
class Results:
    """Everything that a run has finished so far; `Store.results` reads it from a run's folder.

    ``run`` describes it, as plain data::

        {"command": str, "created": str, "versions": {"mltsk": …, "numpy": …}, "machine": str,
         "grid": "paper" | "fast" | "authors", "convention": "paper" | "standard", "n_folds": 5,
         "protocols": ["paper", …], "seeds": [0, …],
         "datasets": {name: {"title": str, "samples": int, "features": int, "labels": int,
                             "cardinality": float, "density": float, "empty": int, "full": int}},
         "missing": {name: reason},
         "methods": {key: {"title": str, "paper": name in the paper's tables or None,
                           "class": import path, "params": {…}, "grid": {parameter: [values]}, "settings": int}}}

    ``scores`` has the columns `SCORES`, and a row per setting, fold and seed: ``setting`` is canonical JSON of the
    parameters, ``tied`` the share of test rows whose scores are all the same, which some metrics reward, ``chosen_by``
    under `nested` the metric by which inner folds chose the setting, and empty where settings are yet to be chosen.
    ``cells`` has the columns `CELLS`, and a row per piece of work: ``status`` is "done" or "failed", ``error`` says
    why. ``studies`` are plain data by (name of the study, data set), see `mltsk.paper.experiments.studies`.
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
        """Methods of the run: those of the paper in the order of its columns, each before its variants, then others."""
        order = [*METHODS, ""]
        return sorted(
            self.run["methods"],
            key=lambda key: (order.index(self.column(key)), bool(self.variant_of(key))),
        )

    @property
    def protocols(self) -> list[str]:
        """Protocols of the run, the most lenient first."""
        return [
            protocol
            for protocol in ("paper", "strict", "nested")
            if protocol in self.run["protocols"]
        ]

    @property
    def protocol_pairs(self) -> list[tuple[str, str]]:
        """Pairs of protocols that the run has, a lenient and a stricter one; neighbours first."""
        return [pair for pair in WORTH if set(pair) <= set(self.protocols)]

    @property
    def main_protocol(self) -> str:
        """The protocol that is compared with the paper: its own where it was run."""
        return (
            "paper"
            if "paper" in self.run["protocols"]
            else str(self.run["protocols"][0])
        )

    def paper_name(self, method: str) -> str:
        """A method's name in the paper's tables; empty for one that it does not have."""
        name = self.run["methods"][method].get("paper")
        return str(name) if name in METHODS else ""

    def variant_of(self, method: str) -> str:
        """The method of which this one is another reading; empty for one that stands for itself."""
        return str(self.run["methods"][method].get("variant_of") or "")

    def column(self, method: str) -> str:
        """The column of the paper's tables that a method is to be compared with, its own or that of its original."""
        original = self.variant_of(method)
        return self.paper_name(original if original in self.run["methods"] else method)

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
        ``status`` is "done", "partial" (folds or work are missing), "failed" (nothing but errors), "missing", or
        "left out" of a pair of data set and method that the run was never to have under this protocol.
        """
        chosen = {
            protocol: _chosen(self, protocol) for protocol in self.run["protocols"]
        }
        return {
            (name, by): _frame(self, name, by, found)
            for name, found in chosen.items()
            for by in CHOICES
        }

    def of_metric(self, protocol: str, by: str, metric: str) -> pd.DataFrame:
        """Of `choices` the rows of one metric."""
        frame = self.choices[protocol, by]
        return frame[frame["metric"] == metric]

    def finished(self, protocol: str, by: str, metric: str) -> pd.DataFrame:
        """Means by one metric, data sets by methods; NaN where folds are missing."""
        frame = self.of_metric(protocol, by, metric)
        wide = frame[frame["folds"] >= frame["expected"]].pivot(
            index="dataset", columns="method", values="mean"
        )
        return wide.reindex(index=self.datasets, columns=self.methods)


def worths(results: Results, pair: tuple[str, str], by: str = "each") -> pd.DataFrame:
    """How much better the first protocol looks than the second: ``gain`` by data set, method and metric.

    `paper` against `strict` is the leak (scaling and clustering saw the test rows) together with the fold slicing;
    `strict` against `nested` is the choice of settings on the reported folds. A positive gain means that the more
    lenient protocol looks better, whatever the direction of the metric.
    """
    keys = [*_PAIR, "metric"]
    done = [
        frame[frame["status"] == "done"]
        for frame in (results.choices[protocol, by] for protocol in pair)
    ]
    both = done[0].merge(done[1], on=keys, suffixes=("", "_strict"))
    gain = (both["mean"] - both["mean_strict"]) * np.where(
        both["metric"] == "AP", 1, -1
    )
    return both[keys].assign(gain=gain).dropna()


def _chosen(results: Results, protocol: str) -> dict[str, dict[Any, dict[str, Any]]]:
    """By the metric that chooses and (data set, method): statistics of the rows of the setting that it chooses."""
    scores = results.scores[(results.scores["protocol"] == protocol).to_numpy()]
    # infinite where it is not a number, which pandas would leave out of a mean
    scores = scores.assign(
        **{metric: scores[metric].astype(float).fillna(np.inf) for metric in METRICS}
    )
    if protocol == "nested":
        by = scores["chosen_by"].astype(object).fillna("")
        any_choice = (
            (by != "")
            .groupby([scores[key] for key in _PAIR], observed=True)
            .transform("any")
        )
        return {
            metric: _statistics(scores[(by == metric) | ~any_choice])
            for metric in METRICS
        }
    keys = [*_PAIR, "setting"]
    means, folds = (
        _seed_means(scores, keys),
        scores.groupby(keys, observed=True, sort=False).size(),
    )
    complete = folds == folds.groupby(level=_PAIR, observed=True).transform("max")
    means, index = (
        means.loc[complete[complete].index],
        pd.MultiIndex.from_frame(scores[keys]),
    )
    among, found = means.groupby(level=_PAIR, observed=True).size().to_dict(), {}
    for metric in METRICS:
        loss = means[metric].round(12) * (-1 if metric == "AP" else 1)
        loss = loss[np.isfinite(loss)]
        best = loss[loss == loss.groupby(level=_PAIR, observed=True).transform("min")]
        won = [
            min(equal.index, key=partial(_place, results))
            for _, equal in best.groupby(level=_PAIR, observed=True)
        ]
        found[metric] = _statistics(scores[index.isin(won)])
        for pair, about in found[metric].items():
            about["n_settings"] = among[pair]
    return found


def _place(results: Results, won: tuple[str, str, str]) -> tuple[Any, ...]:
    """Where a setting stands in its grid, for sorting: the first parameter counts most; unknown values come last."""
    values, grid = (
        json.loads(won[2]),
        results.run["methods"].get(won[1], {}).get("grid") or {},
    )
    return (
        *(
            list(v).index(values[k]) if values.get(k) in v else len(v)
            for k, v in grid.items()
        ),
        won[2],
    )


def _seed_means(scores: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    by_seed = scores.groupby([*keys, "seed"], observed=True, sort=False)[
        list(METRICS)
    ].mean()
    return by_seed.groupby(level=keys, observed=True, sort=False).mean()


def _statistics(rows: pd.DataFrame) -> dict[Any, dict[str, Any]]:
    """Means, spreads, setting, number of settings, share of ties and number of folds, by (data set, method)."""
    groups = rows.groupby(_PAIR, observed=True, sort=False)
    found = _seed_means(rows, _PAIR).replace(np.inf, np.nan)
    found = found.join(groups[list(METRICS)].std().add_suffix(" sd"))
    found["setting"] = groups["setting"].agg(
        lambda settings: Counter(settings).most_common(1)[0][0]
    )
    found["n_settings"] = groups["setting"].agg(lambda settings: len(set(settings)))
    return found.assign(tied=groups["tied"].mean(), folds=groups.size()).to_dict(
        "index"
    )


def _frame(
    results: Results, protocol: str, by: str, chosen: Mapping[str, Any]
) -> pd.DataFrame:
    run, cells, rows = results.run, results.cells, []
    bad = cells[(cells["protocol"] == protocol) & (cells["status"] == "failed")]
    errors = bad.groupby(_PAIR)["error"].first().to_dict()
    failures = (
        bad.drop_duplicates([*_PAIR, "seed", "fold"]).groupby(_PAIR).size().to_dict()
    )
    planned = {
        tuple(place[1:]) for place in run.get("planned", ()) if place[0] == protocol
    }
    expected = int(run["n_folds"]) * len(run["seeds"])
    for dataset, method, metric in product(results.datasets, results.methods, METRICS):
        failed = failures.get((dataset, method), 0)
        error = cut(" ".join(str(errors.get((dataset, method), "")).split()), 300)
        row = {
            "dataset": dataset,
            "method": method,
            "metric": metric,
            "by": metric if by == "each" else by,
        }
        found = chosen[row["by"]].get((dataset, method), _NOTHING)
        row |= {
            "mean": found.get(metric, np.nan),
            "sd": found.get(f"{metric} sd", np.nan),
        }
        row |= {name: found[name] for name in _NOTHING} | {
            "means": {m: found[m] for m in METRICS if m in found}
        }
        status = "done" if found["folds"] >= expected and not failed else "partial"
        if found is _NOTHING:
            status = (
                "failed"
                if failed
                else "missing"
                if not planned or (dataset, method) in planned
                else "left out"
            )
        rows.append(
            row
            | {"expected": expected, "failed": failed, "error": error, "status": status}
        )
    return pd.DataFrame(rows)
