"""ML-TSK FS as a scikit-learn classifier: validate, call the mathematics, store.

The estimator keeps plain arrays only, so that pickle and skops files hold no code. What it fits is described in
`mltsk.core.fit` (the default problem) and `mltsk.paper.solvers.algorithm1` (what the paper's authors run).
"""

from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..core.additive import ANTECEDENT_ROWS
from ..core.arrays import spread_rows
from ..core.backend import asnumpy, cast, is_tensor, namespace, put
from ..core.coupling import CONVEX
from ..core.fuzzymap import FuzzyMap
from ..core.membership import rule_distinctness
from ..core.scaling import Scaling, column_quantiles
from ..core.system import FuzzySystem
from ..core.threads import blas_threads
from ..scale.dask import is_dask
from ..scale.torch import moves_arrays, system_beside, to_device
from ..targets import Targets, predicted, probabilities
from .antecedents import fit_rules, fit_scale, prototypes, scaled, scaling_state, warn_if_collapsed
from .consequents import fit_then_parts
from .on_dask import fit_on_dask, waits_on_dask
from .reading import RuleReading
from .shortening import LIMIT, ShortRules
from .streams import Streams
from .tensors import place, read_fit, read_rows


class MLTSKClassifier(RuleReading, ShortRules, Streams, ClassifierMixin, BaseEstimator):
    """Multi-label Takagi-Sugeno-Kang fuzzy system.

    K rules share their IF-parts, Gaussian sets found by clustering; each label has its own linear THEN-part in every
    rule. Consequents minimise squared error plus a ridge, an L1 penalty that makes them sparse and a term that lets
    correlated labels share. With the defaults nothing needs tuning: weights come from closed-form leave-one-out.

    Parameters
    ----------
    n_rules : int, default=20
        Fewer rules are easier to read; docs/decisions.md shows what a halving costs in average precision.
    width_scale : float or "auto", default="auto"
        h: how far a rule reaches, in units of the mean squared distance to the nearest centre. "auto" shares a sample
        out among two fifths of the rules. In the paper's antecedents, the factor of the variance in (4), 1 for "auto".
    correlation_weight : float or "loo", default="loo"
        α: weight of the label coupling; "loo" finds it by leave-one-out together with the ridge weight.
    l1_weight : float or "auto", default="auto"
        β: weight of the L1 penalty; "auto" takes it from the noise, at a cost of about 0.005 average precision at most.
    ridge : float or "loo", default="loo"
        ρ: weight of the ridge, which the paper's problem lacks.
    init_ridge : float, default=None
        γ of the ridge start (36). The default problem is solved to its optimum, so it changes the time, not the result.
    threshold : float or array of shape (n_labels,), default=0.5
        τ: a label is predicted when its score reaches this. `MultilabelThreshold` tunes it.
    coupling : {"laplacian", "signed", "shift", "precision", "ridge", "paper"} or None, default="precision"
        How correlated labels pull at each other's consequents, see `mltsk.core.coupling`. "paper" is not convex.
    fuzzifier : float, default=1.0
        m of fuzzy c-means; 1 is k-means. The paper uses 2, which puts all rules in one place in high dimension.
    scale : {"auto", "quantile", "standard", "minmax", "unit"} or None, default="auto"
        Scale on which rules are found. "quantile" is the percentile scale; "unit" gives rows unit length and leaves
        features alone; "auto" is "quantile" for dense and "unit" for sparse input. Rules print in the caller's units.
    antecedents : {"distinct", "paper"}, default="distinct"
        "distinct" gives all rules one width that keeps them apart; "paper" takes widths from variances (4) and lets
        firing strengths underflow to zero as the authors' program does.
    solver : {"auto", "fista", "admm", "algorithm1"}, default="auto"
        "fista" (which is "auto") and "admm" reach the optimum; "algorithm1" is the authors' early-stopped iteration.
    max_iter : int, default=1000
        Steps of the solver at most.
    tol : float, default=1e-4
        Relative duality gap at which the solver stops; for "algorithm1" the authors' margin.
    init : {"spread", "random"} or array of shape (n_rules, n_features), default="spread"
        Start of the clustering; "spread" is deterministic. An array is on the scale of the rules.
    device : "cuda", "cuda:N", "cpu" or None, default=None
        Where arrays are computed with; "cuda" needs torch, and NumPy arrays go in and come out. Tensors are computed
        with where they lie and give tensors. What is learned is stored as NumPy arrays in any case.
    random_state : int, RandomState or None, default=None
        For ``init="random"``.
    max_conditions, max_terms : int or None, default=None
        Conditions that a rule, and terms that a label in a rule may have: short rules, see `simplify`.
    working_memory : float or None, default=None
        MB that copies of rows may take in a fit or a prediction; None is scikit-learn's setting of that name, 1024.
        Larger arrays, in memory or mapped from a file, dense or CSR, are passed over in blocks, with the same result.
    forgetting : float, default=0.0
        Of `partial_fit`: 0 fixes the IF-parts at its first call and counts all rows alike; a share above 0 fades what
        was seen before each call by it, and moves centres and widths along with the stream.

    Attributes
    ----------
    centers_, widths_ : arrays of shape (n_rules, n_features)
        IF-parts, on the scale of the rules.
    coef_ : array of shape (n_rules, n_features + 1, n_labels)
        THEN-parts on that scale, intercept first.
    coupling_ : array of shape (n_labels, n_labels)
    rule_weights_ : array of shape (n_rules,)
        Share of the training data that each rule governs.
    rule_distinctness_ : float
        0 = all rules the same, 1 = fully distinct: see `mltsk.paper.antecedents.rule_distinctness`.
    width_scale_, ridge_, correlation_weight_, l1_weight_ : float
        The width scale and the weights used.
    certificate_ : float
        Relative duality gap reached; NaN for "algorithm1", which has none.
    simplification_ : dict or None
        What short rules have before and after, see `simplify`.
    label_names_ : tuple of str
    classes_ : array
    n_iter_ : int
    n_features_in_, feature_names_in_

    Notes
    -----
    ``decision_function`` is score - threshold, > 0 exactly where a label is predicted; ``predict_proba`` is an
    uncalibrated monotone map of it into (0, 1) with 0.5 at the threshold.

    References
    ----------
    Q. Lou, Z. Deng, Z. Xiao, K.-S. Choi, S. Wang, "Multi-Label Takagi-Sugeno-Kang Fuzzy System", IEEE Transactions on
    Fuzzy Systems 30(9), 2022.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=200, random_state=0)
    >>> clf = MLTSKClassifier(n_rules=3).fit(data.X, data.Y)
    >>> clf.predict(data.X[:2]).shape
    (2, 5)
    """

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's name and form
        "n_rules": [Interval(Integral, 1, None, closed="left")],
        "width_scale": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "correlation_weight": [StrOptions({"loo"}), Interval(Real, 0, None, closed="left")],
        "l1_weight": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "ridge": [StrOptions({"loo"}), Interval(Real, 0, None, closed="left")],
        "init_ridge": [None, Interval(Real, 0, None, closed="neither")],
        "threshold": [Real, "array-like"],
        "coupling": [StrOptions({*CONVEX, "paper"}), None],
        "fuzzifier": [Interval(Real, 1, None, closed="left")],
        "scale": [StrOptions({"auto", "quantile", "standard", "minmax", "unit"}), None],
        "antecedents": [StrOptions({"distinct", "paper"})],
        "solver": [StrOptions({"auto", "fista", "admm", "algorithm1"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"spread", "random"}), "array-like"],
        "device": [str, None],
        "random_state": ["random_state"],
        "working_memory": [None, Interval(Real, 0, None, closed="neither")],
        "forgetting": [Interval(Real, 0, 1, closed="left")],
        "max_conditions": LIMIT,
        "max_terms": LIMIT,
    }

    def __init__(
        self,
        n_rules=20,
        *,
        width_scale="auto",
        correlation_weight="loo",
        l1_weight="auto",
        ridge="loo",
        init_ridge=None,
        threshold=0.5,
        coupling="precision",
        fuzzifier=1.0,
        scale="auto",
        antecedents="distinct",
        solver="auto",
        max_iter=1000,
        tol=1e-4,
        init="spread",
        device=None,
        random_state=None,
        max_conditions=None,
        max_terms=None,
        working_memory=None,
        forgetting=0.0,
    ):
        self.n_rules = n_rules
        self.width_scale = width_scale
        self.correlation_weight = correlation_weight
        self.l1_weight = l1_weight
        self.ridge = ridge
        self.init_ridge = init_ridge
        self.threshold = threshold
        self.coupling = coupling
        self.fuzzifier = fuzzifier
        self.scale = scale
        self.antecedents = antecedents
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.device = device
        self.random_state = random_state
        self.max_conditions = max_conditions
        self.max_terms = max_terms
        self.working_memory = working_memory
        self.forgetting = forgetting

    def fit(self, X, y, sample_weight=None):
        """Find the rules and their consequents.

        Parameters
        ----------
        X : array, data frame, CSR, torch tensor, Dask array or frame of shape (n_samples, n_features)
        y : indicator of shape (n_samples, n_labels), or one-dimensional classes
            A data frame's columns name the labels. With a tensor X, a tensor beside it, like the weights.
        sample_weight : array of shape (n_samples,), optional
            0 removes a row, 2 counts it twice.
        """
        self._validate_params()
        self.__dict__.pop("stream_", None)
        if is_dask(X):
            return fit_on_dask(self, X, y, sample_weight)
        if self._needs_blocks(X) and self._can_add_up():
            return self._fit_in_blocks(X, y, sample_weight)
        X, targets, w = self._validate_fit(X, y, sample_weight)
        return self._fit_rows(X, targets, w)

    def _fit_rows(self, X, targets, w):
        self.scale_, scaling, rules, Z = self._find_rules(X, w)
        Z = Z if Z.shape[0] == X.shape[0] else scaled(X, self.scale_, scaling)
        return self._fit_scaled(X, Z, targets, w, scaling, rules)

    def _find_rules(self, X, w):
        """Scale, IF-parts and the scaled rows behind them: all, or evenly spread ones where those are enough."""
        rows = spread_rows(X.shape[0], X.shape[0] if self.antecedents == "paper" else ANTECEDENT_ROWS)
        scale, scaling, Z = fit_scale(X[rows], w[rows], self.scale)
        with self._threads(Z):
            return scale, scaling, fit_rules(self, Z, w[rows]), Z

    def _threads(self, Z):
        return blas_threads(2.0 * Z.shape[0] * (Z.shape[1] + 1) ** 2 * min(self.n_rules, Z.shape[0]) ** 2)

    def _fit_scaled(self, X, Z, targets, w, scaling, found):
        """The rest of a fit once samples are scaled (Z) and rules found."""
        with self._threads(Z):
            rules = self._short_rules(Z, w, found)
            G = FuzzyMap.of(Z, rules.centers, rules.widths, underflow=self._underflow)
            long_P = fit_then_parts(self, G, targets.Y, w)
            self._store(X, targets, w, scaling, rules, G, self._short_consequents(G, long_P, w))
        self._count_parts(found, long_P)
        return self

    def _validate_fit(self, X, y, sample_weight):
        if is_tensor(X):
            X, targets, w = read_fit(self, X, y, sample_weight)
        else:
            X, targets, w = place(self.device, *self._validate_arrays(X, y, sample_weight))
        if not targets.multilabel and len(targets.classes) < 2:
            raise ValueError(
                f"Classifier can't train when only one class is present: y holds only {targets.classes[0]!r}."
            )
        if not (w > 0).any():
            raise ValueError("sample_weight is 0 for every row: nothing is left to fit")
        self._set_targets(targets)
        if (w > 0).all():
            return X, targets, w
        keep = namespace(w).flatnonzero(w > 0)
        return X[keep], targets.take(targets.Y[keep]), w[keep]

    def _validate_arrays(self, X, y, sample_weight):
        checks = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_min_samples": 2}
        if hasattr(y, "columns") or sparse.issparse(y):  # names and sparse labels are read by Targets
            X = validate_data(self, X, **checks)
        else:
            X, y = validate_data(self, X, y, multi_output=True, **checks)
        targets = Targets.of(y, dtype=X.dtype)
        if targets.Y.shape[0] != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows but y has {targets.Y.shape[0]}")
        return X, targets, _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)

    def _validate_rows(self, X):
        if is_tensor(X):
            return read_rows(self, X, reset=False)
        return validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)

    def _set_targets(self, targets):
        self.classes_ = targets.classes
        self.label_names_ = targets.names
        self.multilabel_ = targets.multilabel
        shape = (targets.Y.shape[1],)
        thresholds = np.asarray(self.threshold, dtype=np.float64)
        if thresholds.shape not in ((), shape):
            raise ValueError(f"threshold must be a number or one per label, {shape}, got shape {thresholds.shape}")
        self.thresholds_ = np.broadcast_to(thresholds, shape).copy()

    @property
    def _underflow(self):
        return "authors" if self.antecedents == "paper" else "softmax"

    def _store(self, X, targets, w, scaling, rules, G, P):
        self.centers_, self.widths_, self.width_scale_ = *map(asnumpy, (rules.centers, rules.widths)), rules.width_scale
        P = asnumpy(cast(P, X.dtype))
        self.coef_ = np.ascontiguousarray(P.reshape(len(rules.centers), -1, targets.Y.shape[1]))
        self.scaling_ = scaling_state(scaling)
        fired = asnumpy(w @ G.M)
        self.rule_weights_ = fired / max(float(fired.sum()), np.finfo(np.float64).tiny)
        self.prototypes_ = prototypes(X, G.M * w[:, None], self.centers_, scaling)
        rows = spread_rows(X.shape[0], ANTECEDENT_ROWS)
        self.quantiles_ = None if sparse.issparse(X) else column_quantiles(X[rows], np.linspace(0, 1, 21))
        self.rule_distinctness_ = rule_distinctness(G.M[rows], w[rows])
        warn_if_collapsed(self)

    @property
    def system_(self):
        """The fitted fuzzy system as plain data, `mltsk.core.system.FuzzySystem`."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return FuzzySystem(
            centers=self.centers_,
            widths=self.widths_,
            coef=self.coef_,
            scaling=None if self.scaling_ is None else Scaling(**self.scaling_),
            unit_length=self.scale_ == "unit",
            underflow=self._underflow,
            prototypes=self.prototypes_,
            rule_weights=self.rule_weights_,
            thresholds=self.thresholds_,
            feature_names=tuple(names) if names is not None else tuple(f"x{d}" for d in range(self.n_features_in_)),
            label_names=self.label_names_,
            quantiles=self.quantiles_,
        )

    def _scores(self, X):
        check_is_fitted(self)
        if self._needs_blocks(X):
            return np.vstack([self._scores(X[rows]) for rows in self._blocks_of(X)])
        X = self._validate_rows(X)
        if sparse.issparse(X) and self.scaling_ is not None:
            X = X.toarray()  # fitted on dense features, so a row is dense by nature
        if moves_arrays(self.device) and not is_tensor(X):
            return asnumpy(self._scores_beside(*to_device(self.device, X)))
        with blas_threads(2.0 * X.shape[0] * self.coef_.size):
            return self._scores_beside(X)

    def _scores_beside(self, X):
        system, X = system_beside(self.system_, X)
        return system.scores(X)

    @waits_on_dask
    def decision_function(self, X):
        """Score minus threshold, (n_samples, n_labels), > 0 exactly where a label is predicted; (n,) for binary y."""
        scores = self._scores(X)
        xp, distance = namespace(scores), scores - put(self.thresholds_.astype(self.coef_.dtype), scores)
        # a score that equals its threshold is predicted (the paper rounds 0.5 up), so it must not read as 0
        distance = xp.where(distance == 0, xp.finfo(distance.dtype).tiny, distance)
        return distance[:, 0] if not self.multilabel_ and len(self.classes_) == 2 else distance

    @waits_on_dask
    def predict(self, X):
        """Labels as an indicator of y's shape, or classes if y was one-dimensional."""
        distance = self.decision_function(X)
        distance = distance if distance.ndim == 2 else distance[:, None]
        return predicted(distance, np.zeros(distance.shape[1]), self.classes_, self.multilabel_)

    @waits_on_dask
    def predict_proba(self, X):
        """Uncalibrated probabilities strictly in (0, 1): a logistic curve of the decision function, 0.5 at 0."""
        return probabilities(self.decision_function(X), self.classes_, self.multilabel_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = self.scale in ("auto", "unit", None)
        return tags
