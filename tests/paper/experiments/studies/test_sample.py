"""What studies share: samples, rules, metrics, plain data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier
from mltsk.datasets import Dataset
from mltsk.metrics import evaluate
from mltsk.paper.experiments.studies.sample import (
    our_metrics,
    paper_rules,
    plain,
    sample_of,
    search,
    summary,
)
from mltsk.paper.methods import PaperMLTSK
from mltsk.paper.solvers.algorithm1 import algorithm1


@pytest.mark.filterwarnings(
    "ignore::mltsk.exceptions.NonConvexWarning",
    "ignore::mltsk.exceptions.RuleCollapseWarning",
)
def test_paper_rules_are_those_of_the_preset(toy):
    Y, T = toy.Y[:60].astype(float), toy.X[60:]
    G, G_test = paper_rules(toy.X[:60], T, 3, 10.0)
    P = algorithm1(G, Y, 1.0, 0.1, 1.0).P
    model = PaperMLTSK(3, width_scale=10.0).fit(toy.X[:60], toy.Y[:60])
    assert_allclose(G_test @ P, model.system_.scores(T), atol=1e-10)


def test_our_metrics_are_those_of_the_classifier(toy):
    sample = sample_of(toy, 0, "fast")
    train, test = sample.folds[0]
    model = MLTSKClassifier(n_rules=4).fit(toy.X[train], toy.Y[train])
    scores = model.decision_function(toy.X[test])
    metrics = evaluate(toy.Y[test], scores, threshold=0, convention="paper")
    expected = [metrics[name] for name in ("AP", "HL", "OE", "RL", "CV")]
    assert_allclose(our_metrics(sample, sample.folds[0], n_rules=4), expected)


def test_sample_of_fast_has_fewer_rows_and_folds_and_says_so():
    data = Dataset(np.arange(240.0).reshape(120, 2), np.tile([[0, 1], [1, 0]], (60, 1)))
    sample = sample_of(data, 0, "fast", fast_rows=50)
    assert sample.X.shape == (50, 2)
    assert len(sample.folds) == 2
    assert sample.note == "50 rows, 2 of 5 folds"


def test_search_scores_every_setting_on_every_fold(toy):
    sample = sample_of(toy, 0, "paper")
    grid = {
        "n_rules": (2,),
        "width_scale": (1.0, 10.0),
        "correlation_weight": (1.0,),
        "l1_weight": (0.1, 100.0),
    }
    best, scores = search(sample, {**grid, "init_ridge": (1.0,)})
    assert {table.shape for table in scores.values()} == {(5, 5)}
    assert len(scores) == 4
    assert dict(best)["l1_weight"] == 0.1  # 100 leaves no coefficient


def test_plain_and_summary_have_none_for_what_json_cannot_hold():
    assert plain(np.array([1.0, np.nan, -np.inf])) == [1.0, None, None]
    assert summary(np.ones((1, 5)))["sd"] == [None] * 5
