"""Columns of the ridge problem: every product equals that with the matrix written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk.fit.design import Design, Rules
from mltsk.fit.scale import Scale


def design(order, scale="quantile", is_sparse=False, n_rules=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 4)) * (rng.random((25, 4)) < 0.7)
    found, Z = Scale.of(X, np.ones(25), scale)
    rules = Rules(Z[:n_rules], 0.5 * found.variance, order)
    return Design(found, rules, 0.3, 2.0), sparse.csr_array(Z) if is_sparse else Z


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(
    "where", [{}, {"scale": "unit"}, {"scale": "unit", "is_sparse": True}, {"n_rules": 0}], ids=str
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
    general, coef = made.coefficients(B)
    said = coef[:, 0] + (np.einsum("nd,kdl->nkl", Z, coef[:, 1:]) if order else 0)
    score = made.memberships(Z) @ general + np.einsum("nk,nkl->nl", made.rules.firing(Z), said + np.zeros((25, 3, 2)))
    assert_allclose(score, made.rows(Z) @ B, atol=1e-12)


def test_zero_order_rules_fire_by_themselves_and_first_order_rules_share():
    (zero, Z), (first, _) = design(0), design(1)
    far = zero.rules.firing(Z + 100.0)
    assert far.max() < 1e-6
    assert_allclose(first.rules.firing(Z + 100.0).sum(axis=1), 1.0)
    assert_allclose(np.diag(zero.rules.firing(zero.rules.centers)), 1.0)
