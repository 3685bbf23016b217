"""BOOMER's boosted rules, with its own choice of threads.

Size is a condition of a rule that speaks of the label, per label.
"""

from typing import Any

from mlrl.boosting import BoomerClassifier
from mlrl.common.cython.rule_model import RuleModelVisitor

from .fold import Fold
from .several import AllAtOnce, PerLabel


def boomer(fold: Fold) -> Any:
    """One model of all labels, or one per label where some were not observed."""
    X, X_test = fold.numbers, fold.numbers_test
    n_labels = fold.Y.shape[1] if fold.has_all_labels else 1

    def conditions(model: Any) -> float:
        return conditions_per_label(model, n_labels)

    if fold.has_all_labels:
        model = BoomerClassifier(random_state=1)
        return AllAtOnce(X, X_test, fold.Y, model, conditions)
    return PerLabel(
        X, X_test, fold.Y, lambda _: BoomerClassifier(random_state=1), conditions
    )


def conditions_per_label(model: Any, n_labels: int) -> float:
    """Conditions that a reader of one label meets, mean over labels."""
    counter = ConditionCounter(n_labels)
    model.model_.visit_used(counter)
    return counter.n_met / n_labels


class ConditionCounter(RuleModelVisitor):
    """Counts a rule's conditions once for each label of its head."""

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels
        self.n_conditions = 0
        self.n_met = 0

    def visit_empty_body(self, _: Any) -> None:
        self.n_conditions = 0

    def visit_conjunctive_body(self, body: Any) -> None:
        self.n_conditions = 0
        for kind in ("numerical_leq", "numerical_gr", "nominal_eq", "nominal_neq"):
            features = getattr(body, f"{kind}_indices")
            self.n_conditions += 0 if features is None else len(features)

    def visit_complete_head(self, _: Any) -> None:
        self.n_met += self.n_conditions * self.n_labels

    def visit_partial_head(self, head: Any) -> None:
        self.n_met += self.n_conditions * len(head.indices)
