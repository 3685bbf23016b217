"""Principal axes: agreement with scikit-learn, weights as copies, sparse rows."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.decomposition import PCA

from mltsk.paper.methods.principal_axes import PrincipalAxes

X = np.random.default_rng(0).normal(size=(40, 6)) * np.arange(1, 7) + 3


def test_agrees_with_scikit_learn():
    ours, theirs = PrincipalAxes.of(X, np.ones(40), 3).apply(X), PCA(3).fit_transform(X)
    assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-9)


def test_weights_count_as_copies_and_sparse_rows_change_nothing():
    w = np.random.default_rng(1).integers(0, 3, size=40)
    copied = PrincipalAxes.of(np.repeat(X, w, axis=0), np.ones(w.sum()), 2)
    for rows in (X, sparse.csr_array(X)):
        found = PrincipalAxes.of(rows, w.astype(float), 2)
        assert_allclose(found.apply(rows), copied.apply(X), atol=1e-8)


def test_no_more_axes_than_features():
    assert PrincipalAxes.of(X, np.ones(40), 50).axes.shape == (6, 6)
