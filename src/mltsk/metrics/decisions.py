"""What it is worth to act on the predictions of one label, with intervals.

Sensitivity, specificity and both predictive values of decisions; the net benefit of
acting from a probability on. Intervals are Wilson's; where rows belong together, of as
many rows as would say as much if each stood alone.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mltsk.exceptions import InputError
from mltsk.metrics.inputs import BoolArray, FloatArray
from mltsk.metrics.intervals import observed_rows
from mltsk.metrics.proportions import IntervalEstimate, share_interval


class DecisionFigures(NamedTuple):
    """Four shares of decisions on one label, each with its interval; NaN if undefined.

    Attributes
    ----------
    sensitivity : IntervalEstimate
        Of the rows that have the label, those that are given it.
    specificity : IntervalEstimate
        Of the rows that do not have it, those that are not given it.
    precision : IntervalEstimate
        Of the rows that are given it, those that have it: the positive predictive
        value.
    negative_predictive_value : IntervalEstimate
        Of the rows that are not given it, those that do not have it.
    """

    sensitivity: IntervalEstimate
    specificity: IntervalEstimate
    precision: IntervalEstimate
    negative_predictive_value: IntervalEstimate


def decision_intervals(
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> DecisionFigures:
    """Sensitivity, specificity and predictive values of decisions on one label.

    Parameters
    ----------
    y : array of shape (n,)
        0 and 1; NaN is a row in which the label was not observed.
    predicted : array of shape (n,)
        0 and 1: which rows are given the label.
    groups : array of shape (n,), optional
        Names or numbers of groups of rows that belong together, such as visits of a
        patient.
    confidence : float, default=0.95

    Examples
    --------
    >>> from mltsk.metrics import decision_intervals
    >>> figures = decision_intervals([1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 0, 1, 0, 0, 0, 0])
    >>> [round(share, 2) for share in figures.sensitivity]
    [0.67, 0.21, 0.94]
    >>> [round(share, 2) for share in figures.negative_predictive_value]
    [0.8, 0.38, 0.96]
    """
    rows = observed_rows(y, predicted, groups)
    has_label = rows.has_label
    is_given = rows.scores > 0
    is_right = has_label == is_given

    def share_of(among: BoolArray) -> IntervalEstimate:
        return share_interval(is_right[among], rows.groups[among], confidence)

    return DecisionFigures(
        sensitivity=share_of(has_label),
        specificity=share_of(~has_label),
        precision=share_of(is_given),
        negative_predictive_value=share_of(~is_given),
    )


def net_benefit(
    y: ArrayLike, probabilities: ArrayLike, thresholds: ArrayLike
) -> FloatArray:
    """The net benefit of acting on a label from a probability on.

    It is the share of rows that are acted on rightly, less that of rows that are acted
    on wrongly, where one wrong action weighs as much as the threshold says: whoever
    acts from 20 % on accepts four false alarms for a case. Acting on all rows has
    ``net_benefit(y, ones, thresholds)``, on none 0 (Vickers and Elkin, 2006).

    Parameters
    ----------
    y : array of shape (n,)
        0 and 1; NaN is a row in which the label was not observed.
    probabilities : array of shape (n,)
        Of rows that the model has not seen.
    thresholds : float or array of shape (t,)
        Probabilities, 0 or more and less than 1.

    Returns
    -------
    array of the shape of ``thresholds``

    Examples
    --------
    >>> from mltsk.metrics import net_benefit
    >>> y, p = [1, 1, 0, 0, 0], [0.9, 0.3, 0.4, 0.2, 0.1]
    >>> net_benefit(y, p, [0.25, 0.5]).round(3).tolist()
    [0.333, 0.2]
    >>> net_benefit(y, [1, 1, 1, 1, 1], 0.25).round(3).item()
    0.2
    """
    rows = observed_rows(y, probabilities, None)
    cuts = np.asarray(thresholds, dtype=np.float64)
    if not ((cuts >= 0) & (cuts < 1)).all():
        raise InputError("thresholds must be probabilities, 0 or more and less than 1.")
    n = len(rows.scores)
    if not n:
        return np.full(cuts.shape, np.nan)
    cases = np.sort(rows.scores[rows.has_label])
    others = np.sort(rows.scores[~rows.has_label])
    hits = len(cases) - np.searchsorted(cases, cuts, side="left")
    alarms = len(others) - np.searchsorted(others, cuts, side="left")
    return np.asarray(hits / n - alarms / n * cuts / (1 - cuts))
