"""The paper's method: the authors' program step by step, its text, its grid."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from mltsk.core.clustering import variances
from mltsk.core.membership import authors_widths
from mltsk.core.scales import fit_scaling
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import (
    InputError,
    NoMinimumError,
    NonConvexWarning,
    RuleCollapseWarning,
    UnfiredRowsWarning,
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


def test_fit_is_the_chain_of_the_authors_program(data):
    model = PaperMLTSK(n_rules=2, width_scale=10.0, correlation_weight=0.1)
    model.fit(data.X, data.Y)
    w = np.ones(len(data))
    Z = fit_scaling(data.X, w, "minmax").apply(data.X)
    clusters = fuzzy_c_means(Z, 2, fuzzifier=2.0)
    spread = variances(Z, clusters.centers, clusters.memberships, w)
    widths = authors_widths(spread, 10.0)
    G = fuzzy_features(Z, clusters.centers, widths, underflow="authors")
    result = algorithm1(G, data.Y.astype(float), 0.1, 0.1, 1.0)
    assert_allclose(model.coef_.reshape(-1, 4), result.P, atol=1e-10)
    assert model.n_iter_ == result.n_iter
    assert model.scale_ == "minmax"
    assert model.ridge_ == 0.0
    assert np.isnan(model.certificate_)
    assert_allclose(model.coupling_, 1 - np.corrcoef(data.Y.T), atol=1e-12)


def test_fit_says_when_its_loss_fell_below_zero():
    rng = np.random.default_rng(0)
    X = rng.random((20, 30))
    Y = (rng.random((20, 5)) < 0.5).astype(int)
    model = PaperMLTSK(
        n_rules=2, width_scale=100.0, correlation_weight=100.0, init_ridge=0.01
    )
    with pytest.warns(NonConvexWarning, match="below 0"):
        model.fit(X, Y)


def test_fit_reports_collapsed_rules_with_advice():
    X = np.random.default_rng(0).random((100, 120))
    with pytest.warns(RuleCollapseWarning, match=r"distinctness 0\.0.*MLTSKClassifier"):
        model = PaperMLTSK(width_scale=10.0).fit(X, (X[:, :3] > 0.5).astype(int))
    assert model.rule_distinctness_ < 0.05


CONVEX = PaperMLTSK(
    2,
    width_scale=10.0,
    objective="convex",
    coupling="laplacian",
    ridge=0.1,
    tol=1e-10,
    max_iter=20_000,
)


def test_fit_solves_the_convex_objective_to_its_certificate(data):
    low = clone(CONVEX).set_params(init_ridge=1e-2).fit(data.X, data.Y)
    high = clone(CONVEX).set_params(init_ridge=1e2).fit(data.X, data.Y)
    assert 0 <= low.certificate_ <= 1e-10
    assert 0 <= high.certificate_ <= 1e-10
    assert_allclose(
        low.decision_function(data.X), high.decision_function(data.X), atol=1e-3
    )


def test_grid_path_of_the_convex_objective_takes_weights_that_are_auto(data):
    auto = clone(CONVEX).set_params(
        correlation_weight="auto",
        l1_weight="auto",
        ridge="auto",
        tol=1e-4,
        max_iter=None,
    )
    assert auto.fit(data.X, data.Y).ridge_ > 0
    (point,) = auto.grid_path(data.X, data.Y, data.X, {"n_rules": [2]})
    assert_allclose(point.scores, auto.decision_function(data.X) + 0.5, atol=1e-8)


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        (
            {
                "objective": "convex",
                "correlation_weight": 1e3,
                "ridge": 0.1,
                "l1_weight": 0.1,
            },
            NoMinimumError,
            r"alpha = 1000.*laplacian",
        ),
        ({"coupling": "laplacian"}, InputError, "knows coupling='paper' or None"),
        ({"l1_weight": "auto"}, InputError, "objective='convex'"),
        ({"threshold": 1e200}, InputError, "is out of reach of all scores"),
        ({"threshold": [0.5, 0.5]}, ValueError, "one per label"),
    ],
)
def test_fit_refuses_what_does_not_go_together(data, options, error, sentence):
    with pytest.raises(error, match=sentence):
        PaperMLTSK(**options).fit(data.X, data.Y)


def test_rules_name_the_callers_features(data):
    X, Y = data.frames()
    model = PaperMLTSK(n_rules=2, width_scale=10.0).fit(X, Y)
    assert X.columns[0] in str(model.rules_)


def test_system_has_the_scores_of_the_decision_function(data):
    X, Y = data.frames()
    thresholds = [0.2, 0.4, 0.6, 0.8]
    model = PaperMLTSK(n_rules=2, width_scale=10.0, threshold=thresholds).fit(X, Y)
    scores = model.decision_function(X) + thresholds
    assert_allclose(model.system_.scores(data.X), scores, atol=1e-12)


def test_explain_names_the_callers_labels(data):
    X, Y = data.frames()
    model = PaperMLTSK(n_rules=2, width_scale=10.0).fit(X, Y)
    assert Y.columns[0] in str(model.explain(X[:1]))


def test_reasons_are_what_features_do_within_rules(data):
    X, Y = data.frames()
    model = PaperMLTSK(n_rules=2, width_scale=10.0, correlation_weight=0.01).fit(X, Y)
    reasons = next(model.explain(X[:1]).reasons(top=2))
    slopes = model.explain(X[:1]).slope_effects()[0]
    strongest = X.columns[np.abs(slopes[:, 0]).argmax()]
    assert reasons[Y.columns[0]].startswith(f"{strongest} is ")
    assert f"{slopes[np.abs(slopes[:, 0]).argmax(), 0]:+.2f}" in reasons[Y.columns[0]]
    assert "exceptions" not in str(reasons)


def on_every_path(model, data, grid):
    """Scores by setting, of three paths.

    They are the authors' path, the one for scaled rows, and the one for rows as they
    are.
    """
    train = np.arange(40)
    test = np.arange(40, 60)
    rows = (data.X[train], data.Y[train], data.X[test])

    def split(n_rules, width_scale):
        return train, test

    authors = model.authors_path(data.X, data.Y, split, grid)
    paths = (
        (point for point, _ in authors),
        model.scaled_path(*rows, grid),
        model.grid_path(*rows, grid),
    )
    return [{repr(point.params): point.scores for point in points} for points in paths]


@pytest.mark.parametrize("formulas", ["program", "text"])
@pytest.mark.parametrize(
    ("options", "near"), [({"device": "cpu:0"}, 1e-10), ({"precision": "single"}, 1e-4)]
)
def test_grid_path_gives_the_same_scores_by_tensors_and_in_single_precision(
    formulas, options, near
):
    pytest.importorskip("torch")
    data = make_multilabel_rules(n_samples=60, n_features=4, n_labels=3, random_state=0)
    grid = {"n_rules": [2], "l1_weight": [0.01, 1.0], "init_ridge": [1.0]}
    plain = on_every_path(PaperMLTSK(formulas=formulas), data, grid)
    other = on_every_path(PaperMLTSK(formulas=formulas, **options), data, grid)
    for expected, found in zip(plain, other, strict=True):
        assert len(expected) == 2
        assert found.keys() == expected.keys()
        for setting, scores in found.items():
            assert_allclose(scores, expected[setting], atol=near)


def test_grid_path_in_single_precision_gives_nearly_the_same_scores(data):
    grid = {
        "n_rules": [1, 3],
        "width_scale": [1.0],
        "l1_weight": [0.1, 1.0],
        "init_ridge": [0.1, 10.0],
    }

    def scores(precision):
        points = PaperMLTSK(precision=precision).grid_path(
            data.X[:70], data.Y[:70], data.X[70:], grid
        )
        return [point.scores for point in points]

    assert_allclose(scores("single"), scores("double"), atol=1e-4)
    assert not np.array_equal(scores("single"), scores("double"))


def rule_map_of_the_text(Z, n_rules, h):
    """G by (2)-(6) and (9)-(11), written down one by one."""
    U = fuzzy_c_means(Z, n_rules).memberships
    C = U.T @ Z / U.sum(axis=0)[:, None]
    rules = zip(U.T, C, strict=True)
    delta = h * np.stack([u @ (Z - c) ** 2 / u.sum() for u, c in rules])
    M = np.exp(-((Z[:, None] - C) ** 2 / (2 * delta**2)).sum(axis=2))
    M /= M.sum(axis=1, keepdims=True)
    Ze = np.hstack([np.ones((len(Z), 1)), Z])
    return (M[:, :, None] * Ze[:, None]).reshape(len(Z), -1)


def algorithm1_of_the_text(G, Y, alpha, beta, gamma):
    """W and the number of steps by (24) and (30)-(36), written down one by one."""
    R = 1 - np.corrcoef(Y.T)
    A = G.T @ G
    W = np.linalg.solve(A + gamma * np.eye(len(A)), G.T @ Y)
    W_old = W
    squares = np.linalg.norm(A, 2) ** 2 + np.linalg.norm(alpha * R, 2) ** 2
    lip = np.sqrt(2 * squares)

    def objective(W):
        misfit = ((G @ W - Y) ** 2).sum() / 2
        coupled = alpha / 2 * np.trace(R @ W.T @ W)
        return misfit + coupled + beta * np.abs(W).sum()

    F = [objective(W)]
    b_old = 1.0
    b = 1.0
    while len(F) <= 100 and (len(F) < 2 or abs(F[-1] - F[-2]) > 0.01):
        V = W + (b_old - 1) / b * (W - W_old)
        V = V - (G.T @ (G @ V - Y) + alpha * V @ R) / lip
        W_old = W
        W = np.sign(V) * np.maximum(np.abs(V) - beta / lip, 0)
        b_old = b
        b = (1 + np.sqrt(4 * b * b + 1)) / 2
        F.append(objective(W))
    return W, len(F) - 1


def test_fit_and_grid_path_of_the_text_are_the_paper_as_printed():
    data = make_multilabel_rules(n_samples=80, n_features=4, n_labels=3, random_state=0)
    model = PaperMLTSK(
        n_rules=2,
        formulas="text",
        width_scale=10.0,
        correlation_weight=0.1,
        l1_weight=0.05,
        init_ridge=1.0,
    )
    model.fit(data.X, data.Y)
    Z = (data.X - data.X.min(axis=0)) / np.ptp(data.X, axis=0)
    G = rule_map_of_the_text(Z, 2, h=10.0)
    W, n_steps = algorithm1_of_the_text(
        G, data.Y.astype(float), alpha=0.1, beta=0.05, gamma=1.0
    )
    assert model.n_iter_ == n_steps
    assert_allclose(model.coef_.reshape(W.shape), W, atol=1e-8)
    assert_allclose(model.decision_function(data.X), G @ W - 0.5, atol=1e-8)
    (point,) = clone(model).grid_path(data.X, data.Y, data.X, {"n_rules": [2]})
    assert_allclose(point.scores, G @ W, atol=1e-8)


@pytest.mark.parametrize(("formulas", "label"), [("program", 1), ("text", 0)])
def test_predict_gives_a_score_on_the_threshold_by_the_program_alone(formulas, label):
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    Y = np.array([[0, 1], [1, 0], [0, 1], [1, 0]])
    model = PaperMLTSK(n_rules=1, formulas=formulas, correlation_weight=0.0).fit(X, Y)
    coef = np.zeros_like(model.coef_)
    coef[0, 0] = 0.5  # every score is the threshold
    model.system_ = replace(model.system_, coef=coef)
    assert (model.predict(X) == label).all()
    assert ((model.decision_function(X) > 0) == label).all()


def narrow_rows():
    """60 rows of 40 features: the widths of the text underflow for all of them."""
    X = np.random.default_rng(0).random((60, 40))
    return X, (X[:, :3] > 0.5).astype(int)


def test_text_computes_firing_in_logarithms_where_the_program_fires_nothing():
    X, Y = narrow_rows()
    text = PaperMLTSK(2, width_scale=0.1, formulas="text", correlation_weight=0.01).fit(
        X, Y
    )
    assert text.unfired_share_ == 0
    assert_allclose(text.system_.firing_strengths(X).sum(axis=1), 1.0)
    with pytest.warns(UnfiredRowsWarning, match="no rule fires on 100% of the rows"):
        zeroed = clone(text).set_params(underflow="authors").fit(X, Y)
    assert zeroed.unfired_share_ == 1.0
    (point,) = clone(text).grid_path(X, Y, X, {"n_rules": [2]})
    assert_allclose(point.scores, text.system_.scores(X), atol=1e-8)


@pytest.mark.parametrize("formulas", ["program", "text"])
@pytest.mark.parametrize("width_scale", [0.001, 1e-30])
def test_advice_about_rows_on_which_nothing_fires_helps(formulas, width_scale):
    X, Y = narrow_rows()
    model = PaperMLTSK(
        2,
        width_scale=width_scale,
        formulas=formulas,
        underflow="authors",
        correlation_weight=0.01,
    )
    with pytest.warns(UnfiredRowsWarning) as told:
        model.fit(X, Y)
    (message,) = [str(w.message) for w in told if w.category is UnfiredRowsWarning]
    wider = float(message.partition("helps (")[2].partition(" instead")[0])
    assert model.set_params(width_scale=wider).fit(X, Y).unfired_share_ <= 0.01
    model.set_params(width_scale=0.001, underflow="softmax").fit(X, Y)
    assert model.unfired_share_ == 0
    assert model.rule_distinctness_ > 0.05


def test_advice_about_rules_that_hardly_differ_helps():
    X, Y = narrow_rows()
    model = PaperMLTSK(2, width_scale=10.0).fit(X, Y)
    assert model.rule_distinctness_ < 0.05
    model.set_params(width_scale=0.001, underflow="softmax").fit(X, Y)
    assert model.rule_distinctness_ > 0.05


def test_thresholds_of_the_text_are_the_next_number_so_that_files_keep_them(data):
    text = PaperMLTSK(2, formulas="text").fit(data.X, data.Y)
    assert (text.thresholds_ > 0.5).all()
    assert (text.thresholds_ == np.nextafter(0.5, 1)).all()
