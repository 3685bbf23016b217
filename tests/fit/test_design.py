"""Samples on the scale of the rules; products of columns are those of the matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk.fit.design import Design, ExceptionRules
from mltsk.fit.scale import Scale


def make_design(order, scale="quantile", is_sparse=False, n_rules=3):
    """A design for 25 scaled rows, and these rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 4)) * (rng.random((25, 4)) < 0.7)
    fitted_scale, Z = Scale.of(X, np.ones(25), scale)
    rules = ExceptionRules(
        centers=Z[:n_rules],
        width=0.5 * fitted_scale.variance,
        order=order,
        firing="softmax" if order else "plain",
    )
    design = Design(fitted_scale, rules, term_weights=0.3, rule_weight=2.0)
    if is_sparse:
        Z = sparse.csr_array(Z)
    return design, Z


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(
    "options",
    [{}, {"scale": "unit"}, {"scale": "unit", "is_sparse": True}, {"n_rules": 0}],
    ids=str,
)
def test_kernel_times_and_transposed_are_products_of_rows(order, options):
    design, Z = make_design(order, **options)
    Phi = design.rows(Z)
    rng = np.random.default_rng(1)
    A = rng.normal(size=(25, 2))
    B = rng.normal(size=(design.n_columns, 2))
    assert Phi.shape == (25, design.n_columns)
    assert_allclose(design.kernel(Z), Phi @ Phi.T, atol=1e-12)
    assert_allclose(design.times(Z, B), Phi @ B, atol=1e-12)
    assert_allclose(design.transposed(Z, A), Phi.T @ A, atol=1e-12)


@pytest.mark.parametrize("order", [0, 1])
def test_coefficients_of_terms_and_rules_give_the_scores_of_the_columns(order):
    design, Z = make_design(order)
    Phi = design.rows(Z)
    B = np.random.default_rng(1).normal(size=(design.n_columns, 2))
    mean = Phi.mean(axis=0)
    rates = np.array([0.2, 0.4])
    numbers = design.coefficients(B, mean[:, None] + 0 * B, rates)
    general = design.scale.general(Z) - design.scale.terms.mean
    consequents = np.tile(numbers.rules[:, 0], (25, 1, 1))
    if order:
        consequents += np.einsum("nd,kdl->nkl", Z, numbers.rules[:, 1:])
    exceptions = np.einsum("nk,nkl->nl", design.firing(Z), consequents)
    scores = numbers.intercept + general @ numbers.terms + exceptions
    assert_allclose(scores, rates + (Phi - mean) @ B, atol=1e-12)


def test_firing_of_order_0_is_by_itself_and_of_order_1_shared():
    zero, Z = make_design(order=0)
    first, _ = make_design(order=1)
    assert zero.firing(Z + 100.0).max() < 1e-6
    assert_allclose(first.firing(Z + 100.0).sum(axis=1), 1.0)
    assert_allclose(np.diag(zero.firing(zero.rules.centers)), 1.0)
