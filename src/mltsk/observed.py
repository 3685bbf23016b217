"""The score of a classifier, which leaves out labels that were not observed."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .core.arrays import asnumpy, dense
from .exceptions import InputError
from .metrics.label_sets import subset_accuracy_score
from .targets import are_label_lists, plain_lists, table_targets


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
