"""What methods share whose fitted model is a set of rules in the form of (14).

Symbols: X (N, D) rows, M (N, K) firing strengths, P (K(D+1), L) consequents, w (N,)
weights of rows.
"""

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...core.arrays import (
    Array,
    spread_rows,
)
from ...core.membership import Firing, rule_distinctness
from ...core.scales import Scaling, column_quantiles
from ...core.terms import Terms
from ...core.threads import blas_threads
from ...explain import FuzzyRules, explain, fuzzy_rules
from ...fitted import FittedAttributes
from ...rows.read import feature_names
from ...system import FuzzySystem
from ..antecedents import unfired_share
from .base import MultilabelMethod

if TYPE_CHECKING:
    from ...explain.plot_fuzzy import FuzzyFigures

# Rows, evenly spread, from which percentiles and the distinctness of rules are taken.
MAX_SUMMARY_ROWS = 20_000


class PapersRules(FittedAttributes, MultilabelMethod):
    """A method whose model is Gaussians in IF-parts and a line per label in THEN-parts.

    A subclass fits them and calls ``_keep_rules``; rules, figures, explanations, scores
    and pages follow. ``_strict`` says whether a label needs more than its threshold.
    """

    _sparse: ClassVar[str | bool] = False
    _strict: ClassVar[bool] = False

    @property
    def _cut(self):  # type: ignore[override]
        return self.thresholds_

    def _keep_rules(
        self,
        X: Array,
        w: Array,
        *,
        scaling: Scaling,
        centers: Array,
        widths: Array,
        M: Array,
        P: Array,
        thresholds: Array,
        firing: Firing,
    ) -> None:
        """Store the fitted system, and what helps to read it."""
        n_labels = P.shape[1]
        fired = w @ M
        rows = spread_rows(len(X), MAX_SUMMARY_ROWS)
        self.unfired_share_ = unfired_share(M, w)
        self.rule_distinctness_ = rule_distinctness(M[rows], w[rows])
        self.system_ = FuzzySystem(
            feature_names=feature_names(self),
            label_names=tuple(self.label_names_),
            scale_name="minmax",
            scaling=scaling,
            intercept=np.zeros(n_labels),
            terms=Terms.none(),
            term_coef=np.zeros((0, n_labels)),
            centers=centers,
            widths=widths,
            coef=np.ascontiguousarray(P.reshape(len(centers), -1, n_labels)),
            prototypes=scaling.apply(centers, inverse=True),
            rule_weights=fired / max(float(fired.sum()), np.finfo(np.float64).tiny),
            thresholds=thresholds,
            quantiles=column_quantiles(X[rows], np.linspace(0, 1, 21)),
            firing=firing,
        )

    @property
    def rules_(self) -> FuzzyRules:  # type: ignore[override]
        """The rules in the form of (14), in the caller's units: ``print(clf.rules_)``.

        ``clf.rules_.on_paper_scale`` has features from 0 to 1.
        """
        check_is_fitted(self)
        return fuzzy_rules(self.system_, strict=self._strict)

    @property
    def plot(self) -> "FuzzyFigures":
        """Figures of this model: ``clf.plot.rules()`` draws memberships and lines."""
        from ...explain.plot_fuzzy import FuzzyFigures

        check_is_fitted(self)
        return FuzzyFigures(self)

    def explain(self, X):
        """Why samples get their scores: ``print(clf.explain(X[:1]))`` tells.

        Returned is a `mltsk.explain.Explanation`.
        """
        check_is_fitted(self)
        return explain(self.system_, self._check_input(X))

    def _scores(self, X):
        with blas_threads(2.0 * X.shape[0] * self.coef_.size):
            return self.system_.scores(X)
