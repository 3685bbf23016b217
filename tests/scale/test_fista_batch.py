"""Many convex problems in one batch take the steps of each alone, to the same optimum and certificate."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.backend import asnumpy
from mltsk.core.coupling import coupling_matrix, label_correlation
from mltsk.core.fista import fista
from mltsk.core.moments import Moments, dominating_diagonal
from mltsk.core.objective import Problem
from mltsk.exceptions import InputError, NoMinimumError

torch = pytest.importorskip("torch", reason="torch is not installed: batches cannot be tested")
from mltsk.scale import fista_batch as batch  # noqa: E402 - it imports torch
from mltsk.scale.batch import Problems, spectral_norms  # noqa: E402

SETTINGS = list(product((0.0, 0.5, 5.0), (0.01, 1.0, 20.0), (0.1, 3.0)))


@pytest.fixture(scope="module", params=[False, True], ids=["both signs", "non-negative"])
def arrays(request):
    rng = np.random.default_rng(0)
    G = rng.normal(size=(2, 41, 5)) * [1, 2, 3, 0.1, 1]
    G = np.abs(G) * (rng.random(G.shape) < 0.4) if request.param else G
    Y = (G[0] @ rng.normal(size=(5, 6)) + rng.normal(size=(41, 6)) > 0.5).astype(float)
    return G, Y, np.stack([rng.permutation(np.arange(41) % 3) for _ in range(2)])[:, None] != np.arange(3)[:, None]


def alone(arrays, g, f, alpha, beta, rho):
    G, Y, train = arrays
    Gt, Yt = G[g][train[g, f]], Y[train[g, f]]
    Q, centred = coupling_matrix(label_correlation(Yt), "laplacian"), Yt - Yt.mean(axis=0)
    data = Moments(Gt.T @ Gt, Gt.T @ centred, float((centred**2).sum()), float(len(Yt)))
    start = np.linalg.solve(data.A + (rho + alpha) * np.eye(5), data.B)
    return fista(Problem(data, Q, alpha, beta, rho), start, tol=1e-6)


def test_every_run_is_the_run_alone(arrays):
    problems = Problems.of(*map(torch.as_tensor, arrays), coupling="laplacian", centred=True)
    [(_, runs)] = batch.fista_batch(problems, SETTINGS, tol=1e-6)
    for g, f, (s, setting) in product(range(2), range(3), enumerate(SETTINGS)):
        expected = alone(arrays, g, f, *setting)
        assert runs.n_iter[3 * g + f, s] == expected.n_iter
        assert float(runs.certificate[3 * g + f, s]) == pytest.approx(expected.certificate, abs=1e-9)
        assert_allclose(asnumpy(runs.P[3 * g + f, s]), expected.P, atol=1e-9)
    assert len(set(asnumpy(runs.n_iter).ravel())) > 3


def test_it_ends_at_max_iter_and_says_how_far_it_came(arrays):
    problems = Problems.of(*map(torch.as_tensor, arrays), coupling="laplacian")
    [(_, runs)] = batch.fista_batch(problems, [(0.5, 1.0, 0.1)], max_iter=2, tol=0.0)
    assert (runs.n_iter == 2).all()
    assert (runs.certificate > 0).all()


def test_diagonals_are_those_of_each_matrix(arrays):
    A = Problems.of(*map(torch.as_tensor, arrays)).A
    norms = spectral_norms(A)
    for matrix, norm, found in zip(asnumpy(A), asnumpy(norms), batch.dominating_diagonals(A, norms), strict=True):
        expected = dominating_diagonal(np.abs(matrix).dot, norm, len(matrix))
        assert_allclose(asnumpy(found).ravel(), expected.ravel(), rtol=1e-10)


def test_what_has_no_minimum_is_refused(arrays):
    problems = Problems.of(*map(torch.as_tensor, arrays), coupling="paper")
    with pytest.raises(NoMinimumError, match="laplacian"):
        list(batch.fista_batch(problems, [(1.0, 0.1, 0.1)]))
    with pytest.raises(InputError, match="rho > 0"):
        list(batch.fista_batch(problems, [(1.0, 0.1, 0.0)]))
