"""Label couplings: the worked numbers, positive semidefinite where promised, constant labels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.coupling import CONVEX, coupling_matrix, label_correlation

Y = np.array([[1.0, 1, 0], [1, 1, 1], [0, 0, 1], [1, 0, 0]])
C = label_correlation(Y)
UNSCALED = {  # eigenvalues before scaling to trace 3
    "laplacian": [0, 0, 1.154701],
    "signed": [0, 0.57735, 1.732051],
    "shift": [0, 1.31898, 3.773205],
    "precision": [0.315712, 0.550056, 2.134231],
}


def test_correlation_and_the_papers_coupling():
    assert_allclose(C, np.corrcoef(Y.T), atol=1e-12)
    R = coupling_matrix(C, "paper")
    assert_allclose(
        R, [[0, 0.42265, 1.57735], [0.42265, 0, 1], [1.57735, 1, 0]], atol=1e-5
    )
    assert_allclose(np.linalg.eigvalsh(R), [-1.697395, -0.378415, 2.075810], atol=1e-6)


@pytest.mark.parametrize("kind", UNSCALED)
def test_convex_couplings_have_the_worked_eigenvalues(kind):
    expected = np.array(UNSCALED[kind])
    assert_allclose(
        np.linalg.eigvalsh(coupling_matrix(C, kind)),
        expected * 3 / expected.sum(),
        atol=1e-5,
    )


@pytest.mark.parametrize("kind", CONVEX)
def test_convex_couplings_are_positive_semidefinite_with_trace_l(kind):
    labels = (np.random.default_rng(0).random((60, 8)) < 0.3).astype(float)
    Q = coupling_matrix(label_correlation(labels), kind)
    assert np.linalg.eigvalsh(Q)[0] > -1e-10
    assert np.trace(Q) == pytest.approx(8)
    assert_allclose(Q, Q.T)


@pytest.mark.parametrize("kind", [*CONVEX, "paper"])
def test_constant_labels_have_correlation_zero(kind):
    labels = np.column_stack([Y, np.ones(4), np.zeros(4)])
    full = label_correlation(labels)
    assert_allclose(full[3:], np.eye(5)[3:])
    assert np.isfinite(coupling_matrix(full, kind)).all()


def test_weights_are_copies():
    w = np.array([2.0, 0, 1, 3])
    assert_allclose(
        label_correlation(Y, w),
        label_correlation(np.repeat(Y, w.astype(int), axis=0)),
        atol=1e-12,
    )


def test_none_is_zero_and_an_unknown_name_is_refused():
    assert not coupling_matrix(C, None).any()
    with pytest.raises(ValueError, match="'laplacian'"):
        coupling_matrix(C, "lap")
