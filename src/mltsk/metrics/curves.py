"""Curves of one label, and the AP and AUC of its ranking of rows.

ROC, precision-recall and calibration. Symbols: n rows in which a label was observed,
y (n,) whether they have it, s (n,) their scores, p (n,) probabilities. Rows with equal
scores come together, never one after the other.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from mltsk.metrics.inputs import BoolArray, FloatArray
from mltsk.metrics.proportions import design_effect, wilson

MIN_GROUP_ROWS = 10  # rows per group of a calibration curve, where there are enough


class Groups(NamedTuple):
    """Groups of rows of rising probability, with an array entry per group.

    ``forecast`` is the mean probability, ``observed`` the share that has the label,
    from ``low`` to ``high`` its 95 % interval, and ``size`` the number of rows.
    """

    forecast: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    size: FloatArray


def counts(
    y: BoolArray, s: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """How many rows with the label, and how many rows, score at least each score.

    Both are (1, T) for T different scores, the highest first; with ``weights`` (B, n),
    which say how often each row counts, they are (B, T).
    """
    order = np.argsort(-s, kind="stable")
    falling = s[order]
    ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], len(s) > 0))
    w = np.ones((1, len(s))) if weights is None else weights[:, order]
    with_label = np.cumsum(w * y[order], axis=1)
    return with_label[:, ends], np.cumsum(w, axis=1)[:, ends]


def roc_curve(y: BoolArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The share of false alarms and the share of hits at each score, from 0 to 1.

    False alarms are shares of the rows without the label, hits of those with it.

    Examples
    --------
    >>> y, s = np.array([True, False, True]), np.array([0.9, 0.5, 0.1])
    >>> alarms, hits = roc_curve(y, s)
    >>> alarms.tolist(), hits.tolist()
    ([0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0])
    """
    with_label, above = counts(y, s)
    hits = np.append(0.0, with_label[0])
    alarms = np.append(0.0, above[0]) - hits
    return alarms / max(alarms[-1], 1.0), hits / max(hits[-1], 1.0)


