"""Figures of decisions and net benefit, next to figures of scikit-learn and by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import confusion_matrix

from mltsk.exceptions import InputError
from mltsk.metrics import decision_intervals, net_benefit, proportion_interval

RNG = np.random.default_rng(0)
P = RNG.random(300)
Y = RNG.random(300) < P


def test_decision_intervals_are_those_of_a_confusion_matrix():
    (rest, alarms), (missed, found) = confusion_matrix(Y, P > 0.6)
    figures = decision_intervals(Y, P > 0.6)
    expected = [
        proportion_interval(found, found + missed),
        proportion_interval(rest, rest + alarms),
        proportion_interval(found, found + alarms),
        proportion_interval(rest, rest + missed),
    ]
    assert_allclose(figures, expected)


def test_decision_intervals_leave_out_what_was_not_observed_and_what_has_no_rows():
    y = np.array([1, 0, np.nan, 1])
    figures = decision_intervals(y, [0, 0, 1, 0])
    assert figures.sensitivity.value == 0
    assert figures.negative_predictive_value.value == 1 / 3
    assert np.isnan(figures.precision).all()


def test_decision_intervals_of_copied_rows_are_those_of_one_copy():
    once = decision_intervals(Y, P > 0.6)
    groups = np.tile(np.arange(300), 4)
    copied = decision_intervals(np.tile(Y, 4), np.tile(P > 0.6, 4), groups=groups)
    alone = decision_intervals(np.tile(Y, 4), np.tile(P > 0.6, 4))
    assert_allclose(copied, once, atol=2e-3)
    assert copied.sensitivity.low < alone.sensitivity.low
    ones = decision_intervals(np.ones(20), np.ones(20), groups=np.repeat([0, 1], 10))
    assert_allclose(ones.sensitivity, proportion_interval(2, 2))


def test_decision_intervals_of_groups_hold_the_truth():
    rng = np.random.default_rng(1)
    n_held = 0
    for _ in range(300):
        chance = rng.beta(2, 2, size=60)  # of each patient; .5 on average
        groups = np.repeat(np.arange(60), 5)
        is_given = rng.random(300) < chance[groups]
        sensitivity = decision_intervals(np.ones(300), is_given, groups=groups)[0]
        n_held += sensitivity.low <= 0.5 <= sensitivity.high
    assert 0.91 <= n_held / 300 <= 0.985


def test_net_benefit_weighs_false_alarms_by_the_odds_of_the_threshold():
    for t in (0.0, 0.1, 0.5, 0.73):
        hits = np.mean(Y & (t <= P))
        alarms = np.mean(~Y & (t <= P))
        assert_allclose(net_benefit(Y, P, t), hits - alarms * t / (1 - t))
    everybody = net_benefit(Y, np.ones(300), [0.2, 0.5])
    assert_allclose(everybody, Y.mean() - (1 - Y.mean()) * np.array([0.25, 1.0]))
    assert_allclose(net_benefit(Y, np.zeros(300), [0.2, 0.5]), 0.0)


@pytest.mark.parametrize("threshold", [1.0, -0.1, np.nan])
def test_net_benefit_refuses_what_is_no_threshold(threshold):
    with pytest.raises(InputError, match="less than 1"):
        net_benefit(Y, P, threshold)
