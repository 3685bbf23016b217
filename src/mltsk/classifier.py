"""MLTSKClassifier: validate, fit a system, store plain arrays; rules, reasons and short models are one line each."""

from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .columns import Columns, is_polars
from .core.arrays import is_tensor, namespace, put, row_blocks, spread_rows
from .core.certainty import Certainty
from .core.coupling import CONVEX
from .core.membership import Members
from .core.terms import PERCENTILE_TERMS, Scaling, Terms
from .exceptions import InputError
from .explain import Explanation, RuleBase, explain, rule_base
from .fit import Options, fit_system
from .fit.short import certainty_of
from .rows.arrays import is_dask
from .rows.dask import later
from .rows.read import feature_names, read_rows, read_samples, rows_at_once
from .storing import short_models, size_path, store, turn_short, warn_of_thresholds
from .system import FuzzySystem
from .targets import predicted

# arrays that a `FuzzySystem` has under the same names
_ARRAYS = ["intercept", "centers", "widths", "coef", "prototypes", "rule_weights"]
_ARRAYS += ["thresholds", "quantiles", "slopes", "offsets"]


class MLTSKClassifier(ClassifierMixin, BaseEstimator):
    """Multi-label Takagi-Sugeno-Kang fuzzy system: what holds in general, and the exceptions.

    The general rule has a few overlapping fuzzy terms per feature, each with one number per label; exceptions are rules
    around typical samples that shift the scores of samples near them. All numbers come from one ridge problem in closed
    form, and what is left at "auto" is chosen by leave-one-out, which the closed form gives for free.

    Parameters
    ----------
    n_rules : int, "auto" or "xie-beni", default="auto"
        Number of exceptions; 0 is the general rule alone. "auto" has none unless they lower the leave-one-out error:
        by one percent for 400 of order 0 (at most one per two samples), by three percent more for 20 of order 1 (half a
        percent each where terms are linear). "xie-beni" is the number from 2 to 20 whose clusters are most compact next
        to how far apart they are, by Xie and Beni's index, whatever the labels are.
    order : {0, 1} or "auto", default="auto"
        What an exception says: 0, one shift per label; 1, slopes as well, as in the paper.
    width_scale : float, "auto" or "minimum", default="auto"
        How far an exception reaches, as a share of the mean squared distance between two samples. Its conditions are
        joined by their product. "minimum" finds the reach as "auto" does and joins them by their minimum instead, so
        that the feature in which a sample lies farthest away decides alone.
    ridge : float or "auto", default="auto"
        Weight of the ridge that shrinks all numbers.
    coupling : {"laplacian", "signed", "shift", "precision", "ridge"} or None, default=None
        How the numbers of correlated labels are made similar, see `mltsk.core.coupling`.
    coupling_weight : float or "auto", default="auto"
        How strongly.
    scale : {"auto", "quantile", "triangles", "trapezoids", "standard", "minmax", "unit"} or None, default="auto"
        "quantile" has ramps on the percentile scale of each feature, "triangles" and "trapezoids" have five overlapping
        terms there, from "is very low" to "is very high"; the others have one linear term per feature. "unit" gives
        samples unit length; "auto" is "quantile" for dense and "unit" for sparse input.
    threshold : float, array of shape (n_labels,), "f1", "cost", ("precision", 0.8) or ("recall", 0.9), default=0.5
        A label is predicted when its score reaches this. All but numbers are found per label on leave-one-out scores:
        the best F1, the least cost, the lowest threshold with that precision or the highest with that recall.
    max_statements, max_conditions : int or None, default=None, 5
        With `max_statements` the model is shortened to at most so many statements per label: a term counts one, an exception
        one and one more per condition, of which it has at most `max_conditions`.
    categorical_features : "from_dtype", None, or array of bool, int or str, default="from_dtype"
        Which features are nominal, as a mask, by position or by name. "from_dtype" takes columns of text, booleans and
        unordered categories of a data frame; ordered categories keep their order. A nominal feature has a number per
        value and label, rare values share one, and a value that was never seen adds nothing.
    cost : (float, float), default=(1, 1)
        For ``threshold="cost"``: what a false alarm and what a miss costs, (1, 5) where a miss is five times as bad.
    random_state : int, RandomState or None, default=None
        Has no effect, because nothing in a fit is random; it is there for tools that set it everywhere.

    Attributes
    ----------
    intercept_ : array of shape (n_labels,)
        What the average sample outside every exception scores.
    terms_ : dict of arrays
        The fuzzy terms: ``feature``, ``low`` and ``high`` (ends of the ramp, as percentiles; None where terms are
        linear) and ``mean``.
    general_coef_ : array of shape (n_terms, n_labels)
        Numbers of the general rule.
    centers_, widths_ : arrays of shape (n_rules, n_features)
        IF-parts of the exceptions, on the scale of the features that the fit uses.
    coef_ : array of shape (n_rules, 1 or n_features + 1, n_labels)
        Consequents (THEN-parts) of the exceptions, intercept first.
    given_rules_ : list of dict
        Rules of the user's own, as they were given.
    n_rules_, order_, width_scale_, tnorm_, rule_share_, ridge_, coupling_weight_ : int, float or str
        What was used; ``rule_share_`` is the weight of the exceptions where the general rule has 1, ``tnorm_`` joins
        their conditions, "product" or "minimum".
    loo_scores_ : array of shape (n_samples, n_labels)
        What each sample would have scored without itself, exactly, for these terms and rules. Of a short model, what
        it scored in five folds, by statements that were chosen without it.
    loo_rows_ : array or None
        Which samples `loo_scores_` are about; None for all. Of data that do not fit in memory, 20,000 evenly spread.
    loo_error_ : float
        Mean squared leave-one-out error on which the choices were made.
    slopes_, offsets_ : arrays of shape (n_labels,)
        Curves that turn scores into probabilities.
    rule_weights_ : array of shape (n_rules,)
        Mean membership of the training data in each exception.
    members_ : dict of arrays
        The training samples in each exception (of large data, of 20,000 evenly spread; of a stream, of its first call),
        and all samples in the last row: their ``count``, in how many each label was ``observed`` and how many of those
        are ``positives``, and ``regions``, the 10th and 90th percentile of each feature, see `mltsk.core.membership`.
    n_statements_ : array of shape (n_labels,)
        Numbers that the model has for each label.
    columns_ : dict or None
        What the columns of a table are, `mltsk.columns.Columns`, if some hold text or missing cells: terms and rules
        are then about columns of numbers such as "smoker = daily" and "albumin not measured".
    coupling_, thresholds_, prototypes_, quantiles_, label_names_, classes_, n_features_in_, feature_names_in_

    Notes
    -----
    ``decision_function`` is score - threshold, > 0 exactly where a label is predicted. ``predict_proba`` is calibrated
    on leave-one-out scores per label, so a label may be predicted at a probability that is not just above 0.5.

    References
    ----------
    Q. Lou, Z. Deng, Z. Xiao, K.-S. Choi, S. Wang, "Multi-Label Takagi-Sugeno-Kang Fuzzy System", IEEE Transactions on
    Fuzzy Systems 30(9), 2022.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=200, random_state=0)
    >>> clf = MLTSKClassifier().fit(data.X, data.Y)
    >>> clf.predict(data.X[:2]).shape, clf.loo_scores_.shape
    ((2, 5), (200, 5))
    """

    given_rules_: Any = ()
    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's name and form
        "n_rules": [
            StrOptions({"auto", "xie-beni"}),
            Interval(Integral, 0, None, closed="left"),
        ],
        "order": [StrOptions({"auto"}), Interval(Integral, 0, 1, closed="both")],
        "width_scale": [
            StrOptions({"auto", "minimum"}),
            Interval(Real, 0, None, closed="neither"),
        ],
        "ridge": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "coupling": [StrOptions(set(CONVEX)), None],
        "coupling_weight": [
            StrOptions({"auto"}),
            Interval(Real, 0, None, closed="left"),
        ],
        "scale": [
            StrOptions({"auto", *PERCENTILE_TERMS, "standard", "minmax", "unit"}),
            None,
        ],
        "threshold": [StrOptions({"f1", "cost"}), Real, "array-like"],
        "max_statements": [None, Interval(Integral, 1, None, closed="left")],
        "max_conditions": [None, Interval(Integral, 1, None, closed="left")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "cost": ["array-like"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_rules="auto",
        *,
        order="auto",
        width_scale="auto",
        ridge="auto",
        coupling=None,
        coupling_weight="auto",
        scale="auto",
        threshold=0.5,
        max_statements=None,
        max_conditions=5,
        categorical_features="from_dtype",
        cost=(1, 1),
        random_state=None,
    ) -> None:
        self.n_rules, self.order, self.width_scale, self.ridge = (
            n_rules,
            order,
            width_scale,
            ridge,
        )
        self.coupling, self.coupling_weight, self.scale = (
            coupling,
            coupling_weight,
            scale,
        )
        self.threshold, self.max_statements, self.max_conditions = (
            threshold,
            max_statements,
            max_conditions,
        )
        self.categorical_features, self.cost, self.random_state = (
            categorical_features,
            cost,
            random_state,
        )

    def fit(self, X, y, sample_weight=None, rules=None) -> Self:
        """Fit the classifier: find terms, exceptions and all numbers.

        Parameters
        ----------
        X : array, data frame, CSR, memory map, torch tensor, Dask array or frame of shape (n_samples, n_features)
            Work is done where X lies. Cells may be missing (NaN, None): they add nothing to a score, and where that
            happens often enough "not measured" has a number of its own.
        y : indicator of shape (n_samples, n_labels), list of the labels of each sample, or one-dimensional classes
            A data frame's columns name the labels. NaN is a label that was not observed: each label learns from the
            samples where it was. With a tensor X, a tensor on the same device, like the weights.
        sample_weight : array of shape (n_samples,) or (n_samples, n_labels), optional
            Whole numbers of 10 at most on average are counts: 0 removes a sample, 2 counts it twice. Others say how
            important samples are relative to each other. Weights that are all equal change nothing.
        rules : list of dict, optional
            Rules of your own, such as ``[{"age": (60, None), "bilirubin": (3, None)}, {"sex": "f"}]``: what each asks
            of features by name, a range with both ends included (None is no end), a value, or a list of values any of
            which will do. A rule holds for a sample or does not, and never where a feature that it asks for is missing.
            Each has one number per label, found together with all others.
        """
        self._validate_params()
        self.given_rules_ = () if rules is None else rules
        rows, targets = read_rows(self, X, y, sample_weight)
        self.classes_, self.label_names_, self.multilabel_ = (
            targets.classes,
            targets.names,
            targets.multilabel,
        )
        store(self, fit_system(rows, self._options()), rows)
        return self

    def _options(self) -> Options:
        names = "n_rules", "order", "width_scale", "ridge", "coupling_weight"
        given: dict[str, Any] = {
            name: None if (value := getattr(self, name)) == "auto" else value
            for name in names
        }
        if self.width_scale == "minimum":
            given |= {"width_scale": None, "tnorm": "minimum"}
        columns = None if self.columns_ is None else Columns(**self.columns_)
        if columns is not None:
            given |= {
                name: getattr(columns, name)
                for name in ("shares", "monotone", "indicators")
            }
            given["n_given"] = len(columns.rules)
        return Options(**given, coupling=self.coupling, scale=self.scale)

    @property
    def n_statements_(self) -> NDArray[np.intp]:
        """Numbers that the model has for each label, (n_labels,); of a short one, its conditions count as well."""
        check_is_fitted(self)
        terms, shifts = (
            np.count_nonzero(self.general_coef_, axis=0),
            np.count_nonzero(self.coef_, axis=1),
        )
        conditions = (
            np.isfinite(self.widths_).sum(axis=1)
            if self.max_statements is not None
            else np.zeros(len(shifts))
        )
        if (
            self.max_statements is not None and self.columns_ is not None
        ):  # those of given rules
            asked = np.array(Columns(**self.columns_).conditions)[
                self.terms_["feature"]
            ]
            terms = terms + asked @ (self.general_coef_ != 0)
        return terms + (shifts * (1 + conditions[:, None].astype(int))).sum(axis=0)

    @property
    def system_(self) -> FuzzySystem:
        """The fitted system as plain data, `mltsk.system.FuzzySystem`."""
        check_is_fitted(self)
        columns = None if self.columns_ is None else Columns(**self.columns_)
        return FuzzySystem(
            feature_names=tuple(feature_names(self))
            if columns is None
            else columns.part_names,
            label_names=tuple(self.label_names_),
            scaling=None if self.scaling_ is None else Scaling(**self.scaling_),
            unit_length=self.scale_ == "unit",
            terms=Terms(**self.terms_),
            term_coef=self.general_coef_,
            **{name: getattr(self, f"{name}_") for name in _ARRAYS},
            firing="softmax"
            if self.order_
            else "minimum"
            if self.tnorm_ == "minimum"
            else "plain",
            columns=columns,
            members=Members(**found)
            if (found := getattr(self, "members_", None))
            else None,
            certainty=Certainty(**sure)
            if (sure := getattr(self, "certainty_", None))
            else None,
        )

    @property
    def rules_(self) -> RuleBase:
        """The rules as data, a `mltsk.explain.RuleBase`: ``print(clf.rules_)`` reads them out."""
        return rule_base(self.system_, categories=self._category_names())

    def _sure_system(self):
        """The system with how sure its numbers are, which a long model knows as long as its rows are at hand."""
        if hasattr(self, "certainty_") or not hasattr(self, "_sample"):
            return self.system_
        return replace(self.system_, certainty=certainty_of(self._sample))

    @property
    def plot(self) -> SimpleNamespace:
        """Figures of this model, ``clf.plot.shapes()``: the functions of `mltsk.explain.plot`."""
        from .explain import plot

        return SimpleNamespace(
            **{name: partial(getattr(plot, name), self) for name in plot.FIGURES}
        )

    def explain(self, X) -> Explanation:
        """Why samples get their scores, a `mltsk.explain.Explanation`: ``print(clf.explain(X[:1]))`` tells."""
        check_is_fitted(self)
        samples, columns = self._dense(read_samples(self, X)), self.system_.columns
        cells = None
        if (
            columns is not None
            and {"nominal", "ordinal"} & set(columns.kinds)
            and hasattr(X, "shape")
        ):
            cells = None if is_tensor(X) else columns.words(X)
        library = "polars" if is_polars(X) else "pandas"
        return explain(
            self.system_,
            samples,
            categories=self._category_names(),
            cells=cells,
            library=library,
        )

    def shorten(
        self, max_statements=12, max_conditions=None, X=None, y=None
    ) -> "MLTSKClassifier":
        """A fitted copy with at most ``max_statements`` statements per label, chosen and refitted to say what this one says.

        Parameters
        ----------
        max_statements : int, default=12
        max_conditions : int, optional
            At most so many conditions per exception; by default as in the classifier.
        X, y : optional
            The training data, needed if the model comes from a file: files hold no samples.
        """
        check_is_fitted(self)
        params = {
            k: v
            for k, v in self.get_params(deep=False).items()
            if k in MLTSKClassifier._parameter_constraints
        }
        max_conditions = (
            params.get("max_conditions", 5)
            if max_conditions is None
            else max_conditions
        )
        short = MLTSKClassifier(
            **params
            | {"max_statements": max_statements, "max_conditions": max_conditions}
        )
        short._validate_params()
        if X is not None:
            return short.fit(X, y, rules=self.given_rules_)
        if not hasattr(self, "_sample"):
            raise InputError(
                "A model from a file holds no rows to shorten it by: pass its training data as X and y."
            )
        kept = [name for name in vars(self) if name.endswith("_") and name != "stream_"]
        short_models(self, max_statements, max_conditions)
        short.__dict__.update(
            {name: getattr(self, name) for name in (*kept, "_sample", "_models")}
        )
        index = (
            spread_rows(len(self.loo_scores_), Options.sample_rows)
            if self.loo_rows_ is None
            else self.loo_rows_
        )
        if missed := turn_short(short, index):
            warn_of_thresholds(short, missed)
        return short

    @property
    def size_path_(self) -> dict[str, NDArray[Any]]:
        """What shorter models cost: average precision of honest scores with 1 to 50 statements per label.

        A dict of arrays: ``terms``, ``AP`` (mean over samples, the standard convention) and ``macro_AP`` (mean over
        labels). Scores are those of five folds, in which statements were chosen without the samples that are scored.
        """
        check_is_fitted(self)
        return size_path(self)

    def __getstate__(self):
        state = super().__getstate__()  # the attributes themselves, not a copy
        of_rows = (
            "_sample",
            "_models",
            "_left_out",
        )  # a model that travels holds no rows
        return {name: value for name, value in state.items() if name not in of_rows}

    def _category_names(self):
        from .datasets.dataset import (
            category_values,
        )  # a quarter of a second that only nominal features need

        found = dict(getattr(self, "categories_", {}))
        for feature, names in found.items():
            if not hasattr(names, "items"):
                found[feature] = dict(
                    zip(category_values(names).tolist(), names, strict=True)
                )
        return found

    def _dense(self, X):
        """Samples as a dense model needs them."""
        return X.toarray() if sparse.issparse(X) and self.scaling_ is not None else X

    def _scores(self, X):
        check_is_fitted(self)
        large = rows_at_once(X) is not None
        X = X if large else read_samples(self, X)  # in blocks where it is large
        system, per_row = (
            self.system_,
            16 * (len(self.general_coef_) + X.shape[1] + len(self.centers_)),
        )
        blocks = row_blocks(X.shape[0], per_row, like=X if is_tensor(X) else None)
        parts = [
            system.scores(self._dense(read_samples(self, X[b]) if large else X[b]))
            for b in blocks
        ]
        return parts[0] if len(parts) == 1 else namespace(parts[0]).concatenate(parts)

    def decision_function(self, X) -> Any:
        """Score minus threshold, (n_samples, n_labels), > 0 exactly where a label is predicted; (n,) for binary y."""
        if is_dask(X):
            return later(self, X, "decision_function")
        scores = self._scores(X)
        xp, distance = namespace(scores), scores - put(self.thresholds_, scores)
        # a score that equals its threshold is predicted (the paper rounds 0.5 up), so it must not read as 0
        distance = xp.where(distance == 0, xp.finfo(distance.dtype).tiny, distance)
        return distance[:, 0] if self._is_binary else distance

    @property
    def _is_binary(self):
        return not self.multilabel_ and len(self.classes_) == 2

    def predict(self, X) -> Any:
        """Labels as an indicator of y's shape, or classes if y was one-dimensional."""
        if is_dask(X):
            return later(self, X, "predict")
        distance = self.decision_function(X)
        distance = distance if distance.ndim == 2 else distance[:, None]
        return predicted(
            distance, np.zeros(distance.shape[1]), self.classes_, self.multilabel_
        )

    def predict_proba(self, X) -> Any:
        """Probabilities, calibrated on leave-one-out scores; over one-dimensional classes, a column each."""
        if is_dask(X):
            return later(self, X, "predict_proba")
        scores = self._scores(X)
        xp = namespace(scores)
        if (
            not self.multilabel_ and not self._is_binary
        ):  # one slope for all, so that the largest score wins
            line = float(self.slopes_.mean()) * (scores - put(self.thresholds_, scores))
            odds = xp.exp(line - xp.amax(line, axis=1, keepdims=True))
            return odds / odds.sum(axis=1, keepdims=True)
        tiny = xp.finfo(scores.dtype).eps
        positive = xp.clip(self.system_.probabilities(scores), tiny, 1 - tiny)
        return (
            positive if self.multilabel_ else xp.column_stack([1 - positive, positive])
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self.scale in ("auto", "unit", None)
        return tags
