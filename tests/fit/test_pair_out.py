"""The AUC from pairs of rows that are left out together."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.fit.pair_out import leave_pair_out_auc
from mltsk.metrics.curves import ranking


def hat_matrix(X, ridge):
    """H of a ridge with an intercept that is not penalised."""
    A = np.column_stack([np.ones(len(X)), X])
    penalty = ridge * np.eye(A.shape[1])
    penalty[0, 0] = 0
    return A @ np.linalg.solve(A.T @ A + penalty, A.T)


def ridge_scores(X, y, new, ridge):
    """Scores of new rows by a ridge with an intercept, through the centred problem."""
    mean = X.mean(axis=0)
    centred = X - mean
    gram = centred.T @ centred + ridge * np.eye(X.shape[1])
    coef = np.linalg.solve(gram, centred.T @ (y - y.mean()))
    return y.mean() + (new - mean) @ coef


def refitted_auc(X, y, ridge):
    """The share of pairs in the right order, with a fit for each pair."""
    won = 0.0
    cases = np.flatnonzero(y == 1)
    others = np.flatnonzero(y == 0)
    for i in cases:
        for j in others:
            rest = np.delete(np.arange(len(y)), [i, j])
            case, other = ridge_scores(X[rest], y[rest], X[[i, j]], ridge)
            won += (case > other) + 0.5 * (case == other)
    return won / (len(cases) * len(others))


@pytest.mark.parametrize("ridge", [0.1, 5.0, 300.0])
def test_leave_pair_out_auc_is_that_of_a_fit_without_each_pair(ridge):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    signal = X[:, :1] + rng.normal(size=(30, 3))
    Y = (signal > [[0.0, 0.5, 1.0]]).astype(float)
    H = hat_matrix(X, ridge)
    expected = [refitted_auc(X, y, ridge) for y in Y.T]
    assert_allclose(leave_pair_out_auc(H, Y, H @ Y), expected, atol=1e-9)


def test_leave_pair_out_auc_does_not_depend_on_the_size_of_blocks():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    Y = (rng.random((40, 2)) < 0.3).astype(float)
    H = hat_matrix(X, 2.0)
    whole = leave_pair_out_auc(H, Y, H @ Y)
    assert_allclose(leave_pair_out_auc(H, Y, H @ Y, max_pairs=7), whole, atol=1e-12)


def test_leave_pair_out_auc_is_nan_where_all_rows_have_a_label_or_none():
    H = np.full((4, 4), 0.25)
    Y = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    assert np.isnan(leave_pair_out_auc(H, Y, H @ Y)).all()


def test_leave_pair_out_auc_of_noise_is_one_half_and_leave_one_out_far_below():
    rng = np.random.default_rng(2)
    pairs = []
    singles = []
    for _ in range(150):
        X = rng.normal(size=(120, 8))
        y = (rng.random((120, 1)) < 0.2).astype(float)
        H = hat_matrix(X, 1000.0)
        fitted = H @ y
        pairs.append(leave_pair_out_auc(H, y, fitted)[0])
        left_out = y - (y - fitted) / (1 - np.diagonal(H))[:, None]
        singles.append(ranking(y[:, 0] > 0, left_out[:, 0])[1][0])
    assert np.mean(pairs) == pytest.approx(0.5, abs=0.02)
    assert np.mean(singles) < 0.3
