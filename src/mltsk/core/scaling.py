"""Scales that put features on a common footing before distances are taken, with weights and a way back.

==========  ===============================================================================================
scale       z of a value x of one feature
==========  ===============================================================================================
quantile    its percentile among the training values (mid-rank for ties), then centred and divided by its SD
standard    (x - mean) / SD
minmax      (x - min) / (max - min), as the authors do; a constant feature stays as it is
==========  ===============================================================================================

All are monotone piecewise linear maps, so one representation serves them: a table of knots per feature
(``values``, ``levels``), linear between knots; it stays a NumPy array where samples are tensors. Weights count as
copies: a row of weight 2 is two rows, of weight 0 none; scikit-learn's QuantileTransformer knows no weights.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .arrays import Array, weighted_mean, weighted_variance
from .backend import asnumpy, cast, is_tensor, namespace, put

# A percentile scale needs no more knots than percentiles that a person could tell apart; 256 also keeps the table of a
# 1,000-feature model at 4 MB.
MAX_KNOTS = 256
_COLUMN_ENTRIES = 2 * 10**7  # put on their scale at a time: 160 MB in double precision


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

        def scaled(x: Array, values: Array, levels: Array, offset: Array, spread: Array) -> Array:
            level = _interpolate(x, values, levels) if self.bounded else (x - values[:, :1]) / _span(values)
            return (level - offset) / spread

        return self._by_columns(X, scaled)

    def invert(self, Z: Array) -> Array:
        """Values in the caller's units of scaled values Z (N, D); the middle of a flat stretch."""

        def unscaled(z: Array, values: Array, levels: Array, offset: Array, spread: Array) -> Array:
            level = z * spread + offset
            return _interpolate(level, levels, values) if self.bounded else values[:, :1] + level * _span(values)

        return self._by_columns(Z, unscaled)

    def columns(self, part: slice) -> "Scaling":
        """The maps of some features."""
        return Scaling(self.values[part], self.levels[part], self.offset[part], self.spread[part], self.bounded)

    def _by_columns(self, X: Array, apply: Callable[..., Array]) -> Array:
        """``apply`` of some columns of X, transposed, and their tables, in double precision as NumPy's `interp`."""
        Z = namespace(X).empty(X.shape, dtype=X.dtype, like=X)
        step = max(1, _COLUMN_ENTRIES // max(1, len(X)))
        for start in range(0, X.shape[1], step):
            part = slice(start, start + step)
            x = cast(X[:, part], np.float64).T
            tables = self.values[part], self.levels[part], self.offset[part, None], self.spread[part, None]
            Z[:, part] = cast(apply(x, *(put(np.asarray(t, np.float64), x) for t in tables)).T, X.dtype)
        return Z


def fit_scaling(X: Array, w: Array, scale: str) -> Scaling:
    """Knots of the scale "quantile", "standard" or "minmax" from dense X (N, D) under the weights w (N,).

    Rows of weight 0 do not count.
    """
    if not bool((w > 0).all()):
        X, w = X[w > 0], w[w > 0]
    if scale == "quantile":
        return _quantile(X, w)
    xp = namespace(X)
    low, high = asnumpy(xp.amin(X, axis=0)), asnumpy(xp.amax(X, axis=0))
    values, levels = np.stack([low, high], axis=1), np.tile([0.0, 1.0], (len(low), 1))
    if scale == "minmax":
        # The authors leave a constant feature as it is: level x - low, offset -low gives back x.
        return Scaling(values, levels, np.where(high > low, 0.0, -low), np.ones_like(low), bounded=False)
    mean, sd = _mean_and_sd(X, w)
    span, spread = _span(values)[:, 0], np.where(sd > 1e-12 * np.maximum(1.0, np.abs(mean)), sd, 1.0)
    return Scaling(values, levels, (mean - low) / span, spread / span, bounded=False)


def column_quantiles(X: Array, shares: Array) -> Array:
    """Quantiles of every column of dense X, (D, Q), as NumPy interpolates between values; NumPy, whatever X is."""
    if not is_tensor(X):
        return np.quantile(X, shares, axis=0).T.copy()
    ordered, at = X.sort(0)[0], shares * (len(X) - 1)
    low = np.floor(at).astype(int)
    below, above = (asnumpy(ordered[np.minimum(low + i, len(X) - 1)]).T for i in (0, 1))
    return below + (above - below) * (at - low)


def _quantile(X: Array, w: Array) -> Scaling:
    raw = _few_rows(X, w) if not is_tensor(X) and len(X) <= MAX_KNOTS else None
    if raw is None:
        values, levels = zip(*(_knots(X[:, d], cast(w, np.float64)) for d in range(X.shape[1])), strict=True)
        raw = Scaling(_padded(values), _padded(levels), np.zeros(X.shape[1]), np.ones(X.shape[1]), bounded=True)
    mean, sd = _mean_and_sd(raw.apply(cast(X, np.float64)), cast(w, np.float64))
    return replace(raw, offset=mean, spread=np.where(sd > 1e-12, sd, 1.0))


def _few_rows(X: Array, w: Array) -> Scaling | None:
    """The scale of all columns at once, where no value of a column comes twice: 60 rows of 50,000 features."""
    order = np.argsort(X, axis=0)
    values, mass = np.take_along_axis(X, order, axis=0), w[order]
    if (values[1:] == values[:-1]).any():
        return None
    levels = (np.cumsum(mass, axis=0) - mass / 2) / w.sum()
    width = X.shape[1]
    return Scaling(values.T.astype(np.float64), levels.T.copy(), np.zeros(width), np.ones(width), bounded=True)


def _knots(x: Array, w: Array) -> tuple[Array, Array]:
    """Distinct values of a feature, thinned to MAX_KNOTS, and the share of weight below each (ties count half)."""
    xp, order = namespace(x), x.argsort()
    x, below = x[order], xp.cumsum(w[order], 0)
    last = xp.concatenate([x[1:] != x[:-1], x[:1] == x[:1]])
    values, below = x[last], below[last]
    levels = (xp.concatenate([0 * below[:1], below[:-1]]) + below) / 2 / below[-1]
    if len(values) > MAX_KNOTS:
        # The first value that reaches each of these is a knot; one that misses it by rounding reaches it.
        shares = np.linspace(float(levels[0]), float(levels[-1]), MAX_KNOTS) * (1 - 1e-12)
        keep = xp.unique(xp.searchsorted(levels, put(shares, levels)).clip(0, len(values) - 1))
        values, levels = values[keep], levels[keep]
    return asnumpy(values).astype(np.float64), asnumpy(levels)


def _padded(rows: Sequence[Array]) -> Array:
    """Rows of different lengths as one table, each filled up with its last value."""
    width = max(map(len, rows))
    return np.stack([np.pad(row, (0, width - len(row)), mode="edge") for row in rows])


def _mean_and_sd(X: Array, w: Array) -> tuple[Array, Array]:
    mean = weighted_mean(X, w)
    return asnumpy(mean), np.sqrt(asnumpy(weighted_variance(X, w, mean)))


def _span(values: Array) -> Array:
    """Width (D, 1) of the training range; 1 for a constant feature."""
    low, high = values[:, :1], values[:, -1:]
    return namespace(values).where(high > low, high - low, 1.0)


def _interpolate(x: Any, values: Any, levels: Any) -> Any:
    """NumPy's `interp` for the rows of x (D, n) between the knots in the rows of ``values`` and ``levels`` (D, Q)."""
    if not is_tensor(x):
        return np.stack([np.interp(*row) for row in zip(x, values, levels, strict=True)])
    xp = namespace(x)
    if values.shape[1] == 1:
        return levels.expand_as(x)
    low = (xp.searchsorted(values.contiguous(), x.contiguous(), right=True) - 1).clip(0, values.shape[1] - 2)
    start, stop = xp.gather(values, 1, low), xp.gather(values, 1, low + 1)
    level = xp.gather(levels, 1, low)
    rise = (xp.gather(levels, 1, low + 1) - level) / xp.where(stop > start, stop - start, 1.0)
    between = xp.where(x > values[:, :1], level + rise * (x - start), levels[:, :1])
    return xp.where(x >= values[:, -1:], levels[:, -1:], between)
