"""What a page says about a model, as numbers."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.pages.summarise import column_correlation, firing_map, summarise_agreement, summarise_model, versions

DATA = make_multilabel_rules(n_samples=150, random_state=0)


@pytest.fixture(scope="module")
def model():
    return MLTSKClassifier(n_rules=4).fit(DATA.X, DATA.Y)


def test_a_summary_is_plain_data_and_adds_up(model):
    found = summarise_model(model, DATA.X)
    assert json.loads(json.dumps(found)) == found
    assert_allclose(sum(found["shares"]), 1.0)
    assert_allclose(np.sum(found["firing_map"], axis=0), 1.0)
    assert found["n_numbers"] == np.count_nonzero(model.coef_) + np.count_nonzero(model.general_coef_)


def test_a_firing_map_shows_the_rules_that_govern_most():
    many = MLTSKClassifier(n_rules=40, order=0).fit(DATA.X, DATA.Y)
    found = summarise_model(many, DATA.X)
    assert len(found["firing_map"]) == len(found["firing_names"]) == 24
    assert f"exception {many.rule_weights_.argmax() + 1}" in found["firing_names"]


def test_a_general_rule_alone_has_no_firing():
    found = summarise_model(MLTSKClassifier(n_rules=0).fit(DATA.X, DATA.Y), DATA.X)
    assert (found["n_rules"], found["firing_map"], found["shares"]) == (0, None, [])


def test_the_firing_map_keeps_the_mean_of_each_rule(model):
    M = model.system_.firing(DATA.X)
    assert_allclose(firing_map(M, columns=50).mean(axis=1), M.mean(axis=0), rtol=1e-12)
    assert firing_map(M[:7]).shape == (4, 7)


def test_correlation_of_columns_is_pearsons():
    P = np.random.default_rng(0).normal(size=(30, 4))
    assert_allclose(column_correlation(P), np.corrcoef(P.T), atol=1e-10)


def test_labels_and_consequents_agree_where_labels_are_copies():
    Y = np.column_stack([DATA.Y[:, 0], DATA.Y[:, 0], 1 - DATA.Y[:, 0], DATA.Y[:, 1]])
    model = MLTSKClassifier(n_rules=2).fit(DATA.X, Y)
    found = summarise_agreement(Y, ["a", "b", "not a", "c"], model)
    assert found["consequent_correlation"][0][1] > 0.999
    assert found["consequent_correlation"][0][2] < -0.99
    assert 0.9 < found["agreement"] <= 1


def test_a_constant_label_has_no_correlation():
    Y = np.column_stack([DATA.Y[:, :2], np.zeros(len(DATA))])
    found = summarise_agreement(Y, ["a", "b", "never"], MLTSKClassifier(n_rules=2).fit(DATA.X, Y))
    assert found["label_correlation"][0][2] == found["consequent_correlation"][0][2] == 0
    assert np.isfinite(found["agreement"])


def test_versions_name_this_package_first():
    assert list(versions())[:3] == ["mltsk", "Python", "numpy"]
