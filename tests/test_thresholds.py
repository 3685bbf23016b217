import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mltsk.exceptions import InputError
from mltsk.metrics import evaluate, example_f1_score, get_scorer, macro_f1_score, micro_f1_score
from mltsk.metrics.scorers import label_scores
from mltsk.thresholds import METRICS, MultilabelThreshold, best_threshold, best_thresholds

X, Y = make_multilabel_classification(n_samples=200, n_features=12, n_classes=5, random_state=3)
FOREST = RandomForestClassifier(8, random_state=0)


class Column(ClassifierMixin, BaseEstimator):
    """Scores are the first columns of X, as a decision function: what is learnt is only the threshold."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.weight_ = np.arange(np.shape(y)[1]), sample_weight
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float)[:, : len(self.classes_)]

    def predict(self, X):
        return (self.decision_function(X) >= 0).astype(int)


def shifted(n=200):
    """Labels that are present where their column exceeds 1, 2, 3."""
    scores = np.random.default_rng(0).normal(2.0, 2.0, size=(n, 3))
    return scores, (scores > [1.0, 2.0, 3.0]).astype(int)


# --- scikit-learn's contract


@parametrize_with_checks(
    [
        MultilabelThreshold(RidgeClassifier()),
        MultilabelThreshold(RidgeClassifier(), method="fixed"),
        MultilabelThreshold(FOREST, method="global"),
    ],
    expected_failed_checks=lambda model: (
        {}
        if isinstance(model.estimator, RidgeClassifier)
        else {
            "check_classifiers_multilabel_output_format_predict_proba": "a forest's probabilities may be 0 and 1",
            "check_sample_weight_equivalence_on_dense_data": "a forest draws rows: repeating them differs",
            "check_sample_weight_equivalence_on_sparse_data": "a forest draws rows: repeating them differs",
        }
    ),
)
def test_contract_of_scikit_learn(estimator, check):
    check(estimator)


# --- what is tuned


def test_thresholds_per_label_are_recovered():
    scores, labels = shifted()
    model = MultilabelThreshold(Column(), metric="hamming").fit(scores, labels)
    assert_allclose(model.thresholds_, [1.0, 2.0, 3.0], atol=0.1)
    assert_array_equal(model.predict(scores), labels)
    assert model.inner_score_ == 1.0


def test_one_global_threshold_serves_all_labels():
    scores, labels = shifted()
    model = MultilabelThreshold(Column(), method="global", metric="hamming").fit(scores, labels)
    assert len(set(model.thresholds_)) == 1
    assert not model.tuned_labels_.any()
    assert 1.0 < model.thresholds_[0] < 3.0


def test_fixed_thresholds_are_taken_as_they_are_and_fit_no_folds():
    scores, labels = shifted()
    model = MultilabelThreshold(Column(), method="fixed", threshold=[1.0, 2.0, 3.0], cv=10**6)
    assert_array_equal(model.fit(scores, labels).thresholds_, [1.0, 2.0, 3.0])
    assert not hasattr(model, "inner_score_")


@pytest.mark.parametrize("estimator", [FOREST, RidgeClassifier()], ids=["probabilities", "decisions"])
def test_the_usual_cut_gives_what_the_classifier_itself_predicts(estimator):
    model = MultilabelThreshold(estimator, method="fixed").fit(X, Y)
    differs = model.predict(X) != model.estimator_.predict(X)
    on_threshold = model.decision_function(X) == np.finfo(float).tiny
    assert not np.any(differs & ~on_threshold)


@pytest.mark.parametrize(
    ("metric", "score"),
    [("macro_f1", macro_f1_score), ("micro_f1", micro_f1_score), ("example_f1", example_f1_score)],
)
def test_tuning_beats_the_usual_cut_on_inner_folds(metric, score):
    folds = KFold(5, shuffle=True, random_state=0)
    untuned = score(Y, cross_val_predict(RidgeClassifier(), X, Y, cv=folds))
    for method in ("per_label", "global"):
        assert MultilabelThreshold(RidgeClassifier(), method=method, metric=metric).fit(X, Y).inner_score_ >= untuned


def test_out_of_fold_scores_decide_not_training_scores():
    # one neighbour scores its own rows perfectly: only rows left out can tell where to cut
    noise = np.random.default_rng(0).random((300, 4)) < 0.3
    model = MultilabelThreshold(KNeighborsClassifier(1), metric="hamming").fit(X[:200], noise[:200])
    assert_array_equal(model.estimator_.predict(X), noise[:200])
    assert model.inner_score_ < 0.9


def test_rare_labels_keep_the_global_threshold():
    scores, labels = shifted()
    labels[:, 2] = 0
    labels[scores[:, 2].argsort()[-9:], 2] = 1  # nine rows: one short of enough
    model = MultilabelThreshold(Column(), metric="hamming").fit(scores, labels)
    overall = MultilabelThreshold(Column(), metric="hamming", method="global").fit(scores, labels)
    assert_array_equal(model.tuned_labels_, [True, True, False])
    assert model.thresholds_[2] == overall.thresholds_[0]
    assert MultilabelThreshold(Column(), min_positives=9).fit(scores, labels).tuned_labels_.all()


def test_a_function_can_be_the_metric():
    scores, labels = shifted(80)
    calls = []

    def agreement(Y, predictions):
        calls.append(predictions.shape)
        return float(np.mean(predictions == Y))

    model = MultilabelThreshold(Column(), metric=agreement).fit(scores, labels)
    assert model.inner_score_ > 0.95
    assert set(calls) == {(80, 3)}


def test_folds_are_shuffled_and_repeatable():
    one, same, other = (MultilabelThreshold(FOREST, random_state=seed).fit(X, Y) for seed in (0, 0, 1))
    assert_array_equal(one.thresholds_, same.thresholds_)
    assert not np.array_equal(one.thresholds_, other.thresholds_)


def test_any_splitter_will_do():
    splitter = ShuffleSplit(2, test_size=0.3, random_state=0)
    by_splitter = MultilabelThreshold(RidgeClassifier(), cv=splitter).fit(X, Y)
    by_splits = MultilabelThreshold(RidgeClassifier(), cv=list(splitter.split(X))).fit(X, Y)
    assert_array_equal(by_splitter.thresholds_, by_splits.thresholds_)


# --- what is predicted


@pytest.mark.parametrize("estimator", [FOREST, RidgeClassifier()], ids=["forest", "ridge"])
def test_predict_is_a_positive_decision_and_agrees_with_evaluate(estimator):
    model = MultilabelThreshold(estimator).fit(X, Y)
    predicted = model.predict(X)
    assert_array_equal(predicted, model.decision_function(X) > 0)
    scores = label_scores(model.estimator_, X, 5, ("predict_proba", "decision_function"))
    result = evaluate(Y, scores, threshold=model.thresholds_)
    assert result["micro_F1"] == micro_f1_score(Y, predicted)


def test_a_score_on_the_threshold_is_predicted():
    table = np.array([[0.5, -0.5], [0.4, 0.5]])
    model = MultilabelThreshold(Column(), method="fixed", threshold=0.5).fit(table, [[1, 0], [0, 1]])
    assert_array_equal(model.predict(table), [[1, 0], [0, 1]])
    assert model.decision_function(table)[0, 0] > 0


def test_probabilities_are_those_of_the_classifier():
    model = MultilabelThreshold(FOREST, metric="macro_f1").fit(X, Y)
    probabilities = model.predict_proba(X)
    assert_array_equal(probabilities, label_scores(model.estimator_, X, 5))
    assert_array_equal(probabilities >= model.thresholds_, model.predict(X) == 1)


def test_probabilities_are_there_only_if_scores_are_probabilities():
    assert not hasattr(MultilabelThreshold(RidgeClassifier()).fit(X, Y), "predict_proba")
    assert not hasattr(MultilabelThreshold(RidgeClassifier(), response_method="predict_proba"), "predict_proba")
    decisions = LogisticRegression()
    y = Y[:, 0]
    assert hasattr(MultilabelThreshold(decisions).fit(X, y), "predict_proba")
    assert not hasattr(MultilabelThreshold(decisions, response_method="decision_function"), "predict_proba")


def test_a_single_binary_target_keeps_its_classes():
    y = np.where(Y[:, 0] == 1, "yes", "no")
    model = MultilabelThreshold(LogisticRegression(), metric="macro_f1").fit(X, y)
    assert set(model.predict(X)) == {"no", "yes"}
    assert_array_equal(
        model.classes_[(model.predict_proba(X)[:, 1] >= model.thresholds_).astype(int)], model.predict(X)
    )
    assert model.decision_function(X).shape == (200,)


# --- weights, names, containers


def test_weights_reach_the_classifier_and_the_metric():
    scores, labels = shifted()
    labels[:100] = scores[:100] > 0  # the first half would have other thresholds
    weight = np.r_[np.zeros(100), np.ones(100)]
    model = MultilabelThreshold(Column(), metric="hamming").fit(scores, labels, sample_weight=weight)
    assert_array_equal(model.estimator_.weight_, weight)
    assert_allclose(model.thresholds_, [1.0, 2.0, 3.0], atol=0.15)


def test_weights_for_a_classifier_without_weights_are_refused():
    with pytest.raises(InputError, match=r"KNeighborsClassifier\.fit does not take it"):
        MultilabelThreshold(KNeighborsClassifier()).fit(X, Y, sample_weight=np.ones(200))


def test_metadata_is_routed():
    weight = np.random.default_rng(0).integers(0, 3, size=200).astype(float)
    plain = MultilabelThreshold(RidgeClassifier()).fit(X, Y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = RidgeClassifier().set_fit_request(sample_weight=True)
        model = MultilabelThreshold(inner).set_fit_request(sample_weight=True)
        routed = clone(model).fit(X, Y, sample_weight=weight)
        search = GridSearchCV(model, {"method": ["global"]}, cv=KFold(2), scoring=get_scorer("micro_f1"))
        search.estimator.set_fit_request(sample_weight=True)
        search.scoring.set_score_request(sample_weight=True)
        search.fit(X, Y, sample_weight=weight)
    assert_array_equal(routed.thresholds_, plain.thresholds_)
    assert np.isfinite(search.best_score_)


def test_frames_keep_their_names():
    frame, labels = pd.DataFrame(X).add_prefix("f"), pd.DataFrame(Y, columns=list("abcde"))
    model = MultilabelThreshold(RidgeClassifier()).fit(frame, labels)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert list(model.label_names_) == list("abcde")
    expected = MultilabelThreshold(RidgeClassifier()).fit(X, Y).thresholds_
    assert_allclose(model.thresholds_, expected)
    model.fit(X, Y)  # names of an earlier fit are forgotten
    assert not hasattr(model, "label_names_")
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.coo_matrix, np.ndarray.tolist])
def test_tables_come_in_many_forms(container):
    expected = MultilabelThreshold(RidgeClassifier(solver="lsqr", tol=1e-12)).fit(X, Y).thresholds_
    labels = Y if container is np.ndarray.tolist else container(Y)
    model = MultilabelThreshold(RidgeClassifier(solver="lsqr", tol=1e-12)).fit(container(X), labels)
    assert_allclose(model.thresholds_, expected, atol=1e-6)


def test_it_pickles_clones_and_works_inside_a_search():
    pipeline = make_pipeline(StandardScaler(), RidgeClassifier())
    grid = {"estimator__ridgeclassifier__alpha": [0.1, 10.0], "method": ["global", "per_label"]}
    search = GridSearchCV(MultilabelThreshold(pipeline), grid, scoring=get_scorer("macro_f1"), cv=KFold(3))
    search.fit(X, Y)
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_array_equal(copy.predict(X), search.predict(X))
    assert not hasattr(clone(copy), "thresholds_")


def test_labels_that_a_fold_lacks_do_no_harm():
    rare = Y.copy()
    rare[:, 0] = 0
    rare[7, 0] = 1  # in one fold only: the others train on a constant label
    model = MultilabelThreshold(FOREST).fit(X, rare)
    assert np.isfinite(model.thresholds_).all()


# --- what is refused


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"method": "best"}, "method must be one of"),
        ({"metric": "f1"}, "metric must be a function or one of"),
        ({"threshold": "high", "method": "fixed"}, 'threshold must be "auto"'),
        ({"threshold": [0.1, 0.2], "method": "fixed"}, r"one per label \(5 of them\)"),
        ({"response_method": "predict"}, "response_method must be one of"),
    ],
)
def test_bad_parameters_are_refused(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        MultilabelThreshold(RidgeClassifier(), **parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (np.arange(200) % 3, "Only binary classification"),
        (np.ones(200), "must hold two classes"),
        (Y * 2 - 1, "Labels are 0 and 1"),
        (np.where(Y == 1, np.nan, 0.0), "contains NaN"),
        (None, "requires y"),
        (Y[:100], "inconsistent numbers of samples"),
    ],
)
def test_bad_targets_are_refused(target, sentence):
    with pytest.raises(ValueError, match=sentence):
        MultilabelThreshold(RidgeClassifier()).fit(X, target)


# --- the search

ONES = np.ones(2)


def small_problem(seed):
    """Few rows, so that every threshold can be tried; tied scores in half of the cases."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(2, 7), rng.integers(1, 4)
    scores = rng.integers(0, 5, size=shape) / 4.0 if seed % 2 else rng.normal(size=shape)
    weight = rng.integers(1, 4, size=shape[0]).astype(float)
    return rng.random(shape) < 0.5, scores, weight


