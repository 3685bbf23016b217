"""How AP depends on the number of rules (the paper's Fig. 6), and on α and β over the paper's 45 values (Fig. 7).

Symbols: K rules, α weight of the coupling, β of the L1 term, γ of the ridge start, ρ of the ridge of the convex form;
distinctness of rules 0 (all fire alike: the model is linear whatever K) to 1.

For each K the authors' method takes the setting of highest AP among a few on the folds reported, as the paper does;
ours has no setting to choose. While α or β moves, the authors' method stands at the setting of highest AP of a part of
Table II, the convex form of its problem at the weights that it takes from the data of each fold.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ....core.arrays import Array
from ....core.coupling import coupling_matrix, label_correlation
from ....core.membership import rule_distinctness
from ....datasets import Dataset
from ...methods import PaperMLTSK
from ...solvers.consequents import fit_consequents
from ...solvers.problem import Problem, fista, quadratic
from ..published import METRICS
from .sample import (
    Sample,
    common_width_rules,
    five,
    our_metrics,
    paper_rules,
    plain,
    sample_of,
    search,
    summary,
)

# {0.01, 0.02, …, 0.09, 0.1, 0.2, …, 900}: 45 values
PAPER_VALUES = tuple(
    float(f"{digit}e{decade}") for decade in range(-2, 3) for digit in range(1, 10)
)
GRID: Any = {
    **PaperMLTSK.PAPER_GRID,
    "init_ridge": (1.0,),
}  # Table II at one γ: 1,000 settings
FAST_GRID = {**GRID, "n_rules": (2, 4), "width_scale": (1.0, 100.0)}
COUNTS = tuple(range(1, 11))
OUR_COUNTS = (*COUNTS, 15, 30)
# A part of Table II: 8 settings for each K, at both ends of α, around the β and γ that win on most sets.
RULES_GRID: dict[str, tuple[float, ...]] = {
    "width_scale": (1.0, 100.0),
    "correlation_weight": (0.01, 100.0),
    "l1_weight": (0.1,),
    "init_ridge": (1.0, 10.0),
}
FAST_COUNTS, FAST_OUR_COUNTS = (1, 2, 3), (1, 2, 3, 5, 8, 15)
# Two γ at least: K equal rules share a coefficient, so K also multiplies the weight of the ridge start.
FAST_RULES_GRID = {
    **RULES_GRID,
    "width_scale": (100.0,),
    "correlation_weight": (0.01,),
    "init_ridge": (10.0, 100.0),
}
FAST_ROWS = 800


def rules_study(data: Dataset, *, seed: int = 0, grid: str = "paper") -> dict[str, Any]:
    """The five metrics for 1 to 10 rules, the authors' method and ours, with the distinctness of the authors' rules."""
    sample = sample_of(data, seed, grid, fast_rows=FAST_ROWS)
    counts, ours = (
        (FAST_COUNTS, FAST_OUR_COUNTS) if sample.fast else (COUNTS, OUR_COUNTS)
    )
    settings = FAST_RULES_GRID if sample.fast else RULES_GRID
    (train, test), tables, distinctness = sample.folds[0], [], []
    for K in counts:
        best, scores = search(sample, {"n_rules": (K,), **settings})
        tables.append(scores[best])
        G, _ = paper_rules(
            sample.dense[train], sample.dense[test[:1]], K, dict(best)["width_scale"]
        )
        distinctness.append(
            plain(rule_distinctness(G.M)) if K > 1 else None
        )  # one has nothing to differ from
    ours_tables = [
        [our_metrics(sample, fold, n_rules=K) for fold in sample.folds] for K in ours
    ]
    return {
        "note": f"{sample.note}; the authors' method at the best by AP of {prod(map(len, settings.values()))} settings "
        "for each number of rules",
        "part": sample.part,
        "metrics": list(METRICS),
        "paper": {
            "n_rules": list(counts),
            **summary(np.array(tables)),
            "distinctness": distinctness,
        },
        "ours": {"n_rules": list(ours), **summary(np.array(ours_tables))},
    }


def weights_study(
    data: Dataset, *, seed: int = 0, grid: str = "paper"
) -> dict[str, Any]:
    """Five metrics as functions of α and of β: "paper" is the authors' method, "ours" the convex form of its problem.

    ``setting`` is where the authors' method stands while one of them moves, ``weights`` (mean over folds) the other.
    """
    sample = sample_of(data, seed, grid)
    values = PAPER_VALUES[::4] if sample.fast else PAPER_VALUES
    best, scores = search(sample, FAST_GRID if sample.fast else GRID)
    setting, authors = dict(best), {}
    at_best: dict[str, Any] = {name: (value,) for name, value in setting.items()}
    for symbol, name in (("alpha", "correlation_weight"), ("beta", "l1_weight")):
        _, moved = search(
            sample, {**at_best, "n_rules": (int(setting["n_rules"]),), name: values}
        )
        authors[symbol] = summary(
            np.array(
                [moved[key] for key in sorted(moved, key=lambda key: dict(key)[name])]
            )
        )
    weights, convex = _convex(sample, values)
    return {
        "note": f"{sample.note}; {len(values)} values; others at the best by AP of {len(scores)} settings (authors' "
        "method, chosen on the folds shown) or as taken from the training rows (convex form)",
        "metrics": list(METRICS),
        "values": list(values),
        "setting": setting,
        "weights": weights,
        "paper": authors,
        "ours": convex,
    }


def _convex(
    sample: Sample, values: Sequence[float]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Weights of the convex form, and its metrics while one of them moves; each start is where the last one ended."""
    rows: dict[str, list[list[Array]]] = {"alpha": [], "beta": []}
    weights = []
    for train, test in sample.folds:
        G, T = common_width_rules(sample.X[train], sample.X[test])
        Y = sample.Y[train]
        fitted = fit_consequents(G, Y, np.ones(len(train)), max_iter=1)
        weights.append((fitted.rho, fitted.alpha, fitted.beta))
        rates, Q = Y.mean(axis=0), coupling_matrix(label_correlation(Y), "laplacian")
        data = quadratic(G, Y - rates)
        for symbol, folds in rows.items():
            P, swept = None, []
            for value in values:
                alpha, beta = (
                    (value, fitted.beta) if symbol == "alpha" else (fitted.alpha, value)
                )
                P = fista(Problem(data, Q, alpha, beta, fitted.rho), P).P
                swept.append(five(sample.Y[test], T @ P + rates))
            folds.append(swept)
    means = dict(
        zip(("rho", "alpha", "beta"), np.mean(weights, axis=0).tolist(), strict=True)
    )
    return means, {
        symbol: summary(np.swapaxes(folds, 0, 1)) for symbol, folds in rows.items()
    }
