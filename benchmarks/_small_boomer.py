"""BOOMER with few rules of one condition each: the first k rules of a model.

Boosting adds rules one by one, so that the first n rules are the model of n rules. Rules of two or three conditions
mostly reached less with as many conditions in all (a look at the first fold of emotions, birds, yeast and scene).
Candidates: a model per label, rules about one label each out of a model of all labels (k conditions in the mean over
labels, so that BOOMER may spend them where they help), rules about all labels (all conditions count for each of them);
steps shrunk to .3, its default, or as they are. The model of any size is BOOMER's default.
"""

from itertools import product

import numpy as np
from mlrl.boosting import BoomerClassifier

MOST_RULES = 1000  # BOOMER's default


def few_rules(X, Y, X_test, sizes) -> list[list[np.ndarray]]:
    whole = _chances(BoomerClassifier(random_state=1).fit(X, Y), X_test)
    ways = product(("per label", "single", "complete"), (0.3, 1.0))
    return [[*_way(X, Y, X_test, sizes, *way), whole] for way in ways]


def _way(X, Y, X_test, sizes, heads, shrinkage) -> list[np.ndarray]:
    if heads == "per label":
        each = [_way(X, y[:, None], X_test, sizes, "single", shrinkage) for y in Y.T]
        return [np.column_stack(scores) for scores in zip(*each, strict=True)]
    share = Y.shape[1] if heads == "single" else 1
    model = BoomerClassifier(
        random_state=1,
        head_type=heads,
        shrinkage=shrinkage,
        max_rules=min(max(sizes) * share, MOST_RULES)
        + 1,  # and the default rule, without a condition
        rule_induction="top-down-greedy{max_conditions=1}",
    ).fit(X, Y)
    return [_chances(model, X_test, max_rules=k * share + 1) for k in sizes]


def _chances(model, X, **options) -> np.ndarray:
    chances = np.asarray(model.predict_proba(X, **options))
    return (
        chances[:, 1:] if model.num_outputs_ == 1 and chances.shape[1] == 2 else chances
    )
