"""EpsilonLSSLI: worked numbers of the quadratic criterion and of the heuristic loop, weights, sparse rows, outputs."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mltsk.core.fuzzymap import FuzzyMap
from mltsk.paper.methods.epsilon_insensitive import Design
from mltsk.paper.methods.epsilon_lssli import EpsilonLSSLI, lssli

X12 = np.array(
    [
        [0.1257302211, -0.1321048633],
        [0.6404226504, 0.1049001172],
        [-0.5356693732, 0.3615950549],
        [1.3040000451, 0.9470809631],
        [-0.7037352358, -1.2654214710],
        [-0.6232744625, 0.0413259793],
        [-2.3250307746, -0.2187916639],
        [-1.2459109473, -0.7322673547],
        [-0.5442589829, -0.3163001564],
        [0.4116305364, 1.0425133694],
        [-0.1285346629, 1.3664634705],
        [-0.6651946735, 0.3515100701],
    ]
)
Y12 = np.concatenate(
    [
        [0.8481821025, 1.0449237631, -0.4716143530, 3.7647465444, 1.0159136527, -0.1425809295],
        [-1.7072009291, -0.0345611500, 0.2561186725, -0.0767982746, -0.9735322212, -0.4811674727],
    ]
)
ONE_RULE = FuzzyMap(X12, np.ones((12, 1)))


@pytest.fixture(scope="module")
def curve():
    rng = np.random.default_rng(0)
    X = rng.random((90, 2))
    return X, np.column_stack([np.sin(6 * X[:, 0]), X[:, 1] ** 2]) + 0.02 * rng.normal(size=(90, 2))


@pytest.mark.parametrize(
    ("tau", "epsilon", "p", "value"),
    [
        (1.0, 0.2, (0.889983, 1.390975, -0.672650), 4.522656),
        (0.1, 0.05, (0.922714, 1.495799, -0.891099), 4.640995),
    ],
)
def test_worked_optimum_of_the_quadratic_criterion(tau, epsilon, p, value):
    model = EpsilonLSSLI(1, C=1 / tau, epsilon=epsilon, tol=1e-12).fit(X12, Y12)
    r = np.maximum(np.abs(model.predict(X12) - Y12) - epsilon, 0)
    assert_allclose(model.coef_[0, :, 0], p, atol=6e-7)
    assert np.sum(r**2) + tau / 2 * np.sum(model.coef_[0, 1:, 0] ** 2) == pytest.approx(value, abs=6e-7)


@pytest.mark.parametrize(
    ("tau", "p", "value"),
    [
        (0.1, (0.596127, 1.162571, -0.912674), 2.42623),
        (1.0, (0.538739, 1.113294, -0.838170), 3.36291),
        (4.0, (0.377944, 0.827190, -0.570966), 5.40955),
    ],
)
def test_worked_optimum_of_the_absolute_criterion(tau, p, value):
    options = {"solver": "absolute", "tol": 1e-10, "max_iter": 5000}
    model = EpsilonLSSLI(1, C=1 / tau, epsilon=0.2, **options).fit(X12, Y12)
    r = np.maximum(np.abs(model.predict(X12) - Y12) - 0.2, 0)
    assert_allclose(model.coef_[0, :, 0], p, atol=6e-7)
    assert np.sum(r) + tau / 2 * np.sum(model.coef_[0, 1:, 0] ** 2) == pytest.approx(value, abs=6e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_first_step_of_the_heuristic_is_ridge_whatever_epsilon_is(epsilon):
    p, _, steps = lssli(ONE_RULE, Y12, np.ones(12), 1.0, epsilon, max_iter=1)
    assert_allclose(p, (0.874068, 1.431104, -0.843082), atol=6e-7)
    assert steps == 1


def test_heuristic_stops_early_away_from_the_optimum_of_its_criterion():
    p, _, steps = lssli(ONE_RULE, Y12, np.ones(12), 0.1, 0.2)
    value = np.maximum(np.abs((ONE_RULE @ p[:, None])[:, 0] - Y12) - 0.2, 0).sum() + 0.05 * np.sum(p[1:] ** 2)
    assert steps < 10
    assert value > 1.2 * 2.42623  # the exact minimum of the absolute criterion


def test_heuristic_survives_errors_of_zero():
    y = X12 @ [1.0, -2.0] + 0.5  # fitted exactly: 1/|e| without a floor would be infinite
    model = EpsilonLSSLI(1, C=1e12, epsilon=0.0, solver="lssli").fit(X12, y)
    assert_allclose(model.coef_[0, :, 0], (0.5, 1.0, -2.0), atol=1e-4)


def test_all_outputs_together_equal_one_by_one(curve):
    X, Y = curve
    together = EpsilonLSSLI(4, C=10, tol=1e-9).fit(X, Y)
    for j in range(2):
        assert_allclose(
            EpsilonLSSLI(4, C=10, tol=1e-9).fit(X, Y[:, j]).predict(X), together.predict(X)[:, j], atol=1e-7
        )


def test_gap_is_what_tol_promises(curve):
    model = EpsilonLSSLI(4, C=10, tol=1e-6).fit(*curve)
    assert np.all(model.gap_ < 1e-6 * np.sum(curve[1] ** 2, axis=0))


@pytest.mark.parametrize("solver", ["quadratic", "absolute", "lssli"])
def test_weights_count_as_copies(curve, solver):
    X, y = curve[0], curve[1][:, 0]
    w = np.random.default_rng(1).integers(0, 3, size=len(y))
    weighted = EpsilonLSSLI(3, solver=solver).fit(X, y, sample_weight=w)
    copied = EpsilonLSSLI(3, solver=solver).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(weighted.predict(X), copied.predict(X), atol=1e-7)


def test_rules_bend_what_a_line_cannot(curve):
    X, Y = curve
    assert EpsilonLSSLI(1, C=100).fit(X, Y[:, 0]).score(X, Y[:, 0]) < 0.8
    assert EpsilonLSSLI(6, C=100).fit(X, Y[:, 0]).score(X, Y[:, 0]) > 0.95


@pytest.mark.parametrize("shape", [(80, 6), (25, 40)])
def test_sparse_rows_give_the_same_model(shape):
    rng = np.random.default_rng(2)
    X = rng.random(shape) * (rng.random(shape) < 0.3)
    y = X[:, 0] - X[:, 1]
    thin = EpsilonLSSLI(3).fit(sparse.csr_array(X), y)
    assert_allclose(thin.predict(sparse.csr_array(X)), EpsilonLSSLI(3).fit(X, y).predict(X), atol=1e-7)


def test_many_features_use_the_matrix_of_rows():
    G = FuzzyMap(np.random.default_rng(0).random((10, 30)), np.full((10, 2), 0.5))
    assert Design.of(G, np.ones(10)).gram.shape == (10, 10)


def test_paper_antecedents_collapse_in_high_dimension_and_distinct_ones_do_not():
    X = np.random.default_rng(3).random((80, 100))
    y = X[:, 0]
    assert EpsilonLSSLI(4).fit(X, y).rule_distinctness_ < 0.02
    assert EpsilonLSSLI(4, antecedents="distinct", fuzzifier=1.0).fit(X, y).rule_distinctness_ > 0.1


def test_stopping_early_is_said(curve):
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        EpsilonLSSLI(4, C=1e4, max_iter=1, tol=1e-9).fit(*curve)


def test_clone_and_pickle(curve):
    model = clone(EpsilonLSSLI(3, C=2)).fit(*curve)
    assert_allclose(pickle.loads(pickle.dumps(model)).predict(curve[0]), model.predict(curve[0]), rtol=0)
