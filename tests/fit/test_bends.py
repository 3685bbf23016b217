"""A feature with a straight line gets ramps where it is wished to bend."""

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


def test_directions_leave_a_line_as_it_is(lines):
    _, clf = lines
    assert len(clf.constrained(monotonic_cst={"x0": 1}).terms_) == len(clf.terms_)
