"""Ramps for features whose curve cannot bend and is wished to.

Where a table is small, leave-one-out often chooses straight lines alone, and a feature
of few values, such as a stage, has a single ramp. What passes through three points, or
is flat above a value, is neither: such features get the ramps that the fit could have
chosen, those of few values one from each value to the next. Together these have the
weight of what was there.

Symbols: P terms, N rows, D columns.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..core.arrays import FloatArray, Matrix, weighted_mean_and_sd
from ..core.scales import Scaling
from ..core.terms import FEW_VALUES, RAMPS, Terms
from .curve_shape import CurveShape
from .design import Design
from .scale import MIN_TERM_VARIANCE, OVERLAPPING

# Kinds of wishes that a curve of one stretch cannot meet.
BENT = ("points", "above", "below")


def unbending_columns(design: Design, columns: set[int]) -> list[int]:
    """Those of some columns whose curve is one stretch, though it could bend.

    A column of two values has nowhere to bend.
    """
    terms = design.scale.terms
    scaling = design.scale.scaling
    if terms.low is None or scaling is None or design.scale.name in OVERLAPPING:
        return []
    unbending = []
    for column in sorted(columns):
        shape = CurveShape.of(terms, scaling, column)
        if not len(shape.positions) or scaling.n_values[column] <= 2:
            continue
        if len(shape.ends) == 2:
            unbending.append(column)
    return unbending


def with_ramps(design: Design, columns: list[int], X: Matrix, w: FloatArray) -> Design:
    """A design in which some columns have ramps next to what they had.

    X (N, D) are rows in the caller's units, w (N,) their weights.
    """
    scaling = design.scale.scaling
    if scaling is None:
        return design
    Z = design.scale.apply(X)
    ramps = _new_ramps(scaling, columns).averaged(Z, scaling, w)
    terms = _joined(design.scale.terms, ramps)
    wider = replace(design.scale, terms=terms)
    variances = weighted_mean_and_sd(wider.general(Z), w)[1] ** 2
    variances = np.maximum(variances, MIN_TERM_VARIANCE)
    weights = _weights(design, terms, variances)
    return replace(design, scale=wider, term_weights=weights)


def _new_ramps(scaling: Scaling, columns: list[int]) -> Terms:
    """Ramps of some columns, whose means are still 0.

    Those of a column of few values go from each value to the next.
    """
    feature: list[int] = []
    ends: list[tuple[float, float]] = []
    for column in columns:
        n_values = int(scaling.n_values[column])
        own = list(RAMPS)
        if n_values <= FEW_VALUES:
            own = list(pairwise(scaling.levels[column, :n_values].tolist()))
        feature += [column] * len(own)
        ends += own
    low, high = np.array(ends).reshape(-1, 2).T.copy()
    return Terms(
        feature=np.array(feature, dtype=np.intp),
        low=low,
        high=high,
        mean=np.zeros(len(feature)),
    )


def _joined(terms: Terms, ramps: Terms) -> Terms:
    """Terms and further ramps, sorted by feature; new ones come after the old."""
    if terms.low is None or terms.high is None:
        raise ValueError("linear terms cannot be joined by ramps")
    if ramps.low is None or ramps.high is None:
        raise ValueError("linear terms are no ramps")
    feature = np.concatenate([terms.feature, ramps.feature])
    order = np.argsort(feature, kind="stable")
    straight = None
    if terms.straight is not None:
        none = np.zeros(len(ramps), dtype=bool)
        straight = np.concatenate([terms.straight, none])[order]
    return Terms(
        feature=feature[order],
        low=np.concatenate([terms.low, ramps.low])[order],
        high=np.concatenate([terms.high, ramps.high])[order],
        mean=np.concatenate([terms.mean, ramps.mean])[order],
        straight=straight,
    )


def _weights(design: Design, terms: Terms, variances: FloatArray) -> FloatArray:
    """Weights (P,) of terms: old ones keep theirs, new ones share that of the old."""
    old = design.scale.terms
    old_weights = np.broadcast_to(np.asarray(design.term_weights), len(old))
    weights = np.zeros(len(terms))
    for column in np.unique(terms.feature).tolist():
        own = np.flatnonzero(terms.feature == column)
        before = old_weights[old.feature == column]
        weights[own[: len(before)]] = before
        ramps = own[len(before) :]
        if len(ramps):
            old_term = own[0]
            total = float(variances[ramps].sum())
            weights[ramps] = before[0] * variances[old_term] / total
    return weights
