"""How AP depends on the number of rules (the paper's Fig. 6), and on α and β (Fig. 7).

Symbols: K rules, α weight of the coupling, β of the L1 term, γ of the ridge start, ρ of
the ridge of the convex form; distinctness of rules 0 (all fire alike: the model is
linear whatever K) to 1.

For each K the authors' method takes the setting of highest AP among a few on the folds
reported, as the paper does; ours has no setting to choose. α and β take the paper's 45
values. While one of them moves, the authors' method stands at the setting of highest AP
of a part of Table II, the convex form of its problem at the weights that it takes from
the data of each fold.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from ....core.arrays import Array
from ....core.coupling import coupling_matrix, label_correlation
from ....core.membership import rule_distinctness
from ....datasets import Dataset
from ...methods import PaperMLTSK
from ...solvers.consequents import fit_consequents
from ...solvers.problem import Problem, fista, quadratic
from ..cross_validation import Fold
from ..published import METRICS, PlainData
from .sample import (
    ParameterValues,
    StudySample,
    common_width_rules,
    our_metrics,
    paper_metrics,
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
# Table II at one γ: 1,000 settings
WEIGHTS_GRID: ParameterValues = {**PaperMLTSK.PAPER_GRID, "init_ridge": (1.0,)}
FAST_WEIGHTS_GRID: ParameterValues = {
    **WEIGHTS_GRID,
    "n_rules": (2, 4),
    "width_scale": (1.0, 100.0),
}
RULE_COUNTS = tuple(range(1, 11))
OUR_RULE_COUNTS = (*RULE_COUNTS, 15, 30)
FAST_RULE_COUNTS = (1, 2, 3)
FAST_OUR_RULE_COUNTS = (1, 2, 3, 5, 8, 15)
# A part of Table II: 8 settings for each K, at both ends of α, around the β and γ that
# win on most sets.
RULES_GRID: ParameterValues = {
    "width_scale": (1.0, 100.0),
    "correlation_weight": (0.01, 100.0),
    "l1_weight": (0.1,),
    "init_ridge": (1.0, 10.0),
}
# Two γ at least: K equal rules share a coefficient, so K also multiplies the weight of
# the ridge start.
FAST_RULES_GRID: ParameterValues = {
    "width_scale": (100.0,),
    "correlation_weight": (0.01,),
    "l1_weight": (0.1,),
    "init_ridge": (10.0, 100.0),
}
FAST_RULES_ROWS = 800


def rules_study(data: Dataset, *, seed: int = 0, grid: str = "paper") -> PlainData:
    """The five metrics for 1 to 10 rules, of the authors' method and of ours.

    ``distinctness`` is that of the authors' rules; None for one rule, which has nothing
    to differ from.
    """
    sample = sample_of(data, seed, grid, fast_rows=FAST_RULES_ROWS)
    counts = FAST_RULE_COUNTS if sample.fast else RULE_COUNTS
    our_counts = FAST_OUR_RULE_COUNTS if sample.fast else OUR_RULE_COUNTS
    settings = FAST_RULES_GRID if sample.fast else RULES_GRID
    tables = []
    distinctness = []
    for K in counts:
        best, scores = search(sample, {"n_rules": (K,), **settings})
        tables.append(scores[best])
        distinctness.append(_distinctness(sample, K, dict(best)["width_scale"]))
    our_tables = []
    for K in our_counts:
        our_tables.append(
            [our_metrics(sample, fold, n_rules=K) for fold in sample.folds]
        )
    n_settings = prod(map(len, settings.values()))
    return {
        "note": (
            f"{sample.note}; the authors' method at the best by AP of {n_settings} "
            "settings for each number of rules"
        ),
        "part": sample.extent,
        "metrics": list(METRICS),
        "paper": {
            "n_rules": list(counts),
            **summary(np.array(tables)),
            "distinctness": distinctness,
        },
        "ours": {"n_rules": list(our_counts), **summary(np.array(our_tables))},
    }


def _distinctness(sample: StudySample, K: int, width_scale: float) -> float | None:
    """How different the authors' rules fire on the training rows of the first fold."""
    if K == 1:
        return None
    train, test = sample.folds[0]
    G, _ = paper_rules(sample.dense[train], sample.dense[test[:1]], K, width_scale)
    return plain(rule_distinctness(G.M))


