"""What a fitted classifier offers to those who want to correct it."""

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .alternatives import Alternatives
from .core.arrays import FloatArray
from .correction import (
    corrected_record,
    plain_wishes,
    price_by_rows,
    price_by_sums,
    price_frame,
    system_from_sums,
)
from .edits import Edits
from .exceptions import InputError
from .fit.corrector import Corrector
from .fit.demands import columns_of_feature
from .fit.options import Names
from .fit.sums import FitSums
from .fit.wishes import (
    CurvesLike,
    DirectionsLike,
    Wish,
    WishReader,
    WithoutLike,
    restored_wishes,
)
from .record import FitRecord
from .rows.read import TableLike
from .rows.weights import WeightsLike
from .system import FuzzySystem
from .text import did_you_mean, listing

if TYPE_CHECKING:
    from pandas import DataFrame

    from .classifier import MLTSKClassifier

# Wishes about values of a feature.
AT_VALUES = ("points", "above", "below")
# Attributes of a fit that say nothing of a model that was corrected without its rows.
OF_ROWS = ("loo_scores_", "loo_rows_", "loo_error_")


class CorrectionMixin:
    """`constrained`, `alternatives` and `sums_` of a classifier."""

    system_: FuzzySystem
    wishes_: tuple[dict[str, Any], ...]

    @property
    def sums_(self) -> FitSums:
        """Sums over all rows, from which all numbers can be found again without rows.

        `InputError` where they are too large to be kept, and for a model from a file
        that was written without them.
        """
        check_is_fitted(self)
        kept: FitSums | None = vars(self).get("kept_sums_")
        if kept is not None:
            return kept
        record = self._record
        if record is None:
            raise InputError(
                "This model holds neither its rows nor their sums: save it with "
                "keep_sums=True, or fit it with --keep-sums."
            )
        return record.sums

    @property
    def _record(self) -> FitRecord | None:
        """What the fit knew of its rows, if it is still there."""
        record: FitRecord | None = vars(self).get("fit_record_")
        return record

    @property
    def price_(self) -> "DataFrame":
        """What each label loses by the wishes that the model meets.

        Average precision and log loss of leave-one-out scores before and after; of a
        model that was corrected without its rows, squared loss by generalised
        cross-validation.
        """
        check_is_fitted(self)
        if "wish_price_" not in vars(self):
            raise AttributeError(
                "there is no price: this model was fitted without wishes, or adapted"
            )
        return price_frame(vars(self)["wish_price_"])

    def constrained(
        self,
        monotonic_cst: DirectionsLike = None,
        without: WithoutLike = None,
        curves: CurvesLike = None,
    ) -> "MLTSKClassifier":
        """A fitted copy under your wishes, with all other numbers found again.

        The numbers are those of the least loss among all that meet the wishes, exactly.
        Wishes of an earlier call stay. They hold in the whole model: a direction holds
        in pairs with other features, too, exceptions are left out, and so are, for the
        labels of other wishes, pairs with their features. ``price_`` of the copy says
        what that costs.

        Parameters
        ----------
        monotonic_cst : dict or array, optional
            Directions of effects: 1 rises, -1 falls, 0 is free. By the name of the
            feature, for all labels (``{"albumin": -1}``) or some
            (``{"albumin": {"ascites": -1}}``), or an array of shape (n_features,) or
            (n_features, n_labels). A series or a frame of pandas is by the names of its
            rows and columns, if these are text.
        without : str, list or dict, optional
            Features that have no effect, or for each the labels on which it has none.
        curves : dict, optional
            What is wished of the curve of a feature: points ``[(value, effect), …]``
            in log-odds that it passes through, or a dict of these ``"points"``,
            ``"flat_above"`` and ``"flat_below"`` (a value), ``"shape"`` ("convex" or
            "concave"), ``"same"`` (True: the same effect on all of these labels) and
            ``"labels"`` (all by default), or a list of such dicts.

        Examples
        --------
        >>> import numpy as np
        >>> from mltsk import MLTSKClassifier
        >>> from mltsk.datasets import make_multilabel_rules
        >>> data = make_multilabel_rules(n_samples=200, random_state=0)
        >>> clf = MLTSKClassifier(n_rules=0).fit(data.X, data.Y)
        >>> name = clf.system_.feature_names[0]
        >>> rising = clf.constrained(monotonic_cst={name: 1})
        >>> X = np.repeat(data.X[:1], 50, axis=0)
        >>> X[:, 0] = np.linspace(data.X[:, 0].min(), data.X[:, 0].max(), 50)
        >>> bool((np.diff(rising.decision_function(X), axis=0) > -1e-9).all())
        True
        >>> list(rising.price_.columns[:3])
        ['AP_before', 'AP', 'AP_lost']
        """
        check_is_fitted(self)
        self._refuse_short()
        new = self._wish_reader().read(monotonic_cst, without, curves)
        if not new:
            raise InputError(
                "No correction is asked for: give monotonic_cst, without or curves, "
                "such as monotonic_cst={'age': 1}."
            )
        self._check_wishes(new)
        copy = self._under(new, by_rows=self._record is not None)
        if monotonic_cst is not None:
            copy.monotonic_cst = monotonic_cst
        return copy

    def alternatives(self, label: str, tolerance: float = 0.01) -> Alternatives:
        """All models with these terms that are as good for a label, exactly.

        Parameters
        ----------
        label : str
        tolerance : float, default=0.01
            By which share the squared loss, ridge included, may be above the least.

        Examples
        --------
        >>> from mltsk import MLTSKClassifier
        >>> from mltsk.datasets import make_multilabel_rules
        >>> data = make_multilabel_rules(n_samples=200, random_state=0)
        >>> clf = MLTSKClassifier(n_rules=0).fit(data.X, data.Y)
        >>> ranges = clf.alternatives(clf.label_names_[0]).to_frame()
        >>> bool((ranges["low"] <= ranges["effect"]).all())
        True
        """
        check_is_fitted(self)
        if self.system_.is_chosen:
            raise InputError(
                "Models that are as good as a short one are not known, because its "
                "statements were chosen one by one: ask the long model."
            )
        names = [str(name) for name in self.system_.label_names]
        if str(label) not in names:
            hint = (
                did_you_mean(label, names) or f"they are {listing(names, at_most=5)}."
            )
            raise InputError(f"{str(label)[:80]!r} is none of the labels: {hint}")
        is_number = isinstance(tolerance, Real) and not isinstance(tolerance, bool)
        is_share = is_number and 0 < tolerance < np.inf
        if not is_share:
            raise InputError(
                f"tolerance must be a number above 0, such as 0.01, not {tolerance!r}."
            )
        if getattr(self, "wishes_", ()):
            raise InputError(
                "alternatives is for models without wishes: ask the model that this "
                "one was corrected from."
            )
        return Alternatives(self, self.sums_, str(label), float(tolerance))

    def fitted_again(
        self,
        X: TableLike,
        y: TableLike,
        sample_weight: WeightsLike = None,
        groups: Any = None,
    ) -> "MLTSKClassifier":
        """A model like this one, fitted to rows under the wishes that this one meets.

        A clone would know parameters alone, and so forget what was corrected or edited.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in `fit`, with the same features and labels.
        """
        check_is_fitted(self)
        own: Any = self
        plain = getattr(self, "wishes_", ())
        fresh = own._unfitted_long() if plain else clone(own)
        fitted = fresh.fit(X, y, sample_weight, groups, rules=own.given_rules_)
        if not plain:
            return fitted
        reader = fitted._wish_reader()
        met = fitted._earlier_wishes()  # those of monotonic_cst
        wishes = restored_wishes(plain, reader.features, reader.labels)
        new = tuple(wish for wish in wishes if wish not in met)
        if new:
            fitted = fitted._under(new, by_rows=True)
        if "edits_" in vars(self):
            fitted.edits_ = own.edits_
        if own.max_statements is None:
            return fitted
        return fitted.shorten(own.max_statements, own.max_conditions)

    def under_wishes(self, plain: tuple[Mapping[str, Any], ...]) -> "MLTSKClassifier":
        """A copy of a model that has its rows, under wishes of names and numbers."""
        reader = self._wish_reader()
        wishes = restored_wishes(plain, reader.features, reader.labels)
        return self._under(wishes, by_rows=True)

    def _under(self, new: tuple[Wish, ...], *, by_rows: bool) -> "MLTSKClassifier":
        """A copy under further wishes, by its rows or by its sums alone."""
        corrector = self._corrector((*self._earlier_wishes(), *new))
        own: Any = self
        copy = own._unfitted_long()
        for name, value in vars(self).items():
            if name.endswith("_") and name not in ("stream_", "kept_sums_"):
                setattr(copy, name, value)
        copy._take_correction(self, corrector, by_rows=by_rows)
        return copy

    def _take_correction(
        self: Any, before: Any, corrector: Corrector, *, by_rows: bool
    ) -> None:
        """Keep what a model becomes under wishes."""
        self.wishes_ = plain_wishes(corrector)
        if by_rows:
            record = corrected_record(before._record, corrector)
            self.wish_price_ = price_by_rows(before._record, record)
            self._keep(record.system(), record)
            return
        sums = before.sums_
        system, kept, corrected = system_from_sums(before.system_, sums, corrector)
        self.wish_price_ = price_by_sums(before.system_, sums, corrected, system)
        self.system_ = system
        self.kept_sums_ = kept
        vars(self)["fit_record_"] = None
        for name in OF_ROWS:
            vars(self).pop(name, None)

    def _check_wishes(self, new: tuple[Wish, ...]) -> None:
        """Refuse values that nobody had, and a direction against an earlier one."""
        reader = self._wish_reader()
        scaling = self.system_.scaling
        for wish in new:
            name = reader.features[wish.feature]
            column = wish.feature
            if reader.columns is not None:
                column = columns_of_feature(reader.columns, wish.feature)[0]
            if wish.kind in AT_VALUES and scaling is not None:
                _check_values(wish, name, scaling.values[column])
            for earlier in self._earlier_wishes():
                is_against = {wish.kind, earlier.kind} == {"rises", "falls"}
                shared = set(wish.labels) & set(earlier.labels)
                if is_against and earlier.feature == wish.feature and shared:
                    raise InputError(
                        f"By an earlier wish {name!r} {earlier.kind}, and this one "
                        f"says that it {wish.kind}: begin with the model before the "
                        "earlier wish."
                    )

    def _refuse_short(self) -> None:
        """Refuse to correct a short model: its sums are those of the long one."""
        if self.system_.is_chosen:
            raise InputError(
                "A short model cannot be corrected: correct the long one, then "
                "shorten that."
            )

    def _wish_reader(self) -> WishReader:
        """A reader of wishes about the features and labels of this model."""
        system = self.system_
        if system.scaling is None:
            raise InputError(
                "Wishes need dense X on a scale of each feature of its own, such as "
                "scale='quantile': rows of unit length mix all features."
            )
        columns = system.columns
        features = system.feature_names if columns is None else columns.names
        return WishReader(tuple(features), tuple(system.label_names), columns)

    def corrector(self) -> Corrector:
        """What finds numbers under the wishes that the model meets already."""
        return self._corrector(self._earlier_wishes())

    def _corrector(self, wishes: tuple[Wish, ...]) -> Corrector:
        reader = self._wish_reader()
        return Corrector(wishes, reader.features, reader.labels, reader.columns)

    def _earlier_wishes(self) -> tuple[Wish, ...]:
        reader = self._wish_reader()
        plain = getattr(self, "wishes_", ())
        return restored_wishes(plain, reader.features, reader.labels)


