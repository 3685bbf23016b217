"""BR over ε-insensitive TSK: labels as separate regressions, the grid with shared work, degenerate labels."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from mltsk.datasets import make_multilabel_rules
from mltsk.paper.methods import binary_relevance
from mltsk.paper.methods.binary_relevance import BinaryRelevanceTSK
from mltsk.paper.methods.epsilon_lssli import EpsilonLSSLI


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(n_samples=140, n_features=5, n_labels=4, random_state=0)


def scores(model, X):
    return model.decision_function(X) + 0.5


@pytest.mark.parametrize("solver", ["quadratic", "absolute", "lssli"])
def test_each_label_is_a_regression_of_its_own(data, solver):
    options = {"C": 2, "solver": solver, "tol": 1e-8, "max_iter": 20000}
    model = BinaryRelevanceTSK(3, **options).fit(data.X, data.Y)
    for j in range(4):
        own = EpsilonLSSLI(3, **options).fit(data.X, data.Y[:, j].astype(float))
        assert_allclose(scores(model, data.X)[:, j], own.predict(data.X), atol=1e-7)


def test_learns_and_labels_at_one_half(data):
    model = BinaryRelevanceTSK(6, C=8).fit(data.X, data.Y)
    assert np.mean(model.predict(data.X) == data.Y) > 0.85
    assert_array_equal(model.predict(data.X), scores(model, data.X) >= 0.5)


@pytest.mark.parametrize(
    "grid",
    [
        {"C": [0.1, 8.0], "n_rules": [2, 3], "epsilon": [0.0, 0.1]},
        {"C": [0.1, 1.0], "n_components": [2, None], "fuzzifier": [1.0, 2.0]},
        {"C": [1.0], "solver": ["quadratic", "absolute", "lssli"]},
    ],
)
def test_grid_in_one_pass_equals_one_by_one(data, grid):
    w = np.random.default_rng(0).random(100)
    points = list(BinaryRelevanceTSK().grid_path(data.X[:100], data.Y[:100], data.X[100:], grid, sample_weight=w))
    assert sorted(map(str, (p.params for p in points))) == sorted(map(str, ParameterGrid(grid)))
    for point in points:
        model = BinaryRelevanceTSK(**point.params).fit(data.X[:100], data.Y[:100], sample_weight=w)
        assert_allclose(point.scores, scores(model, data.X[100:]), atol=1e-9)
        assert_array_equal(point.labels, model.predict(data.X[100:]))


def test_grid_clusters_once_a_number_of_rules_and_factors_once_a_pair(data, monkeypatch):
    calls = []
    fit_rules, factor_of = binary_relevance.fit_rules, binary_relevance.Factor.of
    monkeypatch.setattr(binary_relevance, "fit_rules", lambda *a: calls.append("rules") or fit_rules(*a))
    monkeypatch.setattr(binary_relevance.Factor, "of", lambda *a: calls.append("factor") or factor_of(*a))
    points = list(BinaryRelevanceTSK().grid_path(data.X[:60], data.Y[:60], data.X[60:]))
    assert (len(points), calls.count("rules"), calls.count("factor")) == (48, 8, 48)


@pytest.mark.parametrize("shape", [(90, 6), (30, 40)])
def test_sparse_rows_give_the_same_model(shape):
    rng = np.random.default_rng(1)
    X = rng.random(shape) * (rng.random(shape) < 0.4)
    Y = (X[:, :3] > 0.2).astype(int)
    thin, dense = BinaryRelevanceTSK(3).fit(sparse.csr_array(X), Y), BinaryRelevanceTSK(3).fit(X, Y)
    assert_allclose(scores(thin, sparse.csr_array(X)), scores(dense, X), atol=1e-7)


def test_constant_labels_and_rows_with_no_or_all_labels(data):
    Y = np.column_stack([data.Y, np.ones(140), np.zeros(140)])
    Y[0, :4], Y[1, :4] = 0, 1
    found = BinaryRelevanceTSK(3).fit(data.X, Y).predict(data.X)
    assert found[:, 4].all()
    assert not found[:, 5].any()


def test_weights_count_as_copies_with_components_too(data):
    w = np.random.default_rng(2).integers(0, 3, size=140)
    weighted = BinaryRelevanceTSK(3, n_components=2).fit(data.X, data.Y, sample_weight=w)
    copied = BinaryRelevanceTSK(3, n_components=2).fit(np.repeat(data.X, w, axis=0), np.repeat(data.Y, w, axis=0))
    assert weighted.centers_.shape == (3, 2)
    assert_allclose(scores(weighted, data.X), scores(copied, data.X), atol=1e-7)


def test_one_label_and_many_classes(data):
    binary = BinaryRelevanceTSK(3, C=8).fit(data.X, np.where(data.Y[:, 0] > 0, "yes", "no"))
    assert binary.decision_function(data.X).shape == (140,)
    kinds = np.digitize(data.X[:, 0], np.quantile(data.X[:, 0], [0.3, 0.6]))
    assert np.mean(BinaryRelevanceTSK(6, C=8).fit(data.X, kinds).predict(data.X) == kinds) > 0.7


def test_clone_and_pickle(data):
    model = clone(BinaryRelevanceTSK(3, n_components=3)).fit(data.X, data.Y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(data.X), model.predict(data.X))
