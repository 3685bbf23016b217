"""Algorithm I: worked numbers, agreement with a plain transcription, stopping rules, input checks; parts of a step."""

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
Y3 = np.array([[1.0, 0, 1], [1, 1, 0], [0, 1, 0], [0, 0, 1]])


def worked_G():
    """Two rules in opposite corners of the unit square, bias last in each rule as in the published numbers."""
    G = fuzzy_features(CORNERS, np.array([[0.0, 0], [1, 1]]), np.full((2, 2), 0.5))
    return G[:, [1, 2, 0, 4, 5, 3]]


def plain(G, Y, alpha, beta, gamma, max_iter=100, margin=0.01):
    """The algorithm written down line by line, with all four products of a step."""
    A, B, R = G.T @ G, G.T @ Y, 1 - np.corrcoef(Y.T)
    W = W_old = np.linalg.solve(A + gamma * np.eye(len(A)), B)
    lip = np.sqrt(2 * (np.linalg.norm(A, 2) ** 2 + np.linalg.norm(alpha * R, 2) ** 2))
    b = b_old = 1.0
    losses = [0.0]
    for _ in range(max_iter):
        V = W + (b_old - 1) / b * (W - W_old)
        Z = V - (A @ V - B + alpha * V @ R) / lip
        b_old, b = b, (1 + np.sqrt(4 * b * b + 1)) / 2
        W_old, W = W, np.sign(Z) * np.maximum(np.abs(Z) - beta / lip, 0)
        loss = (
            ((G @ W - Y) ** 2).sum()
            + alpha * np.trace(R @ W.T @ W)
            + beta * np.count_nonzero(W)
        )
        losses.append(loss)
        if abs(losses[-2] - loss) <= margin or loss <= 0:
            break
    return W, losses[1:]


def random_problem(seed=0, n_rows=60, width=14, n_labels=9):
    rng = np.random.default_rng(seed)
    G = rng.random((n_rows, width)) * (rng.random((n_rows, width)) < 0.6)
    Y = (
        G @ rng.standard_normal((width, n_labels))
        + rng.standard_normal((n_rows, n_labels))
        > 0.5
    ) * 1.0
    return G, Y


def test_first_step_of_the_worked_example():
    P = algorithm1(worked_G(), Y3, 0.1, 0.05, 0.1, max_iter=1).P
    expected = [
        [0.453265, 1.038357, -0.838981],
        [-0.377001, 1.053693, -0.823645],
        [0.92028, 0.12864, 0.757106],
        [0.386762, -0.324192, 0.558423],
        [-0.443504, -0.308856, 0.573759],
        [0.017404, 0.709463, -0.237127],
    ]
    assert_allclose(P, expected, atol=1e-6)


def test_worked_example_stops_at_a_negative_loss():
    result = algorithm1(worked_G(), Y3, 0.1, 0.05, 0.1)
    assert (result.n_iter, result.stopped_by) == (4, "negative loss")
    assert_allclose(
        result.losses, [0.463796, 0.337379, 0.129301, -0.0616579], atol=1e-6
    )
    scores = [
        [0.900864, 0.017316, 0.740941],
        [0.879577, 0.783855, 0.024054],
        [0.054824, 0.842486, 0.082685],
        [-0.016747, 0.096426, 0.921078],
    ]
    assert_allclose(worked_G() @ result.P, scores, atol=1e-6)


@pytest.mark.parametrize("alpha", VALUES)
@pytest.mark.parametrize("beta", VALUES)
@pytest.mark.parametrize("gamma", VALUES)
def test_agrees_with_the_plain_transcription(alpha, beta, gamma):
    G, Y = random_problem()
    P, losses = plain(G, Y, alpha, beta, gamma)
    result = algorithm1(G, Y, alpha, beta, gamma)
    assert result.n_iter == len(losses)
    assert_allclose(result.P, P, atol=1e-10 * max(1.0, np.abs(P).max()))
    assert_allclose(result.losses, losses, rtol=1e-9, atol=1e-8)


def test_runs_on_where_the_problem_has_no_minimum_as_the_authors_do():
    # 6 columns, 4 rows: (24) falls without bound along the null space of G, and only the stopping rule ends it
    first, second = [1, 0.1, 0.6, 0, 0.9, 0.4], [0.5, 0.9, 0.2, 0.5, 0.1, 0.8]
    third, fourth = [0.2, 0.3, 0.7, 0.8, 0.7, 0.3], [0.8, 0.4, 0.1, 0.2, 0.6, 0.9]
    G = np.array([first, second, third, fourth])
    Y = np.array([[1.0, 1, 0], [1, 1, 1], [0, 0, 1], [1, 0, 0]])
    P, losses = plain(G, Y, 1.0, 0.1, 0.1)
    result = algorithm1(G, Y, 1.0, 0.1, 0.1)
    assert (result.stopped_by, result.n_iter) == ("negative loss", len(losses))
    assert_allclose(result.P, P, atol=1e-12)


