"""Probabilities from leave-one-out scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import brier_score_loss

from mltsk import MLTSKClassifier
from mltsk.probabilities import fit_curves


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
        assert brier_score_loss(Y[:, j], proba[:, j]) < brier_score_loss(Y[:, j], np.clip(scores[:, j], 0, 1))


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
    assert_allclose(fit_curves(scores, Y, w * 1.0).middles, fit_curves(*again, ones).middles)
