"""All numbers of a label whose loss is close to the least: an ellipsoid.

With given terms, the loss of a label is the least loss plus (b - b₀)ᵀ A (b - b₀): the
numbers within a share t of the least loss l are those with (b - b₀)ᵀ A (b - b₀) <= t l,
exactly. Over all of them, a sum vᵀb reaches from vᵀb₀ - √(t l vᵀA⁻¹v) to its mirror
image, with all other numbers free to follow. Some numbers can all be 0 where their
share of the loss, cᵀ C⁻¹ c with C those rows and columns of A⁻¹, is at most t l.

Symbols: Q columns, m sums, p some of the numbers.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from .factor import Factor
from .ridge import Penalty
from .sums import FitSums


@dataclass(frozen=True)
class Ellipsoid:
    """The numbers of one label that are as good as the best.

    Parameters
    ----------
    center : (Q,)
        The best numbers b₀.
    factor : Factor
        Of A.
    least : float
        The least loss l: squared errors and ridge.
    tolerance : float
        The share t.
    """

    center: FloatArray
    factor: Factor
    least: float
    tolerance: float

    @classmethod
    def of(cls, sums: FitSums, label: int, tolerance: float) -> "Ellipsoid":
        """The ellipsoid of a label, from sums over rows."""
        part = next(part for part in sums.parts if label in part.labels)
        place = int(np.flatnonzero(part.labels == label)[0])
        moments = part.moments
        solution = moments.solve(Penalty(sums.ridge), sums.design.prior)
        center = solution.B[:, place]
        right = moments.B[:, place] - solution.mean * moments.y[place]
        squares = moments.y[place] * (1 - moments.y[place] / moments.total)
        least = float(squares - right @ center)
        return cls(center, solution.factor, max(least, 0.0), tolerance)

    @property
    def radius(self) -> float:
        """√(t l)."""
        return (self.tolerance * self.least) ** 0.5

    def reach(self, rows: FloatArray) -> FloatArray:
        """How far sums of numbers (m, Q) reach to either side of the best, (m,)."""
        half = self.factor.half(np.asarray(rows, dtype=np.float64))
        return self.radius * np.sqrt(np.einsum("mq,mq->m", half, half))

    def cost_without(self, numbers: NDArray[np.intp]) -> float:
        """The loss that setting some numbers (p,) to 0 adds, as a share of the least.

        All others follow.
        """
        if not len(numbers):
            return 0.0
        rows = np.zeros((len(numbers), len(self.center)))
        rows[np.arange(len(numbers)), numbers] = 1.0
        half = self.factor.half(rows)
        own = self.center[numbers]
        added = float(own @ np.linalg.solve(half @ half.T, own))
        return added / max(self.least, 1e-300)

    def members(self, n_members: int, seed: int) -> FloatArray:
        """Numbers (n_members, Q) on the surface: all as far from the best as may be."""
        rng = np.random.default_rng(seed)
        directions = rng.normal(size=(n_members, len(self.center)))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        # L⁻ᵀ u, from the halves of all single numbers
        moves = self.factor.half(np.eye(len(self.center))) @ directions.T
        return self.center + self.radius * moves.T
