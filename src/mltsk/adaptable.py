"""What a fitted classifier offers to those who carry it to another site."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .adapting import Adaptation, CarriedWishes, RefitScores
from .exceptions import InputError
from .rows.elsewhere import RowsElsewhere
from .rows.read import TableLike
from .rows.weights import WeightsLike
from .system import FuzzySystem
from .targets import predicted

if TYPE_CHECKING:
    from .classifier import MLTSKClassifier

# Attributes that say nothing of a model with other numbers.
OF_OLD_NUMBERS = ("stream_", "kept_sums_", "wishes_", "wish_price_", "edits_")


class AdaptationMixin:
    """`adapted` of a classifier."""

    system_: FuzzySystem
    threshold: Any
    multilabel_: bool
    classes_: NDArray[Any]
    given_rules_: Any
    _unfitted_long: "Callable[[], MLTSKClassifier]"

    def adapted(
        self,
        X: TableLike,
        y: TableLike,
        sample_weight: WeightsLike = None,
        groups: TableLike = None,
    ) -> "MLTSKClassifier":
        """A fitted copy for another site: numbers drawn towards those of this model.

        Its terms are the same, and wishes about effects that this model meets are met
        there too; those about log-odds (points, the same effect) are not, and
        ``changes_`` names them. Leave-one-out on the new rows says how strongly numbers
        are drawn: from the old model as it is to a fit from nothing, with terms of its
        own, where that is clearly better. No row of the old site is needed.

        Parameters
        ----------
        X, y : as in `fit`
            Rows of the other site. Labels and features of data frames are matched by
            name. A feature that X lacks counts as not measured, a label that the model
            does not know is fitted from nothing, one that y lacks is left out.
        sample_weight, groups : optional
            As in `fit`.

        Returns
        -------
        MLTSKClassifier
            With three more attributes. ``changes_`` is a list of sentences: which
            effects moved beyond their interval, which labels are more or less frequent,
            what is new and what is gone. ``compared_`` has AP, AUC and log loss of the
            old model as it is, recalibrated, adapted and refitted from nothing, all on
            the new rows without the row that is judged. ``strength_`` says how strongly
            numbers were drawn: infinity where they stayed, 0 for a fit from nothing.

        Examples
        --------
        >>> from mltsk import MLTSKClassifier
        >>> from mltsk.datasets import make_multilabel_rules
        >>> data = make_multilabel_rules(n_samples=300, random_state=0)
        >>> clf = MLTSKClassifier().fit(data.X[:240], data.Y[:240])
        >>> there = clf.adapted(data.X[240:], data.Y[240:])
        >>> sorted(there.compared_)
        ['adapted', 'as it is', 'recalibrated', 'refitted']
        >>> there.strength_ > 0, there.label_names_ == clf.label_names_
        (True, True)
        """
        check_is_fitted(self)
        if self.system_.is_sheet or self.system_.is_chosen:
            raise InputError(
                "The text of a short model is the whole model: adapt the long one."
            )
        rows = RowsElsewhere.read(self, X, y, sample_weight, groups)
        wishes = self._carried_wishes(rows)
        refit = self._refitted(rows)
        if refit is not None and wishes.kept:
            refit = refit.under_wishes(wishes.kept)
        adaptation = Adaptation(
            old=self.system_,
            rows=rows,
            refit=None if refit is None else _scores_of_refit(refit),
            threshold=self.threshold,
            wishes=wishes,
        )
        if refit is not None and adaptation.starts_over:
            copy = refit
        else:
            copy = self._with_system(adaptation)
            if wishes.kept:
                copy.wishes_ = wishes.kept
        copy.changes_ = adaptation.changes()
        copy.compared_ = adaptation.compared()
        copy.strength_ = adaptation.strength
        return copy

    def _carried_wishes(self, rows: RowsElsewhere) -> CarriedWishes:
        """What becomes of the wishes that this model meets."""
        plain = vars(self).get("wishes_", ())
        if not plain:
            return CarriedWishes()
        columns = self.system_.columns
        features = self.system_.feature_names if columns is None else columns.names
        return CarriedWishes.of(plain, tuple(features), columns, rows.label_names)

    def _refitted(self, rows: RowsElsewhere) -> "MLTSKClassifier | None":
        """A fit to the rows of another site alone; None where that cannot be."""
        from pandas import DataFrame

        if not rows.is_told.all():
            return None
        y = DataFrame(rows.labels, columns=list(rows.label_names))
        if not self.multilabel_:
            zeros = np.zeros(len(rows.label_names))
            y = predicted(rows.Y - 0.5, zeros, self.classes_, False)
        fresh = self._unfitted_long()
        fresh.monotonic_cst = None  # it may name labels that are not here
        w = rows.w.max(axis=1)
        try:
            with catch_warnings(action="ignore"):
                fresh.fit(rows.table, y, w, rows.groups, rules=self.given_rules_)
        except ValueError:  # too little to fit a model to
            return None
        if fresh.loo_rows_ is not None or fresh.loo_scores_.shape != rows.Y.shape:
            return None
        return fresh

    def _with_system(self, adaptation: Adaptation) -> "MLTSKClassifier":
        """A copy with an adapted system and its honest scores."""
        copy = self._unfitted_long()
        copy.monotonic_cst = None
        old = {**vars(self), "fit_record_": None}
        for name, value in old.items():
            if name.endswith("_") and name not in OF_OLD_NUMBERS:
                setattr(copy, name, value)
        copy.system_ = adaptation.system()
        copy.label_names_ = adaptation.rows.label_names
        if self.multilabel_:
            copy.classes_ = np.arange(len(copy.label_names_))
        copy.loo_scores_ = adaptation.honest
        copy.loo_rows_ = None
        return copy


def _scores_of_refit(refit: "MLTSKClassifier") -> RefitScores:
    """Leave-one-out scores of a fit to rows of another site."""
    return RefitScores(raw=refit.fit_record_.scores, log_odds=refit.loo_scores_)
