"""Answers about people by models of halves of the rows, in closed form."""

import numpy as np

from mltsk import MLTSKClassifier
from mltsk.halves import half_answers, posterior_errors


def noisy_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    Y = (rng.normal(size=(n, 2)) + X[:, :2] > 0).astype(int)
    return X, Y


def test_answers_of_halves_scatter_around_that_of_all_rows():
    X, Y = noisy_rows(300)
    clf = MLTSKClassifier(n_rules=0).fit(X[5:], Y[5:])
    answers = half_answers(clf.fit_record_, X[:5])
    assert answers.shape == (40, 5, 2)
    log_odds = clf.system_.scores(X[:5])
    # halves are drawn towards the average a little more
    assert np.abs(answers.mean(axis=0) - log_odds).max() < 0.5
    assert (answers.std(axis=0) > 0.02).all()


def test_more_rows_make_answers_surer():
    errors = []
    for n in (100, 400):
        X, Y = noisy_rows(n)
        clf = MLTSKClassifier(n_rules=0, ridge=1.0).fit(X, Y)
        errors.append(posterior_errors(clf.fit_record_, np.zeros((1, 4))).mean())
    assert errors[1] < 0.7 * errors[0]


def test_rows_that_were_not_observed_make_a_label_less_sure():
    X, Y = noisy_rows(200)
    Y = Y.astype(float)
    Y[:150, 1] = np.nan
    clf = MLTSKClassifier(n_rules=0).fit(X, Y)
    seen, hardly_seen = posterior_errors(clf.fit_record_, X[:20]).mean(axis=0)
    assert hardly_seen > 1.2 * seen
    assert np.isfinite(half_answers(clf.fit_record_, X[:2])).all()
