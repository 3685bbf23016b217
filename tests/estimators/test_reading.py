import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import NotFittedError

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules

DATA = make_multilabel_rules(n_samples=120, random_state=1)


@pytest.fixture(scope="module")
def clf():
    return MLTSKClassifier(n_rules=3).fit(*DATA.frames())


def test_an_unfitted_classifier_has_no_rules():
    with pytest.raises(NotFittedError):
        _ = MLTSKClassifier().rules_
    with pytest.raises(NotFittedError):
        MLTSKClassifier().explain(DATA.X)


def test_rules_carry_the_names_of_the_frames(clf):
    assert clf.rules_.feature_names == DATA.feature_names
    assert clf.rules_.label_names == DATA.label_names
    assert all(label in str(clf.rules_) for label in DATA.label_names)


def test_rules_are_in_the_callers_units_whatever_the_scale():
    X = DATA.X * 10 + 5
    for scale in ("quantile", "standard", "minmax", "unit", None):
        rules = MLTSKClassifier(n_rules=3, scale=scale).fit(X, DATA.Y).rules_
        centers = np.array([c.center for rule in rules for c in rule.conditions])
        assert centers.min() >= X.min()
        assert centers.max() <= X.max()


def test_explanations_add_up_to_the_decision(clf):
    X = DATA.frames()[0][:7]
    why = clf.explain(X)
    decision = clf.decision_function(X)
    assert_allclose(why.rule_contributions.sum(axis=1) - clf.thresholds_, decision, atol=1e-12)
    assert_allclose(why.feature_contributions().sum(axis=1) - clf.thresholds_, decision, atol=1e-12)


def test_given_is_what_is_predicted(clf):
    X = DATA.frames()[0][:20]
    given = [[one.why(label).given for label in DATA.label_names] for one in clf.explain(X)]
    assert (np.array(given) == clf.predict(X)).all()


def test_sparse_rows_are_explained_without_making_them_dense():
    X = sparse.random_array((80, 12), density=0.3, rng=np.random.default_rng(0), format="csr")
    clf = MLTSKClassifier(n_rules=3).fit(X, DATA.Y[:80])
    assert_allclose(clf.explain(X).feature_contributions().sum(axis=1) - 0.5, clf.decision_function(X), atol=1e-12)
    assert "average" in str(clf.rules_)


def test_sparse_rows_of_a_dense_model_are_explained_too():
    clf = MLTSKClassifier(n_rules=3).fit(DATA.X, DATA.Y)
    dense, thin = clf.explain(DATA.X[:3]), clf.explain(sparse.csr_array(DATA.X[:3]))
    assert_allclose(dense.scores, thin.scores)


def test_categories_are_used_in_either_form():
    X = np.column_stack([DATA.X[:, :2], np.arange(120) % 3])
    clf = MLTSKClassifier(n_rules=3).fit(X, DATA.Y)
    for categories in ({"x2": ("red", "green", "blue")}, {"x2": {0.0: "red", 1.0: "green", 2.0: "blue"}}):
        clf.categories_ = categories
        condition = clf.rules_.for_feature("x2")[0].conditions[0]
        assert condition.category in ("red", "green", "blue")
        assert "x2 is red" in clf.explain(X[:1])[0].to_text(top=3)


def test_a_binary_target_has_one_label():
    clf = MLTSKClassifier(n_rules=2).fit(DATA.X, np.where(DATA.Y[:, 0], "sick", "well"))
    assert clf.rules_.label_names == ("well",)
    assert clf.explain(DATA.X[:1]).why("well").label == "well"
