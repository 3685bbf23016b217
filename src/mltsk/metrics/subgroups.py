"""Whether a model does as well for some rows as for others: tests of subgroups."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from mltsk.exceptions import InputError
from mltsk.metrics.inputs import FloatArray
from mltsk.metrics.intervals import observed_rows
from mltsk.metrics.proportions import normal_quantile
from mltsk.probabilities import log_odds_of

# Shares beyond these are no surer than these: log-odds of 0 and 1 are infinite.
EXTREME_SHARE = 0.001


def heterogeneity_p_value(
    estimates: Sequence[tuple[float, float, float]], *, confidence: float = 0.95
) -> float:
    """How often chance alone makes figures of subgroups differ as much as these.

    Cochran's test of shares or AUCs of subgroups that have no row in common, on the
    scale of log-odds. Standard errors are taken from the intervals.

    Parameters
    ----------
    estimates : sequence of (value, low, high)
        Of one figure, an entry per subgroup, such as `decision_intervals` and
        `roc_auc_interval` return; those with NaN are left out.
    confidence : float, default=0.95
        That of the intervals.

    Returns
    -------
    float
        The p-value; NaN where fewer than two subgroups have the figure.

    Examples
    --------
    >>> from mltsk.metrics import heterogeneity_p_value, proportion_interval
    >>> women, men = proportion_interval(60, 80), proportion_interval(20, 40)
    >>> round(heterogeneity_p_value([women, men]), 3)
    0.006
    """
    figures = np.array(estimates, dtype=np.float64).reshape(-1, 3)
    figures = figures[~np.isnan(figures).any(axis=1)]
    if len(figures) < 2:
        return float("nan")
    if not ((figures >= 0) & (figures <= 1)).all():
        raise InputError("estimates must be shares: figures from 0 to 1.")
    values, low, high = log_odds_of(
        np.clip(figures, EXTREME_SHARE, 1 - EXTREME_SHARE)
    ).T
    half_widths = np.maximum(values - low, high - values)
    errors = np.maximum(half_widths / normal_quantile(confidence), 1e-12)
    weights = 1 / errors**2
    mean = float(weights @ values / weights.sum())
    statistic = float(weights @ (values - mean) ** 2)
    return float(chdtrc(len(values) - 1, statistic))


def miscalibration_p_value(
    y: ArrayLike,
    probabilities: ArrayLike,
    subgroups: ArrayLike,
    *,
    groups: ArrayLike | None = None,
) -> float:
    """How often chance makes cases of subgroups differ as much from their forecast.

    In each subgroup, the cases less the sum of probabilities, next to its standard
    error; where rows belong together, that of sums over groups.

    Parameters
    ----------
    y : array of shape (n,)
        0 and 1.
    probabilities : array of shape (n,)
        Of rows that the model has not seen.
    subgroups : array of shape (n,)
        Names or numbers of subgroups.
    groups : array of shape (n,), optional
        Names or numbers of groups of rows that belong together.

    Examples
    --------
    >>> import numpy as np
    >>> from mltsk.metrics import miscalibration_p_value
    >>> y, sex = np.repeat([1, 0, 1, 0], [30, 70, 50, 50]), np.repeat(["f", "m"], 100)
    >>> miscalibration_p_value(y, np.where(sex == "f", 0.3, 0.5), sex)
    1.0
    >>> round(miscalibration_p_value(y, np.full(200, 0.4), sex), 4)
    0.0155
    """
    rows = observed_rows(y, probabilities, groups)
    if len(rows.scores) != len(np.asarray(subgroups)):
        raise InputError("y must have no missing labels: leave such rows out.")
    surplus = rows.has_label - rows.scores
    variances = rows.scores * (1 - rows.scores)
    _, codes = np.unique(np.asarray(subgroups), return_inverse=True)
    statistic = 0.0
    for code in range(int(codes.max(initial=-1)) + 1):
        inside = codes == code
        variance = float(variances[inside].sum())
        if groups is not None:
            sums = np.bincount(rows.groups[inside], surplus[inside])
            variance = max(float((sums**2).sum()), variance)
        statistic += float(surplus[inside].sum()) ** 2 / max(variance, 1e-12)
    return float(chdtrc(codes.max(initial=0) + 1, statistic))


def holm(p_values: ArrayLike) -> FloatArray:
    """P-values that account for how many there are, by Holm's method.

    If none of the differences is real, the chance that any of these is below 5 % is at
    most 5 %. NaN stays NaN and does not count.

    Parameters
    ----------
    p_values : array of any shape

    Returns
    -------
    array of the same shape

    Examples
    --------
    >>> from mltsk.metrics import holm
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.size, np.nan)
    flat = p.ravel()
    counted = np.flatnonzero(~np.isnan(flat))
    order = counted[np.argsort(flat[counted], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(flat[order] * factors), 1.0)
    return adjusted.reshape(p.shape)
