"""What the label coupling does to correlations (Fig. 3 and 4) and to metrics (Fig. 5).

Symbols: G (N, Md), Y (N, L) labels, P (Md, L) consequents, C label correlation;
Q = V diag(λ) Vᵀ a coupling scaled to trace L; α, ρ weights.

Do labels that occur together get alike consequents? Agreement is the correlation of C
with that of P over all pairs of labels. The paper takes it as a success of the
coupling, so the same model is fitted without coupling too, the control that its figures
lack: what agrees there as well is not owed to the coupling. Intercepts of P hold the
base rates of the labels, K times over, and correlate whatever the labels do; the
paper's are kept as in its figure. Our default has no coupling, so it is fitted with one
for comparison; its intercept stands apart.

What is it worth (Fig. 5)? Two comparisons on the same folds. *Groups A and B* are the
paper's: its rules, Algorithm I, group B at the setting of highest AP on the reported
folds, group A at the same setting but α = 0. The *arms* are compared fairly: every one
chooses its weights by the mean AP on inner folds of the training rows, then reports on
the test fold, over the same rules; both arms of Algorithm I choose out of the same
number of settings, and so do all convex ones:

    off         Algorithm I with α = 0;  β and γ chosen
    paper       Algorithm I with R = 1 - C;  α, β and γ chosen
    ridge       ½‖G P - Y‖² + (ρ/2)‖P‖²;  ρ chosen: the control, which knows nothing of
                other labels
    laplacian, signed, shift, precision
                the same + (α/2) Tr(P Q Pᵀ);  ρ and α/ρ chosen

The convex arms have no L1 term, so that all their settings follow from one
eigendecomposition: in the basis V, label column j is a ridge regression with weight
ρ + α λ_j. Y is centred for them, as in `solvers.consequents`. The last arms are our
default with each of the convex couplings and with none (arm "ridge"), its weights as it
finds them itself.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import pearsonr, spearmanr

from .... import MLTSKClassifier
from ....core.arrays import Array
from ....core.coupling import coupling_matrix, label_correlation
from ....core.fuzzymap import FuzzyMap
from ....datasets import Dataset
from ....metrics import average_precision_score
from ...solvers.algorithm1 import algorithm1_grid
from ...solvers.consequents import COUPLING_RATIOS, LOO_SINGLE, spectrum
from ..cross_validation import Fold, shuffled_folds
from ..published import METRICS, PlainData
from .sample import (
    CONVENTION,
    StudySample,
    best_by_ap,
    comparable,
    our_metrics,
    paper_metrics,
    paper_rules,
    plain,
    sample_of,
    search,
    summary,
)

ALGORITHM1_ARMS = ("off", "paper")
CONVEX_ARMS = ("ridge", "laplacian", "signed", "shift", "precision")
ARMS = (*ALGORITHM1_ARMS, *CONVEX_ARMS)
# K and h fixed beforehand: few rules as in the paper's figures, and a width at which no
# firing strength underflows.
EFFECT_RULES = 2
EFFECT_WIDTH_SCALE = 100.0
RHO_RANGE = (-5, 1)  # decades, in units of the largest eigenvalue of GGᵀ
N_CONVEX_SETTINGS = 60
N_INNER_FOLDS = 3
# Algorithm I takes seconds per run where there are a hundred labels and a thousand
# features.
FAST_EFFECT_ROWS = 800
# A small part of Table II around the settings that win on the sets concerned: 24
# settings.
CORRELATION_GRID = {
    "n_rules": (3,),
    "width_scale": (10.0, 100.0),
    "correlation_weight": (0.01, 1.0, 100.0),
    "l1_weight": (0.1, 1.0),
    "init_ridge": (1.0, 10.0),
}
CORRELATION_ALPHAS = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0)

Floats = tuple[float, ...]
Settings = dict[str, list[Floats]]  # by arm
ArmScores = dict[str, dict[Floats, Array]]  # by arm and setting


def correlation_study(
    data: Dataset, *, seed: int = 0, grid: str = "paper"
) -> PlainData:
    """Correlation of labels, of consequents, and how well they agree.

    The consequents are those of the authors' method and of our default. ``by_alpha`` is
    the agreement (Pearson) of the authors' method, otherwise at ``setting``, at other
    values of α.
    """
    sample = sample_of(data, seed, grid)
    best, _ = search(sample, CORRELATION_GRID)
    setting = dict(best)
    by_alpha = _authors_correlations(sample, setting)
    correlations = {
        "paper": by_alpha[setting["correlation_weight"]],
        "paper_uncoupled": by_alpha[0.0],
        "ours": _our_correlation(sample, None),
        "ours_coupled": _our_correlation(sample, "laplacian"),
    }
    C = label_correlation(sample.Y)
    models = {}
    for name, correlation in correlations.items():
        pearson, spearman = agreement(C, correlation)
        models[name] = {
            "correlation": plain(correlation),
            "pearson": pearson,
            "spearman": spearman,
        }
    agreements = []
    for alpha in CORRELATION_ALPHAS:
        pearson, _ = agreement(C, by_alpha[alpha])
        agreements.append([alpha, pearson])
    return {
        "note": (
            f"{sample.note} to choose the setting of highest AP; "
            "consequents fitted to all rows used"
        ),
        "labels": list(data.label_names),
        "of_labels": plain(C),
        "positive_pairs": int((C[np.triu_indices(len(C), 1)] > 0).sum()),
        "setting": setting,
        "models": models,
        "by_alpha": agreements,
    }


def _authors_correlations(
    sample: StudySample, setting: dict[str, float]
) -> dict[float, Array]:
    """Correlation (L, L) of the authors' consequents by α."""
    X = sample.dense
    G, _ = paper_rules(X, X[:1], int(setting["n_rules"]), setting["width_scale"])
    correlations = algorithm1_grid(
        G,
        sample.Y,
        alphas=CORRELATION_ALPHAS,
        betas=[setting["l1_weight"]],
        gammas=[setting["init_ridge"]],
        then=lambda result: label_correlation(result.P),
    )
    return {alpha: matrix for (alpha, _, _), matrix in correlations.items()}


