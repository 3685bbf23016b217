import pickle

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier

from mltsk.exceptions import InputError
from mltsk.metrics import SCORERS, evaluate, get_scorer
from mltsk.metrics.scorers import MultilabelScorer

FOLDS = KFold(3, shuffle=True, random_state=0)
X, Y = make_multilabel_classification(n_samples=90, n_classes=4, random_state=0)
WEIGHT = np.random.default_rng(0).integers(0, 3, size=90).astype(float)
EVALUATE_KEYS = {
    "average_precision": ("AP", 1),
    "neg_one_error": ("OE", -1),
    "neg_ranking_loss": ("RL", -1),
    "neg_coverage_error": ("CV", -1),
    "neg_hamming_loss": ("HL", -1),
    "subset_accuracy": ("subset_accuracy", 1),
    "micro_f1": ("micro_F1", 1),
    "macro_f1": ("macro_F1", 1),
    "example_f1": ("example_F1", 1),
}


@pytest.mark.parametrize("name", sorted(SCORERS))
def test_scorers_agree_with_evaluate(name):
    model = RidgeClassifier().fit(X, Y)
    convention = "paper" if name.startswith("paper_") else "standard"
    key, sign = EVALUATE_KEYS[name.removeprefix("paper_")]
    expected = evaluate(Y, model.decision_function(X), threshold=0.0, convention=convention, sample_weight=WEIGHT)
    assert get_scorer(name)(model, X, Y, sample_weight=WEIGHT) == pytest.approx(sign * expected[key])


@pytest.mark.parametrize("model", [RandomForestClassifier(5, random_state=0), RidgeClassifier()])
def test_all_scorers_together_in_cross_validation(model):
    results = cross_validate(model, X, Y, cv=FOLDS, scoring=dict(SCORERS), error_score="raise")
    assert all(np.isfinite(results[f"test_{name}"]).all() for name in SCORERS)


def test_grid_search_chooses_the_better_model():
    grid = {"n_neighbors": [1, 15]}
    search = GridSearchCV(KNeighborsClassifier(), grid, scoring=get_scorer("neg_ranking_loss"), cv=FOLDS)
    search.fit(X, Y)
    assert search.best_params_ == {"n_neighbors": 15}
    assert search.best_score_ <= 0


def test_search_passes_weights_to_one_scorer_and_to_many_alike():
    grid = {"alpha": [1.0]}
    one = GridSearchCV(RidgeClassifier(), grid, scoring=get_scorer("micro_f1"), cv=FOLDS, error_score="raise")
    many = GridSearchCV(RidgeClassifier(), grid, scoring=dict(SCORERS), refit=False, cv=FOLDS, error_score="raise")
    one.fit(X, Y, sample_weight=WEIGHT)
    many.fit(X, Y, sample_weight=WEIGHT)
    assert_allclose(one.cv_results_["mean_test_score"], many.cv_results_["mean_test_micro_f1"])


def test_weights_are_routed_on_request():
    with sklearn.config_context(enable_metadata_routing=True):
        model = RidgeClassifier().set_fit_request(sample_weight=False)
        asks = get_scorer("micro_f1").set_score_request(sample_weight=True)
        refuses = get_scorer("micro_f1").set_score_request(sample_weight=False)
        scoring = {"asks": asks, "refuses": refuses}
        params = {"sample_weight": WEIGHT}
        routed = cross_validate(model, X, Y, cv=FOLDS, scoring=scoring, params=params)
    plain = cross_validate(RidgeClassifier(), X, Y, cv=FOLDS, scoring=get_scorer("micro_f1"))
    assert_allclose(routed["test_refuses"], plain["test_score"])
    assert not np.allclose(routed["test_asks"], plain["test_score"])


def test_only_the_weight_is_metadata():
    assert dict(get_scorer("micro_f1").get_metadata_routing().score.requests) == {"sample_weight": None}


def test_a_request_does_not_leak_into_the_next_scorer():
    with sklearn.config_context(enable_metadata_routing=True):
        get_scorer("micro_f1").set_score_request(sample_weight=True)
        assert get_scorer("micro_f1").get_metadata_routing().score.requests == {"sample_weight": None}


def test_one_label_given_as_a_column():
    y = Y[:, :1]
    model = RidgeClassifier().fit(X, y.ravel())
    expected = np.mean(model.predict(X) != y.ravel())
    assert get_scorer("neg_hamming_loss")(model, X, y) == pytest.approx(-expected)


def test_scorers_survive_pickling():
    scorer = pickle.loads(pickle.dumps(get_scorer("paper_average_precision")))
    assert (scorer.metric, scorer.convention) == ("average_precision", "paper")


def test_a_misspelt_name_gets_a_suggestion():
    with pytest.raises(InputError, match="did you mean 'neg_ranking_loss'"):
        get_scorer("ranking_loss")
    with pytest.raises(InputError, match="choose from"):
        get_scorer("zzz")


def test_unknown_metrics_and_conventions_are_refused():
    model = RidgeClassifier().fit(X, Y)
    with pytest.raises(InputError, match="metric must be one of"):
        MultilabelScorer("ap")(model, X, Y)
    with pytest.raises(InputError, match="convention must be"):
        MultilabelScorer("micro_f1", convention="authors")(model, X, Y)
