"""Short models: few terms, few conditions, and nothing but what their text holds."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import average_precision_score, roc_auc_score

from mltsk import MLTSKClassifier, evaluate
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(
        n_samples=400, n_features=6, n_labels=4, random_state=0
    )


@pytest.fixture(scope="module")
def clf(data):
    return MLTSKClassifier().fit(data.X, data.Y)


@pytest.mark.parametrize(
    ("max_statements", "max_conditions"), [(1, 1), (4, 2), (12, 6)]
)
def test_terms_and_conditions_are_limited(clf, max_statements, max_conditions):
    short = clf.shorten(max_statements, max_conditions)
    assert short.n_statements_.max() <= max_statements
    assert (np.isfinite(short.widths_).sum(axis=1) <= max_conditions).all()
    assert short.general_coef_.any(axis=1).all()
    assert short.coef_.any(axis=(1, 2)).all()
    assert (
        len(short.centers_)
        == len(short.prototypes_)
        == len(short.rule_weights_)
        == short.n_rules_
    )


def test_a_short_model_says_nearly_what_the_long_one_says(data):
    long = MLTSKClassifier().fit(data.X[:250], data.Y[:250])
    models = (long, long.shorten(12), long.shorten(2))
    full, short, shorter = (
        average_precision_score(data.Y[250:], m.decision_function(data.X[250:]))
        for m in models
    )
    assert full - 0.03 < short
    assert 0.5 < shorter < short


def test_it_is_the_same_every_time_and_the_long_model_stays(data, clf):
    before = clf.decision_function(data.X)
    a, b = clf.shorten(5), clf.shorten(5)
    assert_array_equal(a.decision_function(data.X), b.decision_function(data.X))
    assert_array_equal(clf.decision_function(data.X), before)
    fitted = MLTSKClassifier(max_statements=5).fit(data.X, data.Y)
    assert_array_equal(fitted.decision_function(data.X), a.decision_function(data.X))


@pytest.mark.parametrize(
    "rules", [None, [{"x0": (0.5, None)}]], ids=["found", "and given"]
)
def test_a_model_that_travelled_asks_for_its_rows_and_keeps_its_rules(data, rules):
    clf = MLTSKClassifier().fit(data.X, data.Y, rules=rules)
    loaded = pickle.loads(pickle.dumps(clf))
    with pytest.raises(InputError, match="pass its training data"):
        loaded.shorten(5)
    again = loaded.shorten(5, X=data.X, y=data.Y)
    assert_array_equal(
        again.predict_proba(data.X), clf.shorten(5).predict_proba(data.X)
    )


@pytest.mark.parametrize("order", [0, 1])
def test_sparse_rows_and_first_order_rules_can_be_short(data, order):
    X = sparse.csr_array(np.maximum(data.X - 0.3, 0))
    short = MLTSKClassifier(n_rules=4, order=order).fit(X, data.Y).shorten(3)
    assert short.n_statements_.max() <= 3
    assert short.order_ == 0
    assert np.isfinite(short.decision_function(X)).all()


def test_labels_that_were_not_observed_do_not_speak(data):
    w = np.ones(data.Y.shape)
    w[::2, 1] = 0
    other = np.where(w > 0, data.Y, 1 - data.Y)
    a, b = (
        MLTSKClassifier(max_statements=4).fit(data.X, Y, w) for Y in (data.Y, other)
    )
    assert_allclose(a.decision_function(data.X), b.decision_function(data.X))


def test_at_least_one_term_is_asked_for(clf):
    with pytest.raises(ValueError, match="max_statements"):
        clf.shorten(0)


def test_scores_of_a_short_model_are_those_of_new_rows():
    """Targets are scores of a long model that must not know the labels of the rows."""
    rng = np.random.default_rng(0)
    X, Y = (
        rng.normal(size=(120, 30)),
        rng.integers(0, 2, size=(120, 3)),
    )  # nothing to learn
    short = MLTSKClassifier(n_rules=0, ridge=1.0).fit(X, Y).shorten(8)
    auc = [roc_auc_score(y, s) for y, s in zip(Y.T, short.loo_scores_.T, strict=True)]
    assert np.mean(auc) < 0.55


def test_the_price_of_brevity_is_measured_for_every_size():
    data = make_multilabel_rules(n_samples=300, random_state=0)
    clf = MLTSKClassifier().fit(data.X, data.Y)
    path = clf.size_path_
    assert path["statements"].tolist() == list(range(1, len(path) + 1))
    assert path["AP"][11] > path["AP"][0]
    short = clf.shorten(4)
    assert path["AP"][3] == pytest.approx(evaluate(data.Y, short.loo_scores_)["AP"])
