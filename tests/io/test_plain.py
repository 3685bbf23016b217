"""Models as plain data come back bit for bit, and damage is one sentence."""

import copy
import json
from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import RidgeClassifier

from mltsk import IncrementalMLTSK, MLTSKClassifier, PaperMLTSK, from_dict, to_dict
from mltsk.core.members import Members
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.io.plain import VERSION
from mltsk.paper.methods import MLkNN

DATA = make_multilabel_rules(n_samples=60, random_state=0)
SPARSE = make_multilabel_rules(n_samples=60, sparse=True, random_state=0)


def travelled(model):
    return from_dict(json.loads(json.dumps(to_dict(model), allow_nan=False)))


@pytest.mark.parametrize(
    "scale", ["quantile", "triangles", "standard", "minmax", "unit", None]
)
def test_from_dict_gives_back_scores_probabilities_labels_and_rules(scale):
    X, Y = DATA.frames()
    model = MLTSKClassifier(n_rules=3, scale=scale).fit(X, Y)
    back = travelled(model)
    for ask in ("decision_function", "predict_proba", "predict"):
        assert_array_equal(getattr(back, ask)(X), getattr(model, ask)(X))
    assert str(back.rules_) == str(model.rules_)
    assert str(back.explain(X[:1])) == str(model.explain(X[:1]))


@pytest.mark.parametrize("max_statements", [None, 6])
def test_from_dict_gives_back_words_and_gaps_exactly(max_statements, table, own_rules):
    X, Y, new = table
    model = MLTSKClassifier(n_rules=20, max_statements=max_statements)
    model.fit(X, Y, rules=own_rules)
    model.members_.regions[0, 0] = np.nan  # nobody in it was measured
    back = travelled(model)
    for field in fields(Members):
        expected = getattr(model.members_, field.name)
        array = getattr(back.members_, field.name)
        assert_array_equal(array, expected)
        assert array.dtype == expected.dtype
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
def test_from_dict_gives_back_every_kind_of_model(model):
    model.fit(DATA.X, DATA.Y)
    back = travelled(model)
    assert type(back) is type(model)
    assert_array_equal(back.decision_function(DATA.X), model.decision_function(DATA.X))
    assert_array_equal(back.predict(DATA.X), model.predict(DATA.X))


def test_to_dict_writes_absent_conditions_of_short_models():
    model = MLTSKClassifier(n_rules=3).fit(DATA.X, DATA.Y)
    model.widths_[1, 3:] = np.inf
    assert to_dict(model)["attributes"]["widths_"]["array"][1][3:] == [None] * 7
    assert_array_equal(travelled(model).widths_, model.widths_)
    short = model.shorten(max_statements=4)
    assert_array_equal(
        travelled(short).decision_function(DATA.X), short.decision_function(DATA.X)
    )


def test_from_dict_keeps_the_types_of_float32_and_sparse_models():
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
def test_from_dict_gives_back_one_dimensional_classes(classes):
    y = np.array(classes)[np.arange(60) % len(classes)]
    model = MLTSKClassifier(n_rules=2).fit(DATA.X, y)
    assert_array_equal(travelled(model).predict(DATA.X), model.predict(DATA.X))
    assert travelled(model).classes_.dtype.kind == model.classes_.dtype.kind


def test_to_dict_has_what_a_reader_needs_and_no_training_rows():
    model = IncrementalMLTSK(n_rules=2).partial_fit(*DATA.frames())
    data = to_dict(model)
    head = (data["format"], data["version"], data["kind"])
    assert head == ("mltsk model", VERSION, "IncrementalMLTSK")
    attributes = data["attributes"]
    assert attributes["feature_names_in_"]["array"] == list(DATA.feature_names)
    assert attributes["centers_"]["shape"] == [2, 10]
    assert (
        not {"loo_scores_", "loo_rows_", "stream_", "fit_record_"} & attributes.keys()
    )


def test_from_dict_gives_back_categories():
    model = MLTSKClassifier(n_rules=2).fit(*DATA.frames())
    categories = {"x1": {0.0: "no", 1.0: "yes"}, "x2": {0.0: "red", 1.5: "blue"}}
    model.system_ = replace(model.system_, categories=categories)
    plain = to_dict(model)["attributes"]["categories_"]
    assert plain["dict"]["x2"] == [[0.0, "red"], [1.5, "blue"]]
    back = travelled(model)
    assert back.system_.categories == categories
    assert str(back.rules_) == str(model.rules_)


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
def test_to_dict_refuses_what_has_no_plain_form(model, match):
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
def test_from_dict_refuses_other_data(data):
    refused(data, "not the data of a model")


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        (
            {"version": VERSION + 1},
            f"version {VERSION + 1}, and mltsk .* reads {VERSION}: upgrade",
        ),
        (
            {"version": VERSION - 1},
            f"version {VERSION - 1}, and mltsk .* reads {VERSION}: fit the model again",
        ),
        ({"version": 0}, f"version 0, and versions are 1 to {VERSION}"),
        ({"version": "1"}, "version '1'"),
        ({"kind": "os.system"}, "no 'os.system'"),
        ({"kind": "save"}, "no 'save'"),
        ({"kind": "__name__"}, "no '__name__'"),
        ({"kind": ["MLTSKClassifier"]}, "knows no"),
        ({"parameters": {"n_rules": "many"}}, "n_rules"),
        ({"parameters": {"__class__": 1}}, "no parameter '__class__'"),
        ({"attributes": None}, "damaged"),
    ],
)
def test_from_dict_checks_the_head_and_parameters(plain, changed, match):
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
def test_from_dict_checks_attributes(plain, name, value, match):
    data = copy.deepcopy(plain)
    data["attributes"][name] = value
    refused(data, match)


@pytest.mark.parametrize(
    "name", ["centers_", "scaling_", "terms_", "classes_", "n_features_in_"]
)
def test_from_dict_names_an_attribute_that_is_missing(plain, name):
    data = copy.deepcopy(plain)
    del data["attributes"][name]
    refused(data, f"no {name}, which mltsk .* needs: fit the model again")


def test_from_dict_meets_random_damage_with_one_kind_of_error(plain):
    rng = np.random.default_rng(0)
    text = json.dumps(plain)
    for at in rng.integers(0, len(text), 200):
        changed = text[:at] + rng.choice(list('0-"[]{},x')) + text[at + 1 :]
        try:
            from_dict(json.loads(changed))
        except (InputError, json.JSONDecodeError):
            continue
