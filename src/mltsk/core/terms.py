"""Scales that make features comparable, and the fuzzy terms on them.

Symbols: X (N, D) samples, Z (N, D) the same on their scale, w (N,) weights, Q knots of
a scale, P terms, T (N, P) their memberships.

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

A ramp rises from 0 to 1 between two percentiles of its feature: "is no longer very
low", …, "is very high". A weighted sum of a feature's ramps is a curve that may bend at
their ends and is bounded outside the data. A ridge on the weights penalises changes of
slope, so curves stay smooth. A linear term is the scaled feature itself, for rows of
unit length. A missing value counts as the average of its terms, so it adds nothing.

The terms "is very low", "is low", …, "is very high" may also be triangles or
trapezoids, which overlap so that they add up to 1. They are kept as the ramps from each
to the next: Σ b_i t_i = b_0 + Σ (b_i - b_{i-1}) r_i. Only the ridge differs: it is one
on the heights b (`Terms.heights`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .arrays import (
    CSR,
    MAX_RAW,
    Array,
    FloatArray,
    Matrix,
    Tensor,
    asnumpy,
    cast,
    is_csr,
    is_tensor,
    namespace,
    put,
    put_double,
    row_blocks,
    underflow_is_zero,
    unit_factors,
    weighted_mean,
    weighted_mean_and_sd,
)

# A percentile scale needs no more knots than percentiles that a person could tell
# apart; 256 also keeps the table of a 1,000-feature model at 4 MB.
MAX_KNOTS = 256
# A straight line goes on for this many ranges of the training values and then stops: no
# answer is without bound.
REACH = 1000.0
# Entries of X that are put on their scale at a time: 160 MB in double precision.
MAX_SCALED_ENTRIES = 2 * 10**7
# The distance of two numbers up to here is finite.
MAX_SAFE_SUM = 8e307
# A column whose SD is at most this share of its mean is taken as constant: what varies
# there is the rounding of its numbers.
MIN_SD_SHARE = 1e-12


# scales -------------------------------------------------------------------------------


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
        mapped = _interpolate if self.bounded else _straight_line
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

    def columns(self, chosen: slice) -> "Scaling":
        """The maps of the chosen features."""
        return Scaling(
            values=self.values[chosen],
            levels=self.levels[chosen],
            offset=self.offset[chosen],
            spread=self.spread[chosen],
            bounded=self.bounded,
            share=self.share[chosen],
        )


def _straight_line(x: Array, values: Array, levels: Array) -> Array:
    """Map x (D, n) by the line through the first and last knot of each row.

    The line stops at REACH ranges beyond the knots; where both knots are equal, its
    slope is 1. ``values`` and ``levels`` are (D, Q). Lines between very large or very
    small numbers are computed on numbers of ordinary size, whatever x is.
    """
    xp = namespace(x)
    low, high, factor = ordinary_ends(values)
    first, last, level_factor = ordinary_ends(levels)
    if factor is not None:
        with np.errstate(over="ignore"):  # beyond all numbers is beyond reach, too
            x = x * factor
    run = high - low
    rise = last - first
    is_line = (run > np.finfo(np.float64).tiny) & (rise > 0)
    slope = xp.where(is_line, rise / xp.where(is_line, run, 1.0), 1.0)
    reach = REACH * xp.where(is_line, run, constant_reach(low))
    z = first + (xp.clip(x, low - reach, high + reach) - low) * slope
    if level_factor is None:
        return z
    with np.errstate(over="ignore"):
        largest = np.finfo(np.float64).max
        return xp.clip(z / level_factor, -largest, largest)


def constant_reach(values: Array) -> Array:
    """What counts as the range of columns that are constant, at these values."""
    return namespace(values).clip(abs(values), 1.0, MAX_RAW / REACH)


def ordinary_ends(knots: Array) -> tuple[Array, Array, Array | None]:
    """First and last knot (D, 1) of each row, times powers of two (D, 1).

    The factors are 1 for rows of ordinary numbers and for constant ones; they are None
    if all of them are.
    """
    low = knots[:, :1]
    high = knots[:, -1:]
    factors = unit_factors(namespace(knots).maximum(abs(low), abs(high)))
    factors = np.where(asnumpy(high > low), factors, 1.0)
    if (factors == 1).all():
        return low, high, None
    factor = put_double(factors, knots)
    return low * factor, high * factor, factor


def _interpolate(x: Array, values: Array, levels: Array) -> Array:
    """NumPy's `interp` for each row of x (D, n), between knots (D, Q)."""
    if values.shape[1] == 1:
        return levels + 0 * x  # NumPy's would give a level to NaN, too
    if is_tensor(x):
        return _interpolate_tensor(x, values, levels)
    z = np.stack([np.interp(*row) for row in zip(x, values, levels, strict=True)])
    # Slopes are not finite between knots that lie very close together, nor are
    # distances of knots that lie very far apart.
    half_span = values[:, -1] / 2 - values[:, 0] / 2
    is_lost = half_span > MAX_SAFE_SUM
    if not np.isfinite(z).all():
        is_lost |= (~np.isfinite(z) & ~np.isnan(x)).any(axis=1)
    for d in np.flatnonzero(is_lost):
        z[d] = _interpolated_by_shares(x[d], values[d], levels[d])
    return z


