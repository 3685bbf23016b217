"""Scales that put features on a common footing, and the fuzzy terms on them: ramps, or the feature itself.

Symbols: X (N, D) samples, Z (N, D) the same on their scale, w (N,) weights, P terms, T (N, P) their memberships.

==========  ===============================================================================================
scale       z of a value x of one feature
==========  ===============================================================================================
quantile    its percentile among the training values (mid-rank for ties), then centred and divided by its SD
standard    (x - mean) / SD
minmax      (x - min) / (max - min), as the authors do; a constant feature stays as it is
==========  ===============================================================================================

All are monotone piecewise linear maps, so one representation serves them: a table of knots per feature
(``values``, ``levels``), linear between knots; it stays a NumPy array where samples are tensors. Weights count as
copies: a row of weight 2 is two rows, of weight 0 none; scikit-learn's QuantileTransformer knows no weights. A missing
value (NaN) is on no scale: it stays NaN and none is fitted to it.

A ramp rises from 0 to 1 between two percentiles of its feature: "is no longer very low", …, "is very high". A weighted
sum of a feature's ramps is a curve that may bend at their ends and is bounded outside the data. A ridge on the weights
penalises changes of slope, so curves stay smooth. A linear term is the scaled feature itself, for rows of unit length.
A missing value counts as the average of its terms, that is as nothing.

Terms "is very low", "is low", …, "is very high" that overlap so that they add up to 1, triangles or trapezoids, are
kept as the ramps from each to the next: Σ b_i t_i = b_0 + Σ (b_i - b_{i-1}) r_i. What differs is the ridge, which is
then one on the heights b (`Terms.heights`).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .arrays import (
    Array,
    Matrix,
    asnumpy,
    cast,
    is_tensor,
    namespace,
    put,
    row_blocks,
    weighted_mean,
    weighted_mean_and_sd,
)

# A percentile scale needs no more knots than percentiles that a person could tell apart; 256 also keeps the table of a
# 1,000-feature model at 4 MB.
MAX_KNOTS = 256
REACH = 1000.0  # ranges of the training values beyond which a straight line stops: no answer is without bound
_COLUMN_ENTRIES = 2 * 10**7  # put on their scale at a time: 160 MB in double precision


@dataclass(frozen=True)
class Scaling:
    """Monotone maps of D features, one row of knots each.

    ``values`` (D, Q) rise strictly up to padding, which repeats the last knot; ``levels`` (D, Q) are where each value
    lies on the scale in [0, 1] before it is centred by ``offset`` and divided by ``spread`` (D,). ``bounded`` scales
    stop at the ends of the training range, the others go on in a straight line for 1,000 ranges. ``share`` (D,) is
    how much a feature counts in distances, its variance on the scale where that is 1 for others: part of a nominal one
    counts less.
    """

    values: Array
    levels: Array
    offset: Array
    spread: Array
    bounded: bool
    share: Array

    def apply(self, X: Array, *, inverse: bool = False) -> Array:
        """Scaled copy of X (N, D), of X's dtype; the ``inverse`` gives values back, the middle of a flat stretch.

        Some columns at a time, in double precision as NumPy's `interp`.
        """
        Z = namespace(X).empty(X.shape, dtype=X.dtype, like=X)
        step = max(1, _COLUMN_ENTRIES // max(1, len(X)))
        between = _interpolate if self.bounded else _straight
        for start in range(0, X.shape[1], step):
            part = slice(start, start + step)
            x = cast(X[:, part], np.float64).T
            tables = (
                self.values[part],
                self.levels[part],
                self.offset[part, None],
                self.spread[part, None],
            )
            values, levels, offset, spread = (
                put(np.asarray(t, np.float64), x) for t in tables
            )
            if inverse:
                z = between(x * spread + offset, levels, values)
            else:
                z = (between(x, values, levels) - offset) / spread
            Z[:, part] = cast(z.T, X.dtype)
        return Z

    def columns(self, part: slice) -> "Scaling":
        """The maps of some features."""
        tables = (
            self.values[part],
            self.levels[part],
            self.offset[part],
            self.spread[part],
        )
        return Scaling(*tables, self.bounded, self.share[part])


def fit_scaling(X: Array, w: Array, scale: str, share: Array | None = None) -> Scaling:
    """Knots of the scale "quantile", "standard" or "minmax" from dense X (N, D) under the weights w (N,).

    Rows of weight 0 do not count, nor do missing values; a feature that has no other is constant.
    """
    share = np.ones(X.shape[1]) if share is None else share
    if not bool((w > 0).all()):
        X, w = X[w > 0], w[w > 0]
    if scale == "quantile":
        found = _few_rows(X, w) if not is_tensor(X) and len(X) <= MAX_KNOTS else None
        knots = found or _knots(X, cast(w, np.float64))
        raw = Scaling(*knots, np.zeros(X.shape[1]), np.ones(X.shape[1]), True, share)
        mean, sd = weighted_mean_and_sd(
            raw.apply(cast(X, np.float64)), cast(w, np.float64)
        )
        return replace(
            raw, offset=mean, spread=np.where(sd > 1e-12, sd, 1.0) / np.sqrt(share)
        )
    xp = namespace(X)
    low = asnumpy(xp.amin(xp.where(X == X, X, np.inf), axis=0))
    high = asnumpy(xp.amax(xp.where(X == X, X, -np.inf), axis=0))
    low, high = np.where(low > high, 0.0, low), np.where(low > high, 0.0, high)
    values, levels = np.stack([low, high], axis=1), np.tile([0.0, 1.0], (len(low), 1))
    if scale == "minmax":
        # The authors leave a constant feature as it is: level x - low, offset -low gives back x.
        return Scaling(
            values,
            levels,
            np.where(high > low, 0.0, -low),
            np.ones_like(low),
            False,
            share,
        )
    mean, sd = weighted_mean_and_sd(X, w)
    span, spread = (
        np.where(high > low, high - low, 1.0),
        np.where(sd > 1e-12 * np.maximum(1.0, np.abs(mean)), sd, 1.0),
    )
    return Scaling(
        values,
        levels,
        (mean - low) / span,
        spread / span / np.sqrt(share),
        False,
        share,
    )


def column_quantiles(X: Array, shares: Array) -> Array:
    """Quantiles of every column of dense X, (D, Q), as NumPy interpolates between values; NumPy, whatever X is.

    Missing values are left out; a column of nothing else has 0.
    """
    if not is_tensor(X):
        if not np.isnan(X).any():
            return np.quantile(X, shares, axis=0).T.copy()
        kept = [column[~np.isnan(column)] for column in X.T]
        return np.stack(
            [np.quantile(x if len(x) else np.zeros(1), shares) for x in kept]
        )
    xp = namespace(X)
    ordered, count = (
        X.sort(0)[0],
        asnumpy((~xp.isnan(X)).sum(0)),
    )  # those that are missing are last
    at = np.outer(shares, np.maximum(count - 1, 0))
    low, columns = np.floor(at).astype(int), np.arange(len(count))
    ordered = asnumpy(xp.nan_to_num(ordered))
    below, above = (
        ordered[np.minimum(low + i, np.maximum(count - 1, 0)), columns] for i in (0, 1)
    )
    return np.ascontiguousarray((below + (above - below) * (at - low)).T)


def _few_rows(X: Array, w: Array) -> tuple[Array, Array] | None:
    """Values and levels of all columns at once, where none is missing or comes twice: 60 rows × 50,000 features."""
    order = np.argsort(X, axis=0)
    values, mass = np.take_along_axis(X, order, axis=0), w[order]
    if (values[1:] == values[:-1]).any() or np.isnan(values[-1]).any():
        return None
    levels = (np.cumsum(mass, axis=0) - mass / 2) / w.sum()
    return values.T.astype(np.float64), levels.T.copy()


def _knots(X: Array, w: Array) -> tuple[Array, Array]:
    """Distinct values of each feature, thinned to MAX_KNOTS, and the share of weight below each (ties count half).

    Rows are filled up with their last knot.
    """
    xp, found = namespace(X), []
    for d in range(X.shape[1]):
        order = X[:, d].argsort()
        order = order[: int((X[:, d] == X[:, d]).sum())]  # missing values are last
        if not len(order):
            found.append((np.zeros(1), np.full(1, 0.5)))
            continue
        x, below = X[order, d], xp.cumsum(w[order], 0)
        last = xp.concatenate([x[1:] != x[:-1], x[:1] == x[:1]])
        values, below = x[last], below[last]
        levels = (xp.concatenate([0 * below[:1], below[:-1]]) + below) / 2 / below[-1]
        if len(values) > MAX_KNOTS:
            # The first value that reaches each of these is a knot; one that misses it by rounding reaches it.
            shares = np.linspace(float(levels[0]), float(levels[-1]), MAX_KNOTS) * (
                1 - 1e-12
            )
            keep = xp.unique(
                xp.searchsorted(levels, put(shares, levels)).clip(0, len(values) - 1)
            )
            values, levels = values[keep], levels[keep]
        found.append((asnumpy(values).astype(np.float64), asnumpy(levels)))
    width = max(len(values) for values, _ in found)
    tables = [
        [np.pad(row, (0, width - len(row)), mode="edge") for row in rows]
        for rows in zip(*found, strict=True)
    ]
    return np.stack(tables[0]), np.stack(tables[1])


def _straight(x: Any, values: Any, levels: Any) -> Any:
    """The line through the first and last knot of each row, up to REACH; of slope 1 where that is no line."""
    xp, low, high = namespace(x), values[:, :1], values[:, -1:]
    run, rise = high - low, levels[:, -1:] - levels[:, :1]
    is_line = (run > np.finfo(np.float64).tiny) & (rise > 0)
    slope = xp.where(is_line, rise / xp.where(is_line, run, 1.0), 1.0)
    far = REACH * xp.where(is_line, run, xp.maximum(abs(low), 1.0))
    return levels[:, :1] + (xp.clip(x, low - far, high + far) - low) * slope


def _interpolate(x: Any, values: Any, levels: Any) -> Any:
    """NumPy's `interp` for the rows of x (D, n) between the knots in the rows of ``values`` and ``levels`` (D, Q)."""
    if values.shape[1] == 1:
        return levels + 0 * x  # NumPy's would give a level to NaN, too
    if not is_tensor(x):
        return np.stack(
            [np.interp(*row) for row in zip(x, values, levels, strict=True)]
        )
    xp = namespace(x)
    low = (xp.searchsorted(values.contiguous(), x.contiguous(), right=True) - 1).clip(
        0, values.shape[1] - 2
    )
    start, stop = xp.gather(values, 1, low), xp.gather(values, 1, low + 1)
    level = xp.gather(levels, 1, low)
    rise = (xp.gather(levels, 1, low + 1) - level) / xp.where(
        stop > start, stop - start, 1.0
    )
    between = xp.where(
        x <= values[:, :1], levels[:, :1], level + rise * (x - start)
    )  # NaN stays NaN
    return xp.where(x >= values[:, -1:], levels[:, -1:], between)


