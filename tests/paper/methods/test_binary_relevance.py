"""BR over ε-insensitive TSK: labels as separate regressions, the grid with shared work, degenerate labels."""

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


def test_each_label_is_a_regression_of_its_own(data):
    options = {"C": 2, "tol": 1e-8, "max_iter": 20000}
    model = BinaryRelevanceTSK(3, **options).fit(data.X, data.Y)
    assert np.all(model.gap_ < 1e-8 * np.sum(data.Y, axis=0))
    for j in range(4):
        own = BinaryRelevanceTSK(3, **options).fit(data.X, data.Y[:, [j, 0]])
        assert_allclose(
            scores(model, data.X)[:, j], scores(own, data.X)[:, 0], atol=1e-7
        )


def test_rules_bend_what_a_line_cannot(data):
    y = (
        np.abs(data.X[:, 0] - np.median(data.X[:, 0])) > 0.25 * np.ptp(data.X[:, 0])
    ).astype(int)
    assert BinaryRelevanceTSK(1, C=100).fit(data.X, y).score(data.X, y) < 0.8
    assert BinaryRelevanceTSK(8, C=100).fit(data.X, y).score(data.X, y) > 0.9


def test_stopping_early_is_said(data):
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        BinaryRelevanceTSK(4, C=1e4, max_iter=1, tol=1e-9).fit(data.X, data.Y)


def test_the_published_loop_starts_at_ridge_counts_weights_as_copies_and_has_no_certificate(
    data,
):
    w = np.arange(len(data.X)) % 3
    one_step = BinaryRelevanceTSK(3, solver="lssli", epsilon=0.0, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 steps: raise"):
        one_step.fit(data.X, data.Y)
    ridge = BinaryRelevanceTSK(3, C=2.0, epsilon=0.0, tol=1e-12).fit(
        data.X, data.Y
    )  # both inequalities: twice C
    assert_allclose(scores(one_step, data.X), scores(ridge, data.X), atol=1e-5)
    for method in (BinaryRelevanceTSK, ClassifierChainTSK):
        loop = method(3, solver="lssli", epsilon=0.2).fit(
            data.X, data.Y, sample_weight=w
        )
        copies = clone(loop).fit(
            np.repeat(data.X, w, axis=0), np.repeat(data.Y, w, axis=0)
        )
        assert np.isnan(loop.gap_).all()
        assert loop.n_iter_ > 1
        assert_allclose(loop.coef_, copies.coef_, atol=1e-6)


@pytest.mark.parametrize("method", [BinaryRelevanceTSK, ClassifierChainTSK])
def test_the_published_loop_takes_sparse_rows_and_the_grid(method, data):
    grid, model = {"C": [0.03125, 32.0], "n_rules": [2, 9]}, method(solver="lssli")
    X = np.where(data.X > 0.3, data.X, 0.0)
    paths = (
        model.grid_path(form(X[:30]), data.Y[:30], form(X[30:]), grid)
        for form in (np.asarray, sparse.csr_array)
    )
    for one, other in zip(*paths, strict=True):
        assert one.params == other.params
        assert_allclose(one.scores, other.scores, atol=1e-4)


def test_fewer_distinct_rows_than_rules_are_said():
    X, Y = np.repeat([[0.0], [1.0]], 5, axis=0), np.repeat([[0, 1], [1, 0]], 5, axis=0)
    with pytest.warns(RuleCollapseWarning, match="n_rules=4 was reduced to 2"):
        BinaryRelevanceTSK(4).fit(X, Y)


def test_principal_axes_are_those_of_scikit_learn_with_weights_as_copies_and_sparse_rows():
    X = np.random.default_rng(0).normal(size=(40, 6)) * np.arange(1, 7) + 3
    mean, axes = principal_axes(X, np.ones(40), 3)
    assert_allclose(
        np.abs((X - mean) @ axes.T), np.abs(PCA(3).fit_transform(X)), atol=1e-9
    )
    w = np.random.default_rng(1).integers(0, 3, size=40)
    copied = principal_axes(np.repeat(X, w, axis=0), np.ones(w.sum()), 2)
    for rows in (X, sparse.csr_array(X)):
        for found, expected in zip(
            principal_axes(rows, w.astype(float), 2), copied, strict=True
        ):
            assert_allclose(found, expected, atol=1e-8)
    assert principal_axes(X, np.ones(40), 50)[1].shape == (6, 6)


def test_learns_and_labels_at_one_half(data):
    model = BinaryRelevanceTSK(6, C=8).fit(data.X, data.Y)
    assert np.mean(model.predict(data.X) == data.Y) > 0.85
    assert_array_equal(model.predict(data.X), scores(model, data.X) >= 0.5)


def test_grid_in_one_pass_counts_weights_as_single_fits_do(data):
    w = np.random.default_rng(0).random(100)
    grid = {"C": [0.1, 1.0], "n_components": [2, None]}
    for point in BinaryRelevanceTSK().grid_path(
        data.X[:100], data.Y[:100], data.X[100:], grid, sample_weight=w
    ):
        model = BinaryRelevanceTSK(**point.params).fit(
            data.X[:100], data.Y[:100], sample_weight=w
        )
        assert_allclose(point.scores, scores(model, data.X[100:]), atol=1e-9)


def test_grid_clusters_once_a_number_of_rules_and_factors_once_a_pair(
    data, monkeypatch
):
    calls = []
    find_rules, factor = binary_relevance.find_rules, binary_relevance.RidgeFactor
    monkeypatch.setattr(
        binary_relevance,
        "find_rules",
        lambda *a: calls.append("rules") or find_rules(*a),
    )
    monkeypatch.setattr(
        binary_relevance, "RidgeFactor", lambda *a: calls.append("factor") or factor(*a)
    )
    points = list(BinaryRelevanceTSK().grid_path(data.X[:60], data.Y[:60], data.X[60:]))
    assert (len(points), calls.count("rules"), calls.count("factor")) == (48, 8, 48)


def test_weights_count_as_copies_with_components_too(data):
    w = np.random.default_rng(2).integers(0, 3, size=140)
    weighted = BinaryRelevanceTSK(3, n_components=2).fit(
        data.X, data.Y, sample_weight=w
    )
    copied = BinaryRelevanceTSK(3, n_components=2).fit(
        np.repeat(data.X, w, axis=0), np.repeat(data.Y, w, axis=0)
    )
    assert weighted.centers_.shape == (3, 2)
    assert_allclose(scores(weighted, data.X), scores(copied, data.X), atol=1e-7)
