"""What a fit knew of its rows: honest scores, observed labels, short models."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import average_precision_score

from mltsk import MLTSKClassifier, evaluate
from mltsk.datasets import make_multilabel_rules

DATA = make_multilabel_rules(n_samples=120, n_features=5, n_labels=3, random_state=0)


@pytest.fixture(scope="module")
def clf():
    return MLTSKClassifier().fit(DATA.X, DATA.Y)


def test_fit_record_holds_the_honest_scores_of_all_rows(clf):
    record = clf.fit_record_
    assert_array_equal(record.loo_scores, clf.loo_scores_)
    assert_array_equal(record.labels, DATA.Y)
    assert record.loo_rows is None


def test_fit_record_labels_are_nan_where_not_observed():
    Y = DATA.Y.astype(float)
    Y[::4, 1] = np.nan
    assert_array_equal(MLTSKClassifier(0).fit(DATA.X, Y).fit_record_.labels, Y)


@pytest.mark.parametrize(
    "travels", [copy.copy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_fit_record_does_not_travel(clf, travels):
    assert travels(clf).fit_record_ is None
    assert clf.fit_record_ is not None


def test_short_models_are_chosen_once(clf):
    models = clf.fit_record_.short_models(10, 5)
    assert clf.fit_record_.short_models(6, 5) is models
    assert clf.fit_record_.short_models(10, 2) is not models


def test_shortened_records_score_the_rows_that_were_chosen_on(clf):
    short = clf.shorten(4)
    record = short.fit_record_
    assert_array_equal(record.loo_scores, short.loo_scores_)
    assert record.long is clf.fit_record_.long
    again = short.shorten(2)  # from the long model, not from the short one
    assert_array_equal(again.loo_scores_, clf.shorten(2).loo_scores_)


def test_fit_record_of_a_sample_knows_which_rows_it_is_about():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_500, 2))
    Y = (X > 0).astype(int)
    clf = MLTSKClassifier(n_rules=0, ridge=1.0).fit(X, Y)
    record = clf.fit_record_
    assert len(record.loo_rows) == 20_000
    assert_array_equal(record.loo_scores, clf.loo_scores_[record.loo_rows])
    short = clf.shorten(2)
    assert_array_equal(short.fit_record_.labels, Y[short.loo_rows_])


@pytest.fixture(scope="module")
def noise():
    """300 rows in which a label of a fifth of them follows from nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    return X, (rng.random((300, 2)) < 0.2).astype(float)


def test_worth_says_that_noise_is_no_better_than_guessing(noise):
    worth = MLTSKClassifier().fit(*noise).fit_record_.worth
    assert not worth.is_better_than_guessing.any()
    assert [worth.words(j) for j in (0, 1)] == ["cannot be predicted"] * 2


def test_worth_has_the_figures_of_loo_scores_next_to_those_of_a_random_order(noise):
    X, Y = noise
    clf = MLTSKClassifier().fit(X, Y)
    worth = clf.fit_record_.worth
    by_label = evaluate(Y, clf.loo_scores_, per_label=True)
    assert_allclose(worth.AP[:, 0], by_label["AP"])
    assert_allclose(worth.AUC[:, 0], by_label["AUC"])
    rng = np.random.default_rng(0)
    shuffled = [average_precision_score(Y[:, 0], rng.random(300)) for _ in range(300)]
    assert worth.guessed_AP[0] == pytest.approx(np.mean(shuffled), abs=0.005)


def test_given_by_folds_gives_nothing_where_all_rows_are_one_group(noise):
    X, Y = noise
    with pytest.warns(UserWarning, match="All rows are one group"):
        clf = MLTSKClassifier(threshold="f1").fit(X, Y, groups=np.zeros(300))
    assert not clf.fit_record_.given_by_folds("f1").any()


def test_given_by_folds_finds_no_more_cases_of_noise_than_alarms_say(noise):
    X, Y = noise
    record = MLTSKClassifier(threshold="f1").fit(X, Y).fit_record_
    given = record.given_by_folds("f1")
    assert given.shape == Y.shape
    precision = (given & (Y > 0)).sum() / max(given.sum(), 1)
    assert precision < 0.25
    fixed = record.given_by_folds(0.5)  # chosen without any row
    assert_array_equal(fixed, record.loo_scores >= 0)


def test_a_refit_keeps_nothing_of_the_fit_before():
    clf = MLTSKClassifier(max_statements=3).fit(DATA.X, DATA.Y)
    first_fit = MLTSKClassifier().fit(DATA.X[:, :4], DATA.Y)
    clf.set_params(max_statements=None).fit(DATA.X[:, :4], DATA.Y)
    assert vars(clf).keys() == vars(first_fit).keys()
    assert clf.certainty_ is None
    assert str(clf.rules_) == str(first_fit.rules_)


def test_a_refit_that_fails_leaves_the_model_as_it_was():
    clf = MLTSKClassifier(n_rules=2).fit(*DATA.frames())
    before = clf.decision_function(DATA.frames()[0])
    with pytest.raises(ValueError, match="rows but y has"):
        clf.fit(np.where(DATA.X > 1, np.nan, DATA.X), DATA.Y[:5])
    assert_array_equal(clf.decision_function(DATA.frames()[0]), before)


def noise_and_signal(n_rows=200):
    """Features, and two labels: one of chance alone, one of the first feature."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    chance = rng.random(n_rows) < 0.3
    return X, np.column_stack([chance, X[:, 0] > 0.4]).astype(int)


def test_given_by_folds_does_not_depend_on_the_order_of_rows(clf):
    order = np.random.default_rng(0).permutation(len(DATA.X))
    again = MLTSKClassifier().fit(DATA.X[order], DATA.Y[order])
    given = clf.fit_record_.given_by_folds("f1")
    assert_array_equal(again.fit_record_.given_by_folds("f1"), given[order])


def test_given_by_folds_keeps_groups_whole():
    X, Y = noise_and_signal(60)
    groups = np.repeat(np.arange(60), 2)
    clf = MLTSKClassifier(0).fit(X[groups], Y[groups], groups=groups)
    given = clf.fit_record_.given_by_folds("f1")
    assert_array_equal(given[0::2], given[1::2])


def test_given_by_folds_of_a_number_is_what_that_threshold_gives(clf):
    given = clf.fit_record_.given_by_folds(0.5)
    assert_array_equal(given, clf.loo_scores_ >= 0)


def test_with_size_chosen_in_folds_judges_rows_by_sizes_that_they_did_not_choose():
    sizes = range(1, 13)
    flattered = []
    honest = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(120, 8))
        y = (rng.random(120) < 0.3).astype(int)
        clf = MLTSKClassifier(n_rules=0).fit(X, y)
        path = clf.fit_record_.size_path(None, sizes)
        short = clf.shorten(best_size(path), None).fit_record_
        in_folds = short.with_size_chosen_in_folds(best_size, sizes, None)
        flattered.append(short.judged_labels.AUC[0, 0])
        honest.append(in_folds.judged_labels.AUC[0, 0])
    assert np.mean(honest) == pytest.approx(0.5, abs=0.04)
    assert np.mean(flattered) - np.mean(honest) > 0.01


def best_size(path):
    """The size of the best AP, which is a lucky one on noise."""
    return int(path["statements"][path["macro_AP"].argmax()])
