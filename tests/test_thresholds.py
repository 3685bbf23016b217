"""Thresholds of labels: from which score on a label is predicted."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import f1_score, precision_score, recall_score

from mltsk import IncrementalMLTSK, MLTSKClassifier, PaperMLTSK
from mltsk.exceptions import InputError
from mltsk.metrics import proportion_interval
from mltsk.pipelines import with_thresholds
from mltsk.probabilities import probabilities_of
from mltsk.thresholds import check_threshold_wish, find_thresholds, thresholds_at

WISHES = ["f1", ("precision", 0.5), ("recall", 0.8), ("cost", 1, 1)]


@pytest.fixture(scope="module")
def frames():
    """1,000 samples as frames, with three labels of which the last is rare."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(1000, 5)), columns=[f"x{d}" for d in range(5)])
    Y = X.to_numpy()[:, :3] + rng.normal(size=(1000, 3)) > [1, 1.5, 2]
    return X, pd.DataFrame(Y.astype(int))


@pytest.fixture(scope="module")
def noisy():
    """Scores with ties and labels that follow them loosely."""
    rng = np.random.default_rng(3)
    scores = np.round(rng.random((80, 3)), 2)
    return scores, (scores + 0.4 * rng.normal(size=(80, 3)) > 0.9).astype(float)


def thresholds_for(wish, scores, Y, w=None):
    """Thresholds, and which labels miss the wish."""
    if w is None:
        w = np.ones(len(Y))
    return find_thresholds(wish, scores, Y, w)


def lower_end(y, predicted):
    """The lower end of the one-sided 95 % interval of a precision."""
    return proportion_interval(y[predicted].sum(), predicted.sum(), confidence=0.9).low


def predicted_above(threshold, scores):
    """Which rows are predicted with a threshold, which is never a score itself."""
    assert not (scores == threshold).any()
    return scores > threshold


@pytest.mark.parametrize("j", [0, 1, 2])
def test_find_thresholds_gives_the_best_cut_there_is(noisy, j):
    scores = noisy[0][:, j]
    y = noisy[1][:, j]
    cuts = [scores >= score for score in np.unique(scores)]
    chosen = {}
    for wish in ("f1", ("precision", 0.3), ("recall", 0.8)):
        chosen[wish] = predicted_above(thresholds_for(wish, *noisy)[0][j], scores)
    best_f1 = max(f1_score(y, cut) for cut in cuts)
    assert f1_score(y, chosen["f1"]) == pytest.approx(best_f1)
    precise = [cut.sum() for cut in cuts if lower_end(y, cut) >= 0.3]
    assert chosen["precision", 0.3].sum() == max(precise)
    complete = [cut.sum() for cut in cuts if recall_score(y, cut) >= 0.8]
    assert chosen["recall", 0.8].sum() == min(complete)


def test_find_thresholds_comes_as_near_as_possible_and_says_so(noisy):
    scores, Y = noisy
    Y = np.where(scores == scores.max(axis=0), 0.0, Y)
    thresholds, missed = thresholds_for(("precision", 0.99), scores, Y)
    assert missed.all()
    for j in range(3):
        y = Y[:, j]
        s = scores[:, j]
        best = max(lower_end(y, s >= score) for score in s)
        assert lower_end(y, s > thresholds[j]) == pytest.approx(best, abs=1e-3)


@pytest.mark.parametrize("wish", WISHES)
def test_find_thresholds_is_finite_where_nobody_has_a_label(noisy, wish):
    scores, Y = noisy
    thresholds, missed = thresholds_for(wish, scores, 0 * Y)
    assert np.isfinite(thresholds).all()
    assert missed.all() == (wish[0] in ("precision", "recall"))


@pytest.mark.parametrize("wish", WISHES)
def test_find_thresholds_counts_weights_as_copies(noisy, wish):
    scores, Y = noisy
    w = np.random.default_rng(2).integers(0, 3, 80)
    weighted, _ = thresholds_for(wish, scores, Y, w * 1.0)
    repeated, _ = thresholds_for(
        wish, np.repeat(scores, w, axis=0), np.repeat(Y, w, axis=0)
    )
    assert_allclose(weighted, repeated)


