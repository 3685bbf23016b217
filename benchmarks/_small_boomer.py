"""BOOMER with few rules of one condition each: the first k rules of a model.

Boosting adds rules one by one, so that the first n rules are the model of n rules.
Rules of two or three conditions mostly reached less with as many conditions in all (a
look at the first fold of emotions, birds, yeast and scene). Candidates: a model per
label, rules about one label each out of a model of all labels (k conditions in the mean
over labels, so that BOOMER may spend them where they help), rules about all labels (all
conditions count for each of them); steps shrunk to .3, its default, or as they are. The
model of any size is BOOMER's default.
"""

from itertools import product

import numpy as np
from mlrl.boosting import BoomerClassifier

MAX_RULES = 1000  # BOOMER's default


def few_rules(X, Y, X_test, sizes) -> list[list[np.ndarray]]:
    """Scores of every candidate at every size, and of the default model."""
    Y = Y.astype(int)  # it takes other numbers for classes
    default = chances(BoomerClassifier(random_state=1).fit(X, Y), X_test)
    candidates = []
    for heads, shrinkage in product(("per label", "single", "complete"), (0.3, 1.0)):
        small = small_models(X, Y, X_test, sizes, heads, shrinkage)
        candidates.append([*small, default])
    return candidates


def small_models(X, Y, X_test, sizes, heads, shrinkage) -> list[np.ndarray]:
    """Scores of one candidate at every size."""
    if heads == "per label":
        by_label = []
        for y in Y.T:
            column = y[:, None]
            by_label.append(small_models(X, column, X_test, sizes, "single", shrinkage))
        return [np.column_stack(scores) for scores in zip(*by_label, strict=True)]
    rules_per_size = Y.shape[1] if heads == "single" else 1
    n_rules = min(max(sizes) * rules_per_size, MAX_RULES)
    model = BoomerClassifier(
        random_state=1,
        head_type=heads,
        shrinkage=shrinkage,
        max_rules=n_rules + 1,  # and the default rule, without a condition
        rule_induction="top-down-greedy{max_conditions=1}",
    )
    model.fit(X, Y)
    return [chances(model, X_test, max_rules=k * rules_per_size + 1) for k in sizes]


def chances(model, X, **options) -> np.ndarray:
    """Probabilities (rows, labels)."""
    values = np.asarray(model.predict_proba(X, **options))
    if model.num_outputs_ == 1 and values.shape[1] == 2:
        return values[:, 1:]
    return values
