"""The fuzzy terms of the general rule, on the scales of `mltsk.core.scales`.

Symbols: Z (N, D) scaled samples, w (N,) weights, P terms, T (N, P) their memberships.

A ramp rises from 0 to 1 between two percentiles of its feature: "is no longer very
low", …, "is very high". A weighted sum of a feature's ramps is a curve that may bend at
their ends and is bounded outside the data. A ridge on the weights penalises changes of
slope, so curves stay smooth. Where there are thousands of rows, finer ramps stand next
to them. A straight term is a ramp in the feature's own units, from its least to its
largest training value: a line that ends with the data. A linear term is the scaled
feature itself, for rows of unit length. A missing value counts as the average of its
terms, so it adds nothing.

The terms "is very low", "is low", …, "is very high" may also be triangles or
trapezoids, which overlap so that they add up to 1. They are kept as the ramps from each
to the next: Σ b_i t_i = b_0 + Σ (b_i - b_{i-1}) r_i. Only the ridge differs: it is one
on the heights b (`Terms.heights`).
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .arrays import (
    CSR,
    Array,
    FloatArray,
    Matrix,
    asnumpy,
    cast,
    is_csr,
    is_tensor,
    namespace,
    put,
    row_blocks,
    underflow_is_zero,
    weighted_mean,
)
from .scales import Scaling

# Where ramps begin and end, as percentiles.
RAMPS = ((0.0, 1.0), (0.01, 0.33), (0.24, 0.5), (0.35, 0.65), (0.5, 0.76), (0.67, 0.99))
# Few values carry no bends: a feature with at most this many has one ramp, if there are
# no finer ones.
FEW_VALUES = 6
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


def _fine_ramps(levels: FloatArray, n_fine: int) -> list[tuple[float, float]]:
    """Ramps between percentiles that some value of a feature has; levels are (q,)."""
    shares = np.linspace(0.0, 1.0, n_fine + 1)
    nearest = np.searchsorted(levels, shares).clip(0, len(levels) - 1)
    knots = np.unique(levels[nearest]).tolist()
    return list(pairwise(knots))


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
        distance from its average. In short models it is 0 or 1 instead: the end of the
        ramp that a missing value counts as.
    straight : array of bool of shape (P,), or None
        Which ramps are lines in the feature's own units: their ``low`` and ``high``
        are 0 and 1, the ends of its range. None if there are none.
    """

    feature: NDArray[np.intp]
    low: FloatArray | None
    high: FloatArray | None
    mean: FloatArray
    straight: NDArray[np.bool_] | None = None

    @classmethod
    def ramps(
        cls,
        scaling: Scaling,
        monotone: NDArray[np.bool_] | None = None,
        shape: str = "quantile",
        n_fine: int = 0,
    ) -> "Terms":
        """Ramps of each feature of a percentile scale; their means are still 0.

        A constant feature has none, one of few values has one.

        Parameters
        ----------
        scaling : Scaling
        monotone : array of bool of shape (D,), optional
            Features that have one ramp, because their curve may not turn.
        shape : {"quantile", "triangles", "trapezoids"}
        n_fine : int
            How many ramps more a feature has, one after the other, each with the same
            share of the data; fewer where it has fewer values.
        """
        n_values = scaling.n_values
        bends = n_values > 2
        if monotone is not None:
            bends &= ~monotone
        percentiles = list(PERCENTILE_TERMS[shape])
        feature: list[int] = []
        ends: list[tuple[float, float]] = []
        for d in np.flatnonzero(n_values > 1).tolist():
            levels = scaling.levels[d, : n_values[d]]
            # a single ramp goes from the least to the largest value: it is 0 and 1
            # where there are two
            own = [(float(levels[0]), float(levels[-1]))]
            if bends[d] and n_values[d] > FEW_VALUES:
                own = percentiles
            if bends[d] and n_fine:
                own = own + _fine_ramps(levels, n_fine)
            feature += [d] * len(own)
            ends += own
        return cls._between(feature, ends)

    @classmethod
    def between_knots(cls, scaling: Scaling, features: NDArray[np.intp]) -> "Terms":
        """A ramp between every two knots of some features; their means are still 0."""
        feature: list[int] = []
        ends: list[tuple[float, float]] = []
        for d in features.tolist():
            levels = scaling.levels[d, : scaling.n_values[d]].tolist()
            own = list(pairwise(levels))
            feature += [d] * len(own)
            ends += own
        return cls._between(feature, ends)

    @classmethod
    def _between(cls, feature: list[int], ends: list[tuple[float, float]]) -> "Terms":
        """A ramp of each of some features between two ends; their means are still 0."""
        low, high = np.array(ends).reshape(-1, 2).T.copy()
        return cls(
            feature=np.array(feature, dtype=np.intp),
            low=low,
            high=high,
            mean=np.zeros(len(feature)),
        )

    def joined(self, other: "Terms") -> "Terms":
        """These ramps and lines with further ramps, sorted by feature."""
        if self.low is None or self.high is None:
            raise ValueError("linear terms cannot be joined by ramps")
        if other.low is None or other.high is None:
            raise ValueError("linear terms cannot join ramps")
        feature = np.concatenate([self.feature, other.feature])
        order = np.argsort(feature, kind="stable")
        straight = self.straight
        if straight is not None:
            straight = np.append(straight, np.zeros(len(other), dtype=bool))[order]
        return Terms(
            feature=feature[order],
            low=np.append(self.low, other.low)[order],
            high=np.append(self.high, other.high)[order],
            mean=np.append(self.mean, other.mean)[order],
            straight=straight,
        )

    def with_lines(self, scaling: Scaling) -> "Terms":
        """These ramps and a straight term, the first, of each feature.

        A feature of two values has none: its ramp is a line already.
        """
        if self.low is None or self.high is None:
            return self
        lines = np.flatnonzero(scaling.n_values > 2)
        lines = lines[np.isin(lines, self.feature)]
        feature = np.concatenate([lines, self.feature])
        order = np.argsort(feature, kind="stable")
        is_line = np.arange(len(feature)) < len(lines)
        return Terms(
            feature=feature[order],
            low=np.concatenate([np.zeros(len(lines)), self.low])[order],
            high=np.concatenate([np.ones(len(lines)), self.high])[order],
            mean=np.concatenate([np.zeros(len(lines)), self.mean])[order],
            straight=is_line[order],
        )

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> "Terms":
        """Some of these terms."""
        if self.low is None or self.high is None:
            return replace(self, feature=self.feature[chosen], mean=self.mean[chosen])
        straight = None if self.straight is None else self.straight[chosen]
        has_lines = straight is not None and bool(straight.any())
        return Terms(
            feature=self.feature[chosen],
            low=self.low[chosen],
            high=self.high[chosen],
            mean=self.mean[chosen],
            straight=straight if has_lines else None,
        )

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
        if self.straight is not None and self.straight.any():
            lines = np.flatnonzero(self.straight)
            shares = scaling.shares_of_range(Z, self.feature[lines])
            T[:, lines] = shares
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
