"""Symmetric matrices plus a ridge, factorised."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.arrays import asnumpy, is_tensor
from mltsk.fit.factor import Factor, SingularError


@pytest.fixture(params=["array", "tensor"])
def placed(request):
    """What puts an array where the test works: it stays, or becomes a tensor."""
    if request.param == "array":
        return np.asarray
    return request.getfixturevalue("torch").as_tensor


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 1e-3)]
)
@pytest.mark.parametrize("tau", [[0.5], [0.5] * 3], ids=["Cholesky", "eigenvectors"])
def test_factor_solves_and_gives_leverages_and_the_diagonal_of_the_inverse(
    placed, tau, dtype, tolerance
):
    columns = np.random.default_rng(5).normal(size=(40, 12)).astype(dtype)
    B = np.random.default_rng(6).normal(size=(12, 3)).astype(dtype)
    A = columns.T @ columns
    full = A + 0.5 * np.eye(12)
    solution = np.linalg.solve(full, B)
    factor = Factor.of(placed(A.copy()), np.array(tau))

    def assert_close(values, expected):
        assert_allclose(asnumpy(values), expected, rtol=tolerance, atol=tolerance)

    solved = factor.solve(placed(B))
    assert is_tensor(solved) == is_tensor(placed(B))
    assert_close(solved, solution)
    leverage = np.diag(B.T @ solution)[:, None]
    assert_close(factor.leverage(placed(B.T.copy())), leverage.repeat(len(tau), 1))
    diagonal = np.diag(np.linalg.inv(full))[:, None]
    # last, since it overwrites the factor
    assert_close(factor.inverse_diagonal(), diagonal.repeat(len(tau), 1))


def test_factor_of_a_singular_matrix_is_refused_with_its_ridge(placed):
    with pytest.raises(SingularError, match="ridge of 1e-20: take a larger one"):
        Factor.of(placed(np.ones((3, 3))), np.array([1e-20]))


def test_factor_of_a_matrix_without_columns_solves_nothing(placed):
    empty = Factor.of(placed(np.zeros((0, 0))), np.ones(1))
    assert empty.solve(placed(np.zeros((0, 2)))).shape == (0, 2)
    assert empty.leverage(placed(np.zeros((5, 0)))).shape == (5, 1)
