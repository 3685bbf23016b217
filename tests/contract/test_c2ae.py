"""Scikit-learn's checks of C2AE."""

import pytest
from sklearn.utils.estimator_checks import check_classifier_multioutput, parametrize_with_checks

from mltsk.baselines.c2ae import C2AE

pytest.importorskip("torch")


def not_met(estimator):
    return {
        "check_sample_weight_equivalence_on_dense_data": "rows fall into other mini-batches",
        "check_sample_weight_equivalence_on_sparse_data": "rows fall into other mini-batches",
    }


@parametrize_with_checks(
    [C2AE(epochs=40, hidden=32, batch_size=20, learning_rate=0.003)], expected_failed_checks=not_met
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_multioutput_check():
    check_classifier_multioutput("C2AE", C2AE(epochs=3, hidden=8, batch_size=20))
