"""Short rules of a classifier: limits are kept, the cost is told, nothing else changes."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier, from_dict, load, save, to_dict
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(n_samples=200, random_state=0)


@pytest.fixture(scope="module")
def clf(data):
    return MLTSKClassifier(n_rules=4).fit(*data.frames())


@pytest.fixture(scope="module")
def short(clf, data):
    return clf.simplify(*data.frames(), max_conditions=2, max_terms=3)


def test_limits_are_kept_in_data_and_in_words(short):
    assert max(len(rule.conditions) for rule in short.rules_) == 2
    assert max(len(c.terms) for rule in short.rules_ for c in rule.consequents) == 3
    assert len(short.rules_.to_frame("if")) == 2 * len(short.rules_)


def test_what_it_costs_is_told(short):
    before, after = short.simplification_["AP"]
    assert 0.7 < after < before + 0.05 <= 1.05
    assert short.simplification_["conditions"] == (10, 2)
    assert short.simplification_["terms"] == (10, 3)


def test_the_long_rules_are_left_alone(clf, short):
    assert clf.max_terms is None
    assert np.isfinite(clf.widths_).all()
    assert clf.simplification_ is None


def test_the_fitted_option_gives_the_same_rules(short, data):
    fitted = MLTSKClassifier(n_rules=4, max_conditions=2, max_terms=3).fit(*data.frames())
    assert_array_equal(fitted.coef_, short.coef_)
    assert_array_equal(fitted.widths_, short.widths_)


def test_contributions_add_up_and_files_keep_short_rules(short, data, tmp_path):
    X = data.frames()[0]
    scores = short._scores(X)
    np.testing.assert_allclose(short.explain(X).feature_contributions().sum(axis=1), scores, atol=1e-12)
    assert_array_equal(load(save(short, tmp_path / "short.skops"))._scores(X), scores)
    assert_array_equal(from_dict(to_dict(short))._scores(X), scores)


def test_rules_in_one_place_are_merged_and_fire_always(data):
    with pytest.warns(UserWarning, match="hardly differ"):
        wide = MLTSKClassifier(n_rules=3, width_scale=1e6).fit(data.X, data.Y)
    merged = wide.simplify(data.X, data.Y, cv=None)
    assert merged.simplification_["rules"] == (3, 1)


def test_rows_of_another_kind_are_refused(clf, data):
    with pytest.raises(InputError, match="10 features and 5 labels, but the rows have 7 and 5"):
        clf.simplify(data.X[:, :7], data.Y)


def test_sparse_rows_and_classes_in_one_column(data):
    X, y = sparse.csr_array(np.abs(data.X)), data.Y[:, 0]
    short = MLTSKClassifier(n_rules=3).fit(X, y).simplify(X, y, max_conditions=1, max_terms=1, cv=2)
    assert np.isfinite(short.widths_).sum() == len(short.widths_)
    assert short.predict(X).shape == (200,)
