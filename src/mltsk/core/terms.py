"""The fuzzy terms of the general rule: ramps on the percentile scale of a feature, or the feature itself.

Symbols: Z (N, D) scaled samples, P terms, T (N, P) their memberships.

A ramp rises from 0 to 1 between two percentiles of its feature: "is no longer very low", …, "is very high". A weighted
sum of a feature's ramps is a curve that may bend at their ends and is bounded outside the data. A ridge on the weights
penalises changes of slope, so curves stay smooth. A linear term is the scaled feature itself, for rows of unit length.
A missing value counts as the average of its terms, that is as nothing.

Terms "is very low", "is low", …, "is very high" that overlap so that they add up to 1, triangles or trapezoids, are
kept as the ramps from each to the next: Σ b_i t_i = b_0 + Σ (b_i - b_{i-1}) r_i. What differs is the ridge, which is
then one on the heights b (`Terms.heights`).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .arrays import Array, Matrix, row_blocks, weighted_mean
from .backend import asnumpy, cast, is_tensor, namespace, put
from .scaling import Scaling

# Where ramps begin and end, as percentiles. Few values carry no bends: a feature of FEW_VALUES or fewer has the first.
RAMPS = ((0.0, 1.0), (0.01, 0.33), (0.24, 0.5), (0.35, 0.65), (0.5, 0.76), (0.67, 0.99))
FEW_VALUES = 6
# From the middle of each fifth of the data to that of the next; trapezoids are flat around it.
TRIANGLES = ((0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9))
TRAPEZOIDS = ((0.15, 0.25), (0.35, 0.45), (0.55, 0.65), (0.75, 0.85))
PERCENTILE_TERMS = {"quantile": RAMPS, "triangles": TRIANGLES, "trapezoids": TRAPEZOIDS}  # by the name of the scale


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
    def ramps(cls, scaling: Scaling, monotone: NDArray[np.bool_] | None = None, shape: str = "quantile") -> "Terms":
        """Ramps of every feature of a percentile scale that is not constant, one of a monotone one; no means."""
        distinct = 1 + np.count_nonzero(np.diff(scaling.values, axis=1), axis=1)
        bends = distinct > FEW_VALUES if monotone is None else (distinct > FEW_VALUES) & ~monotone
        count = np.where(bends, len(PERCENTILE_TERMS[shape]), (distinct > 1).astype(int))
        feature = np.repeat(np.arange(len(count)), count)
        which = np.arange(len(feature)) - np.repeat(np.cumsum(count) - count, count)
        low, high = np.asarray(PERCENTILE_TERMS[shape])[which].T.copy()
        # the one ramp of a feature of few values goes from its least to its largest one: 0 and 1 where it has two
        few = count[feature] == 1
        low[few], high[few] = scaling.levels[feature[few], 0], scaling.levels[feature[few], -1]
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
            return namespace(Z).where(Z == Z, Z, 0.0 if self.low is not None else cast(put(self.mean, Z), Z.dtype))
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
        slope, start = scaling.spread[self.feature] * rise, (scaling.offset[self.feature] - self.low) * rise
        count = np.bincount(self.feature, minlength=Z.shape[1])
        T = xp.repeat(Z, xp.asarray(count, like=Z) if is_tensor(Z) else count, axis=1)
        T *= cast(put(slope, Z), Z.dtype)
        T += cast(put(start, Z), Z.dtype)
        xp.clip(T, 0.0, 1.0, out=T)
        return T if bool((Z == Z).all()) else xp.where(T == T, T, cast(put(self.mean, Z), Z.dtype))

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
                sums, total = sums + part @ xp.where(T == T, T, 0.0), total + part @ cast(T == T, Z.dtype)
        return replace(self, mean=asnumpy(sums / (total + (total == 0))).astype(np.float64))

    def from_zero(self, first: int) -> "Terms":
        """These terms, of which those from feature ``first`` on count as they are, not by distance from their mean."""
        return replace(self, mean=np.where(self.feature < first, self.mean, 0.0))

    def heights(self) -> sparse.csr_array:
        """H (P, P): ramps T as columns T H whose ridge is one on the heights of the terms that ramps lie between.

        Of a feature with n ramps those are n + 1 heights b, the sums of the first numbers. Their common level is in the
        intercept, so what the ridge shrinks is their distance from their mean, cᵀ S c for numbers c: H Hᵀ = S⁻¹.
        """
        return sparse.csr_array(sparse.block_diag([_to_heights(n) for n in np.bincount(self.feature) if n]))

    def by_feature(self, contributions: Array, n_features: int) -> Array:
        """Sums over the terms of each feature, (N, D), of contributions (N, P) of terms."""
        if self.low is None:
            return contributions
        out = np.zeros((len(contributions), n_features))
        if len(self):
            starts = np.flatnonzero(np.diff(self.feature, prepend=-1))
            out[:, self.feature[starts]] = np.add.reduceat(contributions, starts, axis=1)
        return out


def _to_heights(n: int) -> Array:
    """The block of `Terms.heights` of a feature with n ramps."""
    sums = np.tri(n + 1, n, -1)  # heights above the first, of the numbers of the ramps
    centred = sums - sums.mean(axis=0)
    return np.linalg.inv(np.linalg.cholesky(centred.T @ centred)).T
