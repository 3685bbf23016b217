"""How well each label can be predicted, next to guessing.

Symbols: L labels. Figures have three columns: the value, and the ends of its 95 %
interval.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import FloatArray

# With fewer cases nothing is called certain.
MIN_CLEAR_CASES = 20


class Grade(NamedTuple):
    """Words for how well a label is predicted, and the least figures that earn them."""

    words: str
    auc: float
    lift: float
    gain: float


GRADES = (
    Grade("can be predicted", auc=0.8, lift=5.0, gain=0.4),
    Grade("can be predicted in part", auc=0.7, lift=1.5, gain=0.2),
)
LOWEST_GRADE = "can hardly be predicted"
GRADE_OF_FEW_CASES = "can perhaps be predicted"
NO_GRADE = "cannot be predicted"
TOO_FEW_CASES = "cannot be judged by so few cases"


def grade(*, n_cases: int, auc: float, ap: float, guessed_ap: float) -> str:
    """Words for a label that is predicted better than by guessing.

    Examples
    --------
    >>> grade(n_cases=50, auc=0.85, ap=0.7, guessed_ap=0.3)
    'can be predicted'
    """
    if n_cases < MIN_CLEAR_CASES:
        return GRADE_OF_FEW_CASES
    lift = ap / guessed_ap
    gain = (ap - guessed_ap) / (1 - guessed_ap)
    for reached in GRADES:
        is_lifted = lift >= reached.lift or gain >= reached.gain
        if auc >= reached.auc and is_lifted:
            return reached.words
    return LOWEST_GRADE


@dataclass(frozen=True, eq=False)
class Worth:
    """How well each label was told in rows that were left out.

    Parameters
    ----------
    n_observed, n_cases : arrays of int of shape (L,)
        Rows in which a label was observed, and those of them that have it.
    AP, AUC : arrays of shape (L, 3)
        0 where all of these rows have the label, or none.
    guessed_AP : array of shape (L,)
        The AP of rows in random order.
    """

    n_observed: NDArray[np.intp]
    n_cases: NDArray[np.intp]
    AP: FloatArray
    AUC: FloatArray
    guessed_AP: FloatArray

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Whether some rows have the label and some do not, (L,)."""
        return (self.n_cases > 0) & (self.n_cases < self.n_observed)

    @property
    def is_better_than_guessing(self) -> NDArray[np.bool_]:
        """Whether labels are predicted better than by guessing, beyond chance, (L,).

        In AUC and in AP: by AUC alone, 4 % of labels that are noise were.
        """
        by_auc = self.AUC[:, 1] > 0.5
        by_ap = self.AP[:, 1] > self.guessed_AP
        return self.is_known & by_auc & by_ap

    def words(self, label: int) -> str:
        """Words for how well a label can be predicted."""
        n_cases = int(self.n_cases[label])
        if not self.is_better_than_guessing[label]:
            rarer = min(n_cases, int(self.n_observed[label]) - n_cases)
            return TOO_FEW_CASES if rarer < MIN_CLEAR_CASES else NO_GRADE
        return grade(
            n_cases=n_cases,
            auc=float(self.AUC[label, 0]),
            ap=float(self.AP[label, 0]),
            guessed_ap=float(self.guessed_AP[label]),
        )

    def take(self, labels: NDArray[np.intp]) -> "Worth":
        """The same for some labels."""
        return Worth(
            n_observed=self.n_observed[labels],
            n_cases=self.n_cases[labels],
            AP=self.AP[labels],
            AUC=self.AUC[labels],
            guessed_AP=self.guessed_AP[labels],
        )
