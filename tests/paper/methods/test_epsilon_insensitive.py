"""ε-insensitive consequents: both forms against a general optimiser, the certificate, chains of leading blocks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from mltsk.core.fuzzymap import FuzzyMap
from mltsk.paper.methods.epsilon_insensitive import (
    RidgeDesign,
    RidgeFactor,
    leski_loop,
    minimise,
    value_and_gap,
)

X12 = np.array(
    [
        [0.1257302211, -0.1321048633],
        [0.6404226504, 0.1049001172],
        [-0.5356693732, 0.3615950549],
        [1.3040000451, 0.9470809631],
        [-0.7037352358, -1.2654214710],
        [-0.6232744625, 0.0413259793],
        [-2.3250307746, -0.2187916639],
        [-1.2459109473, -0.7322673547],
        [-0.5442589829, -0.3163001564],
        [0.4116305364, 1.0425133694],
        [-0.1285346629, 1.3664634705],
        [-0.6651946735, 0.3515100701],
    ]
)
Y12 = np.concatenate(
    [
        [
            0.8481821025,
            1.0449237631,
            -0.4716143530,
            3.7647465444,
            1.0159136527,
            -0.1425809295,
        ],
        [
            -1.7072009291,
            -0.0345611500,
            0.2561186725,
            -0.0767982746,
            -0.9735322212,
            -0.4811674727,
        ],
    ]
)
FORMS = {"primal": (60, 4), "dual": (20, 9)}


def problem(shape, seed=0):
    rng = np.random.default_rng(seed)
    X, M = rng.random(shape), rng.random((shape[0], 3))
    Y = rng.integers(0, 2, size=(shape[0], 4)).astype(float)
    return (
        FuzzyMap(X, M / M.sum(axis=1, keepdims=True)),
        Y,
        rng.integers(0, 3, size=shape[0]).astype(float),
    )


def by_optimiser(A, y, w, tau, epsilon, penalised):
    def value_and_gradient(p):
        r = A @ p - y
        excess = np.sign(r) * np.maximum(np.abs(r) - epsilon, 0)
        value = np.sum(w * excess**2) + tau / 2 * np.sum(penalised * p**2)
        return value, 2 * A.T @ (w * excess) + tau * penalised * p

    options = {"maxiter": 20000, "ftol": 1e-16, "gtol": 1e-10}
    return minimize(
        value_and_gradient,
        np.zeros(A.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options=options,
    )


def penalised(G, m=0):
    return np.concatenate(
        [np.tile([0.0] + [1.0] * G.X.shape[1], G.n_rules), np.ones(m)]
    )


@pytest.mark.parametrize("form", FORMS)
def test_optimum_agrees_with_a_general_optimiser(form):
    G, Y, w = problem(FORMS[form])
    design = RidgeDesign(G, w)
    found = minimise(RidgeFactor(design, 0.15), Y, 0.05, tol=1e-11)
    assert design.dual == (form == "dual")
    for j in range(4):
        best = by_optimiser(G.rows(), Y[:, j], w, 0.3, 0.05, penalised(G))
        assert_allclose(found.value[j], best.fun, rtol=1e-8)
        assert_allclose(w * (G @ found.P)[:, j], w * (G.rows() @ best.x), atol=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_each_output_uses_its_own_leading_columns(form):
    G, Y, w = problem(FORMS[form], seed=1)
    E, limit = np.random.default_rng(2).normal(size=(len(w), 6)), np.array([0, 6, 2, 5])
    found = minimise(RidgeFactor(RidgeDesign(G, w, E), 0.5), Y, 0.1, limit=limit, tol=1e-11)
    for j, m in enumerate(limit):
        best = by_optimiser(
            np.hstack([G.rows(), E[:, :m]]), Y[:, j], w, 1.0, 0.1, penalised(G, m)
        )
        assert_allclose(found.value[j], best.fun, rtol=1e-8)
        assert np.all(found.extra[m:, j] == 0)


@pytest.mark.parametrize("form", FORMS)
def test_gap_bounds_the_distance_to_the_optimum(form):
    G, Y, w = problem(FORMS[form], seed=3)
    factor = RidgeFactor(RidgeDesign(G, w), 0.01)
    best = minimise(factor, Y, 0.05, tol=1e-12).value
    early = minimise(factor, Y, 0.05, tol=0.0, max_iter=2)
    assert np.all(early.gap > 0)
    assert np.all(early.value - best <= early.gap + 1e-12)


def test_primal_and_dual_forms_agree():
    G, Y, w = problem((24, 7))
    wide = FuzzyMap(
        np.hstack([G.X, np.zeros((24, 40))]), G.M
    )  # columns of zeros change the form alone
    one, two = (
        minimise(RidgeFactor(RidgeDesign(g, w), 0.2), Y, 0.05, tol=1e-10) for g in (G, wide)
    )
    assert_allclose((G @ one.P), (wide @ two.P), atol=1e-6)


def test_coinciding_rules_are_one_rule():
    G, Y, w = problem((40, 3))
    same = FuzzyMap(G.X, np.full((40, 3), 1 / 3))
    single = FuzzyMap(G.X, np.ones((40, 1)))
    # three equal rules share what one rule pays for: its τ is a third of theirs
    one = minimise(RidgeFactor(RidgeDesign(single, w), 0.1), Y, 0.05, tol=1e-10)
    three = minimise(RidgeFactor(RidgeDesign(same, w), 0.1 / 3), Y, 0.05, tol=1e-10)
    assert_allclose(same @ three.P, single @ one.P, atol=1e-6)


def test_constant_outputs_are_fitted_by_the_biases():
    G, _, w = problem((40, 3))
    Y = np.column_stack([np.zeros(40), np.ones(40)])
    found = minimise(RidgeFactor(RidgeDesign(G, w), 0.5), Y, 0.05)
    assert found.converged
    assert_allclose(G @ found.P, Y, atol=0.051)


def test_gap_is_zero_only_at_a_consistent_pair():
    u, y, band = (
        np.array([[0.0], [0.5]]),
        np.array([[0.0], [1.0]]),
        np.full((2, 1), 0.1),
    )
    inside = np.clip(u, y - band, y + band)
    assert value_and_gap(u, inside, y, band)[1][0] == pytest.approx(0.0)
    assert value_and_gap(u, y, y, band)[1][0] > 0


@pytest.mark.parametrize(
    ("tau", "epsilon", "p", "value"),
    [
        (1.0, 0.2, (0.889983, 1.390975, -0.672650), 4.522656),
        (0.1, 0.05, (0.922714, 1.495799, -0.891099), 4.640995),
    ],
)
def test_worked_optimum(tau, epsilon, p, value):
    G = FuzzyMap(X12, np.ones((12, 1)))
    found = minimise(
        RidgeFactor(RidgeDesign(G, np.ones(12)), tau / 2), Y12[:, None], epsilon, tol=1e-12
    )
    assert_allclose(found.P[:, 0], p, atol=6e-7)
    assert found.value[0] == pytest.approx(value, abs=6e-7)


def stacked_loop(A, y, half, epsilon, penalised):
    """Leski's loop as it is written down, over both inequalities of every row; fitted values and steps."""
    Xe, ye = np.vstack([A, -A]), np.concatenate([y, -y]) - epsilon
    b, d = np.full(len(ye), 1e-6), np.ones(len(ye))
    for step in range(1, 1001):
        p = np.linalg.solve(
            Xe.T @ (d[:, None] * Xe) + half * np.diag(penalised), Xe.T @ (d * (ye + b))
        )
        e = Xe @ p - ye - b
        change = 0.98 * (e + np.abs(e))
        b, d = b + change, 1 / np.maximum(np.abs(e), 1e-8)
        if change @ change <= 1e-4:
            return A @ p, step


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("half", [0.05, 20.0])
def test_the_published_loop_is_the_one_over_stacked_inequalities(form, half):
    G, Y, _ = problem(FORMS[form])
    E, limit = np.random.default_rng(4).random((len(Y), 6)), np.array([0, 2, 4, 6])
    found = leski_loop(RidgeFactor(RidgeDesign(G, np.ones(len(Y)), E), half), Y, 0.2, limit=limit)
    for j, m in enumerate(limit):
        fitted, n_iter = stacked_loop(
            np.hstack([G.rows(), E[:, :m]]), Y[:, j], half, 0.2, penalised(G, m)
        )
        assert found.n_iter[j] == n_iter
        assert_allclose((G @ found.P + E @ found.extra)[:, j], fitted, atol=1e-5)
