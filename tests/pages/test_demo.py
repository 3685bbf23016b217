"""The main job as data."""

import json

import pytest
from numpy.testing import assert_allclose

from mltsk.datasets import Dataset, make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.metrics import evaluate
from mltsk.pages.demo import PAPER_SETTING, run_demo
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
