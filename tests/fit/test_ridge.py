"""The closed forms against fits that really leave a row out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.arrays import asnumpy, is_tensor
from mltsk.core.coupling import coupling_matrix, label_correlation
from mltsk.fit.ridge import (
    Factor,
    Moments,
    Penalty,
    SingularError,
    conjugate_gradients,
    solve_dual,
)

N, Q, L = 30, 7, 3


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    rows, Y = rng.normal(size=(N, Q)), (rng.random((N, L)) < 0.4).astype(float)
    Y[:, 1] = np.maximum(Y[:, 0], Y[:, 1])
    return rows, Y


def coupled(Y, alpha=3.0):
    lam, basis = np.linalg.eigh(coupling_matrix(label_correlation(Y), "precision"))
    return Penalty(0.7, alpha, lam, basis)


def brute_force(rows, Y, w, penalty):
    """(intercept, B) by solving for all numbers at once."""
    ridge = np.eye(L) * penalty.rho
    if penalty.basis is not None:
        ridge += penalty.alpha * (penalty.basis * penalty.lam) @ penalty.basis.T
    left = np.column_stack([np.ones(len(rows)), rows])
    H = left.T @ (w[:, None] * left)
    shrunk = np.diag([0.0] + [1.0] * Q)
    A = np.kron(np.eye(L), H) + np.kron(ridge, shrunk)
    P = np.linalg.solve(A, (left.T @ (w[:, None] * Y)).ravel(order="F")).reshape(
        Q + 1, L, order="F"
    )
    return P[0], P[1:]


def without_itself(rows, Y, w, copies, penalty):
    """Scores of every row by a fit without one copy of it."""
    out = np.empty_like(Y)
    for i in range(len(rows)):
        less = w.copy()
        less[i] -= w[i] / copies[i]
        intercept, B = brute_force(rows, Y, less, penalty)
        out[i] = intercept + rows[i] @ B
    return out


@pytest.mark.parametrize("weights", ["ones", "relative", "counts"])
@pytest.mark.parametrize("labels", ["separate", "coupled"])
def test_both_forms_give_what_fits_without_the_row_give(data, weights, labels):
    rows, Y = data
    rng = np.random.default_rng(1)
    w = {
        "ones": np.ones(N),
        "relative": rng.random(N) + 0.1,
        "counts": rng.integers(1, 4, N) * 1.0,
    }[weights]
    copies = w if weights == "counts" else np.ones(N)
    penalty = Penalty(0.7) if labels == "separate" else coupled(Y)
    expected = without_itself(rows, Y, w, copies, penalty)
    A, loo = solve_dual(rows @ rows.T, Y, w, copies, penalty)
    primal = Moments.of(rows, Y, w).solve(penalty)
    assert_allclose(loo, expected, atol=1e-10)
    assert_allclose(primal.leave_one_out(rows, Y, w, copies), expected, atol=1e-10)
    assert_allclose(rows.T @ A, brute_force(rows, Y, w, penalty)[1], atol=1e-10)
    assert_allclose(primal.B, rows.T @ A, atol=1e-10)


def test_a_row_that_was_never_in_it_gets_its_plain_score(data):
    rows, Y = data
    w = np.ones(N)
    w[3] = 0.0
    primal = Moments.of(rows, Y, w).solve(Penalty(0.7))
    plain = primal.rates + (rows[3] - primal.mean) @ primal.B
    assert_allclose(primal.leave_one_out(rows, Y, w, np.ones(N))[3], plain)


def test_sums_add_up_over_blocks(data):
    rows, Y = data
    w = np.random.default_rng(2).random(N)
    first, second = (
        Moments.of(rows[:10], Y[:10], w[:10]),
        Moments.of(rows[10:], Y[10:], w[10:]),
    )
    expected = Moments.of(rows, Y, w)
    for name in vars(expected):
        assert_allclose(getattr(first + second, name), getattr(expected, name))


def test_conjugate_gradients_reach_the_closed_form(data):
    rows, Y = data
    penalty, centred = coupled(Y), rows - rows.mean(axis=0)
    found = conjugate_gradients(
        lambda B: centred.T @ (centred @ B) + penalty.times(B), centred.T @ Y, 1e-12
    )
    assert_allclose(found, Moments.of(rows, Y, np.ones(N)).solve(penalty).B, atol=1e-9)


def test_a_ridge_too_small_for_the_problem_is_named():
    rows = np.ones((4, 2)) * np.arange(4.0)[:, None]
    with pytest.raises(ValueError, match="take a larger one"):
        Moments.of(rows, rows[:, :1], np.ones(4)).solve(Penalty(-1.0))


def place(where):
    if where == "array":
        return np.asarray
    return pytest.importorskip(
        "torch", reason="torch is not installed: tensors cannot be tested"
    ).as_tensor


def symmetric(dtype):
    A = np.random.default_rng(5).normal(size=(40, 12)).astype(dtype)
    return A.T @ A


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("where", ["array", "tensor"])
def test_a_factor_solves_and_gives_the_diagonal_of_the_inverse(dtype, where):
    A, B = symmetric(dtype), np.random.default_rng(6).normal(size=(12, 3)).astype(dtype)
    put = place(where)
    full, tol = A + 0.5 * np.eye(12), 1e-10 if dtype is np.float64 else 1e-3
    solved = np.linalg.solve(full, B)
    for tau in ([0.5], [0.5] * 3):  # by Cholesky, and by eigenvectors
        factor = Factor.of(put(A.copy()), np.array(tau))
        assert is_tensor(factor.solve(put(B))) == (where == "tensor")
        assert_allclose(asnumpy(factor.solve(put(B))), solved, rtol=tol, atol=tol)
        leverage = asnumpy(factor.leverage(put(B.T.copy())))
        assert_allclose(
            leverage,
            np.repeat(np.diag(B.T @ solved)[:, None], len(tau), 1),
            rtol=tol,
            atol=tol,
        )
        diagonal = np.repeat(np.diag(np.linalg.inv(full))[:, None], len(tau), 1)
        assert_allclose(
            asnumpy(factor.inverse_diagonal()), diagonal, rtol=tol, atol=tol
        )  # last: overwrites


@pytest.mark.parametrize("where", ["array", "tensor"])
def test_a_matrix_without_a_factor_is_named_and_one_without_columns_is_fine(where):
    put = place(where)
    with pytest.raises(SingularError, match="ridge of 1e-20: take a larger one"):
        Factor.of(put(np.ones((3, 3))), np.array([1e-20]))
    nothing = Factor.of(put(np.zeros((0, 0))), np.ones(1))
    assert nothing.solve(put(np.zeros((0, 2)))).shape == (0, 2)
    assert nothing.leverage(put(np.zeros((5, 0)))).shape == (5, 1)
