"""The problem: its data in two forms, value, slope, constants, certificate; and the solver, which reaches its optimum.

The solver is compared with scikit-learn's Lasso and elastic net, and with a second one. Leave-one-out in closed form
equals leaving out, and chooses weights.
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
    LOO_ROWS,
    RATIOS,
    Problem,
    Quadratic,
    choose_weights,
    fista,
    fit_consequents,
    leave_one_out,
    quadratic,
    soft_threshold,
    spectrum,
)


@pytest.fixture
def weighted_rows():
    rng = np.random.default_rng(0)
    G = FuzzyMap(rng.normal(size=(40, 5)), rng.dirichlet(np.ones(3), size=40))
    return G, (rng.random((40, 4)) < 0.3).astype(float), rng.random(40)


def test_moments_are_the_quadratic_loss(weighted_rows):
    G, Y, w = weighted_rows
    data, P = (
        quadratic(G, Y, w, form=True),
        np.random.default_rng(1).normal(size=(18, 4)),
    )
    loss = 0.5 * np.vdot(P, data.apply(P)) - np.vdot(P, data.B) + 0.5 * data.yy
    assert loss == pytest.approx(0.5 * (w[:, None] * (G.rows() @ P - Y) ** 2).sum())


def test_matrix_free_agrees(weighted_rows):
    G, Y, w = weighted_rows
    a, b = (quadratic(G, Y, w, form=form) for form in (True, False))
    P = np.random.default_rng(2).normal(size=(18, 4))
    assert_allclose(a.apply(P), b.apply(P), atol=1e-12)
    assert_allclose(a.B, b.B)
    assert a.norm == pytest.approx(np.linalg.norm(a.A, 2))
    assert b.norm == pytest.approx(a.norm)


def test_the_gram_matrix_is_not_formed_where_it_would_outweigh_the_data():
    X = sparse.random_array((500, 1000), density=0.01, format="csr", rng=0)
    G = FuzzyMap(X, np.full((500, 8), 1 / 8))
    assert quadratic(G, np.ones((500, 3))).A is None
    small = FuzzyMap(np.ones((5000, 2)), np.ones((5000, 1)))
    assert quadratic(small, np.ones((5000, 3))).A is not None


def test_a_map_that_never_fires_has_norm_zero(weighted_rows):
    _, Y, _ = weighted_rows
    silent = FuzzyMap(np.ones((40, 5)), np.zeros((40, 3)))
    assert (
        quadratic(silent, Y, form=True).norm
        == quadratic(silent, Y, form=False).norm
        == 0.0
    )


@pytest.mark.parametrize("n", [8, 40])
def test_the_ridge_start_is_that_of_the_normal_equations(weighted_rows, n):
    G, Y, w = (
        part[:n] if isinstance(part, np.ndarray) else part.take(np.arange(n))
        for part in weighted_rows
    )
    rows = G.rows()
    direct = np.linalg.solve(
        rows.T @ (w[:, None] * rows) + 0.3 * np.eye(18), rows.T @ (w[:, None] * Y)
    )
    for form in (True, False):
        assert_allclose(
            quadratic(G, Y, w, form=form).ridge_start(0.3), direct, atol=1e-9
        )


GT = np.array(
    [[1, 0.5, 0.2, 0.8], [0.1, 0.9, 0.3, 0.4], [0.6, 0.2, 0.7, 0.1], [0, 0.5, 0.8, 0.2], [0.9, 0.1, 0.7, 0.6],
     [0.4, 0.8, 0.3, 0.9]]
)  # fmt: skip
LABELS = np.array([[1.0, 1, 0], [1, 1, 1], [0, 0, 1], [1, 0, 0]])
DATA = quadratic(GT.T, LABELS, form=True)
R = coupling_matrix(label_correlation(LABELS), "paper")


def test_the_published_objective_falls_without_bound():
    problem = Problem(DATA, R, alpha=1.0, beta=0.1)
    P0 = np.linalg.solve(DATA.A + 0.1 * np.eye(6), DATA.B)
    u, v = np.linalg.svd(GT)[0][:, -1], np.linalg.eigh(R)[1][:, 0]
    # the null space of G has two dimensions, so u is one of many: only the leading coefficient is its own
    values = [problem.value(P0 + t * np.outer(u, v)) for t in (0, 1000)]
    assert values[0] == pytest.approx(1.753399, abs=1e-6)
    assert values[1] / 1000**2 == pytest.approx(-0.848697, rel=2e-3)
    with pytest.raises(NoMinimumError):
        Problem(
            DATA, R, alpha=1.0, rho=1.69739
        ).require_minimum()  # the curvature is -1.697395
    Problem(DATA, R, alpha=1.0, rho=1.6974).require_minimum()


def test_no_minimum_is_said_in_full():
    with pytest.raises(NoMinimumError, match=r"alpha = 1 .* -1\.7.*laplacian.*1\.7"):
        Problem(DATA, R, alpha=1.0).require_minimum()
    Problem(DATA, R, alpha=1.0, rho=1.7).require_minimum()


def test_slope_is_the_derivative_of_the_value():
    rng = np.random.default_rng(0)
    problem = Problem(
        DATA, coupling_matrix(label_correlation(LABELS), "signed"), alpha=0.7, rho=0.2
    )
    P, E = rng.normal(size=(6, 3)), rng.normal(size=(6, 3))
    numeric = (problem.value(P + 1e-5 * E) - problem.value(P - 1e-5 * E)) / 2e-5
    assert np.vdot(problem.slope(P), E) == pytest.approx(numeric, rel=1e-7)


@pytest.mark.parametrize("form", [True, False])
def test_the_bound_is_a_diagonal_that_dominates_the_gram_matrix(weighted_rows, form):
    for data in (
        quadratic(GT.T, LABELS, form=form),
        quadratic(*weighted_rows, form=form),
    ):
        A = data.apply(np.eye(len(data.bound)))
        assert np.linalg.eigvalsh(np.diag(data.bound[:, 0]) - A)[0] > -1e-10


def test_gap_bounds_the_distance_to_the_minimum_from_above():
    rng = np.random.default_rng(1)
    problem = Problem(DATA, None, beta=0.1, rho=0.5)
    P, step = np.zeros((6, 3)), 1 / (DATA.norm + 0.5)
    for _ in range(20000):
        P = soft_threshold(P - step * problem.slope(P), 0.1 * step)
    slope = problem.slope(P)
    assert problem.gap(P, slope) < 1e-12
    assert_allclose(
        np.where(P == 0, np.clip(slope, -0.1, 0.1), -0.1 * np.sign(P)), slope, atol=1e-9
    )
    for _ in range(10):
        other = P + rng.normal(size=P.shape)
        assert problem.gap(other, problem.slope(other)) >= problem.value(
            other
        ) - problem.value(P)


def test_what_a_coupling_has_of_a_ridge_counts_as_one_in_the_gap():
    coupled, plain = (
        Problem(DATA, 2 * np.eye(3), alpha=0.5, beta=0.1, rho=0.3),
        Problem(DATA, beta=0.1, rho=1.3),
    )
    P = np.random.default_rng(1).standard_normal((6, 3))
    assert coupled.gap(P, coupled.slope(P)) == pytest.approx(
        plain.gap(P, plain.slope(P)), rel=1e-12
    )


def test_gap_bounds_the_distance_with_the_papers_coupling_once_a_ridge_makes_it_convex():
    problem = Problem(DATA, R, alpha=1.0, beta=0.1, rho=1.8)
    best = fista(problem, tol=1e-13, max_iter=20_000)
    P = best.P + 0.1 * np.random.default_rng(2).standard_normal((6, 3))
    assert (
        problem.gap(P, problem.slope(P)) >= problem.value(P) - problem.value(best.P) > 0
    )


def test_value_with_and_without_the_slope():
    problem, P = (
        Problem(DATA, R, alpha=0.3, beta=0.2, rho=0.1),
        np.random.default_rng(2).normal(size=(6, 3)),
    )
    smooth = (
        0.5 * ((GT.T @ P - LABELS) ** 2).sum()
        + 0.05 * (P**2).sum()
        + 0.15 * np.trace(P @ R @ P.T)
    )
    assert_allclose(
        [problem.value(P), problem.value(P, problem.slope(P))],
        smooth + 0.2 * np.abs(P).sum(),
    )


def test_a_ridge_that_makes_it_convex_spares_the_eigenvalues_of_the_data():
    unusable = Quadratic(
        DATA.G, DATA.Y, np.full((6, 6), np.nan)
    )  # eigvalsh would raise
    Problem(unusable, R, alpha=1.0, rho=2.0).require_minimum()
    with pytest.raises(np.linalg.LinAlgError):
        Problem(unusable, R, alpha=1.0, rho=1.0).require_minimum()


def admm(problem, max_iter=20000, tol=1e-11):
    """The same minimum by other means: alternating directions with exact quadratic steps, to the same certificate."""
    (s, U), (lam, V), B = (
        np.linalg.eigh(problem.data.A),
        np.linalg.eigh(problem.Q),
        problem.data.B,
    )
    own = s[:, None] + problem.rho + problem.alpha * lam
    kappa = float(np.sqrt(own.max() * max(problem.rho, 1e-3 * own.max())))
    Z, T = np.zeros_like(B), np.zeros_like(B)
    for _ in range(max_iter):
        P = U @ ((U.T @ (B + kappa * (Z - T)) @ V) / (own + kappa)) @ V.T
        Z = soft_threshold(P + T, problem.beta / kappa)
        T += P - Z
        if problem.certificate(Z, problem.slope(Z)) <= tol:
            return Z
    raise AssertionError("alternating directions did not get there")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    G = FuzzyMap(rng.normal(size=(80, 5)), rng.dirichlet(np.ones(3), size=80))
    Y = (
        G.rows() @ rng.normal(size=(18, 4)) + 0.3 * rng.normal(size=(80, 4)) > 0.5
    ).astype(float)
    return G, Y


def test_soft_threshold():
    assert_allclose(soft_threshold(np.array([3.0, -0.5, -2.0]), 1.0), [2, 0, -1])


def test_agrees_with_scikit_learns_lasso(rows):
    G, Y = rows
    ours = fista(
        Problem(quadratic(G, Y, form=True), beta=0.8), tol=1e-10, max_iter=50000
    )
    theirs = Lasso(alpha=0.8 / 80, fit_intercept=False, tol=1e-12, max_iter=100000).fit(
        G.rows(), Y
    )
    assert ours.converged
    assert_allclose(ours.P, theirs.coef_.T, atol=1e-6)


def test_agrees_with_scikit_learns_elastic_net(rows):
    G, Y = rows
    ours = fista(
        Problem(quadratic(G, Y, form=False), beta=0.8, rho=2.0),
        tol=1e-12,
        max_iter=50000,
    )
    strength = (0.8 + 2.0) / 80
    theirs = ElasticNet(
        alpha=strength,
        l1_ratio=0.8 / 2.8,
        fit_intercept=False,
        tol=1e-12,
        max_iter=100000,
    )
    assert_allclose(ours.P, theirs.fit(G.rows(), Y).coef_.T, atol=1e-6)


@pytest.mark.parametrize("kind", CONVEX)
def test_two_solvers_agree_with_every_convex_coupling(rows, kind):
    G, Y = rows
    problem = Problem(
        quadratic(G, Y, form=True),
        coupling_matrix(label_correlation(Y), kind),
        alpha=3.0,
        beta=0.5,
        rho=0.7,
    )
    found, other = fista(problem, tol=1e-11, max_iter=20000), admm(problem)
    assert found.converged
    assert_allclose(found.P, other, atol=1e-5)
    assert problem.value(found.P) == pytest.approx(problem.value(other), rel=1e-9)


def test_the_start_does_not_matter(rows):
    G, Y = rows
    problem = Problem(quadratic(G, Y, form=True), beta=0.5, rho=0.5)
    far = np.random.default_rng(1).normal(size=(18, 4)) * 100
    assert_allclose(
        fista(problem, tol=1e-11).P,
        fista(problem, far, tol=1e-11, max_iter=5000).P,
        atol=1e-5,
    )


def test_it_says_when_it_did_not_get_there(rows):
    G, Y = rows
    solution = fista(
        Problem(quadratic(G, Y, form=True), beta=0.5, rho=1e-3), max_iter=3, tol=1e-9
    )
    assert (solution.n_iter, solution.converged) == (3, False)
    assert solution.certificates[-1] > 1e-9


def test_certificates_are_kept(rows):
    G, Y = rows
    seen = fista(
        Problem(quadratic(G, Y, form=True), beta=0.5, rho=0.5), tol=1e-8
    ).certificates
    assert seen[-1] <= 1e-8 < seen[0]


def test_a_problem_without_minimum_is_refused(rows):
    G, Y = rows
    problem = Problem(
        quadratic(G, Y, form=True),
        coupling_matrix(label_correlation(Y), "paper"),
        alpha=1e4,
    )
    with pytest.raises(NoMinimumError):
        fista(problem)


def centred_problem(n=30, d=4, k=2, seed=0):
    rng = np.random.default_rng(seed)
    G = FuzzyMap(rng.normal(size=(n, d)), rng.dirichlet(np.ones(k), size=n))
    Y = (
        G.rows() @ rng.normal(size=(k * (d + 1), 3)) + rng.normal(size=(n, 3)) > 0
    ).astype(float)
    return G, Y - Y.mean(axis=0)


def left_out(G, Y, w, i, H):
    """Residual at row i of the coupled ridge problem without one copy of it; H (L, L) is ρI + αQ."""
    less = w.copy()
    less[i] -= min(w[i], 1.0)
    A, B = G.T @ (less[:, None] * G), G.T @ (less[:, None] * Y)
    P = np.linalg.solve(
        np.kron(np.eye(Y.shape[1]), A) + np.kron(H, np.eye(G.shape[1])), B.T.ravel()
    )
    return Y[i] - G[i] @ P.reshape(Y.shape[1], -1).T


@pytest.mark.parametrize("n", [8, 30])  # fewer and more rows than columns
def test_closed_form_equals_leaving_each_row_out(n):
    G, Y = centred_problem(n)
    loo = leave_one_out(*spectrum(G), Y, np.ones(n), np.array([0.7]))
    direct = sum(
        left_out(G.rows(), Y, np.ones(n), i, 0.7 * np.eye(3)) ** 2 for i in range(n)
    )
    assert_allclose(loo[0], direct, rtol=1e-8)


def test_closed_form_holds_with_a_label_coupling():
    G, Y = centred_problem()
    Q = coupling_matrix(label_correlation(Y), "laplacian")
    lam, V = np.linalg.eigh(Q)
    loo = leave_one_out(*spectrum(G), Y @ V, np.ones(30), 0.5 + 2.0 * lam)
    direct = sum(
        (left_out(G.rows(), Y, np.ones(30), i, 0.5 * np.eye(3) + 2.0 * Q) ** 2).sum()
        for i in range(30)
    )
    assert np.trace(loo) == pytest.approx(direct, rel=1e-7)


def test_closed_form_leaves_out_one_copy_of_a_weighted_row():
    G, Y = centred_problem()
    w = np.random.default_rng(1).choice([0.5, 1.0, 3.0], size=30)
    loo = leave_one_out(
        *spectrum(G.weighted(w)), Y * np.sqrt(w)[:, None], w, np.array([0.7])
    )
    direct = sum(
        w[i] * left_out(G.rows(), Y, w, i, 0.7 * np.eye(3)) ** 2 for i in range(30)
    )
    assert_allclose(loo[0], direct, rtol=1e-8)


def test_chosen_weights_are_the_best_of_the_grid_and_keep_what_is_given():
    G, Y = centred_problem(60)
    Q = coupling_matrix(label_correlation(Y), "laplacian")
    rho, alpha, _ = choose_weights(G, Y, np.ones(60), Q)
    assert rho > 0
    assert alpha / rho == pytest.approx(min(RATIOS, key=lambda q: abs(q - alpha / rho)))
    assert choose_weights(G, Y, np.ones(60), Q, rho=3.0)[0] == 3.0
    assert choose_weights(G, Y, np.ones(60), Q, alpha=0.3)[1] == 0.3


def test_noise_labels_get_more_ridge_than_clean_ones():
    G, _ = centred_problem(200)
    rng = np.random.default_rng(2)
    clean = G.rows() @ rng.normal(size=(10, 3))
    noise = rng.normal(size=(200, 3))
    zero = np.zeros((3, 3))
    rhos = [
        choose_weights(G, Y - Y.mean(axis=0), np.ones(200), zero)[0]
        for Y in (clean, noise)
    ]
    assert rhos[0] < rhos[1] / 100


def test_a_spread_of_rows_serves_for_large_samples():
    G, Y = centred_problem(2 * LOO_ROWS)
    part = choose_weights(G, Y, np.ones(len(Y)), np.zeros((3, 3)))
    half = choose_weights(
        G.take(np.arange(0, len(Y), 2)), Y[::2], np.ones(LOO_ROWS), np.zeros((3, 3))
    )
    assert 0.1 < part[0] / half[0] < 10
    assert part[2] == pytest.approx(
        np.sqrt(2) * half[2], rel=0.2
    )  # columns of twice the rows are √2 as long


def test_the_start_changes_nothing():
    G, Y = centred_problem()
    first = fit_consequents(G, Y, np.ones(30), tol=1e-10)
    assert_allclose(
        fit_consequents(G, Y, np.ones(30), tol=1e-10, gamma=100.0).P, first.P, atol=1e-5
    )
