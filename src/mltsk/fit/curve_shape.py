"""The curve of a column as a linear function of the numbers of its terms.

A curve is a sum of ramps and a line, so its height at a value and its slope between two
values are linear in their numbers. What is wished of a curve becomes linear equations
and inequalities: slopes of at least 0, heights that are given.

Ramps rise evenly from percentile to percentile, the line from value to value. Between
two ends of ramps, a *stretch*, the slope of a curve per percentile is Σ s_p c_p + h c:
s_p are the slopes of the ramps and c_p their numbers, c is that of the line, and h how
much of the range of values a percentile takes there. h changes from knot to knot of the
scale, and a slope that has a sign at the least and at the largest h has it in between.

Symbols: p terms of a column, r stretches, m values.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from ..core.scales import Scaling, shares_of_knots
from ..core.terms import Terms

MIN_STRETCH = 1e-12  # length of a stretch, as a share of the data


@dataclass(frozen=True)
class CurveShape:
    """What the curve of a column can be.

    Parameters
    ----------
    positions : (p,)
        Its terms among all terms.
    terms : Terms
        These terms, of the feature 0.
    scaling : Scaling
        That of this column alone.
    """

    positions: NDArray[np.intp]
    terms: Terms
    scaling: Scaling

    @classmethod
    def of(cls, terms: Terms, scaling: Scaling, column: int) -> "CurveShape":
        """The curve of a column of a general rule."""
        positions = np.flatnonzero(terms.feature == column)
        own = terms.take(positions)
        return cls(
            positions=positions,
            terms=replace(own, feature=np.zeros(len(positions), dtype=np.intp)),
            scaling=scaling.columns(slice(column, column + 1)),
        )

    def heights(self, values: FloatArray) -> FloatArray:
        """What each term adds at values (m,), for a number of 1: (m, p)."""
        Z = self.scaling.apply(np.asarray(values, dtype=np.float64)[:, None])
        return np.asarray(self.terms.memberships(Z, self.scaling) - self.terms.mean)

    @property
    def ends(self) -> FloatArray:
        """The values (r + 1,) between which stretches lie, rising."""
        levels = self._end_levels()
        knots = self.scaling.levels[0, : self._n_knots]
        return np.interp(levels, knots, self.scaling.values[0, : self._n_knots])

    def slopes(self) -> FloatArray:
        """Slopes (r, 2, p) of each term in each stretch.

        The two are those where values lie closest together, and farthest apart.
        """
        return self.slopes_at(self._end_levels())

    def levels_with(self, more: FloatArray) -> FloatArray:
        """The levels (r + 1,) between which stretches lie if they end at others, too.

        ``more`` are levels of the column; those beyond its values count for nothing.
        """
        levels = self._end_levels()
        inside = more[(more > levels[0]) & (more < levels[-1])]
        levels = np.unique(np.concatenate([levels, inside]))
        is_long = np.diff(levels, prepend=-np.inf) > MIN_STRETCH
        return levels[is_long]

    def slopes_at(self, levels: FloatArray) -> FloatArray:
        """Slopes (r, 2, p) between levels (r + 1,), at which no term bends inside."""
        if self.terms.low is None or self.terms.high is None:
            spread = float(self.scaling.spread[0])
            return np.full((len(levels) - 1, 2, len(self.positions)), 1 / spread)
        starts, stops = levels[:-1, None], levels[1:, None]
        is_inside = (self.terms.low <= starts) & (stops <= self.terms.high)
        ramps = is_inside / (self.terms.high - self.terms.low)
        slopes = np.stack([ramps, ramps], axis=1)
        if self.terms.straight is not None:
            lines = np.flatnonzero(self.terms.straight)
            slopes[:, :, lines] = self._values_per_level(levels)[:, :, None]
        return slopes

    @property
    def _n_knots(self) -> int:
        return int(self.scaling.n_values[0])

    def _end_levels(self) -> FloatArray:
        """The levels (r + 1,) between which stretches lie, rising."""
        knots = self.scaling.levels[0, : self._n_knots]
        if self.terms.low is None or self.terms.high is None:
            return knots[[0, -1]]
        is_ramp = np.ones(len(self.terms), dtype=bool)
        if self.terms.straight is not None:
            is_ramp = ~self.terms.straight
        ends = np.concatenate([self.terms.low[is_ramp], self.terms.high[is_ramp]])
        inside = ends[(ends > knots[0]) & (ends < knots[-1])]
        levels = np.unique(np.concatenate([knots[:1], inside, knots[-1:]]))
        is_long = np.diff(levels, prepend=-np.inf) > MIN_STRETCH
        return levels[is_long]

    def _values_per_level(self, levels: FloatArray) -> FloatArray:
        """Least and largest (r, 2) share of the range per level, in each stretch."""
        knots = self.scaling.levels[0, : self._n_knots]
        shares = shares_of_knots(self.scaling.values)[0, : self._n_knots]
        rates = np.diff(shares) / np.diff(knots)
        extremes = []
        for start, stop in pairwise(levels.tolist()):
            first = int(np.searchsorted(knots, start + MIN_STRETCH / 2)) - 1
            last = int(np.searchsorted(knots, stop - MIN_STRETCH / 2))
            own = rates[max(first, 0) : max(last, first + 1)]
            extremes.append((own.min(), own.max()))
        return np.array(extremes)
