"""The problem: value, slope, constants, certificate, and what it says when it has no minimum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.coupling import coupling_matrix, label_correlation
from mltsk.exceptions import NoMinimumError
from mltsk.paper.solvers.fista import fista
from mltsk.paper.solvers.moments import Moments
from mltsk.paper.solvers.objective import Problem

GT = np.array(
    [[1, 0.5, 0.2, 0.8], [0.1, 0.9, 0.3, 0.4], [0.6, 0.2, 0.7, 0.1], [0, 0.5, 0.8, 0.2], [0.9, 0.1, 0.7, 0.6],
     [0.4, 0.8, 0.3, 0.9]]
)  # fmt: skip
Y = np.array([[1.0, 1, 0], [1, 1, 1], [0, 0, 1], [1, 0, 0]])
DATA = Moments(GT @ GT.T, GT @ Y, float((Y**2).sum()), 4.0)
R = coupling_matrix(label_correlation(Y), "paper")


def test_the_published_objective_falls_without_bound():
    problem = Problem(DATA, R, alpha=1.0, beta=0.1)
    P0 = np.linalg.solve(DATA.A + 0.1 * np.eye(6), DATA.B)
    u, v = np.linalg.svd(GT)[0][:, -1], np.linalg.eigh(R)[1][:, 0]
    # the null space of G has two dimensions, so u is one of many: only the leading coefficient is its own
    values = [problem.value(P0 + t * np.outer(u, v)) for t in (0, 1000)]
    assert values[0] == pytest.approx(1.753399, abs=1e-6)
    assert values[1] / 1000**2 == pytest.approx(-0.848697, rel=2e-3)
    assert problem.curvature == pytest.approx(-1.697395, abs=1e-6)


def test_no_minimum_is_said_in_full():
    with pytest.raises(NoMinimumError, match=r"alpha = 1 .* -1\.7.*laplacian.*1\.7"):
        Problem(DATA, R, alpha=1.0).require_minimum()
    Problem(DATA, R, alpha=1.0, rho=1.7).require_minimum()


def test_slope_is_the_derivative_of_the_value():
    rng = np.random.default_rng(0)
    problem = Problem(DATA, coupling_matrix(label_correlation(Y), "signed"), alpha=0.7, rho=0.2)
    P, E = rng.normal(size=(6, 3)), rng.normal(size=(6, 3))
    numeric = (problem.value(P + 1e-5 * E) - problem.value(P - 1e-5 * E)) / 2e-5
    assert np.vdot(problem.slope(P), E) == pytest.approx(numeric, rel=1e-7)


def test_lipschitz_constant_and_curvature_are_the_ends_of_the_hessian():
    Q = coupling_matrix(label_correlation(Y), "precision")
    problem = Problem(DATA, Q, alpha=0.7, rho=0.2)
    hessian = np.kron(np.eye(3), DATA.A) + np.kron(0.7 * Q, np.eye(6)) + 0.2 * np.eye(18)
    ends = np.linalg.eigvalsh(hessian)[[0, -1]]
    assert problem.lipschitz == pytest.approx(ends[1])
    assert 0 < problem.curvature <= ends[0] + 1e-12


def test_gap_bounds_the_distance_to_the_minimum_from_above():
    rng = np.random.default_rng(1)
    problem = Problem(DATA, None, beta=0.1, rho=0.5)
    P = np.zeros((6, 3))
    for _ in range(20000):
        Z = P - problem.slope(P) / problem.lipschitz
        P = Z - np.clip(Z, -0.1 / problem.lipschitz, 0.1 / problem.lipschitz)
    assert problem.gap(P, problem.slope(P)) < 1e-12
    assert problem.stationarity(P, problem.slope(P)) < 1e-9
    for _ in range(10):
        other = P + rng.normal(size=P.shape)
        assert problem.gap(other, problem.slope(other)) >= problem.value(other) - problem.value(P)


def test_what_a_coupling_has_of_a_ridge_counts_as_one_in_the_gap():
    coupled, plain = Problem(DATA, 2 * np.eye(3), alpha=0.5, beta=0.1, rho=0.3), Problem(DATA, beta=0.1, rho=1.3)
    P = np.random.default_rng(1).standard_normal((6, 3))
    assert coupled.gap(P, coupled.slope(P)) == pytest.approx(plain.gap(P, plain.slope(P)), rel=1e-12)


def test_gap_bounds_the_distance_with_the_papers_coupling_once_a_ridge_makes_it_convex():
    problem = Problem(DATA, R, alpha=1.0, beta=0.1, rho=1.8)
    best = fista(problem, tol=1e-13, max_iter=20_000)
    P = best.P + 0.1 * np.random.default_rng(2).standard_normal((6, 3))
    assert problem.gap(P, problem.slope(P)) >= problem.value(P) - best.value > 0


def test_value_with_and_without_the_slope():
    problem, P = Problem(DATA, R, alpha=0.3, beta=0.2, rho=0.1), np.random.default_rng(2).normal(size=(6, 3))
    direct = (
        0.5 * ((GT.T @ P - Y) ** 2).sum() + 0.05 * (P**2).sum() + 0.15 * np.trace(P @ R @ P.T) + 0.2 * np.abs(P).sum()
    )
    assert_allclose([problem.value(P), problem.value(P, problem.slope(P))], direct)


def test_a_ridge_that_makes_it_convex_spares_the_eigenvalues_of_the_data():
    unusable = Moments(np.full((6, 6), np.nan), DATA.B, DATA.yy, DATA.weight)  # eigvalsh would raise
    Problem(unusable, R, alpha=1.0, rho=2.0).require_minimum()
    with pytest.raises(np.linalg.LinAlgError):
        Problem(unusable, R, alpha=1.0, rho=1.0).require_minimum()
