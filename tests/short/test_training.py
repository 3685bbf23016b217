"""Rows that a long model was fitted on: their labels, and how noisy these are."""

import numpy as np
from numpy.testing import assert_array_equal

from mltsk import MLTSKClassifier
from mltsk.short.training import observed_labels


def test_observed_labels_have_a_weight():
    Y = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert_array_equal(
        observed_labels(Y, np.array([[1.0, 0.0], [2.0, 1.0]])), [[1, np.nan], [0, 1]]
    )
    assert_array_equal(observed_labels(Y, np.array([0.0, 1.0])), [[np.nan] * 2, [0, 1]])


def noise_and_signal(n_rows=200):
    """Features, and two labels: one of chance alone, one of the first feature."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    chance = rng.random(n_rows) < 0.3
    return X, np.column_stack([chance, X[:, 0] > 0.4]).astype(int)


def test_noise_shares_are_near_1_on_noise_and_near_0_where_there_is_much_to_learn():
    X, Y = noise_and_signal()
    noise, signal = MLTSKClassifier(ridge=20.0).fit(X, Y).fit_record_.noise_shares()
    assert noise > 0.7
    assert signal < 0.2


def test_noise_shares_of_groups_are_about_groups():
    X, Y = noise_and_signal(100)
    groups = np.repeat(np.arange(100), 3)
    clf = MLTSKClassifier(ridge=20.0).fit(X[groups], Y[groups], groups=groups)
    noise, signal = clf.fit_record_.noise_shares()
    assert noise > 0.7
    assert signal < 0.25
