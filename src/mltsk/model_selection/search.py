"""scikit-learn's cross-validation and searches, for labels that were not all observed.

scikit-learn looks at y before it makes folds of a number, and refuses NaN there
(`check_cv`, scikit-learn 1.9): no estimator can help it. What is called here as there
makes stratified folds instead, of labels that were not all observed, too. Its own
metrics refuse NaN as well, which `cross_val_score` turns into scores of NaN: here names
of scorers are those of `mltsk.metrics.get_scorer`.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import sklearn.model_selection as of_sklearn
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer_names

from ..core.arrays import dense
from ..exceptions import InputError
from ..metrics.scorers import SCORERS, get_scorer
from ..targets import absent_cells
from .folds import IterativeStratification

# What counts the same as scikit-learn's, and takes labels that were not observed.
SCORERS_IN_PLACE = {
    "accuracy": "subset_accuracy",
    "roc_auc": "macro_roc_auc",
    "f1_macro": "macro_f1",
    "f1_micro": "micro_f1",
    "f1_samples": "example_f1",
}


def folds_of(cv: Any) -> Any:
    """Stratified folds for a number, or for None, which are five; else ``cv`` itself.

    Examples
    --------
    >>> folds_of(3)
    IterativeStratification(n_splits=3, order=1, random_state=0)
    """
    if cv is None:
        return IterativeStratification()
    is_number = isinstance(cv, int) and not isinstance(cv, bool)
    return IterativeStratification(cv) if is_number else cv


def scoring_of(scoring: Any, y: Any) -> Any:
    """What scikit-learn takes for ``scoring``: names become scorers that take NaN.

    Lists of names become scorers by name. Metrics of scikit-learn's that we have no
    scorer of are left to it, unless y has labels that were not observed.

    Examples
    --------
    >>> scoring_of(["macro_f1", "AP of gout"], y=[[1, 0]])["AP of gout"]
    MultilabelScorer(label='gout', metric='AP')
    """
    if isinstance(scoring, str):
        return _scorer_of(scoring, y)
    if isinstance(scoring, Mapping):
        return {name: scoring_of(scorer, y) for name, scorer in scoring.items()}
    if isinstance(scoring, list | tuple | set):
        return {name: scoring_of(name, y) for name in scoring}
    return scoring


def _scorer_of(name: str, y: Any) -> Any:
    """The scorer of a name, or the name where only scikit-learn knows it."""
    cells = np.asarray(dense(y), dtype=object)
    if name not in get_scorer_names() or name in SCORERS:
        if cells.ndim == 1 and y is not None:
            raise InputError(
                f"scoring={name!r} is about a table of labels, but y is 1-d: pass y as "
                "a table of one column, or take a scorer of scikit-learn's, such as "
                "'roc_auc'."
            )
        return get_scorer(name)
    if not absent_cells(cells).any():
        return name
    instead = SCORERS_IN_PLACE.get(name)
    advice = f"take {instead!r}" if instead else "take a scorer of mltsk.metrics"
    raise InputError(
        f"scoring={name!r} is scikit-learn's, which cannot count labels that were not "
        f"observed (NaN in y): {advice}, or one label, such as 'AUC of edema'."
    )


def cross_val_score(
    estimator: BaseEstimator,
    X: Any,
    y: Any = None,
    *,
    cv: Any = None,
    scoring: Any = None,
    **options: Any,
) -> Any:
    """scikit-learn's `cross_val_score`, for labels that were not all observed.

    Parameters
    ----------
    estimator, X, y, **options
        As in scikit-learn; NaN in y is a label that was not observed.
    cv : int, splitter, folds or None, default=None
        A number stands for an `IterativeStratification` of so many folds, None for
        five.
    scoring : str, callable or None, default=None
        A name is one of `get_scorer`, such as "macro_roc_auc" or "AP of edema", before
        it is one of scikit-learn's: "average_precision" is that of `mltsk.metrics`.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier, read_table
    >>> table = read_table("pbc")
    >>> scores = cross_val_score(MLTSKClassifier(n_rules=0), table.X, table.Y, cv=3)
    >>> len(scores)
    3
    """
    scorer = scoring_of(scoring, y)
    return of_sklearn.cross_val_score(
        estimator, X, y, cv=folds_of(cv), scoring=scorer, **options
    )


def cross_validate(
    estimator: BaseEstimator,
    X: Any,
    y: Any = None,
    *,
    cv: Any = None,
    scoring: Any = None,
    **options: Any,
) -> dict[str, Any]:
    """scikit-learn's `cross_validate`, for labels that were not all observed.

    Parameters
    ----------
    estimator, X, y, **options
        As in scikit-learn; NaN in y is a label that was not observed.
    cv : int, splitter, folds or None, default=None
        As in `cross_val_score`.
    scoring : str, list, dict, callable or None, default=None
        Names as in `cross_val_score`.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier, read_table
    >>> table = read_table("pbc")
    >>> results = cross_validate(MLTSKClassifier(n_rules=0), table.X, table.Y, cv=3)
    >>> len(results["test_score"])
    3
    """
    scorers = scoring_of(scoring, y)
    return of_sklearn.cross_validate(
        estimator, X, y, cv=folds_of(cv), scoring=scorers, **options
    )


class _Search:
    """A search whose folds and scorers take labels that were not all observed."""

    cv: Any
    scoring: Any

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """As in scikit-learn."""
        given = self.cv, self.scoring
        self.cv = folds_of(self.cv)
        self.scoring = scoring_of(self.scoring, y)
        try:
            super().fit(X, y, **params)  # type: ignore[misc]
        finally:
            self.cv, self.scoring = given
        return self


class GridSearchCV(_Search, of_sklearn.GridSearchCV):
    """scikit-learn's `GridSearchCV`, for labels that were not all observed.

    Its parameters and attributes are those of scikit-learn's; ``cv`` and names in
    ``scoring`` are as in `cross_val_score`.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier, read_table
    >>> table = read_table("pbc")
    >>> search = GridSearchCV(MLTSKClassifier(n_rules=0), {"ridge": [1.0, 10.0]}, cv=3)
    >>> search.fit(table.X, table.Y).n_splits_
    3
    """


class RandomizedSearchCV(_Search, of_sklearn.RandomizedSearchCV):
    """scikit-learn's `RandomizedSearchCV`, for labels that were not all observed.

    As `GridSearchCV` is.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier, read_table
    >>> table = read_table("pbc")
    >>> wishes = {"ridge": [1.0, 10.0]}
    >>> search = RandomizedSearchCV(MLTSKClassifier(n_rules=0), wishes, n_iter=1, cv=3)
    >>> search.fit(table.X, table.Y).n_splits_
    3
    """
