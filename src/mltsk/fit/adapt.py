"""A model carried to other rows: the same terms, numbers drawn towards the old ones.

What the old model misses on the new rows, e = y - s_old, is fitted by the same columns:

    minimise over b, D   Σ_i w_i ‖e_i - b - Φ_i D‖² + λ ‖D‖²

so the new numbers are the old ones plus D, and λ says how strongly they are drawn
towards them: λ = ∞ is the old model. Leave-one-out of this ridge problem is in closed
form, and so is the choice of λ. Scores of the old model are log-odds; divided by the
slope 1 / (p (1 - p)) of its base rate p they are on the scale of labels, where squared
errors mean something. On visits and stops that was as good as the slopes of the fit
itself, which no model file holds (macro AP within .002).

Symbols: n rows, L labels, Q columns of the design.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import (
    FloatArray,
    Matrix,
    asnumpy,
    dense,
    spread_rows,
    weights_per_label,
)
from ..probabilities import Curves
from ..system import FuzzySystem
from .corrector import Corrector
from .design import Coefficients, Design, ExceptionRules
from .left_out import Groups
from .ridge import Penalty
from .rows import Block
from .scale import Scale
from .solve import HeldRows, groups_of_labels, solve
from .sums import FitSums

# Strengths λ that are tried; the last one is the old model as it is. Less than 1 was
# never best, with thousands of rows neither.
STRENGTHS = (*(4.0 ** np.arange(7)).tolist(), np.inf)
# Something weaker than the strongest must lower the leave-one-out error by this many
# standard errors, and by more where cases are few: with 10 rows of stops, the lowest
# error alone lost .026 of macro AP, with 1,000 a whole standard error lost .004.
MIN_STANDARD_ERRORS = 0.5
FEW_CASES = 20
MAX_WEIGHED_ROWS = 2_000  # by which columns are weighed
MIN_RATE = 0.01  # of a label, for its slope
MIN_BLOCK_VARIANCE = 1e-9


def for_labels_elsewhere(system: FuzzySystem, names: tuple[str, ...]) -> FuzzySystem:
    """A system for labels of these names; those that it does not know have only 0."""
    positions = {name: j for j, name in enumerate(system.label_names)}
    chosen = np.array([positions.get(name, 0) for name in names], dtype=np.intp)
    is_new = np.array([name not in positions for name in names])
    own = system.for_labels(chosen)

    def without_new(numbers: FloatArray) -> FloatArray:
        return np.ascontiguousarray(np.where(is_new, 0.0, numbers))

    return replace(
        own,
        label_names=names,
        intercept=without_new(own.intercept),
        term_coef=without_new(own.term_coef),
        pair_coef=None if own.pair_coef is None else without_new(own.pair_coef),
        coef=without_new(own.coef),
        thresholds=without_new(own.thresholds),
        certainty=None,
        members=None if is_new.any() else own.members,
    )


def slopes_of(system: FuzzySystem, rates: FloatArray) -> FloatArray:
    """Slopes (L,) that turn scores on the scale of labels into log-odds.

    They are those at the base rates of the rows that a system was fitted to, or at
    ``rates`` (L,) where it does not know these.
    """
    members = system.members
    if members is not None:
        observed = np.maximum(members.observed[-1], 1)
        rates = members.positives[-1] / observed
    rates = np.clip(rates, MIN_RATE, 1 - MIN_RATE)
    return np.asarray(1.0 / (rates * (1.0 - rates)))


def design_of(system: FuzzySystem, X: Matrix, w: FloatArray) -> Design:
    """The columns of a system, weighed by rows X (n, D) of weights w (n,).

    Lines, ramps, pairs and exceptions each have a total variance of 1 over these rows.
    Columns whose numbers are all 0 in the system have none.
    """
    terms = system.terms
    columns = system.columns
    rules = ExceptionRules(
        np.asarray(system.centers),
        width=float(system.widths.flat[0]) if system.widths.size else 1.0,
        order=system.order,
        firing=system.firing,
    )
    scale = Scale(
        # the numbers are those of ramps, whatever the ridge of the old fit was on
        name="quantile" if terms.low is not None else system.scale_name,
        scaling=system.scaling,
        terms=terms,
        variance=_total_share(system),
        is_gap=None if columns is None else columns.is_gap,
        n_given=0 if columns is None else len(columns.rules),
    )
    plain = Design(scale, rules, pairs=system.pairs)
    return _weighed(plain, system, X, w)


def _total_share(system: FuzzySystem) -> float:
    """Total variance of samples on the scale of a system."""
    return 1.0 if system.scaling is None else float(system.scaling.share.sum())


def _weighed(plain: Design, system: FuzzySystem, X: Matrix, w: FloatArray) -> Design:
    """A design whose kinds of columns have a total variance of 1 over rows (n, D)."""
    sample = spread_rows(len(w), MAX_WEIGHED_ROWS)
    Z = plain.scale.apply(X[sample])
    share = w[sample] / w[sample].sum()
    T = plain.scale.general(Z)
    variances = _variances(T, share)
    used: NDArray[np.bool_] = np.asarray(np.asarray(system.term_coef).any(axis=1))
    straight = plain.scale.terms.straight
    is_line = np.zeros_like(used) if straight is None else straight
    weights = np.zeros(len(used))
    for kind in (used & is_line, used & ~is_line):
        weights[kind] = 1.0 / max(float(variances[kind].sum()), MIN_BLOCK_VARIANCE)
    pair_weight = 1.0
    if len(plain.pairs):
        of_pairs = _variances(plain.paired(Z), share)
        pair_weight = 1.0 / max(float(of_pairs.sum()), MIN_BLOCK_VARIANCE)
    rule_weight = 1.0
    if len(plain.rules):
        of_rules = _variances(plain.firing(Z), share)
        rule_weight = 1.0 / max(float(of_rules.sum()), MIN_BLOCK_VARIANCE)
    return replace(
        plain, term_weights=weights, pair_weight=pair_weight, rule_weight=rule_weight
    )


def _variances(columns: Matrix, share: FloatArray) -> FloatArray:
    """Variances (Q,) of columns (n, Q) under shares (n,) that add up to 1."""
    values = asnumpy(dense(columns))
    mean = share @ values
    return np.asarray(np.maximum(share @ values**2 - mean**2, 0.0))


@dataclass(frozen=True)
class Correction:
    """What new rows add to the numbers of a model.

    Parameters
    ----------
    strength : float
        λ; infinity where the old numbers stay as they are.
    numbers : Coefficients
        What is added, on the scale of labels. It is 0 on average over the rows: how
        frequent a label is there is told by the line from scores to log-odds.
    loo_scores : (n, L)
        What is added to the score of each row by the others.
    errors : (n,)
        Squared leave-one-out errors over labels, each divided by its variance.
    """

    strength: float
    numbers: Coefficients
    loo_scores: FloatArray
    errors: FloatArray


def correction(
    block: Block,
    design: Design,
    variances: FloatArray,
    *,
    n_cases: float,
    may_stay: bool,
) -> Correction:
    """Fit what a model misses on rows, drawn towards 0 as leave-one-out says.

    Parameters
    ----------
    block : Block
        Its Y (n, L) are labels less the scores of the old model.
    design : Design
    variances : (L,)
        Of the labels, by which squared errors are divided.
    n_cases : float
        How many rows of the rarer kind a label has, on average.
    may_stay : bool
        Whether the strongest choice is the old model; where there is none, the lowest
        error is taken.
    """
    Z = design.scale.apply(block.X)
    tried: list[Correction] = []
    for strength in STRENGTHS if may_stay else STRENGTHS[:-1]:
        tried.append(_corrected(block, Z, design, strength, variances))
    errors = np.stack([candidate.errors for candidate in tried])
    if not may_stay:
        return tried[int(errors.sum(axis=1).argmin())]
    return tried[strongest_choice(errors, n_cases, block.groups)]


def under_wishes(
    found: Correction,
    block: Block,
    design: Design,
    variances: FloatArray,
    *,
    corrector: Corrector,
    old: Coefficients,
) -> Correction:
    """What new rows add where the sum of old and added numbers is to meet wishes.

    Parameters
    ----------
    found : Correction
        Without wishes; its strength stays.
    block, design, variances
        As in `correction`.
    corrector : Corrector
        With wishes that no slope from scores to log-odds changes.
    old : Coefficients
        Numbers of the old model, on the scale of labels.
    """
    n_labels = block.Y.shape[1]
    label_groups = groups_of_labels(block.w, n_labels)
    sums = FitSums.of_rows(block, design, found.strength, label_groups)
    sums = replace(sums, curves=Curves(np.ones(n_labels), np.zeros(n_labels)))
    weights = np.broadcast_to(design.term_weights, design.n_terms)[:, None]
    roots = np.sqrt(np.where(weights > 0, weights, 1.0))
    terms = np.where(weights > 0, old.terms / roots, 0.0)
    start = np.vstack([terms, old.pairs / design.pair_weight**0.5])
    wished = corrector.corrected(sums, start)
    loo_scores = wished.left_out(block, len(block.Y))
    numbers = wished.design.coefficients(wished.B, wished.means, 0 * wished.rates)
    # pairs that are left to none of these labels stay as they are
    pairs = np.zeros((len(design.pairs), n_labels))
    pairs[wished.design.pairs.positions_in(design.pairs)] = numbers.pairs
    return Correction(
        strength=found.strength,
        numbers=numbers._replace(pairs=pairs),
        loo_scores=loo_scores - wished.rates,
        errors=squared_errors(block, loo_scores, variances),
    )


def _corrected(
    block: Block, Z: Matrix, design: Design, strength: float, variances: FloatArray
) -> Correction:
    """The correction of one strength."""
    if not np.isfinite(strength):
        return _unmoved(block, design, variances)
    solution = solve(
        block.all_rows(),
        design,
        Penalty(strength),
        HeldRows(block, Z, len(block.w)),
        groups_of_labels(block.w, block.Y.shape[1]),
    )
    rates = asnumpy(solution.rates)
    loo_scores = asnumpy(solution.loo_scores)
    return Correction(
        strength=strength,
        numbers=design.coefficients(
            asnumpy(solution.B), asnumpy(solution.mean), 0 * rates
        ),
        loo_scores=loo_scores - rates,
        errors=squared_errors(block, loo_scores, variances),
    )


def _unmoved(block: Block, design: Design, variances: FloatArray) -> Correction:
    """The correction that moves nothing."""
    Y = asnumpy(block.Y)
    weights = weights_per_label(asnumpy(block.w), Y.shape)
    rates = (weights * Y).sum(axis=0) / weights.sum(axis=0)
    nothing = np.zeros((design.n_columns, Y.shape[1]))
    loo_scores = rates + 0 * Y
    return Correction(
        strength=np.inf,
        numbers=design.coefficients(nothing, nothing, 0 * rates),
        loo_scores=0 * Y,
        errors=squared_errors(block, loo_scores, variances),
    )


def squared_errors(
    block: Block, loo_scores: FloatArray, variances: FloatArray
) -> FloatArray:
    """Squared errors (n,) of leave-one-out scores (n, L), summed over labels."""
    weights = weights_per_label(asnumpy(block.w), loo_scores.shape)
    residuals = np.where(weights > 0, asnumpy(block.Y) - loo_scores, 0.0)
    return np.asarray((weights * residuals**2 / variances).sum(axis=1))


def rarer_cases(Y: FloatArray, w: FloatArray) -> float:
    """How many rows have a label or, if these are fewer, have it not: mean over labels.

    Y and w are (n, L); rows of weight 0 were not observed.
    """
    positives = ((w > 0) & (Y > 0)).sum(axis=0)
    negatives = ((w > 0) & (Y <= 0)).sum(axis=0)
    return float(np.minimum(positives, negatives).mean())


def strongest_choice(
    errors: FloatArray,
    n_cases: float,
    groups: Groups,
    *,
    doubt: float = MIN_STANDARD_ERRORS,
) -> int:
    """The last of some candidates whose error is not clearly above the lowest.

    ``errors`` (candidates, n) are those of rows, which count by group where there are
    groups; ``n_cases`` as in `correction`. With many cases, ``doubt`` standard errors
    are clear.
    """
    if groups is not None:
        n_groups = int(groups.max()) + 1
        sums = [np.bincount(groups, weights=own, minlength=n_groups) for own in errors]
        errors = np.stack(sums)
    totals = errors.sum(axis=1)
    best = int(totals.argmin())
    deviations = (errors - errors[best]).std(axis=1) * np.sqrt(errors.shape[1])
    if n_cases == 0:
        return len(totals) - 1
    needed = (doubt + FEW_CASES / n_cases) * deviations
    return int(np.flatnonzero(totals - totals[best] <= needed).max())


def corrected_system(
    system: FuzzySystem, numbers: Coefficients, slopes: FloatArray
) -> FuzzySystem:
    """A system with numbers on the scale of labels added, times slopes (L,)."""
    pair_coef = system.pair_coef
    if pair_coef is not None:
        pair_coef = pair_coef + numbers.pairs * slopes
    coef = system.coef
    if len(system.centers):
        coef = np.ascontiguousarray(coef + numbers.rules * slopes)
    return replace(
        system,
        intercept=system.intercept + numbers.intercept * slopes,
        term_coef=np.ascontiguousarray(system.term_coef + numbers.terms * slopes),
        pair_coef=pair_coef,
        coef=coef,
    )
