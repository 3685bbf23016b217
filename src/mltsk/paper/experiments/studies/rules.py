"""Average precision against the number of rules, with how much the rules differ. The paper's Fig. 6.

Symbols: K rules; distinctness 0 (all rules fire alike: the model is linear whatever K) to 1.

The authors' method takes for each K the setting of highest AP among a few on the folds reported, as the paper does;
`best_by_rules` reads the same off a finished grid search. Ours has no setting to choose.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ....datasets import Dataset
from ...solvers.convex import fit_consequents
from .sample import Sample, best_by_ap, five, our_rules, paper_rules, plain, sample_of, search, summary

COUNTS = tuple(range(1, 11))
OUR_COUNTS = (*COUNTS, 15, 30)
# A part of Table II: 8 settings for each K, at both ends of α, around the β and γ that win on most sets.
GRID: dict[str, tuple[float, ...]] = {
    "width_scale": (1.0, 100.0),
    "correlation_weight": (0.01, 100.0),
    "l1_weight": (0.1,),
    "init_ridge": (1.0, 10.0),
}
FAST_COUNTS, FAST_OUR_COUNTS = (1, 2, 3), (1, 2, 3, 5, 8, 15)
# Two γ at least: K equal rules share a coefficient, so K also multiplies the weight of the ridge start.
FAST_GRID = {**GRID, "width_scale": (100.0,), "correlation_weight": (0.01,), "init_ridge": (10.0, 100.0)}
FAST_ROWS = 800


def study(data: Dataset, *, seed: int = 0, grid: str = "paper") -> dict[str, Any]:
    """AP (and the other metrics) for 1 to 10 rules, the authors' method and ours, with rule distinctness.

    Returns
    -------
    dict
        ``paper`` and ``ours``: ``n_rules``, and for each the five metrics' ``mean`` and ``sd`` and ``distinctness``.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> found = study(make_multilabel_rules(n_samples=60, random_state=0), grid="fast")
    >>> found["paper"]["n_rules"]
    [1, 2, 3]
    """
    sample = sample_of(data, seed, grid, fast_rows=FAST_ROWS)
    counts, ours = (FAST_COUNTS, FAST_OUR_COUNTS) if sample.fast else (COUNTS, OUR_COUNTS)
    settings = FAST_GRID if sample.fast else GRID
    tried = int(np.prod([len(values) for values in settings.values()]))
    which = "one setting" if tried == 1 else f"the best by AP of {tried} settings for each number of rules"
    return {
        "note": f"{sample.note}; the authors' method at {which}",
        "metrics": ["AP", "HL", "OE", "RL", "CV"],
        "paper": _authors(sample, counts, settings),
        "ours": _ours(sample, ours),
    }


def _authors(sample: Sample, counts: Sequence[int], grid: dict[str, tuple[float, ...]]) -> dict[str, Any]:
    tables, distinctness, chosen = [], [], []
    X, (train, test) = sample.dense, sample.folds[0]
    for K in counts:
        scores = search(sample, {"n_rules": (K,), **grid})
        best = best_by_ap(scores)
        tables.append(summary(scores[best]))
        chosen.append(dict(best))
        distinctness.append(paper_rules(X[train], X[test[:1]], K, dict(best)["width_scale"]).distinctness)
    return {**_columns(counts, tables, distinctness), "chosen": chosen}


def _ours(sample: Sample, counts: Sequence[int]) -> dict[str, Any]:
    tables, distinctness = [], []
    for K in counts:
        rows, distinct = [], []
        for train, test in sample.folds:
            rules = our_rules(sample.X[train], sample.X[test], K)
            P = fit_consequents(rules.train, sample.Y[train], np.ones(len(train))).P
            rows.append(five(sample.Y[test], rules.test @ P))
            distinct.append(rules.distinctness)
        tables.append(summary(np.array(rows)))
        distinctness.append(float(np.mean(distinct)))
    return _columns(counts, tables, distinctness)


def _columns(counts: Sequence[int], tables: list[dict[str, Any]], distinctness: list[float]) -> dict[str, Any]:
    # one rule has nothing to differ from
    return {
        "n_rules": [int(K) for K in counts],
        "mean": [table["mean"] for table in tables],
        "sd": [table["sd"] for table in tables],
        "distinctness": [None if K == 1 else plain(d) for K, d in zip(counts, distinctness, strict=True)],
    }


def best_by_rules(scores: pd.DataFrame, *, protocol: str = "paper", method: str = "ml-tsk-fs") -> dict[str, Any]:
    """The same curve of the authors' method from the whole grid search, by data set.

    Parameters
    ----------
    scores : data frame
        ``Results.scores`` of a finished run; rows of other protocols and methods are left aside.

    Returns
    -------
    dict
        Data set to ``n_rules``, ``AP`` (mean over folds at the best setting with that many rules) and ``settings``.

    Examples
    --------
    >>> row = {"protocol": "paper", "method": "ml-tsk-fs", "dataset": "toy", "seed": 0, "fold": 0, "AP": 0.5}
    >>> best_by_rules(pd.DataFrame([row | {"setting": '{"n_rules": 2}'}]))["toy"]["AP"]
    [0.5]
    """
    ours = scores[(scores["protocol"] == protocol) & (scores["method"] == method)]
    means = ours.groupby(["dataset", "setting"], sort=True)["AP"].mean().dropna().reset_index()
    means["n_rules"] = [int(json.loads(setting)["n_rules"]) for setting in means["setting"]]
    best = means.loc[means.groupby(["dataset", "n_rules"])["AP"].idxmax()]
    return {
        str(name): {"n_rules": g["n_rules"].tolist(), "AP": g["AP"].tolist(), "settings": g["setting"].tolist()}
        for name, g in best.groupby("dataset")
    }
