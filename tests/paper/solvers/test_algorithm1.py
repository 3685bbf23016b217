"""Algorithm I: worked numbers, agreement with a plain transcription, input checks."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_info

from mltsk.core.fuzzymap import FuzzyMap, fuzzy_features
from mltsk.exceptions import InputError
from mltsk.paper.solvers.algorithm1 import Solver, algorithm1, algorithm1_grid
from mltsk.paper.solvers.problem import Quadratic, quadratic

VALUES = (0.01, 1.0, 100.0)
CORNERS = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
WORKED_Y = np.array([[1.0, 0, 1], [1, 1, 0], [0, 1, 0], [0, 0, 1]])


def worked_G():
    """Two rules in opposite corners of the unit square.

    The bias is last in each rule, as in the published numbers.
    """
    centers = np.array([[0.0, 0], [1, 1]])
    G = fuzzy_features(CORNERS, centers, np.full((2, 2), 0.5))
    return G[:, [1, 2, 0, 4, 5, 3]]


def plain(G, Y, alpha, beta, gamma, max_iter=100, margin=0.01):
    """The algorithm written down line by line, with all four products of a step."""
    A = G.T @ G
    B = G.T @ Y
    R = 1 - np.corrcoef(Y.T)
    W = W_old = np.linalg.solve(A + gamma * np.eye(len(A)), B)
    lip = np.sqrt(2 * (np.linalg.norm(A, 2) ** 2 + np.linalg.norm(alpha * R, 2) ** 2))
    b = b_old = 1.0
    losses = [0.0]
    for _ in range(max_iter):
        V = W + (b_old - 1) / b * (W - W_old)
        Z = V - (A @ V - B + alpha * V @ R) / lip
        b_old = b
        b = (1 + np.sqrt(4 * b * b + 1)) / 2
        W_old = W
        W = np.sign(Z) * np.maximum(np.abs(Z) - beta / lip, 0)
        errors = ((G @ W - Y) ** 2).sum()
        coupling = alpha * np.trace(R @ W.T @ W)
        losses.append(errors + coupling + beta * np.count_nonzero(W))
        if abs(losses[-2] - losses[-1]) <= margin or losses[-1] <= 0:
            break
    return W, losses[1:]


def random_problem(seed=0, n_rows=60, width=14, n_labels=9):
    """G with many zeros, and labels that depend on it."""
    rng = np.random.default_rng(seed)
    G = rng.random((n_rows, width)) * (rng.random((n_rows, width)) < 0.6)
    scores = G @ rng.standard_normal((width, n_labels))
    Y = (scores + rng.standard_normal((n_rows, n_labels)) > 0.5) * 1.0
    return G, Y


def test_algorithm1_makes_the_first_step_of_the_worked_example():
    P = algorithm1(worked_G(), WORKED_Y, 0.1, 0.05, 0.1, max_iter=1).P
    expected = [
        [0.453265, 1.038357, -0.838981],
        [-0.377001, 1.053693, -0.823645],
        [0.92028, 0.12864, 0.757106],
        [0.386762, -0.324192, 0.558423],
        [-0.443504, -0.308856, 0.573759],
        [0.017404, 0.709463, -0.237127],
    ]
    assert_allclose(P, expected, atol=1e-6)


def test_algorithm1_stops_the_worked_example_at_a_negative_loss():
    result = algorithm1(worked_G(), WORKED_Y, 0.1, 0.05, 0.1)
    losses = [0.463796, 0.337379, 0.129301, -0.0616579]
    scores = [
        [0.900864, 0.017316, 0.740941],
        [0.879577, 0.783855, 0.024054],
        [0.054824, 0.842486, 0.082685],
        [-0.016747, 0.096426, 0.921078],
    ]
    assert (result.n_iter, result.stopped_by) == (4, "negative loss")
    assert_allclose(result.losses, losses, atol=1e-6)
    assert_allclose(worked_G() @ result.P, scores, atol=1e-6)


@pytest.mark.parametrize("alpha", VALUES)
@pytest.mark.parametrize("beta", VALUES)
@pytest.mark.parametrize("gamma", VALUES)
def test_algorithm1_agrees_with_the_plain_transcription(alpha, beta, gamma):
    G, Y = random_problem()
    P, losses = plain(G, Y, alpha, beta, gamma)
    result = algorithm1(G, Y, alpha, beta, gamma)
    assert result.n_iter == len(losses)
    assert_allclose(result.P, P, atol=1e-10 * max(1.0, np.abs(P).max()))
    assert_allclose(result.losses, losses, rtol=1e-9, atol=1e-8)


def test_algorithm1_runs_on_as_the_authors_do_where_the_problem_has_no_minimum():
    # 6 columns, 4 rows: (24) falls without bound along the null space of G, and only
    # the stopping rule ends it
    G = np.array(
        [
            [1, 0.1, 0.6, 0, 0.9, 0.4],
            [0.5, 0.9, 0.2, 0.5, 0.1, 0.8],
            [0.2, 0.3, 0.7, 0.8, 0.7, 0.3],
            [0.8, 0.4, 0.1, 0.2, 0.6, 0.9],
        ]
    )
    Y = np.array([[1.0, 1, 0], [1, 1, 1], [0, 0, 1], [1, 0, 0]])
    P, losses = plain(G, Y, 1.0, 0.1, 0.1)
    result = algorithm1(G, Y, 1.0, 0.1, 0.1)
    assert (result.stopped_by, result.n_iter) == ("negative loss", len(losses))
    assert_allclose(result.P, P, atol=1e-12)


def test_algorithm1_grid_gives_the_numbers_of_a_loop():
    G, Y = random_problem(1)
    grid = algorithm1_grid(G, Y, VALUES, VALUES, VALUES)
    assert list(grid) == list(product(VALUES, VALUES, VALUES))
    for setting, result in grid.items():
        alone = algorithm1(G, Y, *setting)
        assert (result.n_iter, result.stopped_by) == (alone.n_iter, alone.stopped_by)
        assert_allclose(result.P, alone.P, atol=1e-12)


@pytest.mark.parametrize(
    ("n_rows", "copies"), [(60, 1), (8, 1), (60, 3)], ids=["moments", "rows", "factor"]
)
def test_algorithm1_grid_stops_in_single_precision_where_double_does(n_rows, copies):
    G, Y = random_problem(1)
    G = np.hstack([G * (1 + 1e-10 * i) for i in range(copies)])[:n_rows]
    Y = Y[:n_rows]
    doubles = algorithm1_grid(G, Y, VALUES, VALUES, VALUES, precision="double")
    singles = algorithm1_grid(G, Y, VALUES, VALUES, VALUES, precision="single")
    for setting, double in doubles.items():
        single = singles[setting]
        assert single.P.dtype == np.float64
        assert (single.n_iter, single.stopped_by) == (double.n_iter, double.stopped_by)
        assert_allclose(single.P, double.P, atol=2e-4 * max(1.0, abs(double.P).max()))


def test_algorithm1_grid_names_an_unknown_precision():
    with pytest.raises(InputError, match="precision must be"):
        algorithm1_grid(np.eye(2), np.eye(2), [1.0], [1.0], [1.0], precision="half")


def test_algorithm1_grid_keeps_only_what_then_returns():
    G, Y = random_problem(2)
    kept = algorithm1_grid(
        G, Y, [0.1], [0.1, 1.0], [1.0], then=lambda result: result.P.shape
    )
    assert kept == {(0.1, 0.1, 1.0): (14, 9), (0.1, 1.0, 1.0): (14, 9)}


def test_algorithm1_goes_through_the_rows_where_columns_are_more():
    G, Y = random_problem(4, n_rows=24, width=80, n_labels=3)
    P, losses = plain(G, Y, 0.1, 0.1, 1.0)
    result = algorithm1(G, Y, 0.1, 0.1, 1.0)
    assert result.n_iter == len(losses)
    assert_allclose(result.P, P, atol=1e-10)


@pytest.mark.parametrize("n_rows", [8, 40])
def test_algorithm1_takes_a_fuzzy_map_without_building_it(n_rows):
    rng = np.random.default_rng(5)
    G = FuzzyMap(rng.random((n_rows, 5)), rng.dirichlet(np.ones(6), n_rows))
    Y = np.tile(np.eye(4), (n_rows // 4, 1))
    built = algorithm1(G.rows(), Y, 0.1, 0.01, 0.1)
    mapped = algorithm1(G, Y, 0.1, 0.01, 0.1)
    assert built.n_iter == mapped.n_iter
    assert_allclose(built.P, mapped.P, atol=1e-10)


def test_algorithm1_takes_a_constant_label_as_uncorrelated_by_default():
    G, Y = random_problem(6)
    Y[:, 2] = 1.0
    result = algorithm1(G, Y, 0.1, 0.1, 1.0)
    assert np.isfinite(result.P).all()
    assert np.abs(result.P).max() > 0.1


def test_algorithm1_gives_zero_for_a_constant_label_as_the_authors_program_does():
    G, Y = random_problem(6)
    Y[:, 2] = 0.0
    result = algorithm1(G, Y, 0.1, 0.1, 1.0, constant_labels="authors")
    assert not result.P.any()
    assert (result.n_iter, result.stopped_by) == (100, "max_iter")
    assert np.isnan(result.losses).all()


def test_algorithm1_ignores_constant_labels_where_there_is_none():
    G, Y = random_problem(7)
    ours = algorithm1(G, Y, 0.1, 0.1, 1.0)
    theirs = algorithm1(G, Y, 0.1, 0.1, 1.0, constant_labels="authors")
    assert_array_equal(theirs.P, ours.P)


def test_algorithm1_stops_by_margin_and_by_the_number_of_steps():
    G, Y = random_problem(8)
    first = algorithm1(G, Y, 0.0, 0.1, 1.0, margin=1e9)
    assert (first.n_iter, first.stopped_by) == (1, "margin")
    last = algorithm1(G, Y, 0.0, 0.1, 1.0, margin=0.0, max_iter=7)
    assert (last.n_iter, last.stopped_by, len(last.losses)) == (7, "max_iter", 7)


def test_algorithm1_gives_zero_for_rows_that_all_underflowed():
    result = algorithm1(np.zeros((4, 6)), WORKED_Y, 0.1, 0.05, 0.1)
    assert not result.P.any()
    assert result.n_iter == 2


def test_algorithm1_has_no_coupling_for_one_label():
    G, Y = random_problem(9, n_labels=1)
    coupled = algorithm1(G, Y, 100.0, 0.1, 1.0)
    uncoupled = algorithm1(G, Y, 0.0, 0.1, 1.0)
    assert_allclose(coupled.P, uncoupled.P)


def test_algorithm1_takes_integer_labels_and_leaves_its_inputs_as_they_were():
    G, Y = random_problem(10)
    G_before = G.copy()
    Y_before = Y.copy()
    of_integers = algorithm1(G, Y.astype(np.uint8), 1.0, 10.0, 1.0)
    assert_array_equal(of_integers.P, algorithm1(G, Y, 1.0, 10.0, 1.0).P)
    assert_array_equal(G, G_before)
    assert_array_equal(Y, Y_before)


@pytest.mark.parametrize("width", [14, 200])
def test_algorithm1_takes_a_weight_as_a_number_of_copies(width):
    G, Y = random_problem(11, width=width, n_labels=5)
    w = np.arange(len(Y)) % 3
    weighted = algorithm1(G, Y, 0.1, 0.1, 1.0, sample_weight=w)
    copied = algorithm1(np.repeat(G, w, axis=0), np.repeat(Y, w, axis=0), 0.1, 0.1, 1.0)
    assert weighted.n_iter == copied.n_iter
    assert_allclose(weighted.P, copied.P, atol=1e-10)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alpha": -1.0}, "alpha, beta >= 0"),
        ({"beta": np.nan}, "alpha, beta >= 0"),
        ({"gamma": 0.0}, "gamma > 0"),
        ({"max_iter": 0}, "max_iter"),
        ({"Y": np.ones((3, 2))}, "same rows"),
        ({"Y": np.ones(60)}, "same rows"),
        ({"G": np.full((60, 14), np.nan)}, "NaN or infinite"),
        ({"constant_labels": "drop"}, "constant_labels"),
    ],
)
def test_algorithm1_names_bad_input(changes, message):
    G, Y = random_problem()
    arguments = {"G": G, "Y": Y, "alpha": 0.1, "beta": 0.1, "gamma": 1.0} | changes
    with pytest.raises(InputError, match=message):
        algorithm1(**arguments)


def small_problem():
    """Dense rows with random labels, and the paper's coupling of these."""
    rng = np.random.default_rng(0)
    G = rng.random((30, 12))
    Y = (rng.random((30, 7)) < 0.4) * 1.0
    return G, Y, 1 - np.corrcoef(Y.T)


