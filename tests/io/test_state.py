"""A classifier becomes plain attributes and comes back the same."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk import IncrementalMLTSK, MLTSKClassifier, PaperMLTSK
from mltsk.datasets import make_multilabel_rules
from mltsk.io.state import plain_attributes, restored, with_plain_attributes
from mltsk.paper import METHODS

from .lines import X, assert_same_lines_and_pairs, fitted

DATA = make_multilabel_rules(n_samples=60, random_state=0)
PLAIN = (type(None), bool, int, float, str, np.ndarray, np.generic)


def assert_plain(value):
    """Nothing but arrays, numbers, texts, and lists and dicts of these."""
    if isinstance(value, dict):
        assert all(isinstance(key, str) for key in value)
        for item in value.values():
            assert_plain(item)
    elif isinstance(value, list | tuple):
        for item in value:
            assert_plain(item)
    else:
        assert isinstance(value, PLAIN) or sparse.issparse(value)


@pytest.fixture(scope="module")
def stream():
    model = IncrementalMLTSK(n_rules=2)
    model.partial_fit(DATA.X[:40], DATA.Y[:40])
    return model.partial_fit(DATA.X[40:], DATA.Y[40:])


@pytest.mark.parametrize(
    "model",
    [
        MLTSKClassifier(n_rules=2),
        MLTSKClassifier(n_rules=2, max_statements=5),
        PaperMLTSK(n_rules=2, correlation_weight=0.01),
    ],
    ids=["long", "short", "paper"],
)
def test_plain_attributes_of_a_system_are_plain_and_restored_the_same(model):
    model.fit(DATA.X, DATA.Y)
    attributes = plain_attributes(model)
    assert_plain(attributes)
    back = restored(type(model), attributes)
    assert vars(back).keys() == vars(model).keys()
    assert_array_equal(back.decision_function(DATA.X), model.decision_function(DATA.X))
    assert str(back.rules_) == str(model.rules_)


def test_plain_attributes_of_lines_and_pairs_are_plain_and_restored_the_same():
    model = fitted()
    attributes = plain_attributes(model)
    assert_plain(attributes)
    back = restored(MLTSKClassifier, attributes)
    assert_same_lines_and_pairs(back.system_, model.system_)
    assert_array_equal(back.decision_function(X), model.decision_function(X))


def test_plain_attributes_without_pairs_hold_none():
    attributes = plain_attributes(MLTSKClassifier(2, n_pairs=0).fit(DATA.X, DATA.Y))
    assert attributes["pairs_"] is None
    assert attributes["pair_coef_"] is None
    assert len(restored(MLTSKClassifier, attributes).system_.pairs) == 0


def test_plain_attributes_of_a_table_are_plain_and_restored_the_same(table, own_rules):
    X, Y, new = table
    model = MLTSKClassifier(n_rules=2).fit(X, Y, rules=own_rules)
    back = restored(MLTSKClassifier, plain_attributes(model))
    assert back.system_.columns == model.system_.columns
    assert back.system_.feature_names == model.system_.feature_names
    assert_array_equal(back.decision_function(new), model.decision_function(new))


def test_restored_streams_go_on_learning(stream):
    attributes = plain_attributes(stream)
    assert_plain(attributes)
    back = restored(IncrementalMLTSK, attributes)
    assert back.n_seen_ == 60
    for model in (stream, back):
        model.partial_fit(DATA.X[:20], DATA.Y[:20])
    assert_array_equal(back.coef_, stream.coef_)
    assert_array_equal(back.loo_scores_, stream.loo_scores_)


def test_restored_systems_have_their_categories():
    model = MLTSKClassifier(n_rules=0).fit(*DATA.frames())
    categories = {"x2": {0.0: "red", 1.5: "blue"}}
    model.system_ = replace(model.system_, categories=categories)
    attributes = plain_attributes(model)
    assert attributes["categories_"] == {"x2": [[0.0, "red"], [1.5, "blue"]]}
    assert restored(MLTSKClassifier, attributes).system_.categories == categories


def test_with_plain_attributes_leaves_the_model_as_it_is():
    model = MLTSKClassifier(n_rules=2).fit(DATA.X, DATA.Y)
    before = dict(vars(model))
    plain = with_plain_attributes(model)
    assert vars(model) == before
    assert "system_" not in vars(plain)
    assert vars(plain)["centers_"] is model.centers_


def test_with_plain_attributes_returns_a_model_without_a_system_itself():
    model = METHODS["br"]().fit(DATA.X, DATA.Y)
    assert with_plain_attributes(model) is model
    back = restored(type(model), plain_attributes(model))
    assert_array_equal(back.decision_function(DATA.X), model.decision_function(DATA.X))