@underflow_is_zero()
def interpolated(x: float, values: FloatArray, levels: FloatArray) -> float:
    """NumPy's `interp` for a number between knots (Q,) of any finite size."""
    row = np.array([[x]], dtype=np.float64)
    return float(_interpolate(row, values[None, :], levels[None, :])[0, 0])


def _interpolated_by_shares(
    x: FloatArray, values: FloatArray, levels: FloatArray
) -> NDArray[np.float64]:
    """`interpolated`, by the share of the way between two knots."""
    last = len(values) - 1
    if last == 0:
        return levels[0] + 0 * x
    left = (np.searchsorted(values, x, side="right") - 1).clip(0, last - 1)
    share = _share_of_way(x, values[left], values[left + 1])
    z = (1 - share) * levels[left] + share * levels[left + 1]
    z = np.where(x <= values[0], levels[0], z)
    return np.where(x >= values[-1], levels[-1], z)


def _share_of_way(x: Array, start: Array, stop: Array) -> Array:
    """The share of the way from start to stop at which x lies; all of one shape.

    It is in [0, 1], and 0 where start and stop are the same.
    """
    xp = namespace(x)
    # the distance of two very large numbers may be larger than all numbers
    factor = xp.where(xp.maximum(abs(start), abs(stop)) > MAX_SAFE_SUM, 0.25, 1.0)
    way = stop * factor - start * factor
    gone = xp.clip(x, start, stop) * factor - start * factor
    share = gone / xp.where(way > 0, way, 1.0)
    return xp.where(way > 0, share, 0 * share)


def _interpolate_tensor(x: Tensor, values: Tensor, levels: Tensor) -> Tensor:
    """`_interpolate` for tensors. NaN stays NaN."""
    xp = namespace(x)
    last = values.shape[1] - 1
    above = xp.searchsorted(values.contiguous(), x.contiguous(), right=True)
    left = (above - 1).clip(0, last - 1)
    start = xp.gather(values, 1, left)
    stop = xp.gather(values, 1, left + 1)
    level = xp.gather(levels, 1, left)
    rise = xp.gather(levels, 1, left + 1) - level
    slope = rise / xp.where(stop > start, stop - start, 1.0)
    z = level + slope * (x - start)
    if not bool(xp.isfinite(z).all()):
        next_level = xp.gather(levels, 1, left + 1)
        share = _share_of_way(x, start, stop)
        z = xp.where(xp.isfinite(z), z, (1 - share) * level + share * next_level)
    z = xp.where(x <= values[:, :1], levels[:, :1], z)
    return xp.where(x >= values[:, -1:], levels[:, -1:], z)


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
    low, high = _column_ranges(X)
    if scale == "minmax":
        # The authors leave a constant feature as it is: the level x - low and the
        # offset -low give back x.
        offset = np.where(high > low, 0.0, -low)
        spread = np.ones_like(low)
    else:
        offset, spread = _standard_units(X, w, low, high)
        spread = spread / np.sqrt(share)
    return Scaling(
        values=np.stack([low, high], axis=1),
        levels=np.tile([0.0, 1.0], (len(low), 1)),
        offset=offset,
        spread=spread,
        bounded=False,
        share=share,
    )


