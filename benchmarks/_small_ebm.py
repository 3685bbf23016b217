"""Explainable boosting machines with few steps: shapes of one label that have k steps together.

The shapes of a model on all features say where steps matter: they are cut one by one where a step explains most of
them, and a model with these steps alone is fitted again. Steps may go to any features or to a third as many features
as there are steps: whichever fits the training rows better, which is fair between models of the same size. Without
interactions; two bags and 32 bins where the defaults are 14 and 1,024, which take thirty times
as long on the largest set.
"""

import heapq

import numpy as np
from interpret.glassbox import ExplainableBoostingClassifier
from sklearn.metrics import log_loss


def few_steps(X, y, X_test, sizes) -> list[list[np.ndarray]]:
    y = y.ravel()
    whole = _machine(["continuous"] * X.shape[1], max_bins=32).fit(X, y)
    shapes = [
        (s[1:-1], w[1:-1])
        for s, w in zip(whole.term_scores_, whole.bin_weights_, strict=True)
    ]
    variance = [np.cov(s, aweights=w, ddof=0) if len(s) > 1 else 0.0 for s, w in shapes]
    ranked = np.argsort(-np.array(variance), kind="stable")
    out = []
    for k in sizes:
        tried = sorted(
            {
                tuple(sorted(_steps(shapes, some, k)))
                for some in (ranked, ranked[: -(-k // 3)])
            }
        )
        fitted = [_refitted(X, y, X_test, whole.bins_, steps) for steps in tried]
        out.append(min(fitted, key=lambda one: one[0])[1])
    return [[*out, whole.predict_proba(X_test)[:, 1:]]]


def _machine(kinds, **options):
    return ExplainableBoostingClassifier(
        feature_types=kinds,
        interactions=0,
        outer_bags=2,
        n_jobs=1,
        random_state=0,
        **options,
    )


def _steps(shapes, features, k) -> list[tuple[int, int]]:
    """(feature, cut) of the k steps that explain most of the shapes, found one after the other."""
    queue, found = (
        [_best_step(*shapes[j], j, 0, len(shapes[j][0])) for j in features],
        [],
    )
    heapq.heapify(queue)
    while queue and len(found) < k and queue[0][0] < 0:
        _, j, cut, start, end = heapq.heappop(queue)
        found.append((int(j), cut - 1))
        for part in ((start, cut), (cut, end)):
            heapq.heappush(queue, _best_step(*shapes[j], j, *part))
    return found


def _best_step(
    scores, weights, feature, start, end
) -> tuple[float, int, int, int, int]:
    """(minus what a step explains, feature, where it is, the piece that it divides)."""
    s, w = scores[start:end], np.maximum(weights[start:end], 1e-9)
    if len(s) < 2:
        return 0.0, feature, start, start, end
    left, total = np.cumsum(w)[:-1], w.sum()
    mean, rest = (
        np.cumsum(w * s)[:-1] / left,
        np.cumsum((w * s)[::-1])[-2::-1] / (total - left),
    )
    gain = left * (total - left) / total * (mean - rest) ** 2
    place = int(np.argmax(gain))
    return -float(gain[place]), feature, start + place + 1, start, end


def _refitted(X, y, X_test, bins, steps) -> tuple[float, np.ndarray]:
    """(log-loss on training rows, scores of X_test)."""
    used = sorted({j for j, _ in steps})
    if not used:
        return np.inf, np.full((len(X_test), 1), y.mean())
    cuts = [[float(bins[j][0][cut]) for i, cut in steps if i == j] for j in used]
    model = _machine(cuts).fit(X[:, used], y)
    return log_loss(y, model.predict_proba(X[:, used])), model.predict_proba(
        X_test[:, used]
    )[:, 1:]
