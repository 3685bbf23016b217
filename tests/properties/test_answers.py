"""Facts about answers that hold for any data."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier

seeds = st.integers(0, 2**31)
shapes = st.tuples(st.integers(12, 40), st.integers(1, 5), st.integers(2, 4))
small_shapes = st.tuples(st.integers(12, 20), st.integers(1, 3), st.just(2))


def draw_data(shape, seed):
    """X without ties, Y in which each label has both values, and the generator."""
    n_rows, n_features, n_labels = shape
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_rows, n_labels)) < 0.4).astype(float)
    Y[0] = 0.0
    Y[1] = 1.0
    X = rng.normal(size=(n_rows, n_features))
    return X, Y, rng


def general_scores(X, Y, *, on, sample_weight=None, groups=None):
    """Scores on some samples by a general rule with a fixed ridge.

    Exceptions start from single rows, which copies would move.
    """
    clf = MLTSKClassifier(0, ridge=1.0).fit(X, Y, sample_weight, groups)
    return clf.system_.scores(on)


@given(shapes, seeds)
@example(shape=(27, 2, 2), seed=657)  # rows whose values are exchanged
@settings(max_examples=30, deadline=None)
def test_scores_do_not_depend_on_the_order_of_rows_features_and_labels(shape, seed):
    X, Y, rng = draw_data(shape, seed)
    rows = rng.permutation(X.shape[0])
    features = rng.permutation(X.shape[1])
    labels = rng.permutation(Y.shape[1])
    X_shuffled = X[rows][:, features]
    Y_shuffled = Y[rows][:, labels]
    scores = general_scores(X_shuffled, Y_shuffled, on=X[:, features])
    expected = general_scores(X, Y, on=X)[:, labels]
    assert_allclose(scores, expected, atol=1e-6)


@given(shapes, seeds)
@example(shape=(13, 4, 3), seed=2)  # 13 rows for four lines, and more copies
@settings(max_examples=30, deadline=None)
def test_sample_weight_of_two_is_a_group_of_a_row_that_is_there_twice(shape, seed):
    X, Y, rng = draw_data(shape, seed)
    times = rng.integers(1, 3, len(X))
    X_repeated = np.repeat(X, times, axis=0)
    Y_repeated = np.repeat(Y, times, axis=0)
    row = np.repeat(np.arange(len(X)), times)
    with pytest.MonkeyPatch.context() as patch:
        # copies round otherwise, and folds of so few rows choose between equals
        patch.setattr("mltsk.fit.choose.CHOICE_FOLDS", 0)
        expected = general_scores(X_repeated, Y_repeated, on=X, groups=row)
        scores = general_scores(X, Y, on=X, sample_weight=times.astype(float))
    assert_allclose(scores, expected, atol=1e-6)


@given(shapes, seeds, st.floats(-1e6, 1e6))
@settings(max_examples=30, deadline=None)
def test_scores_do_not_depend_on_a_constant_feature(shape, seed, value):
    X, Y, _ = draw_data(shape, seed)
    X_wider = np.column_stack([X, np.full(len(X), value)])
    scores = general_scores(X_wider, Y, on=X_wider)
    assert_allclose(scores, general_scores(X, Y, on=X), atol=1e-8)


@given(
    shapes, seeds, st.sampled_from([1e-6, 0.1, 8.0, 1e6]), st.sampled_from(["auto", 3])
)
@settings(max_examples=30, deadline=None)
def test_scores_on_the_percentile_scale_do_not_depend_on_the_unit(
    shape, seed, unit, n_rules
):
    X, Y, _ = draw_data(shape, seed)
    X_in_unit = X * unit
    expected = MLTSKClassifier(n_rules).fit(X, Y).system_.scores(X)
    scores = MLTSKClassifier(n_rules).fit(X_in_unit, Y).system_.scores(X_in_unit)
    assert_allclose(scores, expected, atol=1e-7)


@given(shapes, seeds)
@settings(max_examples=20, deadline=None)
def test_sample_weight_of_one_per_label_changes_nothing(shape, seed):
    X, Y, _ = draw_data(shape, seed)
    weighted = MLTSKClassifier().fit(X, Y, np.ones_like(Y))
    expected = MLTSKClassifier().fit(X, Y)
    assert_allclose(weighted.loo_scores_, expected.loo_scores_, atol=1e-8)


@given(shapes, seeds)
@settings(max_examples=20, deadline=None)
def test_fit_learns_nothing_from_a_row_whose_labels_are_all_nan(shape, seed):
    X, Y, _ = draw_data(shape, seed)
    X_longer = np.vstack([X, X[:1]])
    Y_longer = np.vstack([Y, np.full((1, Y.shape[1]), np.nan)])
    scores = general_scores(X_longer, Y_longer, on=X)
    assert_allclose(scores, general_scores(X, Y, on=X), atol=1e-8)


@pytest.mark.parametrize(
    ("n_rules", "order"), [(0, 0), (2, 0), (2, 1)], ids=["no rules", "0", "1"]
)
@given(small_shapes, seeds)
@settings(max_examples=15, deadline=None)
def test_loo_scores_are_those_of_fits_without_the_row(n_rules, order, shape, seed):
    """Columns are fixed, and the ridge problem is solved again without each row."""
    X, Y, _ = draw_data(shape, seed)
    with pytest.MonkeyPatch.context() as patch:
        # rows are scored by what other rows choose: here by what all of them choose
        patch.setattr("mltsk.fit.choose.CHOICE_FOLDS", 0)
        clf = MLTSKClassifier(n_rules, order=order, ridge=1.0).fit(X, Y)
    design = clf.fit_record_.training.design
    Phi = design.rows(design.scale.apply(X))
    ridge = clf.ridge_ * np.eye(Phi.shape[1])
    for i in range(len(X)):
        is_kept = np.arange(len(X)) != i
        mean = Phi[is_kept].mean(axis=0)
        rates = Y[is_kept].mean(axis=0)
        C = Phi[is_kept] - mean
        B = np.linalg.solve(C.T @ C + ridge, C.T @ (Y[is_kept] - rates))
        score = rates + (Phi[i] - mean) @ B
        expected = score + Y.mean(axis=0) - rates  # the base rates of all rows
        assert_allclose(clf.fit_record_.scores[i], expected, atol=1e-6)


@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax", "unit", None])
@given(
    shapes, seeds, st.sampled_from([1e3, 1e100, 1e200, 1e300]), st.sampled_from([0, 1])
)
@settings(max_examples=10, deadline=None)
def test_decision_function_and_predict_proba_are_finite_however_far_a_sample_lies(
    scale, shape, seed, distance, order
):
    X, Y, rng = draw_data(shape, seed)
    clf = MLTSKClassifier(2, order=order, scale=scale).fit(X, Y)
    far = distance * rng.choice([-1.0, 0.0, 1.0], size=X.shape)
    scores = clf.decision_function(far)
    assert np.isfinite(scores).all()
    assert np.isfinite(clf.predict_proba(far)).all()
    # bounded by design: the ends of the training range are as far as it goes
    if scale in ("quantile", "unit"):
        assert abs(scores).max() < 1e3
