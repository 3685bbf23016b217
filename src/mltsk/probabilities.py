"""Probabilities and thresholds of labels, from leave-one-out scores.

Symbols: N rows, L labels, scores and Y (N, L), w (N,) or (N, L) weights, where 0 leaves
a cell out. The leave-one-out score of a training row is what the row would have scored
if it had not been there.

Log-odds of a label are a line of its score, fitted to these scores. The line of a label
with little to learn from is pulled towards one that all labels share, as if
PRIOR_SAMPLES more samples had followed it, each as good as a row (or group of rows) of
the data; it then moves up or down until the mean probability is the rate of the label.
Thresholds are probabilities for the user, and log-odds here. Those that are found lie
half-way between two rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from numbers import Real
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from .core.arrays import Array, FloatArray, namespace, weights_per_label
from .exceptions import InputError
from .text import plural

PRIOR_SAMPLES = 20.0
MIN_DRAWN_SLOPE = 0.01  # higher scores never mean lower probabilities
MAX_LOG_ODDS = 80.0  # beyond, exp overflows in single precision
MAX_PROBABILITY = 1.0 - float(np.finfo(np.float64).eps)  # of a model
# A wanted precision is to be reached by the lower end of its interval (one-sided,
# 95 %): reached by the mean, .8 was .65 on new rows (5 % of 500 rows are cases).
PRECISION_DEVIATIONS = 1.645
MAX_NEWTON_STEPS = 100
MAX_HALVINGS = 40  # of a step of Newton's method
MAX_LAST_STEP = 1e-4
LEAST_GAIN = 1e-13  # of a loss, by a step of Newton's method
EVERY_LABEL = slice(None)
MAX_THRESHOLD = 1e100
SHARE_GOALS = ("precision", "recall")
THRESHOLD_WISHES = (
    "a probability, one per label, 'f1', ('cost', 1, 5), ('precision', 0.8) "
    "or ('recall', 0.9)"
)


# probabilities ------------------------------------------------------------------------


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


def thresholds_at(probabilities: FloatArray) -> FloatArray:
    """The least log-odds (L,) whose probabilities are at least these.

    Log-odds reach these exactly where their probabilities, rounded as they are, reach
    the others: a row whose probability equals its threshold is not lost by a last bit.
    The largest probability of a model is below 1, so 1 is never reached.

    >>> thresholds_at(np.array([0.88])).round(2).tolist()
    [1.99]
    """
    low = np.full(probabilities.shape, -MAX_LOG_ODDS)
    high = np.full(probabilities.shape, MAX_LOG_ODDS)
    is_between = (probabilities > 0) & (probabilities <= MAX_PROBABILITY)
    while True:
        middle = (low + high) / 2
        is_open = is_between & (low < middle) & (middle < high)
        if not is_open.any():
            return np.where(probabilities <= 0, low, high)
        is_reached = probabilities_of(middle) >= probabilities
        high = np.where(is_open & is_reached, middle, high)
        low = np.where(is_open & ~is_reached, middle, low)


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


# thresholds ---------------------------------------------------------------------------


def check_threshold_wish(wish: object, n_labels: int | None = None) -> None:
    """Refuse a wish for thresholds that cannot be met, before a fit begins.

    Parameters
    ----------
    wish
        As in `find_thresholds`.
    n_labels : int, optional
        None where it is not known yet.

    Examples
    --------
    >>> check_threshold_wish([0.5, 0.3], n_labels=2)
    >>> check_threshold_wish(("recall", 0.9))
    """
    if isinstance(wish, str) and wish == "f1":
        return
    if not _names_a_goal(wish):
        _probability_thresholds(wish, n_labels)
    elif wish[0] == "cost":
        _cost_ratio(wish)
    else:
        _share_of(wish)


def _names_a_goal(wish: object) -> TypeGuard[Sequence[object]]:
    """Whether a wish is a word and numbers, such as ("recall", 0.9)."""
    return isinstance(wish, tuple | list) and len(wish) > 0 and isinstance(wish[0], str)


def find_thresholds(
    wish: object, log_odds: FloatArray, Y: FloatArray, w: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Find the threshold of each label, in log-odds, that a wish of the user asks for.

    Parameters
    ----------
    wish : float, array of shape (L,), "f1" or a tuple
        Numbers are probabilities. "f1" asks for the best F1. ("cost", 1, 5) says what a
        false alarm and a miss cost, and predicts a label from the probability on at
        which a miss would cost more than a false alarm. ("precision", 0.8) asks for the
        lowest threshold at which the lower end of the interval of the precision reaches
        this, ("recall", 0.9) for the highest that reaches this recall; if none does,
        for the one that comes nearest.
    log_odds, Y : arrays of shape (N, L)
    w : array of shape (N,) or (N, L)

    Returns
    -------
    thresholds : array of shape (L,)
    missed : array of bool of shape (L,)
        The labels whose threshold cannot reach what was wished.

    Examples
    --------
    >>> log_odds = np.array([[-1.0], [0.0], [1.0], [2.0]])
    >>> Y = np.array([[0.0], [1.0], [0.0], [1.0]])
    >>> thresholds, missed = find_thresholds(("recall", 0.5), log_odds, Y, np.ones(4))
    >>> thresholds.round(2).tolist(), missed.tolist()
    ([1.5], [False])
    """
    n_labels = log_odds.shape[1]
    none_missed = np.zeros(n_labels, dtype=bool)
    if isinstance(wish, str) and wish == "f1":
        return _rounded_cuts(*_best_cuts("f1", 1.0, log_odds, Y, w))
    if not _names_a_goal(wish):
        return thresholds_at(_probability_thresholds(wish, n_labels)), none_missed
    if wish[0] == "cost":
        ratio = _cost_ratio(wish)
        return thresholds_at(np.full(n_labels, ratio / (1 + ratio))), none_missed
    goal, share = _share_of(wish)
    return _rounded_cuts(*_best_cuts(goal, share, log_odds, Y, w))


