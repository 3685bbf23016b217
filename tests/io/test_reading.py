"""Plain data that are not what they should be: one sentence each, and no model."""

import copy
import json

import numpy as np
import pytest

from mltsk import MLTSKClassifier, MultilabelThreshold, from_dict, to_dict
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError

DATA = make_multilabel_rules(n_samples=60, random_state=0)


@pytest.fixture(scope="module")
def plain():
    return to_dict(MLTSKClassifier(n_rules=2).fit(*DATA.frames()))


def refused(data, match):
    with pytest.raises(InputError, match=match) as caught:
        from_dict(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [None, [], {}, {"format": "mltsk rules"}, "mltsk model"])
def test_other_data_are_no_model(data):
    refused(data, "not the data of a model")


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"version": 2}, "version 2, and mltsk .* reads up to 1: upgrade"),
        ({"version": 0}, "version 0, and versions are 1 to 1"),
        ({"version": "1"}, "version '1'"),
        ({"kind": "os.system"}, "describe a 'os.system'"),
        ({"labels": None}, "'labels' is not what it should be"),
        ({"labels": [1]}, "'labels' must hold text"),
        ({"labels": ["a"]}, "'coefficients' must be a table of 2 x 11 x 1"),
        ({"n_features": True}, "'n_features'"),
        ({"n_features": 3}, "'centers' must be a table of 2 x 3"),
        ({"features": ["a"]}, "name 1 features and have 10"),
        ({"parameters": {"n_rules": "many"}}, "n_rules"),
        ({"parameters": {"__class__": 1}}, "no parameter '__class__'"),
        ({"types": {"centers": "object"}}, "'centers' cannot be of type 'object'"),
        ({"thresholds": [0.5] * 4 + [float("nan")]}, "5 finite numbers"),
        ({"thresholds": ["0.5"] * 5}, "5 finite numbers"),
        ({"thresholds": [10**400] * 5}, "5 finite numbers"),
        ({"quantiles": [[1.0]]}, "10 x 21"),
        ({"categories": {"x": [1]}}, "categories of 'x'"),
        ({"targets": {"multilabel": True, "classes": [0], "type": "<i8"}}, "1 classes for 5 labels"),
        ({"targets": {"multilabel": True, "classes": [0] * 5, "type": "V8"}}, "numbers or text"),
        ({"targets": {"multilabel": True, "classes": ["a"] * 5, "type": "<i8"}}, "not of their type"),
        ({"scale": {"name": "cubic"}}, "a scale 'cubic'"),
        ({"scale": {"name": "quantile", "values": [[1.0]]}}, "knots for each of 10"),
        ({"fitted": {"ridge": "0.1"}}, "'ridge'"),
        ({"simplification": {"AP": [0.8]}}, "'AP' must be a table of 2"),
    ],
)
def test_each_part_is_checked(plain, changed, match):
    refused(plain | changed, match)


@pytest.mark.parametrize("path", ["rules.centers", "rules", "scale.offset", "fitted", "types", "parameters", "targets"])
def test_a_part_that_is_missing_is_named(plain, path):
    data = copy.deepcopy(plain)
    *parents, last = path.split(".")
    inner = data
    for parent in parents:
        inner = inner[parent]
    del inner[last]
    refused(data, f"'{last}' is missing")


def test_numbers_must_make_sense(plain):
    for where, value, match in (
        (("rules", "widths"), [[0.0] * 10] * 2, "above 0"),
        (("rules", "widths"), [[None]] * 2, "'widths' must be a table"),
        (("scale", "spread"), [0.0] * 10, "above 0"),
        (("scale", "values"), [[2.0, 1.0]] * 10, "come in pairs and rise"),
    ):
        data = copy.deepcopy(plain)
        data[where[0]][where[1]] = value
        refused(data, match)


def test_a_damaged_threshold_model_is_refused():
    data = to_dict(MultilabelThreshold(MLTSKClassifier(n_rules=2), cv=2).fit(DATA.X, DATA.Y))
    refused(data | {"tuned": [1] * 5}, "5 times true or false")
    refused(data | {"estimator": None}, "'estimator'")
    refused(data | {"parameters": data["parameters"] | {"metric": "beauty"}}, "beauty")
    refused(data | {"parameters": data["parameters"] | {"response_method": []}}, "damaged")
    assert from_dict(data).tuned_labels_.dtype == bool


def test_random_damage_never_escapes_as_another_error(plain):
    rng, text = np.random.default_rng(0), json.dumps(plain)
    for at in rng.integers(0, len(text), 200):
        changed = text[:at] + rng.choice(list('0-"[]{},x')) + text[at + 1 :]
        try:
            from_dict(json.loads(changed))
        except (InputError, json.JSONDecodeError):
            continue
