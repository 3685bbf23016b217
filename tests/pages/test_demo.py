"""The main job as data."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier
from mltsk.datasets import Dataset, make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.metrics import evaluate
from mltsk.pages.demo import PAPER_SETTING, firing_map, run_demo, summarise_agreement, summarise_model
from mltsk.paper.experiments.cross_validation import cross_validate_metrics, shuffled_folds
from mltsk.paper.experiments.published import METRICS

MADE = make_multilabel_rules(n_samples=90, random_state=0)
DATA = Dataset(MADE.X, MADE.Y, name="flags")


@pytest.fixture(scope="module")
def result():
    return run_demo(DATA, n_rules=2, n_folds=3, seed=4)


def test_the_summary_is_plain_data(result):
    assert json.loads(json.dumps(result.summary)) == result.summary


def test_means_are_those_of_the_same_folds(result):
    folds = shuffled_folds(90, 3, 4)
    expected = cross_validate_metrics(result.model, DATA.X, DATA.Y, folds=folds, convention="paper")
    ap = result.summary["metrics"][0]
    assert_allclose([ap["default"]["mean"], ap["default"]["sd"]], [expected.mean["AP"], expected.sd["AP"]])
    assert ap["published"] == {"mean": 0.82, "sd": 0.01}  # Table III, flags


def test_leave_one_out_is_that_of_the_model_on_all_rows(result):
    expected = evaluate(DATA.Y, result.model.loo_scores_, convention="paper")
    assert [metric["left_out"] for metric in result.summary["metrics"]] == [expected[m] for m in METRICS]


def test_both_models_are_fitted_on_all_rows_with_names(result):
    assert result.model.feature_names_in_.tolist() == list(DATA.feature_names)
    assert result.summary["models"]["paper"]["n_rules"] == PAPER_SETTING["n_rules"]


def test_progress_counts_every_fit_once():
    seen = []
    run_demo(DATA, n_rules=2, n_folds=2, progress=lambda *at: seen.append(at))
    assert seen == [(i, 4) for i in range(5)]


def test_data_that_the_paper_does_not_have_are_refused():
    with pytest.raises(InputError, match="The paper has no data set 'synthetic'"):
        run_demo(MADE)


@pytest.fixture(scope="module")
def model():
    return MLTSKClassifier(n_rules=4).fit(MADE.X, MADE.Y)


def test_a_summary_is_plain_data_and_adds_up(model):
    found = summarise_model(model, MADE.X)
    assert json.loads(json.dumps(found)) == found
    assert_allclose(sum(found["shares"]), 1.0)
    assert_allclose(np.sum(found["firing_map"], axis=0), 1.0)
    assert found["n_numbers"] == np.count_nonzero(model.coef_) + np.count_nonzero(model.general_coef_)


def test_a_firing_map_shows_the_rules_that_govern_most():
    many = MLTSKClassifier(n_rules=40, order=0).fit(MADE.X, MADE.Y)
    found = summarise_model(many, MADE.X)
    assert len(found["firing_map"]) == len(found["firing_names"]) == 24
    assert f"exception {many.rule_weights_.argmax() + 1}" in found["firing_names"]


def test_a_general_rule_alone_has_no_firing():
    found = summarise_model(MLTSKClassifier(n_rules=0).fit(MADE.X, MADE.Y), MADE.X)
    assert (found["n_rules"], found["firing_map"], found["shares"]) == (0, None, [])


def test_the_firing_map_keeps_the_mean_of_each_rule(model):
    M = model.system_.firing(MADE.X)
    assert_allclose(firing_map(M, columns=45).mean(axis=1), M.mean(axis=0), rtol=1e-12)
    assert firing_map(M[:7]).shape == (4, 7)


def test_labels_and_consequents_agree_where_labels_are_copies():
    Y = np.column_stack([MADE.Y[:, 0], MADE.Y[:, 0], 1 - MADE.Y[:, 0], MADE.Y[:, 1]])
    model = MLTSKClassifier(n_rules=2).fit(MADE.X, Y)
    found = summarise_agreement(Y, ["a", "b", "not a", "c"], model)
    assert found["consequent_correlation"][0][1] > 0.999
    assert found["consequent_correlation"][0][2] < -0.99
    assert 0.9 < found["agreement"] <= 1


def test_a_constant_label_has_no_correlation():
    Y = np.column_stack([MADE.Y[:, :2], np.zeros(len(MADE))])
    found = summarise_agreement(Y, ["a", "b", "never"], MLTSKClassifier(n_rules=2).fit(MADE.X, Y))
    assert found["label_correlation"][0][2] == found["consequent_correlation"][0][2] == 0
    assert np.isfinite(found["agreement"])
