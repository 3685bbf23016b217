"""Models as plain data: what comes back is the same model, bit for bit."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import RidgeClassifier

from mltsk import FuzzyRuleFeatures, MLTSKClassifier, MultilabelThreshold, PaperMLTSK, from_dict, load, save, to_dict
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError

DATA = make_multilabel_rules(n_samples=60, random_state=0)
SPARSE = make_multilabel_rules(n_samples=60, sparse=True, random_state=0)


def travelled(model):
    return from_dict(json.loads(json.dumps(to_dict(model), allow_nan=False)))


@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax", "unit", None])
def test_scores_labels_and_rules_come_back_exactly(scale):
    model = MLTSKClassifier(n_rules=3, scale=scale).fit(*DATA.frames())
    back = travelled(model)
    assert_array_equal(back.decision_function(DATA.frames()[0]), model.decision_function(DATA.frames()[0]))
    assert_array_equal(back.predict(DATA.frames()[0]), model.predict(DATA.frames()[0]))
    assert str(back.rules_) == str(model.rules_)
    assert str(back.explain(DATA.frames()[0][:1])) == str(model.explain(DATA.frames()[0][:1]))


@pytest.mark.parametrize(
    "model",
    [
        MLTSKClassifier(
            n_rules=2, threshold=np.linspace(0.2, 0.8, 5), init=np.zeros((2, 10)), width_scale=np.float64(2)
        ),
        MultilabelThreshold(PaperMLTSK(n_rules=2, correlation_weight=0.01), cv=2),
        PaperMLTSK(n_rules=2, correlation_weight=0.01),
        MultilabelThreshold(MLTSKClassifier(n_rules=2), cv=2),
    ],
    ids=["arrays", "thresholds of the paper's", "paper", "thresholds"],
)
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_every_kind_of_model(model):
    model.fit(DATA.X, DATA.Y)
    back = travelled(model)
    assert_array_equal(back.decision_function(DATA.X), model.decision_function(DATA.X))
    assert_array_equal(back.predict(DATA.X), model.predict(DATA.X))


def test_float32_and_sparse_models_keep_their_types():
    model = MLTSKClassifier(n_rules=2).fit(DATA.X.astype(np.float32), DATA.Y)
    back = travelled(model)
    assert back.decision_function(DATA.X.astype(np.float32)).dtype == np.float32
    assert back.quantiles_.dtype == model.quantiles_.dtype
    sparse = MLTSKClassifier(n_rules=2).fit(SPARSE.X, SPARSE.Y)
    assert_array_equal(travelled(sparse).decision_function(SPARSE.X), sparse.decision_function(SPARSE.X))


@pytest.mark.parametrize("classes", [["no", "yes"], [-1, 1], [False, True], ["a", "b", "c"], [1.0, 2.0, 7.0]])
def test_one_dimensional_classes(classes):
    y = np.array(classes)[np.arange(60) % len(classes)]
    model = MLTSKClassifier(n_rules=2).fit(DATA.X, y)
    assert_array_equal(travelled(model).predict(DATA.X), model.predict(DATA.X))
    assert travelled(model).classes_.dtype.kind == model.classes_.dtype.kind


def test_what_a_reader_needs_is_there():
    model = MLTSKClassifier(n_rules=2).fit(*DATA.frames())
    model.categories_ = {"x1": ("no", "yes")}
    data = to_dict(model)
    assert (data["format"], data["version"], data["kind"]) == ("mltsk model", 1, "MLTSKClassifier")
    assert data["features"] == list(DATA.feature_names)
    assert data["categories"] == {"x1": {"values": [0.0, 1.0], "names": ["no", "yes"]}}
    assert data["scale"]["values"][0] == sorted(set(DATA.X[:, 0].tolist()))
    assert travelled(model).categories_ == {"x1": {0.0: "no", 1.0: "yes"}}


def test_a_condition_that_is_absent_is_none():
    model = MLTSKClassifier(n_rules=2).fit(DATA.X, DATA.Y)
    model.widths_[1, 3:] = np.inf
    assert to_dict(model)["rules"]["widths"][1][3:] == [None] * 7
    assert_array_equal(travelled(model).widths_, model.widths_)


def test_what_short_rules_cost_comes_back(tmp_path):
    model = MLTSKClassifier(n_rules=2).fit(DATA.X, DATA.Y)
    model = model.simplify(DATA.X, DATA.Y, max_conditions=2, max_terms=3, cv=2)
    assert set(model.simplification_) >= {"rules", "AP"}
    assert travelled(model).simplification_ == model.simplification_
    assert load(save(model, tmp_path / "m.skops")).simplification_ == model.simplification_


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (MLTSKClassifier(), "is not fitted: call fit"),
        (FuzzyRuleFeatures(2).fit(DATA.X), "A FuzzyRuleFeatures has no plain form"),
        (MultilabelThreshold(RidgeClassifier(), cv=2).fit(DATA.X, DATA.Y), "A RidgeClassifier has no plain form"),
        (MLTSKClassifier(2, random_state=np.random.RandomState(0)).fit(DATA.X, DATA.Y), "random_state=RandomState"),
        ("model", "A str has no plain form"),
    ],
)
def test_what_has_no_plain_form_says_so(model, match):
    with pytest.raises(InputError, match=match):
        to_dict(model)
