"""Models as plain data: what comes back is the same model, bit for bit, and damage is one sentence."""

import copy
import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import RidgeClassifier

from mltsk import IncrementalMLTSK, MLTSKClassifier, PaperMLTSK, from_dict, to_dict
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.paper.methods import MLkNN

DATA = make_multilabel_rules(n_samples=60, random_state=0)
SPARSE = make_multilabel_rules(n_samples=60, sparse=True, random_state=0)


def travelled(model):
    return from_dict(json.loads(json.dumps(to_dict(model), allow_nan=False)))


@pytest.mark.parametrize(
    "scale", ["quantile", "triangles", "standard", "minmax", "unit", None]
)
def test_scores_probabilities_labels_and_rules_come_back_exactly(scale):
    X, Y = DATA.frames()
    model = MLTSKClassifier(n_rules=3, scale=scale).fit(X, Y)
    back = travelled(model)
    for ask in ("decision_function", "predict_proba", "predict"):
        assert_array_equal(getattr(back, ask)(X), getattr(model, ask)(X))
    assert str(back.rules_) == str(model.rules_)
    assert str(back.explain(X[:1])) == str(model.explain(X[:1]))


@pytest.mark.parametrize("max_statements", [None, 6])
def test_words_and_gaps_come_back_exactly(max_statements, table, own_rules):
    X, Y, new = table
    model = MLTSKClassifier(n_rules=20, max_statements=max_statements).fit(
        X, Y, rules=own_rules
    )
    model.members_["regions"][0, 0] = np.nan  # nobody in it was measured
    back = travelled(model)
    assert back.members_.keys() == model.members_.keys()
    for name, part in model.members_.items():
        assert_array_equal(back.members_[name], part)
        assert back.members_[name].dtype == part.dtype
    assert back.columns_ == model.columns_
    assert_array_equal(back.decision_function(new), model.decision_function(new))
    assert str(back.rules_) == str(model.rules_)


@pytest.mark.parametrize(
    "model",
    [
        MLTSKClassifier(
            n_rules=2,
            order=1,
            threshold=np.linspace(0.2, 0.8, 5),
            width_scale=np.float64(2),
        ),
        MLTSKClassifier(n_rules=0),
        IncrementalMLTSK(n_rules=2),
        PaperMLTSK(n_rules=2, correlation_weight=0.01),
        MLTSKClassifier(n_rules=2, threshold=("recall", 0.9)),
    ],
    ids=["arrays", "no exceptions", "stream", "paper", "thresholds"],
)
@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_every_kind_of_model(model):
    model.fit(DATA.X, DATA.Y)
    back = travelled(model)
    assert type(back) is type(model)
    assert_array_equal(back.decision_function(DATA.X), model.decision_function(DATA.X))
    assert_array_equal(back.predict(DATA.X), model.predict(DATA.X))


def test_short_models_come_back_with_their_absent_conditions():
    model = MLTSKClassifier(n_rules=3).fit(DATA.X, DATA.Y)
    model.widths_[1, 3:] = np.inf
    assert to_dict(model)["attributes"]["widths_"]["array"][1][3:] == [None] * 7
    assert_array_equal(travelled(model).widths_, model.widths_)
    short = model.shorten(max_statements=4)
    assert_array_equal(
        travelled(short).decision_function(DATA.X), short.decision_function(DATA.X)
    )


def test_float32_and_sparse_models_keep_their_types():
    model = MLTSKClassifier(n_rules=2).fit(DATA.X.astype(np.float32), DATA.Y)
    back = travelled(model)
    rows = DATA.X.astype(np.float32)
    assert back.decision_function(rows).dtype == model.decision_function(rows).dtype
    assert back.coef_.dtype == model.coef_.dtype
    sparse = MLTSKClassifier(n_rules=2).fit(SPARSE.X, SPARSE.Y)
    assert_array_equal(
        travelled(sparse).decision_function(SPARSE.X),
        sparse.decision_function(SPARSE.X),
    )


@pytest.mark.parametrize(
    "classes", [["no", "yes"], [-1, 1], [False, True], ["a", "b", "c"], [1.0, 2.0, 7.0]]
)
def test_one_dimensional_classes(classes):
    y = np.array(classes)[np.arange(60) % len(classes)]
    model = MLTSKClassifier(n_rules=2).fit(DATA.X, y)
    assert_array_equal(travelled(model).predict(DATA.X), model.predict(DATA.X))
    assert travelled(model).classes_.dtype.kind == model.classes_.dtype.kind


