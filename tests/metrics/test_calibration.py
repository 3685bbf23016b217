"""The calibration line: regression of scikit-learn, intervals that hold the truth."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from mltsk.metrics import calibration_line


def made(n, slope, intercept, seed, groups=None):
    """Labels that follow predicted log-odds by a line."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-1, 1.2, n)
    shared = 0.0 if groups is None else rng.normal(0, 0.001, groups.max() + 1)[groups]
    truth = 1 / (1 + np.exp(-(slope * log_odds + intercept + shared)))
    return rng.random(n) < truth, 1 / (1 + np.exp(-log_odds))


def test_calibration_line_has_the_slope_of_logistic_regression():
    y, p = made(400, 0.7, 0.3, seed=0)
    log_odds = np.log(p / (1 - p))
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    model.fit(log_odds[:, None], y)
    line = calibration_line(y, p)
    assert_allclose(line.slope.value, model.coef_[0, 0], rtol=1e-5)
    shifted = 1 / (1 + np.exp(-(log_odds + line.intercept.value)))
    assert_allclose(shifted.mean(), y.mean())  # in the large, it is right


def test_calibration_line_has_intervals_that_hold_the_truth():
    held = np.zeros(2)
    for seed in range(300):
        y, p = made(200, 1.0, 0.0, seed)
        line = calibration_line(y, p)
        held += [
            line.slope.low <= 1 <= line.slope.high,
            line.intercept.low <= 0 <= line.intercept.high,
        ]
    assert (np.abs(held / 300 - 0.95) < 0.03).all()


def test_calibration_line_of_copied_rows_is_that_of_one_copy():
    y, p = made(300, 0.8, 0.2, seed=1)
    groups = np.tile(np.arange(300), 5)
    copied = calibration_line(np.tile(y, 5), np.tile(p, 5), groups=groups)
    once = calibration_line(y, p, groups=np.arange(300))
    assert_allclose(copied, once, atol=1e-6)
    alone = calibration_line(np.tile(y, 5), np.tile(p, 5))
    assert alone.slope.high - alone.slope.low < once.slope.high - once.slope.low


def test_calibration_line_is_undefined_where_there_is_none():
    assert np.isnan(calibration_line([1, 1, 1], [0.2, 0.5, 0.9])).all()
    line = calibration_line([1, 0, 1, 0], [0.5, 0.5, 0.5, 0.5])
    assert np.isnan(line.slope).all()
    assert_allclose(line.intercept.value, 0, atol=1e-12)
    # all cases above all others: no slope is steep enough
    assert np.isnan(calibration_line([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9]).slope).all()
