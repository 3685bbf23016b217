"""Samples on the scale of the rules; products of columns are those of the matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk.exceptions import InputError
from mltsk.fit.design import MIN_DENSE_SHARE, Design, ExceptionRules, Scale


def design(order, scale="quantile", is_sparse=False, n_rules=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 4)) * (rng.random((25, 4)) < 0.7)
    found, Z = Scale.of(X, np.ones(25), scale)
    rules = ExceptionRules(
        Z[:n_rules], 0.5 * found.variance, order, "softmax" if order else "plain"
    )
    return Design(found, rules, 0.3, 2.0), sparse.csr_array(Z) if is_sparse else Z


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(
    "where",
    [{}, {"scale": "unit"}, {"scale": "unit", "is_sparse": True}, {"n_rules": 0}],
    ids=str,
)
def test_products_are_those_of_the_matrix(order, where):
    made, Z = design(order, **where)
    rows, rng = made.rows(Z), np.random.default_rng(1)
    A, B = rng.normal(size=(25, 2)), rng.normal(size=(made.n_columns, 2))
    assert rows.shape == (25, made.n_columns)
    assert_allclose(made.kernel(Z), rows @ rows.T, atol=1e-12)
    assert_allclose(made.times(Z, B), rows @ B, atol=1e-12)
    assert_allclose(made.transposed(Z, A), rows.T @ A, atol=1e-12)


@pytest.mark.parametrize("order", [0, 1])
def test_numbers_of_columns_are_numbers_of_terms_and_rules(order):
    made, Z = design(order)
    B = np.random.default_rng(1).normal(size=(made.n_columns, 2))
    mean, rates = made.rows(Z).mean(axis=0)[:, None] + 0 * B, np.array([0.2, 0.4])
    intercept, general, coef = made.coefficients(B, mean, rates)
    said = coef[:, 0] + (np.einsum("nd,kdl->nkl", Z, coef[:, 1:]) if order else 0)
    score = (made.scale.general(Z) - made.scale.terms.mean) @ general
    score += intercept + np.einsum(
        "nk,nkl->nl", made.firing(Z), said + np.zeros((25, 3, 2))
    )
    assert_allclose(
        score, rates + (made.rows(Z) - made.rows(Z).mean(axis=0)) @ B, atol=1e-12
    )


def test_zero_order_rules_fire_by_themselves_and_first_order_rules_share():
    (zero, Z), (first, _) = design(0), design(1)
    far = zero.firing(Z + 100.0)
    assert far.max() < 1e-6
    assert_allclose(first.firing(Z + 100.0).sum(axis=1), 1.0)
    assert_allclose(np.diag(zero.firing(zero.rules.centers)), 1.0)


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 5)) * (rng.random((40, 5)) < 0.6)


@pytest.mark.parametrize(
    ("name", "used"),
    [("auto", "quantile"), ("quantile", "quantile"), ("standard", "standard")],
)
def test_dense_samples_have_one_variance_per_feature(X, name, used):
    scale, Z = Scale.of(X, np.ones(40), name)
    assert scale.name == used
    assert (scale.terms.low is not None) == (used == "quantile")
    assert scale.variance == pytest.approx(5)
    assert_allclose(Z.var(axis=0), 1.0)
    assert_allclose(Z, scale.apply(X))


def test_rows_of_weight_zero_do_not_count(X):
    w = np.r_[np.ones(30), np.zeros(10)]
    for name in ("quantile", "standard", "minmax", "unit", None):
        with_zeros, alone = (
            Scale.of(X, w, name)[0],
            Scale.of(X[:30], np.ones(30), name)[0],
        )
        assert with_zeros.variance == pytest.approx(alone.variance)
        assert_allclose(with_zeros.apply(X), alone.apply(X))


def test_sparse_rows_have_unit_length_and_stay_sparse_where_that_pays(X):
    scale, Z = Scale.of(sparse.csr_array(X), np.ones(40), "auto")
    assert scale.name == "unit"
    assert_allclose(Z, Scale.of(X, np.ones(40), "unit")[1])
    thin = sparse.random_array(
        (100, 1000), density=MIN_DENSE_SHARE / 2, format="csr", rng=0
    )
    assert sparse.issparse(Scale.of(thin, np.ones(100), "auto")[1])


@pytest.mark.parametrize("name", ["quantile", "standard", "minmax"])
def test_a_scale_that_would_fill_a_sparse_matrix_is_refused(X, name):
    with pytest.raises(InputError, match="would make sparse X dense"):
        Scale.of(sparse.csr_array(X), np.ones(40), name)


def test_rows_with_gaps_have_no_unit_length(X):
    with pytest.raises(InputError, match="needs every cell"):
        Scale.of(np.where(X > 1, np.nan, X), np.ones(40), "unit")
