"""What the label coupling is worth: off, the paper's, convex ones, and the ridge control. The paper's Fig. 5.

Symbols: G (N, Md), Y (N, L), C label correlation; Q = V diag(λ) Vᵀ a coupling scaled to trace L; α, ρ weights.

Two comparisons on the same folds. *Groups A and B* are the paper's: its rules, Algorithm I, group B at the setting of
highest AP on the reported folds, group A at the same setting but α = 0. The *arms* are compared fairly: every one
chooses its weights by the mean AP on inner folds of the training rows, then reports on the test fold, over the same
rules; both arms of Algorithm I choose out of the same number of settings, and so do all convex ones:

    off         Algorithm I with α = 0;  β and γ chosen
    paper       Algorithm I with R = 1 - C;  α, β and γ chosen
    ridge       ½‖G P - Y‖² + (ρ/2)‖P‖²;  ρ chosen: the control, which knows nothing of other labels
    laplacian, signed, shift, precision
                the same + (α/2) Tr(P Q Pᵀ);  ρ and α/ρ chosen

The convex arms have no L1 term, so that all their settings follow from one eigendecomposition: in the basis V, label
column j is a ridge regression with weight ρ + α λ_j. Y is centred for them, as in `solvers.problem`. The last arms are
our default with each of the convex couplings and with none (arm "ridge"), its weights as it finds them itself.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....core.arrays import Array
from ....core.coupling import coupling_matrix, label_correlation
from ....datasets import Dataset
from ....metrics import average_precision_score
from ...solvers.algorithm1 import algorithm1_grid
from ...solvers.problem import LOO_SINGLE, spectrum
from ..cross_validation import Fold, shuffled_folds
from .sample import CONVENTION, Rules, Sample, best_by_ap, five, our_metrics, paper_rules, plain, sample_of, summary

ARMS = ("off", "paper", "ridge", "laplacian", "signed", "shift", "precision")
CONVEX_ARMS = ARMS[2:]
# K and h fixed beforehand: few rules as in the paper's figures, and a width at which no firing strength underflows.
N_RULES, WIDTH_SCALE = 2, 100.0
RHO_RANGE = (-5, 1)  # decades, in units of the largest eigenvalue of GGᵀ

Setting = tuple[float, ...]
Scores = dict[Setting, Array]


@dataclass(frozen=True)
class Values:
    """What weights are chosen from. Both arms of Algorithm I try as many settings, and so do all convex arms."""

    alphas: tuple[float, ...]
    betas: tuple[float, ...]
    gammas: tuple[float, ...]
    inner_folds: int  # how many of three are used
    ratios: tuple[float, ...] = (0.1, 0.32, 1.0, 3.2, 10.0)
    convex: int = 60

    def settings(self, arm: str) -> list[Setting]:
        """(α, β, γ) for Algorithm I, (ρ, α/ρ) for the convex arms."""
        if arm == "paper":
            return [(a, b, g) for a in self.alphas for b in self.betas for g in self.gammas]
        if arm == "off":
            return [(0.0, b, g) for b in self.off_betas for g in self.gammas]
        ratios = (0.0,) if arm == "ridge" else self.ratios
        return [(float(rho), ratio) for rho in np.logspace(*RHO_RANGE, self.convex // len(ratios)) for ratio in ratios]

    @property
    def off_betas(self) -> tuple[float, ...]:
        """β for α = 0: those of group B, which group A needs, and so many more as the values of α would give."""
        needed = (len(self.alphas) - 1) * len(self.betas)
        more = np.geomspace(0.02, 3.0, needed)  # between the powers of ten that the paper tries
        return tuple(sorted({*self.betas, *(float(beta) for beta in more)}))


PAPER = Values((0.01, 0.1, 1.0, 10.0, 100.0), (0.1, 1.0), (1.0, 10.0), inner_folds=2)
FAST = Values((0.01, 100.0), (0.1,), (10.0, 100.0), inner_folds=1)
FAST_ROWS = 800  # Algorithm I takes seconds per run where there are a hundred labels and a thousand features


def study(data: Dataset, *, seed: int = 0, grid: str = "paper") -> dict[str, Any]:
    """Five metrics with and without coupling: the paper's comparison (``groups``) and a fair one (``arms``)."""
    sample = sample_of(data, seed, grid, fast_rows=FAST_ROWS)
    values = FAST if sample.fast else PAPER
    outcomes = [_fold(sample, fold, values, seed) for fold in sample.folds]
    return {
        "note": f"{sample.note}; weights chosen by AP on {values.inner_folds} of 3 inner folds, from "
        f"{len(values.settings('paper'))} settings with Algorithm I and {values.convex} for convex arms; "
        f"rules of the paper: K = {N_RULES}, h = {WIDTH_SCALE:g}",
        "part": sample.part,
        "metrics": ["AP", "HL", "OE", "RL", "CV"],
        "settings": {arm: len(values.settings(arm)) for arm in ARMS},
        "groups": compared_groups([outcome["all"] for outcome in outcomes]),
        "arms": {kind: _collected([outcome[kind] for outcome in outcomes]) for kind in ("paper", "ours")},
    }


