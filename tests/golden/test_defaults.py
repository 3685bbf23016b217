"""What the defaults reach, untuned, on the benchmark data: 5-fold average precision in the paper's convention."""

import os

import numpy as np
import pytest

from mltsk import MLTSKClassifier, PaperMLTSK, load_dataset
from mltsk.exceptions import RuleCollapseWarning
from mltsk.metrics import evaluate
from mltsk.paper.antecedents import COLLAPSED
from mltsk.paper.experiments.cross_validation import shuffled_folds

pytestmark = pytest.mark.skipif(
    not os.environ.get("MLTSK_DATA"), reason="MLTSK_DATA names no folder with the benchmark data sets"
)

LEAST_AP = {
    "flags": 0.81,
    "emotions": 0.82,
    "image": 0.805,
    "birds": 0.365,
    "cal500": 0.508,
    "yeast": 0.768,
    "scene": 0.89,
}
LEAST_AP_SPARSE = {"corel16k1": 0.34, "rcv1s1": 0.62, "rcv1s2": 0.64, "bibtex": 0.60}


def cross_validate(name, n_folds=5, **params):
    """Mean AP over folds, smallest distinctness of the rules, largest share of non-zero consequents."""
    data, found = load_dataset(name), []
    for train, test in list(shuffled_folds(len(data.Y), 5, random_state=0))[:n_folds]:
        clf = MLTSKClassifier(**params).fit(data.X[train], data.Y[train])
        scores = clf.decision_function(data.X[test])
        ap = evaluate(data.Y[test], scores, threshold=0.0, convention="paper")["AP"]
        found.append((ap, clf.rule_distinctness_, np.mean(clf.coef_[:, 1:] != 0)))
    ap, distinct, filled = np.array(found).T
    return ap.mean(), distinct.min(), filled.max()


@pytest.mark.parametrize("name", LEAST_AP)
def test_untuned_defaults_on_dense_data(name):
    ap, distinct, filled = cross_validate(name)
    assert ap >= LEAST_AP[name]
    assert distinct > 5 * COLLAPSED
    assert filled < 0.9


@pytest.mark.parametrize("name", LEAST_AP_SPARSE)
def test_untuned_defaults_on_sparse_data(name):
    ap, distinct, filled = cross_validate(name, n_folds=1)  # a fold takes half a minute to two
    assert ap >= LEAST_AP_SPARSE[name]
    assert distinct > 3 * COLLAPSED
    assert filled < 0.5


@pytest.mark.parametrize("name", ["emotions", "cal500", "image"])
def test_the_l1_penalty_costs_at_most_half_a_percent(name):
    with_l1, without = cross_validate(name)[0], cross_validate(name, l1_weight=0.0)[0]
    assert without - with_l1 <= 0.005


@pytest.mark.parametrize("name", ["emotions", "yeast", "image"])
def test_the_papers_rules_collapse_and_the_estimator_says_so(name):
    data = load_dataset(name)
    with pytest.warns(RuleCollapseWarning):
        clf = PaperMLTSK(n_rules=3, width_scale=10.0).fit(data.X, data.Y)
    assert clf.rule_distinctness_ < 0.01
