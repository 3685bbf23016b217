"""A fitted system: scores are the sum of what it says."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.core.arrays import asnumpy
from mltsk.datasets import make_multilabel_rules

from .conftest import effects_of_exceptions, effects_of_features


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(
        n_samples=150, n_features=6, n_labels=4, random_state=0
    )


CASES = [
    {"n_rules": 0},
    {"n_rules": 5, "order": 0},
    {"n_rules": 5, "order": 1},
    {"n_rules": 4, "scale": "standard"},
    {"n_rules": 4, "scale": "unit", "order": 1},
    {"n_rules": 4, "scale": None, "order": 0},
]


@pytest.mark.parametrize("options", CASES, ids=str)
def test_scores_are_the_sum_of_effects_and_shifts(data, options):
    X = (
        sparse.csr_array(np.maximum(data.X - 0.4, 0))
        if options.get("scale") == "unit"
        else data.X
    )
    clf = MLTSKClassifier(**options).fit(X, data.Y)
    system = clf.system_
    for label in range(4):
        effects, shifts = (
            effects_of_features(system, X, label),
            effects_of_exceptions(system, X, label),
        )
        assert effects.shape == (150, 6)
        assert shifts.shape == (150, options["n_rules"])
        assert_allclose(
            system.intercept[label] + effects.sum(axis=1) + shifts.sum(axis=1),
            system.scores(X)[:, label],
        )
    assert_allclose(system.scores(X) - clf.thresholds_, clf.decision_function(X))


def test_effects_of_a_feature_are_0_on_average(data):
    clf = MLTSKClassifier(n_rules=5).fit(data.X, data.Y)
    assert_allclose(
        effects_of_features(clf.system_, data.X, 1).mean(axis=0), 0, atol=1e-12
    )
    alone = MLTSKClassifier(n_rules=0).fit(data.X, data.Y)
    assert_allclose(alone.intercept_, data.Y.mean(axis=0))


def test_zero_order_exceptions_leave_far_samples_to_the_general_rule(data):
    system = (
        MLTSKClassifier(n_rules=5, order=0, scale="standard")
        .fit(data.X, data.Y)
        .system_
    )
    far = data.X + 1e3
    general = system.intercept[0] + effects_of_features(system, far, 0).sum(axis=1)
    assert_allclose(system.scores(far)[:, 0], general)


@pytest.mark.parametrize("options", CASES, ids=str)
def test_tensors_are_scored_like_arrays(data, options):
    torch = pytest.importorskip(
        "torch", reason="torch is not installed: tensors cannot be tested"
    )
    system = MLTSKClassifier(**options).fit(data.X, data.Y).system_
    found = system.scores(torch.as_tensor(data.X))
    assert_allclose(asnumpy(found), system.scores(data.X), atol=1e-10)
    assert_allclose(
        asnumpy(system.probabilities(found)),
        system.probabilities(system.scores(data.X)),
        atol=1e-10,
    )


def test_a_system_that_was_not_calibrated_has_no_probabilities(data):
    system = replace(
        MLTSKClassifier(n_rules=0).fit(data.X, data.Y).system_, slopes=None
    )
    with pytest.raises(ValueError, match="not calibrated"):
        system.probabilities(system.scores(data.X))
