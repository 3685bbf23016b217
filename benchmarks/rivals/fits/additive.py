"""Additive models. Size is a step of a shape or a term, per label."""

from typing import Any

import numpy as np

from . import SHORT, CannotFit
from .fold import Fold
from .several import AllAtOnce, PerLabel

QUICK = {"outer_bags": 2, "max_bins": 32, "n_jobs": 1}


def ebm(fold: Fold) -> PerLabel:
    """Explainable boosting machines with their pairs."""
    from interpret.glassbox import ExplainableBoostingClassifier

    X, X_test = fold.own_form
    return PerLabel(
        X,
        X_test,
        fold.Y,
        lambda _: ExplainableBoostingClassifier(n_jobs=1, random_state=0),
        steps_of_ebm,
    )


def steps_of_ebm(model: Any) -> int:
    """Steps between bins of curves, cells of pairs."""
    steps = 0
    for scores in model.term_scores_:
        inner = np.asarray(scores)[(slice(1, -1),) * np.ndim(scores)]
        steps += inner.size - 1
    return steps


def quick_ebm(fold: Fold) -> PerLabel:
    """Without pairs, with two bags of fourteen: a tenth of the time."""
    from interpret.glassbox import ExplainableBoostingClassifier

    X, X_test = fold.own_form
    return PerLabel(
        X,
        X_test,
        fold.Y,
        lambda _: ExplainableBoostingClassifier(
            interactions=0, random_state=0, **QUICK
        ),
        steps_of_ebm,
    )


def multi_task(fold: Fold) -> AllAtOnce:
    """Curves of machines for every label, weighed for each of them."""
    from imodels.algebraic.gam_multitask import MultiTaskGAMClassifier

    if not fold.has_all_labels:
        raise CannotFit("refuses labels that were not observed")
    X, X_test = fold.dense
    model = MultiTaskGAMClassifier(ebm_kwargs=QUICK, interactions=0, random_state=0)
    return AllAtOnce(X, X_test, fold.Y, model, steps_of_all)


def steps_of_all(model: Any) -> int:
    return sum(steps_of_ebm(machine) for machine in model.ebms_)


class Aplr:
    """APLR names its classes by words and takes numbers alone.

    It averages models of five inner folds, each of which has so many terms as it may.
    With ``max_terms`` there is one model: four fifths of the rows are learned from, and
    one fifth says when to stop.
    """

    def __init__(self, max_terms: int = 0) -> None:
        self.max_terms = max_terms

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        from aplr import APLRClassifier

        self.model = APLRClassifier(n_jobs=1, random_state=0, max_terms=self.max_terms)
        options = {}
        if self.max_terms:
            roles = np.where(np.arange(len(y)) % 5 == 4, -1.0, 1.0)
            options["cv_observations"] = roles[:, None]
        self.model.fit(X, np.where(y == 1, "yes", "no").tolist(), **options)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        chances = np.asarray(self.model.predict_class_probabilities(X))
        places = [self.model.get_categories().index(word) for word in ("no", "yes")]
        return chances[:, places]

    def n_terms(self) -> int:
        """Terms beside the intercept, which comes first."""
        coefficients = self.model.get_logit_model("yes").get_term_coefficients()
        return int(np.count_nonzero(coefficients[1:]))


def aplr(fold: Fold) -> PerLabel:
    X, X_test = fold.dense
    return PerLabel(X, X_test, fold.Y, lambda _: Aplr(), Aplr.n_terms)


def short_aplr(fold: Fold) -> PerLabel:
    X, X_test = fold.dense
    return PerLabel(X, X_test, fold.Y, lambda _: Aplr(SHORT), Aplr.n_terms)