def candidates(scores):
    return np.append(np.unique(scores), scores.max() + 1)


@pytest.mark.parametrize("metric", METRICS)
def test_one_threshold_is_the_best_there_is(metric):
    for seed in range(30):
        Y, scores, weight = small_problem(seed)
        value = lambda t: METRICS[metric](Y, scores >= t, sample_weight=weight)  # noqa: B023, E731
        best = max(value(t) for t in candidates(scores))
        assert value(best_threshold(Y, scores, metric, 0.5, weight)) == pytest.approx(best)


@pytest.mark.parametrize("metric", ["hamming", "macro_f1", "micro_f1"])
def test_thresholds_per_label_are_the_best_there_are(metric):
    for seed in range(30):
        Y, scores, weight = small_problem(seed)
        value = lambda t: METRICS[metric](Y, scores >= np.array(t), sample_weight=weight)  # noqa: B023, E731
        best = max(value(t) for t in itertools.product(*(candidates(column) for column in scores.T)))
        assert value(best_thresholds(Y, scores, metric, 0.5, weight)) == pytest.approx(best)


@pytest.mark.parametrize("metric", ["example_f1", "subset_accuracy"])
def test_coordinate_ascent_ends_where_no_single_label_can_gain(metric):
    for seed in range(30):
        Y, scores, weight = small_problem(seed)
        found = best_thresholds(Y, scores, metric, best_threshold(Y, scores, metric, 0.5, weight), weight)
        value = METRICS[metric](Y, scores >= found, sample_weight=weight)
        for label, column in enumerate(scores.T):
            for t in candidates(column):
                other = np.where(np.arange(len(found)) == label, t, found)
                assert METRICS[metric](Y, scores >= other, sample_weight=weight) <= value + 1e-9


