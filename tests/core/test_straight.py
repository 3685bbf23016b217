"""Straight scales: where lines begin, how steep they are, and where they stop."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.core.straight import REACH, fit_lines, straight_line


def test_straight_line_goes_on_beyond_its_knots_until_its_reach():
    values = np.array([[1.0, 3.0], [5.0, 5.0]])
    levels = np.array([[0.0, 1.0], [0.0, 1.0]])
    x = np.array([[2.0, -1.0, 1e9], [6.0, 5.0, 1e9]])
    z = straight_line(x, values, levels)
    assert_allclose(z, [[0.5, -1.0, 1 + REACH], [1.0, 0.0, 5 * REACH]])


def test_fit_lines_by_minmax_leaves_constant_features_as_they_are():
    X = np.array([[2.0, 7.0], [4.0, 7.0]])
    ends, offset, spread = fit_lines(X, np.ones(2), "minmax", np.ones(2))
    assert_array_equal(ends, [[2.0, 4.0], [7.0, 7.0]])
    assert_array_equal(offset, [0.0, -7.0])
    assert_array_equal(spread, 1.0)


def test_fit_lines_by_standard_drops_only_what_varies_by_rounding():
    rng = np.random.default_rng(0)
    small = rng.normal(size=50) * 1e-15
    rounding = 7.0 + rng.choice([0.0, 1e-15], 50)
    X = np.column_stack([small, rounding])
    ends, offset, spread = fit_lines(X, np.ones(50), "standard", np.ones(2))
    levels = straight_line(X.T, ends, np.tile([0.0, 1.0], (2, 1))).T
    Z = (levels - offset) / spread
    assert_allclose(Z[:, 0].std(), 1.0)
    assert np.abs(Z[:, 1]).max() < 1e-10
