"""The solver reaches the optimum: against scikit-learn's Lasso, against our second solver, and by its certificate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import ElasticNet, Lasso

from mltsk.core.admm import admm
from mltsk.core.coupling import CONVEX, coupling_matrix, label_correlation
from mltsk.core.fuzzymap import FuzzyMap
from mltsk.core.path import path
from mltsk.exceptions import NoMinimumError
from mltsk.paper.solvers.fista import fista, soft_threshold
from mltsk.paper.solvers.moments import MatrixFree, Moments
from mltsk.paper.solvers.objective import Problem


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
    a, b = fista(problem, tol=1e-11, max_iter=20000), admm(problem, tol=1e-11, max_iter=20000)
    assert a.converged
    assert b.converged
    assert_allclose(a.P, b.P, atol=1e-5)
    assert a.value == pytest.approx(b.value, rel=1e-9)


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


def test_certificates_are_reported_on_the_way(rows):
    G, Y = rows
    seen = []
    fista(Problem(Moments.of(G, Y), beta=0.5, rho=0.5), tol=1e-8, callback=lambda step, c: seen.append((step, c)))
    assert seen[-1][1] <= 1e-8 < seen[0][1]


def test_a_problem_without_minimum_is_refused(rows):
    G, Y = rows
    problem = Problem(Moments.of(G, Y), coupling_matrix(label_correlation(Y), "paper"), alpha=1e4)
    for solver in (fista, admm):
        with pytest.raises(NoMinimumError):
            solver(problem)


def test_admm_needs_the_gram_matrix(rows):
    G, Y = rows
    with pytest.raises(ValueError, match="Gram"):
        admm(Problem(MatrixFree.of(G, Y), rho=1.0))


def test_path_equals_cold_starts_and_saves_steps(rows):
    G, Y = rows
    data, Q = Moments.of(G, Y), coupling_matrix(label_correlation(Y), "laplacian")
    warm = list(path(data, Q, [0.1, 1.0], [2.0, 0.5, 1.0], rho=0.5, tol=1e-10))
    assert [(p.alpha, p.beta) for p in warm] == [(a, b) for a in (0.1, 1.0) for b in (0.5, 1.0, 2.0)]
    cold = [fista(Problem(data, Q, p.alpha, p.beta, 0.5), tol=1e-10) for p in warm]
    for w, c in zip(warm, cold, strict=True):
        assert_allclose(w.solution.P, c.P, atol=1e-4)
    assert sum(p.solution.n_iter for p in warm) < sum(c.n_iter for c in cold)
