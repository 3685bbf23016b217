"""What a short model may say: cut points, ramps and conditions that people can read."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier
from mltsk.core.magnitude import rounded
from mltsk.short.candidates import Candidates, Interval, digits_of

RNG = np.random.default_rng(0)
X = np.column_stack(
    [
        RNG.normal(size=300),
        RNG.integers(18, 90, size=300),  # whole numbers
        RNG.integers(0, 2, size=300),  # two values
        np.full(300, 7.0),  # one value
    ]
)
Y = np.column_stack([X[:, 0] * (X[:, 1] - 50) > 0, X[:, 2] > 0]).astype(int)


@pytest.fixture(scope="module")
def long():
    return MLTSKClassifier(n_rules=6, order=0).fit(X, Y).system_


@pytest.fixture(scope="module")
def candidates(long):
    return Candidates.of(long, X, max_conditions=2)


def test_interval_center_and_reach_of_closed_and_open_ranges():
    closed = Interval(2.0, 6.0)
    assert closed.center(0.0, 10.0) == 4.0
    assert closed.reach(4.0) == 2.0
    below = Interval(-np.inf, 6.0)
    assert below.center(0.0, 10.0) == 0.0
    assert below.reach(0.0) == 6.0
    above = Interval(2.0, np.inf)
    assert above.center(0.0, 10.0) == 10.0
    assert above.reach(10.0) == 8.0


@pytest.mark.parametrize(
    ("numbers", "digits"), [([0.0], 3), ([1.234], 3), ([0.0123, 0.001], 4), ([120], 3)]
)
def test_digits_of_numbers_keeps_two_that_count(numbers, digits):
    assert digits_of(np.array(numbers)) == digits


def test_rounded_knows_digits_before_the_point():
    assert_array_equal(rounded([1234.5, -51.0], -1), [1230.0, -50.0])


def test_ramps_of_a_column_lie_between_round_cut_points(candidates):
    low = X.min(axis=0)
    span = np.ptp(X, axis=0)
    is_age = candidates.terms.feature == 1
    starts = low[1] + candidates.terms.low[is_age] * span[1]
    stops = low[1] + candidates.terms.high[is_age] * span[1]
    assert_allclose(starts, np.round(starts), atol=1e-9)  # ages are whole
    assert (starts < stops).all()
    assert is_age.sum() == 15  # any two of six cut points


def test_columns_of_few_values_have_one_ramp_and_constant_ones_have_none(candidates):
    assert (candidates.terms.feature == 2).sum() == 1
    assert (candidates.terms.feature == 3).sum() == 0


def test_columns_are_straight_lines_in_the_units_of_x(candidates):
    A = candidates.columns(X)
    assert A.shape == (300, len(candidates.terms) + 6)
    for p in np.flatnonzero(candidates.terms.feature == 1)[:4]:
        start = X[:, 1].min() + candidates.terms.low[p] * np.ptp(X[:, 1])
        stop = X[:, 1].min() + candidates.terms.high[p] * np.ptp(X[:, 1])
        line = np.clip((X[:, 1] - start) / (stop - start), 0, 1)
        assert_allclose(A[:, p], line, atol=1e-9)


def test_costs_are_one_per_term_and_one_more_per_condition(candidates):
    conditions = np.isfinite(candidates.widths).sum(axis=1)
    n_terms = len(candidates.terms)
    assert conditions.max() <= 2
    assert (candidates.costs[:n_terms] == 1).all()
    assert_array_equal(candidates.costs[n_terms:], 1 + conditions)


def test_ramp_over_two_ramps_spans_both(candidates):
    terms = candidates.terms
    first, second = np.flatnonzero(terms.feature == 0)[[0, -1]]
    over = candidates.ramp_over(first, second)
    assert terms.low[over] == min(terms.low[first], terms.low[second])
    assert terms.high[over] == max(terms.high[first], terms.high[second])
    assert candidates.ramp_over(over, first) is None  # not another one


def test_linear_candidates_have_no_exceptions(long):
    linear = Candidates.linear(long)
    assert linear.centers.shape == (0, 4)
    assert linear.terms is long.terms


def test_agreement_is_about_the_direction_of_an_effect(candidates):
    A = candidates.columns(X)
    coef = np.zeros((A.shape[1], 2))
    p, q = np.flatnonzero(candidates.terms.feature == 0)[:2]
    coef[p] = 1.0
    same = np.zeros_like(coef)
    same[q] = [0.5, -0.5]  # another ramp of the feature: up for one label, down for one
    agreement = candidates.agreement(A, A.mean(axis=0), coef, same)
    assert_array_equal(agreement[0], [1, 0])
    assert (agreement[1:] == 0).all()