def test_what_a_reader_needs_is_there_and_training_rows_are_not():
    model = MLTSKClassifier(n_rules=2).fit(*DATA.frames())
    model.categories_ = {"x1": ("no", "yes"), "x2": {0.0: "red", 1.5: "blue"}}
    data = to_dict(model)
    assert (data["format"], data["version"], data["kind"]) == (
        "mltsk model",
        3,
        "MLTSKClassifier",
    )
    assert data["attributes"]["feature_names_in_"]["array"] == list(DATA.feature_names)
    assert data["attributes"]["centers_"]["shape"] == [2, 10]
    assert "loo_scores_" not in data["attributes"]
    assert travelled(model).categories_["x2"] == {0.0: "red", 1.5: "blue"}


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (MLTSKClassifier(), "is not fitted: call fit"),
        (MLkNN().fit(DATA.X, DATA.Y), "A MLkNN has no plain form"),
        (RidgeClassifier().fit(DATA.X, DATA.Y), "A RidgeClassifier has no plain form"),
        (
            MLTSKClassifier(2, random_state=np.random.RandomState(0)).fit(
                DATA.X, DATA.Y
            ),
            "random_state=RandomState",
        ),
        ("model", "A str has no plain form"),
    ],
)
def test_what_has_no_plain_form_says_so(model, match):
    with pytest.raises(InputError, match=match):
        to_dict(model)


# ---- data from elsewhere


@pytest.fixture(scope="module")
def plain():
    return to_dict(MLTSKClassifier(n_rules=2).fit(*DATA.frames()))


def refused(data, match):
    with pytest.raises(InputError, match=match) as caught:
        from_dict(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "data", [None, [], {}, {"format": "mltsk rules"}, "mltsk model"]
)
def test_other_data_are_no_model(data):
    refused(data, "not the data of a model")


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"version": 4}, "version 4, and mltsk .* reads 3: upgrade"),
        ({"version": 2}, "version 2, and mltsk .* reads 3: fit the model again"),
        ({"version": 0}, "version 0, and versions are 1 to 3"),
        ({"version": "1"}, "version '1'"),
        ({"kind": "os.system"}, "no 'os.system'"),
        ({"parameters": {"n_rules": "many"}}, "n_rules"),
        ({"parameters": {"__class__": 1}}, "no parameter '__class__'"),
        ({"attributes": None}, "damaged"),
    ],
)
def test_the_head_and_parameters_are_checked(plain, changed, match):
    refused(plain | changed, match)


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        (
            "centers_",
            {"array": [[0.0]], "type": "float64", "shape": [1, 1]},
            "'centers_' must be|'widths_' must be",
        ),
        (
            "centers_",
            {"array": [[0.0]], "type": "float64", "shape": [2, 10]},
            "instead of",
        ),
        (
            "centers_",
            {"array": [["a"]], "type": "float64", "shape": [1, 1]},
            "is of type float64 and holds something",
        ),
        (
            "centers_",
            {"array": [[True]], "type": "float64", "shape": [1, 1]},
            "is of type float64 and holds something",
        ),
        (
            "centers_",
            {"array": [], "type": "V8", "shape": [0]},
            "'centers_' cannot be of type 'V8'",
        ),
        ("centers_", {"code": "import os"}, "'centers_' cannot be"),
        (
            "thresholds_",
            {"array": [10**400] * 5, "type": "float64", "shape": [5]},
            "damaged",
        ),
        ("n_features_in_", 3, "damaged"),
    ],
)
def test_attributes_are_checked(plain, name, value, match):
    data = copy.deepcopy(plain)
    data["attributes"][name] = value
    refused(data, match)


@pytest.mark.parametrize(
    "name", ["centers_", "scaling_", "terms_", "classes_", "n_features_in_"]
)
def test_a_part_that_is_missing_is_named(plain, name):
    data = copy.deepcopy(plain)
    del data["attributes"][name]
    refused(data, f"no {name}, which mltsk .* needs: fit the model again")


def test_random_damage_never_escapes_as_another_error(plain):
    rng, text = np.random.default_rng(0), json.dumps(plain)
    for at in rng.integers(0, len(text), 200):
        changed = text[:at] + rng.choice(list('0-"[]{},x')) + text[at + 1 :]
        try:
            from_dict(json.loads(changed))
        except (InputError, json.JSONDecodeError):
            continue
