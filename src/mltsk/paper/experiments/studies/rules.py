"""Average precision against the number of rules, with how much the published ones differ. The paper's Fig. 6.

Symbols: K rules; distinctness 0 (all rules fire alike: the model is linear whatever K) to 1.

The authors' method takes for each K the setting of highest AP among a few on the folds reported, as the paper does.
Ours has no setting to choose.
"""

from math import prod
from typing import Any

import numpy as np

from ....core.membership import rule_distinctness
from ....datasets import Dataset
from ..published import METRICS
from .sample import best_by_ap, our_metrics, paper_rules, plain, sample_of, search, summary

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
    """The five metrics for 1 to 10 rules, the authors' method and ours, with the distinctness of the authors' rules."""
    sample = sample_of(data, seed, grid, fast_rows=FAST_ROWS)
    counts, ours = (FAST_COUNTS, FAST_OUR_COUNTS) if sample.fast else (COUNTS, OUR_COUNTS)
    settings = FAST_GRID if sample.fast else GRID
    (train, test), tables, distinctness = sample.folds[0], [], []
    for K in counts:
        scores = search(sample, {"n_rules": (K,), **settings})
        best = best_by_ap(scores)
        tables.append(scores[best])
        G, _ = paper_rules(sample.dense[train], sample.dense[test[:1]], K, dict(best)["width_scale"])
        distinctness.append(plain(rule_distinctness(G.M)) if K > 1 else None)  # one has nothing to differ from
    ours_tables = [[our_metrics(sample, fold, n_rules=K) for fold in sample.folds] for K in ours]
    return {
        "note": f"{sample.note}; the authors' method at the best by AP of {prod(map(len, settings.values()))} settings "
        "for each number of rules",
        "part": sample.part,
        "metrics": list(METRICS),
        "paper": {"n_rules": list(counts), **summary(np.array(tables)), "distinctness": distinctness},
        "ours": {"n_rules": list(ours), **summary(np.array(ours_tables))},
    }
