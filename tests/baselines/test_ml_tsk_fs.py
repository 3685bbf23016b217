"""The paper's method in the registry: the preset, and its grid in one pass."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from mltsk import MLTSKClassifier
from mltsk.baselines.ml_tsk_fs import PaperMLTSK
from mltsk.datasets import make_multilabel_rules

pytestmark = pytest.mark.filterwarnings(
    "ignore::mltsk.exceptions.RuleCollapseWarning", "ignore::mltsk.exceptions.NonConvexWarning"
)


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(n_samples=90, n_features=6, n_labels=4, random_state=3)


def test_it_is_the_preset(data):
    ours = PaperMLTSK(n_rules=2, width_scale=10.0).fit(data.X, data.Y)
    preset = MLTSKClassifier.paper(n_rules=2, width_scale=10.0).fit(data.X, data.Y)
    assert_allclose(ours.decision_function(data.X), preset.decision_function(data.X))
    assert clone(ours).get_params() == ours.get_params()


def test_the_grid_has_the_papers_4000_settings():
    assert len(ParameterGrid(dict(PaperMLTSK.PAPER_GRID))) == 4000


def test_grid_in_one_pass_equals_single_fits(data):
    grid = {"n_rules": [1, 3], "width_scale": [1.0, 100.0], "l1_weight": [0.1, 1.0], "init_ridge": [0.1, 10.0]}
    points = list(PaperMLTSK().grid_path(data.X[:70], data.Y[:70], data.X[70:], grid))
    assert len(points) == 16
    for point in points:
        alone = PaperMLTSK(**point.params).fit(data.X[:70], data.Y[:70])
        assert_allclose(point.scores, alone.decision_function(data.X[70:]) + 0.5, atol=1e-8)
        assert_array_equal(point.labels, alone.predict(data.X[70:]))


def test_a_batch_of_tensors_gives_the_same_scores():
    pytest.importorskip("torch")
    data = make_multilabel_rules(n_samples=60, n_features=4, n_labels=3, random_state=0)
    train, test = np.arange(40), np.arange(40, 60)
    grid = {"n_rules": [2], "l1_weight": [0.01, 1.0], "init_ridge": [1.0]}
    found = [
        {repr(p.params): p.scores for p, _ in model.authors_path(data.X, data.Y, lambda K, h: (train, test), grid)}
        for model in (PaperMLTSK(), PaperMLTSK(device="cpu:0"))
    ]
    assert found[0].keys() == found[1].keys()
    for key in found[0]:
        assert_allclose(found[0][key], found[1][key], atol=1e-10)


def test_single_precision_gives_nearly_the_same_scores(data):
    grid = {"n_rules": [1, 3], "width_scale": [1.0], "l1_weight": [0.1, 1.0], "init_ridge": [0.1, 10.0]}
    found = [
        [point.scores for point in PaperMLTSK(precision=p).grid_path(data.X[:70], data.Y[:70], data.X[70:], grid)]
        for p in ("double", "single")
    ]
    assert_allclose(found[1], found[0], atol=1e-4)
    assert not np.array_equal(found[1], found[0])
