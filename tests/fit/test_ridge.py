"""The closed forms against fits that really leave a row out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.coupling import coupling_matrix, label_correlation
from mltsk.fit.ridge import Moments, Penalty, conjugate_gradients, solve_dual

N_ROWS = 30
N_COLUMNS = 7
N_LABELS = 3


@pytest.fixture
def Phi():
    return np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS))


@pytest.fixture
def Y():
    rng = np.random.default_rng(10)
    Y = (rng.random((N_ROWS, N_LABELS)) < 0.4).astype(float)
    Y[:, 1] = np.maximum(Y[:, 0], Y[:, 1])  # correlated labels
    return Y


def coupled(Y):
    """A ridge, and labels that are pulled together."""
    coupling = coupling_matrix(label_correlation(Y), "precision")
    lam, basis = np.linalg.eigh(coupling)
    return Penalty(0.7, alpha=3.0, lam=lam, basis=basis)


def solved_at_once(Phi, Y, w, penalty):
    """(intercept, B) by solving for all numbers of all labels at once."""
    ridge = penalty.rho * np.eye(N_LABELS)
    if penalty.basis is not None:
        ridge += penalty.alpha * (penalty.basis * penalty.lam) @ penalty.basis.T
    left = np.column_stack([np.ones(len(Phi)), Phi])
    H = left.T @ (w[:, None] * left)
    is_shrunk = np.diag([0.0] + [1.0] * N_COLUMNS)
    A = np.kron(np.eye(N_LABELS), H) + np.kron(ridge, is_shrunk)
    right = (left.T @ (w[:, None] * Y)).ravel(order="F")
    P = np.linalg.solve(A, right).reshape(N_COLUMNS + 1, N_LABELS, order="F")
    return P[0], P[1:]


def scores_by_fits_without_the_group(Phi, Y, w, groups, penalty):
    """Score of every row by a fit without the rows of its group."""
    scores = np.empty_like(Y)
    for i in range(len(Phi)):
        fewer = np.where(groups == groups[i], 0.0, w)
        intercept, B = solved_at_once(Phi, Y, fewer, penalty)
        scores[i] = intercept + Phi[i] @ B
    return scores


def make_weights(kind):
    """Weights of a kind."""
    rng = np.random.default_rng(1)
    if kind == "ones":
        return np.ones(N_ROWS)
    if kind == "relative":
        return rng.random(N_ROWS) + 0.1
    return rng.integers(1, 4, N_ROWS) * 1.0


def assert_left_out(Phi, Y, w, groups, penalty):
    """Both forms score rows as fits without their groups do."""
    alone = np.arange(N_ROWS) if groups is None else groups
    expected = scores_by_fits_without_the_group(Phi, Y, w, alone, penalty)
    _, expected_B = solved_at_once(Phi, Y, w, penalty)
    A, loo_scores = solve_dual(Phi @ Phi.T, Y, w, groups, penalty)
    primal = Moments.of(Phi, Y, w).solve(penalty)
    assert_allclose(loo_scores, expected, atol=1e-8)
    assert_allclose(primal.leave_one_out(Phi, Y, w, groups), expected, atol=1e-8)
    assert_allclose(Phi.T @ A, expected_B, atol=1e-10)
    assert_allclose(primal.B, Phi.T @ A, atol=1e-10)


@pytest.mark.parametrize("kind", ["ones", "relative", "counts"])
@pytest.mark.parametrize("is_coupled", [False, True], ids=["separate", "coupled"])
def test_solve_dual_and_leave_one_out_give_what_fits_without_the_row_give(
    Phi, Y, kind, is_coupled
):
    penalty = coupled(Y) if is_coupled else Penalty(0.7)
    assert_left_out(Phi, Y, make_weights(kind), None, penalty)


@pytest.mark.parametrize("kind", ["ones", "relative", "counts"])
@pytest.mark.parametrize(
    "groups",
    [np.arange(N_ROWS) // 3, np.arange(N_ROWS) % 2, np.repeat([0, 1, 2], [1, 4, 25])],
    ids=["of three", "of fifteen", "of 1, 4 and 25"],
)
def test_solve_dual_and_leave_one_out_give_what_fits_without_the_group_give(
    Phi, Y, kind, groups
):
    # groups of more rows than columns are solved by the columns
    assert_left_out(Phi, Y, make_weights(kind), groups, Penalty(0.7))


def test_solve_dual_leaves_groups_out_of_coupled_labels(Phi, Y):
    groups = np.arange(N_ROWS) // 4
    w = make_weights("some")
    penalty = coupled(Y)
    _, loo_scores = solve_dual(Phi @ Phi.T, Y, w, groups, penalty)
    expected = scores_by_fits_without_the_group(Phi, Y, w, groups, penalty)
    assert_allclose(loo_scores, expected, atol=1e-9)


def test_leave_one_out_gives_a_row_of_weight_0_its_plain_score(Phi, Y):
    w = np.ones(N_ROWS)
    w[3] = 0.0
    primal = Moments.of(Phi, Y, w).solve(Penalty(0.7))
    plain = primal.rates + (Phi[3] - primal.mean) @ primal.B
    loo_scores = primal.leave_one_out(Phi, Y, w, groups=None)
    assert_allclose(loo_scores[3], plain)


def test_leave_one_out_moves_by_less_than_1e_5_with_leverages_in_single_precision():
    rng = np.random.default_rng(3)
    Phi = rng.random((3_000, 200)) - 0.3
    Y = (Phi[:, :2] + rng.normal(size=(3_000, 2)) > 0) * 1.0
    w = rng.integers(0, 3, 3_000) * 1.0
    primal = Moments.of(Phi, Y, w).solve(Penalty(0.01))
    exact = primal.leave_one_out(Phi, Y, w, groups=None)
    single = primal.leave_one_out(Phi, Y, w, groups=None, precision=np.float32)
    assert_allclose(single, exact, rtol=0, atol=1e-5)
    assert not np.array_equal(single, exact)


def test_moments_add_up_over_blocks(Phi, Y):
    w = np.random.default_rng(2).random(N_ROWS)
    first = Moments.of(Phi[:10], Y[:10], w[:10])
    second = Moments.of(Phi[10:], Y[10:], w[10:])
    total = first + second
    expected = Moments.of(Phi, Y, w)
    for name in vars(expected):
        assert_allclose(getattr(total, name), getattr(expected, name))


def test_conjugate_gradients_reach_the_closed_form(Phi, Y):
    penalty = coupled(Y)
    centred = Phi - Phi.mean(axis=0)

    def apply(B):
        return centred.T @ (centred @ B) + penalty.times(B)

    B = conjugate_gradients(apply, centred.T @ Y, rtol=1e-12)
    primal = Moments.of(Phi, Y, np.ones(N_ROWS)).solve(penalty)
    assert_allclose(B, primal.B, atol=1e-9)


def test_solve_refuses_a_prior_for_several_ridges(Phi, Y):
    moments = Moments.of(Phi, Y, np.ones(len(Y)))
    prior = np.eye(2)
    penalty = Penalty(1.0, alpha=1.0, lam=np.arange(Y.shape[1]))
    with pytest.raises(ValueError, match="one ridge for all labels"):
        moments.solve(penalty, prior)


def test_solve_names_a_ridge_that_is_too_small_for_the_problem():
    Phi = np.ones((4, 2)) * np.arange(4.0)[:, None]
    moments = Moments.of(Phi, Phi[:, :1], np.ones(4))
    with pytest.raises(ValueError, match="take a larger one"):
        moments.solve(Penalty(-1.0))
