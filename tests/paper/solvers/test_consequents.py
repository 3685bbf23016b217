"""Leave-one-out in closed form equals leaving rows out, and chooses the weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.coupling import coupling_matrix, label_correlation
from mltsk.core.fuzzymap import FuzzyMap
from mltsk.paper.solvers.consequents import (
    COUPLING_RATIOS,
    MAX_SPECTRUM_ROWS,
    choose_weights,
    fit_consequents,
    leave_one_out,
    spectrum,
)


def centred_problem(n=30):
    """A map of two rules and four features, and three centred labels."""
    rng = np.random.default_rng(0)
    G = FuzzyMap(rng.normal(size=(n, 4)), rng.dirichlet(np.ones(2), size=n))
    scores = G.rows() @ rng.normal(size=(10, 3))
    Y = (scores + rng.normal(size=(n, 3)) > 0).astype(float)
    return G, Y - Y.mean(axis=0)


def left_out_residual(G, Y, w, i, H):
    """Residual at row i of the coupled ridge problem without one copy of it.

    H (L, L) is ρI + αQ.
    """
    less = w.copy()
    less[i] -= min(w[i], 1.0)
    A = G.T @ (less[:, None] * G)
    B = G.T @ (less[:, None] * Y)
    L = Y.shape[1]
    hessian = np.kron(np.eye(L), A) + np.kron(H, np.eye(G.shape[1]))
    P = np.linalg.solve(hessian, B.T.ravel()).reshape(L, -1).T
    return Y[i] - G[i] @ P


@pytest.mark.parametrize("n", [8, 30])  # fewer and more rows than columns
def test_leave_one_out_equals_leaving_each_row_out(n):
    G, Y = centred_problem(n)
    H = 0.7 * np.eye(3)
    errors = leave_one_out(*spectrum(G), Y, np.ones(n), np.array([0.7]))
    direct = [left_out_residual(G.rows(), Y, np.ones(n), i, H) for i in range(n)]
    assert_allclose(errors[0], np.square(direct).sum(axis=0), rtol=1e-8)


def test_leave_one_out_holds_with_a_label_coupling():
    G, Y = centred_problem()
    Q = coupling_matrix(label_correlation(Y), "laplacian")
    H = 0.5 * np.eye(3) + 2.0 * Q
    lam, V = np.linalg.eigh(Q)
    errors = leave_one_out(*spectrum(G), Y @ V, np.ones(30), 0.5 + 2.0 * lam)
    direct = [left_out_residual(G.rows(), Y, np.ones(30), i, H) for i in range(30)]
    assert np.trace(errors) == pytest.approx(np.square(direct).sum(), rel=1e-7)


def test_leave_one_out_leaves_out_one_copy_of_a_weighted_row():
    G, Y = centred_problem()
    w = np.random.default_rng(1).choice([0.5, 1.0, 3.0], size=30)
    H = 0.7 * np.eye(3)
    s, U = spectrum(G.weighted(w))
    errors = leave_one_out(s, U, Y * np.sqrt(w)[:, None], w, np.array([0.7]))
    direct = [left_out_residual(G.rows(), Y, w, i, H) for i in range(30)]
    assert_allclose(errors[0], w @ np.square(direct), rtol=1e-8)


def test_choose_weights_takes_the_best_of_the_grid_and_keeps_what_is_given():
    G, Y = centred_problem(60)
    w = np.ones(60)
    Q = coupling_matrix(label_correlation(Y), "laplacian")
    rho, alpha, _ = choose_weights(G, Y, w, Q)
    assert rho > 0
    assert np.isclose(alpha / rho, COUPLING_RATIOS, rtol=1e-6).any()
    assert choose_weights(G, Y, w, Q, rho=3.0)[0] == 3.0
    assert choose_weights(G, Y, w, Q, alpha=0.3)[1] == 0.3


def test_choose_weights_gives_noise_labels_more_ridge_than_clean_ones():
    G, _ = centred_problem(200)
    rng = np.random.default_rng(2)
    clean = G.rows() @ rng.normal(size=(10, 3))
    noise = rng.normal(size=(200, 3))
    rhos = []
    for Y in (clean, noise):
        centred = Y - Y.mean(axis=0)
        rho, _, _ = choose_weights(G, centred, np.ones(200), np.zeros((3, 3)))
        rhos.append(rho)
    assert rhos[0] < rhos[1] / 100


def test_choose_weights_is_served_by_a_spread_of_rows_of_a_large_sample():
    G, Y = centred_problem(2 * MAX_SPECTRUM_ROWS)
    uncoupled = np.zeros((3, 3))
    half_G = G.take(np.arange(0, len(Y), 2))
    half_w = np.ones(MAX_SPECTRUM_ROWS)
    rho, _, noise = choose_weights(G, Y, np.ones(len(Y)), uncoupled)
    half_rho, _, half_noise = choose_weights(half_G, Y[::2], half_w, uncoupled)
    assert 0.1 < rho / half_rho < 10
    # columns of twice the rows are √2 as long
    assert noise == pytest.approx(np.sqrt(2) * half_noise, rel=0.2)


def test_fit_consequents_ends_in_the_same_place_from_another_start():
    G, Y = centred_problem()
    first = fit_consequents(G, Y, np.ones(30), tol=1e-10)
    other = fit_consequents(G, Y, np.ones(30), tol=1e-10, gamma=100.0)
    assert_allclose(other.P, first.P, atol=1e-5)
