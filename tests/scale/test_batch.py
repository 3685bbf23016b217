"""What batches share: norms by squaring, moments of folds, and columns of zeros that change nothing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.backend import asnumpy

torch = pytest.importorskip("torch", reason="torch is not installed: batches cannot be tested")
from mltsk.scale import batch  # noqa: E402 - it imports torch


def test_norms_by_squaring_are_the_largest_absolute_eigenvalues():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(7, 20, 20))
    A = A + A.swapaxes(1, 2)
    A[5] = 0
    A[6] = np.diag([3.0, 3.0, *np.zeros(18)])  # a double eigenvalue
    expected = np.abs(np.linalg.eigvalsh(A)).max(axis=1)
    assert_allclose(asnumpy(batch.spectral_norms(torch.as_tensor(A))), expected, rtol=1e-10)


def test_moments_of_folds_are_those_of_their_rows():
    rng = np.random.default_rng(2)
    G, Y, train = rng.normal(size=(2, 9, 3)), (rng.random((9, 4)) < 0.5) * 1.0, rng.random((2, 2, 9)) < 0.7
    problems = batch.Problems.of(*map(torch.as_tensor, (G, Y, train)), coupling="ridge", centred=True)
    rows = train[1, 0]
    centred = Y[rows] - Y[rows].mean(axis=0)
    assert_allclose(asnumpy(problems.A[2]), G[1][rows].T @ G[1][rows], atol=1e-12)
    assert_allclose(asnumpy(problems.B[2]), centred.T @ G[1][rows], atol=1e-12)
    assert float(problems.yy[2]) == pytest.approx((centred**2).sum())
    assert problems.padded().A.shape == (4, 8, 8)
    assert (problems.padded().B[..., 3:] == 0).all()
