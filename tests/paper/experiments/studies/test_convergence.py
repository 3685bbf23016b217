"""Fig. 8: Algorithm I unstopped, and the convex form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.coupling import coupling_matrix, label_correlation
from mltsk.paper.experiments.studies.convergence import unstopped
from mltsk.paper.experiments.studies.sample import paper_rules
from mltsk.paper.solvers.algorithm1 import Solver
from mltsk.paper.solvers.problem import Problem, quadratic


@pytest.fixture(scope="module")
def problem(toy):
    Y = toy.Y.astype(float)
    G, _ = paper_rules(toy.X, toy.X[:1], 3, 100.0)
    return quadratic(G, Y, form=True), coupling_matrix(label_correlation(Y), "paper")


def test_unstopped_is_the_authors_iteration_up_to_their_stop(problem):
    stopped = Solver(*problem, 100, 1e-9).solve(10.0, 0.1, 1.0)
    q = [q for _, q in unstopped(Problem(*problem, 10.0, 0.1), 1.0, stopped.n_iter)]
    assert_allclose(q, stopped.losses, rtol=1e-6, atol=1e-6)


def test_unstopped_falls_without_bound(problem):
    F = np.array([F for F, _ in unstopped(Problem(*problem, 10.0, 0.1), 1.0, 2000)])
    assert F[-1] < -1e6
    assert F[-1] < 2 * F[len(F) // 2]


def test_convergence_study_says_why_by_the_curvature(found):
    for line in found["convergence"]["paper"]:
        assert line["curvature"] < 0
        assert line["unbounded"]


def test_convergence_study_of_the_convex_form_ends_with_a_certificate(found):
    ours = found["convergence"]["ours"]
    assert ours["certificates"][-1] <= ours["tol"]
    assert ours["converged"]
    assert len(ours["steps"]) == len(ours["certificates"])


def test_convergence_study_marks_the_authors_stop(found):
    line = found["convergence"]["paper"][-1]
    assert 1 <= line["stop"] <= 100
    assert line["stopped_by"] in ("margin", "negative loss", "max_iter")
