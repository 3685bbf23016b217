"""Scikit-learn's checks on ML-kNN."""

import pytest
from sklearn.utils.estimator_checks import check_classifier_multioutput, parametrize_with_checks

from mltsk.baselines.ml_knn import MLkNN

REFUSED = "sample_weight is refused: a weight has no meaning in a set of k neighbours"
EXPECTED = dict.fromkeys(
    [
        "check_sample_weights_pandas_series",
        "check_sample_weights_not_an_array",
        "check_sample_weights_list",
        "check_all_zero_sample_weights_error",
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
        "check_classifiers_one_label_sample_weights",
    ],
    REFUSED,
)


@parametrize_with_checks([MLkNN(n_neighbors=3)], expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:n_neighbors=:UserWarning")
def test_multioutput_check():
    check_classifier_multioutput("MLkNN", MLkNN(n_neighbors=3))