def test_grid_gives_the_numbers_of_the_loop():
    G, Y = random_problem(1)
    grid = algorithm1_grid(G, Y, VALUES, VALUES, VALUES)
    assert list(grid) == [(a, b, g) for a in VALUES for b in VALUES for g in VALUES]
    for setting, result in grid.items():
        one = algorithm1(G, Y, *setting)
        assert (result.n_iter, result.stopped_by) == (one.n_iter, one.stopped_by)
        assert_allclose(result.P, one.P, atol=1e-12)


@pytest.mark.parametrize(
    ("n_rows", "copies"), [(60, 1), (8, 1), (60, 3)], ids=["moments", "rows", "factor"]
)
def test_single_precision_stops_where_double_does(n_rows, copies):
    G, Y = random_problem(1)
    G = np.hstack([G * (1 + 1e-10 * i) for i in range(copies)])[:n_rows]
    found = [
        algorithm1_grid(G, Y[:n_rows], VALUES, VALUES, VALUES, precision=p)
        for p in ("double", "single")
    ]
    for double, single in zip(*(grid.values() for grid in found), strict=True):
        assert single.P.dtype == np.float64
        assert (single.n_iter, single.stopped_by) == (double.n_iter, double.stopped_by)
        assert_allclose(single.P, double.P, atol=2e-4 * max(1.0, abs(double.P).max()))


def test_an_unknown_precision_is_named():
    with pytest.raises(InputError, match="precision must be"):
        algorithm1_grid(np.eye(2), np.eye(2), [1.0], [1.0], [1.0], precision="half")


def test_grid_keeps_only_what_then_returns():
    G, Y = random_problem(2)
    kept = algorithm1_grid(
        G, Y, [0.1], [0.1, 1.0], [1.0], then=lambda result: result.P.shape
    )
    assert kept == {(0.1, 0.1, 1.0): (14, 9), (0.1, 1.0, 1.0): (14, 9)}


def test_more_columns_than_rows_go_through_the_rows():
    G, Y = random_problem(4, n_rows=24, width=80, n_labels=3)
    P, losses = plain(G, Y, 0.1, 0.1, 1.0)
    result = algorithm1(G, Y, 0.1, 0.1, 1.0)
    assert result.n_iter == len(losses)
    assert_allclose(result.P, P, atol=1e-10)


