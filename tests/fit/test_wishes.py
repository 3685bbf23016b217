"""Wishes are read by name, and wrong ones are refused with one sentence."""

import numpy as np
import pandas as pd
import pytest

from mltsk.columns import Columns
from mltsk.exceptions import InputError
from mltsk.fit.wishes import Wish, WishReader

COLUMNS = Columns(
    names=("age", "sex", "albumin"),
    kinds=("number", "nominal", "number"),
    values=((), ("f", "m"), ()),
    rare=((), (), ()),
    gaps=(False, False, False),
)
READER = WishReader(("age", "sex", "albumin"), ("fever", "gout"), COLUMNS)


def test_read_takes_directions_by_name_by_label_and_as_an_array():
    both = (Wish(0, (0, 1), "rises"), Wish(2, (1,), "falls"))
    named = READER.read({"age": 1, "albumin": {"gout": -1, "fever": 0}}, None, None)
    as_table = READER.read(np.array([[1, 1], [0, 0], [0, -1]]), None, None)
    assert named == as_table == both
    assert READER.read([1, 0, 0], None, None) == both[:1]


def test_read_takes_series_and_frames_by_their_names_in_any_order():
    series = pd.Series({"albumin": -1, "age": 1})
    named = READER.read({"age": 1, "albumin": -1}, None, None)
    assert READER.read(series, None, None) == named
    table = pd.DataFrame(
        {"gout": [-1, 1], "fever": [0, 1]}, index=["albumin", "age"], dtype=float
    )
    by_label = {"age": {"gout": 1, "fever": 1}, "albumin": {"gout": -1}}
    expected = READER.read(by_label, None, None)
    assert READER.read(table, None, None) == expected
    assert READER.read(pd.Series([1, 0, -1]), None, None) == named  # by place


def test_read_takes_features_that_have_no_effect():
    everywhere = Wish(1, (0, 1), "nothing")
    assert READER.read(None, "sex", None) == (everywhere,)
    assert READER.read(None, ["sex"], None) == (everywhere,)
    assert READER.read(None, {"sex": "gout"}, None) == (Wish(1, (1,), "nothing"),)


def test_read_takes_curves():
    curves = {
        "age": [(40, 0), (60, 0.5)],
        "albumin": [{"flat_above": 4}, {"shape": "convex", "labels": ["gout"]}],
        "sex": {"same": True},
    }
    assert READER.read(None, None, curves) == (
        Wish(0, (0, 1), "points", ((40.0, 0.0), (60.0, 0.5))),
        Wish(2, (0, 1), "above", ((4.0, 0.0),)),
        Wish(2, (1,), "convex"),
        Wish(1, (0, 1), "same"),
    )


def test_read_takes_points_as_an_array():
    points = np.array([[40, 0], [60, 0.5]])
    expected = READER.read(None, None, {"age": points.tolist()})
    assert READER.read(None, None, {"age": points}) == expected
    assert READER.read(None, None, {"age": {"points": points}}) == expected


def test_told_lists_no_more_points_than_one_reads():
    (wish,) = READER.read(None, None, {"age": [(x, 0) for x in range(90)]})
    assert wish.told("age").endswith("(4, 0), (5, 0), …")


@pytest.mark.parametrize(
    ("directions", "without", "curves", "says"),
    [
        ({"agee": 1}, None, None, "did you mean 'age'"),
        ({"age": 2}, None, None, "give 1 for an effect that rises"),
        ({"age": "up"}, None, None, "give 1 for an effect that rises"),
        ({"age": {"flu": 1}}, None, None, "no label"),
        ([1, 0], None, None, "3 features"),
        ([[1, 0]], None, None, "3 features"),
        (["up", "x", "y"], None, None, "numbers, 1, 0 or -1 for each feature"),
        ({"sex": 1}, None, None, "nominal"),
        (None, 5, None, "list of names"),
        (None, ["weight"], None, "no feature: the model has age, sex and albumin"),
        (None, {"age": []}, None, "names no label"),
        (None, None, [("age", 1)], "must map features"),
        (None, None, {"age": {"flat": 1}}, "'flat' of 'age', but knows"),
        (None, None, {"age": [(1, 2, 3)]}, "pairs of a value and an effect"),
        (None, None, {"age": [(1, np.nan)]}, "finite number"),
        (None, None, {"age": []}, "no points"),
        (None, None, {"age": {"shape": "round"}}, "'convex' or 'concave'"),
        (None, None, {"age": {"same": True, "labels": ["gout"]}}, "two labels"),
        (None, None, {"age": {"same": "no"}}, "True or False"),
        (None, None, {"age": None}, "give points or a dict"),
        (None, None, {"sex": {"flat_above": 1}}, "nominal"),
    ],
)
def test_read_refuses_each_wrong_wish_with_a_sentence(
    directions, without, curves, says
):
    with pytest.raises(InputError, match=says) as refused:
        READER.read(directions, without, curves)
    assert "\n" not in str(refused.value)
