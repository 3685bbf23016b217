"""Samples on the scale of the rules."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk.exceptions import InputError
from mltsk.fit.scale import DENSE_SHARE, Scale


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 5)) * (rng.random((40, 5)) < 0.6)


@pytest.mark.parametrize(("name", "used"), [("auto", "quantile"), ("quantile", "quantile"), ("standard", "standard")])
def test_dense_samples_have_one_variance_per_feature(X, name, used):
    scale, Z = Scale.of(X, np.ones(40), name)
    assert scale.name == used
    assert scale.has_ramps == (used == "quantile")
    assert scale.variance == pytest.approx(5)
    assert_allclose(Z.var(axis=0), 1.0)
    assert_allclose(Z, scale.apply(X))


def test_rows_of_weight_zero_do_not_count(X):
    w = np.r_[np.ones(30), np.zeros(10)]
    for name in ("quantile", "standard", "minmax", "unit", None):
        with_zeros, alone = Scale.of(X, w, name)[0], Scale.of(X[:30], np.ones(30), name)[0]
        assert with_zeros.variance == pytest.approx(alone.variance)
        assert_allclose(with_zeros.apply(X), alone.apply(X))


def test_sparse_rows_have_unit_length_and_stay_sparse_where_that_pays(X):
    scale, Z = Scale.of(sparse.csr_array(X), np.ones(40), "auto")
    assert scale.name == "unit"
    assert_allclose(Z, Scale.of(X, np.ones(40), "unit")[1])
    thin = sparse.random_array((100, 1000), density=DENSE_SHARE / 2, format="csr", rng=0)
    assert sparse.issparse(Scale.of(thin, np.ones(100), "auto")[1])


@pytest.mark.parametrize("name", ["quantile", "standard", "minmax"])
def test_a_scale_that_would_fill_a_sparse_matrix_is_refused(X, name):
    with pytest.raises(InputError, match="would make sparse X dense"):
        Scale.of(sparse.csr_array(X), np.ones(40), name)
