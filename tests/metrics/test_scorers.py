import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    log_loss,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mltsk import MLTSKClassifier
from mltsk.exceptions import InputError
from mltsk.metrics import SCORERS, evaluate, get_scorer, label_scorer
from mltsk.metrics.scorers import MultilabelScorer, label_scores

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
# Scorers that are means over the labels in the table of `evaluate`.
LABEL_COLUMNS = {
    "macro_average_precision": ("AP", 1),
    "macro_roc_auc": ("AUC", 1),
    "neg_brier_score": ("Brier", -1),
}
OF_PROBABILITIES = {"neg_brier_score", "neg_log_loss"}


@pytest.mark.parametrize(
    "name", sorted(set(SCORERS) - {*LABEL_COLUMNS, "neg_log_loss"})
)
def test_scorers_agree_with_evaluate(name):
    model = RidgeClassifier().fit(X, Y)
    convention = "paper" if name.startswith("paper_") else "standard"
    key, sign = EVALUATE_KEYS[name.removeprefix("paper_")]
    expected = evaluate(
        Y,
        model.decision_function(X),
        threshold=0.0,
        convention=convention,
        sample_weight=WEIGHT,
    )
    assert get_scorer(name)(model, X, Y, sample_weight=WEIGHT) == pytest.approx(
        sign * expected[key]
    )


def unobserved(seed=0):
    """Y with a fifth of its cells not observed, as a frame with names."""
    hidden = np.random.default_rng(seed).random(Y.shape) < 0.2
    return pd.DataFrame(np.where(hidden, np.nan, Y), columns=list("abcd"))


@pytest.mark.parametrize("name", sorted(LABEL_COLUMNS))
def test_scorers_that_are_means_over_labels_agree_with_evaluate(name):
    model = KNeighborsClassifier(20).fit(X, Y)
    scores = label_scores(model, X, 4)
    column, sign = LABEL_COLUMNS[name]
    table = evaluate(unobserved(), scores, sample_weight=WEIGHT, per_label=True)
    score = get_scorer(name)(model, X, unobserved(), sample_weight=WEIGHT)
    assert score == pytest.approx(sign * table[column].mean())


def test_the_log_loss_scorer_is_scikit_learns_on_observed_cells():
    model = KNeighborsClassifier(20).fit(X, Y)
    truth = unobserved().to_numpy()
    expected = []
    for y, p in zip(truth.T, label_scores(model, X, 4).T, strict=True):
        seen = ~np.isnan(y)
        expected.append(log_loss(y[seen], p[seen], labels=[0, 1]))
    score = get_scorer("neg_log_loss")(model, X, truth)
    assert score == pytest.approx(-np.mean(expected))


@pytest.mark.parametrize(
    "metric",
    ["AP", "AUC", "sensitivity", "precision", "neg_Brier", "neg_log_loss"],
)
def test_label_scorer_is_scikit_learns_metric_on_the_observed_rows_of_a_label(metric):
    metrics = {
        "AP": lambda y, p: average_precision_score(y, p),
        "AUC": lambda y, p: roc_auc_score(y, p),
        "sensitivity": lambda y, p: recall_score(y, p > 0.5),
        "precision": lambda y, p: precision_score(y, p > 0.5),
        "neg_Brier": lambda y, p: -brier_score_loss(y, p),
        "neg_log_loss": lambda y, p: -log_loss(y, p),
    }
    model = KNeighborsClassifier(19).fit(X, Y)
    truth = unobserved()
    seen = truth["c"].notna().to_numpy()
    p = label_scores(model, X, 4)[seen, 2]
    expected = metrics[metric](truth.loc[seen, "c"], p)
    assert label_scorer("c", metric)(model, X, truth) == pytest.approx(expected)
    by_position = label_scorer(2, metric)(model, X, truth.to_numpy())
    assert by_position == pytest.approx(expected)


def test_label_scorer_knows_labels_by_the_names_of_the_model():
    model = MLTSKClassifier(n_rules=0).fit(X, pd.DataFrame(Y, columns=list("abcd")))
    by_name = label_scorer("b", "AUC")(model, X, Y)
    assert by_name == label_scorer(1, "AUC")(model, X, Y)


