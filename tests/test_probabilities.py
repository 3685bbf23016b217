"""Probabilities of labels, from leave-one-out scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier
from mltsk.probabilities import fit_curves


@pytest.fixture(scope="module")
def data():
    """1,200 samples and three labels, whose odds jump as well as rise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 5))
    log_odds = 2 * X[:, :3] + 1.5 * np.sign(X[:, 1:4]) + [-2.0, 0.0, 1.0]
    return X, (rng.random((1200, 3)) < 1 / (1 + np.exp(-log_odds))).astype(int)


@pytest.fixture(scope="module")
def clf(data):
    return MLTSKClassifier().fit(data[0][:600], data[1][:600])


def test_predict_proba_has_the_mean_of_the_rate(data, clf):
    Y = data[1][:600]
    honest = 1 / (1 + np.exp(-clf.loo_scores_))
    assert_allclose(honest.mean(axis=0), Y.mean(axis=0), atol=1e-3)


def test_predict_proba_is_the_share_that_has_the_label(data, clf):
    proba = clf.predict_proba(data[0][600:]).ravel()
    Y = data[1][600:].ravel()
    for low in (0.0, 0.25, 0.5, 0.75):
        quarter = (proba >= low) & (proba < low + 0.25)
        assert Y[quarter].mean() == pytest.approx(proba[quarter].mean(), abs=0.08)


def test_predict_proba_never_falls_where_the_score_rises(data, clf):
    scores = clf.system_.scores(data[0])
    proba = clf.predict_proba(data[0])
    for j in range(3):
        assert (np.diff(proba[np.argsort(scores[:, j]), j]) >= 0).all()


def test_fit_curves_rise_even_where_labels_fall(data, clf):
    scores = clf.fit_record_.scores
    curves = fit_curves(-scores, data[1][:600].astype(float), np.ones(600))
    assert (curves.slopes > 0).all()
    # and the mean probability is the rate all the same
    proba = 1 / (1 + np.exp(-curves.log_odds(-scores)))
    assert_allclose(proba.mean(axis=0), data[1][:600].mean(axis=0), atol=1e-3)


def test_fit_curves_give_a_rare_label_the_curve_of_all():
    rng = np.random.default_rng(1)
    scores = rng.random((500, 4))
    Y = (rng.random((500, 4)) < 1 / (1 + np.exp(-8 * (scores - 0.5)))).astype(float)
    w = np.ones((500, 4))
    w[3:, 3] = 0.0  # observed in three rows
    curves = fit_curves(scores, Y, w)
    assert curves.slopes[3] == pytest.approx(8, rel=0.3)
    never = fit_curves(scores, Y * [1, 1, 1, 0], np.ones(500))
    assert np.isfinite(never.offsets).all()


def test_fit_curves_count_weights_as_copies_in_groups():
    rng = np.random.default_rng(2)
    scores = rng.random((60, 2))
    w = rng.integers(0, 3, 60)
    Y = (scores + 0.3 * rng.normal(size=(60, 2)) > 0.6).astype(float)
    weighted = fit_curves(scores, Y, w * 1.0)
    copies = np.repeat(np.arange(60), w)
    repeated = fit_curves(scores[copies], Y[copies], np.ones(len(copies)), copies)
    assert_allclose(weighted.slopes, repeated.slopes)
    assert_allclose(weighted.offsets, repeated.offsets)


def test_fit_curves_believe_few_large_groups_as_little_as_so_many_rows():
    rng = np.random.default_rng(4)
    scores = rng.random((12, 1))
    Y = (scores > 0.5).astype(float)
    alone = fit_curves(scores, Y, np.ones(12))
    groups = np.repeat(np.arange(12), 25)
    in_groups = fit_curves(scores[groups], Y[groups], np.ones(300), groups)
    assert_allclose(in_groups.slopes, alone.slopes)
    apart = fit_curves(scores[groups], Y[groups], np.ones(300))
    assert apart.slopes > 2 * alone.slopes
