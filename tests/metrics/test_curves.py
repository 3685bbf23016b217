"""Curves of one label."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics

from mltsk.metrics.curves import (
    calibration_groups,
    precision_recall_curve,
    ranking,
    resamples,
    roc_curve,
)


@pytest.fixture(scope="module")
def label():
    rng = np.random.default_rng(0)
    s = np.round(rng.random(300), 2)  # with ties
    return rng.random(300) < s**2, s


def test_roc_curve_and_precision_recall_curve_are_scikit_learns(label):
    y, s = label
    found = roc_curve(y, s)
    assert_allclose(found, metrics.roc_curve(y, s, drop_intermediate=False)[:2])
    precision, recall, _ = metrics.precision_recall_curve(y, s)
    assert_allclose(precision_recall_curve(y, s), [recall[-2::-1], precision[-2::-1]])


def test_ranking_of_rows_and_of_resamples_is_scikit_learns(label):
    y, s = label
    assert_allclose(
        ranking(y, s),
        [[metrics.average_precision_score(y, s)], [metrics.roc_auc_score(y, s)]],
    )
    drawn = resamples(300, 1, seed=1)
    assert drawn.shape == (1000, 300)
    assert (drawn.sum(axis=1) == 300).all()
    w = drawn[0]
    expected = [
        f(y, s, sample_weight=w)
        for f in (metrics.average_precision_score, metrics.roc_auc_score)
    ]
    assert_allclose([part[0] for part in ranking(y, s, drawn[:1])], expected)
    assert np.isnan(ranking(np.zeros(300, dtype=bool), s)).all()


def test_calibration_groups_hold_what_was_forecast(label):
    y, s = label
    found = calibration_groups(y, s**2)
    assert found.size.sum() == 300
    assert (np.diff(found.forecast) > 0).all()
    assert ((found.low <= found.observed) & (found.observed <= found.high)).all()
    assert (
        np.mean((found.low <= found.forecast) & (found.forecast <= found.high)) >= 0.8
    )
    assert len(calibration_groups(y[:5], s[:5]).size) == 1


def test_calibration_groups_of_copied_rows_are_those_of_one_copy(label):
    y, s = label
    once = calibration_groups(y, s**2)
    patients = np.tile(np.arange(300), 4)
    alone = calibration_groups(np.tile(y, 4), np.tile(s**2, 4))
    copied = calibration_groups(np.tile(y, 4), np.tile(s**2, 4), groups=patients)
    assert_allclose(copied.observed, once.observed)
    wide = copied.high - copied.low
    assert (wide > 1.7 * (alone.high - alone.low)).all()
    assert_allclose(wide, once.high - once.low, rtol=0.1)


def test_calibration_groups_of_visits_are_off_no_more_often_than_by_chance():
    rng = np.random.default_rng(0)
    n_held = np.zeros(2)
    n_told = 0
    for _ in range(60):
        forecast = rng.uniform(0.1, 0.9, 80)  # of each patient, who has ten visits
        truth = rng.beta(
            4 * forecast, 4 - 4 * forecast
        )  # forecasts are right on average
        patients = np.repeat(np.arange(80), 10)
        y = rng.random(800) < truth[patients]
        for k, groups in enumerate((None, patients)):
            found = calibration_groups(y, forecast[patients], groups=groups)
            holds = (found.low <= found.forecast) & (found.forecast <= found.high)
            n_held[k] += holds.sum()
        n_told += len(found.size)
    without, with_groups = n_held / n_told
    assert without < 0.85
    assert 0.88 <= with_groups <= 0.99
