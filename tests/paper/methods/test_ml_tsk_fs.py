"""The paper's method in the registry: the preset, and its grid in one pass."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from mltsk.core.clustering import variances
from mltsk.core.membership import authors_widths
from mltsk.core.terms import fit_scaling
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import (
    InputError,
    NoMinimumError,
    NonConvexWarning,
    RuleCollapseWarning,
)
from mltsk.paper import algorithm1, fuzzy_c_means, fuzzy_features
from mltsk.paper.methods.ml_tsk_fs import PaperMLTSK

pytestmark = pytest.mark.filterwarnings(
    "ignore::mltsk.exceptions.RuleCollapseWarning",
    "ignore::mltsk.exceptions.NonConvexWarning",
)


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(n_samples=90, n_features=6, n_labels=4, random_state=3)


def test_it_is_the_chain_of_the_authors_program(data):
    model = PaperMLTSK(n_rules=2, width_scale=10.0, correlation_weight=0.1).fit(
        data.X, data.Y
    )
    Z = fit_scaling(data.X, np.ones(len(data)), "minmax").apply(data.X)
    found = fuzzy_c_means(Z, 2, fuzzifier=2.0)
    widths = authors_widths(
        variances(Z, found.centers, found.memberships, np.ones(len(data))), 10.0
    )
    G = fuzzy_features(Z, found.centers, widths, underflow="authors")
    result = algorithm1(G, data.Y.astype(float), 0.1, 0.1, 1.0)
    assert_allclose(model.coef_.reshape(-1, 4), result.P, atol=1e-10)
    assert (model.n_iter_, model.scale_, model.ridge_) == (result.n_iter, "minmax", 0.0)
    assert np.isnan(model.certificate_)
    assert_allclose(model.coupling_, 1 - np.corrcoef(data.Y.T), atol=1e-12)


def test_it_says_when_its_loss_fell_below_zero():
    rng = np.random.default_rng(0)
    X, Y = rng.random((20, 30)), (rng.random((20, 5)) < 0.5).astype(int)
    with pytest.warns(NonConvexWarning, match="below 0"):
        PaperMLTSK(
            n_rules=2, width_scale=100.0, correlation_weight=100.0, init_ridge=0.01
        ).fit(X, Y)


def test_collapsed_rules_are_reported_with_advice():
    X = np.random.default_rng(0).random((100, 120))
    with pytest.warns(RuleCollapseWarning, match=r"distinctness 0\.0.*MLTSKClassifier"):
        model = PaperMLTSK(width_scale=10.0).fit(X, (X[:, :3] > 0.5).astype(int))
    assert model.rule_distinctness_ < 0.05


def test_the_convex_objective_is_solved_to_its_certificate(data):
    convex = PaperMLTSK(
        2,
        width_scale=10.0,
        objective="convex",
        coupling="laplacian",
        ridge=0.1,
        tol=1e-10,
    )
    models = [
        clone(convex).set_params(init_ridge=g, max_iter=20_000).fit(data.X, data.Y)
        for g in (1e-2, 1e2)
    ]
    assert all(0 <= m.certificate_ <= 1e-10 for m in models)
    assert_allclose(*(m.decision_function(data.X) for m in models), atol=1e-3)
    auto = clone(convex).set_params(
        correlation_weight="auto", l1_weight="auto", ridge="auto", tol=1e-4
    )
    assert auto.fit(data.X, data.Y).ridge_ > 0
    (point,) = auto.grid_path(data.X, data.Y, data.X, {"n_rules": [2]})
    assert_allclose(point.scores, auto.decision_function(data.X) + 0.5, atol=1e-8)


def test_what_does_not_go_together_is_refused_with_reasons(data):
    cannot = {"correlation_weight": 1e3, "ridge": 0.1, "l1_weight": 0.1}
    with pytest.raises(NoMinimumError, match=r"alpha = 1000.*laplacian"):
        PaperMLTSK(objective="convex", **cannot).fit(data.X, data.Y)
    with pytest.raises(InputError, match="knows coupling='paper' or None"):
        PaperMLTSK(coupling="laplacian").fit(data.X, data.Y)
    with pytest.raises(InputError, match="objective='convex'"):
        PaperMLTSK(l1_weight="auto").fit(data.X, data.Y)
    with pytest.raises(ValueError, match="one per label"):
        PaperMLTSK(threshold=[0.5, 0.5]).fit(data.X, data.Y)


def test_rules_name_the_callers_features(data):
    X, Y = data.frames()
    model = PaperMLTSK(n_rules=2, width_scale=10.0, threshold=[0.2, 0.4, 0.6, 0.8]).fit(
        X, Y
    )
    assert X.columns[0] in str(model.rules_)
    assert_allclose(
        model.system_.scores(data.X),
        model.decision_function(X) + model.thresholds_,
        atol=1e-12,
    )


def test_reasons_name_the_callers_labels(data):
    X, Y = data.frames()
    assert Y.columns[0] in str(
        PaperMLTSK(n_rules=2, width_scale=10.0).fit(X, Y).explain(X[:1])
    )


def on_every_path(model, data, grid):
    """Scores by setting, of the authors' path, the one for scaled rows, and the one for rows as they come."""
    train, test = np.arange(40), np.arange(40, 60)
    rows = data.X[train], data.Y[train], data.X[test]
    authors = [
        point
        for point, _ in model.authors_path(
            data.X, data.Y, lambda K, h: (train, test), grid
        )
    ]
    paths = authors, model.scaled_path(*rows, grid), model.grid_path(*rows, grid)
    return [{repr(point.params): point.scores for point in points} for points in paths]


