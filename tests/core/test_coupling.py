"""Label couplings: worked numbers, positive semidefinite where promised."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.coupling import CONVEX, coupling_matrix, label_correlation

from .conftest import assert_tensor_equals

Y = np.array([[1.0, 1, 0], [1, 1, 1], [0, 0, 1], [1, 0, 0]])
C = label_correlation(Y)
UNSCALED_EIGENVALUES = {
    "laplacian": [0, 0, 1.154701],
    "signed": [0, 0.57735, 1.732051],
    "shift": [0, 1.31898, 3.773205],
    "precision": [0.315712, 0.550056, 2.134231],
}


def random_labels(n_samples, n_labels):
    rng = np.random.default_rng(0)
    return (rng.random((n_samples, n_labels)) < 0.3).astype(float)


def test_label_correlation_is_pearsons():
    assert_allclose(C, np.corrcoef(Y.T), atol=1e-12)


def test_coupling_matrix_of_the_paper_has_the_worked_numbers():
    R = coupling_matrix(C, "paper")
    expected = [[0, 0.42265, 1.57735], [0.42265, 0, 1], [1.57735, 1, 0]]
    assert_allclose(R, expected, atol=1e-5)
    assert_allclose(np.linalg.eigvalsh(R), [-1.697395, -0.378415, 2.075810], atol=1e-6)


@pytest.mark.parametrize("kind", UNSCALED_EIGENVALUES)
def test_coupling_matrix_has_the_worked_eigenvalues_scaled_to_trace_3(kind):
    expected = np.array(UNSCALED_EIGENVALUES[kind])
    eigenvalues = np.linalg.eigvalsh(coupling_matrix(C, kind))
    assert_allclose(eigenvalues, expected * 3 / expected.sum(), atol=1e-5)


@pytest.mark.parametrize("kind", CONVEX)
def test_convex_coupling_matrix_is_positive_semidefinite_with_trace_l(kind):
    Q = coupling_matrix(label_correlation(random_labels(60, 8)), kind)
    assert np.linalg.eigvalsh(Q)[0] > -1e-10
    assert np.trace(Q) == pytest.approx(8)
    assert_allclose(Q, Q.T)


@pytest.mark.parametrize("kind", [*CONVEX, "paper"])
def test_label_correlation_of_a_constant_label_is_zero(kind):
    labels = np.column_stack([Y, np.ones(4), np.zeros(4)])
    correlation = label_correlation(labels)
    assert_allclose(correlation[3:], np.eye(5)[3:])
    assert np.isfinite(coupling_matrix(correlation, kind)).all()


def test_label_correlation_counts_weights_as_copies():
    w = np.array([2.0, 0, 1, 3])
    copies = np.repeat(Y, w.astype(int), axis=0)
    assert_allclose(label_correlation(Y, w), label_correlation(copies), atol=1e-12)


def test_coupling_matrix_of_none_is_zero_and_an_unknown_name_is_refused():
    assert not coupling_matrix(C, None).any()
    with pytest.raises(ValueError, match="'laplacian'"):
        coupling_matrix(C, "lap")


@pytest.mark.parametrize("kind", ["paper", None])
def test_coupling_matrix_of_tensors_is_that_of_arrays(torch, kind):
    labels = random_labels(160, 5)
    labels[:, 1] = 1  # a constant label
    w = np.random.default_rng(1).integers(1, 4, 160).astype(float)
    unweighted = label_correlation(torch.as_tensor(labels))
    assert_tensor_equals(unweighted, label_correlation(labels))
    weighted = label_correlation(torch.as_tensor(labels), torch.as_tensor(w))
    expected = coupling_matrix(label_correlation(labels, w), kind)
    assert_tensor_equals(coupling_matrix(weighted, kind), expected)
