"""Intervals of AP and AUC, against simulations with known truth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import average_precision_score, roc_auc_score

from mltsk.exceptions import InputError
from mltsk.metrics import average_precision_interval, roc_auc_interval
from mltsk.metrics.curves import ranking
from mltsk.metrics.intervals import guessed_precision

INTERVALS = [average_precision_interval, roc_auc_interval]


def rows(rng, n, rate, distance):
    """Labels, and scores that lie higher by a distance where a row has the label."""
    y = rng.random(n) < rate
    return y, rng.normal(size=n) + distance * y


@pytest.mark.parametrize(
    ("n", "rate", "distance"),
    [(300, 0.2, 0.0), (300, 0.2, 0.5), (300, 0.2, 2.0), (400, 0.05, 1.0)],
    ids=["noise", "weak", "strong", "rare"],
)
def test_intervals_of_95_percent_hold_the_truth_in_90_to_98(n, rate, distance):
    rng = np.random.default_rng(0)
    all_rows = rows(rng, 200_000, rate, distance)
    truth = [float(figure[0]) for figure in ranking(*all_rows)]
    held = []
    for _ in range(300):
        y, s = rows(rng, n, rate, distance)
        estimates = [interval(y, s) for interval in INTERVALS]
        held.append(
            [e.low <= true <= e.high for e, true in zip(estimates, truth, strict=True)]
        )
    coverage = np.mean(held, axis=0)
    assert (coverage >= 0.90).all(), coverage
    assert (coverage <= 0.98).all(), coverage


@pytest.mark.parametrize(
    ("n", "rate"), [(300, 0.2), (400, 0.05)], ids=["usual", "rare"]
)
def test_intervals_hold_the_truth_of_scores_that_are_sums_of_labels(n, rate):
    rng = np.random.default_rng(3)
    held = []
    for _ in range(400):
        X = rng.normal(size=(n, 10))
        y = rng.random(n) < rate
        likeness = X @ X.T
        np.fill_diagonal(likeness, 0.0)  # no row has a say in its own score
        s = likeness @ (y - y.mean())
        ap = average_precision_interval(y, s, noise_share=1.0)
        auc = roc_auc_interval(y, s, noise_share=1.0)
        held.append([ap.low <= rate <= ap.high, auc.low <= 0.5 <= auc.high])
    coverage = np.mean(held, axis=0)
    assert (coverage >= 0.90).all(), coverage
    # .99 of AP where all of its variance is taken to be of such sums
    assert (coverage <= 0.98).all(), coverage


def test_roc_auc_interval_holds_the_truth_with_five_cases():
    rng = np.random.default_rng(1)
    truth = 0.7602  # of a normal distance of 1: the share of N(1, 2) above 0
    held = []
    for _ in range(300):
        y = np.arange(100) < 5
        s = rng.normal(size=100) + y
        estimate = roc_auc_interval(y, s)
        held.append(estimate.low <= truth <= estimate.high)
    assert np.mean(held) >= 0.90


def test_intervals_lie_around_scikit_learns_figures_of_observed_rows():
    rng = np.random.default_rng(2)
    y, s = rows(rng, 80, 0.3, 1.0)
    s = s.round(1)  # with ties
    gaps = np.where(np.arange(80) < 20, np.nan, y)
    ap = average_precision_interval(gaps, s)
    auc = roc_auc_interval(gaps, s)
    assert ap.value == pytest.approx(average_precision_score(y[20:], s[20:]))
    assert auc.value == pytest.approx(roc_auc_score(y[20:], s[20:]))
    for estimate in (ap, auc):
        assert 0 < estimate.low < estimate.value < estimate.high < 1


def test_roc_auc_interval_has_the_standard_error_of_delong():
    # By hand: cases at 0.8, 0.4 and 0.6, others at 0.5, 0.3 and 0.1; shares of others
    # below a case 1, 2/3, 1, and of cases below another 1/3, 0, 0.
    y = [1, 1, 1, 0, 0, 0]
    s = [0.8, 0.4, 0.6, 0.5, 0.3, 0.1]
    value, low, high = roc_auc_interval(y, s)
    variance = np.var([1, 2 / 3, 1], ddof=1) / 3 + np.var([1 / 3, 0, 0], ddof=1) / 3
    log_odds = np.log(value / (1 - value))
    half = 4.3027 * np.sqrt(variance) / (value * (1 - value))  # Student's of 2
    expected = 1 / (1 + np.exp([half - log_odds, -half - log_odds]))
    assert value == pytest.approx(8 / 9)
    assert_allclose([low, high], expected, atol=1e-4)


@pytest.mark.parametrize("interval", INTERVALS)
def test_an_interval_of_a_perfect_ranking_is_wide_where_there_are_few_cases(interval):
    widths = []
    for n_cases in (1, 5, 50):
        y = np.arange(200) < n_cases
        value, low, high = interval(y, y * 1.0)
        assert value == high == 1
        widths.append(high - low)
    assert widths[0] > 0.8
    assert widths[0] > widths[1] > widths[2] > 0


@pytest.mark.parametrize("interval", INTERVALS)
def test_an_interval_with_less_confidence_is_narrower(interval):
    y, s = rows(np.random.default_rng(4), 100, 0.3, 1.0)
    wide = interval(y, s)
    narrow = interval(y, s, confidence=0.5)
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("y", [[0, 0], [1, 1], [np.nan, 1], [np.nan, np.nan], []])
def test_an_interval_is_nan_where_rows_do_not_define_it(interval, y):
    assert np.isnan(interval(y, np.arange(len(y)))).all()


@pytest.mark.parametrize("interval", INTERVALS)
def test_an_interval_is_refused_with_a_sentence(interval):
    with pytest.raises(InputError, match="one label of each row"):
        interval([[1, 0]], [[0.1, 0.2]])
    with pytest.raises(InputError, match="they must match"):
        interval([1, 0], [0.1])
    with pytest.raises(InputError, match="confidence must lie between"):
        interval([1, 0], [0.1, 0.2], confidence=95)
    with pytest.raises(InputError, match="only 0 and 1"):
        interval([1, 2], [0.1, 0.2])


@pytest.mark.parametrize("interval", INTERVALS)
def test_interval_is_not_narrower_where_every_row_is_there_three_times(interval):
    rng = np.random.default_rng(0)
    y = rng.random(80) < 0.3
    s = y + rng.normal(size=80)
    once = interval(y, s)
    groups = np.repeat(np.arange(80), 3)
    thrice = interval(y[groups], s[groups], groups=groups)
    assert thrice.value == pytest.approx(once.value)
    assert thrice.low == pytest.approx(once.low, abs=1e-3)
    assert thrice.high == pytest.approx(once.high, abs=1e-3)
    apart = interval(y[groups], s[groups])
    assert apart.high - apart.low < 0.7 * (once.high - once.low)


@pytest.mark.parametrize("n_groups", [8, 60])
def test_guessed_precision_is_the_mean_of_groups_in_random_order(n_groups):
    rng = np.random.default_rng(2)
    groups = rng.integers(0, n_groups, size=240)
    chances = 1 / (1 + np.exp(1.3 - rng.normal(size=n_groups)))
    y = rng.random(240) < chances[groups]
    figures = []
    for _ in range(1_000):
        scores = rng.random(n_groups)[groups] + 1e-6 * rng.random(240)
        figures.append(average_precision_score(y, scores))
    guessed = guessed_precision(y, groups)
    assert guessed == pytest.approx(np.mean(figures), abs=0.015)
    assert guessed < y.mean() + 0.1  # of 8 rows instead of 240 it is .2 above the rate


def test_roc_auc_interval_counts_what_cases_and_others_of_a_group_share():
    # groups of a case and another row with a common shift: pairs of one group win or
    # lose whatever the shift is, so that the AUC is surer than from rows apart
    rng = np.random.default_rng(0)
    y = np.tile([1, 0], 60)
    shift = np.repeat(3 * rng.normal(size=60), 2)
    s = y + shift + 0.3 * rng.normal(size=120)
    together = roc_auc_interval(y, s, groups=np.repeat(np.arange(60), 2))
    apart = roc_auc_interval(y, s)
    assert together.value == apart.value
    assert together.high - together.low < 0.5 * (apart.high - apart.low)


@pytest.mark.parametrize("interval", INTERVALS)
def test_interval_refuses_groups_of_other_rows(interval):
    with pytest.raises(InputError, match=r"groups have shape \(2,\) but y has"):
        interval([0, 1, 1], [0.1, 0.2, 0.3], groups=[0, 1])
