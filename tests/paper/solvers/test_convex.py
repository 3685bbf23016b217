"""Leave-one-out in closed form equals leaving out, and chooses weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.coupling import coupling_matrix, label_correlation
from mltsk.core.fuzzymap import FuzzyMap
from mltsk.paper.solvers import convex
from mltsk.paper.solvers.convex import choose_weights, fit_consequents, leave_one_out, spectrum


def problem(n=30, d=4, k=2, seed=0):
    rng = np.random.default_rng(seed)
    G = FuzzyMap(rng.normal(size=(n, d)), rng.dirichlet(np.ones(k), size=n))
    Y = (G.rows() @ rng.normal(size=(k * (d + 1), 3)) + rng.normal(size=(n, 3)) > 0).astype(float)
    return G, Y - Y.mean(axis=0)


def left_out(G, Y, w, i, H):
    """Residual at row i of the coupled ridge problem without one copy of it; H (L, L) is ρI + αQ."""
    less = w.copy()
    less[i] -= min(w[i], 1.0)
    A, B = G.T @ (less[:, None] * G), G.T @ (less[:, None] * Y)
    P = np.linalg.solve(np.kron(np.eye(Y.shape[1]), A) + np.kron(H, np.eye(G.shape[1])), B.T.ravel())
    return Y[i] - G[i] @ P.reshape(Y.shape[1], -1).T


@pytest.mark.parametrize("n", [8, 30])  # fewer and more rows than columns
def test_closed_form_equals_leaving_each_row_out(n):
    G, Y = problem(n)
    loo = leave_one_out(*spectrum(G), Y, np.ones(n), np.array([0.7]))
    direct = sum(left_out(G.rows(), Y, np.ones(n), i, 0.7 * np.eye(3)) ** 2 for i in range(n))
    assert_allclose(loo[0], direct, rtol=1e-8)


def test_closed_form_holds_with_a_label_coupling():
    G, Y = problem()
    Q = coupling_matrix(label_correlation(Y), "laplacian")
    lam, V = np.linalg.eigh(Q)
    loo = leave_one_out(*spectrum(G), Y @ V, np.ones(30), 0.5 + 2.0 * lam)
    direct = sum((left_out(G.rows(), Y, np.ones(30), i, 0.5 * np.eye(3) + 2.0 * Q) ** 2).sum() for i in range(30))
    assert np.trace(loo) == pytest.approx(direct, rel=1e-7)


def test_closed_form_leaves_out_one_copy_of_a_weighted_row():
    G, Y = problem()
    w = np.random.default_rng(1).choice([0.5, 1.0, 3.0], size=30)
    loo = leave_one_out(*spectrum(G.weighted(w)), Y * np.sqrt(w)[:, None], w, np.array([0.7]))
    direct = sum(w[i] * left_out(G.rows(), Y, w, i, 0.7 * np.eye(3)) ** 2 for i in range(30))
    assert_allclose(loo[0], direct, rtol=1e-8)


def test_chosen_weights_are_the_best_of_the_grid_and_keep_what_is_given():
    G, Y = problem(60)
    Q = coupling_matrix(label_correlation(Y), "laplacian")
    rho, alpha, _ = choose_weights(G, Y, np.ones(60), Q)
    assert rho > 0
    assert alpha / rho == pytest.approx(min(convex.RATIOS, key=lambda q: abs(q - alpha / rho)))
    assert choose_weights(G, Y, np.ones(60), Q, rho=3.0)[0] == 3.0
    assert choose_weights(G, Y, np.ones(60), Q, alpha=0.3)[1] == 0.3


def test_noise_labels_get_more_ridge_than_clean_ones():
    G, _ = problem(200)
    rng = np.random.default_rng(2)
    clean = G.rows() @ rng.normal(size=(10, 3))
    noise = rng.normal(size=(200, 3))
    zero = np.zeros((3, 3))
    rhos = [choose_weights(G, Y - Y.mean(axis=0), np.ones(200), zero)[0] for Y in (clean, noise)]
    assert rhos[0] < rhos[1] / 100


def test_a_spread_of_rows_serves_for_large_samples():
    G, Y = problem(2 * convex.LOO_ROWS)
    part = choose_weights(G, Y, np.ones(len(Y)), np.zeros((3, 3)))
    half = choose_weights(G.take(np.arange(0, len(Y), 2)), Y[::2], np.ones(convex.LOO_ROWS), np.zeros((3, 3)))
    assert 0.1 < part[0] / half[0] < 10
    assert part[2] == pytest.approx(np.sqrt(2) * half[2], rel=0.2)  # columns of twice the rows are √2 as long


def test_the_start_changes_nothing():
    G, Y = problem()
    first = fit_consequents(G, Y, np.ones(30), tol=1e-10)
    assert_allclose(fit_consequents(G, Y, np.ones(30), tol=1e-10, gamma=100.0).P, first.P, atol=1e-5)