def test_label_scorer_refuses_unknown_labels_and_metrics():
    model = RidgeClassifier().fit(X, Y)
    truth = pd.DataFrame(Y, columns=["fever", "cough", "rash", "pain"])
    with pytest.raises(InputError, match="no label 'feverr': did you mean 'fever'"):
        label_scorer("feverr")(model, X, truth)
    with pytest.raises(InputError, match="no label 4: y has 4 labels"):
        label_scorer(4)(model, X, Y)
    with pytest.raises(InputError, match="must be one of AP, AUC"):
        label_scorer("fever", "accuracy")


def test_scorers_of_labels_are_nan_or_leave_out_what_is_not_defined():
    model = KNeighborsClassifier(20).fit(X, Y)
    truth = Y.astype(float)
    truth[:, 0] = 0
    assert np.isnan(label_scorer(0, "AP")(model, X, truth))
    others = np.mean([label_scorer(j, "AP")(model, X, truth) for j in (1, 2, 3)])
    score = get_scorer("macro_average_precision")(model, X, truth)
    assert score == pytest.approx(others)


def test_scorers_of_probabilities_refuse_models_without_them():
    model = RidgeClassifier().fit(X, Y)
    with pytest.raises(InputError, match="RidgeClassifier has no predict_proba"):
        get_scorer("neg_log_loss")(model, X, Y)


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (RandomForestClassifier(5, random_state=0), set(SCORERS)),
        (RidgeClassifier(), set(SCORERS) - OF_PROBABILITIES),
    ],
)
def test_scorers_work_together_in_cross_validation(model, names):
    scoring = {name: get_scorer(name) for name in names}
    results = cross_validate(
        model, X, Y, cv=FOLDS, scoring=scoring, error_score="raise"
    )
    assert all(np.isfinite(results[f"test_{name}"]).all() for name in names)


def test_get_scorer_lets_a_grid_search_choose_the_better_model():
    grid = {"n_neighbors": [1, 15]}
    search = GridSearchCV(
        KNeighborsClassifier(), grid, scoring=get_scorer("neg_ranking_loss"), cv=FOLDS
    )
    search.fit(X, Y)
    assert search.best_params_ == {"n_neighbors": 15}
    assert search.best_score_ <= 0


def test_scorers_get_weights_from_a_search_one_or_many():
    grid = {"alpha": [1.0]}
    one = GridSearchCV(
        RidgeClassifier(),
        grid,
        scoring=get_scorer("micro_f1"),
        cv=FOLDS,
        error_score="raise",
    )
    many = GridSearchCV(
        RidgeClassifier(),
        grid,
        scoring={name: get_scorer(name) for name in ("micro_f1", "macro_roc_auc")},
        refit=False,
        cv=FOLDS,
        error_score="raise",
    )
    one.fit(X, Y, sample_weight=WEIGHT)
    many.fit(X, Y, sample_weight=WEIGHT)
    assert_allclose(
        one.cv_results_["mean_test_score"], many.cv_results_["mean_test_micro_f1"]
    )


def test_get_scorer_routes_weights_on_request():
    with sklearn.config_context(enable_metadata_routing=True):
        model = RidgeClassifier().set_fit_request(sample_weight=False)
        asks = get_scorer("micro_f1").set_score_request(sample_weight=True)
        refuses = get_scorer("micro_f1").set_score_request(sample_weight=False)
        scoring = {"asks": asks, "refuses": refuses}
        params = {"sample_weight": WEIGHT}
        routed = cross_validate(model, X, Y, cv=FOLDS, scoring=scoring, params=params)
    plain = cross_validate(
        RidgeClassifier(), X, Y, cv=FOLDS, scoring=get_scorer("micro_f1")
    )
    assert_allclose(routed["test_refuses"], plain["test_score"])
    assert not np.allclose(routed["test_asks"], plain["test_score"])


def test_get_scorer_has_only_the_weight_as_metadata():
    assert dict(get_scorer("micro_f1").get_metadata_routing().score.requests) == {
        "sample_weight": None
    }


def test_get_scorer_does_not_leak_requests():
    with sklearn.config_context(enable_metadata_routing=True):
        get_scorer("micro_f1").set_score_request(sample_weight=True)
        assert get_scorer("micro_f1").get_metadata_routing().score.requests == {
            "sample_weight": None
        }


