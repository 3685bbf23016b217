"""Scales that make features comparable.

Symbols: X (N, D) samples, Z (N, D) the same on their scale, w (N,) weights, Q knots of
a scale.

==========  ===========================================================================
scale       z of a value x of one feature
==========  ===========================================================================
quantile    its percentile among the training values (mid-rank for ties), then centred
            and divided by its SD
standard    (x - mean) / SD
minmax      (x - min) / (max - min), as the authors do; a constant feature stays as is
==========  ===========================================================================

All of them are monotone and piecewise linear, so one form serves them: a table of knots
per feature (``values``, ``levels``), linear between knots. The table stays a NumPy
array where samples are tensors. Weights count as copies: a row of weight 2 is two rows,
one of weight 0 is none; scikit-learn's QuantileTransformer knows no weights. A missing
value (NaN) stays NaN, and no scale is fitted to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .arrays import (
    Array,
    FloatArray,
    asnumpy,
    cast,
    is_tensor,
    namespace,
    put,
    put_double,
    underflow_is_zero,
    weighted_mean_and_sd,
)
from .interpolation import (
    MAX_SAFE_SUM,
    interpolated_by_shares,
    interpolated_tensor,
    tensor_quantiles,
)
from .straight import fit_lines, straight_line

# A percentile scale needs no more knots than percentiles that a person could tell
# apart; 256 also keeps the table of a 1,000-feature model at 4 MB.
MAX_KNOTS = 256
# Entries of X that are put on their scale at a time: 160 MB in double precision.
MAX_SCALED_ENTRIES = 2 * 10**7


@dataclass(frozen=True)
class Scaling:
    """Monotone maps of D features, with one row of Q knots each.

    Parameters
    ----------
    values : array of shape (D, Q)
        Values of a feature, strictly rising, then the last one repeated as padding.
    levels : array of shape (D, Q)
        Where these values lie in [0, 1], before centring by ``offset`` and division by
        ``spread``.
    offset, spread : arrays of shape (D,)
    bounded : bool
        Whether the scale stops at the ends of the training range. Otherwise it goes on
        in a straight line for 1,000 ranges.
    share : array of shape (D,)
        How much a feature counts in distances: its variance on the scale, which is 1
        for ordinary features and less for a column that is one value of a nominal one.
    """

    values: FloatArray
    levels: FloatArray
    offset: FloatArray
    spread: FloatArray
    bounded: bool
    share: FloatArray

    def apply(self, X: Array, *, inverse: bool = False) -> Array:
        """Put samples on the scale, or with ``inverse`` back; X (N, D) is not changed.

        The inverse of a flat stretch is its middle. The result has the dtype of X; the
        work is done in double precision, as in NumPy's `interp`, for some columns at a
        time.
        """
        Z = namespace(X).empty(X.shape, dtype=X.dtype, like=X)
        step = max(1, MAX_SCALED_ENTRIES // max(1, len(X)))
        mapped = _interpolate if self.bounded else straight_line
        for start in range(0, X.shape[1], step):
            columns = slice(start, start + step)
            x = cast(X[:, columns], np.float64).T
            values = put_double(self.values[columns], x)
            levels = put_double(self.levels[columns], x)
            offset = put_double(self.offset[columns, None], x)
            spread = put_double(self.spread[columns, None], x)
            with underflow_is_zero():
                if inverse:
                    z = mapped(x * spread + offset, levels, values)
                else:
                    z = (mapped(x, values, levels) - offset) / spread
                Z[:, columns] = cast(z.T, X.dtype)
        return Z

    @property
    def n_values(self) -> NDArray[np.intp]:
        """How many knots of each feature differ, (D,)."""
        return 1 + np.count_nonzero(np.diff(self.values, axis=1), axis=1)

    def shares_of_range(self, Z: Array, features: NDArray[np.intp]) -> Array:
        """Where samples Z (N, D) on this scale lie in the range of some features.

        The result (N, features) is 0 at the least and 1 at the largest training value,
        and linear in the feature's own units between them.
        """
        xp = namespace(Z)
        shares = shares_of_knots(self.values[features])
        z = cast(Z[:, features], np.float64)
        levels = z * put_double(self.spread[features], z)
        levels = levels + put_double(self.offset[features], z)
        mapped = _interpolate(
            xp.asarray(levels.T),
            put_double(self.levels[features], z),
            put_double(shares, z),
        )
        return cast(mapped.T, Z.dtype)

    def columns(self, chosen: slice) -> "Scaling":
        """The maps of the chosen features."""
        return replace(
            self,
            values=self.values[chosen],
            levels=self.levels[chosen],
            offset=self.offset[chosen],
            spread=self.spread[chosen],
            share=self.share[chosen],
        )


def _interpolate(x: Array, values: Array, levels: Array) -> Array:
    """NumPy's `interp` for each row of x (D, n), between knots (D, Q)."""
    if values.shape[1] == 1:
        return levels + 0 * x  # NumPy's would give a level to NaN, too
    if is_tensor(x):
        return interpolated_tensor(x, values, levels)
    z = np.stack([np.interp(*row) for row in zip(x, values, levels, strict=True)])
    # Slopes are not finite between knots that lie very close together, nor are
    # distances of knots that lie very far apart.
    half_span = values[:, -1] / 2 - values[:, 0] / 2
    is_lost = half_span > MAX_SAFE_SUM
    if not np.isfinite(z).all():
        is_lost |= (~np.isfinite(z) & ~np.isnan(x)).any(axis=1)
    for d in np.flatnonzero(is_lost):
        z[d] = interpolated_by_shares(x[d], values[d], levels[d])
    return z


