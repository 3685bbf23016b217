"""Do methods differ over several data sets? Friedman's test, and those that follow it.

Symbols
    M     data sets
    k     methods, ranked on each data set (1 is best)
    SE    √(k(k+1) / 6M), the standard error of a difference of two mean ranks
    CD    q · SE, the critical difference: mean ranks at least this far apart differ

`friedman` asks whether the methods differ at all. If so, `bonferroni_dunn` and `holm`
compare all with one control (Holm finds at least as much), and `nemenyi` compares every
pair. After J. Demšar, Statistical comparisons of classifiers over multiple data sets,
JMLR 7 (2006). With R the mean rank of a method, where ties share ranks::

    χ² = 12M / (k(k+1)) · Σ (R − (k+1)/2)²      Friedman
    F  = (M−1) χ² / (M(k−1) − χ²)               Iman and Davenport, with k−1 and
                                                (k−1)(M−1) degrees of freedom

Data frames in, labelled answers out: the columns of a frame name the methods, and mean
ranks, differences and verdicts then are a series by name. Arrays give arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from ..core.arrays import Array
from ..exceptions import InputError
from ..text import plural
from .critical_difference import draw_diagram

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "Friedman",
    "RankComparison",
    "bonferroni_dunn",
    "critical_difference_diagram",
    "friedman",
    "holm",
    "nemenyi",
]

# Numbers as an array, or by the names of the methods as a series or frame of pandas.
Labelled: TypeAlias = Any
MethodNames: TypeAlias = list[object] | None


@dataclass(frozen=True, eq=False)
class Friedman:
    """Answer of `friedman`.

    ``mean_ranks`` (n_methods,), 1 is best, Friedman's ``chi2``, and Iman and
    Davenport's ``f``.
    """

    mean_ranks: Labelled
    chi2: float
    f: float
    n_datasets: int
    n_methods: int

    @property
    def degrees_of_freedom(self) -> tuple[int, int]:
        """Degrees of freedom of F; the first is also that of χ²."""
        return self.n_methods - 1, (self.n_methods - 1) * (self.n_datasets - 1)

    @property
    def p_value(self) -> float:
        """Probability of an F at least this large if no methods differed."""
        return float(stats.f.sf(self.f, *self.degrees_of_freedom))

    def critical_value(self, alpha: float = 0.05) -> float:
        """The F above which the methods differ at level ``alpha``."""
        return float(stats.f.isf(_level(alpha), *self.degrees_of_freedom))


@dataclass(frozen=True, eq=False)
class RankComparison:
    """Answer of `bonferroni_dunn`, `holm` and `nemenyi`; what a test lacks is None.

    Attributes
    ----------
    mean_ranks, n_datasets, alpha : as given
    significant : (n_methods,), from `nemenyi` (n_methods, n_methods)
        Whether a method differs, better or worse, from the control, or from each other
        one.
    control : int
        Position of the control.
    rank_differences : (n_methods,)
        Mean rank less that of the control: above 0 is worse than it.
    q, critical_difference : float
        Mean ranks differ if they are at least this far apart, q times the standard
        error.
    p_values, adjusted_p_values : of the shape of ``significant``
        Two-sided; those that `holm` has adjusted compare with ``alpha`` directly. 1 for
        the control itself.
    """

    mean_ranks: Labelled
    n_datasets: int
    alpha: float
    significant: Labelled
    control: int | None = None
    rank_differences: Labelled = None
    q: float | None = None
    critical_difference: float | None = None
    p_values: Labelled = None
    adjusted_p_values: Labelled = None


def friedman(
    scores: Labelled,
    *,
    greater_is_better: bool,
    correct_ties: bool = False,
) -> Friedman:
    """Test whether any of several methods differs from the others over data sets.

    If all data sets rank the methods alike, F is infinite and p 0; if every row is tied
    throughout, F is 0 and p 1.

    Parameters
    ----------
    scores : array or data frame of shape (n_datasets, n_methods)
        At least two of each and none missing. They are ranked as given: values that
        differ by rounding error only are no ties.
    greater_is_better : bool
        True for a score such as AP, False for a loss.
    correct_ties : bool
        Divide χ² by its tie correction, as `scipy.stats.friedmanchisquare` does.
        Demšar's formulas, and with them the paper, do not; F is larger with it.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.7, 0.7, 0.5], [0.3, 0.4, 0.2]]
    >>> test = friedman(scores, greater_is_better=True)
    >>> test.mean_ranks
    array([1.375, 1.625, 3.   ])
    >>> round(test.f, 2), round(test.p_value, 3), round(test.critical_value(0.05), 2)
    (9.8, 0.013, 5.14)
    """
    values, names = _read_scores(scores)
    n, k = values.shape
    ranks = stats.rankdata(-values if greater_is_better else values, axis=1)
    # twice the ranks are whole numbers, so that equal rankings give exactly infinity
    doubled = np.rint(2 * ranks).astype(np.int64) - (k + 1)
    between = 3 * int(np.sum(doubled.sum(axis=0) ** 2))
    spread = n * k * (k * k - 1)
    if correct_ties:
        spread = 3 * int(np.sum(doubled**2))
    chi2 = 0.0
    f = 0.0
    if between:
        rest = n * spread - between
        chi2 = between * (k - 1) / spread
        f = (n - 1) * between / rest if rest else inf
    return Friedman(
        mean_ranks=_labelled(ranks.mean(axis=0), names),
        chi2=chi2,
        f=f,
        n_datasets=n,
        n_methods=k,
    )


def _read_scores(scores: Labelled) -> tuple[Array, MethodNames]:
    """Scores as an array (n_datasets, n_methods), and the names of the methods."""
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "Scores must be a table of numbers, one row per data set and one column "
            "per method."
        ) from None
    if values.ndim != 2 or min(values.shape) < 2:
        raise InputError(
            "Ranks need at least two data sets (rows) and two methods (columns); "
            f"the scores have shape {values.shape}."
        )
    names = list(scores.columns) if hasattr(scores, "columns") else None
    if np.isnan(values).any():
        dataset, method = np.argwhere(np.isnan(values))[0].tolist()
        if names is not None:
            dataset = scores.index[dataset]
            method = names[method]
        raise InputError(
            f"The score of method {method!r} on data set {dataset!r} is missing: "
            "leave out the row or the column."
        )
    return values, names


def bonferroni_dunn(
    mean_ranks: Labelled,
    n_datasets: int,
    *,
    control: int | str,
    alpha: float = 0.05,
    critical_values: str = "demsar",
) -> RankComparison:
    """Compare every method with a control by one critical difference of mean ranks.

    Parameters
    ----------
    mean_ranks : array or series of shape (n_methods,)
        Such as ``friedman(...).mean_ranks``.
    n_datasets : int
        Over how many data sets ranks were averaged.
    control : int or str
        Position of the method to compare with, or its name if ``mean_ranks`` has names.
    alpha : float
        Probability of any false difference.
    critical_values : {"demsar", "exact"}
        q as in Demšar's table, which published critical differences come from, or as
        the normal quantile at 1 − alpha / 2(k−1). The table has three digits, levels
        0.05 and 0.10 and up to ten methods (beyond it the quantile is taken), and for
        nine methods at 0.05 it prints 2.724 instead of 2.734: CD is .4 % too small
        there.

    Examples
    --------
    >>> result = bonferroni_dunn([1.2, 2.1, 3.6, 3.1], n_datasets=12, control=0)
    >>> round(result.critical_difference, 3), result.significant
    (1.262, array([False, False,  True,  True]))
    """
    table = _read_ranks(mean_ranks, n_datasets)
    position = table.position(control)
    differences = table.ranks - table.ranks[position]
    k = len(differences)
    q = float(stats.norm.isf(_level(alpha) / 2 / (k - 1)))
    if critical_values not in ("demsar", "exact"):
        raise InputError(
            f"critical_values is 'demsar' or 'exact', not {critical_values!r}."
        )
    if critical_values == "demsar" and alpha in (0.05, 0.10) and k <= 10:
        q = 2.724 if (k, alpha) == (9, 0.05) else round(q, 3)  # his Table 5(b)
    critical_difference = q * table.standard_error
    significant = np.abs(differences) >= critical_difference
    return RankComparison(
        mean_ranks=mean_ranks,
        n_datasets=n_datasets,
        alpha=alpha,
        significant=_labelled(significant, table.names),
        control=position,
        rank_differences=_labelled(differences, table.names),
        q=q,
        critical_difference=critical_difference,
    )


def nemenyi(
    mean_ranks: Labelled, n_datasets: int, alpha: float = 0.05
) -> RankComparison:
    """Compare every pair of methods by one critical difference of mean ranks.

    It comes from the studentised range. Parameters are those of `bonferroni_dunn`.

    Examples
    --------
    >>> result = nemenyi([1.2, 2.1, 3.6, 3.1], n_datasets=12)
    >>> round(result.q, 3), round(result.critical_difference, 3), result.significant[0]
    (2.569, 1.354, array([False, False,  True,  True]))
    """
    table = _read_ranks(mean_ranks, n_datasets)
    studentized = stats.studentized_range(len(table.ranks), np.inf)
    q = float(studentized.isf(_level(alpha)) / np.sqrt(2))
    critical_difference = q * table.standard_error
    distances = np.abs(table.ranks[:, None] - table.ranks)
    p = studentized.sf(distances / table.standard_error * np.sqrt(2))
    return RankComparison(
        mean_ranks=mean_ranks,
        n_datasets=n_datasets,
        alpha=alpha,
        significant=_labelled(distances >= critical_difference, table.names),
        q=q,
        critical_difference=critical_difference,
        p_values=_labelled(p, table.names),
    )


def holm(
    mean_ranks: Labelled, n_datasets: int, *, control: int | str, alpha: float = 0.05
) -> RankComparison:
    """Compare every method with a control, from the smallest p-value on (Holm 1979).

    Parameters are those of `bonferroni_dunn`.

    Examples
    --------
    >>> result = holm([1.2, 2.1, 3.6, 3.1], n_datasets=12, control=0)
    >>> result.adjusted_p_values.round(3), result.significant
    (array([1.   , 0.088, 0.   , 0.001]), array([False, False,  True,  True]))
    """
    table = _read_ranks(mean_ranks, n_datasets)
    position = table.position(control)
    differences = table.ranks - table.ranks[position]
    p = 2 * stats.norm.sf(np.abs(differences) / table.standard_error)
    is_control = np.arange(len(p)) == position
    others = np.argsort(np.where(is_control, np.inf, p), kind="stable")[:-1]
    # the i-th smallest of m times m − i + 1, never below the one before it
    steps = p[others] * np.arange(len(others), 0, -1)
    adjusted = np.ones(len(p))
    adjusted[others] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return RankComparison(
        mean_ranks=mean_ranks,
        n_datasets=n_datasets,
        alpha=alpha,
        significant=_labelled(adjusted <= _level(alpha), table.names),
        control=position,
        rank_differences=_labelled(differences, table.names),
        p_values=_labelled(p, table.names),
        adjusted_p_values=_labelled(adjusted, table.names),
    )


def critical_difference_diagram(
    comparison: RankComparison,
    *,
    names: Sequence[str] | None = None,
    color: str = "tab:blue",
) -> "Figure":
    """Draw mean ranks on a line, better methods to the right, with the test's verdict.

    For `bonferroni_dunn` a band marks all mean ranks that do not differ from the
    control's; for `nemenyi` bars join methods that do not differ from each other.
    Returns a figure of matplotlib as large as the names need.

    Parameters
    ----------
    comparison : result of `bonferroni_dunn` or `nemenyi`
    names : sequence of str, optional
        Names of the methods; those of the mean ranks if they have any.
    color : colour of matplotlib
        Of the band or bars. Text and lines follow ``rcParams``.

    Examples
    --------
    >>> result = bonferroni_dunn([1.2, 2.1, 3.6, 3.1], n_datasets=12, control=0)
    >>> names = ["ours", "CC", "BR", "ML-kNN"]
    >>> figure = critical_difference_diagram(result, names=names)
    >>> figure.savefig("ranks.svg")  # doctest: +SKIP
    """
    if comparison.critical_difference is None:
        raise InputError(
            "A critical difference diagram draws the result of bonferroni_dunn or of "
            "nemenyi."
        )
    table = _read_ranks(comparison.mean_ranks, comparison.n_datasets)
    k = len(table.ranks)
    shown = [str(name) for name in (names or table.names or range(1, k + 1))]
    if len(shown) != k:
        raise InputError(f"There are {k} methods and {len(shown)} names.")
    return draw_diagram(
        table.ranks,
        shown,
        critical_difference=comparison.critical_difference,
        control=comparison.control,
        color=color,
    )


class _MeanRanks(NamedTuple):
    """Mean ranks (k,), the names of the methods if any, and the standard error SE."""

    ranks: Array
    names: MethodNames
    standard_error: float

    def position(self, control: int | str) -> int:
        """Position of the control, which is a name or a position."""
        k = len(self.ranks)
        if self.names is not None and self.names.count(control) == 1:
            return self.names.index(control)
        if isinstance(control, int | np.integer) and -k <= control < k:
            return int(control) % k
        choices = ", ".join(map(str, self.names)) if self.names else f"0 to {k - 1}"
        raise InputError(
            f"The control {control!r} is not one of the methods: {choices}."
        )


def _read_ranks(mean_ranks: Labelled, n_datasets: int) -> _MeanRanks:
    """Mean ranks as an array, with names where they are a series."""
    ranks = np.asarray(mean_ranks, dtype=np.float64)
    if ranks.ndim != 1 or len(ranks) < 2:
        raise InputError(
            "Mean ranks are one number per method, of two methods or more; "
            f"they have shape {ranks.shape}."
        )
    k = len(ranks)
    if not np.all((ranks >= 1) & (ranks <= k)):
        raise InputError(
            f"Mean ranks of {k} methods lie between 1 and {k}: were scores given "
            "instead of ranks?"
        )
    if n_datasets < 2:
        raise InputError(
            f"Methods cannot be told apart on {plural(n_datasets, 'data set')}: "
            "there must be at least two."
        )
    names = list(mean_ranks.index) if hasattr(mean_ranks, "iloc") else None
    standard_error = float(np.sqrt(k * (k + 1) / (6 * n_datasets)))
    return _MeanRanks(ranks, names, standard_error)


def _level(alpha: float) -> float:
    """The level, where it is one."""
    if not 0 < alpha < 1:
        raise InputError(f"The level alpha lies between 0 and 1; it is {alpha!r}.")
    return alpha


def _labelled(values: NDArray[Any], names: MethodNames) -> Labelled:
    """Values by the names of the methods, where these have names."""
    if names is None:
        return values
    if values.ndim == 1:
        return pd.Series(values, names)
    return pd.DataFrame(values, names, names)
