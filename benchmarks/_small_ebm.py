"""Explainable boosting machines with few steps.

The shapes of one label have k steps together. The shapes of a model on all features say
where steps matter: they are cut one by one where a step explains most of them, and a
model with these steps alone is fitted again. Steps may go to any features or to a third
as many features as there are steps: whichever fits the training rows better, which is
fair between models of the same size. Without interactions; two bags and 32 bins where
the defaults are 14 and 1,024, which take thirty times as long on the largest set.
"""

import heapq

import numpy as np
from interpret.glassbox import ExplainableBoostingClassifier
from sklearn.metrics import log_loss


def few_steps(X, y, X_test, sizes) -> list[list[np.ndarray]]:
    """Scores at every size, and of the model of any size; one candidate."""
    y = y.ravel()
    whole = machine(["continuous"] * X.shape[1], max_bins=32).fit(X, y)
    shapes = []
    variances = []
    for scores, weights in zip(whole.term_scores_, whole.bin_weights_, strict=True):
        s = scores[1:-1]
        w = weights[1:-1]
        shapes.append((s, w))
        variances.append(np.cov(s, aweights=w, ddof=0) if len(s) > 1 else 0.0)
    ranked = np.argsort(-np.array(variances), kind="stable")
    by_size = []
    for k in sizes:
        any_features = tuple(sorted(best_steps(shapes, ranked, k)))
        few_features = tuple(sorted(best_steps(shapes, ranked[: -(-k // 3)], k)))
        refitted = []
        for steps in sorted({any_features, few_features}):
            refitted.append(refit(X, y, X_test, whole.bins_, steps))
        _, scores = min(refitted, key=lambda pair: pair[0])
        by_size.append(scores)
    return [[*by_size, whole.predict_proba(X_test)[:, 1:]]]


def machine(kinds, **options):
    return ExplainableBoostingClassifier(
        feature_types=kinds,
        interactions=0,
        outer_bags=2,
        n_jobs=1,
        random_state=0,
        **options,
    )


def best_steps(shapes, features, k) -> list[tuple[int, int]]:
    """(feature, cut) of the k steps that explain most of the shapes.

    They are found one after the other.
    """
    queue = [best_step(shapes, j, 0, len(shapes[j][0])) for j in features]
    heapq.heapify(queue)
    steps = []
    while queue and len(steps) < k and queue[0][0] < 0:
        _, j, cut, start, end = heapq.heappop(queue)
        steps.append((int(j), cut - 1))
        heapq.heappush(queue, best_step(shapes, j, start, cut))
        heapq.heappush(queue, best_step(shapes, j, cut, end))
    return steps


def best_step(shapes, feature, start, end) -> tuple[float, int, int, int, int]:
    """The best step in a piece of a shape.

    Minus what it explains, its feature, where it is, and the piece that it divides.
    """
    scores, weights = shapes[feature]
    s = scores[start:end]
    w = np.maximum(weights[start:end], 1e-9)
    if len(s) < 2:
        return 0.0, feature, start, start, end
    total = w.sum()
    left = np.cumsum(w)[:-1]
    right = total - left
    left_mean = np.cumsum(w * s)[:-1] / left
    right_mean = np.cumsum((w * s)[::-1])[-2::-1] / right
    gain = left * right / total * (left_mean - right_mean) ** 2
    place = int(np.argmax(gain))
    return -float(gain[place]), feature, start + place + 1, start, end


def refit(X, y, X_test, bins, steps) -> tuple[float, np.ndarray]:
    """Log-loss on training rows, and scores of X_test, of a model of these steps."""
    used = sorted({j for j, _ in steps})
    if not used:
        return np.inf, np.full((len(X_test), 1), y.mean())
    cuts = []
    for j in used:
        cuts.append([float(bins[j][0][cut]) for feature, cut in steps if feature == j])
    model = machine(cuts).fit(X[:, used], y)
    loss = log_loss(y, model.predict_proba(X[:, used]))
    return loss, model.predict_proba(X_test[:, used])[:, 1:]
