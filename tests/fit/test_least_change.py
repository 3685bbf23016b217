"""The shortest move that meets demands is that of a general solver."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import LinearConstraint, minimize

from mltsk.fit.least_change import ContradictionError, nearest


def by_general_solver(M, least, is_equal):
    most = np.where(is_equal, least, np.inf)
    return minimize(
        lambda u: u @ u / 2,
        np.zeros(M.shape[1]),
        jac=lambda u: u,
        hess=lambda u: np.eye(len(u)),
        method="trust-constr",
        constraints=LinearConstraint(M, least, most),
        options={"gtol": 1e-12, "xtol": 1e-14, "maxiter": 2000},
    ).x


@pytest.mark.parametrize("seed", range(6))
def test_nearest_is_what_a_general_solver_finds(seed):
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(6, 5))
    M[1] = M[0]  # said twice
    inside = rng.normal(size=5)
    is_equal = np.arange(6) >= 4 + seed % 3
    least = M @ inside - np.where(is_equal, 0.0, rng.random(6))
    found = nearest(M, least, is_equal)
    assert_allclose(found.u, by_general_solver(M, least, is_equal), atol=1e-6)


def test_nearest_meets_the_conditions_of_the_optimum():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n_demands, n_numbers = rng.integers(1, 12), rng.integers(2, 9)
        M = rng.normal(size=(n_demands, n_numbers))
        is_equal = rng.random(n_demands) < 0.2
        slack = np.where(is_equal, 0.0, rng.random(n_demands))
        least = M @ rng.normal(size=n_numbers) - slack
        if is_equal.sum() > n_numbers:
            continue
        found = nearest(M, least, is_equal)
        above = M @ found.u - least
        pulls = found.multipliers
        assert (above[~is_equal] > -1e-9).all()
        assert_allclose(above[is_equal], 0.0, atol=1e-9)
        assert_allclose(M.T @ pulls, found.u, atol=1e-9)
        assert (pulls[~is_equal] > -1e-9).all()
        assert_allclose((pulls * above)[~is_equal], 0.0, atol=1e-8)


@pytest.mark.parametrize(
    ("rows", "least", "is_equal"),
    [
        ([[1, 0], [-1, 0]], [1, 0], [False, False]),  # at least 1, at most 0
        ([[1, 0], [1, 0]], [1, 0], [True, True]),  # 1 and 0
        ([[1, 0], [2, 0]], [0, 1], [True, False]),  # 0, and at least a half
        ([[0, 0]], [1], [False]),  # nothing is at least 1
    ],
)
def test_nearest_refuses_demands_that_contradict_each_other(rows, least, is_equal):
    with pytest.raises(ContradictionError):
        nearest(np.array(rows, float), np.array(least, float), np.array(is_equal))
