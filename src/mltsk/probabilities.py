"""Probabilities from leave-one-out scores: what each training row scored without itself.

A label's probability is a logistic curve of its score, fitted to those scores. Curves of labels with little to learn
from are pulled towards one that all labels share, as if PRIOR more samples had followed it.
"""

from dataclasses import dataclass

import numpy as np

from .core.arrays import Array

PRIOR = 20.0
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
    """Curves of labels Y (N, L) under weights (N,) or (N, L); a weight of 0 leaves a cell out.

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
    slopes = np.maximum(a, 1e-3 / spread**0.5)  # higher scores never mean lower probabilities
    return Curves(slopes, b - slopes * center)


def _newton(S: Array, Y: Array, w: Array, a: Array, b: Array, pull: Array) -> tuple[Array, Array]:
    """Maximum likelihood of a and b (L,), pulled with strengths ``pull`` towards where they start."""
    a0, b0 = a, b
    for _ in range(_STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(a * S + b, -30, 30)))
        r, q = w * (Y - p), w * (p * (1 - p))
        qs = q * S
        ga, gb = (r * S).sum(axis=0) - pull[0] * (a - a0), r.sum(axis=0) - pull[1] * (b - b0)
        haa, hab, hbb = (qs * S).sum(axis=0) + pull[0], qs.sum(axis=0), q.sum(axis=0) + pull[1]
        det = np.maximum(haa * hbb - hab**2, 1e-300)
        da, db = (hbb * ga - hab * gb) / det, (haa * gb - hab * ga) / det
        short = np.minimum(1.0, 2.0 / np.maximum(np.abs(db), 1e-300))  # a step of 2 in log odds at most
        a, b = a + short * da, b + short * db
        if max(np.abs(da * S.std() if len(S) else da).max(), np.abs(db).max()) < 1e-10:
            break
    return a, b
