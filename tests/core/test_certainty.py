"""The covariance of the numbers of a label."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.core.certainty import Certainty


def information(n_numbers, seed=0):
    rows = np.random.default_rng(seed).normal(size=(2 * n_numbers, n_numbers))
    return rows.T @ rows


@pytest.mark.parametrize("n_numbers", [6, 700])
def test_covariance_is_the_inverse_information_times_the_variance_of_noise(n_numbers):
    A = information(n_numbers)
    certainty = Certainty(A, noise=np.array([0.5, 2.0]))
    everything = np.ones(n_numbers, dtype=bool)
    expected = 4.0 * np.linalg.inv(A)
    assert_allclose(certainty.covariance(everything, 1), expected, rtol=1e-6)


def test_covariance_is_0_for_numbers_that_a_label_does_not_have():
    A = information(5)
    kept = np.array([True, False, True, True, False])
    covariance = Certainty(A, noise=np.ones(1)).covariance(kept, 0)
    inverse = np.linalg.inv(A[np.ix_(kept, kept)])
    assert_allclose(covariance[np.ix_(kept, kept)], inverse)
    assert_array_equal(covariance[~kept], 0.0)
    assert_array_equal(covariance[:, ~kept], 0.0)


def test_covariance_exists_where_two_numbers_cannot_be_told_apart():
    certainty = Certainty(np.ones((2, 2)), noise=np.ones(1))
    covariance = certainty.covariance(np.ones(2, dtype=bool), 0)
    assert_allclose(covariance, np.full((2, 2), 0.25))