@pytest.mark.parametrize("wish", [("cost", 1, 3), ["cost", 2.0, 6.0]])
def test_find_thresholds_of_a_cost_is_where_both_mistakes_cost_the_same(noisy, wish):
    thresholds, missed = thresholds_for(wish, *noisy)
    assert_allclose(1 / (1 + np.exp(-thresholds)), 0.25)  # 0.75 · 1 = 0.25 · 3
    assert not missed.any()


@pytest.mark.parametrize(
    "wish",
    [
        ("cost",),
        ("cost", 1),
        ("cost", 1, -1),
        ("cost", 0, 1),
        ("cost", 1, np.nan),
        ("cost", 1, np.inf),
        ("cost", "a", "b"),
        ("cost", 1, 2, 3),
        ("cost", [1, 2], 3),
        ["cost", 1, 2, "a"],
    ],
)
def test_find_thresholds_refuses_a_cost_without_two_numbers_above_0(noisy, wish):
    with pytest.raises(ValueError, match="'cost' needs two numbers above 0"):
        thresholds_for(wish, *noisy)


def test_fit_warns_once_and_names_the_labels_that_miss_their_precision(frames):
    X, Y = frames
    named = Y.set_axis(["ill", "odd", "rare"], axis=1)
    named["odd"] = np.random.default_rng(0).integers(0, 2, len(Y))
    clf = MLTSKClassifier(n_rules=0, threshold=("precision", 0.7), max_statements=4)
    sentence = r"Precision 0\.7 cannot be reached for odd( and rare)?: "
    with pytest.warns(UserWarning, match=sentence) as warned:
        clf.fit(X, named)
    assert len(warned) == 1
    predicted = clf.loo_scores_[:, 0] >= clf.system_.thresholds[0]
    assert precision_score(named.ill, predicted) >= 0.7


def test_predict_gives_a_label_more_often_where_misses_cost_more(frames):
    X, Y = frames
    counts = []
    for wish in (("cost", 5, 1), ("cost", 1, 1), ("cost", 1, 5)):
        clf = MLTSKClassifier(n_rules=0, threshold=wish).fit(X, Y)
        counts.append(clf.predict(X).sum())
    assert counts[0] < counts[1] < counts[2]


def test_predict_with_a_cost_compares_probabilities(frames):
    X, Y = frames
    clf = MLTSKClassifier(n_rules=0, threshold=("cost", 1, 3)).fit(X, Y)
    assert (clf.predict(X) == (clf.predict_proba(X) >= 0.25)).all()


def test_thresholds_at_are_the_least_log_odds_that_reach_a_probability():
    wished = np.array([1e-20, 0.02, 0.3, 0.5, 0.7, 0.999, 1 - 1e-12])
    thresholds = thresholds_at(wished)
    assert (probabilities_of(thresholds) >= wished).all()
    assert (probabilities_of(np.nextafter(thresholds, -np.inf)) < wished).all()


@pytest.mark.parametrize("max_statements", [None, 4])
def test_predict_says_yes_to_a_probability_that_equals_its_threshold(
    frames, max_statements
):
    X, Y = frames
    clf = MLTSKClassifier(n_rules=0, max_statements=max_statements).fit(X, Y)
    proba = np.asarray(clf.predict_proba(X))
    for row in range(20):  # log-odds of the threshold round a last bit too high for 6
        threshold = proba[row]
        fixed = with_thresholds(clf, threshold)
        is_given = proba >= threshold
        assert (np.asarray(fixed.predict(X)) == is_given).all()
        assert (np.asarray(fixed.decision_function(X) > 0) == is_given).all()
        assert (proba >= fixed.thresholds_).tolist() == is_given.tolist()
    again = MLTSKClassifier(
        n_rules=0, max_statements=max_statements, threshold=proba[0].tolist()
    ).fit(X, Y)
    assert (np.asarray(again.predict(X)) == (proba >= proba[0])).all()


def test_predict_with_tuned_thresholds_beats_one_half_on_rare_labels(frames):
    X, Y = frames
    f1 = {}
    for threshold in ("f1", 0.5):
        clf = MLTSKClassifier(n_rules=0, threshold=threshold).fit(X[:500], Y[:500])
        predicted = clf.predict(X[500:])
        f1[threshold] = f1_score(Y[500:], predicted, average="macro", zero_division=0)
    assert f1["f1"] > f1[0.5] + 0.05


