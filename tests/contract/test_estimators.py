"""Scikit-learn's own checks, all of them, on every estimator and on the presets that users reach for."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_classifier_multioutput, parametrize_with_checks

from mltsk import FuzzyRuleFeatures, MLTSKClassifier, MLTSKClassifierCV

ESTIMATORS = [
    MLTSKClassifier(n_rules=3),
    MLTSKClassifier(n_rules=2, scale="standard", coupling="precision", solver="admm"),
    MLTSKClassifier.paper(n_rules=2),
    MLTSKClassifier(n_rules=3, max_conditions=2, max_terms=1),
    FuzzyRuleFeatures(n_rules=3),
    MLTSKClassifierCV({"n_rules": [1, 2]}, cv=2),
]


@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings(
    "ignore::mltsk.exceptions.RuleCollapseWarning",  # toy data of the checks: few distinct rows, equal features
    "ignore::mltsk.exceptions.NonConvexWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_multioutput_check():
    check_classifier_multioutput("MLTSKClassifier", MLTSKClassifier(n_rules=3))


def test_state_is_plain_arrays_and_strings():
    X = np.random.default_rng(0).normal(size=(30, 4))
    clf = MLTSKClassifier(n_rules=2).fit(X, (X[:, :3] > 0).astype(int))
    allowed = (np.ndarray, str, int, float, bool, tuple, dict, type(None))
    assert all(isinstance(value, allowed) for value in vars(clf).values())
