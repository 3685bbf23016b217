"""FuzzyRuleFeatures: the same G as the mathematics, names, sparse, and a linear model on top that is a fuzzy system."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from mltsk import FuzzyRuleFeatures, MLTSKClassifier
from mltsk.core.fuzzymap import fuzzy_features
from mltsk.core.scaling import Scaling
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import RuleCollapseWarning


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(n_samples=120, n_features=5, n_labels=3, random_state=1)


def test_it_is_g_of_the_core(data):
    mapper = FuzzyRuleFeatures(n_rules=3).fit(data.X)
    Z = Scaling(**mapper.scaling_).apply(data.X)
    assert_allclose(mapper.transform(data.X), fuzzy_features(Z, mapper.centers_, mapper.widths_))
    assert_allclose(FuzzyRuleFeatures(n_rules=3, linear=False).fit_transform(data.X).sum(axis=1), 1.0)


def test_names_of_the_columns(data):
    mapper = FuzzyRuleFeatures(n_rules=2).set_output(transform="pandas").fit(data.frames()[0])
    frame = mapper.transform(data.frames()[0])
    assert list(frame.columns)[:2] == ["rule0", f"rule0*{data.feature_names[0]}"]
    assert frame.shape == (120, 12)


def test_ridge_on_top_is_the_classifier_without_coupling_and_l1(data):
    Y = data.Y - data.Y.mean(axis=0)
    linear = make_pipeline(FuzzyRuleFeatures(n_rules=3), Ridge(alpha=2.0, fit_intercept=False)).fit(data.X, Y)
    clf = MLTSKClassifier(n_rules=3, coupling=None, l1_weight=0.0, ridge=2.0, tol=1e-12).fit(data.X, data.Y)
    assert_allclose(linear.predict(data.X) + data.Y.mean(axis=0) - 0.5, clf.decision_function(data.X), atol=1e-5)


def test_sparse_input(data):
    X = sparse.csr_array(data.X * (data.X > np.median(data.X)))
    G = FuzzyRuleFeatures(n_rules=2).fit_transform(X)
    assert_allclose(G[:, 0] + G[:, 6], 1.0)


def test_collapsed_rules_are_reported():
    X = np.random.default_rng(0).random((60, 100))
    with pytest.warns(RuleCollapseWarning):
        FuzzyRuleFeatures(n_rules=3, fuzzifier=2.0, scale="minmax").fit(X)