def test_solver_asks_for_a_larger_gamma_where_the_start_is_singular():
    G, Y, R = small_problem()
    broken = Quadratic(G, Y, -(G.T @ G))
    with pytest.raises(InputError, match="larger"):
        Solver(broken, R, 100, 0.01).solve(0.1, 0.1, 0.1)


@pytest.mark.parametrize("beta", [1.0, 5.0, 1e6])
def test_algorithm1_gives_the_same_where_zero_rows_and_columns_are_left_out(beta):
    G, Y, _ = small_problem()
    P, losses = plain(G, Y, 0.1, beta, 0.1, max_iter=60, margin=0.0)
    compact = algorithm1(G, Y, 0.1, beta, 0.1, max_iter=60, margin=0.0)
    assert compact.n_iter == len(losses)
    assert np.count_nonzero(compact.P) < 0.25 * P.size or beta == 1.0
    assert_allclose(compact.P, P, atol=1e-13)


def test_algorithm1_grid_gives_the_same_by_a_factor_of_nearly_equal_columns():
    G, Y, _ = small_problem()
    G = np.hstack([G, G * (1 + 1e-9), G])
    stop = {"max_iter": 60, "margin": 1e-3}
    grid = algorithm1_grid(G, Y, VALUES, VALUES, VALUES, **stop)
    for setting, result in grid.items():
        alone = algorithm1(G, Y, *setting, **stop)
        assert result.n_iter == alone.n_iter
        assert_allclose(result.P, alone.P, atol=1e-10 * max(1.0, np.abs(alone.P).max()))


