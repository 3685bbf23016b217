"""Short rules for a classifier: on request in `fit`, or of a fitted one by `simplify`, which says what they cost.

The mathematics is in `mltsk.core.shorten` (IF-parts) and `mltsk.core.terms` (THEN-parts).
"""

from dataclasses import replace
from numbers import Integral

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from ..core.backend import asnumpy, is_tensor, put
from ..core.fuzzymap import FuzzyMap
from ..core.membership import firing_strengths
from ..core.shorten import conditions, distinct_rules, shorten_rules
from ..core.terms import shorten_consequents, term_counts
from ..exceptions import InputError
from ..metrics import average_precision_score
from ..paper.antecedents import Antecedents
from ..scale.torch import system_beside
from ..targets import Targets

LIMIT = [None, Interval(Integral, 1, None, closed="left")]


class ShortRules:
    """`simplify`, and what `fit` does when ``max_conditions`` or ``max_terms`` is given."""

    def simplify(self, X, y, *, max_conditions=5, max_terms=10, sample_weight=None, cv=5, random_state=0):
        """A new classifier with short rules that fire and score much as these do, and what that costs.

        Rules that do not differ are merged; each keeps its most distinct conditions, refitted to fire as before; each
        label keeps its largest terms in each rule, refitted to give the scores of the long rules.

        Parameters
        ----------
        X, y : as in `fit`
            The training data, or other rows of the same kind.
        max_conditions : int or None, default=5
            Conditions that a rule may have; None leaves the IF-parts alone.
        max_terms : int or None, default=10
            Terms that a label may have in a rule, not counting the intercept; None leaves the THEN-parts alone.
        sample_weight : array of shape (n_samples,), optional
        cv : int or None, default=5
            Shuffled folds of X, y by which the cost is measured: long and short rules are fitted on each. None leaves
            it out and saves the time.
        random_state : int, default=0
            Of the folds.

        Returns
        -------
        MLTSKClassifier
            Its ``simplification_`` is a dict of pairs (before, after): ``rules``, ``conditions`` (most in a rule),
            ``terms`` (most of a label in a rule), ``terms_per_label`` (mean over labels, all rules together), and
            ``AP``, average precision over the folds.

        Examples
        --------
        >>> from mltsk import MLTSKClassifier
        >>> from mltsk.datasets import make_multilabel_rules
        >>> data = make_multilabel_rules(n_samples=200, random_state=0)
        >>> clf = MLTSKClassifier(n_rules=4).fit(data.X, data.Y)
        >>> short = clf.simplify(data.X, data.Y, max_conditions=2, max_terms=3)
        >>> short.simplification_["conditions"], short.simplification_["terms"]
        ((10, 2), (10, 3))
        >>> before, after = short.simplification_["AP"]
        """
        check_is_fitted(self)
        limits = {"max_conditions": max_conditions, "max_terms": max_terms}
        short = _simplified(self, X, y, sample_weight, limits)
        if cv is not None:
            short.simplification_["AP"] = _average_precisions(self, X, y, sample_weight, limits, cv, random_state)
        return short

    def _short_rules(self, Z, w, rules):
        """Rules with no more conditions than allowed, those that do not differ merged; as they are without limits."""
        if self.max_conditions is None and self.max_terms is None:
            return rules
        rows, weights = _host(Z), _host(w)
        C, S = _merged(rows, weights, _host(rules.centers), _host(rules.widths))
        if self.max_conditions is not None:
            C, S = _merged(rows, weights, *shorten_rules(rows, weights, C, S, self.max_conditions))
        return replace(rules, centers=put(C, Z), widths=put(S, Z))

    def _short_consequents(self, G, P, w):
        if self.max_terms is None:
            return P
        on_host = FuzzyMap(_host(G.X), _host(G.M))
        return put(shorten_consequents(on_host, _host(P), _host(w), self.max_terms, rho=self.ridge_), G.X)

    def _count_parts(self, long_rules, long_P):
        """What was shortened, as pairs (before, after); None without limits."""
        if self.max_conditions is None and self.max_terms is None:
            self.simplification_ = None
            return
        K, L = self.coef_.shape[0], self.coef_.shape[2]
        terms = term_counts(_host(long_P), K), term_counts(self.coef_.reshape(-1, L), K)
        self.simplification_ = {
            "rules": (len(long_rules.centers), K),
            "conditions": tuple(int(conditions(S).sum(axis=1).max()) for S in (_host(long_rules.widths), self.widths_)),
            "terms": tuple(int(counts.max()) for counts in terms),
            "terms_per_label": tuple(float(counts.sum(axis=0).mean()) for counts in terms),
        }


def _host(x):
    """x as NumPy has it: the shortening is a small part of a fit and is done there."""
    return asnumpy(x) if is_tensor(x) else x


def _merged(Z, w, C, S):
    kept = distinct_rules(firing_strengths(Z, C, S), w)
    return C[kept], S[kept]


def _simplified(long, X, y, sample_weight, limits):
    """A classifier of the same parameters with limits, whose rules start from those of ``long``."""
    short = clone(long).set_params(**limits)
    short._validate_params()
    X, targets, w = short._validate_fit(X, y, sample_weight)
    if X.shape[1] != long.n_features_in_ or len(targets.names) != len(long.label_names_):
        raise InputError(
            f"These rules are for {long.n_features_in_} features and {len(long.label_names_)} labels, but the rows "
            f"have {X.shape[1]} and {len(targets.names)}: simplify needs rows like those of the fit."
        )
    _take_names(short, long)
    if hasattr(X, "toarray") and long.scaling_ is not None:
        X = X.toarray()  # fitted on dense features, so a row is dense by nature
    system, X = system_beside(long.system_, X)
    rules = Antecedents(system.centers, system.widths, long.width_scale_, n_iter=0, converged=True)
    return short._fit_scaled(X, system.scale(X), targets, w, system.scaling, rules)


def _take_names(short, long):
    """Names and categories that the long model has, whatever form X and y have this time."""
    for name in ("feature_names_in_", "label_names_", "categories_", "scale_"):
        if hasattr(long, name):
            setattr(short, name, getattr(long, name))


def _average_precisions(long, X, y, sample_weight, limits, cv, random_state):
    """Mean average precision of long and of short rules over shuffled folds."""
    Y, found = Targets.of(y).Y, []
    w = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight)
    for train, test in KFold(cv, shuffle=True, random_state=random_state).split(Y):
        rows, held_out = (_safe_indexing(X, train), _safe_indexing(y, train)), _safe_indexing(X, test)
        before = clone(long).fit(*rows, sample_weight=w[train])
        after = _simplified(before, *rows, w[train], limits)
        scores = [model._scores(held_out) for model in (before, after)]
        found.append([average_precision_score(Y[test], S, sample_weight=w[test]) for S in scores])
    return tuple(float(value) for value in np.mean(found, axis=0))
