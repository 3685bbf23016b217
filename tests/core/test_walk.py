"""A line of problems: its certificates hold, it may start anywhere, and it stops when told."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.coupling import coupling_matrix, label_correlation
from mltsk.core.fuzzymap import FuzzyMap
from mltsk.core.sweep import Couplings, Factor, Sweep
from mltsk.core.walk import Setting
from mltsk.paper.solvers.fista import fista
from mltsk.paper.solvers.moments import Moments
from mltsk.paper.solvers.objective import Problem


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X, M = rng.normal(size=(60, 5)), rng.dirichlet(np.ones(4), size=60)
    Y = (X[:, :3] @ rng.normal(size=(3, 4)) + rng.normal(size=(60, 4)) > 0).astype(float)
    return FuzzyMap(X, M), Y - Y.mean(axis=0), np.ones(60), label_correlation(Y)


def sweep(rows, kind, dtype=np.float64, **stop):
    G, Y, w, C = rows
    narrow = FuzzyMap(G.X.astype(dtype), G.M.astype(dtype))
    return Sweep(Factor.of(narrow, Y.astype(dtype), w.astype(dtype)), Couplings.of([coupling_matrix(C, kind)]), **stop)


def line(betas):
    return [Setting(0, 0.7, beta, 0.4) for beta in betas]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [None, "precision", "laplacian"])
@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_no_point_is_further_from_the_optimum_than_its_certificate_says(rows, kind, dtype, tol):
    G, Y, w, C = rows
    data, Q, betas = Moments.of(G, Y, w), coupling_matrix(C, kind), (0.3, 0.6, 2.0)
    for beta, point in zip(betas, sweep(rows, kind, dtype, tol=tol).lines([line(betas)])[0], strict=True):
        problem = Problem(data, Q, 0.7, beta, 0.4)
        best = fista(problem, tol=1e-12, max_iter=20_000)
        P = point.Z.T.astype(np.float64)
        lost = (problem.value(P, problem.slope(P)) - best.value) / (0.5 * data.yy)
        assert -1e-9 < lost <= point.certificate + 1e-6
        assert point.certificate <= tol


def test_where_a_line_begins_does_not_matter(rows):
    whole = sweep(rows, "precision", tol=1e-11).lines([line((0.0, 0.0, 0.2, 0.2, 0.9))])[0]
    part = sweep(rows, "precision", tol=1e-11).lines([line((0.2, 0.9))])[0]
    for a, b in zip([whole[2], whole[3], whole[4]], [part[0], part[0], part[1]], strict=True):
        assert_allclose(a.Z, b.Z, atol=1e-4)


@pytest.mark.parametrize("strict", [False, True])
def test_steps_are_limited_and_the_certificate_says_so(rows, strict):
    for point in sweep(rows, "precision", tol=1e-13, max_iter=2, strict=strict).lines([line((0.5, 1.0))])[0]:
        assert point.n_iter == 2
        assert np.isfinite(point.certificate)
        assert point.certificate > 1e-13


def test_the_free_certificate_is_below_the_gap_of_the_point_alone(rows):
    G, Y, w, C = rows
    problem = Problem(Moments.of(G, Y, w), coupling_matrix(C, "precision"), 0.7, 0.5, 0.4)
    point = sweep(rows, "precision").lines([line((0.5,))])[0][0]
    alone = problem.gap(point.Z.T, problem.slope(point.Z.T)) / (0.5 * problem.data.yy)
    assert 0 < point.certificate < alone


def test_nothing_to_explain_is_explained_by_nothing(rows):
    G, Y, w, _ = rows
    nothing = Sweep(Factor.of(G, 0 * Y, w), Couplings.of([np.zeros((4, 4))]))
    assert not any(point.Z.any() for point in nothing.lines([line((0.0, 0.5, 1.0))])[0])
