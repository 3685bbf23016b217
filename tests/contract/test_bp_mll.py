"""Scikit-learn's checks of BP-MLL."""

import pytest
from sklearn.utils.estimator_checks import check_classifier_multioutput, parametrize_with_checks

from mltsk.baselines.bp_mll import BPMLL

pytest.importorskip("torch")


def not_met(estimator):
    return {
        "check_sample_weight_equivalence_on_dense_data": "a step of twice the length is not two steps",
        "check_sample_weight_equivalence_on_sparse_data": "a step of twice the length is not two steps",
    }


@parametrize_with_checks([BPMLL(epochs=20, hidden=6)], expected_failed_checks=not_met)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_multioutput_check():
    check_classifier_multioutput("BPMLL", BPMLL(epochs=3))
