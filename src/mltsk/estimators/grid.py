"""The points that `MLTSKClassifierCV` tries when none are given: plain parameters of the classifier, from the data.

Weights of the problem mean nothing without the data that they weigh against, so leave-one-out on a few hundred evenly
spread rows says around which values to look: for every number of rules the best ridge τ without coupling, which a ratio
α/ρ shares out as τ = ρ + α (a coupling weighs 1 a label on average), and for β multiples of what "auto" would take. The
points are then numbers, and `GridSearchCV` can be given the same ones.
"""

import warnings

import numpy as np
from sklearn.base import clone

from ..core.arrays import spread_rows
from ..core.fit import L1_SHARE
from ..core.fuzzymap import FuzzyMap
from ..exceptions import RuleCollapseWarning
from ..paper.solvers.ridge import LooRows
from .antecedents import fit_rules, fit_scale

LINES = ((None, 0.0), ("precision", 0.32), ("precision", 3.2), ("laplacian", 1.0))
# Numbers of rules, widths and L1 weights in units of the automatic ones. A point with 20 rules costs ten with 2, and
# neighbours in the L1 weight start from each other: small systems are searched closely, those of the default's
# size loosely. Chosen on two seeds of outer folds and seen on two others: AP as a mean of seven sets is .7537 and
# .7560, where 2, 4, 8 and 16 rules with five L1 weights each, at twice the price, find .7504 and .7576: no worse.
PARTS = (
    ((2, 4), (1.0, 2.0), tuple(i / 10 for i in range(12))),
    ((20,), (1.0,), (0.0, 1.0)),
)
# Leave-one-out for a grid needs no more: its values are steps of a factor of 2 to 10.
SKETCH_ROWS = 400


def default_points(estimator, X, targets, w) -> list[dict]:
    """200 points: 2 or 4 rules, 2 widths, 4 couplings with their weights, 12 L1 weights; 8 of them with 20 rules."""
    rows = spread_rows(X.shape[0], SKETCH_ROWS)
    Y, ws = targets.Y[rows] - (w @ targets.Y) / w.sum(), w[rows]
    _, _, Z = fit_scale(X[rows], ws, estimator.scale)
    Z, Y = Z.astype(np.float32), Y.astype(np.float32)  # weights need three digits
    points = []
    for n_rules, widths, multiples in ((min(k, X.shape[0]), *how) for counts, *how in PARTS for k in counts):
        rules = _rules(clone(estimator).set_params(n_rules=n_rules, width_scale="auto"), Z, ws)
        loo = LooRows.of(FuzzyMap.of(Z, rules.centers, rules.widths), Y, ws, total=float(w.sum()))
        scales = ["auto" if width == 1 else _rounded(width * rules.width_scale) for width in widths]
        weights = _weights(loo, multiples)
        points += [{"n_rules": n_rules, "width_scale": h, **own} for h in scales for own in weights]
    return points


def _rules(estimator, Z, w):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuleCollapseWarning)
        return fit_rules(estimator, Z, w)


def _weights(loo: LooRows, multiples) -> list[dict]:
    n_labels = loo.Y.shape[1]
    best = loo.choose(np.zeros((n_labels, n_labels), dtype=loo.Y.dtype), alpha=0.0)
    beta, found = L1_SHARE * float(np.mean(best.noise)) * best.column_norm, []
    for kind, ratio in LINES:
        rho = best.rho / (1 + ratio)
        line = {"coupling": kind, "correlation_weight": _rounded(ratio * rho), "ridge": _rounded(rho)}
        found += [{**line, "l1_weight": _rounded(multiple * beta)} for multiple in multiples]
    return found


def _rounded(x: float) -> float:
    """Three digits: enough for a weight, and readable."""
    return float(f"{x:.3g}")
