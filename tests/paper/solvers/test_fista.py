"""The solver reaches the optimum: against scikit-learn's Lasso, against our second solver, and by its certificate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import ElasticNet, Lasso

from mltsk.core.coupling import CONVEX, coupling_matrix, label_correlation
from mltsk.core.fuzzymap import FuzzyMap
from mltsk.exceptions import NoMinimumError
from mltsk.paper.solvers.fista import certificate, fista, soft_threshold
from mltsk.paper.solvers.moments import MatrixFree, Moments
from mltsk.paper.solvers.objective import Problem


def admm(problem, max_iter=20000, tol=1e-11):
    """The same minimum by other means: alternating directions with exact quadratic steps, to the same certificate."""
    (s, U), (lam, V), B = np.linalg.eigh(problem.data.A), np.linalg.eigh(problem.Q), problem.data.B
    own = s[:, None] + problem.rho + problem.alpha * lam
    kappa = float(np.sqrt(own.max() * max(problem.rho, 1e-3 * own.max())))
    Z, T = np.zeros_like(B), np.zeros_like(B)
    for _ in range(max_iter):
        P = U @ ((U.T @ (B + kappa * (Z - T)) @ V) / (own + kappa)) @ V.T
        Z = soft_threshold(P + T, problem.beta / kappa)
        T += P - Z
        if certificate(problem, Z, problem.slope(Z)) <= tol:
            return Z
    raise AssertionError("alternating directions did not get there")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    G = FuzzyMap(rng.normal(size=(80, 5)), rng.dirichlet(np.ones(3), size=80))
    Y = (G.rows() @ rng.normal(size=(18, 4)) + 0.3 * rng.normal(size=(80, 4)) > 0.5).astype(float)
    return G, Y


def test_soft_threshold():
    assert_allclose(soft_threshold(np.array([3.0, -0.5, -2.0]), 1.0), [2, 0, -1])


def test_agrees_with_scikit_learns_lasso(rows):
    G, Y = rows
    ours = fista(Problem(Moments.of(G, Y), beta=0.8), tol=1e-10, max_iter=50000)
    theirs = Lasso(alpha=0.8 / 80, fit_intercept=False, tol=1e-12, max_iter=100000).fit(G.rows(), Y)
    assert ours.converged
    assert_allclose(ours.P, theirs.coef_.T, atol=1e-6)


def test_agrees_with_scikit_learns_elastic_net(rows):
    G, Y = rows
    ours = fista(Problem(MatrixFree.of(G, Y), beta=0.8, rho=2.0), tol=1e-12, max_iter=50000)
    strength = (0.8 + 2.0) / 80
    theirs = ElasticNet(alpha=strength, l1_ratio=0.8 / 2.8, fit_intercept=False, tol=1e-12, max_iter=100000)
    assert_allclose(ours.P, theirs.fit(G.rows(), Y).coef_.T, atol=1e-6)


@pytest.mark.parametrize("kind", CONVEX)
def test_two_solvers_agree_with_every_convex_coupling(rows, kind):
    G, Y = rows
    problem = Problem(Moments.of(G, Y), coupling_matrix(label_correlation(Y), kind), alpha=3.0, beta=0.5, rho=0.7)
    found, other = fista(problem, tol=1e-11, max_iter=20000), admm(problem)
    assert found.converged
    assert_allclose(found.P, other, atol=1e-5)
    assert found.value == pytest.approx(problem.value(other), rel=1e-9)


def test_the_start_does_not_matter(rows):
    G, Y = rows
    problem = Problem(Moments.of(G, Y), beta=0.5, rho=0.5)
    far = np.random.default_rng(1).normal(size=(18, 4)) * 100
    assert_allclose(fista(problem, tol=1e-11).P, fista(problem, far, tol=1e-11, max_iter=5000).P, atol=1e-5)


def test_it_says_when_it_did_not_get_there(rows):
    G, Y = rows
    solution = fista(Problem(Moments.of(G, Y), beta=0.5, rho=1e-3), max_iter=3, tol=1e-9)
    assert (solution.n_iter, solution.converged) == (3, False)
    assert solution.certificate > 1e-9


def test_certificates_are_kept(rows):
    G, Y = rows
    seen = fista(Problem(Moments.of(G, Y), beta=0.5, rho=0.5), tol=1e-8).certificates
    assert seen[-1] <= 1e-8 < seen[0]


def test_a_problem_without_minimum_is_refused(rows):
    G, Y = rows
    problem = Problem(Moments.of(G, Y), coupling_matrix(label_correlation(Y), "paper"), alpha=1e4)
    with pytest.raises(NoMinimumError):
        fista(problem)
