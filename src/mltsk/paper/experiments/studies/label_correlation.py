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

from .... import MLTSKClassifier
from ....core.arrays import Array
from ....core.coupling import label_correlation
from ....datasets import Dataset
from ...solvers.algorithm1 import algorithm1_grid
from .sample import best_by_ap, paper_rules, plain, sample_of, search

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
    X, Y, setting = sample.dense, sample.Y, dict(best_by_ap(search(sample, GRID)))
    G, _ = paper_rules(X, X[:1], int(setting["n_rules"]), setting["width_scale"])
    weights = ALPHAS, [setting["l1_weight"]], [setting["init_ridge"]]
    every = algorithm1_grid(G, Y, *weights, then=lambda found: label_correlation(found.P))
    C, by_alpha = label_correlation(Y), {alpha: shown for (alpha, _, _), shown in every.items()}
    consequents = {"paper": by_alpha[setting["correlation_weight"]], "paper_uncoupled": by_alpha[0.0]}
    for name, coupling in (("ours", None), ("ours_coupled", "laplacian")):
        system = MLTSKClassifier(coupling=coupling).fit(sample.X, Y.astype(int)).system_
        P = np.concatenate([system.term_coef, system.coef.reshape(-1, Y.shape[1])])
        consequents[name] = label_correlation(P)
    models = {}
    for name, shown in consequents.items():
        pearson, spearman = agreement(C, shown)
        models[name] = {"correlation": plain(shown), "pearson": pearson, "spearman": spearman}
    return {
        "note": f"{sample.note} to choose the setting of highest AP; consequents fitted to all rows used",
        "labels": list(data.label_names),
        "of_labels": plain(C),
        "positive_pairs": int((C[np.triu_indices(len(C), 1)] > 0).sum()),
        "setting": setting,
        "models": models,
        "by_alpha": [[alpha, agreement(C, by_alpha[alpha])[0]] for alpha in ALPHAS],
    }


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