@pytest.mark.parametrize("formulas", ["program", "text"])
@pytest.mark.parametrize(
    ("options", "near"), [({"device": "cpu:0"}, 1e-10), ({"precision": "single"}, 1e-4)]
)
def test_a_batch_of_tensors_and_single_precision_give_the_same_scores(
    formulas, options, near
):
    pytest.importorskip("torch")
    data = make_multilabel_rules(n_samples=60, n_features=4, n_labels=3, random_state=0)
    grid = {"n_rules": [2], "l1_weight": [0.01, 1.0], "init_ridge": [1.0]}
    models = PaperMLTSK(formulas=formulas), PaperMLTSK(formulas=formulas, **options)
    for expected, found in zip(
        *(on_every_path(model, data, grid) for model in models), strict=True
    ):
        assert len(expected) == 2
        assert found.keys() == expected.keys()
        for key in found:
            assert_allclose(found[key], expected[key], atol=near)


def test_single_precision_gives_nearly_the_same_scores(data):
    grid = {
        "n_rules": [1, 3],
        "width_scale": [1.0],
        "l1_weight": [0.1, 1.0],
        "init_ridge": [0.1, 10.0],
    }
    found = [
        [
            point.scores
            for point in PaperMLTSK(precision=p).grid_path(
                data.X[:70], data.Y[:70], data.X[70:], grid
            )
        ]
        for p in ("double", "single")
    ]
    assert_allclose(found[1], found[0], atol=1e-4)
    assert not np.array_equal(found[1], found[0])


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_the_paper_as_printed():
    """(2)-(6), (24), (26), (30)-(36) written down one by one."""
    data = make_multilabel_rules(n_samples=80, n_features=4, n_labels=3, random_state=0)
    h, alpha, beta, gamma = 10.0, 0.1, 0.05, 1.0
    weights = {
        "width_scale": h,
        "correlation_weight": alpha,
        "l1_weight": beta,
        "init_ridge": gamma,
    }
    clf = PaperMLTSK(n_rules=2, formulas="text", **weights).fit(data.X, data.Y)
    Z = (data.X - data.X.min(axis=0)) / np.ptp(data.X, axis=0)
    U, Y = fuzzy_c_means(Z, 2).memberships, data.Y.astype(float)
    C = U.T @ Z / U.sum(axis=0)[:, None]
    delta = h * np.stack(
        [u @ (Z - c) ** 2 / u.sum() for u, c in zip(U.T, C, strict=True)]
    )
    M = np.exp(-((Z[:, None] - C) ** 2 / (2 * delta**2)).sum(axis=2))
    M /= M.sum(axis=1, keepdims=True)
    G = (M[:, :, None] * np.hstack([np.ones((len(Z), 1)), Z])[:, None]).reshape(
        len(Z), -1
    )
    R = 1 - np.corrcoef(Y.T)
    W = W_old = np.linalg.solve(G.T @ G + gamma * np.eye(G.shape[1]), G.T @ Y)
    lip = np.sqrt(
        2 * (np.linalg.norm(G.T @ G, 2) ** 2 + np.linalg.norm(alpha * R, 2) ** 2)
    )
    F, b_old, b = [np.inf], 1.0, 1.0
    while len(F) <= 100 and (len(F) < 2 or abs(F[-1] - F[-2]) > 0.01):
        V = W + (b_old - 1) / b * (W - W_old)
        V = V - (G.T @ (G @ V - Y) + alpha * V @ R) / lip
        W_old, W = W, np.sign(V) * np.maximum(np.abs(V) - beta / lip, 0)
        b_old, b = b, (1 + np.sqrt(4 * b * b + 1)) / 2
        F.append(
            ((G @ W - Y) ** 2).sum() / 2
            + alpha / 2 * np.trace(R @ W.T @ W)
            + beta * np.abs(W).sum()
        )
    assert clf.n_iter_ == len(F) - 1
    assert_allclose(clf.coef_.reshape(W.shape), W, atol=1e-8)
    assert_allclose(clf.decision_function(data.X), G @ W - 0.5, atol=1e-8)
    (point,) = PaperMLTSK(n_rules=2, formulas="text", **weights).grid_path(
        data.X, data.Y, data.X, {"n_rules": [2]}
    )
    assert_allclose(point.scores, G @ W, atol=1e-8)


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_a_score_on_the_threshold_is_given_by_the_program_and_not_by_the_text():
    X, Y = (
        np.array([[0.0], [1.0], [0.0], [1.0]]),
        np.array([[0, 1], [1, 0], [0, 1], [1, 0]]),
    )
    for formulas, given in (("program", 1), ("text", 0)):
        clf = PaperMLTSK(n_rules=1, formulas=formulas, correlation_weight=0.0).fit(X, Y)
        clf.coef_ = np.zeros_like(clf.coef_)
        clf.coef_[0, 0] = 0.5  # every score is the threshold
        assert (clf.predict(X) == given).all()
        assert ((clf.decision_function(X) > 0) == given).all()
