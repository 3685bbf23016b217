"""Thresholds of labels: from which score on a label is predicted.

Thresholds are probabilities for the user, and log-odds here. A threshold that is chosen
on rows lies half-way between two of them.

Symbols: N rows, L labels, log-odds, scores and Y (N, L), w (N,) or (N, L) weights,
where 0 leaves a cell out.
"""

from collections.abc import Sequence
from math import inf, isfinite
from numbers import Real
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from .core.arrays import FloatArray, weights_per_label
from .exceptions import InputError
from .probabilities import MAX_LOG_ODDS, probabilities_of
from .text import plural

MAX_PROBABILITY = 1.0 - float(np.finfo(np.float64).eps)  # of a model
# A wanted precision is to be reached by the lower end of its interval (one-sided,
# 95 %): reached by the mean, .8 was .65 on new rows (5 % of 500 rows are cases).
PRECISION_DEVIATIONS = 1.645
MAX_THRESHOLD = 1e100
SHARE_GOALS = ("precision", "recall")
THRESHOLD_WISHES = (
    "a probability, one per label, 'f1', ('cost', 1, 5), ('precision', 0.8) "
    "or ('recall', 0.9)"
)


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
