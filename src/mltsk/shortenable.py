"""What a fitted classifier offers to those who want less of it."""

from typing import TYPE_CHECKING, Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .exceptions import InputError
from .points import (
    DEFAULT_MAX_POINTS,
    DEFAULT_POINTS_STATEMENTS,
    PointsClassifier,
    check_points_wish,
)
from .rows.read import TableLike
from .rows.weights import WeightsLike
from .thresholds import check_threshold_wish

if TYPE_CHECKING:
    from pandas import DataFrame

    from .classifier import MLTSKClassifier

DEFAULT_STATEMENTS = 12  # of `shorten`


class ShorteningMixin:
    """`shorten`, `points` and `size_path_` of a classifier."""

    def shorten(
        self: Any,
        max_statements: int | None = None,
        max_conditions: int | None = None,
        X: TableLike = None,
        y: TableLike = None,
        sample_weight: WeightsLike = None,
        groups: TableLike = None,
    ) -> "MLTSKClassifier":
        """A fitted copy with few statements per label that says what this model says.

        Parameters
        ----------
        max_statements : int, optional
            Statements per label, at most; by default as in the classifier, or 12.
        max_conditions : int, optional
            Conditions per exception, at most; by default as in the classifier.
        X, y, sample_weight, groups : optional
            The training data with its weights and groups, needed if the model comes
            from a file: files hold none of them.
        """
        check_is_fitted(self)
        short = self._unfitted_short(max_statements, max_conditions)
        short._validate_params()
        check_threshold_wish(short.threshold, len(self.label_names_))
        has_wishes = bool(vars(self).get("wishes_"))
        if X is not None and has_wishes:
            fitted = self.fitted_again(X, y, sample_weight, groups)
            return fitted.shorten(short.max_statements, short.max_conditions)
        if X is not None:
            return short.fit(X, y, sample_weight, groups, rules=self.given_rules_)
        if self.fit_record_ is None:
            raise InputError(
                "A model from a file holds no rows to shorten it by: "
                "pass its training data as X and y."
            )
        system, record = self.fit_record_.shortened(
            short.max_statements, short.max_conditions
        )
        for name, value in vars(self).items():
            if name.endswith("_") and name != "stream_":
                setattr(short, name, value)
        short._keep(system, record)
        return short

    def _unfitted_short(
        self: Any, max_statements: int | None, max_conditions: int | None
    ) -> "MLTSKClassifier":
        """A classifier with the parameters of this one and limits of its size."""
        short = self._unfitted_long()
        if max_statements is None:
            max_statements = self.max_statements or DEFAULT_STATEMENTS
        short.max_statements = max_statements
        if max_conditions is not None:
            short.max_conditions = max_conditions
        return short

    def points(
        self: Any,
        max_statements: int = DEFAULT_POINTS_STATEMENTS,
        max_points: int = DEFAULT_MAX_POINTS,
        X: TableLike = None,
        y: TableLike = None,
        sample_weight: WeightsLike = None,
        groups: TableLike = None,
    ) -> PointsClassifier:
        """This model as whole points that add up to a table of probabilities.

        Parameters
        ----------
        max_statements : int, default=8
            Statements per label, at most, as in `shorten`; there are no exceptions.
        max_points : int, default=10
            Points of the feature that adds most to a label.
        X, y, sample_weight, groups : optional
            The training data with its weights and groups, needed if the model comes
            from a file: files hold none of them.

        Returns
        -------
        PointsClassifier
            A fitted classifier that predicts exactly what its printed sheet says.
        """
        check_is_fitted(self)
        check_points_wish(max_statements, max_points)
        if not self.multilabel_ and not self._is_binary:
            raise InputError(
                "Points are added up per label, and this model tells one class of "
                "several: fit it on a column of 0 and 1 per class."
            )
        if X is not None:
            fitted = self.fitted_again(X, y, sample_weight, groups)
            return fitted.points(max_statements, max_points)
        if self.fit_record_ is None:
            raise InputError(
                "A model from a file holds no rows to find points by: pass its "
                "training data as X and y."
            )
        points = PointsClassifier(
            clone(self), max_statements=max_statements, max_points=max_points
        )
        return points._of(self)

    @property
    def size_path_(self: Any) -> "DataFrame":
        """What shorter models cost: honest AP with 1 to 50 statements per label.

        A frame with the columns ``statements``, ``AP`` (mean over samples, the standard
        convention) and ``macro_AP`` (mean over labels). Scores are those of five folds,
        in which statements were chosen without the samples that are scored.
        ``size_path_.attrs["long"]`` has ``AP`` and ``macro_AP`` of the long model by
        the same folds, so that both can be compared.
        """
        check_is_fitted(self)
        if self.fit_record_ is None:
            raise AttributeError(
                "a model from a file holds no rows to measure shorter ones on: "
                "fit it again"
            )
        return self.fit_record_.size_path(self.max_conditions)
