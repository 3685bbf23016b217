"""Plain data name the columns of ramps, lines and pairs, and are read by name."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mltsk import MLTSKClassifier, from_dict, to_dict
from mltsk.exceptions import InputError
from mltsk.io.named_columns import with_names, with_positions
from mltsk.io.state import plain_attributes

from .lines import X, Y, assert_same_lines_and_pairs, fitted, with_lines

PARTS = {"smoker = never", "smoker = former", "smoker = daily", "sex = m", "age"}


def travelled(model):
    return from_dict(json.loads(json.dumps(to_dict(model), allow_nan=False)))


@pytest.fixture(scope="module")
def data():
    return to_dict(fitted())


def test_with_names_names_the_columns_of_terms_and_conditions():
    model = fitted()
    plain = with_names(plain_attributes(model), ["a", "b", "c", "d"])
    terms = plain["terms_"]
    assert terms["feature"][:7] == ["a"] * 7
    assert terms["straight"][:2].tolist() == [True, False]
    columns = plain["pairs_"]["conditions"]["column"]
    assert columns[0] in "abcd"
    back = with_positions(
        {
            **plain,
            "terms_": {**terms, "feature": tuple(terms["feature"])},
            "feature_names_in_": np.array(["a", "b", "c", "d"], dtype=object),
        }
    )
    assert_array_equal(back["terms_"]["feature"], model.terms_.feature)


def test_with_names_leaves_the_attributes_of_the_model_as_they_are():
    plain = plain_attributes(fitted())
    before = copy.deepcopy(plain)
    with_names(plain, ["a", "b", "c", "d"])
    assert_array_equal(plain["terms_"]["feature"], before["terms_"]["feature"])
    assert isinstance(plain["pairs_"]["conditions"]["column"], np.ndarray)


def test_with_names_leaves_linear_terms_as_positions():
    plain = plain_attributes(MLTSKClassifier(1, scale="standard").fit(X, Y))
    assert with_names(plain, ["a", "b", "c", "d"]) is plain


def test_to_dict_names_categories_in_lines_and_pairs(table):
    rows, labels, new = table
    model = with_lines(MLTSKClassifier(2, n_pairs=12).fit(rows, labels))
    attributes = to_dict(model)["attributes"]
    columns = attributes["pairs_"]["dict"]["conditions"]["dict"]["column"]
    assert set(columns) & PARTS - {"age"}
    assert set(columns) <= set(model.system_.feature_names)
    assert attributes["terms_"]["dict"]["feature"][0] == "age"
    back = travelled(model)
    assert_same_lines_and_pairs(back.system_, model.system_)
    assert_array_equal(back.decision_function(new), model.decision_function(new))


def test_to_dict_gives_positions_where_two_columns_have_the_same_name():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(X, columns=["age", "b = c", "x", "y"])
    rows["b"] = rng.choice(["a", "c", "d"], len(X))
    model = with_lines(MLTSKClassifier(2, n_pairs=3).fit(rows, Y))
    assert model.system_.feature_names.count("b = c") == 2
    terms = to_dict(model)["attributes"]["terms_"]["dict"]
    assert terms["feature"]["type"].startswith("int")
    assert_same_lines_and_pairs(travelled(model).system_, model.system_)


def test_to_dict_calls_columns_without_names_x0_x1_and_so_on(data):
    names = data["attributes"]["terms_"]["dict"]["feature"]
    assert set(names) == {"x0", "x1", "x2", "x3"}
    assert from_dict(data).system_.feature_names == ("x0", "x1", "x2", "x3")


@pytest.mark.parametrize("name", ["x9", 3, None, ["x0"], ""])
def test_from_dict_refuses_a_column_that_is_not_there(data, name):
    changed = copy.deepcopy(data)
    changed["attributes"]["pairs_"]["dict"]["conditions"]["dict"]["column"][0] = name
    with pytest.raises(InputError, match="there is no column"):
        from_dict(changed)


def test_from_dict_makes_no_names_for_more_columns_than_memory_holds(data):
    changed = copy.deepcopy(data)
    changed["attributes"]["n_features_in_"] = 10**14
    with pytest.raises(InputError, match="would take more than"):
        from_dict(changed)


@pytest.mark.parametrize("count", [None, "four", 0, -1, 2.5])
def test_from_dict_refuses_an_impossible_number_of_columns(data, count):
    changed = copy.deepcopy(data)
    changed["attributes"]["n_features_in_"] = count
    with pytest.raises(InputError, match="must be a number of features"):
        from_dict(changed)
