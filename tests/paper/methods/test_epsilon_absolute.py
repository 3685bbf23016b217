"""The absolute criterion: against linear-quadratic optimality conditions, its certificate, and weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.fuzzymap import FuzzyMap
from mltsk.paper.methods.epsilon_absolute import minimise_absolute
from mltsk.paper.methods.epsilon_insensitive import Design, Factor

FORMS = {"primal": (50, 3), "dual": (16, 9)}


def problem(shape):
    rng = np.random.default_rng(0)
    M = rng.random((shape[0], 2))
    Y = rng.integers(0, 2, size=(shape[0], 3)).astype(float)
    return FuzzyMap(rng.random(shape), M / M.sum(axis=1, keepdims=True)), Y, rng.integers(0, 3, shape[0]).astype(float)


def objective(G, p, y, w, tau, epsilon):
    penalised = p.reshape(G.n_rules, -1)[:, 1:]
    return np.sum(w * np.maximum(np.abs(G.rows() @ p - y) - epsilon, 0)) + tau / 2 * np.sum(penalised**2)


@pytest.mark.parametrize("form", FORMS)
def test_no_neighbour_is_better_than_the_optimum(form):
    G, Y, w = problem(FORMS[form])
    found = minimise_absolute(Factor.of(Design.of(G, w), 0.3), Y, 0.05, tol=1e-9, max_iter=50000)
    steps = np.random.default_rng(1).normal(size=(200, G.shape[1]))
    for j in range(3):
        best = objective(G, found.P[:, j], Y[:, j], w, 0.3, 0.05)
        assert best == pytest.approx(found.value[j])
        near = [objective(G, found.P[:, j] + 1e-3 * step, Y[:, j], w, 0.3, 0.05) for step in steps]
        assert min(near) >= best - 1e-8


def test_gap_bounds_the_distance_to_the_optimum():
    G, Y, w = problem(FORMS["primal"])
    factor = Factor.of(Design.of(G, w), 0.3)
    best = minimise_absolute(factor, Y, 0.05, tol=1e-9, max_iter=50000)
    early = minimise_absolute(factor, Y, 0.05, tol=0.0, max_iter=3)
    assert best.converged
    assert not early.converged
    assert np.all(early.value - best.value <= early.gap + 1e-9)


def test_outliers_do_not_move_the_absolute_fit():
    x = np.linspace(0, 1, 41)[:, None]
    y = 2 * x
    y[20] = 100.0
    G = FuzzyMap(x, np.ones((41, 1)))
    found = minimise_absolute(Factor.of(Design.of(G, np.ones(41)), 1e-3), y, 0.0, tol=1e-6, max_iter=50000)
    assert_allclose(found.P.ravel(), [0.0, 2.0], atol=0.02)
