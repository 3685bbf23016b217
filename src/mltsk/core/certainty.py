"""How sure a model is of its numbers.

Symbols: U numbers per label, those of P terms and then of K exceptions; D columns, L labels.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .arrays import Array


@dataclass(frozen=True, eq=False)
class Certainty:
    """``information`` (U, U) of all numbers, ridge included, and the standard deviation ``noise`` (L,) of labels.

    The covariance of the numbers that a label has is the inverse of their part of the information, times noise². What
    was chosen is taken as given. ``chosen`` (D, L) says in how many of ``folds`` fits to parts of the data a column was
    chosen for a label, to the same effect; None where nothing was chosen.
    """

    information: Array
    noise: Array
    chosen: NDArray[np.int64] | None = None
    folds: int = 0

    def covariance(self, kept: NDArray[np.bool_], label: int) -> Array:
        """(U, U), 0 outside of the numbers ``kept`` (U,) of a label."""
        return self._inverse(kept.tobytes()) * self.noise[label] ** 2

    @lru_cache(maxsize=256)  # noqa: B019 - the labels of a long model share one inverse
    def _inverse(self, kept: bytes) -> Array:
        rows = np.flatnonzero(np.frombuffer(kept, dtype=bool))
        out = np.zeros(self.information.shape)
        part = self.information[np.ix_(rows, rows)].astype(np.float64)
        out[np.ix_(rows, rows)] = (
            np.linalg.pinv(part, hermitian=True)
            if len(rows) < 500
            else np.linalg.inv(part)
        )
        return out
