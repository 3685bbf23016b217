"""Scales that put features on a common footing before distances are taken, with weights and a way back.

==========  ===============================================================================================
scale       z of a value x of one feature
==========  ===============================================================================================
quantile    its percentile among the training values (mid-rank for ties), then centred and divided by its SD
standard    (x - mean) / SD
minmax      (x - min) / (max - min), as the authors do; a constant feature stays as it is
==========  ===============================================================================================

All are monotone piecewise linear maps, so one representation serves them: a table of knots per feature
(``values``, ``levels``), linear between knots. Weights count as copies: a row of weight 2 is two rows, of weight 0
none; scikit-learn's QuantileTransformer knows no weights.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .arrays import Array, weighted_mean, weighted_variance

Scale = Literal["quantile", "standard", "minmax"]

# A percentile scale needs no more knots than percentiles that a person could tell apart; 256 also keeps the table of a
# 1,000-feature model at 4 MB.
MAX_KNOTS = 256


@dataclass(frozen=True)
class Scaling:
    """Monotone maps of D features, one row of knots each.

    ``values`` (D, Q) rise strictly up to padding, which repeats the last knot; ``levels`` (D, Q) are where each value
    lies on the scale in [0, 1] before it is centred by ``offset`` and divided by ``spread`` (D,). ``bounded`` scales
    stop at the ends of the training range, the others go on in a straight line.
    """

    values: Array
    levels: Array
    offset: Array
    spread: Array
    bounded: bool

    def apply(self, X: Array) -> Array:
        """Scaled copy of X (N, D), of X's dtype."""
        Z = np.empty_like(X, order="C")
        for d in range(X.shape[1]):
            Z[:, d] = (self._level(X[:, d], d) - self.offset[d]) / self.spread[d]
        return Z

    def invert(self, Z: Array) -> Array:
        """Values in the caller's units of scaled values Z (N, D); the middle of a flat stretch."""
        X = np.empty_like(Z, order="C")
        for d in range(Z.shape[1]):
            X[:, d] = self._value(Z[:, d] * self.spread[d] + self.offset[d], d)
        return X

    def percentile(self, Z: Array) -> Array:
        """Where scaled values lie between the smallest (0) and the largest (1) training value on this scale."""
        return np.clip(Z * self.spread + self.offset, 0.0, 1.0)

    def _level(self, x: Array, d: int) -> Array:
        if self.bounded:
            return np.interp(x, self.values[d], self.levels[d])
        low, high = self.values[d, 0], self.values[d, -1]
        return (x - low) / (high - low) if high > low else x - low

    def _value(self, level: Array, d: int) -> Array:
        if self.bounded:
            return np.interp(level, self.levels[d], self.values[d])
        low, high = self.values[d, 0], self.values[d, -1]
        return low + level * (high - low) if high > low else level + low


def fit_scaling(X: Array, w: Array, scale: Scale) -> Scaling:
    """Knots of the chosen scale from dense X (N, D) under the weights w (N,); rows of weight 0 do not count."""
    X, w = X[w > 0], w[w > 0]
    if scale == "quantile":
        return _quantile(X, w)
    low, high = X.min(axis=0), X.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    values, levels = np.stack([low, high], axis=1), np.tile([0.0, 1.0], (X.shape[1], 1))
    if scale == "minmax":
        # The authors leave a constant feature as it is: level x - low, offset -low gives back x.
        offset = np.where(high > low, 0.0, -low)
        return Scaling(values, levels, offset, np.ones_like(span), bounded=False)
    mean = weighted_mean(X, w)
    sd = np.sqrt(weighted_variance(X, w, mean))
    spread = np.where(sd > 1e-12 * np.maximum(1.0, np.abs(mean)), sd, 1.0) / span
    return Scaling(values, levels, (mean - low) / span, spread, bounded=False)


def _quantile(X: Array, w: Array) -> Scaling:
    tables = [_percentile_knots(X[:, d], w) for d in range(X.shape[1])]
    width = max(len(values) for values, _ in tables)
    values = np.stack([np.pad(v, (0, width - len(v)), mode="edge") for v, _ in tables])
    levels = np.stack([np.pad(p, (0, width - len(p)), mode="edge") for _, p in tables])
    raw = Scaling(values, levels, np.zeros(X.shape[1]), np.ones(X.shape[1]), bounded=True)
    Z = raw.apply(np.asarray(X, dtype=np.float64))
    mean = weighted_mean(Z, w)
    sd = np.sqrt(weighted_variance(Z, w, mean))
    return Scaling(values, levels, mean, np.where(sd > 1e-12, sd, 1.0), bounded=True)


def _percentile_knots(x: Array, w: Array) -> tuple[Array, Array]:
    """Distinct values of one feature, thinned to MAX_KNOTS, and the share of weight below each (ties count half)."""
    values, where = np.unique(x, return_inverse=True)
    mass = np.bincount(where, weights=w, minlength=len(values))
    below = np.cumsum(mass)
    percentile = (below - mass / 2) / below[-1]
    if len(values) > MAX_KNOTS:
        # the values nearest to equally spaced percentiles, ends included: a function of the weighted sample alone
        grid = np.linspace(percentile[0], percentile[-1], MAX_KNOTS)
        keep = np.unique(np.searchsorted(percentile, grid * (1 - 1e-12)).clip(0, len(values) - 1))
        values, percentile = values[keep], percentile[keep]
    return values.astype(np.float64), percentile
