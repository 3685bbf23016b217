"""Many problems by one decomposition: the same answers as the certified solver, one problem at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.coupling import coupling_matrix, label_correlation
from mltsk.core.fuzzymap import FuzzyMap
from mltsk.core.sweep import Couplings, Factor, Setting, Sweep
from mltsk.paper.solvers.fista import fista
from mltsk.paper.solvers.moments import Moments
from mltsk.paper.solvers.objective import Problem


@pytest.fixture(params=[(30, 6), (90, 3)], ids=["wide", "long"])
def rows(request):
    n, d = request.param
    rng = np.random.default_rng(0)
    X, M = rng.normal(size=(n, d)), rng.dirichlet(np.ones(6), size=n)
    Y = (X[:, :3] @ rng.normal(size=(3, 4)) > 0).astype(float)
    return FuzzyMap(X, M), Y - Y.mean(axis=0), rng.uniform(0.5, 2, size=n), label_correlation(Y)


def settings():
    return [[Setting(c, a, b, 0.5) for b in (0.0, 0.1, 0.2, 0.5)] for c, a in ((0, 0.0), (1, 0.3), (1, 3.0))]


def test_every_point_agrees_with_the_certified_solver(rows):
    G, Y, w, C = rows
    kinds = [np.zeros_like(C), coupling_matrix(C, "precision")]
    sweep = Sweep(Factor.of(G, Y, w), Couplings.of(kinds), tol=1e-10)
    data = Moments.of(G, Y, w)
    for line, points in zip(settings(), sweep.lines(settings()), strict=True):
        for s, point in zip(line, points, strict=True):
            exact = fista(Problem(data, kinds[s.coupling], s.alpha, s.beta, s.rho), tol=1e-11, max_iter=20_000)
            assert point.certificate <= 1e-10
            assert_allclose(point.Z.T, exact.P, atol=1e-4)


def test_the_certificate_is_the_duality_gap(rows):
    G, Y, w, C = rows
    Q = coupling_matrix(C, "laplacian")
    sweep = Sweep(Factor.of(G, Y, w), Couplings.of([Q]), strict=True)
    point = sweep.lines([[Setting(0, 0.4, 0.2, 0.5)]])[0][0]
    problem = Problem(Moments.of(G, Y, w), Q, 0.4, 0.2, 0.5)
    gap = problem.gap(point.Z.T, problem.slope(point.Z.T)) / (0.5 * problem.data.yy)
    assert point.certificate == pytest.approx(gap, rel=1e-6, abs=1e-12)
    assert 0 < gap <= 1e-4


def test_without_the_l1_term_one_step_is_exact(rows):
    G, Y, w, C = rows
    sweep = Sweep(Factor.of(G, Y, w), Couplings.of([coupling_matrix(C, "signed")]), tol=1e-12)
    assert sweep.lines([[Setting(0, 1.0, 0.0, 0.5)]])[0][0].n_iter == 0


def test_lines_of_different_length_keep_their_places(rows):
    G, Y, w, C = rows
    sweep = Sweep(Factor.of(G, Y, w), Couplings.of([np.zeros_like(C)]))
    short, long = [Setting(0, 0.0, 50.0, 1.0)], [Setting(0, 0.0, b, 1.0) for b in (0.0, 0.1, 0.2)]
    (zero,), rising = sweep.lines([short, long])
    assert not zero.Z.any()
    counts = [np.count_nonzero(point.Z) for point in rising]
    assert counts[0] > counts[2] > 0
