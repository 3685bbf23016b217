"""The default problem in single precision, certified in double."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core import single
from mltsk.core.fit import fit_consequents
from mltsk.core.fuzzymap import FuzzyMap
from mltsk.core.single import single_pays
from mltsk.paper.solvers import ridge


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    X, centers = rng.standard_normal((120, 6)), rng.standard_normal((4, 6))
    Y = (X @ rng.standard_normal((6, 5)) + rng.standard_normal((120, 5)) > 0).astype(float)
    return FuzzyMap.of(X, centers, np.full((4, 6), 6.0)), Y, rng.uniform(0.5, 2.0, 120)


@pytest.mark.parametrize("loo_rows", [1000, 60])  # by the decomposition of leave-one-out, and by accelerated gradients
@pytest.mark.parametrize("coupling", ["precision", None])
def test_single_precision_ends_where_double_does(rows, monkeypatch, loo_rows, coupling):
    monkeypatch.setattr(single, "WORK", 0)
    monkeypatch.setattr(ridge, "LOO_ROWS", loo_rows)
    quick, plain = (fit_consequents(*rows, coupling=coupling, solver=s) for s in ("auto", "fista"))
    assert (quick.rho, quick.alpha, quick.beta) == (plain.rho, plain.alpha, plain.beta)
    assert quick.solution.certificate <= 1e-4
    assert quick.solution.converged
    assert quick.P.dtype == np.float64
    half_yy = 0.5 * float(rows[2] @ ((rows[1] - rows[2] @ rows[1] / rows[2].sum()) ** 2).sum(axis=1))
    assert abs(quick.solution.value - plain.solution.value) <= 1e-4 * half_yy
    assert not np.array_equal(quick.P, plain.P)


def test_a_candidate_that_does_not_suffice_is_carried_on_in_double_precision(rows, monkeypatch):
    monkeypatch.setattr(single, "WORK", 0)
    monkeypatch.setattr("mltsk.core.fit.solve_single", lambda G, Y, *_, **__: (np.ones((G.shape[1], Y.shape[1])), 3))
    carried, plain = (fit_consequents(*rows, solver=s) for s in ("auto", "fista"))
    assert carried.solution.converged
    assert_allclose(carried.P, plain.P, atol=0.02)


def test_a_limit_of_steps_holds_in_single_precision_too(rows, monkeypatch):
    monkeypatch.setattr(single, "WORK", 0)
    found = fit_consequents(*rows, max_iter=1).solution
    assert not found.converged
    assert found.certificate > 1e-4


@pytest.mark.parametrize(("rho", "tol"), [(0.0, 1e-4), (1.0, 1e-6)])
def test_without_a_ridge_or_for_fine_certificates_precision_stays_double(rows, monkeypatch, rho, tol):
    assert not single_pays(rows[0], rho, tol)
    monkeypatch.setattr(single, "WORK", 0)
    assert not single_pays(rows[0], rho, tol)
    assert single_pays(rows[0], 1.0, 1e-4)


def test_a_ridge_that_vanishes_beside_the_data_is_left_to_double_precision(rows, monkeypatch):
    monkeypatch.setattr(single, "WORK", 0)
    G, Y, w = rows
    tiny = (1e-9, 0.0, 0.1)
    assert single.solve_single(G, Y, w, np.eye(5), tiny, None) is None
    assert single.solve_single(G, Y, w, np.eye(5), tiny, ridge.LooRows.of(G, Y, w)) is None
