"""Scikit-learn's checks on ε-LSSLI."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mltsk.baselines.epsilon_lssli import EpsilonLSSLI


@parametrize_with_checks([EpsilonLSSLI(n_rules=3), EpsilonLSSLI(n_rules=2, antecedents="distinct", fuzzifier=1.0)])
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")  # toy data with few distinct rows
def test_scikit_learn_checks(estimator, check):
    check(estimator)
