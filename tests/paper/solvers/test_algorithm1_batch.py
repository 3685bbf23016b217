"""Settings and folds in one batch stop where they stop alone, with equal results."""

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
from mltsk.paper.solvers.algorithm1_batch import (  # noqa: E402 - it imports torch
    Problems,
    algorithm1_batch,
    spectral_norms,
)

SETTINGS = list(product((0.01, 1.0, 30.0), (0.01, 1.0, 20.0), (0.01, 1.0)))


@pytest.fixture(scope="module")
def rows():
    """Two maps of 41 samples with five columns, six labels, three folds of each."""
    rng = np.random.default_rng(0)
    G = rng.normal(size=(2, 41, 5))
    scores = G[0] @ rng.normal(size=(5, 6))
    Y = (scores + rng.normal(size=(41, 6)) > 0.5).astype(float)
    fold = np.stack([rng.permutation(np.arange(41) % 3) for _ in range(2)])
    train = fold[:, None] != np.arange(3)[:, None]
    return G, Y, train


@pytest.fixture(scope="module")
def problems(rows):
    return Problems.from_rows(*map(torch.as_tensor, rows))


@pytest.mark.parametrize("stop", ["program", "text"])
def test_algorithm1_batch_gives_every_run_as_algorithm1_alone(rows, problems, stop):
    G, Y, train = rows
    [(_, n_iter, P)] = algorithm1_batch(problems, SETTINGS, stop=stop)
    assert n_iter.shape == (6, len(SETTINGS))
    for g, f, s in product(range(2), range(3), range(len(SETTINGS))):
        fold = train[g, f]
        alone = algorithm1(G[g][fold], Y[fold], *SETTINGS[s], stop=stop)
        assert n_iter[3 * g + f, s] == alone.n_iter
        assert_allclose(asnumpy(P[3 * g + f, s]), alone.P, rtol=1e-9, atol=1e-9)
    # runs leave the batch at many different steps
    assert len(np.unique(asnumpy(n_iter))) > 5


def test_algorithm1_batch_gives_the_same_in_parts_that_fit_the_memory(problems):
    [(_, n_iter, P)] = algorithm1_batch(problems, SETTINGS)
    parts = list(algorithm1_batch(problems, SETTINGS, part_bytes=1))
    assert [block for block, _, _ in parts] == [slice(i, i + 1) for i in range(6)]
    steps = torch.cat([part_steps for _, part_steps, _ in parts])
    consequents = torch.cat([part_P for _, _, part_P in parts])
    assert_array_equal(asnumpy(steps), asnumpy(n_iter))
    assert_allclose(asnumpy(consequents), asnumpy(P), atol=1e-12)


def test_algorithm1_batch_ends_at_max_iter(problems):
    setting = (0.01, 0.01, 0.01)
    [(_, n_iter, _)] = algorithm1_batch(problems, [setting], max_iter=2, margin=0.0)
    assert (n_iter == 2).all()


@pytest.mark.parametrize("setting", [(-1, 1, 1), (1, -1, 1), (1, 1, 0)])
def test_algorithm1_batch_refuses_weights_that_mean_nothing(problems, setting):
    with pytest.raises(InputError, match="alpha, beta >= 0, gamma > 0"):
        list(algorithm1_batch(problems, [setting]))


def test_spectral_norms_are_the_largest_absolute_eigenvalues():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(7, 20, 20))
    A = A + A.swapaxes(1, 2)
    A[5] = 0
    A[6] = np.diag([3.0, 3.0, *np.zeros(18)])  # a double eigenvalue
    expected = np.abs(np.linalg.eigvalsh(A)).max(axis=1)
    norms = spectral_norms(torch.as_tensor(A))
    assert_allclose(asnumpy(norms), expected, rtol=1e-10)


def test_problems_from_rows_have_the_moments_of_their_rows():
    rng = np.random.default_rng(2)
    G = rng.normal(size=(2, 9, 3))
    Y = (rng.random((9, 4)) < 0.5) * 1.0
    train = rng.random((2, 2, 9)) < 0.7
    problems = Problems.from_rows(*map(torch.as_tensor, (G, Y, train)))
    G_train = G[1][train[1, 0]]
    Y_train = Y[train[1, 0]]
    assert_allclose(asnumpy(problems.A[2]), G_train.T @ G_train, atol=1e-12)
    assert_allclose(asnumpy(problems.B[2]), Y_train.T @ G_train, atol=1e-12)
    assert float(problems.yy[2]) == pytest.approx((Y_train**2).sum())
