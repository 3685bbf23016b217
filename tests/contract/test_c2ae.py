"""Scikit-learn's checks of C2AE."""

from sklearn.utils.estimator_checks import check_classifier_multioutput, parametrize_with_checks

from mltsk.baselines.c2ae import C2AE


def not_met(estimator):
    return {
        "check_sample_weight_equivalence_on_dense_data": "rows fall into other mini-batches",
        "check_sample_weight_equivalence_on_sparse_data": "rows fall into other mini-batches",
    }


# At a rate of 0.003 accuracies on the blobs of the checks lie between .70 and .91, by seed; at 0.001 above .90.
@parametrize_with_checks(
    [C2AE(epochs=40, hidden=32, batch_size=20, learning_rate=0.001)], expected_failed_checks=not_met
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_multioutput_check():
    check_classifier_multioutput("C2AE", C2AE(epochs=3, hidden=8, batch_size=20))
