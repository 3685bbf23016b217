"""The rule-mapped features of a fuzzy system as a scikit-learn transformer.   (9)-(11)"""

from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_feature_names_in, _check_sample_weight, check_is_fitted, validate_data

from ..core.arrays import unit_rows
from ..core.fuzzymap import FuzzyMap
from ..core.membership import rule_distinctness
from ..core.scaling import Scaling
from ..core.threads import blas_threads
from .antecedents import fit_rules, fit_scale, scaling_state, warn_if_collapsed


class FuzzyRuleFeatures(TransformerMixin, BaseEstimator):
    """Map samples to what a TSK fuzzy system sees: each rule's firing strength, times 1 and times every feature.

    Any linear model on these features is a TSK fuzzy system. G has K(D+1) columns: for one's own pipelines on small
    data; `MLTSKClassifier` never builds it.

    Parameters
    ----------
    n_rules : int, default=20
    width_scale, fuzzifier, scale, antecedents, init, random_state
        As in `MLTSKClassifier`.
    linear : bool, default=True
        With False, firing strengths alone, (n_samples, n_rules): a soft clustering as features.

    Attributes
    ----------
    centers_, widths_ : arrays of shape (n_rules, n_features)
    rule_distinctness_ : float
        0 = all rules the same, 1 = fully distinct.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> FuzzyRuleFeatures(n_rules=2).fit(X).get_feature_names_out(["size"]).tolist()
    ['rule0', 'rule0*size', 'rule1', 'rule1*size']
    """

    _parameter_constraints = {  # noqa: RUF012 - scikit-learn's name and form
        "n_rules": [Interval(Integral, 1, None, closed="left")],
        "width_scale": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "fuzzifier": [Interval(Real, 1, None, closed="left")],
        "scale": [StrOptions({"auto", "quantile", "standard", "minmax", "unit"}), None],
        "antecedents": [StrOptions({"distinct", "paper"})],
        "init": [StrOptions({"spread", "random"}), "array-like"],
        "random_state": ["random_state"],
        "linear": ["boolean"],
    }

    def __init__(
        self,
        n_rules=20,
        *,
        width_scale="auto",
        fuzzifier=1.0,
        scale="auto",
        antecedents="distinct",
        init="spread",
        random_state=None,
        linear=True,
    ):
        self.n_rules = n_rules
        self.width_scale = width_scale
        self.fuzzifier = fuzzifier
        self.scale = scale
        self.antecedents = antecedents
        self.init = init
        self.random_state = random_state
        self.linear = linear

    def fit(self, X, y=None, sample_weight=None):
        """Find the rules; y is not used."""
        self._validate_params()
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2)
        w = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
        X, w = (X, w) if np.all(w > 0) else (X[np.flatnonzero(w > 0)], w[w > 0])
        self.scale_, scaling, Z = fit_scale(X, w, self.scale)
        with blas_threads(2.0 * Z.shape[0] * Z.shape[1] * self.n_rules):
            rules = fit_rules(self, Z, w)
            M = FuzzyMap.of(Z, rules.centers, rules.widths, underflow=self._underflow).M
        self.centers_, self.widths_, self.scaling_ = rules.centers, rules.widths, scaling_state(scaling)
        self.rule_distinctness_ = rule_distinctness(M, w)
        warn_if_collapsed(self)
        return self

    @property
    def _underflow(self):
        return "authors" if self.antecedents == "paper" else "softmax"

    def transform(self, X):
        """G, (n_samples, n_rules * (n_features + 1)), bias first in each rule; firing strengths if not ``linear``."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        if self.scaling_ is not None:
            X = Scaling(**self.scaling_).apply(X.toarray() if sparse.issparse(X) else X)
        elif self.scale_ == "unit":
            X = unit_rows(X)
        G = FuzzyMap.of(X, self.centers_, self.widths_, underflow=self._underflow)
        return G.rows() if self.linear else G.M

    def get_feature_names_out(self, input_features=None):
        """``rule0``, ``rule0*NAME``, …, in the order of the columns."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        columns = [""] + [f"*{name}" for name in names] if self.linear else [""]
        return np.asarray([f"rule{k}{c}" for k in range(len(self.centers_)) for c in columns], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.scale in ("auto", "unit", None)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
