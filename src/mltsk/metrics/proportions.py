"""Shares of rows with intervals: how far they could be elsewhere."""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mltsk.exceptions import InputError
from mltsk.metrics.inputs import FloatArray


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


def check_confidence(confidence: float) -> None:
    """Refuse what is no share between 0 and 1."""
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence!r}.")


def normal_quantile(confidence: float) -> float:
    """How many standard errors an interval has on each side, 1.96 for 0.95."""
    check_confidence(confidence)
    return NormalDist().inv_cdf((1 + confidence) / 2)
