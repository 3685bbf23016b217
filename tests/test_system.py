"""A fitted system: scores are the sum of what it says."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.core.arrays import asnumpy
from mltsk.datasets import make_multilabel_rules
from mltsk.explain import rule_base

from .conftest import effects_of_exceptions, effects_of_features

OPTIONS = [
    {"n_rules": 0},
    {"n_rules": 5, "order": 0},
    {"n_rules": 5, "order": 1},
    {"n_rules": 4, "scale": "standard"},
    {"n_rules": 4, "scale": "unit", "order": 1},
    {"n_rules": 4, "scale": None, "order": 0},
]


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(
        n_samples=150, n_features=6, n_labels=4, random_state=0
    )


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_scores_are_the_sum_of_the_intercept_effects_and_shifts(data, options):
    X = data.X
    if options.get("scale") == "unit":
        X = sparse.csr_array(np.maximum(data.X - 0.4, 0))
    clf = MLTSKClassifier(**options).fit(X, data.Y)
    system = clf.system_
    for label in range(4):
        effects = effects_of_features(system, X, label)
        shifts = effects_of_exceptions(system, X, label)
        assert effects.shape == (150, 6)
        assert shifts.shape == (150, options["n_rules"])
        total = system.intercept[label] + effects.sum(axis=1) + shifts.sum(axis=1)
        assert_allclose(total, system.scores(X)[:, label])
    assert_allclose(system.scores(X) - system.thresholds, clf.decision_function(X))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_for_labels_gives_the_scores_and_counts_of_some_labels(data, options):
    X = data.X
    if options.get("scale") == "unit":
        X = sparse.csr_array(np.maximum(data.X - 0.4, 0))
    clf = MLTSKClassifier(**options).fit(X, data.Y)
    kept = np.array([3, 1])
    narrowed = clf.system_.for_labels(kept)
    scores = clf.system_.scores(X)
    assert narrowed.label_names == tuple(clf.system_.label_names[j] for j in kept)
    assert_allclose(narrowed.scores(X), scores[:, kept], rtol=1e-9)
    assert_allclose(
        narrowed.probabilities(scores[:, kept]), clf.predict_proba(X)[:, kept]
    )
    positives = data.Y.sum(axis=0)[kept]
    assert narrowed.members.positives[-1].tolist() == positives.tolist()


def test_for_labels_keeps_what_a_short_model_says_about_them(data):
    clf = MLTSKClassifier(max_statements=4).fit(data.X, data.Y)
    narrowed = rule_base(clf.system_.for_labels(np.array([2])))
    expected = clf.rules_.for_label(clf.system_.label_names[2])
    assert str(narrowed.general[0]) == str(expected.general[0])


def test_for_labels_keeps_counts_of_rules_of_the_user(data):
    rules = [{"x0": (0.5, None)}]
    X = pd.DataFrame(data.X).add_prefix("x")
    clf = MLTSKClassifier(n_rules=0).fit(X, data.Y, rules=rules)
    narrowed = clf.system_.for_labels(np.array([1]))
    assert narrowed.members.given.shape == (1, 2, 1)
    assert narrowed.members.given[0, 0, 0] == clf.system_.members.given[0, 0, 1]


def test_intercept_is_the_mean_of_scores_since_effects_average_0(data):
    with_exceptions = MLTSKClassifier(n_rules=5).fit(data.X, data.Y)
    effects = effects_of_features(with_exceptions.system_, data.X, 1)
    assert_allclose(effects.mean(axis=0), 0, atol=1e-12)
    general = MLTSKClassifier(n_rules=0).fit(data.X, data.Y)
    scores = general.system_.scores(data.X)
    assert_allclose(general.intercept_, scores.mean(axis=0))


def test_on_log_odds_folds_curves_into_the_numbers(data):
    record = MLTSKClassifier(n_rules=5, n_pairs=2).fit(data.X, data.Y).fit_record_
    curves = record.curves
    folded = record.long.on_log_odds(curves)
    expected = curves.log_odds(record.long.scores(data.X))
    assert_allclose(folded.scores(data.X), expected)
    assert_allclose(folded.probabilities(expected), 1 / (1 + np.exp(-expected)))


def test_scores_far_from_exceptions_of_order_0_are_those_of_the_general_rule(data):
    clf = MLTSKClassifier(n_rules=5, order=0, scale="standard").fit(data.X, data.Y)
    system = clf.system_
    far = data.X + 1e3
    general = system.intercept[0] + effects_of_features(system, far, 0).sum(axis=1)
    assert_allclose(system.scores(far)[:, 0], general)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_scores_and_probabilities_of_tensors_are_those_of_arrays(data, options, torch):
    system = MLTSKClassifier(**options).fit(data.X, data.Y).system_
    scores = system.scores(data.X)
    tensor = system.scores(torch.as_tensor(data.X))
    assert_allclose(asnumpy(tensor), scores, atol=1e-10)
    assert_allclose(
        asnumpy(system.probabilities(tensor)), system.probabilities(scores), atol=1e-10
    )


def test_probabilities_of_a_system_that_was_not_calibrated_are_refused(data):
    clf = MLTSKClassifier(n_rules=0).fit(data.X, data.Y)
    system = replace(clf.system_, has_log_odds=False)
    with pytest.raises(ValueError, match="not calibrated"):
        system.probabilities(system.scores(data.X))