def weights_study(data: Dataset, *, seed: int = 0, grid: str = "paper") -> PlainData:
    """Five metrics as functions of α and of β.

    "paper" is the authors' method, "ours" the convex form of its problem. ``setting``
    is where the authors' method stands while one of them moves, ``weights`` (mean over
    folds) where the convex form does.
    """
    sample = sample_of(data, seed, grid)
    values = PAPER_VALUES[::4] if sample.fast else PAPER_VALUES
    best, scores = search(sample, FAST_WEIGHTS_GRID if sample.fast else WEIGHTS_GRID)
    setting = dict(best)
    at_best: dict[str, Sequence[object]]
    at_best = {name: (value,) for name, value in setting.items()}
    at_best["n_rules"] = (int(setting["n_rules"]),)
    authors = {}
    for symbol, name in (("alpha", "correlation_weight"), ("beta", "l1_weight")):
        _, tables = search(sample, {**at_best, name: values})
        by_value = {dict(moved)[name]: table for moved, table in tables.items()}
        in_order = [by_value[value] for value in sorted(by_value)]
        authors[symbol] = summary(np.array(in_order))
    weights, convex = _convex(sample, values)
    return {
        "note": (
            f"{sample.note}; {len(values)} values; others at the best by AP of "
            f"{len(scores)} settings (authors' method, chosen on the folds shown) or "
            "as taken from the training rows (convex form)"
        ),
        "metrics": list(METRICS),
        "values": list(values),
        "setting": setting,
        "weights": weights,
        "paper": authors,
        "ours": convex,
    }


def _convex(
    sample: StudySample, values: Sequence[float]
) -> tuple[dict[str, float], dict[str, PlainData]]:
    """Weights of the convex form (mean over folds), and metrics while one moves."""
    weights = []
    alpha_folds = []
    beta_folds = []
    for fold in sample.folds:
        own_weights, by_alpha, by_beta = _convex_fold(sample, fold, values)
        weights.append(own_weights)
        alpha_folds.append(by_alpha)
        beta_folds.append(by_beta)
    rho, alpha, beta = np.mean(weights, axis=0).tolist()
    return {"rho": rho, "alpha": alpha, "beta": beta}, {
        "alpha": summary(np.swapaxes(alpha_folds, 0, 1)),
        "beta": summary(np.swapaxes(beta_folds, 0, 1)),
    }


def _convex_fold(
    sample: StudySample, fold: Fold, values: Sequence[float]
) -> tuple[tuple[float, float, float], list[Array], list[Array]]:
    """Weights (ρ, α, β) of the convex form on a fold, and metrics by α and by β."""
    train, test = fold
    G, T = common_width_rules(sample.X[train], sample.X[test])
    Y = sample.Y[train]
    rates = Y.mean(axis=0)
    fitted = fit_consequents(G, Y, np.ones(len(train)), max_iter=1)
    Q = coupling_matrix(label_correlation(Y), "laplacian")
    data = quadratic(G, Y - rates)

    def metrics_along(weights: Sequence[tuple[float, float]]) -> list[Array]:
        P = None  # each start is where the last one ended
        metrics = []
        for alpha, beta in weights:
            problem = Problem(data, Q=Q, alpha=alpha, beta=beta, rho=fitted.rho)
            P = fista(problem, P).P
            metrics.append(paper_metrics(sample.Y[test], T @ P + rates))
        return metrics

    by_alpha = metrics_along([(value, fitted.beta) for value in values])
    by_beta = metrics_along([(fitted.alpha, value) for value in values])
    return (fitted.rho, fitted.alpha, fitted.beta), by_alpha, by_beta
