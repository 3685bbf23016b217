"""Scikit-learn's own checks on HNOML."""

from sklearn.utils.estimator_checks import check_classifier_multioutput, parametrize_with_checks

from mltsk.baselines.hnoml import HNOML


@parametrize_with_checks([HNOML(tol=1e-9), HNOML(alpha=0.1, beta=0.1, gamma=0.1, max_iter=5000)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_multioutput_check():
    check_classifier_multioutput("HNOML", HNOML(alpha=0.1))
