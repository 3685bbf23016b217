"""The problem: its data in two forms, value, slope, certificate, and its solver.

The solver is compared with scikit-learn's Lasso and elastic net, and with a second one.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import ElasticNet, Lasso

from mltsk.core.coupling import CONVEX, coupling_matrix, label_correlation
from mltsk.core.fuzzymap import FuzzyMap
from mltsk.exceptions import NoMinimumError
from mltsk.paper.solvers.problem import (
    Problem,
    Quadratic,
    fista,
    quadratic,
    soft_threshold,
)


@pytest.fixture
def weighted_rows():
    rng = np.random.default_rng(0)
    G = FuzzyMap(rng.normal(size=(40, 5)), rng.dirichlet(np.ones(3), size=40))
    Y = (rng.random((40, 4)) < 0.3).astype(float)
    return G, Y, rng.random(40)


def test_quadratic_has_the_moments_of_the_squared_loss(weighted_rows):
    G, Y, w = weighted_rows
    data = quadratic(G, Y, w, form=True)
    P = np.random.default_rng(1).normal(size=(18, 4))
    loss = 0.5 * np.vdot(P, data.apply(P)) - np.vdot(P, data.B) + 0.5 * data.yy
    assert loss == pytest.approx(0.5 * (w[:, None] * (G.rows() @ P - Y) ** 2).sum())


def test_quadratic_gives_the_same_with_and_without_the_gram_matrix(weighted_rows):
    formed = quadratic(*weighted_rows, form=True)
    by_rows = quadratic(*weighted_rows, form=False)
    P = np.random.default_rng(2).normal(size=(18, 4))
    assert_allclose(formed.apply(P), by_rows.apply(P), atol=1e-12)
    assert_allclose(formed.B, by_rows.B)
    assert formed.norm == pytest.approx(np.linalg.norm(formed.A, 2))
    assert by_rows.norm == pytest.approx(formed.norm)


def test_quadratic_forms_no_gram_matrix_that_would_outweigh_the_data():
    X = sparse.random_array((500, 1000), density=0.01, format="csr", rng=0)
    wide = FuzzyMap(X, np.full((500, 8), 1 / 8))
    narrow = FuzzyMap(np.ones((5000, 2)), np.ones((5000, 1)))
    assert quadratic(wide, np.ones((500, 3))).A is None
    assert quadratic(narrow, np.ones((5000, 3))).A is not None


@pytest.mark.parametrize("form", [True, False])
def test_norm_of_a_map_that_never_fires_is_zero(weighted_rows, form):
    _, Y, _ = weighted_rows
    silent = FuzzyMap(np.ones((40, 5)), np.zeros((40, 3)))
    assert quadratic(silent, Y, form=form).norm == 0.0


@pytest.mark.parametrize("n", [8, 40])
@pytest.mark.parametrize("form", [True, False])
def test_ridge_start_is_that_of_the_normal_equations(weighted_rows, n, form):
    G, Y, w = weighted_rows
    G = G.take(np.arange(n))
    Y = Y[:n]
    w = w[:n]
    rows = G.rows()
    A = rows.T @ (w[:, None] * rows)
    B = rows.T @ (w[:, None] * Y)
    direct = np.linalg.solve(A + 0.3 * np.eye(18), B)
    start = quadratic(G, Y, w, form=form).ridge_start(0.3)
    assert_allclose(start, direct, atol=1e-9)


# Four rows and six columns, so that (24) with the paper's coupling has no minimum.
FEATURES = np.array(
    [
        [1, 0.1, 0.6, 0, 0.9, 0.4],
        [0.5, 0.9, 0.2, 0.5, 0.1, 0.8],
        [0.2, 0.3, 0.7, 0.8, 0.7, 0.3],
        [0.8, 0.4, 0.1, 0.2, 0.6, 0.9],
    ]
)
LABELS = np.array([[1.0, 1, 0], [1, 1, 1], [0, 0, 1], [1, 0, 0]])
DATA = quadratic(FEATURES, LABELS, form=True)
R = coupling_matrix(label_correlation(LABELS), "paper")


def test_value_of_the_published_objective_falls_without_bound():
    problem = Problem(DATA, R, alpha=1.0, beta=0.1)
    start = np.linalg.solve(DATA.A + 0.1 * np.eye(6), DATA.B)
    # the null space of G has two dimensions, so u is one of many: only the leading
    # coefficient is its own
    u = np.linalg.svd(FEATURES.T)[0][:, -1]
    v = np.linalg.eigh(R)[1][:, 0]
    far = start + 1000 * np.outer(u, v)
    assert problem.value(start) == pytest.approx(1.753399, abs=1e-6)
    assert problem.value(far) / 1000**2 == pytest.approx(-0.848697, rel=2e-3)


def test_require_minimum_accepts_a_ridge_that_makes_up_for_the_curvature():
    # the curvature is -1.697395
    with pytest.raises(NoMinimumError):
        Problem(DATA, R, alpha=1.0, rho=1.69739).require_minimum()
    Problem(DATA, R, alpha=1.0, rho=1.6974).require_minimum()


def test_require_minimum_says_in_full_why_there_is_none():
    with pytest.raises(NoMinimumError, match=r"alpha = 1 .* -1\.7.*laplacian.*1\.7"):
        Problem(DATA, R, alpha=1.0).require_minimum()
    Problem(DATA, R, alpha=1.0, rho=1.7).require_minimum()


def test_require_minimum_spares_the_eigenvalues_of_the_data_where_a_ridge_suffices():
    # eigvalsh would raise
    unusable = Quadratic(DATA.G, DATA.Y, np.full((6, 6), np.nan))
    Problem(unusable, R, alpha=1.0, rho=2.0).require_minimum()
    with pytest.raises(np.linalg.LinAlgError):
        Problem(unusable, R, alpha=1.0, rho=1.0).require_minimum()


def test_slope_is_the_derivative_of_the_value():
    rng = np.random.default_rng(0)
    Q = coupling_matrix(label_correlation(LABELS), "signed")
    problem = Problem(DATA, Q, alpha=0.7, rho=0.2)
    P = rng.normal(size=(6, 3))
    E = rng.normal(size=(6, 3))
    numeric = (problem.value(P + 1e-5 * E) - problem.value(P - 1e-5 * E)) / 2e-5
    assert np.vdot(problem.slope(P), E) == pytest.approx(numeric, rel=1e-7)


@pytest.mark.parametrize("form", [True, False])
def test_bound_is_a_diagonal_that_dominates_the_gram_matrix(weighted_rows, form):
    positive = quadratic(FEATURES, LABELS, form=form)
    of_both_signs = quadratic(*weighted_rows, form=form)
    for data in (positive, of_both_signs):
        A = data.apply(np.eye(len(data.bound)))
        assert np.linalg.eigvalsh(np.diag(data.bound[:, 0]) - A)[0] > -1e-10


def test_gap_bounds_the_distance_to_the_minimum_from_above():
    rng = np.random.default_rng(1)
    problem = Problem(DATA, None, beta=0.1, rho=0.5)
    step = 1 / (DATA.norm + 0.5)
    P = np.zeros((6, 3))
    for _ in range(20000):
        P = soft_threshold(P - step * problem.slope(P), 0.1 * step)
    slope = problem.slope(P)
    optimal_slope = np.where(P == 0, np.clip(slope, -0.1, 0.1), -0.1 * np.sign(P))
    assert problem.gap(P, slope) < 1e-12
    assert_allclose(optimal_slope, slope, atol=1e-9)
    for _ in range(10):
        other = P + rng.normal(size=P.shape)
        distance = problem.value(other) - problem.value(P)
        assert problem.gap(other, problem.slope(other)) >= distance


def test_gap_counts_what_a_coupling_has_of_a_ridge_as_one():
    coupled = Problem(DATA, 2 * np.eye(3), alpha=0.5, beta=0.1, rho=0.3)
    plain = Problem(DATA, beta=0.1, rho=1.3)
    P = np.random.default_rng(1).standard_normal((6, 3))
    expected = plain.gap(P, plain.slope(P))
    assert coupled.gap(P, coupled.slope(P)) == pytest.approx(expected, rel=1e-12)


def test_gap_bounds_the_distance_with_the_papers_coupling_and_a_ridge():
    problem = Problem(DATA, R, alpha=1.0, beta=0.1, rho=1.8)
    best = fista(problem, tol=1e-13, max_iter=20_000)
    P = best.P + 0.1 * np.random.default_rng(2).standard_normal((6, 3))
    distance = problem.value(P) - problem.value(best.P)
    assert problem.gap(P, problem.slope(P)) >= distance > 0


def test_value_is_the_objective_with_and_without_the_slope():
    problem = Problem(DATA, R, alpha=0.3, beta=0.2, rho=0.1)
    P = np.random.default_rng(2).normal(size=(6, 3))
    loss = 0.5 * ((FEATURES @ P - LABELS) ** 2).sum()
    ridge = 0.05 * (P**2).sum()
    coupling = 0.15 * np.trace(P @ R @ P.T)
    expected = loss + ridge + coupling + 0.2 * np.abs(P).sum()
    assert problem.value(P) == pytest.approx(expected, rel=1e-7)
    assert problem.value(P, problem.slope(P)) == pytest.approx(expected, rel=1e-7)


def admm(problem, max_iter=20000, tol=1e-11):
    """The same minimum by other means, to the same certificate.

    Alternating directions, with exact quadratic steps.
    """
    s, U = np.linalg.eigh(problem.data.A)
    lam, V = np.linalg.eigh(problem.Q)
    B = problem.data.B
    curvature = s[:, None] + problem.rho + problem.alpha * lam
    largest = curvature.max()
    kappa = float(np.sqrt(largest * max(problem.rho, 1e-3 * largest)))
    Z = np.zeros_like(B)
    T = np.zeros_like(B)
    for _ in range(max_iter):
        P = U @ ((U.T @ (B + kappa * (Z - T)) @ V) / (curvature + kappa)) @ V.T
        Z = soft_threshold(P + T, problem.beta / kappa)
        T += P - Z
        if problem.certificate(Z, problem.slope(Z)) <= tol:
            return Z
    raise AssertionError("alternating directions did not get there")


@pytest.fixture(scope="module")
def rows():
    """A map of three rules and five features, and four labels that depend on it."""
    rng = np.random.default_rng(0)
    G = FuzzyMap(rng.normal(size=(80, 5)), rng.dirichlet(np.ones(3), size=80))
    scores = G.rows() @ rng.normal(size=(18, 4))
    Y = (scores + 0.3 * rng.normal(size=(80, 4)) > 0.5).astype(float)
    return G, Y


def test_soft_threshold_moves_numbers_towards_zero():
    assert_allclose(soft_threshold(np.array([3.0, -0.5, -2.0]), 1.0), [2, 0, -1])


def test_fista_agrees_with_scikit_learns_lasso(rows):
    G, Y = rows
    problem = Problem(quadratic(G, Y, form=True), beta=0.8)
    ours = fista(problem, tol=1e-10, max_iter=50000)
    theirs = Lasso(alpha=0.8 / 80, fit_intercept=False, tol=1e-12, max_iter=100000)
    theirs.fit(G.rows(), Y)
    assert ours.converged
    assert_allclose(ours.P, theirs.coef_.T, atol=1e-6)


def test_fista_agrees_with_scikit_learns_elastic_net(rows):
    G, Y = rows
    problem = Problem(quadratic(G, Y, form=False), beta=0.8, rho=2.0)
    ours = fista(problem, tol=1e-12, max_iter=50000)
    theirs = ElasticNet(
        alpha=(0.8 + 2.0) / 80,
        l1_ratio=0.8 / 2.8,
        fit_intercept=False,
        tol=1e-12,
        max_iter=100000,
    )
    theirs.fit(G.rows(), Y)
    assert_allclose(ours.P, theirs.coef_.T, atol=1e-6)


@pytest.mark.parametrize("kind", CONVEX)
def test_fista_agrees_with_another_solver_for_every_convex_coupling(rows, kind):
    G, Y = rows
    Q = coupling_matrix(label_correlation(Y), kind)
    data = quadratic(G, Y, form=True)
    problem = Problem(data, Q, alpha=3.0, beta=0.5, rho=0.7)
    solution = fista(problem, tol=1e-11, max_iter=20000)
    other = admm(problem)
    assert solution.converged
    assert_allclose(solution.P, other, atol=1e-5)
    assert problem.value(solution.P) == pytest.approx(problem.value(other), rel=1e-9)


def test_fista_ends_in_the_same_place_from_any_start(rows):
    G, Y = rows
    problem = Problem(quadratic(G, Y, form=True), beta=0.5, rho=0.5)
    far = np.random.default_rng(1).normal(size=(18, 4)) * 100
    from_zero = fista(problem, tol=1e-11)
    from_far = fista(problem, far, tol=1e-11, max_iter=5000)
    assert_allclose(from_zero.P, from_far.P, atol=1e-5)


def test_fista_says_when_it_did_not_get_there(rows):
    G, Y = rows
    problem = Problem(quadratic(G, Y, form=True), beta=0.5, rho=1e-3)
    solution = fista(problem, max_iter=3, tol=1e-9)
    assert (solution.n_iter, solution.converged) == (3, False)
    assert solution.certificates[-1] > 1e-9


def test_fista_keeps_the_certificates(rows):
    G, Y = rows
    problem = Problem(quadratic(G, Y, form=True), beta=0.5, rho=0.5)
    certificates = fista(problem, tol=1e-8).certificates
    assert certificates[-1] <= 1e-8 < certificates[0]


def test_fista_refuses_a_problem_without_minimum(rows):
    G, Y = rows
    coupling = coupling_matrix(label_correlation(Y), "paper")
    problem = Problem(quadratic(G, Y, form=True), coupling, alpha=1e4)
    with pytest.raises(NoMinimumError):
        fista(problem)