# terms ----------------------------------------------------------------------------------------------------------------

# Where ramps begin and end, as percentiles. Few values carry no bends: a feature of FEW_VALUES or fewer has the first.
RAMPS = ((0.0, 1.0), (0.01, 0.33), (0.24, 0.5), (0.35, 0.65), (0.5, 0.76), (0.67, 0.99))
FEW_VALUES = 6
# From the middle of each fifth of the data to that of the next; trapezoids are flat around it.
TRIANGLES = ((0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9))
TRAPEZOIDS = ((0.15, 0.25), (0.35, 0.45), (0.55, 0.65), (0.75, 0.85))
PERCENTILE_TERMS = {
    "quantile": RAMPS,
    "triangles": TRIANGLES,
    "trapezoids": TRAPEZOIDS,
}  # by the name of the scale


@dataclass(frozen=True)
class Terms:
    """P terms, sorted by feature: ``feature`` (P,) their features, ``low`` and ``high`` (P,) the ends of their ramps.

    Where ``low`` is None, terms are linear and there is one per feature, in order. ``mean`` (P,) are the averages of
    the memberships over the training data: terms count as their distance from these.
    """

    feature: NDArray[np.intp]
    low: Array | None
    high: Array | None
    mean: Array

    @classmethod
    def ramps(
        cls,
        scaling: Scaling,
        monotone: NDArray[np.bool_] | None = None,
        shape: str = "quantile",
    ) -> "Terms":
        """Ramps of every feature of a percentile scale that is not constant, one of a monotone one; no means."""
        distinct = 1 + np.count_nonzero(np.diff(scaling.values, axis=1), axis=1)
        bends = (
            distinct > FEW_VALUES
            if monotone is None
            else (distinct > FEW_VALUES) & ~monotone
        )
        count = np.where(
            bends, len(PERCENTILE_TERMS[shape]), (distinct > 1).astype(int)
        )
        feature = np.repeat(np.arange(len(count)), count)
        which = np.arange(len(feature)) - np.repeat(np.cumsum(count) - count, count)
        low, high = np.asarray(PERCENTILE_TERMS[shape])[which].T.copy()
        # the one ramp of a feature of few values goes from its least to its largest one: 0 and 1 where it has two
        few = count[feature] == 1
        low[few], high[few] = (
            scaling.levels[feature[few], 0],
            scaling.levels[feature[few], -1],
        )
        return cls(feature, low, high, np.zeros(len(feature)))

    @classmethod
    def linear(cls, n_features: int) -> "Terms":
        """One linear term per feature; means are still 0."""
        return cls(np.arange(n_features), None, None, np.zeros(n_features))

    @classmethod
    def none(cls) -> "Terms":
        """No terms: a system of rules alone."""
        return cls(np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0), np.zeros(0))

    def __len__(self) -> int:
        return len(self.feature)

    def filled(self, Z: Matrix) -> Matrix:
        """Scaled samples with averages in place of what is missing."""
        if not hasattr(Z, "indptr") and not bool((Z == Z).all()):
            return namespace(Z).where(
                Z == Z,
                Z,
                0.0 if self.low is not None else cast(put(self.mean, Z), Z.dtype),
            )
        return Z

    def memberships(self, Z: Matrix, scaling: Scaling | None) -> Matrix:
        """T (N, P) of scaled samples, not centred; Z itself, perhaps CSR, where terms are linear."""
        if self.low is None or self.high is None:
            return self.filled(Z)
        xp = namespace(Z)
        if len(self.feature) == 0 or scaling is None:
            return xp.zeros((len(Z), 0), dtype=Z.dtype, like=Z)
        # (z · spread + offset - low) / (high - low), with the constants of the affine map taken together
        rise = 1.0 / (self.high - self.low)
        slope, start = (
            scaling.spread[self.feature] * rise,
            (scaling.offset[self.feature] - self.low) * rise,
        )
        count = np.bincount(self.feature, minlength=Z.shape[1])
        T = xp.repeat(Z, xp.asarray(count, like=Z) if is_tensor(Z) else count, axis=1)
        T *= cast(put(slope, Z), Z.dtype)
        T += cast(put(start, Z), Z.dtype)
        xp.clip(T, 0.0, 1.0, out=T)
        return (
            T
            if bool((Z == Z).all())
            else xp.where(T == T, T, cast(put(self.mean, Z), Z.dtype))
        )

    def averaged(self, Z: Matrix, scaling: Scaling | None, w: Array) -> "Terms":
        """These terms with their means over scaled samples of weights w, of what is not missing."""
        xp, bare = namespace(Z), replace(self, mean=np.full(len(self.feature), np.nan))
        if hasattr(Z, "indptr"):
            return replace(self, mean=asnumpy(weighted_mean(Z, w)))
        sums = total = 0.0
        for rows in row_blocks(len(Z), 24 * (len(self.feature) + 1), like=Z):
            T, part = bare.memberships(Z[rows], scaling), cast(w[rows], Z.dtype)
            if bool((Z[rows] == Z[rows]).all()):
                sums, total = sums + part @ T, total + part.sum()
            else:
                sums, total = (
                    sums + part @ xp.where(T == T, T, 0.0),
                    total + part @ cast(T == T, Z.dtype),
                )
        return replace(
            self, mean=asnumpy(sums / (total + (total == 0))).astype(np.float64)
        )

    def from_zero(self, first: int) -> "Terms":
        """These terms, of which those from feature ``first`` on count as they are, not by distance from their mean."""
        return replace(self, mean=np.where(self.feature < first, self.mean, 0.0))

    def heights(self) -> sparse.csr_array:
        """H (P, P): ramps T as columns T H whose ridge is one on the heights of the terms that ramps lie between.

        Of a feature with n ramps those are n + 1 heights b, the sums of the first numbers. Their common level is in the
        intercept, so what the ridge shrinks is their distance from their mean, cᵀ S c for numbers c: H Hᵀ = S⁻¹.
        """
        blocks = [sparse.csr_array((0, 0))]
        for n in np.unique(self.feature, return_counts=True)[1]:
            sums = np.tri(
                n + 1, n, -1
            )  # heights above the first, of the numbers of the ramps
            centred = sums - sums.mean(axis=0)
            blocks.append(
                sparse.csr_array(
                    np.linalg.inv(np.linalg.cholesky(centred.T @ centred)).T
                )
            )
        return sparse.csr_array(sparse.block_diag(blocks))

    def by_feature(self, contributions: Array, n_features: int) -> Array:
        """Sums over the terms of each feature, (N, D), of contributions (N, P) of terms."""
        if self.low is None:
            return contributions
        out = np.zeros((len(contributions), n_features))
        if len(self):
            starts = np.flatnonzero(np.diff(self.feature, prepend=-1))
            out[:, self.feature[starts]] = np.add.reduceat(
                contributions, starts, axis=1
            )
        return out