NO_SHARE = "a share above 0 and up to 1 belongs to 'precision'"
NO_WISH = r"threshold must be a probability, one per label, 'f1', \('cost', 1, 5\), "


@pytest.mark.parametrize(
    ("threshold", "match"),
    [
        ("median", f"{NO_WISH}.*got 'median'"),
        (("precision", 80), NO_SHARE),
        (("beauty", 0.5), NO_WISH),
        ([0.1, 0.2], "for 3 labels"),
        (np.nan, "a probability"),
        (1.5, "threshold=1.5 is no probability: choose one between 0 and 1"),
        (("cost", 1, -1), "'cost' needs two numbers above 0"),
    ],
)
def test_fit_refuses_what_is_no_threshold(frames, threshold, match):
    X, Y = frames
    with pytest.raises(ValueError, match=match):
        MLTSKClassifier(n_rules=0, threshold=threshold).fit(X[:60], Y[:60])


@pytest.mark.parametrize(
    "wish",
    [
        "median",
        "F1",
        None,
        True,
        {},
        10**400,
        1e200,
        -0.1,
        1.01,
        np.inf,
        [0.5, np.nan],
        [[0.5]],
        [0.5, "0.5"],
        ["0.5", "0.4"],
        [0.5, [0.5]],
        [True, False],
        ("f1",),
        ("cost",),
        ("cost", 1),
        ("cost", 1, "5"),
        ("cost", 1, 10**400),
        ("cost", 1e-300, 1e300),
        ("cost", True, 1),
        ("recall",),
        ("recall", 1.1),
        ("recall", None),
        ("recall", 0.5, 0.5),
        ("precision", np.nan),
    ],
    ids=repr,
)
def test_check_threshold_wish_refuses_what_no_label_could_have(wish):
    with pytest.raises(InputError, match="threshold"):
        check_threshold_wish(wish)


@pytest.mark.parametrize(
    "wish",
    [*WISHES, 0.5, 1, np.float32(0.3), [0.1, 0.2], np.array([1, 0]), ["recall", 1]],
)
def test_check_threshold_wish_takes_what_a_fit_takes(wish):
    check_threshold_wish(wish)
    check_threshold_wish(wish, n_labels=2)


@pytest.mark.parametrize("estimator", [MLTSKClassifier, IncrementalMLTSK])
@pytest.mark.parametrize("wish", ["median", ("recall", 2), ("cost", 1, -1), 1e200])
def test_fit_refuses_a_wish_for_thresholds_before_it_reads_the_data(estimator, wish):
    with pytest.raises(InputError, match="threshold"):
        estimator(threshold=wish).fit(None, None)


def test_fit_refuses_thresholds_of_another_number_of_labels_before_the_work(frames):
    X, Y = frames
    Y = Y.astype(float)
    Y.iloc[0, 0] = np.nan
    # a fit would refuse this coupling as soon as it begins
    clf = MLTSKClassifier(coupling="laplacian", threshold=[0.5, 0.5])
    with pytest.raises(InputError, match=r"threshold must be .* for 3 labels"):
        clf.fit(X, Y)


@pytest.mark.parametrize("wish", ["f1", [0.5, "0.5"], 1e200, True, [0.5, 0.5], 10**400])
def test_fit_of_the_papers_model_refuses_what_is_no_threshold(frames, wish):
    X, Y = frames
    with pytest.raises(ValueError, match="threshold"):
        PaperMLTSK(threshold=wish).fit(X[:60], Y[:60])


@pytest.mark.parametrize("wish", ["f1", ("precision", 0.5), ("recall", 0.8)])
def test_find_thresholds_gives_a_label_that_all_rows_have_even_odds(wish):
    log_odds = np.full((6, 1), 5.2)
    thresholds, missed = find_thresholds(wish, log_odds, np.ones((6, 1)), np.ones(6))
    assert probabilities_of(thresholds).tolist() == [0.5]
    assert not missed.any()
