"""Heights and slopes of a curve are those of the model that it is in."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.fit.curve_shape import CurveShape

DATA = make_multilabel_rules(n_samples=300, random_state=0)


@pytest.fixture(scope="module", params=["quantile", "triangles", "standard"])
def model(request):
    X = DATA.X.copy()
    X[:, 1] = np.exp(3 * X[:, 1])  # far from even
    X[:, 2] = np.round(X[:, 2])
    return X, MLTSKClassifier(n_rules=0, scale=request.param).fit(X, DATA.Y)


def test_heights_are_what_a_column_adds_to_log_odds(model):
    X, clf = model
    for column in range(3):
        shape = CurveShape.of(clf.system_.terms, clf.system_.scaling, column)
        rows = np.repeat(X[:1], 30, axis=0)
        rows[:, column] = np.linspace(X[:, column].min(), X[:, column].max(), 30)
        heights = shape.heights(rows[:, column])
        effect = heights @ clf.system_.term_coef[shape.positions]
        added = clf.system_.scores(rows)
        assert_allclose(np.diff(effect, axis=0), np.diff(added, axis=0), atol=1e-9)


def test_a_curve_rises_everywhere_where_its_slopes_do(model):
    X, clf = model
    rng = np.random.default_rng(0)
    n_rising = 0
    for column in range(3):
        shape = CurveShape.of(clf.system_.terms, clf.system_.scaling, column)
        fine = np.linspace(X[:, column].min(), X[:, column].max(), 4000)
        heights = shape.heights(fine)
        slopes = shape.slopes()
        for _ in range(200):
            numbers = rng.normal(0.4, 0.5, len(shape.positions))
            least = (slopes @ numbers).min()
            steps = np.diff(heights @ numbers)
            assert (steps.min() >= -1e-12) == (least >= -1e-9)
            n_rising += least >= 0
    assert 0 < n_rising < 600
