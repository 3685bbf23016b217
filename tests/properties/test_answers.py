"""Facts about answers that hold for any data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier

seeds = st.integers(0, 2**31)
shapes = st.tuples(st.integers(12, 40), st.integers(1, 5), st.integers(2, 4))


def drawn(shape, seed):
    """Features without ties, labels of which each value is there."""
    n, d, n_labels = shape
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, n_labels)) < 0.4).astype(float)
    Y[0], Y[1] = 0.0, 1.0
    return rng.normal(size=(n, d)), Y, rng


def scores(X, Y, *, on=None, weight=None, **options):
    """Scores of a general rule of fixed weight.

    Exceptions start from single rows, which copies would move.
    """
    clf = MLTSKClassifier(0, ridge=1.0, **options).fit(X, Y, weight)
    return clf.system_.scores(X if on is None else on)


@given(shapes, seeds)
@settings(max_examples=30, deadline=None)
def test_the_order_of_rows_features_and_labels_does_not_matter(shape, seed):
    X, Y, rng = drawn(shape, seed)
    rows, features, labels = (rng.permutation(size) for size in (*X.shape, Y.shape[1]))
    found = scores(X[rows][:, features], Y[rows][:, labels], on=X[:, features])
    assert_allclose(found, scores(X, Y)[:, labels], atol=1e-8)


@given(shapes, seeds)
@settings(max_examples=30, deadline=None)
def test_a_row_that_is_there_twice_is_a_row_of_weight_two(shape, seed):
    X, Y, rng = drawn(shape, seed)
    times = rng.integers(1, 3, len(X))
    twice = scores(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0), on=X)
    assert_allclose(scores(X, Y, weight=times.astype(float)), twice, atol=1e-8)


@given(shapes, seeds, st.floats(-1e6, 1e6))
@settings(max_examples=30, deadline=None)
def test_a_constant_feature_changes_nothing(shape, seed, value):
    X, Y, _ = drawn(shape, seed)
    assert_allclose(
        scores(np.column_stack([X, np.full(len(X), value)]), Y), scores(X, Y), atol=1e-8
    )


@given(
    shapes, seeds, st.sampled_from([1e-6, 0.1, 8.0, 1e6]), st.sampled_from(["auto", 3])
)
@settings(max_examples=30, deadline=None)
def test_the_unit_of_a_feature_does_not_matter_on_the_percentile_scale(
    shape, seed, unit, n_rules
):
    X, Y, _ = drawn(shape, seed)
    one, other = (
        MLTSKClassifier(n_rules).fit(Z, Y).system_.scores(Z) for Z in (X, X * unit)
    )
    assert_allclose(one, other, atol=1e-7)


@given(shapes, seeds)
@settings(max_examples=20, deadline=None)
def test_labels_that_may_be_missing_and_are_all_there_are_complete_labels(shape, seed):
    X, Y, _ = drawn(shape, seed)
    every = MLTSKClassifier().fit(X, Y).loo_scores_
    assert_allclose(
        MLTSKClassifier()
        .fit(X, np.where(np.isnan(Y), 0, Y), np.ones_like(Y))
        .loo_scores_,
        every,
        atol=1e-8,
    )
    hidden = np.vstack(
        [Y, np.full((1, Y.shape[1]), np.nan)]
    )  # a row of which nothing was observed
    found = MLTSKClassifier(0, ridge=1.0).fit(np.vstack([X, X[:1]]), hidden)
    assert_allclose(found.system_.scores(X), scores(X, Y), atol=1e-8)


@given(
    st.tuples(st.integers(12, 20), st.integers(1, 3), st.just(2)),
    seeds,
    st.sampled_from([None, 0, 1]),
)
@settings(max_examples=15, deadline=None)
def test_leave_one_out_scores_are_those_of_fits_without_the_row(shape, seed, order):
    """Columns are fixed, and the ridge problem is solved again without each row."""
    X, Y, _ = drawn(shape, seed)
    clf = MLTSKClassifier(0 if order is None else 2, order=order or 0, ridge=1.0).fit(
        X, Y
    )
    design = clf.fit_record_.training.design
    columns = design.rows(design.scale.apply(X))
    for i in range(len(X)):
        kept = np.arange(len(X)) != i
        C = columns[kept] - columns[kept].mean(axis=0)
        B = np.linalg.solve(
            C.T @ C + np.eye(C.shape[1]) * clf.ridge_,
            C.T @ (Y[kept] - Y[kept].mean(axis=0)),
        )
        expected = Y[kept].mean(axis=0) + (columns[i] - columns[kept].mean(axis=0)) @ B
        assert_allclose(clf.loo_scores_[i], expected, atol=1e-6)


@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax", "unit", None])
@given(
    shapes, seeds, st.sampled_from([1e3, 1e100, 1e200, 1e300]), st.sampled_from([0, 1])
)
@settings(max_examples=10, deadline=None)
def test_answers_are_finite_however_far_away_a_sample_lies(
    scale, shape, seed, far, order
):
    X, Y, rng = drawn(shape, seed)
    clf = MLTSKClassifier(2, order=order, scale=scale).fit(X, Y)
    away = far * rng.choice([-1.0, 0.0, 1.0], size=X.shape)
    assert np.isfinite(clf.decision_function(away)).all()
    assert np.isfinite(clf.predict_proba(away)).all()
    if scale in (
        "quantile",
        "unit",
    ):  # bounded by design: the ends of the training range are as far as it goes
        assert abs(clf.decision_function(away)).max() < 1e3