def _check_values(wish: Wish, name: str, knots: FloatArray) -> None:
    """Refuse values of a wish beyond those that were measured."""
    low, high = float(knots[0]), float(knots[-1])
    for value, _ in wish.values:
        if not low <= value <= high:
            raise InputError(
                f"{name!r} was measured from {low:g} to {high:g}: {value:g} is beyond "
                "that, where a curve stays as it is at its end. Give a value between."
            )


def under_edits(classifier: Any, edits: Edits) -> "MLTSKClassifier":
    """A fitted copy with edits that were made in its page, by its sums alone."""
    check_is_fitted(classifier)
    classifier._refuse_short()
    edits.check_model(classifier.system_)
    reader = classifier._wish_reader()
    edits.check_names(reader.features, [str(label) for label in reader.labels])
    wishes = edits.wishes()
    new = reader.read(
        wishes["monotonic_cst"], without=wishes["without"], curves=wishes["curves"]
    )
    if not new:
        raise InputError(
            f"{edits.source} takes all of its edits back: the model stays as it is."
        )
    classifier._check_wishes(new)
    copy = classifier._under(new, by_rows=False)
    edits.check_numbers(copy.system_)
    earlier = getattr(classifier, "edits_", ())
    copy.edits_ = (*earlier, *(edit.plain() for edit in edits.items))
    if wishes["monotonic_cst"] is not None:
        copy.monotonic_cst = wishes["monotonic_cst"]
    return copy


