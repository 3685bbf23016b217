"""Curves of one label, ROC, precision-recall and calibration, and how far its AP and AUC could be elsewhere.

Symbols: n rows in which a label was observed, y (n,) whether they have it, s (n,) their scores, p (n,) probabilities.
Rows with equal scores come together, never one after the other.
"""

from collections import namedtuple

import numpy as np

from mltsk.metrics.inputs import BoolArray, FloatArray

#: Groups of rows of rising probability: mean forecast, share observed with its 95 % interval, size; an array each.
Groups = namedtuple("Groups", ["forecast", "observed", "low", "high", "size"])


def counts(
    y: BoolArray, s: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Rows at or above each score, the highest first: with the label, and all; each as often as ``weights`` say."""
    order = np.argsort(-s, kind="stable")
    ends = np.flatnonzero(np.append(s[order][1:] != s[order][:-1], len(s) > 0))
    w = np.ones((1, len(s))) if weights is None else weights[:, order]
    return np.cumsum(w * y[order], axis=1)[:, ends], np.cumsum(w, axis=1)[:, ends]


def roc_curve(y: BoolArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(share of false alarms among those without the label, share of those with it that are found), from 0 to 1.

    Examples
    --------
    >>> [part.tolist() for part in roc_curve(np.array([True, False, True]), np.array([0.9, 0.5, 0.1]))]
    [[0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0]]
    """
    found, given = (np.append(0.0, part[0]) for part in counts(y, s))
    alarms = given - found
    return alarms / max(alarms[-1], 1.0), found / max(found[-1], 1.0)


def precision_recall_curve(
    y: BoolArray, s: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(share of those with the label that are found, share of those given it that have it), from the top score down."""
    found, given = (part[0] for part in counts(y, s))
    return found / max(found[-1], 1.0), found / given


def calibration_groups(y: BoolArray, p: FloatArray, groups: int = 10) -> Groups:
    """What was observed in about equal groups of rows of rising probability; intervals are Wilson's.

    Examples
    --------
    >>> found = calibration_groups(np.arange(40) % 4 == 0, np.full(40, 0.25))
    >>> found.forecast.tolist(), found.observed.tolist(), found.size.tolist()
    ([0.25], [0.25], [40.0])
    """
    edges = np.unique(
        np.quantile(p, np.linspace(0, 1, min(groups, max(len(p) // 10, 1)) + 1)[1:-1])
    )
    group = np.searchsorted(edges, p, side="left")
    kept = np.bincount(group) > 0
    size, had, told = (
        np.bincount(group, part)[kept] * 1.0 for part in (np.ones(len(p)), y, p)
    )
    share, z2 = had / size, 1.96**2
    middle = (share + z2 / (2 * size)) / (1 + z2 / size)
    half = np.sqrt(z2 * (share * (1 - share) / size + z2 / (4 * size**2))) / (
        1 + z2 / size
    )
    return Groups(told / size, share, middle - half, middle + half, size)


def ranking(
    y: BoolArray, s: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """AP and AUC, (1,), or (B,) of the rows as often as ``weights`` (B, n) say; NaN where all or none have the label.

    Examples
    --------
    >>> [part.round(3).tolist() for part in ranking(np.array([True, False, True]), np.array([0.9, 0.5, 0.1]))]
    [[0.833], [0.5]]
    """
    found, given = counts(y, s, weights)
    alarms, zero = given - found, np.zeros((len(found), 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        new = np.diff(found, axis=1, prepend=zero)
        ap = (
            np.nansum(new * np.where(given > 0, found / given, 0.0), axis=1)
            / found[:, -1]
        )
        middle = found - new / 2
        auc = (np.diff(alarms, axis=1, prepend=zero) * middle).sum(axis=1) / (
            found[:, -1] * alarms[:, -1]
        )
    return np.where(np.isnan(auc), np.nan, ap), auc


def resamples(n: int, n_labels: int, seed: int = 0) -> FloatArray:
    """How often each of n rows is drawn when n are drawn with replacement, (B, n): 1,000 times, on large data 100."""
    times = int(np.clip(3e7 // max(n * n_labels, 1), 100, 1000))
    return (
        np.random.default_rng(seed)
        .multinomial(n, np.full(n, 1 / n), size=times)
        .astype(np.float64)
    )
