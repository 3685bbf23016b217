"""The scale of the features, and the terms on it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk.exceptions import InputError
from mltsk.fit.scale import MIN_DENSE_SHARE, Scale


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 5)) * (rng.random((40, 5)) < 0.6)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("auto", "quantile"), ("quantile", "quantile"), ("standard", "standard")],
)
def test_scale_gives_dense_features_one_variance(X, name, expected):
    scale, Z = Scale.of(X, np.ones(40), name)
    has_ramps = scale.terms.low is not None
    assert scale.name == expected
    assert has_ramps == (expected == "quantile")
    assert scale.variance == pytest.approx(5)
    assert_allclose(Z.var(axis=0), 1.0)
    assert_allclose(Z, scale.apply(X))


@pytest.mark.parametrize("name", ["quantile", "standard", "minmax", "unit", None])
def test_scale_does_not_count_rows_of_weight_0(X, name):
    w = np.r_[np.ones(30), np.zeros(10)]
    with_zeros, _ = Scale.of(X, w, name)
    counted_alone, _ = Scale.of(X[:30], np.ones(30), name)
    assert with_zeros.variance == pytest.approx(counted_alone.variance)
    assert_allclose(with_zeros.apply(X), counted_alone.apply(X))


def test_scale_gives_sparse_rows_unit_length_and_keeps_thin_ones_sparse(X):
    scale, Z = Scale.of(sparse.csr_array(X), np.ones(40), "auto")
    _, Z_of_dense = Scale.of(X, np.ones(40), "unit")
    assert scale.name == "unit"
    assert_allclose(Z, Z_of_dense)
    density = MIN_DENSE_SHARE / 2
    thin = sparse.random_array((100, 1000), density=density, format="csr", rng=0)
    _, Z_of_thin = Scale.of(thin, np.ones(100), "auto")
    assert sparse.issparse(Z_of_thin)


@pytest.mark.parametrize("name", ["quantile", "standard", "minmax"])
def test_scale_that_would_make_sparse_rows_dense_is_refused(X, name):
    with pytest.raises(InputError, match="would make sparse X dense"):
        Scale.of(sparse.csr_array(X), np.ones(40), name)


def test_scale_unit_refuses_rows_with_gaps(X):
    with_gaps = np.where(X > 1, np.nan, X)
    with pytest.raises(InputError, match="needs every cell"):
        Scale.of(with_gaps, np.ones(40), "unit")


@pytest.mark.parametrize(("size", "what"), [(1e-60, "small"), (1e60, "large")])
def test_scale_of_refuses_raw_numbers_whose_powers_are_no_numbers(size, what):
    X = np.random.default_rng(0).normal(size=(20, 2)) * size
    with pytest.raises(InputError, match=f"numbers too {what} for scale=None: take"):
        Scale.of(X, np.ones(20), None)
    Scale.of(0 * X, np.ones(20), None)  # constant columns have no size


@pytest.mark.parametrize("is_sparse", [False, True])
def test_scale_of_warns_where_a_scale_loses_what_varies(is_sparse):
    X = np.random.default_rng(0).normal(size=(20, 2)) + 1e9
    rows = sparse.csr_array(X) if is_sparse else X
    with pytest.warns(UserWarning, match="varies by less than a millionth of its size"):
        Scale.of(rows, np.ones(20), None)


def test_scale_none_of_thin_rows_has_the_variance_of_the_dense_array():
    rng = np.random.default_rng(0)
    thin = sparse.random_array((500, 300), density=0.005, rng=rng, format="csr")
    w = rng.random(500)
    scale, Z = Scale.of(thin, w, None)
    of_dense, _ = Scale.of(thin.toarray(), w, None)
    assert sparse.issparse(Z)
    assert scale.variance == pytest.approx(of_dense.variance)


@pytest.mark.parametrize(
    ("n_rows", "n_features", "n_fine"),
    [(3_999, 3, 0), (4_000, 3, 12), (15_000, 3, 24), (15_000, 50, 13), (4_000, 80, 0)],
)
def test_scale_has_finer_ramps_where_there_are_many_rows_and_few_features(
    n_rows, n_features, n_fine
):
    X = np.random.default_rng(1).normal(size=(300, n_features))
    scale, _ = Scale.of(X, np.ones(300), "quantile", n_rows=n_rows)
    assert len(scale.terms) == n_features * (7 + n_fine)
