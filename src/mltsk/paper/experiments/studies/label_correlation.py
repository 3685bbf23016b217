"""Do labels that occur together get alike consequents? The paper's Fig. 3 and 4, with the control they lack.

Symbols: Y (N, L) labels, P (Md, L) consequents, C_Y and C_P (L, L) the correlations of their columns.

Agreement is the correlation of C_Y with C_P over all pairs of labels. The paper takes it as a success of the coupling,
so the same model is fitted without coupling too: what agrees there as well is not owed to the coupling. Intercepts of
P hold the base rates of the labels, K times over, and correlate whatever the labels do; the paper's are kept as in its
figure. Our default has no coupling, so it is fitted with one for comparison; its intercept stands apart.
"""

from typing import Any

import numpy as np
from scipy.stats import pearsonr, spearmanr

from ....core.arrays import Array
from ....core.coupling import label_correlation
from ....datasets import Dataset
from ...solvers.algorithm1 import algorithm1_grid
from .sample import best_by_ap, our_default, paper_rules, plain, sample_of, search

# A small part of Table II around the settings that win on the sets concerned: 24 settings.
GRID = {
    "n_rules": (3,),
    "width_scale": (10.0, 100.0),
    "correlation_weight": (0.01, 1.0, 100.0),
    "l1_weight": (0.1, 1.0),
    "init_ridge": (1.0, 10.0),
}
ALPHAS = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0)


def study(data: Dataset, *, seed: int = 0, grid: str = "paper") -> dict[str, Any]:
    """Correlation of labels, of the authors' consequents and of our default's, and how well they agree.

    ``by_alpha`` is the agreement (Pearson) of the authors' method, otherwise at ``setting``, at other values of α.
    """
    sample = sample_of(data, seed, grid)
    setting = dict(best_by_ap(search(sample, GRID)))
    C = label_correlation(sample.Y)
    models, by_alpha = _authors(sample.dense, sample.Y, C, setting)
    return {
        "note": f"{sample.note} to choose the setting of highest AP; consequents fitted to all rows used",
        "labels": list(data.label_names),
        "of_labels": plain(C),
        "positive_pairs": int((C[np.triu_indices(len(C), 1)] > 0).sum()),
        "setting": setting,
        "models": models | _ours(sample.X, sample.Y, C),
        "by_alpha": by_alpha,
    }


def _authors(X: Array, Y: Array, C: Array, setting: dict[str, float]) -> tuple[dict[str, Any], list[Any]]:
    G = paper_rules(X, X[:1], int(setting["n_rules"]), setting["width_scale"]).train
    every = algorithm1_grid(G, Y, ALPHAS, [setting["l1_weight"]], [setting["init_ridge"]], then=lambda found: found.P)
    P, own = {alpha: found for (alpha, _, _), found in every.items()}, setting["correlation_weight"]
    models = {name: _model(label_correlation(P[a]), C) for name, a in (("paper", own), ("paper_uncoupled", 0.0))}
    return models, [[alpha, agreement(C, label_correlation(P[alpha]))[0]] for alpha in ALPHAS]


def _ours(X: Any, Y: Array, C: Array) -> dict[str, Any]:
    found = {}
    for name, coupling in (("ours", {}), ("ours_coupled", {"coupling": "laplacian"})):
        system = our_default(X, Y, **coupling).system_
        P = np.concatenate([system.term_coef, system.coef.reshape(-1, Y.shape[1])])
        found[name] = _model(label_correlation(P), C)
    return found


def _model(shown: Array, C: Array) -> dict[str, Any]:
    pearson, spearman = agreement(C, shown)
    return {"correlation": plain(shown), "pearson": pearson, "spearman": spearman}


def agreement(A: Array, B: Array) -> tuple[float | None, float | None]:
    """Pearson and Spearman correlation of two symmetric matrices over the pairs above the diagonal; None if constant.

    Examples
    --------
    >>> A = np.array([[1, 0.5, 0.1], [0.5, 1, 0.2], [0.1, 0.2, 1]])
    >>> agreement(A, A)
    (1.0, 1.0)
    """
    pairs = np.triu_indices(len(A), 1)
    a, b = A[pairs], B[pairs]
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None, None
    return tuple(float(np.clip(test(a, b).statistic, -1, 1)) for test in (pearsonr, spearmanr))  # type: ignore[return-value]
