"""Columns of a table that do not fit together are refused."""

import pytest

from mltsk import MLTSKClassifier
from mltsk.io.column_checks import check_categories, check_columns
from mltsk.io.rebuild import check_attributes
from mltsk.io.state import plain_attributes

SMOKER = "'values' of column 'smoker' must be different words"
CONDITIONS = "rule 1 of 'columns_' must hold conditions on features"


@pytest.fixture(scope="module")
def attributes(table):
    X, Y, _ = table
    return plain_attributes(MLTSKClassifier(n_rules=2).fit(X, Y))


def with_change(attributes, name, change):
    """The columns with one field changed."""
    columns = attributes["columns_"]
    return {**columns, name: change(columns.get(name))}


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        (
            "names",
            lambda names: names[:-1],
            "'names' of 'columns_' must be 8, one for each feature",
        ),
        (
            "names",
            lambda names: ("age", *names[:-1]),
            "'names' of 'columns_' must be different words, those of the features",
        ),
        (
            "kinds",
            lambda kinds: ("date", *kinds[1:]),
            "'kinds' of 'columns_' must be number, ordinal, nominal",
        ),
        (
            "kinds",
            lambda kinds: (["number"], *kinds[1:]),
            "'kinds' of 'columns_' must be",
        ),
        (
            "kinds",
            lambda kinds: (kinds[0], "number", *kinds[2:]),
            "'smoker' must be empty: it is of kind number",
        ),
        ("values", lambda v: (v[0], (*v[1], "never"), *v[2:]), SMOKER),
        ("values", lambda v: (v[0], (*v[1], 3), *v[2:]), SMOKER),
        ("values", lambda v: (v[0], "never", *v[2:]), SMOKER),
        (
            "rare",
            lambda rare: (rare[0], ("never",), *rare[2:]),
            "'rare' of column 'smoker' names a value that is frequent, too",
        ),
        (
            "rare",
            lambda rare: (*rare[:3], ("IV",), *rare[4:]),
            "'rare' of column 'stage' must be empty: it is of kind ordinal",
        ),
        (
            "gaps",
            lambda gaps: (0, *gaps[1:]),
            "'gaps' of 'columns_' must be true or false",
        ),
        ("rules", lambda rules: (((8, 1.0, None, ()),),), CONDITIONS),
        ("rules", lambda rules: (((0, None, None, ()),),), CONDITIONS),
        ("rules", lambda rules: (((0, "1", None, ()),),), CONDITIONS),
        ("rules", lambda rules: (((0, float("nan"), None, ()),),), CONDITIONS),
        ("rules", lambda rules: (((1, None, None, ()),),), CONDITIONS),
        ("rules", lambda rules: (((3, 0.0, 3.0, ()),),), CONDITIONS),
        ("rules", lambda rules: (((0, 1.0),),), CONDITIONS),
        ("rules", lambda rules: ((3,),), CONDITIONS),
        ("rules", lambda rules: ((),), CONDITIONS),
    ],
)
def test_check_columns_refuses_each_damage(attributes, name, change, says):
    columns = with_change(attributes, name, change)
    check_columns(attributes["columns_"], attributes)
    with pytest.raises(ValueError, match=says):
        check_columns(columns, attributes)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        (
            "values",
            lambda v: (v[0], v[1][:-1], *v[2:]),
            "'centers_' must be a table of",
        ),
        ("gaps", lambda gaps: (True, *gaps[1:]), "must be a table of"),
        ("rules", lambda rules: (((0, 60.0, None, ()),),), "must be a table of"),
        (
            "gap",
            lambda _: None,
            "'columns_' must hold names, kinds, values, rare, gaps, rules",
        ),
    ],
)
def test_check_attributes_refuses_columns_of_another_model(
    attributes, name, change, says
):
    columns = with_change(attributes, name, change)
    with pytest.raises(ValueError, match=says):
        check_attributes(MLTSKClassifier, {**attributes, "columns_": columns})


def test_check_columns_lets_rules_of_the_user_pass(table, own_rules):
    X, Y, _ = table
    attributes = plain_attributes(MLTSKClassifier(n_rules=2).fit(X, Y, rules=own_rules))
    assert len(attributes["columns_"]["rules"]) == 3
    check_columns(attributes["columns_"], attributes)


@pytest.mark.parametrize(
    "categories",
    [
        ["x1"],
        {"x1": "red"},
        {"x1": {"0": "red"}},
        {"x1": [["0", "red"]]},
        {"x1": [[0.0, 1.0]]},
        {"x1": [[0.0, "red", "blue"]]},
        {"x1": [[float("nan"), "red"]]},
        {1: [[0.0, "red"]]},
    ],
)
def test_check_categories_refuses_what_names_no_values(categories):
    with pytest.raises(ValueError, match="'categories_'"):
        check_categories(categories)


def test_check_categories_lets_pairs_of_a_number_and_its_name_pass():
    check_categories({})
    check_categories({"x1": [[0.0, "red"], (1.5, "blue")]})
