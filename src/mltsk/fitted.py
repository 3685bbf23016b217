"""Public attributes of a fitted classifier, parts of its system."""

from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .core.arrays import Array
from .core.certainty import Certainty
from .core.terms import Terms
from .explain import FeaturePairs, RuleBase, feature_pairs, rule_base
from .system import FuzzySystem


def _of_system(field: str, doc: str) -> property:
    """A read-only attribute that is a field of the fitted system."""
    return property(attrgetter(f"system_.{field}"), doc=doc)


def _per_feature(field: str, axis: int, doc: str) -> property:
    """Such an attribute that has an entry per feature along an axis."""

    def values(model: "FittedAttributes") -> Array:
        of_columns = getattr(model.system_, field)
        used = model.system_.used
        return of_columns if used is None else used.per_feature(of_columns, axis)

    return property(values, doc=doc)


def _check_has_system(model: "FittedAttributes") -> None:
    """Refuse an estimator that was not fitted, in scikit-learn's words.

    It is imported for these words alone: a model in a file is read without it.
    """
    if not hasattr(model, "system_"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model)


class FittedAttributes:
    """What a classifier whose fit keeps a `FuzzySystem` as ``system_`` shows of it."""

    system_: FuzzySystem
    classes_: NDArray[Any]
    label_names_: tuple[str, ...]
    multilabel_: bool
    n_features_in_: int
    loo_scores_: Array

    scale_ = _of_system("scale_name", 'Name of the scale; "range" in short models.')
    scaling_ = _of_system("scaling", "How features are put on the scale, or None.")
    columns_ = _of_system("columns", "What the columns of a table are, or None.")
    intercept_ = _of_system("intercept", "Scores of the average sample, (n_labels,).")
    general_coef_ = _per_feature("term_coef", 0, "Numbers (n_terms, n_labels).")
    centers_ = _per_feature("centers", 1, "Centres of the exceptions, on the scale.")
    widths_ = _per_feature("widths", 1, "Widths of the exceptions, on the scale.")
    coef_ = _per_feature("coef", 1, "THEN-parts of exceptions, intercept first.")
    prototypes_ = _per_feature("prototypes", 1, "Centres in the units of X.")
    rule_weights_ = _of_system("rule_weights", "Mean membership in each exception.")
    quantiles_ = _of_system("quantiles", "Percentiles of the features, or None.")
    members_ = _of_system("members", "Who is in each exception.")
    order_ = _of_system("order", "0 where exceptions shift scores, 1 with slopes.")
    tnorm_ = _of_system("tnorm", "How conditions of an exception are joined.")

    @property
    def terms_(self) -> Terms:
        """The fuzzy terms of the general rule."""
        used = self.system_.used
        terms = self.system_.terms
        if used is None:
            return terms
        mean = used.per_feature(terms.mean, axis=0)
        return replace(terms, feature=np.arange(used.n_features), mean=mean)

    @property
    def certainty_(self) -> Certainty | None:
        """How sure the numbers are, or None."""
        used = self.system_.used
        certainty = self.system_.certainty
        if used is None or certainty is None or certainty.numbers is None:
            return certainty
        chosen = certainty.chosen
        if chosen is not None:
            chosen = used.per_feature(chosen, axis=0)
        numbers = used.positions[certainty.numbers]
        return replace(certainty, chosen=chosen, numbers=numbers)

    @property
    def thresholds_(self) -> Array:
        """Probabilities from which on a label is given, (n_labels,).

        Of a model whose scores are no log-odds, these scores.
        """
        _check_has_system(self)
        system = self.system_
        if not system.has_log_odds:
            return system.thresholds
        return system.probabilities(system.thresholds)

    @property
    def loo_proba_(self) -> Array:
        """`loo_scores_` as probabilities, (n_samples, n_labels)."""
        _check_has_system(self)
        return self.system_.probabilities(self.loo_scores_)

    @property
    def n_rules_(self) -> int:
        """Number of exceptions."""
        return len(self.system_.centers)

    @property
    def n_pairs_(self) -> int:
        """Number of pairs of features that act together."""
        return len(self.system_.pairs.blocks)

    @property
    def pairs_(self) -> FeaturePairs:
        """Pairs of features that act together, with a heat map each, largest first."""
        _check_has_system(self)
        return feature_pairs(self.system_)

    @property
    def n_statements_(self) -> NDArray[np.intp]:
        """Statements per label, (n_labels,), of long and short models alike.

        A number of the general rule counts one, and one of a pair of features two: it
        has two conditions. In a short model, a line that bends counts one for every two
        points that its text names, and what a feature adds where it was not measured is
        part of its line. An exception counts one for each of its conditions and each of
        its slopes.
        """
        _check_has_system(self)
        return self.system_.n_statements

    @property
    def rules_(self) -> RuleBase:
        """The rules as data: ``print(clf.rules_)`` reads them out."""
        _check_has_system(self)
        return rule_base(self._judged_system())

    def _judged_system(self) -> FuzzySystem:
        """The system, with how well its labels can be predicted where that is known."""
        record = getattr(self, "fit_record_", None)
        if record is None:
            return self.system_
        return replace(self.system_, worth=record.worth)
