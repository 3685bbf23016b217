"""Ramps for features that have a straight line and are wished to bend.

Where a table is small, leave-one-out often chooses straight lines alone. A line that
passes through three points, or is flat above a value, is no line: such features get the
ramps that the fit could have chosen, and these have together the weight of the line.

Symbols: P terms, N rows, D columns.
"""

from dataclasses import replace

import numpy as np

from ..core.arrays import FloatArray, Matrix, weighted_mean_and_sd
from ..core.terms import Terms
from .design import MIN_TERM_VARIANCE, Design

BENT = ("points", "above", "below")  # kinds of wishes that a straight line cannot meet


def straight_columns(terms: Terms, columns: set[int]) -> list[int]:
    """Those of some columns that have a straight line and nothing else."""
    if terms.straight is None:
        return []
    straight = []
    for column in sorted(columns):
        own = terms.feature == column
        if own.any() and terms.straight[own].all():
            straight.append(column)
    return straight


def with_ramps(design: Design, columns: list[int], X: Matrix, w: FloatArray) -> Design:
    """A design in which some columns have ramps next to their lines.

    X (N, D) are rows in the caller's units, w (N,) their weights.
    """
    scaling = design.scale.scaling
    if scaling is None:
        return design
    every = Terms.ramps(scaling)
    ramps = every.take(np.flatnonzero(np.isin(every.feature, columns)))
    Z = design.scale.apply(X)
    ramps = ramps.averaged(Z, scaling, w)
    terms = _joined(design.scale.terms, ramps)
    wider = replace(design.scale, terms=terms)
    variances = weighted_mean_and_sd(wider.general(Z), w)[1] ** 2
    variances = np.maximum(variances, MIN_TERM_VARIANCE)
    weights = _weights(design, terms, variances)
    return replace(design, scale=wider, term_weights=weights)


def _joined(terms: Terms, ramps: Terms) -> Terms:
    """Terms and further ramps, sorted by feature; new ones come after the old."""
    if terms.low is None or terms.high is None or terms.straight is None:
        raise ValueError("only lines next to ramps can be joined by others")
    if ramps.low is None or ramps.high is None:
        raise ValueError("linear terms are no ramps")
    feature = np.concatenate([terms.feature, ramps.feature])
    order = np.argsort(feature, kind="stable")
    straight = np.concatenate([terms.straight, np.zeros(len(ramps), dtype=bool)])
    return Terms(
        feature=feature[order],
        low=np.concatenate([terms.low, ramps.low])[order],
        high=np.concatenate([terms.high, ramps.high])[order],
        mean=np.concatenate([terms.mean, ramps.mean])[order],
        straight=straight[order],
    )


def _weights(design: Design, terms: Terms, variances: FloatArray) -> FloatArray:
    """Weights (P,) of terms: old ones keep theirs, new ones have that of their line."""
    old = design.scale.terms
    old_weights = np.broadcast_to(np.asarray(design.term_weights), len(old))
    weights = np.zeros(len(terms))
    for column in np.unique(terms.feature).tolist():
        own = np.flatnonzero(terms.feature == column)
        before = old_weights[old.feature == column]
        weights[own[: len(before)]] = before
        ramps = own[len(before) :]
        if len(ramps):
            line = own[0]
            total = float(variances[ramps].sum())
            weights[ramps] = before[0] * variances[line] / total
    return weights