def test_micro_f1_holds_fixed_labels_at_the_reference():
    rng = np.random.default_rng(0)
    Y, scores, weight = rng.random((40, 3)) < 0.4, rng.random((40, 3)), np.ones(40)
    tunable = np.array([True, False, True])
    found = best_thresholds(Y, scores, "micro_f1", 0.7, weight, tunable)
    assert found[1] == 0.7
    options = [np.append(np.unique(column), 2.0) for column in scores.T]
    pairs = itertools.product(options[0], [0.7], options[2])
    best = max(METRICS["micro_f1"](Y, scores >= np.array(t)) for t in pairs)
    assert METRICS["micro_f1"](Y, scores >= found) == pytest.approx(best)


def test_a_function_is_maximised_too():
    for seed in range(10):
        Y, scores, weight = small_problem(seed)
        function = METRICS["macro_f1"]
        named = best_thresholds(Y, scores, "macro_f1", 0.5, weight)
        called = best_thresholds(Y, scores, function, 0.5, weight)
        values = [function(Y, scores >= t, sample_weight=weight) for t in (named, called)]
        assert values[0] == pytest.approx(values[1])
        one = best_threshold(Y, scores, function, 0.5, weight)
        best = max(function(Y, scores >= t, sample_weight=weight) for t in candidates(scores))
        assert function(Y, scores >= one, sample_weight=weight) == pytest.approx(best)


