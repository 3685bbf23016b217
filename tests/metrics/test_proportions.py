"""Shares with Wilson's intervals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest

from mltsk.exceptions import InputError
from mltsk.metrics import proportion_interval


@pytest.mark.parametrize(("count", "n"), [(0, 7), (3, 7), (7, 7), (80, 1000)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_proportion_interval_is_scipys_wilson(count, n, confidence):
    test = binomtest(count, n)
    expected = test.proportion_ci(confidence_level=confidence, method="wilson")
    share, low, high = proportion_interval(count, n, confidence=confidence)
    assert share == count / n
    assert_allclose([low, high], expected, atol=1e-12)


def test_proportion_interval_of_nothing_is_nan():
    assert np.isnan(proportion_interval(0, 0)).all()


@pytest.mark.parametrize(("count", "n"), [(-1, 3), (4, 3), (0, -1)])
def test_proportion_interval_refuses_counts_that_cannot_be(count, n):
    with pytest.raises(InputError, match="count must be from 0 to n"):
        proportion_interval(count, n)
