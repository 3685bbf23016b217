"""HNOML: worked numbers, independent solvers, certificates, degenerate data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from mltsk.paper.methods.hnoml import (
    HNOML,
    READINGS,
    Statistics,
    balanced_penalty,
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
WEIGHTS = [(0.1, 0.1, 0.1), (0.5, 0.05, 0.01), (1, 0.3, 10), (2, 100, 1)]


def exact(*weights, **options):
    return HNOML(*weights, tol=1e-11, max_iter=5000, **options)


def make_data(n=60, n_features=8, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.random((n, n_features))
    noise = 0.3 * rng.normal(size=(n, n_labels))
    return features, (features[:, :n_labels] + noise > 0.6).astype(int)


def reweighted_least_squares(X, Y, alpha, beta, gamma, n_iter=2000, floor=1e-9):
    """The same minimum by other means, intercept included.

    Every norm is a weighted square, whose weight is refreshed in each step.
    """
    D = X.shape[1]
    L = Y.shape[1]
    Xe = np.column_stack([X, np.ones(len(X))])
    W = np.zeros((D + 1, L))
    B = np.eye(L)
    for _ in range(n_iter):
        a = np.append(alpha / np.maximum(row_norms(W[:D]), floor), 0.0)
        b = beta / np.maximum(row_norms(Y @ B - Y), floor)
        bY = b[:, None] * Y
        top = np.hstack([Xe.T @ Xe + np.diag(a), -Xe.T @ Y])
        bottom = np.hstack([-Y.T @ Xe, Y.T @ Y + Y.T @ bY + gamma * np.eye(L)])
        right = np.vstack([np.zeros((D + 1, L)), bY.T @ Y])
        both = np.linalg.solve(np.vstack([top, bottom]), right)
        W = both[: D + 1]
        B = both[D + 1 :]
    fit = 0.5 * ((Xe @ W - Y @ B) ** 2).sum() + 0.5 * gamma * (B**2).sum()
    return fit + alpha * row_norms(W[:D]).sum() + beta * row_norms(Y @ B - Y).sum()


def test_shrink_rows_of_worked_rows():
    rows = np.array([[3, 4], [0.3, 0.4], [0, 0]])
    assert_allclose(shrink_rows(rows, 1.0), [[2.4, 3.2], [0, 0], [0, 0]], atol=1e-15)


@pytest.mark.parametrize(
    ("primal", "dual", "penalty"), [(1.0, 0.1, 4.0), (0.1, 1.0, 0.25), (1.0, 1.0, 1.0)]
)
def test_balanced_penalty_grows_with_the_primal_residual(primal, dual, penalty):
    one = np.ones((1, 1))
    found = balanced_penalty(
        1.0, (0.1, 10.0), primal=primal * one, copy=one, dual=dual * one, multiplier=one
    )
    assert found == penalty


def test_balanced_penalty_stays_within_its_limits():
    one = np.ones((1, 1))
    residuals = {"primal": one, "copy": one, "dual": 0 * one, "multiplier": one}
    assert balanced_penalty(1.0, (0.1, 2.0), **residuals) == 2.0


def test_fit_finds_the_worked_optimum_with_rewritten_labels():
    model = exact(0.1, 0.1, 0.1, fit_intercept=False).fit(X, Y)
    B = [[0.705504, 0.006799], [-0.027084, 0.580062]]
    W = [[0.747186, 0.045274], [-0.050750, 0.623629], [-0.008551, -0.027409]]
    assert_allclose(model.objective_, 0.437798, atol=5e-7)
    assert_allclose(model.enrichment_, B, atol=1e-6)
    assert_allclose(model.coef_, W, atol=1e-6)


@pytest.mark.parametrize(
    ("weights", "value"), [((0.1, 1, 0.1), 0.467512), ((1, 1, 1), 2.948669)]
)
def test_fit_finds_the_worked_optima_where_the_penalty_is_exact(weights, value):
    model = exact(*weights, fit_intercept=False).fit(X, Y)
    assert_allclose(model.objective_, value, atol=6e-7)
    assert_allclose(model.enrichment_, np.eye(2), atol=1e-6)
    assert (model.coef_[2] == 0).all() == (weights[0] == 1)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_fit_finds_the_minimum_of_reweighted_least_squares(weights):
    A, labels = make_data()
    objective = exact(*weights).fit(A, labels).objective_
    expected = reweighted_least_squares(A, labels.astype(float), *weights)
    assert_allclose(objective, expected, rtol=1e-6)


def smoothed_minimum(X, Y, weights, w, s):
    """The second reading's minimum by a general optimiser, intercept included.

    Norms are sqrt(s² + ‖·‖²).
    """
    alpha, beta, gamma = weights
    D = X.shape[1]
    L = Y.shape[1]

    def lengths(A):
        root = np.sqrt((A**2).sum(axis=1) + s**2)
        return w @ root, w[:, None] * A / root[:, None]

    def value_and_gradient(theta):
        W, B, b = np.split(theta.reshape(-1, L), [D, D + L])
        fit, dfit = lengths(X @ W + b - Y @ B)
        noise, dnoise = lengths(Y @ B - Y)
        value = fit + beta * noise
        value += 0.5 * alpha * (W**2).sum() + 0.5 * gamma * (B**2).sum()
        dW = X.T @ dfit + alpha * W
        dB = Y.T @ (beta * dnoise - dfit) + gamma * B
        return value, np.vstack([dW, dB, dfit.sum(axis=0)]).ravel()

    options = {
        "maxiter": 20_000,
        "maxfun": 40_000,
        "ftol": 1e-15,
        "gtol": 1e-9,
        "maxcor": 50,
    }
    return minimize(
        value_and_gradient,
        np.zeros((D + L + 1) * L),
        jac=True,
        method="L-BFGS-B",
        options=options,
    ).fun


@pytest.mark.parametrize("weights", WEIGHTS)
def test_fit_of_the_second_reading_finds_the_minimum_of_a_general_optimiser(weights):
    A, labels = make_data(n=25, n_features=4, n_labels=3)
    alpha, beta, gamma = weights
    w = np.random.default_rng(3).integers(1, 3, 25).astype(float)
    model = exact(*weights, reading="samples").fit(A, labels, sample_weight=w)
    smoothed = smoothed_minimum(A, labels.astype(float), weights, w, 1e-5)
    more = 1e-5 * w.sum() * (1 + beta)
    assert smoothed - more - 1e-6 <= model.objective_ <= smoothed
    W = model.coef_
    B = model.enrichment_
    misfits = A @ W + model.intercept_ - labels @ B
    noise = beta * w @ row_norms(labels @ B - labels)
    norms = 0.5 * alpha * (W**2).sum() + 0.5 * gamma * (B**2).sum()
    assert_allclose(model.objective_, w @ row_norms(misfits) + noise + norms)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fit_has_a_gap_that_bounds_the_distance_to_the_optimum(reading):
    A, labels = make_data()
    model = HNOML(0.3, 0.2, 0.1, reading=reading, tol=1e-10, max_iter=20_000)
    best = model.fit(A, labels).objective_
    assert model.gap_ <= 1e-10
    for n_iter in (1, 3, 7, 20):
        early = model.set_params(tol=0, max_iter=n_iter).fit(A, labels)
        assert 0 <= early.objective_ - best <= early.gap_ * early.objective_


def test_grid_path_takes_the_papers_grid_by_default():
    A, labels = make_data(n=30, n_features=3, n_labels=2)
    points = list(HNOML().grid_path(A, labels, A[:2]))
    assert len({tuple(point.params.items()) for point in points}) == 125


def test_statistics_invert_where_there_are_more_features_than_samples():
    A, labels = make_data(n=15, n_features=40)
    wide = Statistics(A, labels.astype(float), np.ones(15))
    assert wide.U.shape == (40, 14)  # centring takes one
    centred = A - A.mean(axis=0)
    R = np.random.default_rng(1).normal(size=(40, 2))
    expected = np.linalg.solve(centred.T @ centred + 0.5 * np.eye(40), R)
    assert_allclose(wide.inverse(R, 0.5), expected, atol=1e-9)


def test_fit_with_more_features_than_samples():
    A, labels = make_data(n=15, n_features=40)
    model = HNOML(0.1, 0.2, 0.1).fit(A, labels)
    expected = reweighted_least_squares(A, labels, 0.1, 0.2, 0.1, n_iter=300)
    assert_allclose(model.objective_, expected, rtol=1e-4)


def test_fit_takes_a_weight_of_two_for_two_rows_and_zero_for_none():
    A, labels = make_data(n=40)
    w = np.random.default_rng(2).integers(0, 3, 40)
    A_copies = np.repeat(A, w, axis=0)
    label_copies = np.repeat(labels, w, axis=0)
    repeated = exact(0.2, 0.2, 0.2).fit(A_copies, label_copies)
    weighted = exact(0.2, 0.2, 0.2).fit(A, labels, sample_weight=w)
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_predict_gives_no_label_where_there_was_none():
    model = HNOML().fit(X, np.zeros((6, 2), dtype=int))
    assert not model.predict(X).any()


def test_decision_function_ranks_by_frequency_where_beta_is_small_and_gamma_large():
    A, labels = make_data()
    labels[:, 0] = np.arange(60) < 55
    scores = HNOML(100, 0.01, 100).fit(A, labels).decision_function(A)
    assert len(np.unique(scores[0])) == 4
    assert (scores.argmax(axis=1) == 0).all()


def test_fit_says_that_there_were_too_few_iterations():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        HNOML(max_iter=2).fit(X, Y)
