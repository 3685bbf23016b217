"""Scikit-learn's checks of JBNN."""

import pytest
from sklearn.utils.estimator_checks import check_classifier_multioutput, parametrize_with_checks

from mltsk.baselines.jbnn import JBNN

pytest.importorskip("torch")


@parametrize_with_checks([JBNN(epochs=40, hidden=6, learning_rate=0.01)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_multioutput_check():
    check_classifier_multioutput("JBNN", JBNN(epochs=3))