def _our_correlation(sample: StudySample, coupling: str | None) -> Array:
    """Correlation (L, L) of the consequents of our default."""
    model = MLTSKClassifier(coupling=coupling).fit(sample.X, sample.Y.astype(int))
    system = model.system_
    exceptions = system.coef.reshape(-1, sample.Y.shape[1])
    return label_correlation(np.concatenate([system.term_coef, exceptions]))


def agreement(A: Array, B: Array) -> tuple[float | None, float | None]:
    """Pearson and Spearman correlation of two symmetric matrices above the diagonal.

    None if one of them is constant there.

    Examples
    --------
    >>> A = np.array([[1, 0.5, 0.1], [0.5, 1, 0.2], [0.1, 0.2, 1]])
    >>> agreement(A, A)
    (1.0, 1.0)
    """
    pairs = np.triu_indices(len(A), 1)
    a = A[pairs]
    b = B[pairs]
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None, None
    pearson = float(np.clip(pearsonr(a, b).statistic, -1, 1))
    spearman = float(np.clip(spearmanr(a, b).statistic, -1, 1))
    return pearson, spearman


def settings_of(alphas: Floats, betas: Floats, gammas: Floats) -> Settings:
    """What each arm chooses from; equally many settings for each of a family.

    They are (α, β, γ) for Algorithm I and (ρ, α/ρ) for the convex arms. β for α = 0 are
    those of group B, which group A needs, and as many more as the values of α would
    give.
    """
    # between the powers of ten that the paper tries
    more = np.geomspace(0.02, 3.0, (len(alphas) - 1) * len(betas))
    off_betas = sorted({*betas, *more.tolist()})
    settings: Settings = {
        "off": list(product((0.0,), off_betas, gammas)),
        "paper": list(product(alphas, betas, gammas)),
    }
    for arm in CONVEX_ARMS:
        ratios = (0.0,) if arm == "ridge" else COUPLING_RATIOS
        rhos = np.logspace(*RHO_RANGE, N_CONVEX_SETTINGS // len(ratios))
        settings[arm] = list(product(rhos.tolist(), ratios))
    return settings


PAPER_SETTINGS = settings_of(
    alphas=(0.01, 0.1, 1.0, 10.0, 100.0), betas=(0.1, 1.0), gammas=(1.0, 10.0)
)
FAST_SETTINGS = settings_of(alphas=(0.01, 100.0), betas=(0.1,), gammas=(10.0, 100.0))


class EffectFold(NamedTuple):
    """What one fold gives.

    ``chosen`` is the setting that inner folds choose, by arm; ``paper`` the five
    metrics of that arm on the test fold, ``ours`` those of our default by coupling, and
    ``algorithm1`` those of all settings of Algorithm I.
    """

    chosen: dict[str, Floats]
    paper: dict[str, Array]
    ours: dict[str, Array]
    algorithm1: dict[Floats, Array]


def effect_study(data: Dataset, *, seed: int = 0, grid: str = "paper") -> PlainData:
    """Five metrics with and without coupling.

    ``groups`` is the paper's comparison, ``arms`` a fair one.
    """
    sample = sample_of(data, seed, grid, fast_rows=FAST_EFFECT_ROWS)
    settings = FAST_SETTINGS if sample.fast else PAPER_SETTINGS
    n_inner = 1 if sample.fast else 2
    folds = []
    for train, test in sample.folds:
        inner = shuffled_folds(len(train), N_INNER_FOLDS, seed)[:n_inner]
        folds.append(_effect_fold(sample, (train, test), inner, settings))
    arms: dict[str, PlainData] = {"paper": {}, "ours": {}}
    for arm in ARMS:
        chosen = [list(fold.chosen[arm]) for fold in folds]
        arms["paper"][arm] = _arm_summary([fold.paper[arm] for fold in folds], chosen)
    for arm in CONVEX_ARMS:
        nothing: list[list[float]] = [[] for _ in folds]
        arms["ours"][arm] = _arm_summary([fold.ours[arm] for fold in folds], nothing)
    return {
        "note": (
            f"{sample.note}; weights chosen by AP on {n_inner} of {N_INNER_FOLDS} "
            f"inner folds, from {len(settings['paper'])} settings with Algorithm I and "
            f"{N_CONVEX_SETTINGS} for convex arms; rules of the paper: "
            f"K = {EFFECT_RULES}, h = {EFFECT_WIDTH_SCALE:g}"
        ),
        "part": sample.extent,
        "metrics": list(METRICS),
        "settings": {arm: len(tried) for arm, tried in settings.items()},
        "groups": compared_groups([fold.algorithm1 for fold in folds]),
        "arms": arms,
    }


def _arm_summary(metrics: list[Array], chosen: list[list[float]]) -> PlainData:
    """An arm's metrics over folds, and the setting that it chose on each."""
    table = np.array(metrics)
    return {**summary(table), "folds": plain(table), "chosen": chosen}


def _effect_fold(
    sample: StudySample, fold: Fold, inner_folds: Sequence[Fold], settings: Settings
) -> EffectFold:
    """Choose a setting for every arm on inner folds, then evaluate on the test fold."""
    X = sample.dense
    Y = sample.Y
    train, test = fold
    inner_scores = []
    inner_labels = []
    for fit, check in inner_folds:
        fit_rows = train[fit]
        check_rows = train[check]
        G, T = paper_rules(X[fit_rows], X[check_rows], EFFECT_RULES, EFFECT_WIDTH_SCALE)
        inner_scores.append(scores_of(G, T, Y[fit_rows], settings))
        inner_labels.append(Y[check_rows])
    chosen = {}
    for arm in ARMS:
        by_fold = [scores[arm] for scores in inner_scores]
        chosen[arm] = _best_setting(by_fold, inner_labels)

    # Of the convex arms the chosen setting alone; the groups need all of Algorithm I.
    needed = {**settings, **{arm: [chosen[arm]] for arm in CONVEX_ARMS}}
    G, T = paper_rules(X[train], X[test], EFFECT_RULES, EFFECT_WIDTH_SCALE)
    scores = scores_of(G, T, Y[train], needed)
    algorithm1 = {}
    for arm in ALGORITHM1_ARMS:
        for setting, S in scores[arm].items():
            algorithm1[setting] = paper_metrics(Y[test], S)
    ours = {}
    for arm in CONVEX_ARMS:
        coupling = None if arm == "ridge" else arm
        ours[arm] = our_metrics(sample, fold, coupling=coupling)
    return EffectFold(
        chosen=chosen,
        paper={arm: paper_metrics(Y[test], scores[arm][chosen[arm]]) for arm in ARMS},
        ours=ours,
        algorithm1=algorithm1,
    )


def _best_setting(
    scores: Sequence[dict[Floats, Array]], labels: Sequence[Array]
) -> Floats:
    """The setting of highest mean AP over inner folds, the first of several."""

    def mean_ap(setting: Floats) -> float:
        aps = []
        for of_fold, truth in zip(scores, labels, strict=True):
            S = of_fold[setting]
            aps.append(average_precision_score(truth, S, convention=CONVENTION))
        return comparable(np.mean(aps))

    return max(scores[0], key=mean_ap)


def scores_of(G: FuzzyMap, T: FuzzyMap, Y: Array, settings: Settings) -> ArmScores:
    """Scores of the test rows T, by arm and setting.

    Settings of Algorithm I must be full grids. A convex fit is
    T Gᵀ U diag(1/(s + ρ + α λ_j)) Uᵀ Y V Vᵀ + base rates, with s and U the spectrum of
    GGᵀ.
    """
    rates = Y.mean(axis=0)
    C = label_correlation(Y)
    # single precision halves the time of the eigendecomposition, as in
    # `solvers.consequents`
    s, U = spectrum(G.astype(np.float32) if len(Y) > LOO_SINGLE else G)
    projected = U.T @ (Y - rates)
    test = T @ G.transpose_matmul(U)
    largest = float(s[-1])
    scores: ArmScores = {}
    for arm, tried in settings.items():
        if arm in ALGORITHM1_ARMS:
            scores[arm] = _algorithm1_scores(G, T, Y, tried)
            continue
        lam, V = np.linalg.eigh(coupling_matrix(C, arm))
        lam = np.maximum(lam, 0.0) * (arm != "ridge")
        rotated = projected @ V
        scores[arm] = {}
        for rho, ratio in tried:
            weights = s[:, None] + largest * rho * (1 + ratio * lam)
            scores[arm][rho, ratio] = test @ ((rotated / weights) @ V.T) + rates
    return scores


def _algorithm1_scores(
    G: FuzzyMap, T: FuzzyMap, Y: Array, settings: Iterable[Floats]
) -> dict[Floats, Array]:
    """Scores of the test rows T by (α, β, γ); the settings must be a full grid."""
    alphas, betas, gammas = (sorted(set(axis)) for axis in zip(*settings, strict=True))
    scores: dict[Any, Array] = algorithm1_grid(
        G, Y, alphas, betas, gammas, then=lambda result: T @ result.P
    )
    return scores


def compared_groups(folds: Sequence[dict[Floats, Array]]) -> PlainData:
    """Group B at its best setting on the reported folds, group A there with α = 0.

    ``folds`` have the five metrics of every setting of Algorithm I.
    """
    tables = {}
    for setting in folds[0]:
        tables[setting] = np.array([fold[setting] for fold in folds])
    coupled = {setting: table for setting, table in tables.items() if setting[0] > 0}
    alpha, beta, gamma = best_by_ap(coupled)
    return {
        "A": summary(tables[0.0, beta, gamma]),
        "B": summary(tables[alpha, beta, gamma]),
        "setting": {"alpha": alpha, "beta": beta, "gamma": gamma},
    }