def _fold(sample: Sample, fold: Fold, values: Values, seed: int) -> dict[str, Any]:
    """By arm, the setting that inner folds choose and its metrics on the test fold; and all settings of Algorithm I."""
    X, Y, (train, test) = sample.dense, sample.Y, fold
    settings, tried = {arm: values.settings(arm) for arm in ARMS}, []
    for i, j in shuffled_folds(len(train), 3, seed)[: values.inner_folds]:
        rules = paper_rules(X[train[i]], X[train[j]], N_RULES, WIDTH_SCALE)
        tried.append((_scores(rules, Y[train[i]], settings), Y[train[j]]))
    best = {arm: _best([(scores[arm], Y_inner) for scores, Y_inner in tried]) for arm in ARMS}
    settings |= {arm: [best[arm]] for arm in CONVEX_ARMS}  # the groups need all of Algorithm I
    final = _scores(paper_rules(X[train], X[test], N_RULES, WIDTH_SCALE), Y[train], settings)
    couplings = {arm: None if arm == "ridge" else arm for arm in CONVEX_ARMS}
    return {
        "paper": {arm: (best[arm], five(Y[test], final[arm][best[arm]])) for arm in ARMS},
        "ours": {arm: ((), our_metrics(sample, fold, coupling=coupling)) for arm, coupling in couplings.items()},
        "all": {setting: five(Y[test], S) for arm in ("off", "paper") for setting, S in final[arm].items()},
    }


def _scores(rules: Rules, Y: Array, settings: Mapping[str, list[Setting]]) -> dict[str, Scores]:
    ridge = RidgeFamily(rules, Y)
    return {
        arm: dict(ridge.scores(arm, tried)) if arm in CONVEX_ARMS else algorithm1_scores(rules, Y, tried)
        for arm, tried in settings.items()
    }


def algorithm1_scores(rules: Rules, Y: Array, settings: list[Setting]) -> Any:
    """Scores of the test rows by Algorithm I at the settings (α, β, γ), which must be a full grid."""
    axes = [sorted({setting[i] for setting in settings}) for i in range(3)]
    return dict(algorithm1_grid(rules.train, Y, *axes, then=lambda result: rules.test @ result.P))


class RidgeFamily:
    """All couplings and weights over one map: the fit is T diag(1/(s + ρ + α λ_j)) Uᵀ Y V Vᵀ + base rates.

    s, U are the spectrum of GGᵀ and T = G_test Gᵀ U, (N_test, r).
    """

    def __init__(self, rules: Rules, Y: Array) -> None:
        self.rates, self.C = Y.mean(axis=0), label_correlation(Y)
        # single precision halves the time of the eigendecomposition, as in `solvers.problem`
        self.s, U = spectrum(rules.train.astype(np.float32) if len(Y) > LOO_SINGLE else rules.train)
        self.projected = U.T @ (Y - self.rates)
        self.T = rules.test @ rules.train.transpose_matmul(U)

    def scores(self, arm: str, settings: list[Setting]) -> Iterator[tuple[Setting, Array]]:
        """Scores of the test rows at the settings (ρ in units of the largest eigenvalue, α/ρ)."""
        lam, V = np.linalg.eigh(coupling_matrix(self.C, arm))
        rotated, top = self.projected @ V, float(self.s[-1])
        for setting in settings:
            rho, ratio = setting
            weights = self.s[:, None] + top * rho * (1 + ratio * np.maximum(lam, 0.0) * (arm != "ridge"))
            yield setting, self.T @ ((rotated / weights) @ V.T) + self.rates


def _best(tried: list[tuple[Scores, Array]]) -> Setting:
    def mean(setting: Setting) -> float:
        found = [average_precision_score(Y, scores[setting], convention=CONVENTION) for scores, Y in tried]
        return float(np.nan_to_num(np.mean(found), nan=-1.0))

    return max(tried[0][0], key=mean)


def compared_groups(folds: list[dict[Setting, Array]]) -> dict[str, Any]:
    """Group B at its best setting on the reported folds, group A at the same with α = 0."""
    tables = {setting: np.array([fold[setting] for fold in folds]) for setting in folds[0]}
    best = best_by_ap({setting: table for setting, table in tables.items() if setting[0] > 0})
    setting = dict(zip(("alpha", "beta", "gamma"), best, strict=True))
    return {"A": summary(tables[(0.0, *best[1:])]), "B": summary(tables[best]), "setting": setting}


def _collected(folds: list[dict[str, Any]]) -> dict[str, Any]:
    rows = {arm: np.array([fold[arm][1] for fold in folds]) for arm in folds[0]}
    chosen = {arm: [list(fold[arm][0]) for fold in folds] for arm in rows}
    return {arm: {**summary(r), "folds": plain(r), "chosen": chosen[arm]} for arm, r in rows.items()}
