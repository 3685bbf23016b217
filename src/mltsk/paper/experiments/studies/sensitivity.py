"""How AP depends on α and on β, one at a time, over the paper's 45 values. The paper's Fig. 7.

Symbols: α weight of the coupling, β of the L1 term, γ of the ridge start, ρ of the ridge of the convex form.

The authors' method stands at the setting of highest AP of a part of Table II while one weight moves; the convex form of
its problem at the weights that it takes from the data of each fold. Every value gets the five metrics.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....core.arrays import Array
from ....core.coupling import coupling_matrix, label_correlation
from ....datasets import Dataset
from ...solvers.problem import Problem, fista, fit_consequents, quadratic
from .sample import Rules, Sample, best_by_ap, common_width_rules, five, sample_of, search, summary

# {0.01, 0.02, …, 0.09, 0.1, 0.2, …, 900}: 45 values
PAPER_VALUES = tuple(float(f"{digit}e{decade}") for decade in range(-2, 3) for digit in range(1, 10))
# Table II at one γ: 1,000 settings.
GRID: dict[str, tuple[float, ...]] = {
    "n_rules": tuple(range(1, 11)),
    "width_scale": (0.1, 1.0, 10.0, 100.0),
    "correlation_weight": (0.01, 0.1, 1.0, 10.0, 100.0),
    "l1_weight": (0.01, 0.1, 1.0, 10.0, 100.0),
    "init_ridge": (1.0,),
}
FAST_GRID = {**GRID, "n_rules": (2, 4), "width_scale": (1.0, 100.0)}


def study(data: Dataset, *, seed: int = 0, grid: str = "paper") -> dict[str, Any]:
    """Five metrics as functions of α and of β: "paper" is the authors' method, "ours" the convex form of its problem.

    ``setting`` is where the authors' method stands while one of them moves, ``weights`` (mean over folds) the other.
    """
    sample = sample_of(data, seed, grid)
    values = PAPER_VALUES[::4] if sample.fast else PAPER_VALUES
    scores = search(sample, FAST_GRID if sample.fast else GRID)
    setting = dict(best_by_ap(scores))
    weights, convex = _convex(sample, values)
    return {
        "note": f"{sample.note}; {len(values)} values; others at the best by AP of {len(scores)} settings (authors' "
        "method, chosen on the folds shown) or as taken from the training rows (convex form)",
        "metrics": ["AP", "HL", "OE", "RL", "CV"],
        "values": list(values),
        "setting": setting,
        "weights": weights,
        "paper": _authors(sample, values, setting),
        "ours": convex,
    }


def _authors(sample: Sample, values: Sequence[float], setting: dict[str, float]) -> dict[str, Any]:
    at_best: dict[str, Any] = {name: (value,) for name, value in setting.items()}
    at_best["n_rules"], found = (int(setting["n_rules"]),), {}
    for symbol, name in (("alpha", "correlation_weight"), ("beta", "l1_weight")):
        scores = search(sample, {**at_best, name: tuple(values)})
        found[symbol] = summary(np.array([scores[key] for key in sorted(scores, key=lambda key: dict(key)[name])]))
    return found


def _convex(sample: Sample, values: Sequence[float]) -> tuple[dict[str, float], dict[str, Any]]:
    rows: dict[str, list[list[Array]]] = {"alpha": [], "beta": []}
    weights = []
    for train, test in sample.folds:
        rules = common_width_rules(sample.X[train], sample.X[test])
        fitted = fit_consequents(rules.train, sample.Y[train], np.ones(len(train)), max_iter=1)
        weights.append((fitted.rho, fitted.alpha, fitted.beta))
        for symbol in rows:
            swept = _swept(rules, sample.Y[train], weights[-1], symbol, values)
            rows[symbol].append([five(sample.Y[test], scores) for scores in swept])
    means = dict(zip(("rho", "alpha", "beta"), np.mean(weights, axis=0).tolist(), strict=True))
    return means, {symbol: summary(np.swapaxes(folds, 0, 1)) for symbol, folds in rows.items()}


def _swept(
    rules: Rules, Y: Array, weights: tuple[float, float, float], symbol: str, values: Sequence[float]
) -> Iterator[Array]:
    """Scores of the test rows while one weight of the convex form moves; each start is where the last one ended."""
    rho, alpha, beta = weights
    rates, Q = Y.mean(axis=0), coupling_matrix(label_correlation(Y), "laplacian")
    data, P = quadratic(rules.train, Y - rates), None
    for value in values:
        moved = Problem(data, Q, value, beta, rho) if symbol == "alpha" else Problem(data, Q, alpha, value, rho)
        P = fista(moved, P).P
        yield rules.test @ P + rates