def wished_corrector(classifier: Any, names: Names) -> Corrector | None:
    """What ``monotonic_cst`` of a classifier asks of a fit, if anything."""
    if classifier.monotonic_cst is None:
        return None
    features = names.features if names.columns is None else names.columns.names
    reader = WishReader(tuple(features), tuple(names.labels), names.columns)
    wishes = reader.read(classifier.monotonic_cst, without=None, curves=None)
    if not wishes:
        return None
    if names.used is not None or classifier.scale in ("unit", None):
        raise InputError(
            "monotonic_cst needs dense X on a scale of each feature of its own, such "
            "as scale='quantile'."
        )
    if classifier.coupling is not None:
        raise InputError("monotonic_cst finds each label alone: set coupling=None.")
    if classifier.n_rules not in ("auto", 0):
        raise InputError(
            f"n_rules={classifier.n_rules!r} does not go with monotonic_cst, because "
            "exceptions could turn an effect: set n_rules=0."
        )
    return Corrector(wishes, reader.features, reader.labels, reader.columns)


def names_a_direction(monotonic_cst: Any) -> bool:
    """Whether some effect is to rise or fall.

    >>> names_a_direction({"age": 1}), names_a_direction([0, 0])
    (True, False)
    """
    if monotonic_cst is None:
        return False
    if not isinstance(monotonic_cst, Mapping):
        return bool(np.any(monotonic_cst))
    values: list[Any] = []
    for asked in monotonic_cst.values():
        values += asked.values() if isinstance(asked, Mapping) else [asked]
    return any(values)
