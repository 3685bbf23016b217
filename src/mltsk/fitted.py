"""Public attributes of a fitted classifier, parts of its system, and its score."""

from collections.abc import Iterable
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .core.arrays import Array, asnumpy, dense
from .core.certainty import Certainty
from .core.terms import Terms
from .exceptions import InputError
from .explain import FeaturePairs, RuleBase, feature_pairs, rule_base
from .metrics.label_sets import subset_accuracy_score
from .system import FuzzySystem
from .targets import are_label_lists, plain_lists, table_targets


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
        check_is_fitted(self)
        system = self.system_
        if not system.has_log_odds:
            return system.thresholds
        return system.probabilities(system.thresholds)

    @property
    def loo_proba_(self) -> Array:
        """`loo_scores_` as probabilities, (n_samples, n_labels)."""
        check_is_fitted(self)
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
        check_is_fitted(self)
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
        check_is_fitted(self)
        return self.system_.n_statements

    @property
    def rules_(self) -> RuleBase:
        """The rules as data: ``print(clf.rules_)`` reads them out."""
        check_is_fitted(self)
        return rule_base(self._judged_system())

    def _judged_system(self) -> FuzzySystem:
        """The system, with how well its labels can be told where that is known."""
        record = getattr(self, "fit_record_", None)
        if record is None:
            return self.system_
        return replace(self.system_, worth=record.worth)


class ObservedLabelsMixin(ClassifierMixin):
    """A classifier whose ``score`` leaves out labels that were not observed."""

    multilabel_: bool
    label_names_: tuple[str, ...]

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Share of samples whose labels are all predicted right, as far as observed.

        NaN in y is a label that was not observed: it is neither right nor wrong, and a
        sample without any observed label does not count. Where all labels were
        observed, this is scikit-learn's subset accuracy; for one-dimensional y, its
        accuracy.

        Parameters
        ----------
        X : samples, in any form that ``predict`` takes
        y : labels, in any form that ``fit`` takes
        sample_weight : array of shape (n_samples,), optional
        """
        check_is_fitted(self)
        if not self.multilabel_:
            return super().score(X, y, sample_weight)
        predictions = asnumpy(self.predict(X))
        truth = _observed_labels(y, self.label_names_)
        return subset_accuracy_score(truth, predictions, sample_weight=sample_weight)


def _observed_labels(y: Any, label_names: tuple[str, ...]) -> NDArray[np.float64]:
    """Labels as 0 and 1 (n, L), NaN where not observed, from any form of them."""
    y = plain_lists(y)
    if getattr(y, "ndim", 1) == 1 and are_label_lists(y):
        return _listed_labels(y, label_names)
    targets = table_targets(asnumpy(dense(y)), [], may_miss=True)
    if targets.observed is None:
        return targets.Y
    return np.where(targets.observed, targets.Y, np.nan)


def _listed_labels(
    rows: Iterable[Iterable[object]], label_names: tuple[str, ...]
) -> NDArray[np.float64]:
    """Lists of the labels of each sample as an indicator (n, L)."""
    columns = {name: column for column, name in enumerate(label_names)}
    label_sets = [[str(label) for label in labels] for labels in rows]
    Y = np.zeros((len(label_sets), len(columns)))
    for row, labels in enumerate(label_sets):
        for label in labels:
            if label not in columns:
                raise InputError(
                    f"Row {row} of y lists {label!r}, which is none of the labels that "
                    "the model was fitted to."
                )
            Y[row, columns[label]] = 1
    return Y