def test_get_scorer_takes_one_label_as_a_column():
    y = Y[:, :1]
    model = RidgeClassifier().fit(X, y.ravel())
    expected = np.mean(model.predict(X) != y.ravel())
    assert get_scorer("neg_hamming_loss")(model, X, y) == pytest.approx(-expected)


@pytest.mark.parametrize("name", ["average_precision", "paper_neg_one_error"])
def test_get_scorer_refuses_to_rank_one_label(name):
    y = pd.DataFrame(Y[:, :1], columns=["fever"])
    model = RidgeClassifier().fit(X, y["fever"])
    with pytest.raises(InputError, match=r"take label_scorer\('fever'\)"):
        get_scorer(name)(model, X, y)
    with pytest.raises(InputError, match=r"take label_scorer\(0\)"):
        get_scorer(name)(model, X, Y[:, :1])


def test_scorers_survive_pickling():
    scorer = pickle.loads(pickle.dumps(get_scorer("paper_average_precision")))
    assert (scorer.metric, scorer.convention) == ("average_precision", "paper")


def test_get_scorer_suggests_a_name_for_a_misspelt_one():
    with pytest.raises(InputError, match="did you mean 'neg_ranking_loss'"):
        get_scorer("ranking_loss")
    with pytest.raises(InputError, match="choose from"):
        get_scorer("zzz")


def test_multilabel_scorer_refuses_unknown_metrics_and_conventions():
    model = RidgeClassifier().fit(X, Y)
    with pytest.raises(InputError, match="metric must be one of"):
        MultilabelScorer("ap")(model, X, Y)
    with pytest.raises(InputError, match="convention must be"):
        MultilabelScorer("micro_f1", convention="authors")(model, X, Y)


def test_get_scorer_does_not_count_labels_not_observed():
    model = RidgeClassifier().fit(X, Y)
    unknown = np.where(np.arange(90)[:, None] < 30, np.nan, Y)
    for name in ("average_precision", "micro_f1"):
        assert get_scorer(name)(model, X, unknown) == pytest.approx(
            get_scorer(name)(model, X[30:], Y[30:])
        )


# --- scores of any model


class Answers:
    """A model that answers with what it was given."""

    def __init__(self, answer):
        self.answer = answer

    def predict_proba(self, X):
        return self.answer


def test_label_scores_asks_decision_functions_first():
    model = RidgeClassifier().fit(X, Y)
    assert_array_equal(label_scores(model, X, 4), model.decision_function(X))


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, random_state=0),
        KNeighborsClassifier(),
        MultiOutputClassifier(LogisticRegression()),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
    ],
    ids=["forest", "neighbours", "multi-output", "pipeline"],
)
def test_label_scores_makes_a_table_of_lists_of_probabilities(model):
    model.fit(X, Y)
    expected = np.column_stack([p[:, 1] for p in model.predict_proba(X)])
    assert_allclose(label_scores(model, X, 4), expected)


@pytest.mark.parametrize("value", [0, 1])
def test_label_scores_of_a_constant_label_are_what_it_is(value):
    constant = Y.copy()
    constant[:, 1] = value
    scores = label_scores(
        RandomForestClassifier(5, random_state=0).fit(X, constant), X, 4
    )
    assert_array_equal(scores[:, 1], value)


def test_label_scores_does_not_take_two_labels_for_one():
    table = np.random.default_rng(0).random((4, 2))
    assert_array_equal(label_scores(Answers(table), X[:4], 2), table)
    assert_array_equal(label_scores(Answers(table), X[:4], 1), table[:, 1:])


def test_label_scores_takes_an_answer_in_one_dimension():
    model = RidgeClassifier().fit(X, Y[:, 0])
    assert label_scores(model, X, 1).shape == (90, 1)


def test_label_scores_refuses_models_without_scores():
    with pytest.raises(
        InputError, match="object has no decision_function or predict_proba"
    ):
        label_scores(object(), X, 4)


def test_label_scores_refuses_a_wrong_number_of_columns():
    with pytest.raises(InputError, match="returned 4 columns for 5 labels"):
        label_scores(RidgeClassifier().fit(X, Y), X, 5)


def test_label_scores_refuses_a_column_of_an_unknown_class():
    with pytest.raises(InputError, match="does not say which"):
        label_scores(Answers([np.ones((4, 1)), np.ones((4, 2))]), X[:4], 2)
