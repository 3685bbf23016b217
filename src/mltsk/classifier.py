"""MLTSKClassifier: read the data, fit a system, keep it; all else asks the system."""

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .adaptable import AdaptationMixin
from .core.arrays import Array, Matrix, is_tensor, namespace, put, row_blocks
from .core.coupling import CONVEX
from .core.terms import PERCENTILE_TERMS
from .correctable import CorrectionMixin, names_a_direction, wished_corrector
from .correction import corrected_record, plain_wishes, price_by_rows
from .explain import Explanation, explain
from .fit.fit import FitResult, fit_system
from .fit.options import Names, Options
from .fitted import FittedAttributes
from .frames import is_polars
from .observed import ObservedLabelsMixin
from .record import FitRecord
from .refit import take_over, unfitted_copy
from .rows.dask import lazily
from .rows.read import (
    Features,
    RulesLike,
    TableLike,
    is_dask,
    read_rows,
    read_samples,
    rows_at_once,
)
from .shortenable import ShorteningMixin
from .sklearn_private import Interval, StrOptions
from .system import FuzzySystem
from .targets import Targets, predicted
from .text import listing
from .thresholds import check_threshold_wish

if TYPE_CHECKING:
    from .explain.plot import ModelFigures

MAX_LISTED_LABELS = 10
ONE_GROUP = (
    "All rows are one group, so none can be left out: the figures of this fit are not "
    "honest. Give groups at least two names, or leave groups out."
)


