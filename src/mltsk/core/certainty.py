"""How certain a model is of its numbers.

Symbols: U numbers per label, first those of P terms and then those of K exceptions; V
of these that the information is about; D columns, L labels.
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
    information : array of shape (V, V)
        Information about the numbers, ridge included. The covariance of the numbers
        that a label has is the inverse of their rows and columns, times noise².
    noise : array of shape (L,)
        Standard deviation of each label around its scores.
    chosen : array of shape (D, L), optional
        In how many of ``folds`` fits to random halves of the data a column was chosen
        for a label, with the same effect; None if nothing was chosen.
    folds : int
    numbers : array of int of shape (V,), optional
        Positions of these numbers among all U, rising; None if they are all. A short
        model of linear terms has a number per column, nearly all of them 0. Of a long
        one with thousands of exceptions, nothing is known about theirs.
    shrunk : array of shape (L,), optional
        By which share of themselves the numbers of a label would be larger if they were
        not drawn towards 0; None where that is not known.
    """

    information: FloatArray
    noise: FloatArray
    chosen: NDArray[np.int64] | None = None
    folds: int = 0
    numbers: NDArray[np.intp] | None = None
    shrunk: FloatArray | None = None

    def knows(self, kept: NDArray[np.bool_], among: NDArray[np.intp]) -> bool:
        """Whether the information is about all of some numbers (A,) that a label has.

        ``kept`` (U,) says which it has.
        """
        if self.numbers is None:
            return True
        return bool(np.isin(among[kept[among]], self.numbers).all())

    def covariance(
        self, kept: NDArray[np.bool_], label: int, among: NDArray[np.intp]
    ) -> FloatArray:
        """Covariance (A, A) of some numbers of a label; 0 for those it does not have.

        Parameters
        ----------
        kept : array of bool of shape (U,)
            Which numbers the label has.
        label : int
        among : array of int of shape (A,)
            Positions of the numbers that are asked for, among all U.
        """
        if self.numbers is not None:
            is_known = np.zeros_like(kept)
            is_known[self.numbers] = True
            kept = kept & is_known
        has_number = kept[among]
        positions = np.searchsorted(np.flatnonzero(kept), among[has_number])
        inverse = self._inverse(kept.tobytes())
        covariance = np.zeros((len(among), len(among)))
        covariance[np.ix_(has_number, has_number)] = inverse[
            np.ix_(positions, positions)
        ]
        return covariance * self.noise[label] ** 2

    @lru_cache(maxsize=256)  # noqa: B019 - the labels of a long model share one inverse
    def _inverse(self, kept: bytes) -> FloatArray:
        """Inverse of the information about the numbers ``kept`` alone."""
        positions = np.flatnonzero(np.frombuffer(kept, dtype=bool))
        if self.numbers is not None:
            positions = np.searchsorted(self.numbers, positions)
        information = self.information[np.ix_(positions, positions)]
        information = information.astype(np.float64)
        if len(positions) < MIN_NUMBERS_FOR_INVERSE:
            return np.linalg.pinv(information, hermitian=True)
        return np.linalg.inv(information)
