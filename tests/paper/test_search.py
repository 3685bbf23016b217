"""The search of Table II: the best of a grid, and scores that it did not see."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics import average_precision_score as of_sklearn

from mltsk import PaperMLTSK
from mltsk.datasets import make_multilabel_rules
from mltsk.metrics import average_precision_score
from mltsk.model_selection import IterativeStratification
from mltsk.paper.search import best_setting, honest_scores

pytestmark = pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
DATA = make_multilabel_rules(n_samples=60, n_features=4, n_labels=3, random_state=0)
MODEL = PaperMLTSK(correlation_weight=0.01)
GRID = {"n_rules": [1, 2], "l1_weight": [0.1, 100.0]}


def test_best_setting_has_the_best_mean_precision_of_single_fits():
    means = {}
    for n_rules in GRID["n_rules"]:
        for weight in GRID["l1_weight"]:
            scores = []
            for train, test in IterativeStratification(5).split(DATA.Y, DATA.Y):
                model = clone(MODEL).set_params(n_rules=n_rules, l1_weight=weight)
                model.fit(DATA.X[train], DATA.Y[train])
                found = model.decision_function(DATA.X[test])
                truth = DATA.Y[test]
                scores.append(average_precision_score(truth, found, convention="paper"))
            means[n_rules, weight] = np.mean(scores)
    best = best_setting(MODEL, DATA.X, DATA.Y, GRID)
    assert best.n_settings == 4
    assert (best.params["n_rules"], best.params["l1_weight"]) == max(
        means, key=means.__getitem__
    )
    assert best.score == pytest.approx(max(means.values()))


def test_honest_scores_are_of_models_chosen_within_training_folds():
    X, Y = DATA.X, DATA.Y
    groups = np.arange(60) // 2
    scores = honest_scores(MODEL, X, Y, GRID, groups=groups)
    train, test = next(IterativeStratification(5).split(Y, Y, groups))
    assert not np.isin(groups[test], groups[train]).any()
    best = best_setting(
        MODEL, X[train], Y[train], GRID, groups=groups[train], n_folds=3
    )
    model = clone(MODEL).set_params(**best.params).fit(X[train], Y[train])
    assert_allclose(scores[test], model.system_.scores(X[test]), atol=1e-8)


def test_best_setting_of_one_label_is_by_its_precision_over_rows():
    y = DATA.Y[:, :1]
    means = {}
    for n_rules in GRID["n_rules"]:
        for weight in GRID["l1_weight"]:
            scores = []
            for train, test in IterativeStratification(5).split(y, y):
                model = clone(MODEL).set_params(n_rules=n_rules, l1_weight=weight)
                model.fit(DATA.X[train], y[train, 0])
                found = model.decision_function(DATA.X[test])
                scores.append(of_sklearn(y[test, 0], found))
            means[n_rules, weight] = np.mean(scores)
    best = best_setting(MODEL, DATA.X, y, GRID)
    assert (best.params["n_rules"], best.params["l1_weight"]) == max(
        means, key=means.__getitem__
    )
    assert best.score == pytest.approx(max(means.values()))


def test_best_setting_leaves_out_folds_in_which_nobody_has_the_label():
    y = np.zeros((60, 1))
    y[:3] = 1
    best = best_setting(MODEL, DATA.X, y, GRID)
    assert 0 < best.score <= 1