def _rounded_cuts(
    cuts: FloatArray, missed: NDArray[np.bool_]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Cuts (L,) that log-odds reach exactly where probabilities do."""
    return thresholds_at(probabilities_of(cuts)), missed


def _probability_thresholds(wish: object, n_labels: int | None) -> FloatArray:
    """Thresholds that the user wrote as probabilities: (L,), or as they are."""
    thresholds = fixed_thresholds(wish, n_labels)
    is_wrong = (thresholds < 0) | (thresholds > 1)
    if is_wrong.any():
        raise InputError(
            f"threshold={np.atleast_1d(thresholds)[np.atleast_1d(is_wrong)][0]:g} is "
            "no probability: choose one between 0 and 1, such as 0.5."
        )
    return thresholds


def fixed_thresholds(
    wish: object, n_labels: int | None = None, forms: str = THRESHOLD_WISHES
) -> FloatArray:
    """Thresholds that the user wrote: (L,), or as they are without ``n_labels``.

    ``forms`` says in words what else the user may write.
    """
    thresholds = _numbers_of(wish)
    shapes: tuple[tuple[int, ...], ...] = ((), thresholds.shape[:1])
    if n_labels is not None:
        shapes = ((), (n_labels,))
    if thresholds.shape not in shapes or not np.isfinite(thresholds).all():
        of_labels = "" if n_labels is None else f" for {plural(n_labels, 'label')}"
        raise InputError(f"threshold must be {forms}, got {wish!r:.200}{of_labels}.")
    if n_labels is None:
        return thresholds
    return np.broadcast_to(thresholds, (n_labels,)).copy()


def _numbers_of(wish: object) -> FloatArray:
    """A number or numbers as an array, NaN for anything else."""
    not_a_number = np.array(np.nan)
    try:
        values = np.asarray(wish)
        if values.dtype.kind not in "iuf" and not isinstance(wish, Real):
            return not_a_number
        if values.dtype.kind == "b":
            return not_a_number
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return not_a_number


def check_reach(thresholds: FloatArray) -> None:
    """Refuse thresholds that no score comes near; no model file holds such a number."""
    is_far = np.abs(thresholds) > MAX_THRESHOLD
    if is_far.any():
        far = thresholds[is_far].flat[0]
        raise InputError(
            f"threshold={far:g} is out of reach of all scores, most of which lie "
            f"between 0 and 1: choose one between {-MAX_THRESHOLD:g} and "
            f"{MAX_THRESHOLD:g}, such as 0.5."
        )


def _share_of(wish: Sequence[object]) -> tuple[str, float]:
    """Goal and share of ("precision", 0.8) and ("recall", 0.9)."""
    goal = wish[0]
    if not isinstance(goal, str) or goal not in SHARE_GOALS:
        raise InputError(f"threshold must be {THRESHOLD_WISHES}, got {wish!r:.200}.")
    share = wish[1] if len(wish) == 2 else None
    if not _is_number(share) or not 0 < share <= 1:
        raise InputError(
            f"a share above 0 and up to 1 belongs to {goal!r} as a threshold, such as "
            f"({goal!r}, 0.9), got {wish!r:.200}."
        )
    return goal, float(share)


def _cost_ratio(wish: Sequence[object]) -> float:
    """Cost of a false alarm next to that of a miss, of ("cost", alarm, miss).

    A label is predicted from these odds on: above them a miss would cost more.
    """
    costs = [float(cost) for cost in wish[1:] if _is_number(cost)]
    if len(wish) != 3 or len(costs) != 2 or not all(0 < cost < inf for cost in costs):
        raise InputError(
            "threshold 'cost' needs two numbers above 0, what a false alarm and what a "
            f"miss costs, such as ('cost', 1, 5), got {wish!r:.200}."
        )
    alarm, miss = costs
    ratio = alarm / miss
    if not 0 < ratio < inf:
        raise InputError(
            f"threshold={wish!r:.200}: one of these costs is nothing next to the "
            "other. Choose costs that can be compared, such as ('cost', 1, 5)."
        )
    return ratio


def _is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number that a float holds; True and False are none."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return isfinite(float(value))
    except OverflowError:
        return False


def _best_cuts(
    goal: str, share: float, scores: FloatArray, Y: FloatArray, w: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Choose for each label the cut between two scores that meets the goal best.

    Parameters
    ----------
    goal : {"f1", "precision", "recall"}
    share : float
        What precision or recall should reach; 1 for "f1".
    scores, Y, w
        As in `find_thresholds`.

    Returns
    -------
    thresholds : array of shape (L,)
    missed : array of bool of shape (L,)
    """
    w = weights_per_label(w, scores.shape)
    # highest score first, rows that do not count last
    descending = np.where(w > 0, -scores, np.inf)
    order = np.argsort(descending, axis=0, kind="stable")
    S = np.take_along_axis(scores, order, axis=0)
    mass = np.take_along_axis(w, order, axis=0)
    hits = np.take_along_axis(w * Y, order, axis=0)
    # the next score below each, or a little less where no row that counts follows
    next_score = np.vstack([S[1:], S[-1:]])
    next_mass = np.vstack([mass[1:], 0 * mass[:1]])
    a_little_less = S - 1e-9 * np.maximum(1.0, np.abs(S))
    below = np.where(next_mass > 0, next_score, a_little_less)
    # the metric if all rows down to each one are predicted
    positives = hits.sum(axis=0)
    metric = _metric_of_cuts(goal, hits, mass, positives)
    metric[(S == below) | (mass == 0)] = -1.0  # no cut between equal scores
    best = metric.max(axis=0)
    reached = metric >= np.minimum(share, best) - 1e-12
    if goal == "precision":
        chosen = len(S) - 1 - reached[::-1].argmax(axis=0)
    else:
        chosen = reached.argmax(axis=0)
    labels = np.arange(S.shape[1])
    cuts = (S[chosen, labels] + below[chosen, labels]) / 2
    # a label that no row has, or all rows, says nothing of a cut: even odds
    total = mass.sum(axis=0)
    has_both = (positives > 0) & (positives < total * (1 - 1e-12))
    missed = (best < share - 1e-12) | (positives == 0)
    return np.where(has_both, cuts, 0.0), missed & (goal != "f1")


def _metric_of_cuts(
    goal: str, hits: FloatArray, mass: FloatArray, positives: FloatArray
) -> FloatArray:
    """The metric (N, L) of predicting a label in all rows down to each row.

    ``hits`` (N, L) are the weights of rows that have the label, ``mass`` (N, L) those
    of all rows, highest score first; ``positives`` (L,) are the sums of hits.
    """
    true_positives = np.cumsum(hits, axis=0)
    if goal == "recall":
        return true_positives / np.maximum(positives, 1e-300)
    predicted = np.maximum(np.cumsum(mass, axis=0), 1e-300)
    if goal == "precision":
        return _lower_bound(true_positives / predicted, predicted)
    return 2 * true_positives / np.maximum(predicted + positives, 1e-300)


def _lower_bound(share: FloatArray, count: FloatArray) -> FloatArray:
    """Lower end of Wilson's interval of a share among so many, cell by cell."""
    z = PRECISION_DEVIATIONS
    middle = share + z**2 / (2 * count)
    half = z * np.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    return (middle - half) / (1 + z**2 / count)