@underflow_is_zero()
def interpolated(x: float, values: FloatArray, levels: FloatArray) -> float:
    """NumPy's `interp` for a number between knots (Q,) of any finite size."""
    row = np.array([[x]], dtype=np.float64)
    return float(_interpolate(row, values[None, :], levels[None, :])[0, 0])


def percentile_knots(quantiles: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values and percentiles (q,) between which `interpolated` finds others.

    They are from quantiles (Q,) at evenly spread percentiles; tied ones count as their
    middle.
    """
    percentiles = np.linspace(0.0, 1.0, len(quantiles))
    values, places = np.unique(quantiles, return_inverse=True)
    sums = np.bincount(places, weights=percentiles)
    return values, sums / np.bincount(places)


# fitting scales -----------------------------------------------------------------------


def fit_scaling(
    X: Array, w: Array, scale: str, share: FloatArray | None = None
) -> Scaling:
    """Fit the scale of each feature. Rows of weight 0 and missing values do not count.

    A feature without any value is taken as constant.

    Parameters
    ----------
    X : array of shape (N, D)
        Dense.
    w : array of shape (N,)
    scale : {"quantile", "standard", "minmax"}
    share : array of shape (D,), optional
        How much each feature counts in distances; 1 by default.
    """
    if share is None:
        share = np.ones(X.shape[1])
    counted = w > 0
    if not bool(counted.all()):
        X = X[counted]
        w = w[counted]
    if scale == "quantile":
        return _quantile_scaling(X, w, share)
    ends, offset, spread = fit_lines(X, w, scale, share)
    return Scaling(
        values=ends,
        levels=np.tile([0.0, 1.0], (len(ends), 1)),
        offset=offset,
        spread=spread,
        bounded=False,
        share=share,
    )


def _quantile_scaling(X: Array, w: Array, share: FloatArray) -> Scaling:
    """The scale of percentiles of X (N, D), all w (N,) above 0, centred, of SD 1."""
    w = cast(w, np.float64)
    knots = None
    if not is_tensor(X) and len(X) <= MAX_KNOTS:
        knots = _distinct_knots(X, w)
    values, levels = knots or _knots(X, w)
    percentiles = Scaling(
        values=values,
        levels=levels,
        offset=np.zeros(X.shape[1]),
        spread=np.ones(X.shape[1]),
        bounded=True,
        share=share,
    )
    mean, sd = weighted_mean_and_sd(percentiles.apply(cast(X, np.float64)), w)
    spread = np.where(sd > 1e-12, sd, 1.0) / np.sqrt(share)
    return replace(percentiles, offset=mean, spread=spread)


def shares_of_knots(values: FloatArray) -> FloatArray:
    """Knots (D, Q) as shares of the way from the first to the last, for any size."""
    halves = values / 2  # the distance of two numbers may be larger than all numbers
    low = halves[:, :1]
    span = halves[:, -1:] - low
    is_range = span > 0
    shares = (halves - low) / np.where(is_range, span, 1.0)
    return np.where(is_range, np.clip(shares, 0.0, 1.0), 0.0)


def _distinct_knots(
    X: FloatArray, w: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """`_knots` for all columns at once, if no value is missing or comes twice.

    It is for few rows of many columns, such as 60 rows × 50,000 features. It returns
    None if a value is missing or comes twice.
    """
    order = np.argsort(X, axis=0)
    values = np.take_along_axis(X, order, axis=0)
    if (values[1:] == values[:-1]).any() or np.isnan(values[-1]).any():
        return None
    mass = w[order]
    levels = (np.cumsum(mass, axis=0) - mass / 2) / w.sum()
    return values.T.astype(np.float64), levels.T.copy()


def _knots(X: Array, w: Array) -> tuple[FloatArray, FloatArray]:
    """Values and levels (D, Q) of the knots of each column of X (N, D); w is (N,)."""
    knots = [_column_knots(X[:, d], w) for d in range(X.shape[1])]
    values, levels = zip(*knots, strict=True)
    return _padded(values), _padded(levels)


def _column_knots(x: Array, w: Array) -> tuple[FloatArray, FloatArray]:
    """Distinct values of x (N,), at most MAX_KNOTS, and the share of weight below each.

    Half of the weight of a value counts as below it. Both results are (q,), q <= N.
    """
    xp = namespace(x)
    n_measured = int((x == x).sum())
    if n_measured == 0:
        return np.zeros(1), np.full(1, 0.5)
    order = x.argsort()[:n_measured]  # missing values are last
    x = x[order]
    weight_up_to = xp.cumsum(w[order], 0)
    is_last = xp.concatenate([x[1:] != x[:-1], x[:1] == x[:1]])
    values = x[is_last]
    up_to = weight_up_to[is_last]
    below = xp.concatenate([0 * up_to[:1], up_to[:-1]])
    levels = (below + up_to) / 2 / up_to[-1]
    if len(values) > MAX_KNOTS:
        # The first value that reaches each of these shares is a knot; one that misses
        # its share by rounding reaches it.
        shares = np.linspace(float(levels[0]), float(levels[-1]), MAX_KNOTS)
        reached = xp.searchsorted(levels, put(shares * (1 - 1e-12), levels))
        kept = xp.unique(reached.clip(0, len(values) - 1))
        values = values[kept]
        levels = levels[kept]
    return asnumpy(values).astype(np.float64), asnumpy(levels)


def _padded(rows: tuple[FloatArray, ...]) -> FloatArray:
    """Rows of different lengths as one table, each filled up with its last number."""
    width = max(map(len, rows))
    return np.stack([np.pad(row, (0, width - len(row)), mode="edge") for row in rows])


def column_quantiles(X: Array, shares: FloatArray) -> FloatArray:
    """Quantiles (D, Q) of each column, interpolated as NumPy does, as a NumPy array.

    Parameters
    ----------
    X : array of shape (N, D)
        Dense. Missing values are left out; a column without any value gets 0.
    shares : array of shape (Q,)
        From 0 to 1.
    """
    if is_tensor(X):
        return tensor_quantiles(X, shares)
    if not np.isnan(X).any():
        return quantiles_of(X, shares).T.copy()
    quantiles = np.zeros((X.shape[1], len(shares)))
    for d, column in enumerate(X.T):
        measured = column[~np.isnan(column)]
        if len(measured):
            quantiles[d] = quantiles_of(measured, shares)
    return quantiles


def quantiles_of(x: FloatArray, shares: FloatArray | Sequence[float]) -> FloatArray:
    """NumPy's quantiles along the first axis of x, which stay finite."""
    with underflow_is_zero():
        largest = float(np.abs(x).max(initial=0.0))
        if largest <= float(np.finfo(x.dtype).max) / 4:
            return np.quantile(x, shares, axis=0)
        # distances of numbers may be larger than all numbers
        return 4 * np.quantile(x / 4, shares, axis=0)