@pytest.mark.parametrize("n_settings", [1, 2, 60])
@pytest.mark.parametrize("form", [False, True])
def test_solve_all_stops_settings_in_step_where_they_stop_alone(n_settings, form):
    G, Y, R = small_problem()
    data = quadratic(G, Y, form=form)
    betas = (0.0, 0.02, 0.1, 5.0)
    gammas = (0.1, 1.0, 10.0, 50.0, 100.0)
    settings = list(product((0.01, 0.1, 1.0), betas, gammas))[:n_settings]
    results = dict(Solver(data, R, 40, 1e-3).solve_all(settings))
    assert set(results) == set(settings)
    for setting, result in results.items():
        alone = Solver(data, R, 40, 1e-3).solve(*setting)
        assert (result.n_iter, result.stopped_by) == (alone.n_iter, alone.stopped_by)
        assert_allclose(result.P, alone.P, atol=1e-12)


def test_solver_can_be_used_again():
    G, Y, R = small_problem()
    solver = Solver(quadratic(G, Y, form=True), R, 100, 0.01)
    first = solver.solve(0.1, 0.5, 0.1)
    solver.solve(10.0, 0.01, 1.0)
    again = solver.solve(0.1, 0.5, 0.1)
    assert np.array_equal(first.P, again.P)
    assert np.array_equal(first.losses, again.losses)


def test_algorithm1_grid_runs_small_products_on_one_blas_thread():
    G, Y, _ = small_problem()
    kept = algorithm1_grid(
        G, Y, [0.1], [0.1], [0.1], then=lambda result: threadpool_info()
    )
    (libraries,) = kept.values()
    blas = [library for library in libraries if library["user_api"] == "blas"]
    assert {library["num_threads"] for library in blas} == {1}
