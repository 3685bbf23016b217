"""ε-insensitive consequents, in both forms, against a general optimiser."""

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
Y12 = np.array(
    [
        0.8481821025,
        1.0449237631,
        -0.4716143530,
        3.7647465444,
        1.0159136527,
        -0.1425809295,
        -1.7072009291,
        -0.0345611500,
        0.2561186725,
        -0.0767982746,
        -0.9735322212,
        -0.4811674727,
    ]
)
# Shapes of X by which a design takes one form or the other.
FORMS = {"primal": (60, 4), "dual": (20, 9)}


def make_problem(shape, seed=0):
    """A map of three rules over rows of this shape, four targets, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.random(shape)
    M = rng.random((shape[0], 3))
    Y = rng.integers(0, 2, size=(shape[0], 4)).astype(float)
    w = rng.integers(0, 3, size=shape[0]).astype(float)
    return FuzzyMap(X, M / M.sum(axis=1, keepdims=True)), Y, w


def by_optimiser(A, y, w, *, tau, epsilon, penalised):
    """The same minimum by L-BFGS, over the columns of A."""

    def value_and_gradient(p):
        r = A @ p - y
        excess = np.sign(r) * np.maximum(np.abs(r) - epsilon, 0)
        value = np.sum(w * excess**2) + tau / 2 * np.sum(penalised * p**2)
        return value, 2 * A.T @ (w * excess) + tau * penalised * p

    return minimize(
        value_and_gradient,
        np.zeros(A.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 20000, "ftol": 1e-16, "gtol": 1e-10},
    )


def penalised_columns(G, m=0):
    """1 for columns of G and of m more with a penalty, 0 for biases."""
    of_rule = [0.0] + [1.0] * G.X.shape[1]
    return np.concatenate([np.tile(of_rule, G.n_rules), np.ones(m)])


@pytest.mark.parametrize("form", FORMS)
def test_minimise_agrees_with_a_general_optimiser(form):
    G, Y, w = make_problem(FORMS[form])
    design = RidgeDesign(G, w)
    solution = minimise(RidgeFactor(design, 0.15), Y, 0.05, tol=1e-11)
    assert design.dual == (form == "dual")
    columns = penalised_columns(G)
    for j in range(4):
        best = by_optimiser(
            G.rows(), Y[:, j], w, tau=0.3, epsilon=0.05, penalised=columns
        )
        assert_allclose(solution.value[j], best.fun, rtol=1e-8)
        assert_allclose(w * (G @ solution.P)[:, j], w * (G.rows() @ best.x), atol=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_minimise_gives_each_output_its_own_leading_columns(form):
    G, Y, w = make_problem(FORMS[form], seed=1)
    E = np.random.default_rng(2).normal(size=(len(w), 6))
    limit = np.array([0, 6, 2, 5])
    factor = RidgeFactor(RidgeDesign(G, w, E), 0.5)
    solution = minimise(factor, Y, 0.1, limit=limit, tol=1e-11)
    for j, m in enumerate(limit):
        best = by_optimiser(
            np.hstack([G.rows(), E[:, :m]]),
            Y[:, j],
            w,
            tau=1.0,
            epsilon=0.1,
            penalised=penalised_columns(G, m),
        )
        assert_allclose(solution.value[j], best.fun, rtol=1e-8)
        assert np.all(solution.extra[m:, j] == 0)


@pytest.mark.parametrize("form", FORMS)
def test_minimise_has_a_gap_that_bounds_the_distance_to_the_optimum(form):
    G, Y, w = make_problem(FORMS[form], seed=3)
    factor = RidgeFactor(RidgeDesign(G, w), 0.01)
    best = minimise(factor, Y, 0.05, tol=1e-12).value
    early = minimise(factor, Y, 0.05, tol=0.0, max_iter=2)
    assert np.all(early.gap > 0)
    assert np.all(early.value - best <= early.gap + 1e-12)


def test_minimise_gives_the_same_fit_in_primal_and_dual_form():
    G, Y, w = make_problem((24, 7))
    # Columns of zeros change the form alone.
    wide = FuzzyMap(np.hstack([G.X, np.zeros((24, 40))]), G.M)
    primal = minimise(RidgeFactor(RidgeDesign(G, w), 0.2), Y, 0.05, tol=1e-10)
    dual = minimise(RidgeFactor(RidgeDesign(wide, w), 0.2), Y, 0.05, tol=1e-10)
    assert_allclose(G @ primal.P, wide @ dual.P, atol=1e-6)


def test_minimise_takes_coinciding_rules_for_one():
    G, Y, w = make_problem((40, 3))
    same = FuzzyMap(G.X, np.full((40, 3), 1 / 3))
    single = FuzzyMap(G.X, np.ones((40, 1)))
    # Three equal rules share what one rule pays for: its τ is a third of theirs.
    one = minimise(RidgeFactor(RidgeDesign(single, w), 0.1), Y, 0.05, tol=1e-10)
    three = minimise(RidgeFactor(RidgeDesign(same, w), 0.1 / 3), Y, 0.05, tol=1e-10)
    assert_allclose(same @ three.P, single @ one.P, atol=1e-6)


def test_minimise_fits_constant_outputs_by_the_biases():
    G, _, w = make_problem((40, 3))
    Y = np.column_stack([np.zeros(40), np.ones(40)])
    solution = minimise(RidgeFactor(RidgeDesign(G, w), 0.5), Y, 0.05)
    assert solution.converged
    assert_allclose(G @ solution.P, Y, atol=0.051)


def test_value_and_gap_is_zero_only_at_a_consistent_pair():
    u = np.array([[0.0], [0.5]])
    y = np.array([[0.0], [1.0]])
    band = np.full((2, 1), 0.1)
    inside = np.clip(u, y - band, y + band)
    _, gap = value_and_gap(u, inside, y, band)
    assert gap[0] == pytest.approx(0.0)
    _, gap = value_and_gap(u, y, y, band)
    assert gap[0] > 0


@pytest.mark.parametrize(
    ("tau", "epsilon", "p", "value"),
    [
        (1.0, 0.2, (0.889983, 1.390975, -0.672650), 4.522656),
        (0.1, 0.05, (0.922714, 1.495799, -0.891099), 4.640995),
    ],
)
def test_minimise_finds_the_worked_optimum(tau, epsilon, p, value):
    G = FuzzyMap(X12, np.ones((12, 1)))
    factor = RidgeFactor(RidgeDesign(G, np.ones(12)), tau / 2)
    solution = minimise(factor, Y12[:, None], epsilon, tol=1e-12)
    assert_allclose(solution.P[:, 0], p, atol=6e-7)
    assert solution.value[0] == pytest.approx(value, abs=6e-7)


def stacked_loop(A, y, *, half, epsilon, penalised):
    """Leski's loop as it is written down, over both inequalities of every row.

    Returned are fitted values and steps.
    """
    Xe = np.vstack([A, -A])
    ye = np.concatenate([y, -y]) - epsilon
    b = np.full(len(ye), 1e-6)
    d = np.ones(len(ye))
    for step in range(1, 1001):
        gram = Xe.T @ (d[:, None] * Xe) + half * np.diag(penalised)
        p = np.linalg.solve(gram, Xe.T @ (d * (ye + b)))
        e = Xe @ p - ye - b
        change = 0.98 * (e + np.abs(e))
        b = b + change
        d = 1 / np.maximum(np.abs(e), 1e-8)
        if change @ change <= 1e-4:
            return A @ p, step
    raise AssertionError("the loop does not end")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("half", [0.05, 20.0])
def test_leski_loop_is_the_one_over_stacked_inequalities(form, half):
    G, Y, _ = make_problem(FORMS[form])
    E = np.random.default_rng(4).random((len(Y), 6))
    limit = np.array([0, 2, 4, 6])
    factor = RidgeFactor(RidgeDesign(G, np.ones(len(Y)), E), half)
    solution = leski_loop(factor, Y, 0.2, limit=limit)
    for j, m in enumerate(limit):
        fitted, n_iter = stacked_loop(
            np.hstack([G.rows(), E[:, :m]]),
            Y[:, j],
            half=half,
            epsilon=0.2,
            penalised=penalised_columns(G, m),
        )
        assert solution.n_iter[j] == n_iter
        ours = (G @ solution.P + E @ solution.extra)[:, j]
        assert_allclose(ours, fitted, atol=1e-5)
