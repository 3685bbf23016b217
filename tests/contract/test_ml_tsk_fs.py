"""Scikit-learn's checks on the paper's method as a registered baseline."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mltsk.baselines.ml_tsk_fs import PaperMLTSK


@parametrize_with_checks([PaperMLTSK(n_rules=2)])
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning", "ignore::mltsk.exceptions.NonConvexWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
