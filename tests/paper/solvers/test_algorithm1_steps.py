"""The parts of a step of Algorithm I: products that leave out zeros, thread limits."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_info

from mltsk.exceptions import InputError
from mltsk.paper.solvers import algorithm1_steps as module
from mltsk.paper.solvers.algorithm1 import _Dense
from mltsk.paper.solvers.algorithm1_steps import Solver, low_rank
from mltsk.paper.solvers.problem import Quadratic


def problem(n_rows=30, width=12, n_labels=7, seed=0):
    rng = np.random.default_rng(seed)
    G, Y = rng.random((n_rows, width)), (rng.random((n_rows, n_labels)) < 0.4) * 1.0
    return G, Y, 1 - np.corrcoef(Y.T)


def moments(G, Y):
    return Quadratic.of(_Dense(G), Y, form=True)


def test_a_singular_start_asks_for_a_larger_gamma():
    G, Y, R = problem()
    broken = Quadratic(_Dense(G), Y, -(G.T @ G))
    with pytest.raises(InputError, match="larger"):
        Solver(broken, R, 100, 0.01).solve(0.1, 0.1, 0.1)


@pytest.mark.parametrize("beta", [1.0, 5.0, 1e6])
def test_leaving_out_zero_rows_and_columns_changes_nothing(monkeypatch, beta):
    G, Y, R = problem()
    compact = Solver(moments(G, Y), R, 60, 0.0).solve(0.1, beta, 0.1)
    monkeypatch.setattr(module, "_LOOK_BELOW", 0.0)
    dense = Solver(moments(G, Y), R, 60, 0.0).solve(0.1, beta, 0.1)
    assert compact.n_iter == dense.n_iter
    assert_allclose(compact.P, dense.P, atol=1e-13)


def test_compact_product_is_the_product():
    G, Y, R = problem()
    solver = Solver(moments(G, Y), R, 1, 0.0)
    W = np.zeros((12, 7))
    W[np.ix_([1, 4, 7], [0, 3])] = np.arange(1.0, 7).reshape(3, 2)
    solver._W[:], solver._nonzero[:] = W.T, W.T != 0
    solver._multiply(6)
    solver._couple(0.5 * R, 6)
    assert solver._used(6) is not None
    assert_allclose(solver._H.T, G.T @ (G @ W) + 0.5 * W @ R)


def test_a_factor_of_nearly_equal_columns_is_thin_and_gives_the_same_runs():
    G, Y, R = problem()
    G = np.hstack([G, G * (1 + 1e-9), G])
    data = moments(G, Y)
    factor = low_rank(data.A)
    assert factor.shape == (36, 12)
    assert_allclose(factor @ factor.T, data.A, atol=1e-12)
    plain, factored = (Solver(data, R, 60, 1e-3, f).solve(0.1, 0.02, 0.1) for f in (None, factor))
    assert plain.n_iter == factored.n_iter
    assert_allclose(plain.P, factored.P, atol=1e-10)


def test_no_factor_where_it_would_not_pay():
    G, Y, _ = problem()
    assert low_rank(moments(G, Y).A) is None
    assert low_rank(np.zeros((3, 3))) is None


@pytest.mark.parametrize("n_settings", [1, 2, 60])
@pytest.mark.parametrize("by_rows", [False, True])
def test_settings_in_step_stop_where_they_stop_alone(n_settings, by_rows):
    G, Y, R = problem()
    data = Quadratic(_Dense(G), Y) if by_rows else moments(G, Y)
    settings = list(product([0.01, 0.1, 1.0], [0.0, 0.02, 0.1, 5.0], [0.1, 1.0, 10.0, 50.0, 100.0]))[:n_settings]
    found = dict(Solver(data, R, 40, 1e-3).solve_all(settings))
    assert set(found) == set(settings)
    for setting, result in found.items():
        alone = Solver(data, R, 40, 1e-3).solve(*setting)
        assert (result.n_iter, result.stopped_by) == (alone.n_iter, alone.stopped_by)
        assert_allclose(result.P, alone.P, atol=1e-12)


def test_a_solver_can_be_used_again():
    G, Y, R = problem()
    solver = Solver(moments(G, Y), R, 100, 0.01)
    first = solver.solve(0.1, 0.5, 0.1)
    solver.solve(10.0, 0.01, 1.0)
    again = solver.solve(0.1, 0.5, 0.1)
    assert np.array_equal(first.P, again.P)
    assert np.array_equal(first.losses, again.losses)


def test_small_products_run_on_one_blas_thread():
    G, Y, R = problem()
    with Solver(moments(G, Y), R, 1, 0.0).threads():
        assert {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"} == {1}
