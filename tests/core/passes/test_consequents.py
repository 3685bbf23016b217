import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core import fit
from mltsk.core.fuzzymap import FuzzyMap
from mltsk.core.membership import rule_distinctness
from mltsk.core.passes import consequents
from mltsk.core.passes.rows import Block, InMemory
from mltsk.paper.solvers import moments

SETTINGS = {"coupling": "precision", "gamma": None, "max_iter": 1000, "tol": 1e-6}


def problem(n, d, n_rules, n_labels, seed=0):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), rng.uniform(0.5, 2, n)
    Y = (X @ rng.normal(size=(d, n_labels)) + rng.normal(size=(n, n_labels)) > 0).astype(float)
    cuts = np.split(np.arange(n), [n // 5, n // 3])
    rows = InMemory([Block(X[c], Y[c], w[c], i, c[0]) for i, c in enumerate(cuts)])
    firing = consequents.Firing(X[:n_rules].copy(), np.full((n_rules, d), 2.0 * d), "softmax")
    return FuzzyMap.of(X, firing.C, firing.S), Y, w, rows, firing


def both(n, d, n_rules, n_labels, **weights):
    G, Y, w, rows, firing = problem(n, d, n_rules, n_labels)
    options = {"rho": None, "alpha": None, "beta": None, "solver": "fista"} | SETTINGS | weights
    found, mass = consequents.fit_consequents(
        rows, (n, d), rows.reduce("labels", consequents.label_spread), firing, **options
    )
    assert_allclose(mass, w @ G.M)
    return found, fit.fit_consequents(G, Y, w, **options)


@pytest.mark.parametrize(
    "shape", [(300, 4, 3, 6), (1500, 3, 2, 1), (80, 30, 5, 3)], ids=["moments", "few labels", "wide"]
)
def test_consequents_are_those_of_rows_in_memory(shape):
    found, expected = both(*shape)
    assert (found.rho, found.alpha) == pytest.approx((expected.rho, expected.alpha), rel=1e-9)
    assert found.solution.n_iter == expected.solution.n_iter
    assert_allclose(found.P, expected.P, rtol=0, atol=1e-8)


@pytest.mark.parametrize("weights", [{"solver": "admm"}, {"rho": 1.0, "alpha": 0.5, "beta": 0.1}, {"coupling": None}])
def test_every_setting_agrees(weights):
    found, expected = both(300, 4, 3, 4, **weights)
    assert_allclose(found.P, expected.P, rtol=0, atol=1e-8)


def test_products_are_passes_where_the_moments_have_no_room(monkeypatch):
    for module in (moments, consequents):
        monkeypatch.setattr(module, "GRAM_BYTES", 1)
    found, expected = both(200, 4, 3, 4)
    assert_allclose(found.P, expected.P, rtol=0, atol=1e-8)


def test_distinctness_is_that_of_rows_in_memory():
    G, _, w, rows, firing = problem(200, 3, 4, 2)
    assert consequents.distinctness(rows, firing) == pytest.approx(rule_distinctness(G.M, w), rel=1e-12)
