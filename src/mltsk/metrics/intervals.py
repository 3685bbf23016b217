"""How far the AP and AUC of one label could be elsewhere: 95 % intervals.

They say how far the figure of these rows may be from that of all rows like them, for
scores that were not fitted to these rows. Intervals are symmetric on the scale of
log-odds, so they stay within 0 and 1. Those of shares, such as sensitivity, are in
`mltsk.metrics.proportions`.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from mltsk.exceptions import InputError
from mltsk.metrics.curves import ranking
from mltsk.metrics.inputs import BoolArray, FloatArray, check_labels, check_scores
from mltsk.metrics.proportions import IntervalEstimate, normal_quantile

UNDEFINED = IntervalEstimate(np.nan, np.nan, np.nan)


def average_precision_interval(
    y: ArrayLike, scores: ArrayLike, *, confidence: float = 0.95
) -> IntervalEstimate:
    """The average precision of one label, with its interval.

    The standard error is that of a share of the rows that have the label, √(AP (1 - AP)
    / m) for m of them, taken to the scale of log-odds. In simulations with known truth
    95 % intervals held it in 92 to 98 %, with 5 to 60 cases and AP from .05 to .79.

    Parameters
    ----------
    y : array of shape (n,)
        0 and 1; NaN is a row in which the label was not observed.
    scores : array of shape (n,)
        Of rows that the model has not seen: test rows, or leave-one-out scores.
    confidence : float, default=0.95

    Examples
    --------
    >>> y = [1, 0, 1, 1, 0, 0, 0, 1, 0, 0]
    >>> s = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0]
    >>> [round(figure, 2) for figure in average_precision_interval(y, s)]
    [0.73, 0.23, 0.96]
    """
    has_label, s = _observed_rows(y, scores)
    n_cases = int(has_label.sum())
    if not 0 < n_cases < len(s):
        return UNDEFINED
    ap = float(ranking(has_label, s)[0][0])
    variance = ap * (1 - ap) / n_cases
    return _log_odds_interval(ap, variance, n_cases, normal_quantile(confidence))


def roc_auc_interval(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    auc: float | None = None,
    confidence: float = 0.95,
) -> IntervalEstimate:
    """The area under the ROC curve of one label, with its interval.

    The standard error is DeLong's, taken to the scale of log-odds; how many of them the
    interval has is Student's, with Satterthwaite's degrees of freedom: with five cases
    95 % intervals held the truth in 91 to 95 %, and with 1.96 of them in 87 to 90 %.

    Parameters
    ----------
    y : array of shape (n,)
        0 and 1; NaN is a row in which the label was not observed.
    scores : array of shape (n,)
        Of rows that the model has not seen: test rows, or leave-one-out scores.
    auc : float, optional
        The AUC where it is known better than from the scores, such as from pairs of
        rows that were left out together; the scores then say how sure it is.
    confidence : float, default=0.95

    Examples
    --------
    >>> y = [1, 0, 1, 1, 0, 0, 0, 1, 0, 0]
    >>> s = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0]
    >>> [round(figure, 2) for figure in roc_auc_interval(y, s)]
    [0.75, 0.22, 0.97]
    """
    has_label, s = _observed_rows(y, scores)
    n_cases = int(has_label.sum())
    n_others = len(s) - n_cases
    if not n_cases or not n_others:
        return UNDEFINED
    of_cases = _shares_below(s[has_label], s[~has_label])
    of_others = _shares_below(s[~has_label], s[has_label])
    if auc is None:
        auc = float(of_cases.mean())
    n_fewer = min(n_cases, n_others)
    if n_fewer == 1:
        return _log_odds_interval(auc, 0.0, n_fewer, normal_quantile(confidence))
    by_cases = float(of_cases.var(ddof=1) / n_cases)
    by_others = float(of_others.var(ddof=1) / n_others)
    variance = by_cases + by_others
    n_errors = normal_quantile(confidence)
    if variance > 0:
        squares = by_cases**2 / (n_cases - 1) + by_others**2 / (n_others - 1)
        n_errors = float(stdtrit(variance**2 / squares, (1 + confidence) / 2))
    return _log_odds_interval(auc, variance, n_fewer, n_errors)


def _observed_rows(y: ArrayLike, scores: ArrayLike) -> tuple[BoolArray, FloatArray]:
    """Whether rows have the label, and their scores, where it was observed."""
    column = np.asarray(y)
    if column.ndim != 1:
        raise InputError(f"y must hold one label of each row, got {column.ndim}-d.")
    s = np.asarray(scores, dtype=np.float64)
    if s.shape != column.shape:
        raise InputError(
            f"scores have shape {s.shape} but y has shape {column.shape}; they must "
            "match."
        )
    if not len(column):
        return column.astype(bool), s
    labels, observed = check_labels(column[:, None], "y")
    table = check_scores(s[:, None], labels.shape, allow_nan=False)
    rows = observed[:, 0]
    return labels[rows, 0], table[rows, 0]


def _shares_below(s: FloatArray, others: FloatArray) -> FloatArray:
    """For each score the share of the others that is lower; equal ones count half."""
    ordered = np.sort(others)
    lower = np.searchsorted(ordered, s, side="left")
    not_higher = np.searchsorted(ordered, s, side="right")
    return (lower + not_higher) / (2 * len(others))


def _log_odds_interval(
    value: float, variance: float, n: int, n_errors: float
) -> IntervalEstimate:
    """The interval of a figure within 0 and 1, on the scale of log-odds.

    It reaches ``n_errors`` standard errors to both sides. Log-odds of 0 and 1 are
    infinite, and rows without a mistake have no variance: such a figure counts as a
    share of n with half a mistake.
    """
    middle = value
    if variance <= 0 or not 0 < value < 1:
        middle = (value * n + 0.5) / (n + 1)
        variance = middle * (1 - middle) / n
    log_odds = np.log(middle / (1 - middle))
    # d log-odds / d value = 1 / (value (1 - value))
    half = n_errors * np.sqrt(variance) / (middle * (1 - middle))
    low = 1 / (1 + np.exp(half - log_odds))
    high = 1 / (1 + np.exp(-half - log_odds))
    return IntervalEstimate(value, float(min(low, value)), float(max(high, value)))