def test_a_function_may_be_nan_where_it_is_not_defined():
    Y, scores = np.array([[True], [False]]), np.array([[0.8], [0.1]])
    precision = lambda Y, P, sample_weight: Y[P].mean() if P.any() else np.nan  # noqa: E731
    assert best_threshold(Y, scores, precision, 0.0, ONES) == pytest.approx(0.45)


def test_the_reference_stays_when_nothing_is_better():
    Y, scores = np.array([[True], [False]]), np.array([[0.8], [0.1]])
    assert best_threshold(Y, scores, "hamming", 0.3, ONES) == 0.3
    assert best_threshold(Y, scores, "hamming", 0.9, ONES) == pytest.approx(0.45)


def test_predicting_nothing_puts_the_threshold_just_above_the_scores():
    Y, scores = np.zeros((2, 1), dtype=bool), np.array([[0.8], [0.9]])
    assert best_threshold(Y, scores, "hamming", 0.5, ONES) == np.nextafter(0.9, 1)


def test_predicting_everything_puts_the_threshold_on_the_lowest_score():
    Y, scores = np.ones((2, 1), dtype=bool), np.array([[0.2], [0.3]])
    assert best_threshold(Y, scores, "hamming", 0.5, ONES) == 0.2


def test_a_tie_cannot_be_cut():
    Y, scores = np.array([[True], [False]]), np.array([[0.7], [0.7]])
    assert best_threshold(Y, scores, "micro_f1", 0.5, ONES) == 0.5


def test_neighbouring_floats_can_be_cut():
    Y, scores = np.array([[False], [True]]), np.array([[0.7], [np.nextafter(0.7, 1)]])
    assert best_threshold(Y, scores, "hamming", 0.0, ONES) == scores[1, 0]


def test_infinite_scores_can_be_cut():
    Y, scores = np.array([[True], [False]]), np.array([[np.inf], [-np.inf]])
    for reference in (-np.inf, 0.5, np.inf):
        assert_array_equal(scores >= best_threshold(Y, scores, "hamming", reference, ONES), Y)
