"""How certain a model is of its numbers.

Symbols: U numbers per label, first those of P terms and then those of K exceptions;
D columns, L labels.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .arrays import FloatArray

# The pseudo-inverse copes with singular information; from this many numbers on it would
# take too long, and the plain inverse is used.
MIN_NUMBERS_FOR_INVERSE = 500


@dataclass(frozen=True, eq=False)
class Certainty:
    """What is needed for the covariance of the numbers of each label.

    It holds for the statements that were chosen; that others might have been chosen is
    not part of it.

    Parameters
    ----------
    information : array of shape (U, U)
        Information about all numbers, ridge included. The covariance of the numbers
        that a label has is the inverse of their rows and columns, times noise².
    noise : array of shape (L,)
        Standard deviation of each label around its scores.
    chosen : array of shape (D, L), optional
        In how many of ``folds`` fits to a part of the data a column was chosen for a
        label, with the same effect; None if nothing was chosen.
    folds : int
    """

    information: FloatArray
    noise: FloatArray
    chosen: NDArray[np.int64] | None = None
    folds: int = 0

    def covariance(self, kept: NDArray[np.bool_], label: int) -> FloatArray:
        """Covariance (U, U) of the numbers of a label; 0 for numbers it does not have.

        Parameters
        ----------
        kept : array of bool of shape (U,)
            Which numbers the label has.
        label : int
        """
        return self._inverse(kept.tobytes()) * self.noise[label] ** 2

    @lru_cache(maxsize=256)  # noqa: B019 - the labels of a long model share one inverse
    def _inverse(self, kept: bytes) -> FloatArray:
        """Inverse (U, U) of the information about the numbers ``kept``, 0 elsewhere."""
        numbers = np.flatnonzero(np.frombuffer(kept, dtype=bool))
        cells = np.ix_(numbers, numbers)
        information = self.information[cells].astype(np.float64)
        inverse = np.zeros(self.information.shape)
        if len(numbers) < MIN_NUMBERS_FOR_INVERSE:
            inverse[cells] = np.linalg.pinv(information, hermitian=True)
        else:
            inverse[cells] = np.linalg.inv(information)
        return inverse
