"""What leave-one-out chooses, and on which error."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import log_loss

from mltsk import MLTSKClassifier
from mltsk.fit import kernel_search
from mltsk.fit.fit import fit_system
from mltsk.fit.options import Names, Options
from mltsk.fit.rows import Block


def fitted(X, Y, w=None, **options):
    """A fit of four features whose names do not matter."""
    if w is None:
        w = np.ones(len(X))
    label_names = tuple(f"label {j}" for j in range(Y.shape[1]))
    names = Names(features=tuple("abcd"), labels=label_names)
    block = Block(X, Y.astype(float), w)
    return fit_system(block.all_rows(), Options(**options), names)


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(400, 4))


def test_choose_takes_no_exceptions_where_labels_depend_on_sums(X):
    rates = 0.5 + 0.12 * np.column_stack([X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]])
    Y = np.random.default_rng(1).random((400, 2)) < rates
    assert len(fitted(X, Y).system.centers) == 0


def test_choose_takes_exceptions_where_labels_depend_on_products(X):
    Y = np.column_stack([X[:, 0] * X[:, 1] > 0, X[:, 2] * X[:, 3] > 0])
    chosen = fitted(X, Y)
    general_alone = fitted(X, Y, n_rules=0)
    assert len(chosen.system.centers) > 0
    assert chosen.loo_error < 0.8 * general_alone.loo_error


def test_choose_does_not_look_at_labels_of_weight_0(X):
    w = np.ones((400, 3))
    w[:200, 2] = 0
    Y = (X[:, :3] > 0) * 1.0
    other_where_not_counted = np.where(w > 0, Y, 1 - Y)
    expected = fitted(X, Y, w)
    fit = fitted(X, other_where_not_counted, w)
    assert_allclose(fit.system.term_coef, expected.system.term_coef)
    assert fit.loo_error == expected.loo_error


def test_straight_lines_tell_more_than_ramps_alone_where_nothing_bends(monkeypatch):
    gains = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows = lines_of_skewed_features(rng, 400)
        fresh = lines_of_skewed_features(rng, 5000)
        losses = [log_loss_of_fit(rows, fresh)]
        with monkeypatch.context() as patch:
            patch.setattr(kernel_search, "LINES_ALONE", kernel_search.RAMPS_ALONE)
            patch.setattr(kernel_search, "MIXED_SHARES", (kernel_search.RAMPS_ALONE,))
            losses.append(log_loss_of_fit(rows, fresh))
        gains.append(losses[1] - losses[0])
    assert np.mean(gains) > 0.004


def lines_of_skewed_features(rng, n):
    """Features with a long tail, and a label whose log-odds are lines of two."""
    X = rng.lognormal(size=(n, 6))
    log_odds = 0.9 * np.minimum(X[:, 0], 12) - 0.9 * np.minimum(X[:, 1], 12)
    return X, (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int)


def log_loss_of_fit(rows, fresh):
    """Log loss of fresh rows by a general rule fitted to others."""
    clf = MLTSKClassifier(n_rules=0, n_pairs=0).fit(*rows)
    return log_loss(fresh[1], clf.predict_proba(fresh[0])[:, 1])
