"""What a short model may say: cut points, ramps and conditions that people can read."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier
from mltsk.short.candidates import Candidates

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
    return Candidates.of(long, X, np.ones(len(X)), max_conditions=2)


def test_ramps_of_a_column_lie_between_round_cut_points(candidates):
    low = X.min(axis=0)
    span = np.ptp(X, axis=0)
    is_age = candidates.terms.feature == 1
    starts = low[1] + candidates.terms.low[is_age] * span[1]
    stops = low[1] + candidates.terms.high[is_age] * span[1]
    assert_allclose(starts, np.round(starts), atol=1e-9)  # ages are whole
    assert (starts < stops).all()
    # any two of six cut points, but for the first and the last the whole range
    assert is_age.sum() == 15
    assert candidates.terms.low[is_age].min() == 0
    assert candidates.terms.high[is_age].max() == 1


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


def test_costs_are_one_per_term_and_one_per_condition(candidates):
    conditions = np.isfinite(candidates.widths).sum(axis=1)
    n_terms = len(candidates.terms)
    assert conditions.max() <= 2
    assert (candidates.costs[:n_terms] == 1).all()
    assert_array_equal(candidates.costs[n_terms:], np.maximum(conditions, 1))


def test_ramp_over_two_ramps_spans_both(candidates):
    terms = candidates.terms
    of_x0 = np.flatnonzero(terms.feature == 0)
    first = of_x0[0]
    second = of_x0[-2]  # the last one is over the whole range
    over = candidates.ramp_over(first, second)
    assert terms.low[over] == min(terms.low[first], terms.low[second])
    assert terms.high[over] == max(terms.high[first], terms.high[second])
    assert candidates.ramp_over(over, first) is None  # not another one


def test_ramp_over_nearly_all_of_the_range_is_the_line(candidates):
    terms = candidates.terms
    of_age = np.flatnonzero(terms.feature == 1)
    first = of_age[0]  # from the 1st percentile on
    last = of_age[-2]  # to the 99th
    over = candidates.ramp_over(first, last)
    assert (terms.low[over], terms.high[over]) == (0, 1)


def test_line_spans_are_the_ranges_of_numbers_with_many_values(candidates):
    terms = candidates.terms
    spans = candidates.line_spans
    assert {int(terms.feature[p]) for p in spans} == {0, 1}
    (line,) = [p for p in spans if terms.feature[p] == 1]
    assert spans[line] == np.ptp(X[:, 1])


def test_has_names_is_about_columns_of_two_values(candidates):
    assert candidates.has_names.tolist() == [False, False, True, False]


def test_weights_of_candidates_count_as_copies(long):
    w = RNG.integers(1, 5, size=300)
    weighted = Candidates.of(long, X, w, max_conditions=2)
    copies = Candidates.of(long, np.repeat(X, w, axis=0), np.ones(w.sum()), 2)
    assert_array_equal(weighted.terms.low, copies.terms.low)
    assert_array_equal(weighted.terms.high, copies.terms.high)
    assert_allclose(weighted.terms.mean, copies.terms.mean)
    assert_array_equal(weighted.base.quantiles, copies.base.quantiles)
    assert_array_equal(weighted.centers, copies.centers)
    assert_array_equal(weighted.widths, copies.widths)


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
    w = np.ones(len(A))
    agreement = candidates.agreement(A, A.mean(axis=0), w, coef=coef, other=same)
    assert_array_equal(agreement[0], [1, 0])
    assert (agreement[1:] == 0).all()
