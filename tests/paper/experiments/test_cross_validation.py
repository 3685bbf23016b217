"""Cross-validation: shuffled folds, and metrics with their spread."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.metrics import evaluate
from mltsk.paper.experiments.cross_validation import (
    cross_validate_metrics,
    shuffled_folds,
)

DATA = make_multilabel_rules(n_samples=90, random_state=0)


class Constant(ClassifierMixin, BaseEstimator):
    """Scores that depend on nothing, with a warning."""

    def fit(self, X, y):
        warnings.warn(f"{len(X)} rows", UserWarning, stacklevel=2)
        return self

    def decision_function(self, X):
        return np.tile(np.arange(5.0) - 2, (len(X), 1))

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def test_shuffled_folds_part_the_rows_and_are_shuffled():
    folds = shuffled_folds(23, n_splits=5, random_state=3)
    tests = np.concatenate([test for _, test in folds])
    assert_array_equal(np.sort(tests), np.arange(23))
    assert not np.array_equal(tests, np.arange(23))
    for train, test in folds:
        assert set(train).isdisjoint(test)
        assert len(train) + len(test) == 23


def test_shuffled_folds_repeat_with_their_seed_only():
    a, b, c = (shuffled_folds(50, random_state=seed) for seed in (1, 1, 2))
    assert_array_equal(a[0][1], b[0][1])
    assert not np.array_equal(a[0][1], c[0][1])


@pytest.mark.parametrize("n_splits", [1, 12])
def test_shuffled_folds_refuse_impossible_numbers_of_folds(n_splits):
    with pytest.raises(InputError, match=f"{n_splits} folds cannot be made of 10 rows"):
        shuffled_folds(10, n_splits=n_splits)


def test_the_table_of_cross_validate_metrics_holds_what_evaluate_says_of_each_fold():
    folds = shuffled_folds(90, n_splits=3)
    model = MLTSKClassifier(n_rules=3)
    cv = cross_validate_metrics(model, DATA.X, DATA.Y, folds=folds, convention="paper")
    train, test = folds[1]
    fitted = MLTSKClassifier(n_rules=3).fit(DATA.X[train], DATA.Y[train])
    scores = fitted.decision_function(DATA.X[test])
    expected = evaluate(DATA.Y[test], scores, threshold=0, convention="paper")
    assert list(cv.table) == list(expected)
    assert_allclose(cv.table.loc[1], list(expected.values()), rtol=1e-12)
    assert not hasattr(model, "coef_")


def test_cross_validate_metrics_has_mean_and_sd_with_n_minus_1():
    folds = shuffled_folds(90, 3)
    cv = cross_validate_metrics(MLTSKClassifier(2), DATA.X, DATA.Y, folds=folds)
    ap = cv.table["AP"]
    assert_allclose(cv.mean["AP"], ap.mean())
    assert_allclose(cv.sd["AP"], np.sqrt(((ap - ap.mean()) ** 2).sum() / 2))


def test_cross_validate_metrics_does_not_show_warnings_once_per_fold():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_validate_metrics(Constant(), DATA.X, DATA.Y, folds=shuffled_folds(90, 3))


def test_cross_validate_metrics_splits_data_frames_and_sparse_rows_too():
    thin = make_multilabel_rules(n_samples=60, sparse=True, random_state=0)
    folds = shuffled_folds(60, 3)
    model = MLTSKClassifier(2)
    of_sparse = cross_validate_metrics(model, thin.X, thin.Y, folds=folds)
    assert 0 < of_sparse.mean["AP"] <= 1
    of_arrays = cross_validate_metrics(model, DATA.X, DATA.Y, folds=folds)
    of_frames = cross_validate_metrics(model, *DATA.frames(), folds=folds)
    assert of_frames.mean == of_arrays.mean


def test_cross_validate_metrics_refuses_one_fold():
    with pytest.raises(InputError, match="at least two folds"):
        cross_validate_metrics(Constant(), DATA.X, DATA.Y, folds=shuffled_folds(90)[:1])
