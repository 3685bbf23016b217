"""A feature whose curve cannot bend gets ramps where it is wished to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, load, save
from mltsk.exceptions import InputError


@pytest.fixture(scope="module")
def lines():
    """A model of straight lines, and its rows."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(250, 3))
    y = X[:, :2].sum(axis=1) + rng.normal(size=250) > 0
    clf = MLTSKClassifier(n_rules=0).fit(X, y)
    assert clf.terms_.straight.all()
    return X, clf


def scores_along(clf, X, values):
    rows = np.repeat(X[:1], len(values), axis=0)
    rows[:, 0] = values
    return clf.decision_function(rows)


def test_a_straight_line_bends_where_it_is_wished_to_be_flat(lines):
    X, clf = lines
    flat = clf.constrained(curves={"x0": {"flat_above": 0.5}})
    scores = scores_along(flat, X, [-1.0, 0.5, 1.0, 2.5])
    assert_allclose(np.diff(scores[1:]), 0.0, atol=1e-9)
    assert scores[1] - scores[0] > 0.3
    assert len(flat.terms_) == len(clf.terms_) + 6


def test_a_straight_line_passes_through_points_that_are_on_none(lines):
    X, clf = lines
    bent = clf.constrained(curves={"x0": [(-1, -1), (0, 0.5), (1, 0.6)]})
    scores = scores_along(bent, X, [-1.0, 0.0, 1.0])
    assert_allclose(np.diff(scores), [1.5, 0.1], atol=1e-9)


def test_a_line_stays_a_line_without_rows_and_says_so(lines, tmp_path):
    _, clf = lines
    loaded = load(save(clf, tmp_path / "model.skops", keep_sums=True))
    with pytest.raises(InputError, match="its curve is a straight line here"):
        loaded.constrained(curves={"x0": [(-1, -1), (0, 0.5), (1, 0.6)]})
    with pytest.raises(InputError, match="would leave it no effect at all"):
        loaded.constrained(curves={"x0": {"flat_above": 0.5}})


def test_directions_leave_a_line_as_it_is(lines):
    _, clf = lines
    assert len(clf.constrained(monotonic_cst={"x0": 1}).terms_) == len(clf.terms_)


@pytest.fixture(scope="module")
def stages():
    """A model in which a feature of four values has no place to bend, and its rows."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(1, 5, 600), rng.normal(size=(600, 2))])
    y = X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=600) > 2.5
    clf = MLTSKClassifier(n_rules=0).fit(X.astype(float), y)
    assert (clf.terms_.feature == 0).sum() <= 2
    return X, clf


def test_a_feature_of_few_values_bends_from_each_value_to_the_next(stages):
    X, clf = stages
    points = [(1, -1.0), (2, -0.9), (3, 0.2)]
    scores = scores_along(clf.constrained(curves={"x0": points}), X, [1, 2, 3])
    assert_allclose(np.diff(scores), [0.1, 1.1], atol=1e-9)
    flat = clf.constrained(curves={"x0": {"flat_above": 3}})
    scores = scores_along(flat, X, [1, 2, 3, 4])
    assert abs(scores[3] - scores[2]) < 1e-9
    assert (np.diff(scores[:3]) > 0.3).all()


def test_points_at_all_values_are_refused_with_the_reason(stages):
    _, clf = stages
    points = [(1, -1.0), (2, -0.9), (3, 0.2), (4, 0.1)]
    with pytest.raises(InputError, match="average 0 over the rows, so that of its"):
        clf.constrained(curves={"x0": points})
