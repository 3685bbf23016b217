"""Probabilities of labels, from leave-one-out scores.

Symbols: N rows, L labels, scores and Y (N, L), w (N,) or (N, L) weights, where 0 leaves
a cell out. The leave-one-out score of a training row is what the row would have scored
if it had not been there.

Log-odds of a label are a line of its score, fitted to these scores. The line of a label
with little to learn from is pulled towards one that all labels share, as if
PRIOR_SAMPLES more samples had followed it, each as good as a row (or group of rows) of
the data; it then moves up or down until the mean probability is the rate of the label.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .core.arrays import Array, FloatArray, namespace, weights_per_label

PRIOR_SAMPLES = 20.0
MIN_DRAWN_SLOPE = 0.01  # higher scores never mean lower probabilities
MAX_LOG_ODDS = 80.0  # beyond, exp overflows in single precision
MAX_NEWTON_STEPS = 100
MAX_HALVINGS = 40  # of a step of Newton's method
MAX_LAST_STEP = 1e-4
LEAST_GAIN = 1e-13  # of a loss, by a step of Newton's method
EVERY_LABEL = slice(None)


@dataclass(frozen=True)
class Curves:
    """Lines that turn scores into log-odds: slope · score + offset.

    Parameters
    ----------
    slopes, offsets : arrays of shape (L,)
    """

    slopes: FloatArray
    offsets: FloatArray

    def log_odds(self, scores: FloatArray) -> FloatArray:
        """Log-odds (N, L) of scores (N, L)."""
        return scores * self.slopes + self.offsets


def probabilities_of(log_odds: Array) -> Array:
    """Probabilities of log-odds, of any shape; those beyond ±MAX_LOG_ODDS are alike.

    >>> probabilities_of(np.array([0.0, 2.0])).round(2).tolist()
    [0.5, 0.88]
    """
    xp = namespace(log_odds)
    return 1.0 / (1.0 + xp.exp(-xp.clip(log_odds, -MAX_LOG_ODDS, MAX_LOG_ODDS)))


def log_odds_of(probabilities: FloatArray) -> FloatArray:
    """Log-odds of probabilities, of any shape; ±MAX_LOG_ODDS at most.

    >>> log_odds_of(np.array([0.5, 0.88])).round(2).tolist()
    [0.0, 1.99]
    """
    with np.errstate(divide="ignore"):
        log_odds = np.log(probabilities) - np.log1p(-probabilities)
    return np.clip(log_odds, -MAX_LOG_ODDS, MAX_LOG_ODDS)


def fit_curves(
    scores: FloatArray,
    Y: FloatArray,
    w: FloatArray,
    groups: NDArray[np.intp] | None = None,
) -> Curves:
    """Fit the curve of each label to leave-one-out scores.

    Parameters
    ----------
    scores, Y : arrays of shape (N, L)
    w : array of shape (N,) or (N, L)
    groups : array of shape (N,), optional
        Codes 0, 1, … of rows that belong together. A few large groups say little: on
        noise (300 rows in groups of 1 to 60) log loss was .015 above that of the rate
        where rows were counted, and .005 where groups are.

    Examples
    --------
    >>> scores = np.linspace(0, 1, 50)[:, None]
    >>> curves = fit_curves(scores, (scores > 0.3).astype(float), np.ones(50))
    >>> (curves.log_odds(scores) > 0).sum().item()
    35
    """
    w = weights_per_label(w, scores.shape)
    # a label that is the same in all rows has no say in what labels share
    shared_w = np.where(_varies(Y, w), w, 0.0)
    if not shared_w.any():
        shared_w = w
    total = max(float(shared_w.sum()), 1e-300)
    center = float((shared_w * scores).sum() / total)
    S = scores - center
    variance = max(float((shared_w * S * S).sum() / total), 1e-12)
    rate = float(np.clip((shared_w * Y).sum() / total, 1e-6, 1 - 1e-6))
    # one curve for all labels, pulled towards that of scores which are probabilities
    of_prior = PRIOR_SAMPLES * max(rate * (1 - rate), 1e-3)
    information = of_prior * _weight_of_one(_sums_of_groups(shared_w, groups).ravel())
    shared = _fit_logistic(
        S.reshape(-1, 1),
        Y.reshape(-1, 1),
        shared_w.reshape(-1, 1),
        slopes=np.array([1.0 / max(rate * (1 - rate), 1e-3)]),
        offsets=np.array([np.log(rate / (1 - rate))]),
        pull=(information * variance, information),
    )
    # a curve per label, pulled towards it
    information = of_prior * _weight_of_one(_sums_of_groups(w, groups))
    slopes, offsets = _fit_logistic(
        S,
        Y,
        w,
        slopes=np.repeat(shared[0], scores.shape[1]),
        offsets=np.repeat(shared[1], scores.shape[1]),
        pull=(information * variance, information),
    )
    # higher scores never mean lower probabilities
    slopes = np.maximum(slopes, 1e-3 / variance**0.5)
    offsets = _offsets_at_rates(slopes * S, Y, w, offsets)
    return Curves(slopes, offsets - slopes * center)


def _sums_of_groups(w: FloatArray, groups: NDArray[np.intp] | None) -> FloatArray:
    """Weights of groups (G, L), where rows have w (N, L)."""
    if groups is None:
        return w
    sums = np.zeros((int(groups.max()) + 1, w.shape[1]))
    np.add.at(sums, groups, w)
    return sums


def _weight_of_one(weights: FloatArray) -> FloatArray:
    """The weight of a row (or group) such that n equal ones would say as much.

    Of weights (G, L) one per label, of (G,) a single one.
    """
    total = weights.sum(axis=0)
    squares = (weights**2).sum(axis=0)
    return np.where(total > 0, squares / np.maximum(total, 1e-300), 1.0)


def _varies(Y: FloatArray, w: FloatArray) -> NDArray[np.bool_]:
    """Which labels (L,) are both 1 and 0 among the cells that count."""
    n_cases = ((w > 0) & (Y > 0.5)).sum(axis=0)
    n_cells = (w > 0).sum(axis=0)
    return (n_cases > 0) & (n_cases < n_cells)


def curves_of_slopes(
    slopes: FloatArray, scores: FloatArray, Y: FloatArray, w: FloatArray
) -> Curves:
    """Curves of given slopes (L,), at which mean probabilities are rates of labels.

    Parameters
    ----------
    slopes : array of shape (L,)
    scores, Y : arrays of shape (N, L)
    w : array of shape (N,) or (N, L)

    Examples
    --------
    >>> scores = np.linspace(0, 1, 50)[:, None]
    >>> Y = (scores > 0.5).astype(float)
    >>> curves_of_slopes(np.array([8.0]), scores, Y, np.ones(50)).offsets.round(6)
    array([-4.])
    """
    w = weights_per_label(w, scores.shape)
    center = (w * scores).sum(axis=0) / np.maximum(w.sum(axis=0), 1e-300)
    start = np.zeros(len(slopes))
    offsets = _offsets_at_rates(slopes * (scores - center), Y, w, start)
    return Curves(slopes, offsets - slopes * center)


def drawn_curves(
    log_odds: FloatArray, Y: FloatArray, w: FloatArray, prior_samples: float
) -> Curves:
    """Fit lines from log-odds of one model to those of other rows.

    They are drawn towards the log-odds as they are, as if ``prior_samples`` more rows
    had followed these.

    Parameters
    ----------
    log_odds, Y : arrays of shape (N, L)
    w : array of shape (N,) or (N, L)

    Examples
    --------
    >>> log_odds = np.zeros((40, 1))
    >>> curves = drawn_curves(log_odds, np.ones((40, 1)), np.ones(40), 20.0)
    >>> bool(curves.offsets[0] > 0.5), bool(curves.offsets[0] < 5)
    (True, True)
    """
    w = weights_per_label(w, log_odds.shape)
    total = np.maximum(w.sum(axis=0), 1e-300)
    center = (w * log_odds).sum(axis=0) / total
    S = log_odds - center
    variance = np.maximum((w * S * S).sum(axis=0) / total, 1e-12)
    p = probabilities_of(center)
    information = prior_samples * np.maximum(p * (1 - p), 1e-3)
    slopes, offsets = _fit_logistic(
        S,
        Y,
        w,
        slopes=np.ones(S.shape[1]),
        offsets=center,
        pull=(information * variance, information),
    )
    slopes = np.maximum(slopes, MIN_DRAWN_SLOPE)
    return Curves(slopes, offsets - slopes * center)


def _offsets_at_rates(
    log_odds: FloatArray, Y: FloatArray, w: FloatArray, offsets: FloatArray
) -> FloatArray:
    """Offsets (L,) at which the mean probability of each label is its rate.

    Half a case is added to both sides: no label is taken to be impossible. The search,
    by Newton's method, starts at ``offsets``.
    """
    total = w.sum(axis=0)
    cases = (w * Y).sum(axis=0)
    expected = (cases + 0.5) / (total + 1.0) * total
    for _ in range(MAX_NEWTON_STEPS):
        p = probabilities_of(log_odds + offsets)
        gradient = expected - (w * p).sum(axis=0)
        curvature = (w * p * (1 - p)).sum(axis=0)
        step = np.clip(gradient / np.maximum(curvature, 1e-12), -2.0, 2.0)
        offsets = offsets + step
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    return offsets


def _fit_logistic(
    S: FloatArray,
    Y: FloatArray,
    w: FloatArray,
    *,
    slopes: FloatArray,
    offsets: FloatArray,
    pull: tuple[float | FloatArray, float | FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Logistic regression of each label on its score, by Newton's method.

    Parameters
    ----------
    S, Y, w : arrays of shape (N, L)
        Scores, labels and weights.
    slopes, offsets : arrays of shape (L,)
        Towards which slopes and offsets are pulled.
    pull : two numbers, or arrays of shape (L,)
        How strongly slopes and offsets are pulled.

    Returns
    -------
    slopes, offsets : arrays of shape (L,)
    """
    expected = np.stack([slopes, offsets])
    pulls = np.stack([np.broadcast_to(strength, slopes.shape) for strength in pull])

    def loss(
        line: FloatArray, labels: slice | NDArray[np.intp] = EVERY_LABEL
    ) -> FloatArray:
        """Minus the log-likelihood of some labels, with their pull."""
        log_odds = line[0] * S[:, labels] + line[1]
        costs = np.logaddexp(0.0, log_odds) - Y[:, labels] * log_odds
        strengths = pulls[:, labels]
        pulled = (strengths * (line - expected[:, labels]) ** 2).sum(axis=0)
        return (w[:, labels] * costs).sum(axis=0) + 0.5 * pulled

    line = expected
    least = loss(line)
    for _ in range(MAX_NEWTON_STEPS):
        step = _newton_step(line, S, Y, w, pulls * (line - expected), pulls)
        share = np.ones(len(slopes))
        tried = loss(line + step)
        rounding = LEAST_GAIN * np.maximum(least, 1.0)
        worse = np.flatnonzero(tried > least + rounding)
        for _ in range(MAX_HALVINGS):  # until the loss of every label falls
            if not len(worse):
                break
            # of 1,000 labels a few are halved to the end: the others need not wait
            share[worse] /= 2
            halved = line[:, worse] + share[worse] * step[:, worse]
            tried[worse] = loss(halved, worse)
            worse = worse[tried[worse] > least[worse]]
        better = tried < least
        line = np.where(better, line + share * step, line)
        gain = np.where(better, least - tried, 0.0)
        least = np.where(better, tried, least)
        if (gain <= rounding).all():
            break
    # the loss is flat at its least: a last small step is exact beyond its rounding
    step = _newton_step(line, S, Y, w, pulls * (line - expected), pulls)
    is_small = np.abs(step) <= MAX_LAST_STEP * (1.0 + np.abs(line))
    line = np.where(is_small.all(axis=0), line + step, line)
    return line[0], line[1]


def _newton_step(
    line: FloatArray,
    S: FloatArray,
    Y: FloatArray,
    w: FloatArray,
    pulled: FloatArray,
    pulls: FloatArray,
) -> FloatArray:
    """The step (2, L) of Newton's method for slopes and offsets (2, L)."""
    p = probabilities_of(line[0] * S + line[1])
    residuals = w * (Y - p)
    slope_gradient = (residuals * S).sum(axis=0) - pulled[0]
    offset_gradient = residuals.sum(axis=0) - pulled[1]
    # Hessian [[a, b], [b, c]], with its sign changed
    q = w * (p * (1 - p))
    qS = q * S
    a = (qS * S).sum(axis=0) + pulls[0]
    b = qS.sum(axis=0)
    c = q.sum(axis=0) + pulls[1]
    determinant = np.maximum(a * c - b**2, 1e-300)
    return np.stack(
        [
            (c * slope_gradient - b * offset_gradient) / determinant,
            (a * offset_gradient - b * slope_gradient) / determinant,
        ]
    )
