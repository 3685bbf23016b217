"""Curves that are finer than the others, where what is left over asks for it.

A curve of two dozen ramps is fine enough for nearly every feature, and too coarse for
one whose neighbouring values have little in common: the number of a ward, a postcode.
With r_l what the general rule leaves over of label l, of mean square 1, and s_b the sum
of r_l over the c_b rows between two knots of a feature, the sum of s_b² / c_b over B
such bins and L labels is B · L on average, and has a variance of 2 · B · L, where
nothing is left to tell. A feature that lies clearly above gets a ramp between every two
of its knots, if that lowers the error of rows that had no part in choosing it.

Symbols: n rows, D columns, L labels, X (n, D) samples.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, FloatArray, Matrix, asnumpy
from ..core.scales import Scaling
from ..core.terms import Terms
from .order import knots_below
from .scale import MAX_FINE_TERMS, Scale

# How far above chance a feature must lie, in standard deviations: 200 features of pure
# chance then have one such in 17,000 tables. The numbers of communes in a survey lay at
# 102, and macro AP rose from .369 to .405 with them.
MIN_UNEVENNESS = 5.0
MIN_BIN_ROWS = 5
MIN_NEW_RAMPS = 12  # fewer are not worth it next to those that a curve has
MAX_COMPARED_ROWS = 20_000


def finer_scale(
    scale: Scale, X: Array, residuals: FloatArray, Z: Matrix, w: Array
) -> Scale | None:
    """The scale with finer curves where residuals (n, L) of rows X ask for it.

    Z and w are all scaled rows and their weights, over which memberships of the new
    terms are averaged. None where no curve should be finer.
    """
    scaling = scale.scaling
    if scaling is None:
        return None
    chosen = _uneven(scale, scaling, asnumpy(X), residuals)
    if not len(chosen):
        return None
    new = Terms.between_knots(scaling, chosen).averaged(Z, scaling, w)
    return replace(scale, terms=scale.terms.joined(new))


def _uneven(
    scale: Scale, scaling: Scaling, X: FloatArray, residuals: FloatArray
) -> NDArray[np.intp]:
    """Columns whose curves leave something over, as many as can be paid for."""
    n_ramps = np.bincount(scale.terms.feature, minlength=len(scaling.values))
    n_new = scaling.n_values - 1
    room = MAX_FINE_TERMS - len(scale.terms)
    open_columns = np.flatnonzero((n_new >= n_ramps + MIN_NEW_RAMPS) & (n_new <= room))
    if not len(open_columns):
        return open_columns
    unevenness = _unevenness(
        knots_below(X[:MAX_COMPARED_ROWS], scaling),
        X[:MAX_COMPARED_ROWS],
        residuals[:MAX_COMPARED_ROWS],
        open_columns,
    )
    order = np.argsort(-unevenness, kind="stable")
    order = order[unevenness[order] > MIN_UNEVENNESS]
    chosen = open_columns[order]
    return np.sort(chosen[np.cumsum(n_new[chosen]) <= room])


def _unevenness(
    bins: FloatArray,
    X: FloatArray,
    residuals: FloatArray,
    columns: NDArray[np.intp],
) -> FloatArray:
    """How far residuals (n, L) lie above chance in the bins (n, D) of some columns.

    In standard deviations of pure chance, one number per column.
    """
    mean_squares = (residuals * residuals).mean(axis=0)
    sized = residuals / np.sqrt(np.maximum(mean_squares, 1e-300))
    return np.array([_above_chance(bins[:, d], X[:, d], sized) for d in columns])


def _above_chance(bins: FloatArray, x: FloatArray, residuals: FloatArray) -> float:
    """How far residuals (n, L) of size 1 lie above chance in the bins (n,) of values.

    Missing values x (n,) are in no bin.
    """
    measured = np.flatnonzero(x == x)
    codes = bins[measured].astype(np.intp)
    counts = np.bincount(codes)
    is_full = counts >= MIN_BIN_ROWS
    expected = float(is_full.sum() * residuals.shape[1])
    if expected == 0:
        return 0.0
    total = 0.0
    for residual in residuals[measured].T:
        sums = np.bincount(codes, weights=residual)
        total += float((sums[is_full] ** 2 / counts[is_full]).sum())
    return (total - expected) / (2 * expected) ** 0.5
