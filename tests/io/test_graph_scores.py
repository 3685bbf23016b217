"""Graphs give the scores that Python gives, on every scale."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, PaperMLTSK, to_onnx

from . import lines
from .graphs import DATA, TIED, agrees, run


@pytest.mark.parametrize(("n_rules", "order"), [(0, 0), (3, 0), (3, 1)])
@pytest.mark.parametrize("X", [DATA.X, TIED], ids=["continuous", "tied and constant"])
@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax", "unit", None])
def test_to_onnx_agrees_on_every_scale_and_order_beyond_the_training_range(
    scale, X, n_rules, order
):
    model = MLTSKClassifier(n_rules, order=order, scale=scale).fit(X[:60], DATA.Y[:60])
    agrees(model, np.vstack([X, 3 * X, np.zeros((1, 10))]))


@pytest.mark.parametrize("is_gappy", [False, True], ids=["complete", "with gaps"])
@pytest.mark.parametrize(("n_rules", "order"), [(0, 0), (3, 0), (3, 1)])
@pytest.mark.parametrize("scale", ["quantile", "triangles", "standard", "minmax", None])
def test_to_onnx_counts_missing_numbers_as_nothing(scale, n_rules, order, is_gappy):
    gaps = np.random.default_rng(0).random(DATA.X.shape) < 0.2
    gaps[0] = True
    gappy = np.where(gaps, np.nan, DATA.X)
    model = MLTSKClassifier(n_rules, order=order, scale=scale).fit(
        gappy if is_gappy else DATA.X, DATA.Y
    )
    assert (model.columns_ is not None) == is_gappy
    agrees(model, np.vstack([gappy, DATA.X]))


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.NonConvexWarning")
def test_to_onnx_agrees_on_the_papers_system_where_no_rule_fires():
    model = PaperMLTSK(n_rules=3).fit(TIED[:60], DATA.Y[:60])
    far = np.vstack([TIED, 1e3 * TIED, TIED + 0.25])
    assert (model.system_.firing_strengths(far).sum(axis=1) == 0).any()
    agrees(model, far)


def test_to_onnx_knows_absent_conditions_and_thresholds_of_each_label():
    model = MLTSKClassifier(n_rules=3, threshold=np.linspace(0.1, 0.9, 5)).fit(
        DATA.X, DATA.Y
    )
    model.widths_[0, 2:] = np.inf
    agrees(model, DATA.X)
    agrees(model.shorten(max_statements=3, max_conditions=2), DATA.X)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax", "unit", None])
@pytest.mark.parametrize("size", [1e-310, 1e-30, 1.0, 1e30, 1e300])
def test_to_onnx_answers_as_python_does_far_from_the_data_and_in_any_unit(
    size, scale, order
):
    if scale is None and not 1e-40 < size < 1e40:
        return  # such numbers are refused
    X = DATA.X * size
    model = MLTSKClassifier(n_rules=3, scale=scale, order=order).fit(X, DATA.Y)
    far = np.zeros((4, X.shape[1]))
    far[1:] = [[1e308], [-1e308], [5e-324]]
    scores, _ = run(model, np.vstack([X, far]))
    rows = np.vstack([X, far])
    expected = model.decision_function(rows) + model.system_.thresholds
    assert np.isfinite(scores).all()
    assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_rules", [0, 3])
@pytest.mark.parametrize("X", [DATA.X, TIED], ids=["continuous", "tied and constant"])
def test_to_onnx_agrees_on_pairs_of_features(X, n_rules):
    model = MLTSKClassifier(n_rules, n_pairs=4).fit(X, DATA.Y)
    assert len(model.system_.pairs)
    gaps = np.random.default_rng(0).random(X.shape) < 0.2
    agrees(model, np.vstack([X, 3 * X, np.where(gaps, np.nan, X)]))


@pytest.mark.parametrize("size", [1e-310, 1e-30, 1.0, 1e30, 1e300, 1e306])
def test_to_onnx_agrees_on_lines_and_pairs_in_any_unit(size):
    X = lines.X * size
    model = lines.fitted(X)
    steps = np.linspace(X.min(axis=0), X.max(axis=0), 500)
    far = np.zeros((4, X.shape[1]))
    far[1:] = [[1e308], [-1e308], [5e-324]]
    gaps = np.random.default_rng(0).random(X.shape) < 0.3
    agrees(model, np.vstack([X, steps, far, np.where(gaps, np.nan, X)]))


def test_to_onnx_agrees_on_lines_through_the_whole_range_of_numbers():
    X = np.clip(lines.X, -1, 1) * 1.7e308
    model = lines.fitted(X)
    agrees(model, np.vstack([X, X / 3, 0 * X]))


def test_to_onnx_agrees_on_lines_alone():
    model = lines.fitted()
    system = model.system_
    is_line = system.terms.straight
    model.system_ = replace(
        system,
        terms=system.terms.take(is_line),
        term_coef=system.term_coef[is_line],
    )
    agrees(model, lines.X)


@pytest.mark.parametrize("tnorm", ["product", "minimum"])
def test_to_onnx_takes_few_nodes_for_hundreds_of_exceptions(tnorm):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    Y = np.stack([X[:, 0] * X[:, 1] > 0, X[:, 2] > 0], axis=1)
    model = MLTSKClassifier(200, order=0, tnorm=tnorm).fit(X, Y)
    assert model.n_rules_ > 100
    assert len(to_onnx(model).graph.node) < 900
    gaps = rng.random(X.shape) < 0.2
    agrees(model, np.vstack([X, 1e3 * X, np.where(gaps, np.nan, X)]))


def test_to_onnx_agrees_on_widths_so_narrow_that_squares_cancel():
    model = MLTSKClassifier(100, order=0).fit(DATA.X, DATA.Y)
    model.widths_[:] = 1e-6
    # log-odds are about ten times as large as the scores that they come from
    agrees(model, np.vstack([DATA.X, DATA.X + 1e-4]), atol=1e-8)
