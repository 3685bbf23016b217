"""For tests in which every form of X must give the model of an array."""

import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.datasets import make_multilabel_rules

COMPARED_ATTRIBUTES = (
    "intercept_",
    "general_coef_",
    "loo_scores_",
    "thresholds_",
    "n_rules_",
    "order_",
    "ridge_",
    "width_scale_",
    "rule_share_",
    "coupling_weight_",
)


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(
        n_samples=600, n_features=6, n_labels=4, random_state=0
    )


def assert_same_model(clf, expected):
    for name in COMPARED_ATTRIBUTES:
        value = getattr(clf, name)
        assert_allclose(
            value, getattr(expected, name), atol=1e-8, rtol=1e-8, err_msg=name
        )
    pairs = clf.system_.pairs
    assert_array_equal(pairs.columns, expected.system_.pairs.columns)
    # the error is computed in single precision
    assert_allclose(clf.loo_error_, expected.loo_error_, atol=1e-8, rtol=1e-3)
