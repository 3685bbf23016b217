"""Friedman's test: do any of several methods differ over several data sets?

M data sets, k methods, r the rank of a method on a data set (1 is best, ties share the mean of their ranks), R the
mean rank of a method over data sets::

    χ² = 12M / (k(k+1)) · Σ (R − (k+1)/2)²            Friedman
    F  = (M−1) χ² / (M(k−1) − χ²)                     Iman and Davenport, with k−1 and (k−1)(M−1) degrees of freedom

The tests that follow it are in `mltsk.experiments.significance`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ..exceptions import InputError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Friedman:
    """Answer of `friedman`.

    Attributes
    ----------
    mean_ranks : array or series of shape (n_methods,)
        1 is best.
    chi2, f : float
        Friedman's statistic, and Iman and Davenport's, which is the less conservative of the two.
    n_datasets, n_methods : int
    """

    mean_ranks: Any
    chi2: float
    f: float
    n_datasets: int
    n_methods: int

    @property
    def degrees_of_freedom(self) -> tuple[int, int]:
        """Of F; the first is also that of χ²."""
        return self.n_methods - 1, (self.n_methods - 1) * (self.n_datasets - 1)

    @property
    def p_value(self) -> float:
        """Probability of an F at least this large if no method differed from another."""
        return float(stats.f.sf(self.f, *self.degrees_of_freedom))

    @property
    def chi2_p_value(self) -> float:
        """The same by χ², for comparison with programs that report only that."""
        return float(stats.chi2.sf(self.chi2, self.n_methods - 1))

    def critical_value(self, alpha: float = 0.05) -> float:
        """The F above which the methods differ at level ``alpha``."""
        return float(stats.f.isf(level(alpha), *self.degrees_of_freedom))


def friedman(scores: Any, *, greater_is_better: bool, correct_ties: bool = False) -> Friedman:
    """Test whether any of several methods differs from the others over several data sets.

    Parameters
    ----------
    scores : array or data frame of shape (n_datasets, n_methods)
        At least two of each and none missing. They are ranked as given: values that differ by rounding error only are
        no ties.
    greater_is_better : bool
        True for a score such as AP, False for a loss.
    correct_ties : bool
        Divide χ² by its tie correction, as `scipy.stats.friedmanchisquare` does. Demšar's formulas, and with them the
        paper, do not; F is larger with it.

    Returns
    -------
    Friedman
        If all data sets rank the methods alike, F is infinite and p 0; if every row is tied throughout, F is 0 and p 1.

    Examples
    --------
    >>> test = friedman([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.7, 0.7, 0.5], [0.3, 0.4, 0.2]], greater_is_better=True)
    >>> test.mean_ranks
    array([1.375, 1.625, 3.   ])
    >>> round(test.f, 2), round(test.p_value, 3), round(test.critical_value(0.05), 2)
    (9.8, 0.013, 5.14)
    """
    values, names = _score_table(scores)
    ranks = stats.rankdata(-values if greater_is_better else values, axis=1)
    chi2, f = _statistics(ranks, correct_ties)
    n, k = values.shape
    return Friedman(labelled(ranks.mean(axis=0), names), chi2, f, n, k)


def level(alpha: float) -> float:
    """``alpha``, if it is a probability."""
    if not 0 < alpha < 1:
        raise InputError(f"The level alpha lies between 0 and 1; it is {alpha!r}.")
    return alpha


def labelled(values: NDArray[Any], names: list[Any] | None) -> Any:
    """The values by name where there are names."""
    if names is None:
        return values
    import pandas as pd

    return pd.Series(values, index=names) if values.ndim == 1 else pd.DataFrame(values, index=names, columns=names)


def _statistics(ranks: FloatArray, correct_ties: bool) -> tuple[float, float]:
    """χ² and F, from twice the ranks: those are whole numbers, so that equal rankings give exactly infinity."""
    n, k = ranks.shape
    doubled = np.rint(2 * ranks).astype(np.int64) - (k + 1)
    between = 3 * int(np.sum(doubled.sum(axis=0) ** 2))
    spread = 3 * int(np.sum(doubled**2)) if correct_ties else n * k * (k * k - 1)
    chi2 = between * (k - 1) / spread if between else 0.0
    rest = n * spread - between
    if between and not rest:
        return chi2, float("inf")
    return chi2, (n - 1) * between / rest if between else 0.0


def _score_table(scores: Any) -> tuple[FloatArray, list[Any] | None]:
    """Scores as an array, and the names of the methods if the table has any."""
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("Scores must be a table of numbers, one row a data set and one column a method.") from None
    if values.ndim != 2 or min(values.shape) < 2:
        raise InputError(
            f"Ranks need at least two data sets (rows) and two methods (columns); the scores have shape {values.shape}."
        )
    names = list(scores.columns) if hasattr(scores, "columns") else None
    if np.isnan(values).any():
        datasets = list(scores.index) if hasattr(scores, "iloc") else range(len(values))
        row, column = (int(i) for i in np.argwhere(np.isnan(values))[0])
        method = names[column] if names else column
        raise InputError(
            f"The score of method {method!r} on data set {datasets[row]!r} is missing: leave out the row or the column."
        )
    return values, names
