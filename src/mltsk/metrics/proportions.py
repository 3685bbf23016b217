"""Shares of rows with intervals: how far they could be elsewhere."""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mltsk.exceptions import InputError
from mltsk.metrics.inputs import BoolArray, FloatArray


class IntervalEstimate(NamedTuple):
    """A figure, and the ends of its interval; NaN where rows do not define it."""

    value: float
    low: float
    high: float


def proportion_interval(
    count: float, n: float, *, confidence: float = 0.95
) -> IntervalEstimate:
    """A share with Wilson's interval: sensitivity, specificity, precision and others.

    Parameters
    ----------
    count : number
        How often it happened: of sensitivity, cases that were found; of specificity,
        other rows without an alarm; of precision (positive predictive value), alarms
        that are right; of the negative predictive value, rows without an alarm and
        without the label.
    n : number
        Of how many: cases; other rows; alarms; rows without an alarm. The figures are
        NaN where it is 0.
    confidence : float, default=0.95

    Examples
    --------
    >>> [round(figure, 2) for figure in proportion_interval(9, 10)]
    [0.9, 0.6, 0.98]
    """
    if not 0 <= count <= n:
        raise InputError(f"count must be from 0 to n, got {count} of {n}.")
    share, low, high = wilson(np.array(count), np.array(n), confidence)
    return IntervalEstimate(float(share), float(low), float(high))


def wilson(
    counts: ArrayLike, totals: ArrayLike, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Shares of arrays of counts, and the ends of Wilson's intervals."""
    n = np.asarray(totals, dtype=np.float64)
    z2 = normal_quantile(confidence) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.asarray(counts, dtype=np.float64) / n
        shrink = 1 + z2 / n
        middle = (share + z2 / (2 * n)) / shrink
        variance = share * (1 - share) / n + z2 / (4 * n**2)
        half = np.sqrt(z2 * variance) / shrink
    return share, np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def share_interval(
    is_so: BoolArray, groups: NDArray[np.intp] | None, confidence: float = 0.95
) -> IntervalEstimate:
    """The share of rows of which something is so, with its interval.

    It is Wilson's of as many rows as would say as much if each stood alone.
    """
    n = len(is_so)
    if not n:
        return IntervalEstimate(np.nan, np.nan, np.nan)
    n_independent = n / design_effect(is_so, groups)
    share = float(is_so.mean())
    _, low, high = wilson(share * n_independent, n_independent, confidence)
    return IntervalEstimate(share, float(low), float(high))


def design_effect(is_so: BoolArray, groups: NDArray[np.intp] | None) -> float:
    """How many rows say as much as one that stands alone; 1 without groups.

    It is the variance of the share where whole groups are drawn next to that where rows
    are. If no row differs, rows of a group are taken to say the same.
    """
    n = len(is_so)
    if groups is None:
        return 1.0
    _, codes = np.unique(groups, return_inverse=True)
    sizes = np.bincount(codes)
    if len(sizes) == n:
        return 1.0
    share = is_so.mean()
    if share in (0.0, 1.0) or len(sizes) == 1:
        return float((sizes**2).sum() / n)
    surplus = np.bincount(codes, is_so - share)
    variance = (surplus**2).sum() * len(sizes) / (len(sizes) - 1)
    return max(float(variance / (n * share * (1 - share))), 1.0)


def check_confidence(confidence: float) -> None:
    """Refuse what is no share between 0 and 1."""
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence!r}.")


def normal_quantile(confidence: float) -> float:
    """How many standard errors an interval has on each side, 1.96 for 0.95."""
    check_confidence(confidence)
    return NormalDist().inv_cdf((1 + confidence) / 2)
