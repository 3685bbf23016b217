"""The set of numbers that are as good is the ellipsoid that it is said to be."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.fit.ellipsoid import Ellipsoid

DATA = make_multilabel_rules(n_samples=80, random_state=0)
X = DATA.X[:, :3]
Y = DATA.Y[:, :2].astype(float)
Y[::4, 1] = np.nan
TOLERANCE = 0.02


@pytest.fixture(scope="module", params=[0, 4], ids=["no rules", "4 rules"])
def clf(request):
    return MLTSKClassifier(n_rules=request.param, order=0).fit(X, Y)


def loss_of(clf, label, b):
    """Squared errors and ridge of numbers b (Q,), row by row."""
    sums = clf.sums_
    observed = ~np.isnan(Y[:, label])
    Phi = sums.design.rows(sums.design.scale.apply(X[observed]))
    y = Y[observed, label]
    errors = (y - y.mean()) - (Phi - Phi.mean(axis=0)) @ b
    return float((errors**2).sum() + sums.ridge * (b @ b))


@pytest.mark.parametrize("label", [0, 1])
def test_members_have_the_loss_that_they_should(clf, label):
    ellipsoid = Ellipsoid.of(clf.sums_, label, TOLERANCE)
    assert_allclose(loss_of(clf, label, ellipsoid.center), ellipsoid.least, rtol=1e-8)
    for member in ellipsoid.members(5, seed=1):
        expected = (1 + TOLERANCE) * ellipsoid.least
        assert_allclose(loss_of(clf, label, member), expected, rtol=1e-8)


def test_reach_is_what_a_general_solver_finds(clf):
    ellipsoid = Ellipsoid.of(clf.sums_, 0, TOLERANCE)
    rng = np.random.default_rng(0)
    row = rng.normal(size=len(ellipsoid.center))
    farthest = minimize(
        lambda b: -row @ b,
        ellipsoid.center,
        jac=lambda b: -row,
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda b: (1 + TOLERANCE) * ellipsoid.least - loss_of(clf, 0, b),
        },
        options={"ftol": 1e-12, "maxiter": 500},
    )
    reach = row @ ellipsoid.center + ellipsoid.reach(row[None, :])[0]
    assert_allclose(-farthest.fun, reach, rtol=1e-5)


def test_cost_without_is_what_a_fit_without_these_numbers_loses(clf):
    ellipsoid = Ellipsoid.of(clf.sums_, 1, TOLERANCE)
    others = np.arange(2, len(ellipsoid.center))
    sums = clf.sums_.of_columns(others, clf.sums_.design)
    cost = ellipsoid.cost_without(np.array([0, 1]))
    fewer = Ellipsoid.of(sums, 1, TOLERANCE)
    assert_allclose((1 + cost) * ellipsoid.least, fewer.least, rtol=1e-8)
