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
    covariance = certainty.covariance(everything, 1, np.arange(n_numbers))
    assert_allclose(covariance, expected, rtol=1e-6)
    some = np.array([4, 1])
    cells = np.ix_(some, some)
    assert_allclose(certainty.covariance(everything, 1, some), covariance[cells])


def test_covariance_is_0_for_numbers_that_a_label_does_not_have():
    A = information(5)
    kept = np.array([True, False, True, True, False])
    covariance = Certainty(A, noise=np.ones(1)).covariance(kept, 0, np.arange(5))
    inverse = np.linalg.inv(A[np.ix_(kept, kept)])
    assert_allclose(covariance[np.ix_(kept, kept)], inverse)
    assert_array_equal(covariance[~kept], 0.0)
    assert_array_equal(covariance[:, ~kept], 0.0)


def test_covariance_exists_where_two_numbers_cannot_be_told_apart():
    certainty = Certainty(np.ones((2, 2)), noise=np.ones(1))
    covariance = certainty.covariance(np.ones(2, dtype=bool), 0, np.arange(2))
    assert_allclose(covariance, np.full((2, 2), 0.25))


def test_covariance_needs_the_information_of_numbers_that_are_not_0_only():
    A = information(3)
    numbers = np.array([2, 5, 900_000])
    certainty = Certainty(A, noise=np.ones(1), numbers=numbers)
    kept = np.zeros(1_000_000, dtype=bool)
    kept[[5, 900_000]] = True
    covariance = certainty.covariance(kept, 0, np.array([2, 5, 7, 900_000]))
    assert_allclose(covariance[np.ix_([1, 3], [1, 3])], np.linalg.inv(A[1:, 1:]))
    assert_array_equal(covariance[[0, 2]], 0.0)


def test_knows_is_about_the_numbers_that_a_label_has():
    certainty = Certainty(np.eye(2), noise=np.ones(1), numbers=np.array([0, 2]))
    kept = np.array([True, False, True, True])
    assert certainty.knows(kept, np.array([0, 1, 2]))
    assert not certainty.knows(kept, np.array([2, 3]))
    covariance = certainty.covariance(kept, 0, np.array([0, 1, 2]))
    assert_allclose(covariance, np.diag([1.0, 0.0, 1.0]))