@underflow_is_zero()
def _standard_units(
    X: Array, w: Array, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and SD (D,) of columns whose least value counts as 0 and largest as 1.

    X is (N, D), w (N,), ``low`` and ``high`` (D,). A constant column has the mean 0 and
    the SD 1; one that varies by rounding only keeps its small numbers.
    """
    factors = unit_factors(np.maximum(np.abs(low), np.abs(high)))
    if not (factors == 1).all():
        X = cast(X, np.float64) * put_double(factors, X)
        low = low * factors
        high = high * factors
    is_constant = high <= low
    span = np.where(is_constant, 1.0, high - low)
    mean, sd = weighted_mean_and_sd(X, w)
    varies = sd > MIN_SD_SHARE * np.abs(mean)
    offset = np.where(is_constant, 0.0, (mean - low) / span)
    rounding_only = np.clip(1.0 / span, 1.0, 1 / MIN_SD_SHARE)
    return offset, np.where(varies & ~is_constant, sd / span, rounding_only)


def _column_ranges(X: Array) -> tuple[FloatArray, FloatArray]:
    """Least and largest value (D,) of each column; 0 and 0 if all are missing."""
    xp = namespace(X)
    low = asnumpy(xp.amin(xp.where(X == X, X, np.inf), axis=0))
    high = asnumpy(xp.amax(xp.where(X == X, X, -np.inf), axis=0))
    is_empty = low > high
    return np.where(is_empty, 0.0, low), np.where(is_empty, 0.0, high)


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
        return _tensor_quantiles(X, shares)
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


def _tensor_quantiles(X: Tensor, shares: FloatArray) -> FloatArray:
    """`column_quantiles` of a tensor, which sorts where it lies."""
    xp = namespace(X)
    ordered = asnumpy(xp.nan_to_num(X.sort(0)[0]))  # missing values are last
    last = np.maximum(asnumpy((~xp.isnan(X)).sum(0)) - 1, 0)
    columns = np.arange(len(last))
    position = np.outer(shares, last)
    before = np.floor(position).astype(int)
    low = ordered[np.minimum(before, last), columns]
    high = ordered[np.minimum(before + 1, last), columns]
    beyond = position - before
    if float(np.abs(ordered).max(initial=0.0)) <= MAX_SAFE_SUM:
        quantiles = low + (high - low) * beyond
    else:
        quantiles = low * (1 - beyond) + high * beyond
    return np.ascontiguousarray(quantiles.T)


# terms --------------------------------------------------------------------------------

# Where ramps begin and end, as percentiles.
RAMPS = ((0.0, 1.0), (0.01, 0.33), (0.24, 0.5), (0.35, 0.65), (0.5, 0.76), (0.67, 0.99))
# Few values carry no bends: a feature with at most this many has one ramp.
FEW_VALUES = 6
# The least length of a ramp on a straight scale, where a column has the range 1.
MIN_STRAIGHT_RAMP = 1e-50
# From the middle of each fifth of the data to that of the next; trapezoids are flat
# around it.
TRIANGLES = ((0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9))
TRAPEZOIDS = ((0.15, 0.25), (0.35, 0.45), (0.55, 0.65), (0.75, 0.85))
# Ramps of a feature with many values, by the name of the scale.
PERCENTILE_TERMS = {
    "quantile": RAMPS,
    "triangles": TRIANGLES,
    "trapezoids": TRAPEZOIDS,
}


@dataclass(frozen=True)
class Terms:
    """P terms, sorted by feature.

    Parameters
    ----------
    feature : array of int of shape (P,)
        The feature of each term.
    low, high : arrays of shape (P,), or None
        The percentiles at which ramps begin and end. None if terms are linear; then
        there is one per feature, in order.
    mean : array of shape (P,)
        Averages of the memberships over the training data. A term counts as its
        distance from its average.
    """

    feature: NDArray[np.intp]
    low: FloatArray | None
    high: FloatArray | None
    mean: FloatArray

    @classmethod
    def ramps(
        cls,
        scaling: Scaling,
        monotone: NDArray[np.bool_] | None = None,
        shape: str = "quantile",
    ) -> "Terms":
        """Ramps of each feature of a percentile scale; their means are still 0.

        A constant feature has none, one of few values has one.

        Parameters
        ----------
        scaling : Scaling
        monotone : array of bool of shape (D,), optional
            Features that have one ramp, because their curve may not turn.
        shape : {"quantile", "triangles", "trapezoids"}
        """
        n_values = 1 + np.count_nonzero(np.diff(scaling.values, axis=1), axis=1)
        bends = n_values > FEW_VALUES
        if monotone is not None:
            bends &= ~monotone
        percentiles = np.asarray(PERCENTILE_TERMS[shape])
        count = np.where(bends, len(percentiles), n_values > 1)
        feature = np.repeat(np.arange(len(count)), count)
        first = np.cumsum(count) - count
        which = np.arange(len(feature)) - np.repeat(first, count)
        low, high = percentiles[which].T.copy()
        # A single ramp goes from the least to the largest value of its feature: it is 0
        # and 1 where there are two values.
        single = count[feature] == 1
        low[single] = scaling.levels[feature[single], 0]
        high[single] = scaling.levels[feature[single], -1]
        return cls(feature, low, high, mean=np.zeros(len(feature)))

    @classmethod
    def linear(cls, n_features: int) -> "Terms":
        """One linear term per feature; their means are still 0."""
        return cls(np.arange(n_features), None, None, mean=np.zeros(n_features))

    @classmethod
    def none(cls) -> "Terms":
        """No terms, for a system of rules alone."""
        empty = np.zeros(0)
        return cls(np.zeros(0, dtype=np.intp), empty, empty, mean=empty)

    def __len__(self) -> int:
        return len(self.feature)

    def filled(self, Z: Matrix) -> Matrix:
        """Scaled samples Z (N, D) with averages in place of missing values."""
        if is_csr(Z) or bool((Z == Z).all()):
            return Z
        average = self._mean_like(Z) if self.low is None else 0.0
        return namespace(Z).where(Z == Z, Z, average)

    @underflow_is_zero()
    def memberships(self, Z: Matrix, scaling: Scaling | None) -> Matrix:
        """Memberships T (N, P) of scaled samples Z (N, D), not centred.

        If terms are linear, T is Z itself, which may be CSR.
        """
        if self.low is None or self.high is None:
            return self.filled(Z)
        xp = namespace(Z)
        if len(self) == 0 or scaling is None:
            return xp.zeros((len(Z), 0), dtype=Z.dtype, like=Z)
        # (z · spread + offset - low) / (high - low), with the constants of the affine
        # map taken together
        rise = 1.0 / (self.high - self.low)
        slope = scaling.spread[self.feature] * rise
        start = (scaling.offset[self.feature] - self.low) * rise
        count = np.bincount(self.feature, minlength=Z.shape[1])
        if is_tensor(Z):
            count = xp.asarray(count, like=Z)
        T = xp.repeat(Z, count, axis=1)
        T *= cast(put(slope, Z), Z.dtype)
        T += cast(put(start, Z), Z.dtype)
        xp.clip(T, 0.0, 1.0, out=T)
        if bool((Z == Z).all()):
            return T
        return xp.where(T == T, T, self._mean_like(Z))

    def _mean_like(self, Z: Array) -> Array:
        """The means (P,) in the precision and place of Z."""
        return cast(put(self.mean, Z), Z.dtype)

    @underflow_is_zero()
    def averaged(self, Z: Matrix, scaling: Scaling | None, w: Array) -> "Terms":
        """These terms with their means over samples, missing values left out.

        Parameters
        ----------
        Z : array or CSR of shape (N, D)
            Scaled samples.
        scaling : Scaling or None
        w : array of shape (N,)
        """
        if is_csr(Z):
            return replace(self, mean=asnumpy(weighted_mean(Z, w)))
        xp = namespace(Z)
        # with means of NaN, memberships of missing values are NaN
        bare = replace(self, mean=np.full(len(self), np.nan))
        sums: Array | float = 0.0
        total: Array | float = 0.0
        for rows in row_blocks(len(Z), 24 * (len(self) + 1), like=Z):
            T = bare.memberships(Z[rows], scaling)
            weights = cast(w[rows], Z.dtype)
            if bool((Z[rows] == Z[rows]).all()):
                sums = sums + weights @ T
                total = total + weights.sum()
            else:
                sums = sums + weights @ xp.where(T == T, T, 0.0)
                total = total + weights @ cast(T == T, Z.dtype)
        mean = asnumpy(sums / (total + (total == 0)))
        return replace(self, mean=mean.astype(np.float64))

    def from_zero(self, first: int) -> "Terms":
        """These terms, with means of 0 from the feature ``first`` on.

        Such a term counts as its membership, not as its distance from an average.
        """
        return replace(self, mean=np.where(self.feature < first, self.mean, 0.0))

    def heights(self) -> CSR:
        """H (P, P), which turns a ridge on ramps into one on the heights between them.

        The n ramps of a feature, with numbers c (n,), lie between n + 1 heights b: the
        sums of the first numbers. Their common level is in the intercept, so the ridge
        shrinks their distance from their mean, which is cᵀ S c. With ramps T H instead
        of T an ordinary ridge does this, because H Hᵀ = S⁻¹.
        """
        blocks = [sparse.csr_array((0, 0))]
        for n in np.unique(self.feature, return_counts=True)[1]:
            sums = np.tri(n + 1, n, -1)  # heights above the first, from numbers c
            centred = sums - sums.mean(axis=0)
            lower = np.linalg.cholesky(centred.T @ centred)
            blocks.append(sparse.csr_array(np.linalg.inv(lower).T))
        return sparse.csr_array(sparse.block_diag(blocks))

    def by_feature(self, contributions: FloatArray, n_features: int) -> FloatArray:
        """Sums (N, D) over the terms of each feature of contributions (N, P)."""
        if self.low is None:
            return contributions
        sums = np.zeros((len(contributions), n_features))
        if len(self):
            starts = np.flatnonzero(np.diff(self.feature, prepend=-1))
            features = self.feature[starts]
            sums[:, features] = np.add.reduceat(contributions, starts, axis=1)
        return sums
