"""Tests of subgroups: next to SciPy's, and seldom wrong where nothing differs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2_contingency

from mltsk.exceptions import InputError
from mltsk.metrics import (
    heterogeneity_p_value,
    holm,
    miscalibration_p_value,
    proportion_interval,
)


def test_heterogeneity_p_value_is_near_that_of_a_chi_squared_test():
    for counts in ([300, 200, 260], [150, 180, 210]):
        table = [counts, [400 - count for count in counts]]
        expected = chi2_contingency(table, correction=False).pvalue
        shares = [proportion_interval(count, 400) for count in counts]
        found = heterogeneity_p_value(shares)
        assert_allclose(np.log10(found), np.log10(expected), rtol=0.1)


def test_heterogeneity_p_value_leaves_out_what_is_not_known():
    share = proportion_interval(3, 10)
    assert np.isnan(heterogeneity_p_value([share, (np.nan, np.nan, np.nan)]))
    assert heterogeneity_p_value([share, share]) == 1
    assert heterogeneity_p_value([proportion_interval(10, 10), share]) > 1e-4
    with pytest.raises(InputError, match="from 0 to 1"):
        heterogeneity_p_value([share, (-1, -2, 0)])


def test_p_values_are_seldom_small_where_nothing_differs():
    rng = np.random.default_rng(0)
    small = np.zeros(2)
    for _ in range(400):
        p = rng.beta(2, 5, 240)
        y = rng.random(240) < p
        subgroup = rng.integers(0, 3, 240)
        is_given = rng.random(240) < 0.7
        shares = [
            proportion_interval(is_given[rows].sum(), rows.sum())
            for rows in (subgroup == code for code in range(3))
        ]
        small += [
            heterogeneity_p_value(shares) < 0.05,
            miscalibration_p_value(y, p, subgroup) < 0.05,
        ]
    assert (small / 400 <= 0.08).all()
    assert (small / 400 >= 0.02).all()


def test_miscalibration_p_value_of_groups_counts_each_group_once():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.random(40) < 0.5, 5)
    subgroup = np.repeat(rng.random(40) < 0.5, 5)
    alone = miscalibration_p_value(y, np.full(200, 0.4), subgroup)
    grouped = miscalibration_p_value(
        y, np.full(200, 0.4), subgroup, groups=np.repeat(np.arange(40), 5)
    )
    assert grouped > 5 * alone
    with pytest.raises(InputError, match="no missing labels"):
        miscalibration_p_value([1, np.nan], [0.5, 0.5], [0, 1])


def test_holm_multiplies_by_how_many_are_left_and_leaves_nan_out():
    p = np.array([[0.04, np.nan], [0.001, 0.03]])
    assert_allclose(holm(p), [[0.06, np.nan], [0.003, 0.06]])
    assert holm([0.9, 0.8]).max() == 1
