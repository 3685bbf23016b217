"""Probabilities and thresholds from leave-one-out scores: what each training row scored without itself.

Symbols: N rows, L labels, scores and Y (N, L), weights (N,) or (N, L), where 0 leaves a cell out.

A label's probability is a logistic curve of its score, fitted to those scores. Curves of labels with little to learn
from are pulled towards one that all labels share, as if PRIOR more samples had followed it. A label is given where its
score reaches its threshold. Thresholds are always finite, and half-way between the scores of two rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .core.arrays import Array

PRIOR = 20.0
GOALS = ("precision", "recall")
WISHES = "a finite number, one per label, 'f1', 'cost', ('precision', 0.8) or ('recall', 0.9)"
_STEPS = 100


@dataclass(frozen=True)
class Curves:
    """Probability = 1 / (1 + exp(-(``slopes`` · score + ``offsets``))), (L,) each."""

    slopes: Array
    offsets: Array

    @property
    def middles(self) -> Array:
        """Scores at which the probability is one half, (L,)."""
        return -self.offsets / self.slopes


def fit_curves(scores: Array, Y: Array, w: Array) -> Curves:
    """Curves of labels.

    Examples
    --------
    >>> scores = np.linspace(0, 1, 50)[:, None]
    >>> curves = fit_curves(scores, (scores > 0.3).astype(float), np.ones(50))
    >>> bool(curves.slopes[0] > 5), round(float(curves.middles[0]), 1)
    (True, 0.3)
    """
    w = np.broadcast_to(w[:, None] if w.ndim == 1 else w, scores.shape)
    total = max(float(w.sum()), 1e-300)
    center = float((w * scores).sum() / total)
    S = scores - center
    spread = max(float((w * S * S).sum() / total), 1e-12)
    rate = float(np.clip((w * Y).sum() / total, 1e-6, 1 - 1e-6))
    start = np.array([1.0 / spread**0.5]), np.array([np.log(rate / (1 - rate))])
    pull = np.array([1e-3 * spread, 1e-3])
    a, b = _newton(S.reshape(-1, 1), Y.reshape(-1, 1), w.reshape(-1, 1), *start, pull)
    information = PRIOR * max(rate * (1 - rate), 1e-3)
    a, b = (np.repeat(x, scores.shape[1]) for x in (a, b))
    a, b = _newton(S, Y, w, a, b, information * np.array([spread, 1.0]))
    slopes = np.maximum(
        a, 1e-3 / spread**0.5
    )  # higher scores never mean lower probabilities
    return Curves(slopes, b - slopes * center)


def _newton(
    S: Array, Y: Array, w: Array, a: Array, b: Array, pull: Array
) -> tuple[Array, Array]:
    """Maximum likelihood of a and b (L,), pulled with strengths ``pull`` towards where they start."""
    a0, b0 = a, b
    for _ in range(_STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(a * S + b, -30, 30)))
        r, q = w * (Y - p), w * (p * (1 - p))
        qs = q * S
        ga, gb = (
            (r * S).sum(axis=0) - pull[0] * (a - a0),
            r.sum(axis=0) - pull[1] * (b - b0),
        )
        haa, hab, hbb = (
            (qs * S).sum(axis=0) + pull[0],
            qs.sum(axis=0),
            q.sum(axis=0) + pull[1],
        )
        det = np.maximum(haa * hbb - hab**2, 1e-300)
        da, db = (hbb * ga - hab * gb) / det, (haa * gb - hab * ga) / det
        short = np.minimum(
            1.0, 2.0 / np.maximum(np.abs(db), 1e-300)
        )  # a step of 2 in log odds at most
        a, b = a + short * da, b + short * db
        if max(np.abs(da * S.std() if len(S) else da).max(), np.abs(db).max()) < 1e-10:
            break
    return a, b


def find_thresholds(
    wish: Any,
    scores: Array,
    Y: Array,
    w: Array,
    curves: Curves,
) -> tuple[Array, Array]:
    """Thresholds (L,), and for which labels what was wished cannot be had, (L,) of bool.

    Parameters
    ----------
    wish : float, array of shape (L,), "f1", "cost", or ("precision" or "recall", share)
        "f1" has the best F1. "cost" gives a label from the probability on at which a miss would cost more than a false
        alarm; ``curves`` know the probability of a score. ("precision", 0.8) is the lowest threshold that reaches it,
        ("recall", 0.9) the highest; where none does, the nearest possible.
    cost : (cost of a false alarm, cost of a miss)

    Examples
    --------
    >>> scores, Y, w = np.array([[0.1], [0.2], [0.3], [0.4]]), np.array([[0.0], [1.0], [0.0], [1.0]]), np.ones(4)
    >>> curves = fit_curves(scores, Y, w)
    >>> [find_thresholds(("recall", share), scores, Y, w, curves)[0].round(2).tolist() for share in (0.5, 1)]
    [[0.35], [0.15]]
    """
    L, all_reached = scores.shape[1], np.zeros(scores.shape[1], dtype=bool)
    if isinstance(wish, tuple | list) and len(wish) and str(wish[0]) == "cost":
        pair = np.asarray(wish[1:])
        if (
            pair.shape != (2,)
            or pair.dtype.kind not in "iuf"
            or not (np.isfinite(pair) & (pair > 0)).all()
        ):
            raise ValueError(
                "('cost', alarm, miss) needs two numbers above 0, the costs of a false "
                f"alarm and of a miss, got {wish!r}"
            )
        alarm, miss = pair.astype(np.float64)
        return (np.log(alarm / miss) - curves.offsets) / curves.slopes, all_reached
    if isinstance(wish, str) and wish == "f1":
        return _best_cuts(wish, 1.0, scores, Y, w)
    if (
        isinstance(wish, tuple | list)
        and len(wish) == 2
        and isinstance(wish[0], str)
        and wish[0] in GOALS
    ):
        if isinstance(wish[1], str) or not 0 < wish[1] <= 1:
            raise ValueError(
                f"a share above 0 and up to 1 belongs to {wish[0]!r} as a threshold, got {wish[1]!r}"
            )
        return _best_cuts(wish[0], float(wish[1]), scores, Y, w)
    try:
        thresholds = np.asarray(wish, dtype=np.float64)
    except (TypeError, ValueError):
        thresholds = np.array([[np.nan]])
    if thresholds.shape not in ((), (L,)) or not np.isfinite(thresholds).all():
        raise ValueError(
            f"threshold must be {WISHES}; there are {L} labels, got {wish!r}"
        )
    return np.broadcast_to(thresholds, (L,)).copy(), all_reached


def _best_cuts(
    goal: str, share: float, scores: Array, Y: Array, w: Array
) -> tuple[Array, Array]:
    """Of all cuts between different scores, from the highest down, the one that each label's goal picks."""
    w = np.broadcast_to(w[:, None] if w.ndim == 1 else w, scores.shape)
    order = np.argsort(
        np.where(w > 0, -scores, np.inf), axis=0, kind="stable"
    )  # rows that do not count come last
    S, hits, mass = (np.take_along_axis(A, order, axis=0) for A in (scores, w * Y, w))
    found, given, positives = (
        np.cumsum(hits, axis=0),
        np.cumsum(mass, axis=0),
        hits.sum(axis=0),
    )
    lowest = S - 1e-9 * np.maximum(1.0, np.abs(S))
    below = np.where(
        np.vstack([mass[1:], 0 * mass[:1]]) > 0, np.vstack([S[1:], S[-1:]]), lowest
    )
    parts = {
        "f1": (2 * found, given + positives),
        "precision": (found, given),
        "recall": (found, positives),
    }
    value = parts[goal][0] / np.maximum(parts[goal][1], 1e-300)
    value[(S == below) | (mass == 0)] = -1.0  # no cut between equal scores
    reached = value >= np.minimum(share, value.max(axis=0)) - 1e-12
    last = len(S) - 1 - reached[::-1].argmax(axis=0)
    best = (last if goal == "precision" else reached.argmax(axis=0))[None]
    cut = (
        np.take_along_axis(S, best, axis=0) + np.take_along_axis(below, best, axis=0)
    )[0] / 2
    missed = (value.max(axis=0) < share - 1e-12) | (positives == 0)
    return np.where(positives > 0, cut, 0.5), missed & (goal != "f1")
