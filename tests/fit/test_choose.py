"""What leave-one-out chooses, and on which error."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.fit import Names, Options, fit_system
from mltsk.fit.choose import Judge
from mltsk.fit.ridge import Penalty, solve_dual
from mltsk.fit.rows import Block


def fit(X, Y, w=None, **options):
    w = np.ones(len(X)) if w is None else w
    names = Names(tuple("abcd"), tuple(f"label {j}" for j in range(Y.shape[1])))
    rows = Block(X, Y.astype(float), w, np.ones_like(w)).all_rows()
    return fit_system(rows, Options(**options), names)


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(400, 4))


def test_a_table_of_sums_needs_no_exceptions(X):
    rate = 0.5 + 0.12 * np.column_stack([X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]])
    assert (
        len(fit(X, np.random.default_rng(1).random((400, 2)) < rate).system.centers)
        == 0
    )


def test_a_table_of_products_needs_some(X):
    Y = np.column_stack([X[:, 0] * X[:, 1] > 0, X[:, 2] * X[:, 3] > 0])
    found, alone = fit(X, Y), fit(X, Y, n_rules=0)
    assert len(found.system.centers) > 0
    assert found.loo_error < 0.8 * alone.loo_error


@pytest.mark.parametrize("n_labels", [3, 40])
def test_the_error_is_the_mean_over_labels_and_rows_whichever_there_are_more_of(
    X, n_labels
):
    rng = np.random.default_rng(2)
    K, Y, w = (
        X[:20] @ X[:20].T,
        (rng.random((20, n_labels)) < 0.4) * 1.0,
        rng.random(20) + 0.1,
    )
    judge = Judge.of(
        Block(X=None, Y=Y, w=w, copies=np.ones(20)), [np.arange(n_labels)], 0.5
    )
    loo = solve_dual(K.copy(), Y, w, np.ones(20), Penalty(0.5))[1]
    error, ridge = judge.error(K)
    assert ridge == 0.5
    assert error / judge.total_weight == pytest.approx(
        (w @ (loo - Y) ** 2).sum() / (w.sum() * n_labels)
    )


def test_the_ridge_is_the_best_of_its_neighbours(X):
    K, Y = (
        (X[:80] @ X[:80].T) / 4,
        (X[:80, :2] + np.random.default_rng(3).normal(size=(80, 2)) > 0) * 1.0,
    )
    judge = Judge.of(Block(None, Y, np.ones(80), np.ones(80)), [np.arange(2)], None)
    error, ridge = judge.error(K.astype(np.float32))
    for other in (ridge / 2, ridge * 2):
        loo = solve_dual(K.copy(), Y, np.ones(80), np.ones(80), Penalty(other))[1]
        assert ((loo - Y) ** 2).sum() >= error * (1 - 1e-4)


def test_patterns_of_weights_are_judged_by_the_rows_that_count(X):
    w = np.ones((400, 3))
    w[:200, 2] = 0
    Y = (X[:, :3] > 0) * 1.0
    other = np.where(w > 0, Y, 1 - Y)
    a, b = (fit(X, labels, w) for labels in (Y, other))
    assert_allclose(a.system.term_coef, b.system.term_coef)
    assert a.loo_error == b.loo_error
