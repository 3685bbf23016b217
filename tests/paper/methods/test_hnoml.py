"""HNOML: worked numbers, an independent solver, the grid in one pass, degenerate data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from mltsk.paper.methods.hnoml import (
    HNOML,
    READINGS,
    Statistics,
    row_norms,
    shrink_rows,
)

X = np.array(
    [
        [1, 0, 0.5],
        [0.2, 1, 0],
        [0.9, 0.1, 0.4],
        [0, 0.8, 0.3],
        [0.7, 0.6, 0.1],
        [0.1, 0.2, 0.9],
    ]
)
Y = np.array([[1, 0], [0, 1], [1, 0], [0, 1], [1, 1], [0, 0]], dtype=float)


def exact(*weights, **options):
    return HNOML(*weights, tol=1e-11, max_iter=5000, **options)


def some_data(n=60, n_features=8, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, n_features))
    return X, (X[:, :n_labels] + 0.3 * rng.normal(size=(n, n_labels)) > 0.6).astype(int)


def reweighted_least_squares(X, Y, alpha, beta, gamma, n_iter=2000, floor=1e-9):
    """The same minimum by other means: every norm is a weighted square, its weight refreshed; intercept included."""
    D, L = X.shape[1], Y.shape[1]
    Xe = np.column_stack([X, np.ones(len(X))])
    W, B = np.zeros((D + 1, L)), np.eye(L)
    for _ in range(n_iter):
        a = np.append(alpha / np.maximum(row_norms(W[:D]), floor), 0.0)
        b = beta / np.maximum(row_norms(Y @ B - Y), floor)
        bY = b[:, None] * Y
        top = np.hstack([Xe.T @ Xe + np.diag(a), -Xe.T @ Y])
        bottom = np.hstack([-Y.T @ Xe, Y.T @ Y + Y.T @ bY + gamma * np.eye(L)])
        both = np.linalg.solve(
            np.vstack([top, bottom]), np.vstack([np.zeros((D + 1, L)), bY.T @ Y])
        )
        W, B = both[: D + 1], both[D + 1 :]
    fit = 0.5 * ((Xe @ W - Y @ B) ** 2).sum() + 0.5 * gamma * (B**2).sum()
    return fit + alpha * row_norms(W[:D]).sum() + beta * row_norms(Y @ B - Y).sum()


def test_row_shrinkage_of_worked_rows():
    rows = np.array([[3, 4], [0.3, 0.4], [0, 0]])
    assert_allclose(shrink_rows(rows, 1.0), [[2.4, 3.2], [0, 0], [0, 0]], atol=1e-15)


def test_worked_optimum_with_rewritten_labels():
    model = exact(0.1, 0.1, 0.1, fit_intercept=False).fit(X, Y)
    assert_allclose(model.objective_, 0.437798, atol=5e-7)
    assert_allclose(
        model.enrichment_, [[0.705504, 0.006799], [-0.027084, 0.580062]], atol=1e-6
    )
    W = [[0.747186, 0.045274], [-0.050750, 0.623629], [-0.008551, -0.027409]]
    assert_allclose(model.coef_, W, atol=1e-6)


@pytest.mark.parametrize(
    ("weights", "value"), [((0.1, 1, 0.1), 0.467512), ((1, 1, 1), 2.948669)]
)
def test_worked_optima_where_the_penalty_is_exact(weights, value):
    model = exact(*weights, fit_intercept=False).fit(X, Y)
    assert_allclose(model.objective_, value, atol=6e-7)
    assert_allclose(model.enrichment_, np.eye(2), atol=1e-6)
    assert (model.coef_[2] == 0).all() == (weights[0] == 1)


@pytest.mark.parametrize(
    "weights", [(0.1, 0.1, 0.1), (0.5, 0.05, 0.01), (1, 0.3, 10), (2, 100, 1)]
)
def test_reweighted_least_squares_finds_no_less_and_no_more(weights):
    A, labels = some_data()
    found = exact(*weights).fit(A, labels).objective_
    assert_allclose(
        found, reweighted_least_squares(A, labels.astype(float), *weights), rtol=1e-6
    )


def smoothed_minimum(X, Y, alpha, beta, gamma, w, s):
    """The second reading's minimum by a general optimiser, with norms sqrt(s² + ‖·‖²); intercept included."""
    D, L = X.shape[1], Y.shape[1]
    shapes = (D, L), (L, L), (1, L)
    ends = np.cumsum([0, *(a * b for a, b in shapes)])

    def lengths(A):
        root = np.sqrt((A**2).sum(axis=1) + s**2)
        return w @ root, w[:, None] * A / root[:, None]

    def value_and_gradient(theta):
        W, B, b = (
            theta[i:j].reshape(shape)
            for i, j, shape in zip(ends, ends[1:], shapes, strict=False)
        )
        (fit, dfit), (noise, dnoise) = lengths(X @ W + b - Y @ B), lengths(Y @ B - Y)
        value = (
            fit + beta * noise + 0.5 * alpha * (W**2).sum() + 0.5 * gamma * (B**2).sum()
        )
        parts = (
            X.T @ dfit + alpha * W,
            Y.T @ (beta * dnoise - dfit) + gamma * B,
            dfit.sum(axis=0),
        )
        return value, np.concatenate([part.ravel() for part in parts])

    options = {
        "maxiter": 20_000,
        "maxfun": 40_000,
        "ftol": 1e-15,
        "gtol": 1e-9,
        "maxcor": 50,
    }
    return minimize(
        value_and_gradient,
        np.zeros(ends[-1]),
        jac=True,
        method="L-BFGS-B",
        options=options,
    ).fun


