"""BR over ε-insensitive TSK: labels as separate regressions, and a grid shares work."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import RuleCollapseWarning
from mltsk.paper.methods import binary_relevance
from mltsk.paper.methods.binary_relevance import BinaryRelevanceTSK, principal_axes
from mltsk.paper.methods.classifier_chain import ClassifierChainTSK


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(
        n_samples=140, n_features=5, n_labels=4, random_state=0
    )


def scores(model, X):
    return model.decision_function(X) + 0.5


def test_fit_makes_each_label_a_regression_of_its_own(data):
    model = BinaryRelevanceTSK(3, C=2, tol=1e-8, max_iter=20000)
    together = clone(model).fit(data.X, data.Y)
    assert np.all(together.gap_ < 1e-8 * np.sum(data.Y, axis=0))
    for j in range(4):
        own = clone(model).fit(data.X, data.Y[:, [j, 0]])
        assert_allclose(
            scores(together, data.X)[:, j], scores(own, data.X)[:, 0], atol=1e-7
        )


def test_fit_with_many_rules_bends_what_a_line_cannot(data):
    x = data.X[:, 0]
    y = (np.abs(x - np.median(x)) > 0.25 * np.ptp(x)).astype(int)
    assert BinaryRelevanceTSK(1, C=100).fit(data.X, y).score(data.X, y) < 0.8
    assert BinaryRelevanceTSK(8, C=100).fit(data.X, y).score(data.X, y) > 0.9


def test_fit_says_that_it_stopped_early(data):
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        BinaryRelevanceTSK(4, C=1e4, max_iter=1, tol=1e-9).fit(data.X, data.Y)


def test_fit_by_lssli_starts_at_ridge(data):
    one_step = BinaryRelevanceTSK(3, solver="lssli", epsilon=0.0, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 steps: raise"):
        one_step.fit(data.X, data.Y)
    # Both inequalities of a target count, which is twice C.
    ridge = BinaryRelevanceTSK(3, C=2.0, epsilon=0.0, tol=1e-12).fit(data.X, data.Y)
    assert_allclose(scores(one_step, data.X), scores(ridge, data.X), atol=1e-5)


@pytest.mark.parametrize("method", [BinaryRelevanceTSK, ClassifierChainTSK])
def test_fit_by_lssli_counts_weights_as_copies_and_has_no_certificate(method, data):
    w = np.arange(len(data.X)) % 3
    loop = method(3, solver="lssli", epsilon=0.2).fit(data.X, data.Y, sample_weight=w)
    X_copies = np.repeat(data.X, w, axis=0)
    Y_copies = np.repeat(data.Y, w, axis=0)
    copies = clone(loop).fit(X_copies, Y_copies)
    assert np.isnan(loop.gap_).all()
    assert loop.n_iter_ > 1
    assert_allclose(loop.coef_, copies.coef_, atol=1e-6)


@pytest.mark.parametrize("method", [BinaryRelevanceTSK, ClassifierChainTSK])
def test_grid_path_by_lssli_takes_sparse_rows(method, data):
    grid = {"C": [0.03125, 32.0], "n_rules": [2, 9]}
    model = method(solver="lssli")
    X = np.where(data.X > 0.3, data.X, 0.0)
    rows = sparse.csr_array(X)
    dense_points = model.grid_path(X[:30], data.Y[:30], X[30:], grid)
    sparse_points = model.grid_path(rows[:30], data.Y[:30], rows[30:], grid)
    for dense_point, sparse_point in zip(dense_points, sparse_points, strict=True):
        assert dense_point.params == sparse_point.params
        assert_allclose(dense_point.scores, sparse_point.scores, atol=1e-4)


def test_fit_says_that_there_are_fewer_distinct_rows_than_rules():
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    Y = np.repeat([[0, 1], [1, 0]], 5, axis=0)
    with pytest.warns(RuleCollapseWarning, match="n_rules=4 was reduced to 2"):
        BinaryRelevanceTSK(4).fit(X, Y)


def test_principal_axes_are_those_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(40, 6)) * np.arange(1, 7) + 3
    mean, axes = principal_axes(X, np.ones(40), 3)
    expected = PCA(3).fit_transform(X)
    assert_allclose(np.abs((X - mean) @ axes.T), np.abs(expected), atol=1e-9)
    assert principal_axes(X, np.ones(40), 50)[1].shape == (6, 6)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_principal_axes_count_weights_as_copies(form):
    X = np.random.default_rng(0).normal(size=(40, 6)) * np.arange(1, 7) + 3
    w = np.random.default_rng(1).integers(0, 3, size=40)
    mean, axes = principal_axes(form(X), w.astype(float), 2)
    copies = np.repeat(X, w, axis=0)
    expected_mean, expected_axes = principal_axes(copies, np.ones(w.sum()), 2)
    assert_allclose(mean, expected_mean, atol=1e-8)
    assert_allclose(axes, expected_axes, atol=1e-8)


def test_predict_learns_and_gives_labels_from_one_half_on(data):
    model = BinaryRelevanceTSK(6, C=8).fit(data.X, data.Y)
    assert np.mean(model.predict(data.X) == data.Y) > 0.85
    assert_array_equal(model.predict(data.X), scores(model, data.X) >= 0.5)


def test_grid_path_counts_weights_as_single_fits_do(data):
    w = np.random.default_rng(0).random(100)
    grid = {"C": [0.1, 1.0], "n_components": [2, None]}
    X = data.X[:100]
    Y = data.Y[:100]
    points = BinaryRelevanceTSK().grid_path(X, Y, data.X[100:], grid, sample_weight=w)
    for point in points:
        model = BinaryRelevanceTSK(**point.params).fit(X, Y, sample_weight=w)
        assert_allclose(point.scores, scores(model, data.X[100:]), atol=1e-9)


def counted(function, calls):
    """The function, which also adds its name to the calls."""

    def call(*args, **kwargs):
        calls.append(function.__name__)
        return function(*args, **kwargs)

    return call


def test_grid_path_clusters_once_per_number_of_rules_and_factors_once_per_pair(
    data, monkeypatch
):
    calls = []
    for name in ("find_rules", "RidgeFactor"):
        function = getattr(binary_relevance, name)
        monkeypatch.setattr(binary_relevance, name, counted(function, calls))
    points = list(BinaryRelevanceTSK().grid_path(data.X[:60], data.Y[:60], data.X[60:]))
    assert len(points) == 48
    assert calls.count("find_rules") == 8
    assert calls.count("RidgeFactor") == 48


def test_fit_counts_weights_as_copies_with_components_too(data):
    w = np.random.default_rng(2).integers(0, 3, size=140)
    model = BinaryRelevanceTSK(3, n_components=2)
    weighted = clone(model).fit(data.X, data.Y, sample_weight=w)
    X_copies = np.repeat(data.X, w, axis=0)
    Y_copies = np.repeat(data.Y, w, axis=0)
    copied = clone(model).fit(X_copies, Y_copies)
    assert weighted.centers_.shape == (3, 2)
    assert_allclose(scores(weighted, data.X), scores(copied, data.X), atol=1e-7)
