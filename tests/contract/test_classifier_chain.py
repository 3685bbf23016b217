"""Scikit-learn's checks on CC over ε-insensitive TSK."""

import pytest
from sklearn.utils.estimator_checks import check_classifier_multioutput, parametrize_with_checks

from mltsk.baselines.classifier_chain import ClassifierChainTSK


@parametrize_with_checks([ClassifierChainTSK(n_rules=3)])
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")  # toy data with few distinct rows
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_multioutput_check():
    check_classifier_multioutput("ClassifierChainTSK", ClassifierChainTSK(n_rules=3))
