"""Many settings and folds in one batch stop where they stop alone, with the same consequents and metrics."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.core.arrays import asnumpy
from mltsk.exceptions import InputError
from mltsk.paper.solvers.algorithm1 import algorithm1

torch = pytest.importorskip(
    "torch", reason="torch is not installed: batches cannot be tested"
)
from mltsk.paper.solvers import algorithm1_batch as batch  # noqa: E402 - it imports torch

SETTINGS = list(product((0.01, 1.0, 30.0), (0.01, 1.0, 20.0), (0.01, 1.0)))


@pytest.fixture(scope="module")
def problem():
    """Two maps of 41 samples with five columns, six labels, and three folds of unequal sizes each."""
    rng = np.random.default_rng(0)
    G = rng.normal(size=(2, 41, 5))
    Y = (G[0] @ rng.normal(size=(5, 6)) + rng.normal(size=(41, 6)) > 0.5).astype(float)
    fold = np.stack([rng.permutation(np.arange(41) % 3) for _ in range(2)])
    return G, Y, fold[:, None] != np.arange(3)[:, None]


def alone(problem, g, f, setting, stop):
    G, Y, train = problem
    rows = train[g, f]
    return algorithm1(G[g][rows], Y[rows], *setting, stop=stop)


@pytest.mark.parametrize("stop", ["program", "text"])
def test_every_run_is_the_run_alone(problem, stop):
    tensors = [torch.as_tensor(a) for a in problem]
    [(_, n_iter, P)] = batch.algorithm1_batch(
        batch.Problems.of(*tensors), SETTINGS, stop=stop
    )
    assert n_iter.shape == (6, len(SETTINGS))
    for g, f, (s, setting) in product(range(2), range(3), enumerate(SETTINGS)):
        found = alone(problem, g, f, setting, stop)
        assert n_iter[3 * g + f, s] == found.n_iter
        assert_allclose(asnumpy(P[3 * g + f, s]), found.P, rtol=1e-9, atol=1e-9)
    assert (
        len(set(asnumpy(n_iter).ravel())) > 5
    )  # runs leave the batch at many different steps


def test_parts_that_fit_the_memory_give_the_same(problem):
    problems = batch.Problems.of(*[torch.as_tensor(a) for a in problem])
    [(_, *whole)] = batch.algorithm1_batch(problems, SETTINGS)
    which, *parts = zip(
        *batch.algorithm1_batch(problems, SETTINGS, part_bytes=1), strict=True
    )
    assert list(which) == [slice(i, i + 1) for i in range(6)]
    assert_array_equal(asnumpy(torch.cat(parts[0])), asnumpy(whole[0]))
    assert_allclose(asnumpy(torch.cat(parts[1])), asnumpy(whole[1]), atol=1e-12)


def test_steps_end_at_max_iter(problem):
    problems = batch.Problems.of(*[torch.as_tensor(a) for a in problem])
    [(_, n_iter, _)] = batch.algorithm1_batch(
        problems, [(0.01, 0.01, 0.01)], max_iter=2, margin=0.0
    )
    assert (n_iter == 2).all()


@pytest.mark.parametrize("setting", [(-1, 1, 1), (1, -1, 1), (1, 1, 0)])
def test_weights_that_mean_nothing_are_refused(problem, setting):
    with pytest.raises(InputError, match="alpha, beta >= 0, gamma > 0"):
        list(
            batch.algorithm1_batch(
                batch.Problems.of(*[torch.as_tensor(a) for a in problem]), [setting]
            )
        )


def test_norms_by_squaring_are_the_largest_absolute_eigenvalues():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(7, 20, 20))
    A = A + A.swapaxes(1, 2)
    A[5] = 0
    A[6] = np.diag([3.0, 3.0, *np.zeros(18)])  # a double eigenvalue
    expected = np.abs(np.linalg.eigvalsh(A)).max(axis=1)
    assert_allclose(
        asnumpy(batch.spectral_norms(torch.as_tensor(A))), expected, rtol=1e-10
    )


def test_moments_of_folds_are_those_of_their_rows():
    rng = np.random.default_rng(2)
    G, Y, train = (
        rng.normal(size=(2, 9, 3)),
        (rng.random((9, 4)) < 0.5) * 1.0,
        rng.random((2, 2, 9)) < 0.7,
    )
    problems = batch.Problems.of(*map(torch.as_tensor, (G, Y, train)))
    rows = train[1, 0]
    assert_allclose(asnumpy(problems.A[2]), G[1][rows].T @ G[1][rows], atol=1e-12)
    assert_allclose(asnumpy(problems.B[2]), Y[rows].T @ G[1][rows], atol=1e-12)
    assert float(problems.yy[2]) == pytest.approx((Y[rows] ** 2).sum())