@pytest.mark.parametrize(
    "weights", [(0.1, 0.1, 0.1), (0.5, 0.05, 0.01), (1, 0.3, 10), (2, 100, 1)]
)
def test_a_general_optimiser_finds_no_less_of_the_second_reading_and_no_more(weights):
    A, labels = some_data(n=25, n_features=4, n_labels=3)
    w = np.random.default_rng(3).integers(1, 3, 25).astype(float)
    model = exact(*weights, reading="samples").fit(A, labels, sample_weight=w)
    smoothed, more = (
        smoothed_minimum(A, labels.astype(float), *weights, w, 1e-5),
        1e-5 * w.sum() * (1 + weights[1]),
    )
    assert smoothed - more - 1e-6 <= model.objective_ <= smoothed
    misfits = A @ model.coef_ + model.intercept_ - labels @ model.enrichment_
    kept = (
        0.5 * weights[0] * (model.coef_**2).sum()
        + 0.5 * weights[2] * (model.enrichment_**2).sum()
    )
    noise = weights[1] * w @ row_norms(labels @ model.enrichment_ - labels)
    assert_allclose(model.objective_, w @ row_norms(misfits) + noise + kept)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_gap_bounds_the_distance_to_the_optimum_from_anywhere(reading):
    A, labels = some_data()
    model = HNOML(0.3, 0.2, 0.1, reading=reading, tol=1e-10, max_iter=20_000).fit(
        A, labels
    )
    best = model.objective_
    assert model.gap_ <= 1e-10
    for n_iter in (1, 3, 7, 20):
        early = model.set_params(tol=0, max_iter=n_iter).fit(A, labels)
        assert 0 <= early.objective_ - best <= early.gap_ * early.objective_


def test_default_grid_is_the_papers():
    A, labels = some_data(n=30, n_features=3, n_labels=2)
    points = list(HNOML().grid_path(A, labels, A[:2]))
    assert len({tuple(point.params.items()) for point in points}) == 125


def test_more_features_than_samples():
    A, labels = some_data(n=15, n_features=40)
    wide = Statistics(A, labels.astype(float), np.ones(15))
    assert wide.U.shape == (40, 14)  # centring takes one
    centred = A - A.mean(axis=0)
    R = np.random.default_rng(1).normal(size=(40, 2))
    assert_allclose(
        wide.inverse(R, 0.5),
        np.linalg.solve(centred.T @ centred + 0.5 * np.eye(40), R),
        atol=1e-9,
    )
    model = HNOML(0.1, 0.2, 0.1).fit(A, labels)
    assert_allclose(
        model.objective_,
        reweighted_least_squares(A, labels, 0.1, 0.2, 0.1, 300),
        rtol=1e-4,
    )


def test_a_weight_of_two_is_two_rows_and_zero_is_none():
    A, labels = some_data(n=40)
    w = np.random.default_rng(2).integers(0, 3, 40)
    repeated = exact(0.2, 0.2, 0.2).fit(
        np.repeat(A, w, axis=0), np.repeat(labels, w, axis=0)
    )
    weighted = exact(0.2, 0.2, 0.2).fit(A, labels, sample_weight=w)
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_no_labels_at_all():
    model = HNOML().fit(X, np.zeros((6, 2), dtype=int))
    assert not model.predict(X).any()


def test_small_beta_and_large_gamma_still_rank_by_frequency():
    A, labels = some_data()
    labels[:, 0] = np.arange(60) < 55
    scores = HNOML(100, 0.01, 100).fit(A, labels)._scores(A)
    assert len(np.unique(scores[0])) == 4
    assert (scores.argmax(axis=1) == 0).all()


def test_too_few_iterations_are_told():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        HNOML(max_iter=2).fit(X, Y)
