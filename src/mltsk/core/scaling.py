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

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .arrays import Array, weighted_mean, weighted_variance
from .backend import Tensor, asnumpy, cast, is_tensor, namespace, put

# A percentile scale needs no more knots than percentiles that a person could tell apart; 256 also keeps the table of a
# 1,000-feature model at 4 MB.
MAX_KNOTS = 256
_COLUMN_ENTRIES = 2 * 10**7  # of a tensor, put on their scale at a time: 160 MB in double precision


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
        if is_tensor(X):
            return self._apply_tensor(X)
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

    def columns(self, part: slice) -> "Scaling":
        """The maps of some features."""
        return Scaling(self.values[part], self.levels[part], self.offset[part], self.spread[part], self.bounded)

    def standardised(self, mean: Array, sd: Array) -> "Scaling":
        """The same maps, centred by ``mean`` and divided by ``sd`` (D,) where that is not 0."""
        return replace(self, offset=mean, spread=np.where(sd > 1e-12, sd, 1.0))

    def percentile(self, Z: Array) -> Array:
        """Where scaled values lie between the smallest (0) and the largest (1) training value on this scale."""
        return np.clip(Z * self.spread + self.offset, 0.0, 1.0)

    def _apply_tensor(self, X: Tensor) -> Tensor:
        """Columns some at a time, in double precision as NumPy's `interp` computes."""
        Z, tables = namespace(X).empty_like(X), (self.values, self.levels, self.offset, self.spread)
        step = max(1, _COLUMN_ENTRIES // max(1, len(X)))
        for start in range(0, X.shape[1], step):
            part = slice(start, start + step)
            values, levels, offset, spread = (
                put(np.asarray(t[part], np.float64), cast(Z[:0], np.float64)) for t in tables
            )
            x = cast(X[:, part], np.float64).T
            level = _interpolate(x, values, levels) if self.bounded else _straight(x, values)
            Z[:, part] = cast(((level - offset[:, None]) / spread[:, None]).T, X.dtype)
        return Z

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
    if scale == "minmax":
        return linear_scaling(low, high)
    centre = weighted_mean(X, w)
    return linear_scaling(low, high, asnumpy(centre), np.sqrt(asnumpy(weighted_variance(X, w, centre))))


def linear_scaling(low: Array, high: Array, mean: Array | None = None, sd: Array | None = None) -> Scaling:
    """Straight maps of features with the given ends (D,): to mean 0 and SD 1, or to [0, 1] without these."""
    span = np.where(high > low, high - low, 1.0)
    values, levels = np.stack([low, high], axis=1), np.tile([0.0, 1.0], (len(low), 1))
    if mean is None or sd is None:
        # The authors leave a constant feature as it is: level x - low, offset -low gives back x.
        offset = np.where(high > low, 0.0, -low)
        return Scaling(values, levels, offset, np.ones_like(span), bounded=False)
    spread = np.where(sd > 1e-12 * np.maximum(1.0, np.abs(mean)), sd, 1.0) / span
    return Scaling(values, levels, (mean - low) / span, spread, bounded=False)


def column_quantiles(X: Array, shares: Array) -> Array:
    """Quantiles of every column of dense X, (D, Q), as NumPy interpolates between values; NumPy, whatever X is."""
    if not is_tensor(X):
        return np.quantile(X, shares, axis=0).T.copy()
    at = shares * (len(X) - 1)
    low = np.floor(at).astype(int)
    step, found = max(1, _COLUMN_ENTRIES // len(X)), []
    for start in range(0, X.shape[1], step):
        ordered = X[:, start : start + step].T.contiguous().sort(1)[0]
        found.append(np.stack([asnumpy(ordered[:, np.minimum(low + i, len(X) - 1)]) for i in (0, 1)]))
    below, above = np.concatenate(found, axis=1)
    return below + (above - below) * (at - low)


def _quantile(X: Array, w: Array) -> Scaling:
    total = _cumulative_tensor if is_tensor(X) else _cumulative
    raw = _few_rows(X, w) if not is_tensor(X) and len(X) <= MAX_KNOTS else None
    raw = raw or stacked([percentile_knots(*total(X[:, d], w)) for d in range(X.shape[1])])
    return raw.standardised(*_mean_and_sd(raw, X, w))


def _few_rows(X: Array, w: Array) -> Scaling | None:
    """The scale of all columns at once, where no value of a column comes twice: 60 rows of 50,000 features."""
    order = np.argsort(X, axis=0)
    values, mass = np.take_along_axis(X, order, axis=0), w[order]
    if (values[1:] == values[:-1]).any():
        return None
    levels = (np.cumsum(mass, axis=0) - mass / 2) / w.sum()
    width = X.shape[1]
    return Scaling(values.T.astype(np.float64), levels.T.copy(), np.zeros(width), np.ones(width), bounded=True)


def stacked(knots: Sequence[tuple[Array, Array]]) -> Scaling:
    """A bounded scale from the (values, levels) of every feature, neither centred nor divided."""
    values, levels = _padded([v for v, _ in knots]), _padded([p for _, p in knots])
    return Scaling(values, levels, np.zeros(len(knots)), np.ones(len(knots)), bounded=True)


def _padded(rows: list[Array]) -> Array:
    """Rows of different lengths as one table, each filled up with its last value."""
    table = np.empty((len(rows), max(map(len, rows))))
    for line, row in zip(table, rows, strict=True):
        line[: len(row)], line[len(row) :] = row, row[-1]
    return table


def _mean_and_sd(raw: Scaling, X: Array, w: Array) -> tuple[Array, Array]:
    """Of every scaled feature, in double precision; tensors some columns at a time."""
    w = cast(w, np.float64)
    step = max(1, _COLUMN_ENTRIES // max(1, len(X))) if is_tensor(X) else X.shape[1]
    found = []
    for start in range(0, X.shape[1], step):
        part = slice(start, start + step)
        Z = raw.columns(part).apply(cast(X[:, part], np.float64))
        mean = weighted_mean(Z, w)
        found.append((asnumpy(mean), np.sqrt(asnumpy(weighted_variance(Z, w, mean)))))
    means, sds = zip(*found, strict=True)
    return np.concatenate(means), np.concatenate(sds)


def _cumulative(x: Array, w: Array) -> tuple[Array, Array, Array]:
    """Distinct values of one feature, the weight of each, and the weight up to and with each."""
    values, where = np.unique(x, return_inverse=True)
    mass = np.bincount(where, weights=w, minlength=len(values)).astype(np.float64, copy=False)
    return values, mass, np.cumsum(mass)


def _cumulative_tensor(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same by one sort, where the tensors lie."""
    xp = namespace(x)
    ordered, order = xp.sort(x)
    below = xp.cumsum(cast(w, np.float64)[order], 0)
    last = xp.ones_like(ordered, dtype=xp.bool)
    last[:-1] = ordered[1:] != ordered[:-1]
    below = below[last]
    return ordered[last], xp.diff(below, prepend=below[:1] * 0), below


def percentile_knots(values: Array, mass: Array, below: Array) -> tuple[Array, Array]:
    """Distinct values, thinned to MAX_KNOTS, and the share of weight below each (ties count half)."""
    xp = namespace(values)
    percentile = (below - mass / 2) / below[-1]
    if len(values) > MAX_KNOTS:
        grid = put(knot_shares(float(percentile[0]), float(percentile[-1])), percentile)
        keep = xp.unique(xp.searchsorted(percentile, grid).clip(0, len(values) - 1))
        values, percentile = values[keep], percentile[keep]
    return asnumpy(values).astype(np.float64), asnumpy(percentile)


def knot_shares(first: float, last: float) -> Array:
    """Percentiles (MAX_KNOTS,) from the first value's to the last's: the first value that reaches each is a knot.

    A function of the weighted sample alone; a value that misses its percentile by rounding reaches it.
    """
    return np.linspace(first, last, MAX_KNOTS) * (1 - 1e-12)


def _interpolate(x: Tensor, values: Tensor, levels: Tensor) -> Tensor:
    """NumPy's `interp` for the rows of x (D, n) between the knots in the rows of ``values`` and ``levels`` (D, Q)."""
    xp = namespace(x)
    if values.shape[1] == 1:
        return levels.expand_as(x)
    low = (xp.searchsorted(values.contiguous(), x.contiguous(), right=True) - 1).clip(0, values.shape[1] - 2)
    start, stop = xp.gather(values, 1, low), xp.gather(values, 1, low + 1)
    level = xp.gather(levels, 1, low)
    rise = (xp.gather(levels, 1, low + 1) - level) / xp.where(stop > start, stop - start, 1.0)
    between = xp.where(x > values[:, :1], level + rise * (x - start), levels[:, :1])
    return xp.where(x >= values[:, -1:], levels[:, -1:], between)


def _straight(x: Tensor, values: Tensor) -> Tensor:
    low, high = values[:, :1], values[:, -1:]
    return (x - low) / namespace(x).where(high > low, high - low, 1.0)
