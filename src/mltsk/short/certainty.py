"""How sure a long model is of its numbers, and how far labels lie from their scores.

Symbols: N rows, L labels, Q columns of the long model's design, P of them terms, R
pairs.
"""

import numpy as np
from scipy.sparse import block_diag, eye_array
from scipy.sparse.linalg import inv

from ..core.arrays import Array, FloatArray, Matrix, spread_rows
from ..core.certainty import Certainty
from ..fit.design import Design, gram
from ..fit.ridge import Penalty
from ..fit.scale import OVERLAPPING
from ..probabilities import Curves, probabilities_of
from .training import MAX_CHOICE_ROWS, TrainingRows

MIN_LABEL_VARIANCE = 1e-4  # of a label that is told nearly without doubt
MAX_CERTAINTY_COLUMNS = 5_000  # of a long model whose certainty is worked out
MAX_CERTAIN_RULE_NUMBERS = 500  # of exceptions; beyond, none of them has an interval


def certainty_of(
    rows: TrainingRows, max_rule_numbers: int = MAX_CERTAIN_RULE_NUMBERS
) -> Certainty | None:
    """How sure a long model is of its numbers, from at most 2,000 rows.

    Of more than ``max_rule_numbers`` of exceptions nothing is said, but others are less
    sure because of them. None where there are too many others, or coupled labels.
    """
    design = rows.design
    penalty = rows.penalty
    n_numbers = design.n_columns
    has_many_rules = n_numbers - design.first_rule > max_rule_numbers
    if has_many_rules:
        n_numbers = design.first_rule
    if n_numbers > MAX_CERTAINTY_COLUMNS or penalty.basis is not None:
        return None
    sample = rows.take(spread_rows(len(rows), MAX_CHOICE_ROWS))
    Z = design.scale.apply(sample.X)
    w = sample.row_weights
    stands_for = w * (rows.row_weights.sum() / w.sum())
    if has_many_rules:
        information = _information_without_rules(design, penalty, Z, stands_for)
    else:
        information = _information(design, penalty, Z, stands_for)
    units = _units(design)[:n_numbers]
    information /= units
    information /= units[:, None]
    if design.scale.name in OVERLAPPING:
        # of the numbers of ramps, which are those of the design's columns times H
        from_ramps = inv(design.scale.heights.tocsc())
        back = block_diag([from_ramps, eye_array(n_numbers - design.n_terms)])
        information = back.T @ information @ back
    return Certainty(
        information=information,
        noise=sample.noise(sample.loo_scores),
        numbers=np.arange(n_numbers) if has_many_rules else None,
    )


def _information(design: Design, penalty: Penalty, Z: Matrix, w: Array) -> FloatArray:
    """Information (Q, Q) about the solution, from scaled rows Z of weights w (N,)."""
    Phi = design.rows(Z)
    centred = (Phi - w @ Phi / w.sum()) * np.sqrt(w)[:, None]
    ridge = design.shrunk(penalty.rho * np.eye(design.n_columns))
    return np.asarray(centred.T @ centred + ridge)


def _information_without_rules(
    design: Design, penalty: Penalty, Z: Matrix, w: Array
) -> FloatArray:
    """Information (P + R, P + R) about terms and pairs, whatever exceptions are.

    It is what the inverse of `_information` has for them, inverted: Aᵀ (I + K/ρ)⁻¹ A
    with the kernel K (N, N) of the exceptions, which takes the memory of the rows only.
    """
    root = np.sqrt(w)
    Phi = design.rows_without_rules(Z)
    centred = (Phi - w @ Phi / w.sum()) * root[:, None]
    K = design.kernel(Z) - gram(Phi)
    mean = K @ w / w.sum()
    K -= mean[:, None]
    K -= mean - w @ mean / w.sum()
    K *= root[:, None]
    K *= root / penalty.rho
    K[np.diag_indices_from(K)] += 1.0
    information = centred.T @ np.linalg.solve(K, centred)
    return np.asarray(information + penalty.rho * np.eye(design.first_rule))


def _units(design: Design) -> FloatArray:
    """What a number of the model is, as a multiple of that of its column, (Q,)."""
    general = np.broadcast_to(np.sqrt(design.term_weights), design.n_terms)
    paired = np.full(len(design.pairs), design.pair_weight**0.5)
    units = np.concatenate([general, paired])
    n_rules = len(design.rules)
    if not n_rules:
        return units
    n_per_rule = (design.n_columns - design.first_rule) // n_rules
    per_rule = np.full(n_per_rule, design.scale.variance**-0.5)
    per_rule[0] = 1.0
    of_rules = np.tile(per_rule, n_rules) * design.rule_weight**0.5
    return np.concatenate([units, of_rules])


def noise_of_log_odds(
    rows: TrainingRows, scores: FloatArray, curves: Curves
) -> FloatArray:
    """Standard deviation (L,) of the labels from honest scores (n, L), in log-odds.

    It is at least that of a logistic regression, where labels vary by p (1 - p): flat
    curves of labels that are hard to tell take away from numbers, not from doubts. The
    truth was inside the intervals of weak effects in .81 of cases without, in .91 with
    this (300 rows).
    """
    p = probabilities_of(curves.log_odds(scores))
    weights = rows.label_weights
    variance = (weights * p * (1 - p)).sum(axis=0) / weights.sum(axis=0)
    of_logistic = np.maximum(variance, MIN_LABEL_VARIANCE) ** -0.5
    return np.maximum(rows.noise(scores) * curves.slopes, of_logistic)
