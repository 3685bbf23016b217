"""What a fitted classifier says about itself: its rules, and why it gave a label. A mixin over `system_`."""

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from ..explain import explain, rule_base


class RuleReading:
    """`rules_` and `explain` for an estimator with a ``system_``.

    An optional attribute ``categories_`` names the categories of nominal features: a dict of feature name to either
    the categories, as `mltsk.datasets.Dataset.categories` has them, or a dict of number to category.
    """

    @property
    def rules_(self):
        """The rules as data, a `mltsk.explain.RuleBase`: ``print(clf.rules_)`` reads them out."""
        return rule_base(self.system_, categories=self._category_names())

    def explain(self, X):
        """Why samples get their scores, a `mltsk.explain.Explanation`: ``print(clf.explain(X[:1]))`` tells.

        Parameters
        ----------
        X : array, data frame or CSR of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        if sparse.issparse(X) and self.scaling_ is not None:
            X = X.toarray()  # fitted on dense features, so a row is dense by nature
        return explain(self.system_, X, categories=self._category_names())

    def _category_names(self):
        from ..datasets.dataset import category_values  # a quarter of a second that only nominal features need

        return {
            feature: names
            if hasattr(names, "items")
            else dict(zip(category_values(names).tolist(), names, strict=True))
            for feature, names in getattr(self, "categories_", {}).items()
        }