class MLTSKClassifier(
    FittedAttributes,
    ShorteningMixin,
    CorrectionMixin,
    AdaptationMixin,
    ObservedLabelsMixin,
    BaseEstimator,
):
    """Multi-label Takagi-Sugeno-Kang fuzzy system: a general rule, and the exceptions.

    The general rule has a few overlapping fuzzy terms per feature, each with one number
    per label; where there are thousands of samples, rules of two conditions say what
    pairs of features do together; exceptions are rules around typical samples that
    shift the scores of samples near them. All numbers come from one ridge problem in
    closed form. What is left at "auto" is chosen by leave-one-out, which the closed
    form gives for free.

    Parameters
    ----------
    n_rules : int, "auto" or "xie-beni", default="auto"
        Number of exceptions; 0 is the general rule alone. "auto" takes exceptions if
        they lower the leave-one-out error enough:

        ================================  ==================  =====================
        exceptions that are tried         gain with ramps     gain with linear terms
        ================================  ==================  =====================
        400 of order 0, at most one per   1 %                 0.5 %
        two samples
        20 of order 1                     3 % more            0.5 % more
        ================================  ==================  =====================

        "xie-beni" is the number from 2 to 20 whose clusters are most compact next to
        how far apart they are, by Xie and Beni's index, whatever the labels are.
    order : {0, 1} or "auto", default="auto"
        What an exception says: 0, one shift per label; 1, slopes as well, as in the
        paper.
    width_scale : float or "auto", default="auto"
        How far an exception reaches, as a share of the mean squared distance between
        two samples.
    tnorm : {"product", "minimum"}, default="product"
        How the conditions of an exception are joined. With "minimum" the feature in
        which a sample lies farthest away decides alone.
    n_pairs : int or "auto", default="auto"
        Number of pairs of features that act together: fuzzy rules of two conditions,
        such as "low votes and short", each with one number per label. 0 is none. "auto"
        takes 10, 40 or 100 from 3,000 samples on, if they lower the error on samples
        that they were not found on.
    scale : {"auto", "quantile", "triangles", "trapezoids", "standard", "minmax", \
"unit"} or None, default="auto"
        "quantile" has ramps on the percentile scale of each feature, "triangles" and
        "trapezoids" have five overlapping terms there, from "is very low" to "is very
        high"; the others have one linear term per feature. "unit" gives samples unit
        length. "auto" is "quantile" for dense and "unit" for sparse input.
    ridge : float or "auto", default="auto"
        Weight of the ridge that shrinks all numbers.
    coupling : {"laplacian", "signed", "shift", "precision", "ridge"} or None, \
default=None
        How the numbers of correlated labels are made similar, see
        `mltsk.core.coupling`.
    coupling_weight : float or "auto", default="auto"
        How strongly.
    threshold : float, array, "f1", ("cost", 1, 5), ("precision", 0.8) or \
("recall", 0.9), default=0.5
        A label is predicted when its probability reaches this; an array has one number
        per label. All but numbers are found per label on leave-one-out scores: the best
        F1, the least cost where a miss costs five times as much as a false alarm, the
        lowest threshold whose precision is that at least (by the lower end of its 95 %
        interval), or the highest with that recall.
    max_statements, max_conditions : int or None, default=None, 5
        With `max_statements` the model is shortened to at most that many statements per
        label: a term counts one, and an exception one per condition, of which it has at
        most `max_conditions`.
    categorical_features : "from_dtype", None, or array of bool, int or str, \
default="from_dtype"
        Which features are nominal, as a mask, by position or by name. "from_dtype"
        takes columns of text, booleans and unordered categories of a data frame;
        ordered categories keep their order. A nominal feature has a number per value
        and label, rare values share one, and a value that was never seen adds nothing.
    monotonic_cst : dict, array or None, default=None
        Directions of effects: 1 rises, -1 falls, 0 is free. By the name of the feature
        for all labels (``{"albumin": -1}``) or some (``{"albumin": {"ascites": -1}}``),
        or an array of shape (n_features,) or (n_features, n_labels). They hold in the
        whole model, pairs of features among it, which has no exceptions then.
        A missing cell adds what it adds, whatever the direction. `constrained` knows
        more wishes.
    random_state : int, RandomState or None, default=None
        Has no effect, because nothing in a fit is random; it is there for tools that
        set it everywhere.

    Attributes
    ----------
    system_ : FuzzySystem
        The fitted model as plain data; most other attributes are parts of it. Where
        most features of sparse X are 0 in all samples, it has no columns for these;
        the attributes below have zeros there.
    intercept_ : array of shape (n_labels,)
        Log-odds of the average sample outside every exception.
    terms_ : Terms
        The fuzzy terms: ``feature``, ``low`` and ``high`` (ends of the ramp, as
        percentiles; None where terms are linear) and ``mean``.
    general_coef_ : array of shape (n_terms, n_labels)
        Numbers of the general rule.
    centers_, widths_ : arrays of shape (n_rules, n_features)
        IF-parts of the exceptions, on the scale of the features that the fit uses.
    coef_ : array of shape (n_rules, 1 or n_features + 1, n_labels)
        Consequents (THEN-parts) of the exceptions, intercept first.
    given_rules_ : list of dict
        Rules of the user's own, as they were given.
    pairs_ : FeaturePairs
        Pairs of features that act together, the largest first: ``features`` by name,
        ``heights(label)``, a frame of what two values together add to a score, and
        ``size`` per label. ``print(clf.pairs_[0])`` has it as tables.
    n_pairs_, n_rules_, order_, width_scale_, tnorm_, rule_share_, ridge_, \
coupling_weight_
        What was used; ``rule_share_`` is the weight of the exceptions where the general
        rule has 1.
    loo_scores_ : array of shape (n_samples, n_labels)
        The log-odds that each sample would have if it, or its group, had not been
        there: exactly, for these terms and rules, and at the base rates of all samples.
        Of a short model, those of one of five folds, by statements that were chosen
        without it.
    loo_proba_ : array of shape (n_samples, n_labels)
        The same as probabilities: ``evaluate(Y, clf.loo_proba_,
        threshold=clf.thresholds_)`` is honest.
    loo_rows_ : array or None
        Which samples `loo_scores_` are about; None for all. Of data that do not fit in
        memory, 20,000 evenly spread.
    loo_error_ : float
        Mean squared leave-one-out error on which the choices were made.
    rule_weights_ : array of shape (n_rules,)
        Mean membership of the training data in each exception.
    members_ : Members
        The training samples in each exception (of large data, of 20,000 evenly spread;
        of a stream, of its first call), and all samples in the last row: their
        ``count``, in how many each label was ``observed`` and how many of these are
        ``positives``, and ``regions``, the 10th and 90th percentile of each feature,
        see `mltsk.core.membership`.
    n_statements_ : array of shape (n_labels,)
        Statements per label.
    columns_ : Columns or None
        What the columns of a table are, if some hold text or missing cells: terms and
        rules are then about columns of numbers such as "smoker = daily" and "albumin
        not measured".
    fit_record_ : FitRecord or None
        What the fit knew of its rows; None for a model that was saved or copied.
    wishes_ : tuple of dict
        Wishes that the model meets, if it was corrected: ``feature``, ``labels``,
        ``kind`` and ``values``.
    edits_ : tuple of dict
        The log of edits that were made in a page of the model and applied by
        `mltsk.edited`: ``feature``, ``labels``, ``action``, ``author``, ``reason``,
        ``time``, and of a point ``value`` and ``effect``.
    price_ : DataFrame
        What each label loses by these wishes: average precision and log loss of
        leave-one-out scores before and after. Of a model without its rows, squared loss
        by generalised cross-validation. ``price_.attrs["left_out"]`` says what else is
        gone.
    sums_ : FitSums
        Sums over all rows, from which all numbers can be found again without rows. A
        file has them if it was written with ``save(clf, path, keep_sums=True)``.
    coupling_, thresholds_, prototypes_, quantiles_, certainty_, scale_, scaling_, \
label_names_, classes_, n_features_in_, feature_names_in_

    Notes
    -----
    There is one scale, log-odds: numbers of the model add up to the log-odds of a
    label, calibrated on leave-one-out scores. ``decision_function`` is these less the
    log-odds of the threshold, > 0 exactly where the probability reaches the threshold
    and the label is predicted.

    References
    ----------
    Q. Lou, Z. Deng, Z. Xiao, K.-S. Choi, S. Wang, "Multi-Label Takagi-Sugeno-Kang Fuzzy
    System", IEEE Transactions on Fuzzy Systems 30(9), 2022.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=200, random_state=0)
    >>> clf = MLTSKClassifier().fit(data.X, data.Y)
    >>> clf.predict(data.X[:2]).shape, clf.loo_scores_.shape
    ((2, 5), (200, 5))
    """

    # where metadata are routed, groups reach a fit without being asked for
    __metadata_request__fit = {"groups": True}  # noqa: RUF012 - scikit-learn's form

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's name and form
        "n_rules": [
            StrOptions({"auto", "xie-beni"}),
            Interval(Integral, 0, None, closed="left"),
        ],
        "order": [StrOptions({"auto"}), Interval(Integral, 0, 1, closed="both")],
        "width_scale": [
            StrOptions({"auto"}),
            Interval(Real, 0, None, closed="neither"),
        ],
        "tnorm": [StrOptions({"product", "minimum"})],
        "n_pairs": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
        "scale": [
            StrOptions({"auto", *PERCENTILE_TERMS, "standard", "minmax", "unit"}),
            None,
        ],
        "ridge": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "coupling": [StrOptions(set(CONVEX)), None],
        "coupling_weight": [
            StrOptions({"auto"}),
            Interval(Real, 0, None, closed="left"),
        ],
        "threshold": "no_validation",  # `check_threshold_wish` says more
        "max_statements": [None, Interval(Integral, 1, None, closed="left")],
        "max_conditions": [None, Interval(Integral, 1, None, closed="left")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "monotonic_cst": "no_validation",  # `WishReader` says more
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_rules="auto",
        *,
        order="auto",
        width_scale="auto",
        tnorm="product",
        n_pairs="auto",
        scale="auto",
        ridge="auto",
        coupling=None,
        coupling_weight="auto",
        threshold=0.5,
        max_statements=None,
        max_conditions=5,
        categorical_features="from_dtype",
        monotonic_cst=None,
        random_state=None,
    ) -> None:
        self.n_rules = n_rules
        self.order = order
        self.width_scale = width_scale
        self.tnorm = tnorm
        self.n_pairs = n_pairs
        self.scale = scale
        self.ridge = ridge
        self.coupling = coupling
        self.coupling_weight = coupling_weight
        self.threshold = threshold
        self.max_statements = max_statements
        self.max_conditions = max_conditions
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None, groups=None, rules=None) -> Self:
        """Fit the classifier: find terms, exceptions and all numbers.

        Parameters
        ----------
        X : array, data frame, CSR, memory map, torch tensor, Dask array or frame of \
shape (n_samples, n_features)
            Work is done where X lies. Cells may be missing (NaN, None): they add
            nothing to a score, and where that happens often enough "not measured" has a
            number of its own.
        y : indicator of shape (n_samples, n_labels), list of the labels of each \
sample, or one-dimensional classes
            A data frame's columns name the labels. NaN is a label that was not
            observed: each label learns from the samples where it was; on Dask, every
            label must be observed in every row. With a tensor X, a tensor on the same
            device, like the weights.
        sample_weight : array of shape (n_samples,) or (n_samples, n_labels), optional
            How important samples are: 0 removes a sample, and weights that are all
            equal change nothing. Whole numbers of 10 at most on average are counts, 2
            weighs as much as two samples; others count relative to each other. A sample
            is left out whole whatever its weight.
        groups : array of shape (n_samples,), optional
            Names or numbers of groups of samples that belong together, such as the
            patient of each visit. A group is left out as a whole wherever samples are
            left out: in every choice, in `loo_scores_`, probabilities, thresholds,
            intervals and the folds of short models.
        rules : list of dict, optional
            Rules of your own, such as
            ``[{"age": (60, None), "bilirubin": (3, None)}, {"sex": "f"}]``: what each
            asks of features by name, a range with both ends included (None is no end),
            a value, or a list of values any of which will do. A rule holds for a sample
            or does not, and never where a feature that it asks for is missing. Each has
            one number per label, found together with all others.
        """
        self._validate_params()
        check_threshold_wish(self.threshold)
        rules = () if rules is None else rules
        rows, targets, features = read_rows(
            self, X, y, sample_weight, rules=rules, groups=groups
        )
        check_threshold_wish(self.threshold, len(targets.names))
        names = Names(
            features.column_names, targets.names, features.columns, features.used
        )
        corrector = wished_corrector(self, names)
        result = fit_system(rows, self._options(), names)
        record = FitRecord.of(result, rows)
        if record.is_one_group:
            warn(ONE_GROUP, stacklevel=2)
        loo_scores = record.curves.log_odds(result.loo_scores)
        loo_rows = result.loo_rows
        price: dict[str, Any] = {}
        if corrector is not None:
            free = record
            record = corrected_record(free, corrector, rows)
            price = price_by_rows(free, record)
            loo_scores = record.loo_scores
            loo_rows = record.loo_rows
        system = record.system()
        if self.max_statements is not None:
            system, record = record.shortened(self.max_statements, self.max_conditions)
            loo_scores = record.loo_scores
            loo_rows = record.loo_rows
        fitted = unfitted_copy(self)
        fitted._note_input(features, targets, rules)
        fitted._note_choice(result)
        fitted._keep(system, record)
        if corrector is not None:
            fitted.wishes_ = plain_wishes(corrector)
            fitted.wish_price_ = price
        fitted.loo_scores_ = loo_scores
        fitted.loo_rows_ = loo_rows
        return take_over(self, fitted)

    def _options(self) -> Options:
        """Parameters as a fit takes them, where None stands for "auto"."""

        def unless_auto(value: Any) -> Any:
            return None if isinstance(value, str) and value == "auto" else value

        n_rules = unless_auto(self.n_rules)
        if n_rules is None and names_a_direction(self.monotonic_cst):
            n_rules = 0
        return Options(
            n_rules=n_rules,
            order=unless_auto(self.order),
            width_scale=unless_auto(self.width_scale),
            tnorm=self.tnorm,
            n_pairs=unless_auto(self.n_pairs),
            ridge=unless_auto(self.ridge),
            coupling=self.coupling,
            coupling_weight=unless_auto(self.coupling_weight),
            scale=self.scale,
        )

    def _note_input(
        self, features: Features, targets: Targets, rules: RulesLike
    ) -> None:
        """Keep what X and y were."""
        self.n_features_in_ = features.count
        if features.names is not None:
            self.feature_names_in_ = features.names
        self.classes_ = targets.classes
        self.label_names_ = targets.names
        self.multilabel_ = targets.multilabel
        self.given_rules_ = rules

    def _note_choice(self, result: FitResult) -> None:
        """Keep what leave-one-out chose, and its scores."""
        self.width_scale_ = result.width_scale
        self.rule_share_ = result.rule_share
        self.ridge_ = result.penalty.rho
        self.coupling_ = result.coupling
        self.coupling_weight_ = result.penalty.alpha
        self.loo_error_ = result.loo_error
        _warn_of_rules(result.system)

    def _keep(self, system: FuzzySystem, record: FitRecord) -> None:
        """Keep a system, and thresholds found on the honest scores of its record."""
        self.system_, missed = record.with_thresholds(system, self.threshold)
        self.fit_record_ = record
        self.loo_scores_ = record.loo_scores
        self.loo_rows_ = record.loo_rows
        if missed:
            goal, share = self.threshold
            warn(
                f"{goal.capitalize()} {share:g} cannot be reached for "
                f"{listing(missed, at_most=MAX_LISTED_LABELS)}: "
                "the thresholds of these labels come as near as possible.",
                stacklevel=3,
            )

    @property
    def plot(self) -> "ModelFigures":
        """Figures of this model, ``clf.plot.shapes()``: see `mltsk.explain.plot`."""
        from .explain.plot import ModelFigures

        return ModelFigures(self)

    def explain(self, X) -> Explanation:
        """Why samples get their scores: ``print(clf.explain(X[:1]))`` tells."""
        check_is_fitted(self)
        return explain(
            self.system_,
            self._samples(X),
            cells=self._cells(X),
            library="polars" if is_polars(X) else "pandas",
        )

    def _cells(self, X: TableLike) -> NDArray[np.object_] | None:
        """Cells of X in words, if it is a table and some features are words."""
        columns = self.system_.columns
        if columns is None or is_tensor(X) or not hasattr(X, "shape"):
            return None
        has_words = {"nominal", "ordinal"} & set(columns.kinds)
        return columns.words(X) if has_words else None

    def _unfitted_long(self) -> "MLTSKClassifier":
        """A classifier with the parameters of this one, without limits of its size."""
        parameters = {}
        for name, value in self.get_params(deep=False).items():
            if name in MLTSKClassifier._parameter_constraints:
                parameters[name] = value
        return MLTSKClassifier(**{**parameters, "max_statements": None})

    def __getstate__(self):
        state = super().__getstate__()  # the attributes themselves, not a copy
        if "fit_record_" in state:  # a model that travels holds no rows
            return {**state, "fit_record_": None}
        return state

    def _samples(self, X: TableLike) -> Matrix:
        """Samples in columns of numbers, dense where the model needs it."""
        X = read_samples(self, X, self.system_.columns, self.system_.used)
        if sparse.issparse(X) and self.system_.scaling is not None:
            return X.toarray()
        return X

    def _scores(self, X: TableLike) -> Array:
        """Scores (n_samples, n_labels), some rows at a time."""
        check_is_fitted(self)
        is_large = rows_at_once(X) is not None
        samples = X if is_large else self._samples(X)
        system = self.system_
        n_numbers = len(system.terms) + samples.shape[1] + len(system.centers)
        scores = []
        for rows in row_blocks(
            samples.shape[0],
            16 * n_numbers,
            like=samples if is_tensor(samples) else None,
        ):
            block = samples[rows]
            scores.append(system.scores(self._samples(block) if is_large else block))
        return scores[0] if len(scores) == 1 else namespace(*scores).concatenate(scores)

    def decision_function(self, X) -> Array:
        """Log-odds less those of the threshold, > 0 exactly where a label is predicted.

        Of shape (n_samples, n_labels), or (n_samples,) for binary y.
        """
        if is_dask(X):
            return lazily(self, X, "decision_function")
        scores = self._scores(X)
        xp = namespace(scores)
        distance = scores - put(self.system_.thresholds, scores)
        # log-odds that equal their threshold are predicted, and must not read as 0
        distance = xp.where(distance == 0, xp.finfo(distance.dtype).tiny, distance)
        return distance[:, 0] if self._is_binary else distance

    @property
    def _is_binary(self) -> bool:
        return not self.multilabel_ and len(self.classes_) == 2

    def predict(self, X) -> Any:
        """Labels as an indicator of y's shape, or classes if y was one-dimensional."""
        if is_dask(X):
            return lazily(self, X, "predict")
        distance = self.decision_function(X)
        if distance.ndim == 1:
            distance = distance[:, None]
        zeros = np.zeros(distance.shape[1])
        return predicted(distance, zeros, self.classes_, self.multilabel_)

    def predict_proba(self, X) -> Array:
        """Probabilities, calibrated on leave-one-out scores.

        For one-dimensional y they have a column per class.
        """
        if is_dask(X):
            return lazily(self, X, "predict_proba")
        scores = self._scores(X)
        if not self.multilabel_ and not self._is_binary:
            return self._class_probabilities(scores)
        xp = namespace(scores)
        least = xp.finfo(scores.dtype).eps
        positive = xp.clip(self.system_.probabilities(scores), least, 1 - least)
        return (
            positive if self.multilabel_ else xp.column_stack([1 - positive, positive])
        )

    def _class_probabilities(self, scores: Array) -> Array:
        """Probabilities of several classes; that which is predicted has the largest."""
        distance = scores - put(self.system_.thresholds, scores)
        shares = self.system_.probabilities(distance)
        return shares / shares.sum(axis=1, keepdims=True)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self.scale in ("auto", "unit", None)
        return tags


def _warn_of_rules(system: FuzzySystem) -> None:
    """Say which rules of the user match no sample, or all: nothing is learned there."""
    columns = system.columns
    members = system.members
    if columns is None or not columns.rules:
        return
    if members is None or members.regions is None:
        return
    matched_of = members.regions[-1, -len(columns.rules) :]
    for number, (matched, n_samples) in enumerate(matched_of, start=1):
        if matched in (0, n_samples):
            which = "every sample" if matched else "no sample"
            warn(
                f"Rule {number} matches {which}, so nothing was learned for it.",
                stacklevel=4,
            )
