"""Whether predicted probabilities of one label are right: the calibration line."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mltsk.metrics.inputs import FloatArray
from mltsk.metrics.intervals import UNDEFINED, observed_rows
from mltsk.metrics.proportions import IntervalEstimate, normal_quantile
from mltsk.probabilities import log_odds_of, probabilities_of

MAX_STEPS = 50  # of Newton's method
MAX_SLOPE = 1e3  # a label that is told without a mistake has no slope


class CalibrationLine(NamedTuple):
    """How predicted log-odds have to be changed to fit what was observed.

    Attributes
    ----------
    slope : IntervalEstimate
        1 where probabilities differ as much as they should; less where they are too far
        from the average, as those of a model that was fitted too closely.
    intercept : IntervalEstimate
        Calibration in the large: what is to be added to all log-odds, 0 where as many
        rows have the label as was predicted, more than 0 where more have it.
    """

    slope: IntervalEstimate
    intercept: IntervalEstimate


def calibration_line(
    y: ArrayLike,
    probabilities: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> CalibrationLine:
    """Slope and intercept of observed labels on predicted log-odds, with intervals.

    Both are of logistic regressions: the slope of one with an intercept, the intercept
    of one whose slope is 1. Standard errors come from the information matrix, of rows
    in groups from sums over groups.

    Parameters
    ----------
    y : array of shape (n,)
        0 and 1; NaN is a row in which the label was not observed.
    probabilities : array of shape (n,)
        Of rows that the model has not seen.
    groups : array of shape (n,), optional
        Names or numbers of groups of rows that belong together.
    confidence : float, default=0.95

    Examples
    --------
    >>> import numpy as np
    >>> from mltsk.metrics import calibration_line
    >>> y = np.repeat([0, 1, 0, 1], [80, 20, 40, 60])
    >>> line = calibration_line(y, np.repeat([0.2, 0.6], 100))
    >>> round(line.slope.value, 3), abs(round(line.intercept.value, 3))
    (1.0, 0.0)
    """
    rows = observed_rows(y, probabilities, groups)
    n_cases = int(rows.has_label.sum())
    if not 0 < n_cases < len(rows.has_label):
        return CalibrationLine(UNDEFINED, UNDEFINED)
    labels = rows.has_label.astype(np.float64)
    log_odds = log_odds_of(rows.scores)
    codes = None if groups is None else rows.groups
    n_errors = normal_quantile(confidence)
    ones = np.ones((len(labels), 1))
    intercept = _estimate(ones, labels, log_odds, codes, n_errors)
    slope = UNDEFINED
    if np.ptp(log_odds) > 0:
        both = np.column_stack([log_odds, ones])
        slope = _estimate(both, labels, 0.0 * log_odds, codes, n_errors)
    return CalibrationLine(slope, intercept)


def _estimate(
    A: FloatArray,
    labels: FloatArray,
    offset: FloatArray,
    groups: NDArray[np.intp] | None,
    n_errors: float,
) -> IntervalEstimate:
    """The first number of a logistic regression on A (n, m), with its interval."""
    coef = np.zeros(A.shape[1])
    for _ in range(MAX_STEPS):
        p = probabilities_of(A @ coef + offset)
        information = (A * (p * (1 - p))[:, None]).T @ A
        step = np.linalg.lstsq(information, A.T @ (labels - p), rcond=None)[0]
        step = np.clip(step, -2.0, 2.0)
        coef = coef + step
        if np.abs(step).max() < 1e-10:
            break
    else:
        return UNDEFINED
    if np.abs(coef).max() > MAX_SLOPE:
        return UNDEFINED
    covariance = np.linalg.pinv(information)
    if groups is not None:
        covariance = covariance @ _scatter(A * (labels - p)[:, None], groups)
        covariance = covariance @ np.linalg.pinv(information)
    half = n_errors * float(np.sqrt(covariance[0, 0]))
    value = float(coef[0])
    return IntervalEstimate(value, value - half, value + half)


def _scatter(gradients: FloatArray, groups: NDArray[np.intp]) -> FloatArray:
    """Sum over groups of products of the gradients (n, m) of their rows."""
    n_groups = int(groups.max()) + 1
    sums = np.zeros((n_groups, gradients.shape[1]))
    np.add.at(sums, groups, gradients)
    return np.asarray(sums.T @ sums * n_groups / max(n_groups - 1, 1))