def precision_recall_curve(
    y: BoolArray, s: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Recall and precision at each score, from the highest score down."""
    with_label, above = counts(y, s)
    hits = with_label[0]
    return hits / max(hits[-1], 1.0), hits / above[0]


def forecast_groups(p: FloatArray, n_groups: int = 10) -> NDArray[np.intp]:
    """Codes (n,) of about equal groups of rows of rising probability."""
    at_most = min(n_groups, max(len(p) // MIN_GROUP_ROWS, 1))
    inner = np.linspace(0, 1, at_most + 1)[1:-1]
    edges = np.unique(np.quantile(p, inner))
    return np.searchsorted(edges, p, side="left")


def calibration_groups(
    y: BoolArray,
    p: FloatArray,
    n_groups: int = 10,
    *,
    groups: NDArray[np.intp] | None = None,
) -> Groups:
    """What was observed in about equal groups of rows of rising probability.

    Intervals are Wilson's. ``groups`` (n,) says which rows belong together, such as
    visits of a patient: intervals are then of as many rows as would say as much if each
    stood alone.

    Examples
    --------
    >>> curve = calibration_groups(np.arange(40) % 4 == 0, np.full(40, 0.25))
    >>> curve.forecast.tolist(), curve.observed.tolist(), curve.size.tolist()
    ([0.25], [0.25], [40.0])
    """
    group = forecast_groups(p, n_groups)
    sizes = np.bincount(group)
    filled = sizes > 0
    size = sizes[filled] * 1.0
    hits = np.bincount(group, y)[filled]
    effects = np.ones(len(size))
    if groups is not None:
        members = [group == place for place in np.flatnonzero(filled)]
        effects = np.array([design_effect(y[rows], groups[rows]) for rows in members])
    share, low, high = wilson(hits / effects, size / effects)
    forecast = np.bincount(group, p)[filled] / size
    return Groups(
        forecast=forecast,
        observed=share,
        low=low,
        high=high,
        size=size,
    )


def ranking(
    y: BoolArray, s: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """AP and AUC of the ranking of rows by their scores.

    Both are (1,), or (B,) with ``weights`` (B, n), which say how often each row counts;
    NaN where all rows have the label, or none.

    Examples
    --------
    >>> ap, auc = ranking(np.array([True, False, True]), np.array([0.9, 0.5, 0.1]))
    >>> ap.round(3).tolist(), auc.tolist()
    ([0.833], [0.5])
    """
    hits, above = counts(y, s, weights)
    alarms = above - hits
    zero = np.zeros((len(hits), 1))
    new_hits = np.diff(hits, axis=1, prepend=zero)
    new_alarms = np.diff(alarms, axis=1, prepend=zero)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(above > 0, hits / above, 0.0)
        ap = np.nansum(new_hits * precision, axis=1) / hits[:, -1]
        pairs = (new_alarms * (hits - new_hits / 2)).sum(axis=1)
        auc = pairs / (hits[:, -1] * alarms[:, -1])
    return np.where(np.isnan(auc), np.nan, ap), auc


def influences_on_ap(y: BoolArray, s: FloatArray) -> FloatArray:
    """By how much AP changes with the weight of each row, (n,).

    The sum of their squares is the variance of AP (the infinitesimal jackknife). A case
    adds its own precision, and raises that of cases below it; any other row lowers
    that of cases below it.
    """
    order = np.argsort(-s, kind="stable")
    cases = y[order]
    falling = s[order]
    # rows with equal scores come together: from the first of them to the last
    last = np.searchsorted(-falling, -falling, side="right") - 1
    first = np.searchsorted(-falling, -falling, side="left")
    above = last + 1.0
    precision = np.cumsum(cases)[last] / above
    n_cases = max(int(cases.sum()), 1)
    ap = precision[cases].sum() / n_cases
    raised = np.cumsum((cases * (1 - precision) / above)[::-1])[::-1]
    lowered = np.cumsum((cases * precision / above)[::-1])[::-1]
    of_cases = precision - ap + raised[first]
    influences = np.empty(len(s))
    influences[order] = np.where(cases, of_cases, -lowered[first]) / n_cases
    return influences


def influences_on_auc(y: BoolArray, s: FloatArray) -> FloatArray:
    """By how much AUC changes with the weight of each row, (n,).

    A row adds the share of rows of the other kind that it beats, less AUC.

    Examples
    --------
    >>> y, s = np.array([True, False, True]), np.array([0.9, 0.5, 0.1])
    >>> influences_on_auc(y, s).tolist()
    [0.25, 0.0, -0.25]
    """
    beaten = np.empty(len(s))  # shares of the other kind of rows
    beaten[y] = _shares_below(s[y], s[~y])
    beaten[~y] = 1 - _shares_below(s[~y], s[y])
    n_cases = y.sum()
    return (beaten - beaten[y].mean()) / np.where(y, n_cases, len(y) - n_cases)


def _shares_below(s: FloatArray, others: FloatArray) -> FloatArray:
    """For each score the share of the others that is lower; equal ones count half."""
    ordered = np.sort(others)
    lower = np.searchsorted(ordered, s, side="left")
    not_higher = np.searchsorted(ordered, s, side="right")
    return (lower + not_higher) / (2 * len(others))


def guessed_ap(n_cases: float, n_rows: float) -> float:
    """The mean AP of rows in random order: more than the share of cases.

    Of 20 cases in 100 rows .234: the first rows decide, and there are few of them.

    Examples
    --------
    >>> round(guessed_ap(20, 100), 3), round(guessed_ap(2000, 10_000), 3)
    (0.234, 0.201)
    """
    if n_rows <= 1:
        return 1.0
    first_row = float(digamma(n_rows + 1) - digamma(1)) / n_rows  # mean of 1 / place
    return first_row + max(n_cases - 1, 0.0) / (n_rows - 1) * (1 - first_row)


def weighted_ranking(y: BoolArray, s: FloatArray, w: FloatArray) -> tuple[float, float]:
    """AP and AUC of one label in rows of weights w (n,); NaN where there are none.

    Scores may be infinite, or NaN, which ranks highest.

    Examples
    --------
    >>> y, s = np.array([True, False, True]), np.array([np.inf, 0.5, 0.1])
    >>> ap, auc = weighted_ranking(y, s, np.array([1.0, 1.0, 2.0]))
    >>> round(ap, 3), round(auc, 3)
    (0.833, 0.333)
    """
    if not len(y):
        return np.nan, np.nan
    _, places = np.unique(s, return_inverse=True)
    ap, auc = ranking(y, places * 1.0, w[None])
    return float(ap[0]), float(auc[0])


def resamples(n: int, n_labels: int, seed: int = 0) -> FloatArray:
    """How often each of n rows is drawn when n are drawn with replacement, (B, n).

    They are drawn B = 1,000 times, on large data fewer times, but at least 100.
    """
    times = int(np.clip(3e7 // max(n * n_labels, 1), 100, 1000))
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=times)
    return drawn.astype(np.float64)
