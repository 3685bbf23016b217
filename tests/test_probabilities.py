"""Probabilities and thresholds from leave-one-out scores."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import brier_score_loss, f1_score, precision_score, recall_score

from mltsk import MLTSKClassifier
from mltsk.probabilities import find_thresholds, fit_curves

GOALS = ["f1", ("precision", 0.5), ("recall", 0.8), "cost"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 5))
    log_odds = 2 * X[:, :3] + 1.5 * np.sign(X[:, 1:4]) + [-2.0, 0.0, 1.0]
    return X, (rng.random((1200, 3)) < 1 / (1 + np.exp(-log_odds))).astype(int)


@pytest.fixture(scope="module")
def clf(data):
    return MLTSKClassifier().fit(data[0][:600], data[1][:600])


def test_probabilities_are_better_than_scores_cut_to_0_and_1(data, clf):
    X, Y = data[0][600:], data[1][600:]
    scores, proba = clf.system_.scores(X), clf.predict_proba(X)
    for j in range(3):
        assert brier_score_loss(Y[:, j], proba[:, j]) < brier_score_loss(
            Y[:, j], np.clip(scores[:, j], 0, 1)
        )


def test_of_those_who_get_a_probability_that_share_has_the_label(data, clf):
    proba, Y = clf.predict_proba(data[0][600:]).ravel(), data[1][600:].ravel()
    for low in (0.0, 0.25, 0.5, 0.75):
        some = (proba >= low) & (proba < low + 0.25)
        assert Y[some].mean() == pytest.approx(proba[some].mean(), abs=0.08)


def test_a_higher_score_is_never_less_probable(data, clf):
    scores, proba = clf.system_.scores(data[0]), clf.predict_proba(data[0])
    for j in range(3):
        assert (np.diff(proba[np.argsort(scores[:, j]), j]) >= 0).all()
    against = fit_curves(-scores, data[1].astype(float), np.ones(len(scores)))
    assert (against.slopes > 0).all()


def test_a_rare_label_follows_the_curve_of_all():
    rng = np.random.default_rng(1)
    scores = rng.random((500, 4))
    Y = (rng.random((500, 4)) < 1 / (1 + np.exp(-8 * (scores - 0.5)))).astype(float)
    w = np.ones((500, 4))
    w[3:, 3] = 0.0  # observed in three rows
    curves = fit_curves(scores, Y, w)
    assert curves.middles[3] == pytest.approx(0.5, abs=0.15)
    assert curves.slopes[3] == pytest.approx(8, rel=0.3)
    never = fit_curves(scores, Y * [1, 1, 1, 0], np.ones(500))
    assert np.isfinite(never.offsets).all()


def test_counts_are_copies_and_zeros_are_nothing():
    rng = np.random.default_rng(2)
    scores, w = rng.random((60, 2)), rng.integers(0, 3, 60)
    Y = (scores + 0.3 * rng.normal(size=(60, 2)) > 0.6).astype(float)
    again = [np.repeat(a, w, axis=0) for a in (scores, Y)]
    ones = np.ones(w.sum())
    assert_allclose(
        fit_curves(scores, Y, w * 1.0).middles, fit_curves(*again, ones).middles
    )


@pytest.fixture(scope="module")
def frames():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(1000, 5)), columns=[f"x{d}" for d in range(5)])
    return X, pd.DataFrame(
        (X.to_numpy()[:, :3] + rng.normal(size=(1000, 3)) > [1, 1.5, 2]).astype(int)
    )


def found(wish, scores, Y, w=None, cost=(1, 1)):
    w = np.ones(len(Y)) if w is None else w
    return find_thresholds(wish, scores, Y, w, fit_curves(scores, Y, w), cost)


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(3)
    scores = np.round(rng.random((80, 3)), 2)  # with ties
    return scores, (scores + 0.4 * rng.normal(size=(80, 3)) > 0.9).astype(float)


def test_every_goal_has_the_best_cut_there_is(noisy):
    scores, Y = noisy
    for j in range(3):
        s, y = scores[:, j], Y[:, j]
        cuts = {t: s >= t for t in np.unique(s)}
        f1, precision, recall = (
            {t: metric(y, given) for t, given in cuts.items()}
            for metric in (f1_score, precision_score, recall_score)
        )
        chosen = [s > found(wish, scores, Y)[0][j] for wish in GOALS[:3]]
        assert f1_score(y, chosen[0]) == pytest.approx(max(f1.values()))
        assert chosen[1].sum() == max(
            cuts[t].sum() for t in cuts if precision[t] >= 0.5
        )
        assert chosen[2].sum() == min(cuts[t].sum() for t in cuts if recall[t] >= 0.8)


def test_what_cannot_be_reached_is_as_near_as_possible_and_told(noisy):
    scores, Y = noisy
    Y = np.where(scores == scores.max(axis=0), 0.0, Y)
    thresholds, missed = found(("precision", 0.99), scores, Y)
    assert missed.all()
    for j in range(3):
        reached = precision_score(Y[:, j], scores[:, j] > thresholds[j])
        assert reached == pytest.approx(
            max(precision_score(Y[:, j], scores[:, j] >= t) for t in scores[:, j])
        )
    for wish in GOALS:
        thresholds, missed = found(wish, scores, 0 * Y)
        assert np.isfinite(thresholds).all()
        assert missed.all() == isinstance(wish, tuple)


def test_one_warning_names_the_labels(frames):
    X, Y = frames
    names = Y.set_axis(["ill", "odd", "rare"], axis=1)
    names["odd"] = np.random.default_rng(0).integers(0, 2, len(Y))
    with pytest.warns(
        UserWarning, match=r"Precision 0\.9 cannot be reached for (odd|rare): "
    ) as told:
        clf = MLTSKClassifier(
            n_rules=0, threshold=("precision", 0.9), max_statements=4
        ).fit(X, names)
    assert len(told) == 1
    assert (
        precision_score(names.ill, clf.loo_scores_[:, 0] >= clf.thresholds_[0]) >= 0.9
    )


def test_thresholds_count_copies_and_no_zeros(noisy):
    scores, Y = noisy
    w = np.random.default_rng(2).integers(0, 3, 80)
    again = [np.repeat(a, w, axis=0) for a in (scores, Y)]
    for wish in GOALS:
        assert_allclose(found(wish, scores, Y, w * 1.0)[0], found(wish, *again)[0])


def test_dear_misses_give_a_label_more_often(frames):
    X, Y = frames
    given = [
        MLTSKClassifier(n_rules=0, threshold="cost", cost=cost)
        .fit(X, Y)
        .predict(X)
        .sum()
        for cost in ((5, 1), (1, 1), (1, 5))
    ]
    assert given[0] < given[1] < given[2]
    clf = MLTSKClassifier(n_rules=0, threshold="cost", cost=(1, 3)).fit(X, Y)
    assert (clf.predict(X) == (clf.predict_proba(X) >= 0.25)).all()


def test_tuned_thresholds_beat_one_half_on_rare_labels(frames):
    X, Y = frames
    tuned, half = (
        MLTSKClassifier(n_rules=0, threshold=t).fit(X[:500], Y[:500])
        for t in ("f1", 0.5)
    )
    scores = [
        f1_score(Y[500:], clf.predict(X[500:]), average="macro", zero_division=0)
        for clf in (tuned, half)
    ]
    assert scores[0] > scores[1] + 0.05


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"threshold": "median"}, "'threshold' parameter"),
        (
            {"threshold": ("precision", 80)},
            "a share above 0 and up to 1 belongs to 'precision'",
        ),
        (
            {"threshold": ("beauty", 0.5)},
            r"threshold must be a finite number, one per label, 'f1', 'cost', \('prec",
        ),
        ({"threshold": [0.1, 0.2]}, "there are 3 labels"),
        ({"threshold": np.nan}, "a finite number"),
        ({"threshold": "cost", "cost": (1, -1)}, "cost must be two numbers above 0"),
        ({"threshold": "cost", "cost": ("a", "b")}, "cost must be two numbers above 0"),
        ({"threshold": "cost", "cost": (1, 2, 3)}, "cost must be two numbers above 0"),
    ],
)
def test_what_is_no_threshold_is_refused(frames, wrong, match):
    with pytest.raises(ValueError, match=match):
        MLTSKClassifier(n_rules=0, **wrong).fit(frames[0][:60], frames[1][:60])