@pytest.mark.parametrize("n_rows", [8, 40])
def test_takes_a_fuzzy_map_without_building_it(n_rows):
    rng = np.random.default_rng(5)
    X, M = rng.random((n_rows, 5)), rng.dirichlet(np.ones(6), n_rows)
    Y = np.tile(np.eye(4), (n_rows // 4, 1))
    G = FuzzyMap(X, M)
    built, mapped = (
        algorithm1(G.rows(), Y, 0.1, 0.01, 0.1),
        algorithm1(G, Y, 0.1, 0.01, 0.1),
    )
    assert built.n_iter == mapped.n_iter
    assert_allclose(built.P, mapped.P, atol=1e-10)


def test_a_constant_label_is_uncorrelated_by_default():
    G, Y = random_problem(6)
    Y[:, 2] = 1.0
    result = algorithm1(G, Y, 0.1, 0.1, 1.0)
    assert np.isfinite(result.P).all()
    assert np.abs(result.P).max() > 0.1


def test_a_constant_label_zeroes_everything_as_in_the_authors_program():
    G, Y = random_problem(6)
    Y[:, 2] = 0.0
    result = algorithm1(G, Y, 0.1, 0.1, 1.0, constant_labels="authors")
    assert not result.P.any()
    assert (result.n_iter, result.stopped_by) == (100, "max_iter")
    assert np.isnan(result.losses).all()


def test_constant_labels_option_changes_nothing_without_one():
    G, Y = random_problem(7)
    ours = algorithm1(G, Y, 0.1, 0.1, 1.0)
    assert_array_equal(
        algorithm1(G, Y, 0.1, 0.1, 1.0, constant_labels="authors").P, ours.P
    )


def test_stops_by_margin_and_by_the_number_of_steps():
    G, Y = random_problem(8)
    assert algorithm1(G, Y, 0.0, 0.1, 1.0, margin=1e9).stopped_by == "margin"
    assert algorithm1(G, Y, 0.0, 0.1, 1.0, margin=1e9).n_iter == 1
    last = algorithm1(G, Y, 0.0, 0.1, 1.0, margin=0.0, max_iter=7)
    assert (last.n_iter, last.stopped_by, len(last.losses)) == (7, "max_iter", 7)


def test_rows_that_all_underflowed_give_zero():
    result = algorithm1(np.zeros((4, 6)), Y3, 0.1, 0.05, 0.1)
    assert not result.P.any()
    assert result.n_iter == 2


def test_one_label_has_no_coupling():
    G, Y = random_problem(9, n_labels=1)
    assert_allclose(
        algorithm1(G, Y, 100.0, 0.1, 1.0).P, algorithm1(G, Y, 0.0, 0.1, 1.0).P
    )


def test_integer_labels_and_inputs_that_stay_as_they_were():
    G, Y = random_problem(10)
    copies = G.copy(), Y.copy()
    labels = Y.astype(np.uint8)
    assert_array_equal(
        algorithm1(G, labels, 1.0, 10.0, 1.0).P, algorithm1(G, Y, 1.0, 10.0, 1.0).P
    )
    assert_array_equal(G, copies[0])
    assert_array_equal(Y, copies[1])


@pytest.mark.parametrize("width", [14, 200])
def test_a_weight_is_a_number_of_copies(width):
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
def test_bad_input_is_named(changes, message):
    G, Y = random_problem()
    arguments = {"G": G, "Y": Y, "alpha": 0.1, "beta": 0.1, "gamma": 1.0} | changes
    with pytest.raises(InputError, match=message):
        algorithm1(**arguments)


def small_problem(n_rows=30, width=12, n_labels=7, seed=0):
    rng = np.random.default_rng(seed)
    G, Y = rng.random((n_rows, width)), (rng.random((n_rows, n_labels)) < 0.4) * 1.0
    return G, Y, 1 - np.corrcoef(Y.T)


def moments(G, Y):
    return quadratic(G, Y, form=True)


def test_a_singular_start_asks_for_a_larger_gamma():
    G, Y, R = small_problem()
    broken = Quadratic(G, Y, -(G.T @ G))
    with pytest.raises(InputError, match="larger"):
        Solver(broken, R, 100, 0.01).solve(0.1, 0.1, 0.1)


@pytest.mark.parametrize("beta", [1.0, 5.0, 1e6])
def test_leaving_out_zero_rows_and_columns_changes_nothing(beta):
    G, Y, _ = small_problem()
    P, losses = plain(G, Y, 0.1, beta, 0.1, max_iter=60, margin=0.0)
    compact = algorithm1(G, Y, 0.1, beta, 0.1, max_iter=60, margin=0.0)
    assert compact.n_iter == len(losses)
    assert np.count_nonzero(compact.P) < 0.25 * P.size or beta == 1.0
    assert_allclose(compact.P, P, atol=1e-13)


def test_nearly_equal_columns_give_the_same_runs_in_a_grid_which_has_a_factor_of_them():
    G, Y, _ = small_problem()
    G = np.hstack([G, G * (1 + 1e-9), G])
    for setting, found in algorithm1_grid(
        G, Y, VALUES, VALUES, VALUES, max_iter=60, margin=1e-3
    ).items():
        alone = algorithm1(G, Y, *setting, max_iter=60, margin=1e-3)
        assert found.n_iter == alone.n_iter
        assert_allclose(found.P, alone.P, atol=1e-10 * max(1.0, np.abs(alone.P).max()))


@pytest.mark.parametrize("n_settings", [1, 2, 60])
@pytest.mark.parametrize("by_rows", [False, True])
def test_settings_in_step_stop_where_they_stop_alone(n_settings, by_rows):
    G, Y, R = small_problem()
    data = Quadratic(G, Y) if by_rows else moments(G, Y)
    settings = list(
        product([0.01, 0.1, 1.0], [0.0, 0.02, 0.1, 5.0], [0.1, 1.0, 10.0, 50.0, 100.0])
    )[:n_settings]
    found = dict(Solver(data, R, 40, 1e-3).solve_all(settings))
    assert set(found) == set(settings)
    for setting, result in found.items():
        alone = Solver(data, R, 40, 1e-3).solve(*setting)
        assert (result.n_iter, result.stopped_by) == (alone.n_iter, alone.stopped_by)
        assert_allclose(result.P, alone.P, atol=1e-12)


def test_a_solver_can_be_used_again():
    G, Y, R = small_problem()
    solver = Solver(moments(G, Y), R, 100, 0.01)
    first = solver.solve(0.1, 0.5, 0.1)
    solver.solve(10.0, 0.01, 1.0)
    again = solver.solve(0.1, 0.5, 0.1)
    assert np.array_equal(first.P, again.P)
    assert np.array_equal(first.losses, again.losses)


def test_small_products_run_on_one_blas_thread():
    G, Y, _ = small_problem()
    (libraries,) = algorithm1_grid(
        G, Y, [0.1], [0.1], [0.1], then=lambda _: threadpool_info()
    ).values()
    assert {lib["num_threads"] for lib in libraries if lib["user_api"] == "blas"} == {1}
